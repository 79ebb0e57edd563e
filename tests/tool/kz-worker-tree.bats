#!/usr/bin/env bats
# The whole workspace out of a worker and into it, through kz-worker in a real container.

bats_require_minimum_version 1.5.0
load worker

setup_file() { worker_start; }
teardown_file() { worker_stop; }

entries() { python3 -IS "$BATS_TEST_DIRNAME/entries.py" "$@"; }

# What CALL... of one lease does; its stdout in out, and reset afterwards.
lease() {
	wk bind "$LEASE" "$(fence)" 600000 + "$@"
	local was=$status
	"$WORKER_BUILD/tests/tool/wk" "$WORKER_STATE" w-1 "$(cat "$WORKER_STATE/instance")" reset "$LEASE" t \
		3>"$BATS_TEST_TMPDIR/readings" || return 1
	left=$(jq -c '.surfaces | with_entries(select(.value.now == null or .value.now != .value.baseline))' "$BATS_TEST_TMPDIR/readings")
	[ "$left" = '{}' ] || {
		echo "left: $left"
		return 1
	}
	status=$was
}

# The stream of the packages that SCRIPT installed is $1.
packages_of() {
	WK_PACKAGES=1 lease install "$LEASE" 120000 1048576 /bin/sh -c "$2" + tree-get "$LEASE" "${3:-33554432}" "${4:-1000}"
	cp "$WORKER_STATE/out" "$1"
}

# The stream of what SCRIPT left behind is $1; further arguments are the bounds.
stream_of() {
	lease exec "$LEASE" 120000 1048576 /bin/sh -c "$2" + tree-get "$LEASE" "${3:-33554432}" "${4:-1000}"
	cp "$WORKER_STATE/out" "$1"
}

refused() {
	echo "status $status: $(cat "$WORKER_STATE/err")"
	[ "$status" -eq 1 ]
	[[ $(cat "$WORKER_STATE/err") == *"$1"* ]]
}

# shellcheck disable=SC2016 # for the tenant's shell
odd='umask 022
printf 1 >"$(printf "nl\nx")"; printf 2 >"$(printf "bad\377\376")"; printf 3 >case; printf 4 >CASE; printf 5 >"$(printf "caf\303\251")"
printf 6 >"$(head -c 255 /dev/zero | tr "\0" w)"; : >empty; printf 7 >" -rf *"
mkdir -p d/e/f emptydir closed shared sticky; printf 8 >d/e/f/g; printf 9 >closed/in; printf s >sticky/in
ln -s nowhere dangling; ln -s /etc/passwd absolute; ln -s ../../.. d/up; ln -s "$(printf "t\377\n")" odd
ln d/e/f/g hard; chmod 4755 case; chmod 000 CASE; chmod 2777 shared; chmod 1777 sticky; chmod 000 closed
touch -d "1969-12-31 23:59:58.123456789 UTC" empty; touch -d "2100-01-02 03:04:05.000000001 UTC" emptydir
touch -h -d "2001-02-03 04:05:06.7 UTC" dangling'

@test "WS-15 WS-9 hostile bytes: a tree goes out, through a tar, and in again, exactly" {
	stream_of "$BATS_TEST_TMPDIR/first" "$odd"
	[ "$status" -eq 0 ]
	entries show <"$BATS_TEST_TMPDIR/first" | tee "$BATS_TEST_TMPDIR/list"
	grep -qx "file 0644 -1876543211 0 b'empty' b''" "$BATS_TEST_TMPDIR/list"
	grep -q "^dir 0000 [0-9]* 0 b'closed'$" "$BATS_TEST_TMPDIR/list"
	grep -q "^file 0000 [0-9]* 1 b'CASE' b'4'$" "$BATS_TEST_TMPDIR/list"
	grep -q "^dir 2777 [0-9]* 0 b'shared'$" "$BATS_TEST_TMPDIR/list"
	grep -q "^link 0777 981173106700000000 7 b'dangling' b'nowhere'$" "$BATS_TEST_TMPDIR/list"
	grep -q "^file 0644 [0-9]* 1 b'hard' b'8'$" "$BATS_TEST_TMPDIR/list"
	[ "$(wc -l <"$BATS_TEST_TMPDIR/list")" -eq 23 ]
	# setuid has no effect in a workspace and is not kept
	grep -q "^file 0755 [0-9]* 1 b'case' b'3'$" "$BATS_TEST_TMPDIR/list"

	"$WORKER_BUILD/bin/kz-archive" pack <"$BATS_TEST_TMPDIR/first" >"$BATS_TEST_TMPDIR/tar"
	"$WORKER_BUILD/bin/kz-archive" unpack <"$BATS_TEST_TMPDIR/tar" >"$BATS_TEST_TMPDIR/back"
	cmp "$BATS_TEST_TMPDIR/first" "$BATS_TEST_TMPDIR/back"

	lease tree-put "$LEASE" gen-1 "$BATS_TEST_TMPDIR/back" 7 + tree-get "$LEASE" 33554432 1000
	cat "$WORKER_STATE/err"
	[ "$status" -eq 0 ]
	cmp "$BATS_TEST_TMPDIR/first" "$WORKER_STATE/out"
}

@test "WS-9: what came in is the tenant's, all of it" {
	stream_of "$BATS_TEST_TMPDIR/first" "$odd"
	lease tree-put "$LEASE" gen-1 "$BATS_TEST_TMPDIR/first" + \
		exec "$LEASE" 120000 1048576 /bin/sh -c 'find . ! -user 1000 -o ! -group 1000; stat -c %U:%a .; chmod 700 closed && cat closed/in; echo x >case && rm -r sticky && echo ok'
	cat "$WORKER_STATE/err"
	[ "$(cat "$WORKER_STATE/out")" = "$(printf '%s:755\n9ok' "$(tail -n 2 "$WORKER_STATE/out" | head -n 1 | cut -d: -f1)")" ]
}

@test "WS-15: an empty workspace is an empty stream" {
	stream_of "$BATS_TEST_TMPDIR/s" true
	[ "$status" -eq 0 ]
	[ "$(stat -c %s "$BATS_TEST_TMPDIR/s")" -eq 32 ]
	[ -z "$(entries show <"$BATS_TEST_TMPDIR/s")" ]
}

@test "WS-15: fifos and sockets are left out and counted" {
	stream_of "$BATS_TEST_TMPDIR/s" 'mkfifo a z; printf 1 >b; python3 -c "import socket; socket.socket(socket.AF_UNIX).bind(\"s\")"'
	[ "$status" -eq 0 ]
	[ "$(entries show <"$BATS_TEST_TMPDIR/s" | wc -l)" -eq 1 ]
	[ "$(tail -c 24 "$BATS_TEST_TMPDIR/s" | head -c 8 | od -An -tx1 | tr -d ' ')" = 0000000000000003 ]
}

@test "BOUND-5: bytes and entries at the bound go out, one more is refused and the connection lives" {
	stream_of "$BATS_TEST_TMPDIR/s" 'mkdir d; printf 12345 >d/f' 5 2
	[ "$status" -eq 0 ]
	lease exec "$LEASE" 120000 1048576 /bin/sh -c 'mkdir d; printf 12345 >d/f' + tree-get "$LEASE" 4 2
	refused workspace_over_bound
	lease exec "$LEASE" 120000 1048576 /bin/sh -c 'mkdir d; printf 12345 >d/f' + tree-get "$LEASE" 5 1
	refused workspace_over_bound
}

@test "BOUND-5: more directories in one another than a name may have are refused" {
	# shellcheck disable=SC2016
	deep='i=0; while [ $i -lt N ]; do mkdir d && cd d || exit 1; i=$((i + 1)); done'
	stream_of "$BATS_TEST_TMPDIR/s" "${deep/N/128}"
	[ "$status" -eq 0 ]
	[ "$(entries show <"$BATS_TEST_TMPDIR/s" | wc -l)" -eq 128 ]
	stream_of "$BATS_TEST_TMPDIR/t" "${deep/N/129}"
	refused workspace_over_bound
	# and in again, over one that is far deeper, and closed
	lease exec "$LEASE" 120000 1048576 /bin/sh -c "${deep/N/900}; chmod 0 ." + exec "$LEASE" 120000 1048576 /bin/sh -c 'chmod 1000 d .' + \
		tree-put "$LEASE" g "$BATS_TEST_TMPDIR/s" + tree-get "$LEASE" 33554432 1000
	cat "$WORKER_STATE/err"
	[ "$status" -eq 0 ]
	cmp "$BATS_TEST_TMPDIR/s" "$WORKER_STATE/out"
}

@test "WS-9: putting replaces whatever was there, sticky, closed or full" {
	printf 'file\t0600\t0\tonly\tx\n' | entries make >"$BATS_TEST_TMPDIR/s"
	lease exec "$LEASE" 120000 1048576 /bin/sh -c 'mkdir -m 1777 s; : >s/a; mkdir -m 0 c; mkdir -p d/e; i=0
		while mkdir "m$i" 2>/dev/null; do i=$((i + 1)); done; chmod 1755 .' + \
		tree-put "$LEASE" g "$BATS_TEST_TMPDIR/s" + tree-get "$LEASE" 33554432 1000
	cat "$WORKER_STATE/err"
	[ "$status" -eq 0 ]
	cmp "$BATS_TEST_TMPDIR/s" "$WORKER_STATE/out"
}

@test "WS-15 confused deputy: a stream that is hostile or out of order is refused and leaves nothing" {
	local -a reasons=() files=()
	local streams="" i
	while IFS='|' read -r reason lines; do
		files+=("$BATS_TEST_TMPDIR/s${#files[@]}")
		reasons+=("$reason")
		streams+=$lines'\n'
	done <<-'EOF'
		path_rejected|file\t0644\t0\tb\t1\nfile\t0644\t0\ta\t1\n
		path_rejected|file\t0644\t0\ta\t1\nfile\t0644\t0\ta\t2\n
		path_rejected|file\t0644\t0\td/a\t1\n
		path_rejected|link\t0777\t0\td\t/work/code\nfile\t0644\t0\td/a\t1\n
		path_rejected|file\t0644\t0\td\t1\nfile\t0644\t0\td/a\t1\n
		path_rejected|dir\t0755\t0\td\nfile\t0644\t0\td/a\t1\nfile\t0644\t0\te/a\t1\n
		malformed_input|file\t0644\t0\t../a\t1\n
		malformed_input|file\t0644\t0\t/a\t1\n
		malformed_input|file\t0644\t0\ta//b\t1\n
		malformed_input|file\t0644\t0\ta\\x00b\t1\n
		malformed_input|file\t10644\t0\ta\t1\n
	EOF
	printf '%b' "$streams" | entries make "${files[@]}"
	for i in "${!files[@]}"; do
		lease tree-put "$LEASE" g "${files[i]}"
		cat -v "${files[i]}"
		refused "${reasons[i]}"
		wk bind "$LEASE" "$(fence)" 600000 + tree-put "$LEASE" g "${files[i]}"
		wk reset "$LEASE" t
	done
	[ "$i" -eq 10 ]
}

@test "WS-15: after a refusal the workspace is empty and has no label" {
	printf 'file\t0644\t0\ta\t1\nfile\t0644\t0\ta\t2\n' | entries make >"$BATS_TEST_TMPDIR/bad"
	printf 'file\t0644\t0\ta\t1\n' | entries make >"$BATS_TEST_TMPDIR/good"
	# one connection holds the lease, others use it
	"$WORKER_BUILD/tests/tool/wk" "$WORKER_STATE" w-1 "$(cat "$WORKER_STATE/instance")" \
		bind "$LEASE" "$(fence)" 600000 + sleep 600000 3>&- &
	holder=$!
	kz_wait 10 is_bound
	wk tree-put "$LEASE" gen-good "$BATS_TEST_TMPDIR/good" + health
	[ "$(said .label)" = gen-good ]
	wk tree-put "$LEASE" gen-bad "$BATS_TEST_TMPDIR/bad"
	refused path_rejected
	wk health + tree-get "$LEASE" 1000 10
	[ "$(said .label)" = "" ]
	[ "$(stat -c %s "$WORKER_STATE/out")" -eq 32 ]
	# a connection that goes in the middle takes what it sent with it
	wk tree-put "$LEASE" gen-good "$BATS_TEST_TMPDIR/good"
	wk tree-put "$LEASE" gen-cut "$BATS_TEST_TMPDIR/good" cut
	[ "$status" -eq 0 ]
	kz_wait 10 is_empty
	kill "$holder"
	wait "$holder" || true
	wk reset "$LEASE" t
	[ "$status" -eq 0 ]
}

is_bound() {
	wk health
	[ "$(said .state)" = bound ]
}

is_empty() {
	wk health + tree-get "$LEASE" 1000 10
	[ "$status" -eq 0 ] && [ "$(said .label)" = "" ] && [ "$(stat -c %s "$WORKER_STATE/out")" -eq 32 ]
}

@test "EXEC-4: while one is on its way in, nothing runs and nothing else moves" {
	printf 'file\t0644\t0\ta\t1\n' | entries make >"$BATS_TEST_TMPDIR/s"
	for call in "exec $LEASE 1000 1000 /bin/true" "tree-get $LEASE 1000 10"; do
		# shellcheck disable=SC2086
		lease tree-put "$LEASE" g "$BATS_TEST_TMPDIR/s" cut + $call
		refused worker_refused
	done
}

@test "EXEC-4 confused deputy: while a program runs the workspace does not move, and another lease's never" {
	"$WORKER_BUILD/tests/tool/wk" "$WORKER_STATE" w-1 "$(cat "$WORKER_STATE/instance")" \
		bind "$LEASE" "$(fence)" 600000 + exec "$LEASE" 600000 1000 /bin/sh -c 'echo up; exec sleep 600' \
		>"$BATS_TEST_TMPDIR/up" 3>&- &
	holder=$!
	kz_wait 10 grep -q up "$BATS_TEST_TMPDIR/up"
	printf 'file\t0644\t0\ta\t1\n' | entries make >"$BATS_TEST_TMPDIR/s"
	wk tree-get "$LEASE" 1000 10
	refused worker_refused
	wk tree-put "$LEASE" g "$BATS_TEST_TMPDIR/s"
	refused worker_refused
	wk label "$LEASE" g
	refused worker_refused
	kill "$holder"
	wait "$holder" || true
	wk reset "$LEASE" t
	[ "$status" -eq 0 ]
	wk bind "$LEASE" "$(fence)" 600000 + tree-get fedcba9876543210fedcba9876543210 1000 10
	refused worker_refused
	wk reset "$LEASE" t
}

@test "BOUND-11 inode exhaustion: a tree over the disk or over the files allowed is refused, and the worker goes on" {
	python3 -c '
import sys; sys.path.insert(0, sys.argv[1])
import entries
with open(sys.argv[2], "wb") as f: f.write(entries.entry(1, b"big", b"x" * (34 << 20)) + entries.end(1))
with open(sys.argv[3], "wb") as f: f.write(b"".join(entries.entry(1, b"f%05d" % i) for i in range(1001)) + entries.end(1001))
with open(sys.argv[4], "wb") as f: f.write(b"".join(entries.entry(1, b"f%05d" % i) for i in range(1000)) + entries.end(1000))
' "$BATS_TEST_DIRNAME" "$BATS_TEST_TMPDIR/big" "$BATS_TEST_TMPDIR/many" "$BATS_TEST_TMPDIR/all"
	lease tree-put "$LEASE" g "$BATS_TEST_TMPDIR/big"
	refused input_over_bound
	lease tree-put "$LEASE" g "$BATS_TEST_TMPDIR/many"
	refused input_over_bound
	lease tree-put "$LEASE" g "$BATS_TEST_TMPDIR/all" + tree-get "$LEASE" 0 1000
	[ "$status" -eq 0 ]
	cmp "$BATS_TEST_TMPDIR/all" "$WORKER_STATE/out"
}

@test "BOUND-5: twenty megabytes go in and out" {
	head -c 20971520 /dev/urandom >"$BATS_TEST_TMPDIR/f"
	python3 -c '
import sys; sys.path.insert(0, sys.argv[1])
import entries
with open(sys.argv[2], "rb") as f: data = f.read()
sys.stdout.buffer.write(entries.entry(1, b"big", data) + entries.end(1))' "$BATS_TEST_DIRNAME" "$BATS_TEST_TMPDIR/f" >"$BATS_TEST_TMPDIR/s"
	lease tree-put "$LEASE" g "$BATS_TEST_TMPDIR/s" + tree-get "$LEASE" 20971520 1
	[ "$status" -eq 0 ]
	cmp "$BATS_TEST_TMPDIR/s" "$WORKER_STATE/out"
}

@test "WS-7: the label tells what a workspace holds, until anything may have changed it" {
	printf 'file\t0644\t0\ta\t1\n' | entries make >"$BATS_TEST_TMPDIR/s"
	label() {
		wk bind "$LEASE" "$FENCE" 600000 + "$@" + health
		[ "$(said .label)" = "$WANT" ]
		wk reset "$LEASE" t
		[ "$status" -eq 0 ]
	}
	WANT='' FENCE=$(fence) label health
	WANT=gen-1 FENCE=$(fence) label tree-put "$LEASE" gen-1 "$BATS_TEST_TMPDIR/s"
	WANT=gen-2 FENCE=$(fence) label label "$LEASE" gen-2
	WANT='' FENCE=$(fence) label label "$LEASE" gen-2 + put "$LEASE" space x "$BATS_TEST_TMPDIR/s"
	WANT=gen-2 FENCE=$(fence) label label "$LEASE" gen-2 + put "$LEASE" code x "$BATS_TEST_TMPDIR/s"
	WANT='' FENCE=$(fence) label label "$LEASE" gen-2 + exec "$LEASE" 60000 1000 /bin/true
	# the next tenant's is another workspace
	WANT='' FENCE=$(fence) label health
	long=$(printf '%0127d' 0)
	WANT=$long FENCE=$(fence) label label "$LEASE" "$long"
	lease label "$LEASE" "${long}0"
	refused malformed_input
}

@test "WS-9 confused deputy: nothing outside is read or written: links of the tenant's are never followed" {
	stream_of "$BATS_TEST_TMPDIR/s" 'ln -s /work/code out; ln -s /etc etc; ln -s /tmp/canary file; echo what-is-outside >/tmp/canary; ln -s . self; ln -s out/../.. far'
	[ "$status" -eq 0 ]
	[ "$(entries show <"$BATS_TEST_TMPDIR/s" | grep -c ^link)" -eq 5 ]
	run ! grep -q what-is-outside "$BATS_TEST_TMPDIR/s"
	lease tree-put "$LEASE" g "$BATS_TEST_TMPDIR/s" + tree-get "$LEASE" 100 10
	cmp "$BATS_TEST_TMPDIR/s" "$WORKER_STATE/out"
}

# shellcheck disable=SC2016 # for the tenant's shell
@test "BRK-25 BRK-26: packages are a tree of their own beside the workspace, and gone with the lease" {
	packages_of "$BATS_TEST_TMPDIR/packages" 'cd /work/packages; mkdir -p python/x node_modules/y; echo 1 >python/x/__init__.py
		echo "module.exports = 7" >node_modules/y/index.js; ! touch /work/new 2>/dev/null'
	[ "$status" -eq 0 ]
	entries show <"$BATS_TEST_TMPDIR/packages" >"$BATS_TEST_TMPDIR/list"
	grep -q "^file 0644 [0-9]* 2 b'python/x/__init__.py' " "$BATS_TEST_TMPDIR/list"
	[ "$(wc -l <"$BATS_TEST_TMPDIR/list")" -eq 6 ]
	# a program reads them, and has no way to change them: they are no room for its files
	export WK_PACKAGES=1
	lease tree-put "$LEASE" any "$BATS_TEST_TMPDIR/packages" + health + exec "$LEASE" 120000 1048576 /bin/sh -c \
		'cat /work/packages/python/x/__init__.py /work/node_modules/y/index.js; ls -A /work/space
		cd /work/packages; echo more >>python/x/__init__.py || touch new || rm -rf python || chmod 777 . || mount -o remount,rw . || echo shut' + \
		tree-get "$LEASE" 33554432 1000
	[ "$status" -eq 0 ]
	[ "$(head -c 23 "$WORKER_STATE/out")" = "$(printf '1\nmodule.exports = 7\nsh')" ]
	[ "$(jq -r 'select(.label != null) | .label' "$WORKER_STATE/said" | head -n 1)" = "" ]
	tail -c +27 "$WORKER_STATE/out" | cmp - "$BATS_TEST_TMPDIR/packages"
	lease exec "$LEASE" 120000 1048576 /bin/sh -c 'ls -A /work/packages /work/space'
	[ "$(tr -d '\n' <"$WORKER_STATE/out")" = "/work/packages:/work/space:" ]
}

# shellcheck disable=SC2016 # for the tenant's shell
@test "BRK-26 WS-9: putting packages replaces whatever was installed: deep, closed, full, and under the names of what is thrown away" {
	packages_of "$BATS_TEST_TMPDIR/s" 'echo 1 >/work/packages/only'
	[ "$status" -eq 0 ]
	export WK_PACKAGES=1
	lease install "$LEASE" 120000 1048576 /bin/sh -c 'cd /work/packages; mkdir gone-1 gone-2; mkdir -p gone-1/gone-1/a/gone-3 x/gone-4/gone-4; echo 1 >gone-5
		ln -s / up; mkdir sticky; touch sticky/f; chmod 1000 sticky; i=0; while [ $i -lt 200 ]; do mkdir d && cd d || exit 1; i=$((i + 1)); done
		chmod 0 . /work/packages/gone-1; chmod 1700 /work/packages
		cd /work/packages; i=0; while [ $i -lt 2000 ] && : >full-$i; do i=$((i + 1)); done 2>/dev/null; exit 0' + \
		tree-put "$LEASE" g "$BATS_TEST_TMPDIR/s" + tree-get "$LEASE" 33554432 1000 + exec "$LEASE" 120000 1000 /usr/bin/stat -c %a:%u /work/packages
	cat "$WORKER_STATE/err"
	[ "$status" -eq 0 ]
	[ "$(tail -n 1 "$WORKER_STATE/out" | tail -c 9)" = 755:1000 ]
	head -c -9 "$WORKER_STATE/out" | cmp - "$BATS_TEST_TMPDIR/s"
}
