# Workers under gVisor: another kernel, the same promises to the caller, each worker used once.
# shellcheck disable=SC2154,SC2030,SC2031 # run and kz_run set the variables
# bats file_tags=case:root,case:runsc
bats_require_minimum_version 1.5.0
load ../kz

setup_file() {
	export SEED=$BATS_FILE_TMPDIR/seed
	head -c 32 /dev/urandom | od -An -tx1 | tr -d ' \n' >"$SEED"
	python3 "$BATS_TEST_DIRNAME/../tool/v4public.py" public "$SEED" >"$BATS_FILE_TMPDIR/keys"
	kz_start KZ_RUNTIME=runsc KZ_APP_KEYS_FILE="$BATS_FILE_TMPDIR/keys" SANDBOX_WARM_POOL_MIN=1 SANDBOX_POOL_TARGET_IDLE=1 SANDBOX_MAX_WALL_SECONDS=120 \
		KZ_RUN_MEMORY_BYTES=134217728 KZ_RUN_DISK_BYTES=16777216 KZ_RUN_PIDS=32
}

teardown_file() {
	kz_stop
}

is() {
	echo "status $status, record $record, stderr $(head -c 500 <<<"$error")"
	[ "$status" -eq "$1" ]
	kz_record_is outcome "$2"
	kz_record_is cause "$3"
	[ "$(kz_record 'limits_hit|join(",")')" = "$4" ]
}

# The worker of the last run: kz-run writes that itself, while transitions come to the store at the controller's pace.
last_worker() {
	kz audit list -j -k dispatch | jq -rs 'last | .worker'
}

# The states of a worker so far.
went() {
	local states
	states=$(kz audit list -j -k transition -w "$1" | jq -rs 'map(select(.machine == "worker").to_state) | join(" ")')
	[ "$states" = "creating warm leased resetting retiring" ] || [ "$states" = "creating warm leased resetting retiring absent" ]
}

@test "RT-5 ADM-8 a program runs under gVisor, and the posture is as observed" {
	kz_run -c 'print(6 * 7)'
	[ "$output" = 42 ]
	is 0 completed exit ""
	[ "$(kz status -j | jq -r .posture.posture.kernel)" = gvisor ]
	[ "$(kz status -j | jq -r .posture.single_use)" = true ]
	kz status | grep -q "each worker used once, each on a kernel of its own (gVisor)"
	# gVisor answers system calls itself; nothing is said of a filter that is not there
	[ "$(kz status -j | jq -r .posture.posture.seccomp)" = 0 ]
}

@test "RT-5 RT-7 a worker serves one lease: released goes to retiring, absent, and is replaced" {
	local first
	kz_run -c 'open("/work/space/left", "w").write("x")'
	is 0 completed exit ""
	[ -z "$error" ]
	first=$(last_worker)
	kz_run -c 'import os; print(os.listdir("/work/space"), os.path.exists("/tmp/left"))'
	[ "$output" = "[] False" ]
	[ "$(last_worker)" != "$first" ]
	kz_wait 20 went "$first"
	kz_wait 20 gone "$first"
	kz audit list -j | jq -se --arg w "$first" 'any(.[]; .worker == $w and .to_state == "retiring" and .cause == "single_use")'
	# evidence that nobody took is not claimed
	kz audit list -j | jq -se --arg w "$first" 'all(.[]; .worker != $w or .event != "publish")'
}

gone() {
	kz audit list -j | jq -se --arg w "$1" 'any(.[]; .worker == $w and .to_state == "absent")' >/dev/null &&
		[ ! -e "$KZ_STATE/workers/$1" ]
}

@test "BOUND-4 EXEC-5 memory, processes, disk, output and time have their bounds and causes" {
	kz_run -c 'a = []
while True: a.append(bytearray(1 << 20))'
	is 125 bounded memory memory
	kz_run -c 'import os, time
while True:
	try:
		if os.fork() == 0: time.sleep(100)
	except OSError: pass'
	is 125 bounded pids pids
	[ "$(kz_record killed_count)" -ge 32 ]
	kz_run -c 'import errno
try:
	with open("x", "wb") as f:
		while True: f.write(b"z" * 65536)
except OSError as e: print(errno.errorcode[e.errno])'
	[ "$output" = ENOSPC ]
	is 0 completed exit disk
	kz_run -t 1000 -c 'while True: pass'
	is 124 bounded wall wall
	[ "$(kz_record cpu_ms)" -gt 100 ]
	kz_run -c 'print("x" * 3000000)'
	is 125 completed exit output
	# it is looked at now and then, so it has to be there for a while
	kz_run -c 'import time; b = bytearray(50 << 20); time.sleep(2); print(len(b))'
	is 0 completed exit ""
	[ "$(kz_record peak_bytes)" -gt 50000000 ]
}

@test "EXEC-4 EXEC-15 files in and out, standard input, status, signals, children left behind" {
	echo "a,b" >"$BATS_TEST_TMPDIR/in.csv"
	kz_run -i "$BATS_TEST_TMPDIR/in.csv" -o out.txt -d "$BATS_TEST_TMPDIR" \
		-c 'open("out.txt", "w").write(open("in.csv").read().upper())'
	[ "$status" -eq 0 ]
	[ "$(cat "$BATS_TEST_TMPDIR/out.txt")" = "A,B" ]
	kz_run -l shell -c 'cat; exit 7' <<<"hello"
	[ "$output" = hello ]
	is 7 failed exit ""
	kz_run -c 'import os; os.kill(os.getpid(), 9)'
	is 137 failed signal ""
	kz_run -l shell -c 'setsid sleep 1000 & echo hi'
	[ "$output" = hi ]
	[ "$(kz_record killed_count)" -eq 1 ]
}

@test "RT-1 RT-2 RT-3 the tenant has no capability, no socket of process 1, no writable place but its own" {
	kz_run -l shell -c 'id -u; grep -E "^Cap" /proc/self/status | grep -v "0000000000000000$"; ls -A /run
grep " / rw" /proc/self/mountinfo | grep -vE " (/proc|/dev/mqueue) "
ls /proc | grep -E "^[0-9]+$" | wc -l; touch /x /usr/x /etc/x 2>/dev/null; unshare -Ur true 2>/dev/null; echo "$?"'
	echo "$output"
	[ "$(sed -n 1p <<<"$output")" = 1000 ]
	[ "$(sed -n '$p' <<<"$output")" != 0 ]
	# its own first process, the shell and the three of that line
	[ "$(sed -n 2p <<<"$output")" -le 6 ]
	[ "$(wc -l <<<"$output")" -eq 3 ]
}

@test "WS-7 WS-13 a workspace goes from one worker under gVisor to the next, and only of the same conversation" {
	kz_run -A a -C c -l shell -c 'mkdir d; printf x >d/f; chmod 750 d/f; touch -d @978670800 d/f; ln -s f d/l' </dev/null
	is 0 completed exit ""
	kz_record_is snapshot saved
	kz_run -A a -C c -l shell -c 'find . -mindepth 1 -printf "%P %y %m %l\n" | sort; stat -c %Y d/f; cat d/l' </dev/null
	[ "$output" = "$(printf '%s\n' 'd d 755 ' 'd/f f 750 ' 'd/l l 777 f' 978670800 x)" ]
	is 0 completed exit ""
	kz_record_is snapshot unchanged
	kz_run -A a -C d -l shell -c 'ls -A' </dev/null
	[ -z "$output" ]
}

@test "EXEC-19 PRJ-7 files of a chat are there to read under gVisor, in a place that is not to write" {
	local tool=$BATS_TEST_DIRNAME/../tool spec='{"manifest":["a.txt=alpha"]}'
	cd "$BATS_TEST_TMPDIR"
	mkdir documents
	python3 "$tool/scope.py" "$SEED" documents <<<"$spec" >scope.json
	python3 "$tool/scope.py" --live "$SEED" documents <<<"$spec" >live.json
	kz_run --scope scope.json --documents documents --audience file:live.json -l shell \
		-c 'cat /work/shared/a.txt; echo; { echo b >>/work/shared/a.txt; } 2>/dev/null || { echo b >/work/shared/b; } 2>/dev/null || echo refused' </dev/null
	[ "$output" = "$(printf 'alpha\nrefused')" ]
	is 0 completed exit ""
	kz_record_is projection.count 1
}

@test "INV-24 RT-6 gVisor killed under a run: outcome unknown, never a success, and the worker is replaced" {
	local pid="" worker status=0
	kz-run -j -c 'import time; print("begun", flush=True); time.sleep(110)' >"$BATS_TEST_TMPDIR/said" 2>/dev/null 3>&- &
	worker=$!
	kz_wait 10 grep -q begun "$BATS_TEST_TMPDIR/said"
	pid=$(sandbox_of "$(kz-lease list -j | jq -r .worker)")
	kill -9 "$pid"
	wait "$worker" || status=$?
	[ "$status" -eq 74 ]
	[ "$(tail -1 "$BATS_TEST_TMPDIR/said" | jq -r '.outcome + " " + .cause')" = "outcome_unknown transport_lost" ]
	kz_run -c 'print(1)'
	is 0 completed exit ""
}

none_leased() { [ "$(kz-lease list -j | wc -l)" -eq 0 ]; }

leased() {
	[ -n "$(kz-lease list -j | jq -r .worker)" ]
}

sandbox_of() {
	local file dir
	grep -lsF ".$1/" /proc/[0-9]*/cgroup | while read -r file; do
		dir=${file%/cgroup}
		grep -qs '^runsc-sandbox' "$dir/cmdline" && echo "${dir#/proc/}"
	done | head -1
}

@test "BOUND-4 the host's bound ends gVisor: the record tells memory, and the outcome is unknown" {
	local run worker limit status=0
	kz_wait 60 none_leased # one that was lost before may still be there
	mkfifo "$BATS_TEST_TMPDIR/go"
	exec 8<>"$BATS_TEST_TMPDIR/go"
	kz-run -j -c 'import time
print("begun", input(), flush=True)
b = bytearray(100 << 20)
time.sleep(15)' <"$BATS_TEST_TMPDIR/go" >"$BATS_TEST_TMPDIR/said" 2>/dev/null 3>&- 8>&- &
	run=$!
	kz_wait 10 leased
	worker=$(kz-lease list -j | jq -r .worker)
	# what a tenant may have is far below the bound around it: lower that one under a living worker
	limit=$(dirname "$(readlink "$KZ_STATE/workers/$worker/ctl/memory.events")")
	if [ -e "$limit/memory.max" ]; then limit=$limit/memory.max; else limit=$limit/memory.limit_in_bytes; fi
	echo $((64 << 20)) >"$limit"
	echo go >&8
	exec 8>&-
	wait "$run" || status=$?
	[ "$status" -eq 74 ]
	[ "$(tail -1 "$BATS_TEST_TMPDIR/said" | jq -r '.outcome + " " + .cause')" = "outcome_unknown memory" ]
}

@test "RT-10 an approved run under gVisor has no way to the proxy, and its record says so" {
	kz_run --approve a-1 -c 'import os
print(sorted(n for n in os.environ if "proxy" in n.lower()))'
	[ "$status" -eq 0 ]
	[ "$output" = '[]' ]
	kz_record_is egress.reason egress_unavailable
	kz_record_is egress.effective none
	kz_record_is egress.configured public_internet
}

@test "KRN-1 KRN-4 RT-7: variables of kernels go from one worker under gVisor to the next, in both languages; under a lease too" {
	local first
	kz_run -k -A a -C k -c 'x = [1]' </dev/null
	is 0 completed exit ""
	kz_record_is kernel.status saved
	first=$(last_worker)
	kz_run -k -A a -C k -c 'x.append(2); x' </dev/null
	[ "$output" = "[1, 2]" ]
	kz_record_is kernel.restored 1
	[ "$(last_worker)" != "$first" ]
	kz_run -k -A a -C k -l node -c 'state.y = [3]; state' </dev/null
	[ "$output" = "{ y: [ 3 ] }" ]
	kz_run -k -A a -C k -l node -c 'state.y' </dev/null
	[ "$output" = "[ 3 ]" ]
	run -0 --separate-stderr kz-lease with -A a -C held -- sh -c 'kz-run -k -A a -C held -c "z = 5"; kz-run -k -A a -C held -c "z"' </dev/null
	[ "$output" = 5 ]
	# a cell is refused a network under every runtime, before anything starts
	kz_run -k --approve a-1 -A a -C k -c 'print("ran")' </dev/null
	[ "$status" -ne 0 ]
	kz_record_is not_run.reason kernel_egress
}

@test "BRK-10 BRK-19: what the worker image has is imported and asked for with -r under gVisor; an import of more is refused before the program" {
	kz_run -r requests -c 'import requests; print("version", requests.__version__)' </dev/null
	[[ $output == "version "[0-9]* ]]
	is 0 completed exit ""
	kz config set SANDBOX_PACKAGE_REGISTRIES '{"pypi":{"index":"http://127.0.0.1:1/simple/"}}' >/dev/null
	kz_run -c 'print("ran")
import nosuchpackage' </dev/null
	kz_run -k -A a -C r -r nosuchpackage -c 'print("ran")' </dev/null
	kz config set SANDBOX_PACKAGE_REGISTRIES '{}' >/dev/null
	is 125 not_run null ""
	kz_record_is not_run.cause gateway_unavailable
	[ -z "$output" ]
}

@test "BRK-19: no way to the gateway, so what is not in the image is refused before the program starts" {
	kz config set SANDBOX_PACKAGE_REGISTRIES '{"pypi":{"index":"http://127.0.0.1:1/simple/"}}' >/dev/null
	kz_run -r nosuchpackage -c 'print("ran")' </dev/null
	kz config set SANDBOX_PACKAGE_REGISTRIES '{}' >/dev/null
	is 125 not_run null ""
	kz_record_is not_run.cause gateway_unavailable
	[ -z "$output" ]
}
