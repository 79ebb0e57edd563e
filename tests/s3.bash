# Bash helpers for tests whose store is an S3 server of tests/s3.
#
# s3_start NAME CMD...             start a server in the background; it keeps what it has in $BATS_FILE_TMPDIR/NAME, which is made,
#                                  and writes its port to the file "port" there
# s3_stop                          end all that were started; fails when one of them was gone already
# s3_here SERVER ACCESS SECRET PREFIX STATE  where this server is, as KZ_OBJECTS_URL; its key is put into STATE
# s3_serve SERVER ACCESS SECRET    from here on this server is the store of the running stack, under a prefix of this test's own

s3_start() {
	local name=$1
	shift
	mkdir -p "$BATS_FILE_TMPDIR/$name"
	"$@" </dev/null >"$BATS_FILE_TMPDIR/$name.out" 2>&1 3>&- &
	echo $! >"$BATS_FILE_TMPDIR/$name.pid"
}

s3_stop() {
	local pid status=0
	for pid in "$BATS_FILE_TMPDIR"/*.pid; do
		kill "$(cat "$pid")" || status=1
	done
	return $status
}

s3_here() {
	printf '%s\n' "$2" "$3" >"$5/keys/objects.key"
	chmod 640 "$5/keys/objects.key"
	echo "s3+http://127.0.0.1:$(cat "$BATS_FILE_TMPDIR/$1/port")/kz-test/$4"
}

s3_serve() {
	kz_wait 60 test -s "$BATS_FILE_TMPDIR/$1/port"
	kz config set "KZ_OBJECTS_URL=$(s3_here "$1" "$2" "$3" "$BATS_TEST_NUMBER" "$KZ_STATE")" >/dev/null
}
