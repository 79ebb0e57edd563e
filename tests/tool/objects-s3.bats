#!/usr/bin/env bats
# Objects in S3: against real servers (Swift, which checks every signature; s3rver), and one that misbehaves.

load ../kz
load ../s3

setup_file() {
	export ROOT=$BATS_TEST_DIRNAME/../..
	export OBJECTS=$ROOT/build/tests/tool/objects
	export KZ_STATE=$BATS_FILE_TMPDIR/state
	make -s -C "$ROOT" build/tests/tool/objects
	mkdir -p "$KZ_STATE/env" "$KZ_STATE/keys" "$BATS_FILE_TMPDIR/odd"
	chmod 700 "$KZ_STATE"
	s3_start odd python3 "$ROOT/tests/s3/s3.py" "$BATS_FILE_TMPDIR/odd"
	wait_for "$BATS_FILE_TMPDIR/odd/port"
	head -c 2500000 /dev/urandom >"$BATS_FILE_TMPDIR/big"
	echo "some bytes" >"$BATS_FILE_TMPDIR/small"
	echo "other bytes" >"$BATS_FILE_TMPDIR/other"
	: >"$BATS_FILE_TMPDIR/empty"
}

teardown_file() {
	s3_stop
}

setup() {
	cd "$BATS_FILE_TMPDIR"
	serve odd canary1 canary2 "p/$BATS_TEST_NUMBER"
	rm -f odd/log
	mode well
}

wait_for() {
	for _ in $(seq 600); do
		[ ! -s "$1" ] || return 0
		sleep 0.1
	done
	cat "$BATS_FILE_TMPDIR"/*.out
	return 1
}

# serve SERVER ACCESS SECRET [PREFIX]: from here on this server is the store
serve() {
	s3_here "$1" "$2" "$3" "${4-p/q}" "$KZ_STATE" >"$KZ_STATE/env/KZ_OBJECTS_URL"
}

mode() {
	echo "$1" >odd/mode
}

# fails STATUS REASON ARGUMENTS: it ends so, and tells no credential and no name of an object
fails() {
	local want=$1 reason=$2
	shift 2
	run "$OBJECTS" "$@"
	[ "$status" -eq "$want" ] || { echo "status $status: $output"; return 1; }
	[[ $output == "$reason: "* ]] || { echo "$output"; return 1; }
	[[ $output != *canary* && $output != *kz-test* && $output != */w/* ]]
}

asked() {
	[ "$(wc -l <odd/log)" -eq "$1" ] || { cat odd/log; return 1; }
}

# The whole life of some objects, with a store that is empty; three names beside a/.
story() {
	local name
	run "$OBJECTS" list
	[ "$status" -eq 0 ]
	[ "$output" = "" ]
	"$OBJECTS" put w/k/b/1 big
	"$OBJECTS" fresh w/k/g/1 small
	"$OBJECTS" put a/e empty
	for name in "$@"; do "$OBJECTS" put "$name" small; done
	run "$OBJECTS" list
	[ "$output" = "$1 11 dated"$'\n'"$2 11 dated"$'\na/e 0 dated\n'"$3 11 dated"$'\nw/k/b/1 2500000 dated\nw/k/g/1 11 dated' ]
	run "$OBJECTS" list w/k/g/
	[ "$output" = "w/k/g/1 11 dated" ]
	run "$OBJECTS" list w/nobody/
	[ "$output" = "" ]
	run "$OBJECTS" get w/k/b/1 got
	[ "$output" = "2500000 $(sha256sum <big | cut -c1-64)" ]
	cmp big got
	"$OBJECTS" get a/e got
	cmp empty got
	"$OBJECTS" put w/k/g/1 other
	"$OBJECTS" get w/k/g/1 got
	cmp other got
	fails 66 object_missing get no/such got
	fails 65 object_too_large get w/k/b/1 got 2499999
	"$OBJECTS" get w/k/b/1 got 2500000
	"$OBJECTS" rm w/k/b/1
	"$OBJECTS" rm w/k/b/1
	fails 66 object_missing get w/k/b/1 got
	run "$OBJECTS" sweep
	[ "$output" = 0 ]
}

@test "WS-8 Swift, which checks every signature, keeps objects; wrong credentials are refused" {
	mkdir -p swift
	s3_start swift /usr/bin/python3 "$ROOT/tests/s3/swift-server.py" "$PWD/swift" "$PWD/swift/port" kz-test
	wait_for swift/port
	serve swift kz:tests kz-secret
	story a-b a.b a0
	# it says that it knows no condition: the put takes place without one
	"$OBJECTS" fresh a/e small
	run "$OBJECTS" probe
	[ "$output" = unconditional ]
	serve swift kz:tests kz-secret ""
	run "$OBJECTS" list p/q/a/
	[ "$output" = "p/q/a/e 11 dated" ]
	serve swift kz:tests kz-not-secret
	fails 77 store_refused list
	[[ $output == *"403 SignatureDoesNotMatch"* ]]
	fails 77 store_refused put a/e small
	fails 77 store_refused get a/e got
	fails 77 store_refused rm a/e
	serve swift kz:nobody kz-secret
	fails 77 store_refused list
	serve swift kz:tests kz-secret
	sed -i s/kz-test/no-such-bucket/ "$KZ_STATE/env/KZ_OBJECTS_URL"
	fails 77 store_refused list
	fails 77 store_refused get a/e got
	fails 77 store_refused put a/e small
	kill "$(cat swift.pid)"
	rm swift.pid
}

@test "WS-8 s3rver keeps objects" {
	local program
	program=$("$ROOT/tests/s3/get-s3rver")
	mkdir -p s3rver/data
	s3_start s3rver node "$program" -d s3rver/data -a 127.0.0.1 -p 0 --no-vhost-buckets --configure-bucket kz-test
	listens() {
		sed -n 's/.*listening on 127.0.0.1:\([0-9]*\).*/\1/p' s3rver.out >s3rver/port
		[ -s s3rver/port ]
	}
	kz_wait 60 listens
	serve s3rver S3RVER S3RVER
	story 01 1 b
	run "$OBJECTS" probe
	[ "$output" = unconditional ]
	# it sorts a/ before a-b, which is no order of bytes: found out, not passed on
	"$OBJECTS" put a-b small
	fails 69 store_unavailable list
	[[ $output == *"names that do not ascend" ]]
	serve s3rver S3RVERS S3RVER
	fails 77 store_refused list
	kill "$(cat s3rver.pid)"
	rm s3rver.pid
}

@test "WS-8 WS-16 a server that knows conditions refuses the second writer of a name; pages are walked" {
	serve odd canary1 canary2
	story a-b a.b a0
	[ "$(grep -c 'list-type=2&prefix=p%2Fq%2F ' odd/log)" -ge 1 ]
	grep -q 'GET /kz-test?continuation-token=%2B%2F%3D%26%3F%20%3Ap%2Fq%2Fa%2Fe&list-type=2&prefix=p%2Fq%2F well' odd/log
	fails 75 object_exists fresh a/e small
	run "$OBJECTS" get a/e got
	cmp empty got
	run "$OBJECTS" probe
	[ "$output" = conditional ]
	run "$OBJECTS" list probe/
	[ "$output" = "" ]
	mode ignore
	run "$OBJECTS" probe
	[ "$output" = unconditional ]
}

@test "a server that fails for a while is asked again, three times at most" {
	for m in 503 429 garbage; do
		mode "$m:2"
		rm -f odd/log
		"$OBJECTS" put w/a small
		asked 3
	done
	for m in 500 drop; do
		mode "$m:2"
		"$OBJECTS" put w/a small
		mode "$m:1"
		"$OBJECTS" get w/a got
		cmp small got
		mode "$m:2"
		run "$OBJECTS" list w/
		[ "$output" = "w/a 11 dated" ]
		mode "$m:1"
		"$OBJECTS" rm w/a
		mode "$m"
		rm -f odd/log
		fails 69 store_unavailable put w/a small
		asked 3
		fails 69 store_unavailable get w/a got
		fails 69 store_unavailable list
		fails 69 store_unavailable rm w/a
		mode well
		fails 66 object_missing get w/a got
	done
}

@test "a server that refuses is asked once; what it says is told without its bytes" {
	mode 403
	fails 77 store_refused put w/a small
	asked 1
	[[ $output == *"403 AccessDenied"* ]]
	mode 400
	fails 77 store_refused list
	[[ $output == *"answers 400" ]]
	mode 404b
	fails 77 store_refused get w/a got
	mode 507
	fails 73 store_full put w/a small
	mode quota
	fails 73 store_full put w/a small
	mode bigerror
	fails 69 store_unavailable get w/a got
	mode bighead
	fails 69 store_unavailable get w/a got
}

@test "WS-16 a put whose answer was lost: ours is found, somebody else's is never taken for ours" {
	mode put-drop:1
	"$OBJECTS" fresh w/lost small
	"$OBJECTS" get w/lost got
	cmp small got
	mode taken-drop:1
	fails 75 object_exists fresh w/taken small
	"$OBJECTS" get w/taken got
	run cmp small got
	[ "$status" -ne 0 ]
	mode put-drop
	fails 69 store_unavailable put w/never small
	mode 501:1
	"$OBJECTS" fresh w/without small
}

@test "half an object is never a whole one" {
	"$OBJECTS" put w/a big
	mode half:2
	"$OBJECTS" get w/a got
	cmp big got
	mode half
	fails 70 object_damaged get w/a got
	mode nolength
	fails 69 store_unavailable get w/a got
	mode chunked
	fails 69 store_unavailable get w/a got
	mode endless
	fails 65 object_too_large get w/a got
	mode altered
	run "$OBJECTS" get w/a got
	[ "$status" -eq 0 ]
	[ "$output" != "2500000 $(sha256sum <big | cut -c1-64)" ]
}

@test "listings that are broken, in circles, out of order or of other names are refused" {
	serve odd canary1 canary2 p
	for m in l-cut l-notxml l-html l-circle l-order l-twice l-notoken l-nothing l-noflag l-foreign l-size l-nosize l-doctype \
		l-many l-large; do
		mode "$m"
		run "$OBJECTS" list
		[ "$status" -eq 69 ] || { echo "$m: $status $output"; return 1; }
		[[ $output == *"store_unavailable: "* ]] || { echo "$m: $output"; return 1; }
	done
	mode l-odd
	run "$OBJECTS" list
	[ "$status" -eq 0 ]
	[ "$output" = "ok 1 dated" ]
	mode l-endless
	run "$OBJECTS" -t 1500 list
	[ "$status" -eq 69 ]
}

@test "no redirect is followed, and no proxy of the environment is asked" {
	mode redirect
	fails 77 store_refused get w/a got
	asked 1
	fails 77 store_refused put w/a small
	fails 77 store_refused list
	run grep elsewhere odd/log
	[ "$status" -ne 0 ]
	mode well
	export http_proxy=http://127.0.0.1:1 https_proxy=http://127.0.0.1:1 ALL_PROXY=http://127.0.0.1:1 NO_PROXY=''
	"$OBJECTS" put w/a small
	"$OBJECTS" rm w/a
}

@test "a server that hangs, or is not there, is waited for until the deadline" {
	local start=$SECONDS
	mode hang
	fails 69 store_unavailable -t 1000 get w/a got
	fails 69 store_unavailable -t 1000 put w/a small
	[ $((SECONDS - start)) -lt 50 ]
	sed -i 's/:[0-9]*\/kz-test/:1\/kz-test/' "$KZ_STATE/env/KZ_OBJECTS_URL"
	fails 69 store_unavailable list
}

@test "https is verified against the machine's trust store; http there is nobody's secret" {
	mkdir -p tls
	openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=127.0.0.1 \
		-addext subjectAltName=IP:127.0.0.1 -keyout tls/key.pem -out tls/cert.pem 2>/dev/null
	cat tls/cert.pem tls/key.pem >tls/both.pem
	s3_start tls python3 "$ROOT/tests/s3/s3.py" "$PWD/tls" tls/both.pem
	wait_for tls/port
	serve tls canary1 canary2
	sed -i 's/+http:/+https:/' "$KZ_STATE/env/KZ_OBJECTS_URL"
	fails 69 store_unavailable put w/a small
	[ ! -e tls/log ]
	[ "$(id -u)" -eq 0 ] || skip "needs root"
	# shellcheck disable=SC2016 # of the inner shell
	unshare -m bash -c 'mount --bind tls/cert.pem /etc/ssl/certs/ca-certificates.crt && "$OBJECTS" put w/a small && "$OBJECTS" get w/a got'
	cmp small got
	sed -i 's/127.0.0.1/localhost/' "$KZ_STATE/env/KZ_OBJECTS_URL"
	# shellcheck disable=SC2016
	run unshare -m bash -c 'mount --bind tls/cert.pem /etc/ssl/certs/ca-certificates.crt && "$OBJECTS" get w/a got'
	[ "$status" -eq 69 ]
}

@test "credentials: missing, open to others, malformed, temporary" {
	rm "$KZ_STATE/keys/objects.key"
	fails 78 key_missing list
	serve odd canary1 canary2
	chmod 644 "$KZ_STATE/keys/objects.key"
	fails 78 key_invalid list
	for text in '' 'canary1' 'canary1\n\n' 'a\nb c\n' 'a\nb\nc\nd\n' 'a\nb\n\n'; do
		# shellcheck disable=SC2059
		printf "$text" >"$KZ_STATE/keys/objects.key"
		chmod 640 "$KZ_STATE/keys/objects.key"
		fails 78 key_invalid list
	done
	printf 'a\nb\ntoken+/=\n' >"$KZ_STATE/keys/objects.key"
	"$OBJECTS" put w/a small
	"$OBJECTS" rm w/a
	# a directory needs none
	rm "$KZ_STATE/keys/objects.key"
	mkdir "$KZ_STATE/objects"
	echo dir:objects >"$KZ_STATE/env/KZ_OBJECTS_URL"
	"$OBJECTS" put w/a small
	run "$OBJECTS" list
	[ "$output" = "w/a 11 dated" ]
}
