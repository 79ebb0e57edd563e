# Output of every size and kind comes through whole, or the record says what did not; broken ends are never success.
# shellcheck disable=SC2154,SC2030,SC2031 # run and kz_run set the variables
# bats file_tags=case:root
bats_require_minimum_version 1.5.0
load ../kz

setup_file() {
	kz_start SANDBOX_WARM_POOL_MIN=2 SANDBOX_MAX_OUTPUT_BYTES=67108864 SANDBOX_MAX_WALL_SECONDS=120
}

teardown_file() {
	kz_stop
}

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
}

leased() {
	kz-lease list -j | wc -l
}

records() {
	kz-audit list -j -k record | wc -l
}

# is_over RECORDS: a run more than that has its record, and nothing is leased
is_over() {
	[ "$(records)" -gt "$1" ] && none_leased
}

none_leased() {
	[ "$(leased)" -eq 0 ]
}

@test "EXEC-5 frame boundary: sizes around every buffer" {
	local n
	for n in 0 1 4095 4096 4097 32767 32768 32769 65535 65536 65537 1048576; do
		kz-run --record 7 -l shell -c "head -c $n /dev/zero | tr '\\0' x; head -c $n /dev/zero | tr '\\0' y >&2" >out 2>err 7>rec
		[ "$(stat -c %s out)" -eq "$n" ]
		[ "$(stat -c %s err)" -eq "$n" ]
		[ "$(sha256sum <out | cut -d' ' -f1)" = "$(jq -r .stdout.sha256 rec)" ]
		[ "$(sha256sum <err | cut -d' ' -f1)" = "$(jq -r .stderr.sha256 rec)" ]
		[ "$(jq -r .stdout.kept_bytes rec)" -eq "$n" ]
	done
}

@test "EXEC-5 binary output, zero bytes, broken UTF-8" {
	kz-run -c 'import sys; sys.stdout.buffer.write(bytes(range(256)) * 999)' >out
	python3 -c 'import sys; sys.stdout.buffer.write(bytes(range(256)) * 999)' >want
	cmp out want
}

@test "EXEC-5 silent truncation: two million lines have the digest of what was written, also for a slow reader" {
	kz-run --record 7 -l shell -c 'seq 1 2000000' 7>rec >out
	seq 1 2000000 | cmp - out
	[ "$(sha256sum <out | cut -d' ' -f1)" = "$(jq -r .stdout.sha256 rec)" ]
	kz-run -l shell -c 'seq 1 2000000' | (
		sleep 1
		while head -c 1000000 | grep -c . >/dev/null; do sleep 0.05; done
		cat >/dev/null
	)
	[ "${PIPESTATUS[0]}" -eq 0 ]
}

@test "EXEC-5 a slow reader never holds a worker" {
	local pid before
	mkfifo pipe
	before=$(records)
	kz-run -l shell -c 'head -c 1000000 /dev/zero' >pipe &
	pid=$!
	exec 6<pipe
	kz_wait 20 is_over "$before"
	# it still has output to give
	kill -0 $pid
	[ "$(wc -c <&6)" -eq 1000000 ]
	exec 6<&-
	wait $pid
}

@test "BOUND-12 cap semantics: the output bound is inclusive" {
	kz config set SANDBOX_MAX_OUTPUT_BYTES=1000
	kz_run -l shell -c 'head -c 400 /dev/zero | tr "\0" x'
	[ "$status" -eq 0 ]
	kz_record_is stdout.dropped_bytes 0
	kz_run -l shell -c 'head -c 5000 /dev/zero | tr "\0" x; echo error >&2'
	kz config set SANDBOX_MAX_OUTPUT_BYTES=67108864
	[ "$status" -eq 125 ]
	kz_record_is outcome completed
	kz_record_is 'limits_hit[0]' output
	kz_record_is stdout.seen_bytes 5000
	# a flood on stdout does not hide the error
	[ "$(kz_record stderr.kept_bytes)" -eq 6 ]
	[ $(($(kz_record stdout.kept_bytes) + $(kz_record stderr.kept_bytes))) -le 1000 ]
	[[ $error == "error
kz-run: output_truncated: "* ]]
}

@test "BOUND-12 a bound that was raised counts for the next run, while workers of the lesser one are warm" {
	for _ in 1 2 3; do
		kz config set SANDBOX_MAX_OUTPUT_BYTES=1000 2>/dev/null
		kz_run -l shell -c 'head -c 5000 /dev/zero'
		kz_record_is stdout.kept_bytes 1000
		kz config set SANDBOX_MAX_OUTPUT_BYTES=67108864 2>/dev/null
		kz_run -l shell -c 'head -c 5000 /dev/zero'
		[ "$status" -eq 0 ]
		kz_record_is stdout.kept_bytes 5000
	done
}

@test "EXEC-5 nobody reads stdout any more: the run ends, the worker goes back, 141" {
	set +o pipefail
	kz-run -l shell -c 'while :; do echo y; done' | head -n 1
	[ "${PIPESTATUS[0]}" -eq 141 ]
	kz_wait 10 none_leased
	# also while the program is silent
	local start=$SECONDS
	kz-run -l shell -c 'sleep 110' | true
	[ "${PIPESTATUS[0]}" -eq 141 ]
	[ $((SECONDS - start)) -lt 100 ] # the program did not come to its end
	kz_wait 10 none_leased
}

@test "EXEC-16 stdout on a full device is a failure" {
	local rc=0
	kz-run -c 'print(1)' >/dev/full 2>err || rc=$?
	[ "$rc" -eq 125 ]
	grep -q '^kz-run: stdout_failed: ' err
	rc=0
	kz-run -j -c 'print(1)' >/dev/full 2>err || rc=$?
	[ "$rc" -eq 74 ]
	grep -q '^kz-run: stdout_failed: ' err
}

@test "EXEC-8 a closed stdout is a failure of a run that prints, and of no other" {
	local rc=0
	kz-run -c 'print(1)' >&- 2>err || rc=$?
	[ "$rc" -eq 125 ]
	[[ $(tail -n 1 err) == "kz-run: stdout_failed: "* ]]
	rc=0
	kz-run -j -c 'pass' >&- 2>err || rc=$?
	[ "$rc" -eq 74 ]
	[[ $(tail -n 1 err) == "kz-run: stdout_failed: "* ]]
	kz-run -c 'pass' >&-
	kz-run -c 'import sys; print(1, file=sys.stderr)' >&- 2>err
	[ "$(cat err)" = 1 ]
	rc=0
	kz-lease list -j >&- 2>err || rc=$?
	[ "$rc" -eq 0 ] # nothing to print
	rc=0
	kz config show >&- 2>err || rc=$?
	[ "$rc" -eq 74 ]
	rc=0
	kz status >&- 2>err || rc=$?
	[ "$rc" -eq 74 ]
}

@test "EXEC-5 -j: the error object's status is the one the run ends with, interrupted or not" {
	local pid rc=0
	kz-run -j -l shell -c 'echo up; sleep 30' >out 2>err &
	pid=$!
	kz_wait 20 grep -q up out
	kill -TERM $pid
	wait $pid || rc=$?
	[ "$rc" -eq 143 ]
	[ "$(jq -r 'select(.type == "error").status' out)" -eq 143 ]
	rc=0
	kz-run -j -t 300 -l shell -c 'sleep 30' >out 2>err || rc=$?
	[ "$rc" -ne 0 ]
	[ "$(jq -r 'select(.type == "error").status // empty' out | grep -vx "$rc" | wc -l)" -eq 0 ]
}

@test "BOUND-12 unit bug: kept output is exact to the byte, in -j too, where text ends at a character" {
	kz config set SANDBOX_MAX_OUTPUT_BYTES=1000
	kz_run -c 'print("€" * 500, end="")'
	kz-run -j -c 'print("€" * 500, end="")' >events || true
	kz config set SANDBOX_MAX_OUTPUT_BYTES=67108864
	kz_record_is stdout.kept_bytes "$(printf %s "$output" | wc -c)"
	jq -r 'select(.type == "output") | .text // empty' events | iconv -f UTF-8 -t UTF-8 >/dev/null
	local bytes
	bytes=$(jq -c 'select(.type == "output")' events | while read -r e; do
		jq -j '.text // empty' <<<"$e"
		jq -j '.base64 // empty' <<<"$e" | base64 -d
	done | wc -c)
	[ "$bytes" -eq "$(jq -r 'select(.type == "record").stdout.kept_bytes' events)" ]
}

@test "EXEC-8 a record that cannot be written says so, with the reason on the last line" {
	local rc=0
	kz-run --record 7 -c 'print(1)' 7>/dev/full >out 2>err || rc=$?
	[ "$rc" -eq 125 ]
	[[ $(tail -n 1 err) == "kz-run: io_failed: cannot write the record"* ]]
	rc=0
	kz-run -j --record 7 -c 'print(1)' 7>/dev/full >out 2>err || rc=$?
	[ "$rc" -eq 74 ]
	grep -q '^kz-run: io_failed: ' err
}

@test "EXEC-5 interrupted: 130, 143; the record says so and the worker goes back" {
	local sig want pid rc
	for sig in INT:130 TERM:143; do
		want=${sig#*:}
		sig=${sig%:*}
		(
			trap - INT
			exec kz-run --record 7 -c 'import time; print(1, flush=True); time.sleep(25)' >out 7>rec
		) &
		pid=$!
		kz_wait 20 test -s out
		kill -"$sig" $pid
		rc=0
		wait $pid || rc=$?
		[ "$rc" -eq "$want" ]
		[ "$(jq -r .reason rec)" = interrupted ]
		[ "$(jq -r .outcome rec)" = failed ]
		kz_wait 10 none_leased
		rm out
	done
}

one_leased() {
	[ "$(leased)" -eq 1 ]
}

waiting() {
	kz status -j | jq -s 'map(select(.waiting != null))[0].waiting'
}

one_waits() {
	[ "$(waiting)" = 1 ]
}

none_waits() {
	[ "$(waiting)" = 0 ]
}

@test "LEASE-6 a waiter that is interrupted leaves at once" {
	mkfifo go
	exec 8<>go
	kz-run -A a -C c -l shell -c 'read -r x' <go 8>&- &
	local first=$! pid rc=0
	kz_wait 20 one_leased
	kz-run -A a -C c -c 1 2>err 8>&- &
	pid=$!
	kz_wait 20 one_waits
	kill -TERM $pid
	wait $pid || rc=$?
	[ "$rc" -eq 143 ]
	kz_wait 10 none_waits
	echo >&8
	exec 8>&-
	wait $first
}

leased_worker_pid() {
	kz_process1 "$(kz-lease list -j | jq -r .worker | head -n 1)"
}

@test "EXEC-5 a worker that dies with the output half sent gives outcome_unknown, and never success" {
	local rc=0 pid
	kz-run --record 7 -l shell -c 'seq 1 2000000; sleep 100; exit 0' >out 2>err 7>rec &
	pid=$!
	kz_wait 20 test -s out
	kill -KILL "$(leased_worker_pid)"
	wait $pid || rc=$?
	[ "$rc" -eq 125 ]
	[ "$(jq -r .outcome rec)" = outcome_unknown ]
	[ "$(jq -r .cause rec)" = transport_lost ]
	grep -q '^kz-run: outcome_unknown: ' err
	rc=0
	kz_wait 60 none_leased
	kz-run -j -c 'import time; print(1, flush=True); time.sleep(100)' >out &
	pid=$!
	kz_wait 20 grep -q '"output"' out
	kill -KILL "$(leased_worker_pid)"
	wait $pid || rc=$?
	[ "$rc" -eq 74 ]
	[ "$(tail -n 1 out | jq -r .outcome)" = outcome_unknown ]
	# and the pool heals
	kz_run -c 'print(1)'
	[ "$status" -eq 0 ]
}

@test "FENCE-1 kill -9 of a kz-run: the same member runs again within 5 s" {
	local pid
	kz-run -A a -C c -c 'import time; print(1, flush=True); time.sleep(25)' >out &
	pid=$!
	kz_wait 20 test -s out
	kill -KILL $pid
	wait $pid || true
	# without the controller it would wait for the end of the lease, longer than anybody waits for one
	local start=$SECONDS
	kz_run -A a -C c -c 'print(2)'
	[ "$status" -eq 0 ]
	kz_within 5 "$start"
}
