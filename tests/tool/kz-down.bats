#!/usr/bin/env bats
# weight 101
# Stopping, and what is left: a stack of its own in each test (DEP-1, INV-26, POOL-20, ADM-9).

# shellcheck disable=SC2154 # stderr comes from run --separate-stderr
bats_require_minimum_version 1.5.0
load ../kz

setup() {
	kz_start SANDBOX_WARM_POOL_MIN=1 SANDBOX_POOL_TARGET_IDLE=0 SANDBOX_POOL_MAX_ALLOCATED=4 SANDBOX_MAX_WALL_SECONDS=600
}

teardown() {
	kz_stop
}

one_warm() {
	[ "$(kz status -j 2>/dev/null | jq .workers.warm)" -ge 1 ]
}

has_lease() {
	[ "$(kz status -j 2>/dev/null | jq .workers.leased)" -ge 1 ]
}

closed_as() {
	[ "$(kz status -j 2>/dev/null | jq -r .admission.reason)" = "$1" ]
}

is_open() {
	kz status >/dev/null 2>&1
}

is_down() {
	local status=0
	kz status >/dev/null 2>&1 || status=$?
	[ "$status" -eq 69 ]
}

# Every process of the stack, its workers too, at once.
kill_all() {
	# shellcheck disable=SC2046 # a list of numbers
	kill -9 $(kz_marked)
}

@test "DEP-1: down leaves no process, mount, cgroup, worker or socket, and may be repeated" {
	kz_wait 20 one_warm
	run kz down
	[ "$status" -eq 0 ]
	kz_left
	[ -z "$(ls -A "$KZ_STATE/run")" ]
	run kz down
	[ "$status" -eq 0 ]
	run --separate-stderr kz status
	[ "$status" -eq 69 ]
}

@test "LEASE-18: after down every caller is told that kz is not running, and the way out" {
	local call
	kz down -f
	for call in "kz-run -c 1" "kz-lease list" "kz-lease acquire -A a -C c"; do
		# shellcheck disable=SC2086 # words are wanted
		run --separate-stderr $call
		echo "$call: $status $stderr"
		[ "$status" -eq 69 ] || [[ $call == kz-run* && $status -eq 125 ]]
		[[ $stderr == *": not_running: "*"kz up"* ]]
	done
	run --separate-stderr kz-run -j -c 1
	[ "$status" -eq 69 ]
}

@test "LEASE-18: a caller of another version is told so, and the way out" {
	local pid
	pid=$(kz status -j | jq -r '.services[] | select(.service == "kz-controller").pid')
	kill -STOP "$pid"
	valkey-cli -s "$KZ_STATE/run/valkey.sock" function flush
	run --separate-stderr kz-lease list
	kill -CONT "$pid"
	[ "$status" -eq 76 ]
	[[ $stderr == *library_missing*"kz down, then kz up"* ]]
}

@test "DEP-1: up after down keeps identity, and the pool comes back" {
	local before
	before=$(sha256sum <"$KZ_STATE/keys/identity.key")
	kz down
	kz up
	kz_wait 20 one_warm
	[ "$(sha256sum <"$KZ_STATE/keys/identity.key")" = "$before" ]
	kz_run -c 'print(6 * 7)'
	[ "$status" -eq 0 ]
	[ "$output" = 42 ]
	run kz audit verify
	[ "$status" -eq 0 ]
}

@test "DEP-1: down after everything was killed leaves nothing" {
	kz_wait 20 one_warm
	kill_all
	kz_wait 5 is_down
	run kz down
	echo "$output"
	[ "$status" -eq 0 ]
	kz_left
}

@test "FENCE-7: up after everything was killed ends what was left, and serves again" {
	kz_wait 20 one_warm
	kill_all
	run kz up
	echo "$output"
	[ "$status" -eq 0 ]
	kz_wait 20 one_warm
	kz_run -c 'print("again")'
	[ "$output" = again ]
	run kz audit verify
	[ "$status" -eq 0 ]
}

@test "DEP-1: only the supervisors killed: their orphans are found and ended" {
	local p
	# the one that would start the others again is the first
	for p in $(kz_marked); do
		! grep -qE '^s6-svscan' "/proc/$p/comm" || kill -9 "$p"
	done
	for p in $(kz_marked); do
		! grep -qE '^s6-supervis' "/proc/$p/comm" || kill -9 "$p"
	done
	run kz up
	echo "$output"
	[ "$status" -eq 0 ]
	kz_run -c 'print("again")'
	[ "$output" = again ]
}

@test "ADM-9: down lets a running program end, and admits nobody meanwhile" {
	kz_wait 20 one_warm
	# it ends when it is told to
	mkfifo "$BATS_TEST_TMPDIR/go"
	exec 8<>"$BATS_TEST_TMPDIR/go"
	kz-run -A patient -c 'input(); print("ended")' <"$BATS_TEST_TMPDIR/go" >"$BATS_TEST_TMPDIR/out" 2>"$BATS_TEST_TMPDIR/err" 3>&- 8>&- &
	local run=$! status=0
	kz_wait 10 has_lease
	kz down 2>"$BATS_TEST_TMPDIR/down" 3>&- 8>&- &
	local down=$!
	kz_wait 10 closed_as deployment_closed
	kz_run -A late -c 'print(1)'
	echo "late: $status $error"
	[ "$status" -eq 125 ]
	[[ "$error" == *deployment_closed* ]]
	[ ! -s "$BATS_TEST_TMPDIR/out" ]
	echo >&8
	exec 8>&-
	wait $run
	[ "$(cat "$BATS_TEST_TMPDIR/out")" = ended ]
	wait $down
	kz_left
}

@test "ADM-9 LEASE-23: down lets a running program end also when Valkey is gone" {
	kz_wait 20 one_warm
	mkfifo "$BATS_TEST_TMPDIR/go"
	exec 8<>"$BATS_TEST_TMPDIR/go"
	kz-run -A patient -c 'input(); print("ended")' <"$BATS_TEST_TMPDIR/go" >"$BATS_TEST_TMPDIR/out" 2>"$BATS_TEST_TMPDIR/err" 3>&- 8>&- &
	local run=$!
	kz_wait 10 has_lease
	s6-svc -wD -d "$KZ_STATE/service/valkey"
	kz down 2>"$BATS_TEST_TMPDIR/down" 3>&- 8>&- &
	local down=$!
	kz_wait 10 grep -q ending "$KZ_STATE/log/kz-controller/current"
	# for what must not come
	sleep 2
	kill -0 "$down"
	[ -n "$(ls "$KZ_STATE/workers")" ]
	echo >&8
	exec 8>&-
	wait $run
	[ "$(cat "$BATS_TEST_TMPDIR/out")" = ended ]
	grep -q 'worker not returned to the pool reason=coordination_unavailable' "$BATS_TEST_TMPDIR/err"
	wait $down
	kz_left
}

@test "ADM-9: down -f ends a running program at once; its caller is told, and nothing is left" {
	kz_wait 20 one_warm
	kz-run -A hurried -c 'import time; time.sleep(600); print("ended")' >"$BATS_TEST_TMPDIR/out" 2>"$BATS_TEST_TMPDIR/err" 3>&- &
	local run=$! status=0 begin
	kz_wait 10 has_lease
	begin=$SECONDS
	run kz down -f
	echo "$output"
	[ "$status" -eq 0 ]
	kz_within 60 "$begin"
	status=0
	wait $run || status=$?
	[ "$status" -eq 125 ]
	[ ! -s "$BATS_TEST_TMPDIR/out" ]
	kz_left
}

@test "POOL-8: down works under a setting that makes no sense" {
	kz_wait 20 one_warm
	echo nonsense >"$KZ_STATE/env/KZ_RUN_PIDS"
	run kz down
	echo "$output"
	[ "$status" -eq 0 ]
	kz_left
}

@test "ADM-9: purge removes the state, and up makes another one with keys of its own" {
	local before
	before=$(cat "$KZ_STATE/keys/identity.key")
	run kz down --purge --yes
	[ "$status" -eq 0 ]
	[ ! -e "$KZ_STATE" ]
	[ "${lines[-1]}" = "kz: removed $KZ_STATE" ]
	kz up
	export KZ_STACK_ID
	KZ_STACK_ID=$(cat "$KZ_STATE/stack")
	[ "$(cat "$KZ_STATE/keys/identity.key")" != "$before" ]
}

@test "DEP-1: up --foreground drains on TERM and ends with 0" {
	kz down
	kz up --foreground 2>"$BATS_TEST_TMPDIR/err" 3>&- &
	local pid=$! status=0
	kz_wait 30 is_open
	kz_run -c 'print("in front")'
	[ "$output" = "in front" ]
	kill -TERM $pid
	wait $pid || status=$?
	cat "$BATS_TEST_TMPDIR/err"
	[ "$status" -eq 0 ]
	kz_left
}

@test "DEP-1: up --foreground ends when somebody else says down" {
	kz down
	kz up --foreground 2>"$BATS_TEST_TMPDIR/err" 3>&- &
	local pid=$! status=0
	kz_wait 30 is_open
	kz down
	wait $pid || status=$?
	cat "$BATS_TEST_TMPDIR/err"
	[ "$status" -eq 0 ]
	kz_left
}
