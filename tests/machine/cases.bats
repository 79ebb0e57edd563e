# Faults that users of such systems reported, each test named after its class.
# weight 50
# shellcheck disable=SC2154,SC2030,SC2031 # run and kz_run set the variables
# bats file_tags=case:root
bats_require_minimum_version 1.5.0
load ../kz

setup_file() {
	export TOOLS=$BATS_FILE_TMPDIR/tools.json
	slow_tool >"$TOOLS"
	kz_start KZ_CALLBACK_PROVIDERS="$TOOLS" KZ_CALLBACK_SECONDS=600 SANDBOX_WARM_POOL_MIN=2 SANDBOX_POOL_TARGET_IDLE=0 SANDBOX_POOL_MAX_ALLOCATED=4 SANDBOX_MAX_WALL_SECONDS=60 \
		SANDBOX_BURST_IDLE_TTL_SECONDS=2 \
		SANDBOX_MAX_CONCURRENT_PER_MEMBER=4 KZ_RUN_MEMORY_BYTES=134217728 KZ_RUN_PIDS=64
}

# A snapshot with one tool that never answers and tells its process.
slow_tool() {
	local d
	printf '#!/bin/sh\necho $$ >"%s/slow.pid"\nexec sleep 900\n' "$BATS_FILE_TMPDIR" >"$BATS_FILE_TMPDIR/slow"
	chmod 755 "$BATS_FILE_TMPDIR" "$BATS_FILE_TMPDIR/slow"
	d=$(jq -cn --arg t "$BATS_FILE_TMPDIR/slow" '{name:"slow",class:"read",runs_code:false,description:"",command:[$t]}')
	jq -c --arg x "$(printf %s "$d" | jq -cjS . | sha256sum | cut -c1-64)" '{v:1,tools:[. + {digest:$x}]}' <<<"$d"
}

teardown_file() {
	kz_stop
}

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	unset KZ_LEASE KZ_LEASE_TOKEN KZ_FENCE
	kz_wait 60 is_settled
}

is_settled() {
	kz status -j | jq -e '.admission.open and .workers.warm >= 2 and .workers.leased == 0 and .workers.resetting == 0 and
		.workers.creating == 0 and .workers.retiring == 0' >/dev/null
}

# as many workers as there are when nobody wants one: those of a burst go later
is_small() { is_settled && [ "$(kz status -j | jq -s 'map(.allocated // empty)[0]')" = 2 ]; }

cgroups() {
	find /sys/fs/cgroup -type d -name "kz-$(printf %s "$KZ_STATE" | sha256sum | cut -c1-8).*" | wc -l
}

release() {
	KZ_LEASE_TOKEN=$(jq -r .token "$1") kz-lease release "$(jq -r .lease "$1")"
}

one_leased() { [ "$(kz-lease list -j | wc -l)" -eq 1 ]; }

@test "LEASE-7 resume by key: after a release the same actor and conversation waits for nothing that is dead" {
	local i
	kz_run -A a -C c -l shell -c 'echo mine >f'
	for i in 1 2 3 4 5 6; do
		# -t 0: served at once or not at all
		kz-lease acquire -A a -C c -t 0 -j >lease
		release lease
	done
	kz-lease acquire -A a -C c -j >lease
	release lease
	kz_run -A a -C c -l shell -c 'ls -A; cat f'
	[ "$status" -eq 0 ]
	[ "$output" = "$(printf 'f\nmine')" ]
}

@test "LEASE-1 latency cliff: more acquires than the pool has each get a worker or are told to come later" {
	local i pids=() rc got=0 later=0
	for i in $(seq 0 39); do
		kz-lease acquire -A "a$((i % 10))" -C "c$i" -t 0 -j >"got.$i" 2>"err.$i" &
		pids+=($!)
	done
	for i in "${!pids[@]}"; do
		rc=0
		wait "${pids[$i]}" || rc=$?
		if [ "$rc" -eq 0 ]; then
			got=$((got + 1))
			release "got.$i"
		else
			[ "$rc" -eq 75 ]
			grep -qE ': (wait_timeout|member_limit|queue_full): ' "err.$i"
			later=$((later + 1))
		fi
	done
	echo "$got served, $later told to come later"
	[ "$got" -ge 2 ]
	[ $((got + later)) -eq 40 ]
	[ "$(kz-lease list -j | wc -l)" -eq 0 ]
}

@test "LEASE-13 clock skew: a client whose clock is an hour off, or jumps, gets the same expiry" {
	local skew now till
	for skew in -3600 +0 +3600; do
		now=$(date +%s%3N)
		faketime -f "$skew" kz-lease acquire -A a -C c -j >lease
		till=$(jq -r .expires_ms lease)
		echo "$skew: $((till - now))"
		# the time to live is 900 s
		[ $((till - now)) -gt 890000 ]
		[ $((till - now)) -lt 1000000 ]
		KZ_LEASE_TOKEN=$(jq -r .token lease) faketime -f "+0 x100" kz-lease renew -j "$(jq -r .lease lease)" >renewed
		[ "$(jq -r .expires_ms renewed)" -ge "$till" ]
		[ "$(jq -r .expires_ms renewed)" -lt $((till + 100000)) ]
		release lease
	done
	for skew in -3600 +3600; do
		faketime -f "$skew" kz-run -A a -C c -c 'print(1)' >out
		[ "$(cat out)" = 1 ]
	done
}

@test "RT-1 tty injection: a program run from a terminal cannot type into it" {
	cat >inject.py <<-'END'
		import fcntl, os, termios
		for f in (0, 1, 2):
		    try: fcntl.ioctl(f, termios.TIOCSTI, b"x\n"); print("typed")
		    except OSError: print(f, os.isatty(f))
		try: os.open("/dev/tty", os.O_RDWR); print("opened")
		except OSError: print("no terminal")
	END
	# kz-run with a terminal of its own; afterwards somebody reads what was typed there
	cat >terminal.py <<-'END'
		import os, pty, subprocess, sys
		pid, master = pty.fork()
		if pid == 0:
		    rc = subprocess.call(["kz-run", "inject.py"])
		    os.set_blocking(0, False)
		    try: print("found", os.read(0, 100))
		    except BlockingIOError: print("nothing typed", rc)
		    sys.stdout.flush()
		    os._exit(0)
		while True:
		    try: b = os.read(master, 1000)
		    except OSError: break
		    if not b: break
		    sys.stdout.buffer.write(b)
		os.waitpid(pid, 0)
	END
	run python3 terminal.py
	output=${output//$'\r'/}
	echo "$output"
	[ "$output" = "0 False
1 False
2 False
no terminal
nothing typed 0" ]
}

@test "BOUND-1 cgroup leak, per-exec leak: after many runs, killed ones among them, all is as it was" {
	local before files fds i pid controller
	kz_run -c 1
	kz_wait 60 is_small
	controller=$(jq -r .pid "$KZ_STATE/run/controller.json")
	before=$(cgroups)
	files=$(find "$KZ_STATE" -xdev -not -path '*/log/*' -not -path '*/audit/*' -not -path '*/workers/*' | wc -l)
	fds=$(find "/proc/$controller/fd" | wc -l)
	for i in $(seq 30); do
		if [ $((i % 5)) -eq 0 ]; then
			kz-run -c 'import time; print(1, flush=True); time.sleep(60)' >out 2>/dev/null &
			pid=$!
			kz_wait 20 test -s out
			kill -KILL $pid
			wait $pid || true
			: >out
		else
			kz_run -l shell -c 'setsid sleep 100 & exit 0'
			[ "$status" -eq 0 ]
		fi
	done
	kz_wait 60 is_small
	[ "$(cgroups)" -eq "$before" ]
	# sockets of workers that come and go are open for a moment, and so are drafts of files there
	files_back() { [ "$(find "$KZ_STATE" -xdev -not -path '*/log/*' -not -path '*/audit/*' -not -path '*/workers/*' | wc -l)" -le "$files" ]; }
	kz_wait 10 files_back
	fds_back() { [ "$(find "/proc/$controller/fd" | wc -l)" -le "$fds" ]; }
	kz_wait 10 fds_back
}

@test "BOUND-1 wedge: a program that waits for ever ends at its bound, and the next command is fine" {
	local pid
	mkfifo open
	exec 8<>open
	for program in cat 'sleep inf' 'kill -STOP $$' 'exec 0<&- 1<&- 2<&-; sleep inf'; do
		kz_run -A a -C c -t 1000 -l shell -c "$program" <open
		echo "$program: $status $record"
		[ "$status" -eq 124 ]
		kz_record_is cause wall
		[ "$(kz_record wall_ms)" -lt $((1000 + $(kz_late))) ]
		kz_run -A a -C c -l shell -c true
		[ "$status" -eq 0 ]
	done
	exec 8>&-
}

@test "BOUND-11 control path starves: with all of its processor, memory and processes used up leases and files are still served" {
	local id token pid
	kz-lease acquire -A a -C c -j >lease
	id=$(jq -r .lease lease)
	token=$(jq -r .token lease)
	KZ_LEASE=$id KZ_LEASE_TOKEN=$token kz-run -c '
import os
keep = [bytearray(100 << 20)]
for i in range(20):
    if os.fork() == 0:
        while True: pass
print("full", flush=True)
while True: pass' >out 2>err &
	pid=$!
	kz_wait 30 grep -q full out
	KZ_LEASE_TOKEN=$token kz-lease renew "$id"
	kz-lease show "$id"
	kz status >/dev/null
	KZ_LEASE=$id KZ_LEASE_TOKEN=$token kz-workspace put f=lease
	[ "$(kz-workspace list -A a -C c)" = f ]
	kz-workspace get -A a -C c f | cmp - lease
	kz_run -A b -C d -c 'print(2)'
	[ "$output" = 2 ]
	# the release ends the program, whatever it does
	release lease
	wait $pid || true
	one_less() { [ "$(kz-lease list -j | wc -l)" -eq 0 ]; }
	kz_wait 10 one_less
}

# begun_cell LANGUAGE WAIT: a cell that has changed its state and a file, and waits; pid
begun_cell() {
	case $1 in
	python) code='import time; x = "half"; open("half", "w").close(); print("begun", flush=True)' ;;
	node) code='state.x = "half"; require("fs").writeFileSync("half", ""); console.log("begun")' ;;
	esac
	rm -f out "$BATS_FILE_TMPDIR/slow.pid"
	kz-run -k --record 7 -A a -C "$C" -l "$1" -c "$code"$'\n'"$2" </dev/null >out 2>err 7>rec &
	pid=$!
	kz_wait 20 grep -q begun out
	[[ $2 != *tools* ]] || kz_wait 20 test -s "$BATS_FILE_TMPDIR/slow.pid"
}

# as_before: both languages have the state of before, and no file of the cell that was cut
as_before() {
	kz_run -k -A a -C "$C" -l node -c 'console.log(state.x, require("fs").existsSync("half"))' </dev/null
	[ "$output" = "before false" ]
	kz_run -k -A a -C "$C" -l python -c 'print(x, __import__("os").path.exists("half"))' </dev/null
	[ "$output" = "before False" ]
	kz_record_is kernel.status saved
	kz_record_is kernel.generation 1
}

before_cells() {
	C=cells$BATS_TEST_NUMBER
	kz_run -k -A a -C "$C" -l python -c 'x = "before"' </dev/null
	kz_run -k -A a -C "$C" -l node -c 'state.x = "before"' </dev/null
	[ "$(kz_record kernel.status)" = saved ]
}

no_tool() { [ ! -s "$BATS_FILE_TMPDIR/slow.pid" ] || [ ! -e "/proc/$(cat "$BATS_FILE_TMPDIR/slow.pid")" ]; }

@test "KRN-15 CB-8 kernel hang: the worker lost in the middle of a cell, or of a call of a tool: unknown, bounded, the state told and as before" {
	local code rc language
	before_cells
	while read -r language code; do
		rc=0
		begun_cell "$language" "$code"
		kill -KILL "$(kz_process1 "$(kz-lease list -j | jq -r .worker | head -n 1)")"
		wait "$pid" || rc=$?
		cat rec err
		[ "$rc" -eq 125 ]
		jq -e '.outcome == "outcome_unknown" and .cause == "transport_lost"' rec
		jq -e --arg l "$language" '.kernel.status == "kept_previous" and .kernel.reason == "kernel_report_missing" and
			($l == "node" or .kernel.generation == 1)' rec
		python3 "$BATS_TEST_DIRNAME/../schema.py" --expect record <rec
		grep -qx 'kz-run: kernel: the state before this cell stays: kernel_report_missing' err
		kz_wait 20 no_tool
		as_before
	done <<-'END'
		python while True: time.sleep(0.01)
		python kz.tools.slow()
		node for (;;) {}
	END
}

@test "KRN-15 CB-8 kernel hang: kz-run killed in the middle of a cell, or of a call of a tool: the cell ends, the state is as before" {
	local code language
	before_cells
	while read -r language code; do
		begun_cell "$language" "$code"
		kill -KILL "$pid"
		wait "$pid" || true
		kz_wait 60 is_settled
		kz_wait 20 no_tool
		as_before
	done <<-'END'
		python while True: time.sleep(0.01)
		python kz.tools.slow()
		node await kz.tools.slow()
	END
}

@test "KRN-15 silent state loss: memory is out in a cell: the cause is memory, the state that stays is told by its number" {
	before_cells
	kz_run -k -A a -C "$C" -l python -c 'x = "half"; open("half", "w").close()
hog = []
while True: hog.append(b"x" * (1 << 20))' </dev/null
	kz_record_is outcome bounded
	kz_record_is cause memory
	kz_record_is kernel.status kept_previous
	kz_record_is kernel.generation 1
	kz_record_is model_view.kernel.generation 1
	[[ $error == *"kz-run: kernel: the state before this cell stays"* ]]
	as_before
	kz_run -k -A a -C "$C" -l node -c 'state.x = "half"; const hog = []; for (;;) hog.push(Buffer.alloc(1 << 20, 1))' </dev/null
	kz_record_is cause memory
	kz_record_is kernel.status kept_previous
	[[ $error == *"kz-run: kernel: the state before this cell stays"* ]]
	as_before
}

@test "FENCE-14 orphans after restart: the controller killed and started again under leases touches none of them" {
	local i n pid
	# fifty, or as many as the memory of this machine bears
	n=$(awk '/^MemAvailable:/ { n = int($2 / 1024 / 40); print (n > 50 ? 50 : (n < 8 ? 8 : n)) }' /proc/meminfo)
	kz up --set SANDBOX_POOL_MAX_ALLOCATED="$n" --set SANDBOX_MAX_CONCURRENT_CREATES=8 --set SANDBOX_MAX_CONCURRENT_PER_MEMBER=64 \
		--set SANDBOX_ACQUIRE_WAIT_SECONDS=600 --set SANDBOX_BURST_IDLE_TTL_SECONDS=2
	for i in $(seq "$n"); do kz-lease acquire -A a -C "c$i" -j >"lease.$i" & done
	wait
	[ "$(kz-lease list -j | wc -l)" -eq "$n" ]
	kz-lease list -j | jq -r '.lease' | sort >before
	pid=$(jq -r .pid "$KZ_STATE/run/controller.json")
	[ "$pid" -gt 1 ]
	kill -KILL "$pid"
	back() { [ "$(jq -r .pid "$KZ_STATE/run/controller.json")" != "$pid" ] && kz status >/dev/null; }
	kz_wait 20 back
	kz-lease list -j | jq -r '.lease' | sort | diff before -
	for i in $(seq "$n"); do
		KZ_LEASE=$(jq -r .lease "lease.$i") KZ_LEASE_TOKEN=$(jq -r .token "lease.$i") kz-run -l shell -c "echo $i" >"out.$i" &
	done
	wait
	for i in $(seq "$n"); do [ "$(cat "out.$i")" = "$i" ]; done
	for i in $(seq "$n"); do release "lease.$i" & done
	wait
	kz up --set SANDBOX_POOL_MAX_ALLOCATED=4
	shrunk() { [ "$(kz status -j | jq .allocated)" -eq 2 ] && [ "$(find "$KZ_STATE/workers" -mindepth 1 -maxdepth 1 | wc -l)" -eq 2 ]; }
	kz_wait 60 shrunk
	kz-audit verify
	# of these workers; others were lost on purpose before
	jq -s 'map(.worker)' lease.* >workers
	kz-audit list -j -k transition | jq -r --slurpfile workers workers 'select((.event == "lost" or .event == "orphan_found") and
		(.subject, .worker | IN($workers[0][]))) | tojson' >odd
	cat odd
	[ ! -s odd ]
}
