#!/usr/bin/env bats
# weight 100
# Commits to S3, whole or not at all: kz-workspace killed after each request, and a server that is full, silent or loses its answers
# from each request on; with Swift, which knows no condition, and with one that does.
# shellcheck disable=SC2154,SC2030,SC2031 # run sets the variables
# bats file_tags=case:root
bats_require_minimum_version 1.5.0
load ../kz
load ../s3

setup_file() {
	cd "$BATS_TEST_DIRNAME/../.." || return 1
	make -s -j2 FAULT=1 build-fault/bin/kz-workspace build-fault/bin/kz-archive
	export FAULT_BIN=$PWD/build-fault/bin ROOT=$PWD
	kz_start SANDBOX_WARM_POOL_MIN=2 SANDBOX_POOL_TARGET_IDLE=0 SANDBOX_POOL_MAX_ALLOCATED=3
	s3_start odd python3 "$ROOT/tests/s3/s3.py" "$BATS_FILE_TMPDIR/odd"
	s3_start swift /usr/bin/python3 "$ROOT/tests/s3/swift-server.py" "$BATS_FILE_TMPDIR/swift" "$BATS_FILE_TMPDIR/swift/port" kz-test
}

teardown_file() {
	local rc=0
	kz_stop || rc=1
	s3_stop || rc=1
	return $rc
}

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	unset KZ_LEASE KZ_LEASE_TOKEN KZ_FENCE
	ODD=$BATS_FILE_TMPDIR/odd tick=0
}

# serve SERVER ACCESS SECRET: from here on this server is the store, and has a workspace
serve() {
	s3_serve "$@"
	echo well >"$ODD/mode"
	put kz-workspace
}

# put PROGRAM: two files in one change, so that a mix would be seen
put() {
	tick=$((tick + 1))
	echo "$tick" >one
	echo "$tick" >two
	"$1" put -A a -C c one two 2>stderr </dev/null
}

# whole STATUS OLD WHEN: all of the new or all of the old, and then no success; kept is what is there
whole() {
	local now
	now=$(kz-workspace get -A a -C c one)
	echo "$3: status $1, was $2, now $now, $tick was to be; $(cat stderr)"
	[ "$now" = "$(kz-workspace get -A a -C c two)" ]
	if [ "$now" != "$tick" ]; then
		[ "$now" = "$2" ]
		[ "$1" -ne 0 ]
	fi
	kept=$now
}

walk_killed() {
	local n rc calls
	# once more, so that what comes after a commit has something to take away
	put kz-workspace
	KZ_FAULT_TRACE=$PWD/trace put "$FAULT_BIN/kz-workspace"
	calls=$(grep -c OBJ_CALL trace)
	[ "$calls" -ge 6 ]
	kept=$tick news=0 olds=0
	for n in $(seq "$calls"); do
		rc=0
		KZ_FAULT=OBJ_CALL:$n:after put "$FAULT_BIN/kz-workspace" || rc=$?
		[ "$rc" -eq 137 ]
		whole "$rc" "$kept" "call $n"
		[ "$kept" = "$tick" ] && news=$((news + 1)) || olds=$((olds + 1))
	done
	[ "$news" -ge 1 ]
	[ "$olds" -ge 3 ]
	put kz-workspace
	[ "$(kz-workspace get -A a -C c one)" = "$tick" ]
}

@test "WS-12 WS-8 kz-workspace put killed after each request to Swift" {
	serve swift kz:tests kz-secret
	walk_killed
}

@test "WS-12 WS-8 kz-workspace put killed after each request to a server that knows conditions" {
	serve odd canary1 canary2
	walk_killed
}

# walk_server MODE STATUS REASON: the server answers so from the first request on, from the second on, ...
walk_server() {
	local n rc failed=0
	serve odd canary1 canary2
	put kz-workspace
	kept=$tick
	for n in {0..30}; do
		rc=0
		echo "$1@$n" >"$ODD/mode"
		put kz-workspace || rc=$?
		echo well >"$ODD/mode"
		whole "$rc" "$kept" "$1 after $n requests"
		[ "$rc" -ne 0 ] || break
		[ "$rc" -eq "$2" ]
		grep -q ": $3: " stderr
		failed=$((failed + 1))
	done
	[ "$rc" -eq 0 ] && [ "$failed" -ge 4 ]
}

@test "WS-12 WS-13 a server that is full in the middle of a commit" {
	walk_server 507 73 store_full
}

@test "WS-12 a server that is gone in the middle of a commit" {
	walk_server drop 69 store_unavailable
}

@test "WS-12 a server that takes what it is sent, and whose answers are lost" {
	walk_server put-drop 69 store_unavailable
}
