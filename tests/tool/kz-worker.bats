#!/usr/bin/env bats
# kz-worker in a real container: walls, runs, causes, residue, ownership.

bats_require_minimum_version 1.5.0
load worker

setup_file() { worker_start; }
teardown_file() { worker_stop; }

py() { tenant /usr/bin/python3 -c "$1"; }

@test "RT-1: the tenant is uid 1000, without capability, with no_new_privs and a filter" {
	tenant /bin/sh -c 'id -u; grep -E "^(Cap|NoNewPrivs|Seccomp:)" /proc/self/status'
	run cat "$WORKER_STATE/out"
	[ "${lines[0]}" = 1000 ]
	[ "$(grep -c '0000000000000000$' "$WORKER_STATE/out")" -eq 5 ]
	grep -qx 'NoNewPrivs:.1' "$WORKER_STATE/out"
	grep -qx 'Seccomp:.2' "$WORKER_STATE/out"
}

@test "RT-1: nothing but the bounded places can be written" {
	tenant /bin/sh -c 'for d in / /usr /etc /dev /proc/sys/kernel /work /work/code /run /var; do
		touch $d/x 2>/dev/null && echo "$d"; done
		for d in /work/space /tmp /var/tmp /dev/shm; do touch $d/x || echo "not $d"; done'
	[ ! -s "$WORKER_STATE/out" ]
	finds_nothing
}

@test "RT-1: namespaces, mounts, keys, tracing and other kernels' doors are shut" {
	py 'import ctypes, errno, os
libc = ctypes.CDLL(None, use_errno=True)
def call(n, *a):
    ctypes.set_errno(0)
    return ctypes.get_errno() if libc.syscall(n, *a) < 0 else 0
calls = {"add_key": 248, "keyctl": 250, "unshare": 272, "mount": 165, "setns": 308, "io_uring_setup": 425,
         "userfaultfd": 323, "clone3": 435, "fsopen": 430, "bpf": 321, "ptrace": 101, "perf_event_open": 298}
for name, n in calls.items():
    e = call(n, 0, 0, 0, 0, 0)
    if e not in (errno.ENOSYS, errno.EPERM): print(name, e)
import socket
for f in (38, 40, 17, 44):
    try: socket.socket(f, socket.SOCK_RAW); print("family", f)
    except OSError: pass'
	[ ! -s "$WORKER_STATE/out" ]
	[ "$(record .exit)" = 0 ]
}

# What a call of the 32-bit kind does here without a filter: some machines have none, and end the process by signal 11.
@test "RT-3: a call of another architecture kills the process" {
	local code want=31
	code='import ctypes, mmap
code = b"\xb8\x14\x00\x00\x00\xcd\x80\xc3"
m = mmap.mmap(-1, 4096, prot=7); m.write(code)
ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(m)))()'
	python3 -c "$code" || want=$(($? - 128))
	[ "$want" -eq 31 ] || [ "$want" -eq 11 ]
	py "$code"
	[ "$(record .cause)" = signal ]
	[ "$(record .signal)" = "$want" ]
	# x32: the calls of this architecture with another layout
	py 'import ctypes
print(ctypes.CDLL(None).syscall(0x40000000 + 39))'
	[ "$(record .signal)" = 31 ]
	[ ! -s "$WORKER_STATE/out" ]
}

@test "EXEC-13: the environment is what was given and nothing else" {
	WKENV_A=b tenant /usr/bin/env
	[ "$(cat "$WORKER_STATE/out")" = A=b ]
}

@test "EXEC-14: the program has descriptors 0, 1 and 2 only" {
	py 'import os; print(sorted(int(f) for f in os.listdir("/proc/self/fd")))'
	# 3 is the listing itself
	[ "$(cat "$WORKER_STATE/out")" = "[0, 1, 2, 3]" ]
}

@test "EXEC-2: it starts in the workspace, and can write to its own stdout by name" {
	tenant /bin/sh -c 'pwd; echo named > /dev/stdout'
	[ "$(cat "$WORKER_STATE/out")" = "$(printf '/work/space\nnamed')" ]
}

@test "EXEC-1: a wrong secret is refused before the body" {
	WK_SECRET=$(printf '%064d' 0) wk health
	[ "$status" -eq 1 ]
	grep -q '^worker_unauthorized' "$WORKER_STATE/err"
}

@test "EXEC-1: malformed heads are refused and the worker lives" {
	run python3 - "$WORKER_STATE/workers/w-1/ctl/control.sock" <<-'PY'
		import socket, sys
		bad = [b"GET /v1/health HTTP/1.1\nHost: a\n\n", b"GET  /v1/health HTTP/1.1\r\n\r\n", b"GET / HTTP/2.0\r\n\r\n",
		       b"GET / HTTP/1.1\r\nA : b\r\n\r\n", b"GET / HTTP/1.1\r\n A: b\r\n\r\n", b"\0" * 100 + b"\r\n\r\n",
		       b"GET / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\n", b"x" * 20000,
		       b"POST /v1/bind HTTP/1.1\r\nContent-Length: 99999999999\r\n\r\n{}"]
		for b in bad:
		    s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1]); s.sendall(b)
		    s.settimeout(60); got = s.recv(100)
		    assert got.startswith((b"HTTP/1.1 400", b"HTTP/1.1 401", b"HTTP/1.1 431")), (b, got)
	PY
	[ "$status" -eq 0 ] || {
		echo "$output" >&2
		false
	}
	wk health
	[ "$(said .state)" = clean ]
}

@test "FENCE-12: a bind needs a higher fence and a clean worker; the same one again changes nothing" {
	local f
	f=$(fence)
	wk bind "$LEASE" "$f" 60000 + bind "$LEASE" "$f" 60000 + bind "$LEASE" "$((f + 1))" 60000
	grep -q '^worker_refused_bind' "$WORKER_STATE/err"
	wk reset "$LEASE" t + bind "$LEASE" "$f" 60000
	grep -q '^worker_refused_bind' "$WORKER_STATE/err"
	wk health
	[ "$(said .fence)" = "$f" ]
}

@test "EXEC-4: another lease is refused while one is bound" {
	wk bind "$LEASE" "$(fence)" 600000 + exec ffffffffffffffffffffffffffffffff 1000 1000 /bin/true
	grep -q '^worker_refused:' "$WORKER_STATE/err"
	wk reset "$LEASE" t
	[ "$status" -eq 0 ]
}

@test "EXEC-4: when the holder's connection drops the tenant ends and only a reset is left" {
	wk bind "$LEASE" "$(fence)" 600000
	wk exec "$LEASE" 1000 1000 /bin/true
	grep -q '^worker_refused: the worker is ended' "$WORKER_STATE/err"
	wk reset "$LEASE" t
	[ "$status" -eq 0 ]
	[ -z "$(dirty)" ]
}

@test "FENCE-12: past its deadline a worker ends the tenant and is never reset" {
	wk bind "$LEASE" "$(fence)" 10000 + exec "$LEASE" 120000 1000 /bin/sleep 100
	[ "$(record .cause)" = lease_lost ]
	wk reset "$LEASE" t
	grep -q '^worker_refused: the worker is expired' "$WORKER_STATE/err"
	worker_new
}

@test "EXEC-5: exit status and signal are told apart" {
	tenant /bin/sh -c 'exit 77'
	[ "$(record '[.cause,.exit,.signal]|tostring')" = '["exit",77,null]' ]
	tenant /bin/sh -c 'kill -9 $$'
	[ "$(record '[.cause,.exit,.signal]|tostring')" = '["signal",null,9]' ]
}

@test "EXEC-3: what cannot be executed did not start" {
	tenant /nonexistent
	[ "$(record '[.started,.reason]|tostring')" = '[false,"interpreter_missing"]' ]
	tenant /etc/passwd
	[ "$(record '[.started,.reason]|tostring')" = '[false,"cannot_execute"]' ]
}

@test "BOUND-1: the wall bound ends the whole tree, TERM ignored or stopped" {
	WALL=500 tenant /bin/sh -c 'trap "" TERM INT HUP; (setsid sleep 100 &) ; sleep 100'
	[ "$(record '[.cause,.limits_hit]|tostring')" = '["wall",["wall"]]' ]
	[ "$(record .wall_ms)" -ge 500 ]
	# the lease alone would end it after ten minutes
	WALL=500 tenant /bin/sh -c 'kill -STOP $$'
	[ "$(record .cause)" = wall ]
	[ "$(record .wall_ms)" -lt 30000 ]
	finds_nothing
}

@test "BOUND-3: output at the bound is kept whole, one byte more is dropped and counted" {
	OUTPUT=100000 py 'import sys; sys.stdout.write("x" * 100000)'
	[ "$(record '[.stdout.kept_bytes,.stdout.dropped_bytes,.limits_hit]|tostring')" = '[100000,0,[]]' ]
	OUTPUT=100000 py 'import sys; sys.stdout.write("x" * 100001)'
	[ "$(record '[.stdout.kept_bytes,.stdout.dropped_bytes,.limits_hit]|tostring')" = '[100000,1,["output"]]' ]
	[ "$(wc -c <"$WORKER_STATE/out")" -eq 100000 ]
}

@test "BOUND-3: a flood on stdout never ends the run and does not hide stderr" {
	tenant /bin/sh -c 'head -c 100000000 /dev/zero; echo the error >&2'
	[ "$(record '[.cause,.exit,.stdout.seen_bytes]|tostring')" = '["exit",0,100000000]' ]
	[ "$(cat "$WORKER_STATE/err")" = 'the error' ]
	[ "$(record '.stdout.kept_bytes + .stderr.kept_bytes')" -eq 1048576 ]
	[ "$(record .stdout.sha256)" = "$(head -c 100000000 /dev/zero | sha256sum | cut -d' ' -f1)" ]
}

@test "BOUND-3 frame boundary: frame boundaries lose nothing" {
	local n
	for n in 0 1 32767 32768 32769 65535 65536 65537 1048576; do
		tenant /usr/bin/head -c "$n" /dev/zero
		[ "$(wc -c <"$WORKER_STATE/out")" -eq "$n" ]
	done
}

@test "BOUND-11: a fork bomb ends with cause pids" {
	py 'import os
while True:
    try: os.fork()
    except OSError: pass'
	[ "$(record '[.cause,.limits_hit]|tostring')" = '["pids",["pids"]]' ]
	[ "$(record .killed_count)" -ge 30 ]
	finds_nothing
}

@test "BOUND-11: memory used up ends with cause memory" {
	py 'a = []
while True: a.append(bytearray(1 << 20))'
	[ "$(record '[.cause,.limits_hit]|tostring')" = '["memory",["memory"]]' ]
	finds_nothing
}

@test "BOUND-11: a full disk is ENOSPC and told" {
	tenant /bin/sh -c 'head -c 100000000 /dev/zero > f; wc -c < f'
	[ "$(record '[.cause,.exit,.limits_hit]|tostring')" = '["exit",0,["disk"]]' ]
	grep -q 'No space left' "$WORKER_STATE/err"
	[ "$(head -1 "$WORKER_STATE/out")" -eq 33554432 ]
	finds_nothing
}

@test "BOUND-12: exactly as many files as allowed can be made" {
	py 'i = 0
try:
    while True: open("f%d" % i, "w").close(); i += 1
except OSError as e: print(i, e.errno)'
	[ "$(cat "$WORKER_STATE/out")" = '1000 28' ]
	[ "$(record .limits_hit[0])" = inodes ]
	finds_nothing
}

@test "BOUND-11: processor time used up by the program's own limit is cause cpu" {
	py 'import resource
resource.setrlimit(resource.RLIMIT_CPU, (1, 2))
while True: pass'
	[ "$(record .cause)" = cpu ]
}

@test "RESET-1 daemonised bomb: daemons that left, forked twice and ignore signals are gone" {
	tenant /bin/sh -c 'for i in 1 2 3; do (setsid sh -c "trap \"\" TERM HUP; sleep 100" </dev/null >/dev/null 2>&1 &) ; done
		(setsid sh -c "kill -STOP \$\$" &); sleep 0.2; echo done'
	[ "$(record .cause)" = exit ]
	[ "$(record .killed_count)" -ge 4 ]
	finds_nothing
}

@test "RESET-1: a child that keeps stdout open does not delay the end" {
	WALL=60000 tenant /bin/sh -c 'sleep 100 & echo hi'
	[ "$(record '[.cause,.exit]|tostring')" = '["exit",0]' ]
	[ "$(record .wall_ms)" -lt 30000 ]
	[ "$(cat "$WORKER_STATE/out")" = hi ]
}

@test "RESET-2: odd names, unreadable places, links, fifos, sockets and unlinked files go" {
	py 'import os, socket
for d in ("/work/space", "/tmp", "/var/tmp", "/dev/shm"):
    os.chdir(d)
    os.makedirs(".a/b"); open(b".a/b/\xff\n", "w"); os.mkfifo("f"); os.symlink("/", "l")
    socket.socket(socket.AF_UNIX).bind("s")
    os.chmod(".a", 0)
open("gone", "w").write("x" * 1000); os.unlink("gone")'
	[ "$(record .exit)" = 0 ]
	finds_nothing
}

@test "RESET-3: System V and POSIX IPC, abstract sockets and listening ports go" {
	py 'import ctypes, os, socket
libc = ctypes.CDLL(None, use_errno=True)
assert libc.shmget(1, 4096, 0o1666) >= 0 and libc.semget(1, 1, 0o1666) >= 0 and libc.msgget(1, 0o1666) >= 0
open("/dev/mqueue/q", "w")
t = socket.socket(); t.bind(("127.0.0.1", 4000)); t.listen()
socket.socket(socket.AF_UNIX).bind("\0abstract")
if os.fork() == 0: os.setsid(); os.read(os.pipe()[0], 1)'
	[ "$(record .exit)" = 0 ]
	finds_nothing
}

@test "RESET-3: a descriptor parked in flight goes" {
	py 'import array, os, socket
a, b = socket.socketpair()
f = os.open("parked", os.O_CREAT | os.O_RDWR); os.write(f, b"x" * 100000); os.unlink("parked")
a.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [f, a.fileno(), b.fileno()]))])'
	[ "$(record .exit)" = 0 ]
	finds_nothing
}

@test "RESET-12: changed limits, hostname tries and modes do not reach the next tenant" {
	py 'import os, resource
resource.setrlimit(resource.RLIMIT_NOFILE, (10, 10)); os.umask(0o777)
os.chmod("/work/space", 0)
try: os.chmod("/tmp", 0o700)
except OSError: pass'
	finds_nothing
	tenant /bin/sh -c 'ulimit -n; umask; stat -c %a /work/space /tmp; hostname'
	[ "$(tr '\n' ' ' <"$WORKER_STATE/out")" = '256 0022 755 1777 kz ' ]
}

@test "EXEC-2 confused deputy: files go in and out; links, fifos and directories do not" {
	printf 'a\0b' >"$WORKER_STATE/in"
	wk bind "$LEASE" "$(fence)" 600000 + put "$LEASE" space d/in "$WORKER_STATE/in" \
		+ put "$LEASE" code main "$WORKER_STATE/in" \
		+ exec "$LEASE" 60000 10000 /bin/sh -c 'test -O d/in && cmp d/in /work/code/main && cp d/in out && chmod 0 out; ln -s /etc/passwd l; mkfifo f; ln -s /work/space up' \
		+ get "$LEASE" out 3
	[ "$status" -eq 0 ]
	cmp "$WORKER_STATE/in" "$WORKER_STATE/out"
	wk health
	[ "$(said .state)" = ended ]
	wk reset "$LEASE" t
	local name
	for name in l f up/x d . nothing; do
		wk bind "$LEASE" "$(fence)" 600000 + exec "$LEASE" 60000 10000 /bin/sh -c 'ln -s /etc/passwd l; mkfifo f; ln -s / up; mkdir d; echo x > x; rm -rf nothing' \
			+ get "$LEASE" "$name" 100
		[ "$status" -eq 1 ]
		grep -qE '^(output_not_regular|output_missing|path_rejected):' "$WORKER_STATE/err"
		wk reset "$LEASE" t
	done
}

# kz-run reads when no program is there any more; process 1 has to stand it all the same.
@test "OUT-3 confused deputy: what a running program swaps with a link while it is read is refused or exact, and both happen" {
	local name pid tries=0 exact='' refused=''
	"$WORKER_BUILD/tests/tool/wk" "$WORKER_STATE" w-1 "$(cat "$WORKER_STATE/instance")" \
		bind "$LEASE" "$(fence)" 6000000 + exec "$LEASE" 600000 1000 /usr/bin/python3 -c '
import os, time
def pause(): time.sleep(0.001)
os.mkdir("d")
for n in ("d/passwd", "f"): open(n, "w").write("a" * 300000)
print("up", flush=True)
while True:
    os.symlink("/etc/passwd", "u"); os.rename("u", "f"); pause()
    open("t", "w").write("a" * 300000); os.rename("t", "f"); pause()
    os.rename("d", "e"); os.symlink("/etc", "d"); pause()
    os.unlink("d"); os.rename("e", "d"); pause()' >"$BATS_TEST_TMPDIR/up" 3>&- &
	pid=$!
	kz_wait 20 grep -q up "$BATS_TEST_TMPDIR/up"
	until [[ $exact == *f* && $exact == *d* && $refused == *f* && $refused == *d* ]]; do
		tries=$((tries + 1))
		[ "$tries" -le 500 ]
		for name in f d/passwd; do
			wk get "$LEASE" "$name" 1000000
			if [ "$status" -eq 0 ]; then
				[ "$(tr -d a <"$WORKER_STATE/out" | wc -c)" -eq 0 ]
				[ "$(wc -c <"$WORKER_STATE/out")" -eq 300000 ]
				exact+=$name
			else
				grep -qE '^(output_not_regular|output_missing):' "$WORKER_STATE/err"
				! grep -q ^output_not_regular: "$WORKER_STATE/err" || refused+=$name
			fi
		done
	done
	kill "$pid"
	wait "$pid" || true
	wk reset "$LEASE" t
	[ "$status" -eq 0 ]
}

@test "OUT-3: an output over its bound is refused, at the bound it is given" {
	wk bind "$LEASE" "$(fence)" 600000 + exec "$LEASE" 60000 10000 /bin/sh -c 'head -c 100 /dev/zero > o' + get "$LEASE" o 100 + get "$LEASE" o 99
	[ "$(wc -c <"$WORKER_STATE/out")" -eq 100 ]
	grep -q '^output_too_large' "$WORKER_STATE/err"
	wk reset "$LEASE" t
}

@test "BOUND-11: an input over the disk bound is refused and the worker goes on" {
	truncate -s 40000000 "$WORKER_STATE/big"
	wk bind "$LEASE" "$(fence)" 600000 + put "$LEASE" space big "$WORKER_STATE/big"
	grep -q '^input_over_bound' "$WORKER_STATE/err"
	wk reset "$LEASE" t
	[ -z "$(dirty)" ]
}

@test "EXEC-5: standard input streams with its end, and a program that does not read it does not hold the run" {
	head -c 3000000 /dev/urandom >"$WORKER_STATE/in"
	WK_STDIN=1 tenant /usr/bin/sha256sum <"$WORKER_STATE/in"
	[ "$(cut -d' ' -f1 <"$WORKER_STATE/out")" = "$(sha256sum <"$WORKER_STATE/in" | cut -d' ' -f1)" ]
	WK_STDIN=1 tenant /bin/true <"$WORKER_STATE/in"
	[ "$(record .cause)" = exit ]
}

@test "EXEC-5: cancelled, the record still comes" {
	WK_CANCEL=1 tenant /bin/sh -c 'echo up; exec sleep 100' < <(kz_wait 30 grep -qx up "$WORKER_STATE/out"; echo x)
	[ "$(record .started)" = true ]
	[ "$(record .wall_ms)" -lt 90000 ]
	finds_nothing
}

@test "EXEC-4: several programs of one lease share its files and nothing else" {
	wk bind "$LEASE" "$(fence)" 600000 + exec "$LEASE" 60000 1000 /bin/sh -c 'echo kept > f; (setsid sleep 50 >/dev/null 2>&1 &)' \
		+ exec "$LEASE" 60000 1000 /bin/sh -c 'cat f; set -- /proc/[0-9]*; echo $#' + reset "$LEASE" t
	[ "$(cat "$WORKER_STATE/out")" = "$(printf 'kept\n1')" ]
	finds_nothing
}

@test "EXEC-5 per-exec leak: fifty runs and resets leave process 1 as it was" {
	local i calls=()
	for ((i = 0; i < 50; i++)); do
		calls+=(+ bind "$LEASE" "$(fence)" 600000 + exec "$LEASE" 60000 1000 /bin/true + reset "$LEASE" t)
	done
	wk "${calls[@]:1}"
	[ "$status" -eq 0 ]
	[ "$(jq -rs '[.[] | select(.type == "readings") | .surfaces.descriptors.now] | unique | length' <"$WORKER_STATE/said")" -eq 1 ]
	[ -z "$(dirty)" ]
}

# A file of the image that nobody has in memory now, so that who reads it first pays for it.
big_cold_file() {
	local f
	find /usr -xdev -type f -size +24M -size -200M -not -path '/usr/local/*' | while read -r f; do
		dd if="$f" iflag=nocache count=0 status=none
		[ "$(fincore -nb -o RES "$f")" -ne 0 ] || echo "$f"
	done | head -1
}

@test "EXEC-5: the peak is what a run used, not what tenants before left in the page cache" {
	local file size tries
	# what somebody else reads in the same moment is charged to them
	for tries in 1 2 3 4 5; do
		worker_new
		file=$(big_cold_file)
		[ -n "$file" ]
		size=$(stat -c %s "$file")
		tenant /bin/cat "$file"
		echo "$file $size: peak $(record .peak_bytes)"
		[ "$(record .peak_bytes)" -le $((size / 2)) ] || break
	done
	[ "$tries" -lt 5 ] || [ "$(record .peak_bytes)" -gt $((size / 2)) ]
	tenant /usr/bin/python3 -c 'x = b"x" * 4000000'
	echo "then $(record .peak_bytes)"
	[ "$(record .peak_bytes)" -lt $((size / 2)) ]
	[ "$(record .peak_bytes)" -ge 4000000 ]
}

# A run in the background, until it has started: the tenant's cgroup has more than its first process.
start_run() {
	wk_bg "$@" &
	background=$!
	kz_wait 10 has_started
}
has_started() {
	[ "$(tenant_tasks)" -ge 2 ]
}

wk_bg() {
	exec "$WORKER_BUILD/tests/tool/wk" "$WORKER_STATE" w-1 "$(cat "$WORKER_STATE/instance")" "$@" \
		3>"$WORKER_STATE/bg.said" >"$WORKER_STATE/bg.out" 2>"$WORKER_STATE/bg.err" </dev/null
}

tenant_cgroup() {
	jq -r '.cgroups.trees[] | select(.controllers | test("(^|,)pids(,|$)") or . == "") | .dir' \
		"$WORKER_STATE/workers/w-1/worker.json" | head -1
}

tenant_tasks() { cat "$(tenant_cgroup)/tenant/pids.current"; }

# In its cgroup stands the next tenant's first process too, which lies in one namespace more.
process_1() {
	local pid
	while read -r pid; do
		[ "$(awk '/^NSpid:/ { print NF }' "/proc/$pid/status")" -ne 3 ] || echo "$pid"
	done <"$(tenant_cgroup)/worker/cgroup.procs"
}

# with the next tenant's first process, which has joined by then
is_quiet() {
	[ "$(tenant_tasks)" -le 1 ]
}

@test "EXEC-4: kill -9 of the caller ends the tenant at once, and the worker can be reset" {
	start_run bind "$LEASE" "$(fence)" 600000 + exec "$LEASE" 60000 1000 /bin/sh -c '(setsid sleep 100 &); sleep 100'
	kill -9 "$background"
	kz_wait 10 is_quiet
	wk health
	[ "$(said .state)" = ended ]
	wk reset "$LEASE" t
	[ -z "$(dirty)" ]
}

@test "EXEC-8: when process 1 dies mid-run the transport is lost, and there is no record" {
	start_run bind "$LEASE" "$(fence)" 600000 + exec "$LEASE" 60000 1000 /bin/sh -c 'echo half; sleep 100'
	kill -9 "$(process_1)"
	local rc=0
	wait "$background" || rc=$?
	[ "$rc" -eq 1 ]
	grep -q '^transport_lost:' "$WORKER_STATE/bg.err"
	[ ! -s "$WORKER_STATE/bg.said" ]
	worker_new
}

@test "EXEC-15: no message names the worker's address" {
	worker_delete
	wk health
	grep -q '^worker_unreachable:' "$WORKER_STATE/err"
	run ! grep -q "$WORKER_STATE" "$WORKER_STATE/err"
	worker_new
}

@test "RESET-1: a reset by another connection ends what runs, whose record says so" {
	start_run bind "$LEASE" "$(fence)" 600000 + exec "$LEASE" 60000 1000 /bin/sleep 100
	wk reset "$LEASE" t
	[ "$status" -eq 0 ]
	[ -z "$(dirty)" ]
	wait "$background"
	[ "$(jq -r .cause "$WORKER_STATE/bg.said")" = lease_lost ]
	finds_nothing
}

no_keys_of() { ! grep -q "^ *$1:" /proc/key-users; }

@test "RESET-5: keys that the former holder of a worker's ids leaves for a moment are in no baseline" {
	local base holder
	# ids that no other test's worker takes, nor this one's of another run
	base=$((1946157056 + $$ % 700 * 65536))
	echo "$base" >"$WORKER_STATE/env/KZ_UID_BASE"
	worker_delete
	mkfifo "$BATS_TEST_TMPDIR/held"
	# a key of the worker's tenant to be, gone a moment after the worker is made
	python3 -IS - "$((base + 1))" >"$BATS_TEST_TMPDIR/held" <<-'EOF' &
		import ctypes, os, sys, time
		os.setuid(int(sys.argv[1]))
		libc = ctypes.CDLL(None, use_errno=True)
		assert libc.syscall(248, b"user", b"left", b"x", 1, -2) >= 0, os.strerror(ctypes.get_errno())
		print("held", flush=True)
		os.close(1)
		time.sleep(0.5)
	EOF
	holder=$!
	read -r _ <"$BATS_TEST_TMPDIR/held"
	worker_new
	[ "$(jq -r .uid_base "$WORKER_STATE/workers/w-1/worker.json")" -eq "$base" ]
	wait "$holder"
	kz_wait 20 no_keys_of "$((base + 1))"
	wk bind "$LEASE" "$(fence)" 600000 + exec "$LEASE" 10000 1000 /bin/true + reset "$LEASE" t
	[ "$status" -eq 0 ]
	[ -z "$(dirty)" ]
	rm "$WORKER_STATE/env/KZ_UID_BASE"
	worker_new
}

@test "RT-15: process 1 outside of a container refuses, and says what is off" {
	local boot
	boot='{"v":1,"worker":"w","instance":"i","secret":"'$(printf '%064d' 0)'","image":"x","tenant_uid":1000,
		"tenant_gid":1000,"cgroup":"v1","uid_count":3,"capabilities":[],"limits":{"disk_bytes":1,"inodes":1,"packages_bytes":1,"packages_inodes":1,"pids":1,
		"memory_bytes":1,"cpus":1,"open_files":1,"output_bytes":1},"fds":{"control":4,"ready":5,"tenant_procs":[6],
		"procs_read":7,"pids_current":7,"pids_events":7,"memory_events":7,"memory_current":7,"memory_peak":7,"cpu_usage":7}}'
	run -69 "$WORKER_BUILD/bin/kz-worker" 3<<<"$boot" 4</dev/null 5>"$WORKER_STATE/ready" 6>/dev/null 7</dev/null
	[ "$(jq -r '[.ready,.reason]|join(" ")' "$WORKER_STATE/ready")" = 'false posture_failed' ]
}

@test "RT-15: a boot object that is malformed is refused" {
	local bad
	for bad in '' '{' '[]' '{"v":2}' '{"v":1,"worker":"w"}' '{"v":1,"v":1}'; do
		run -65 "$WORKER_BUILD/bin/kz-worker" 3<<<"$bad" 4</dev/null
	done
}

@test "EXEC-1: a connection that does not show the secret is closed soon, one that did is kept" {
	wk secret
	python3 "$WORKER_ROOT/tests/tool/silent.py" "$WORKER_STATE/workers/w-1/ctl/control.sock" "$(said .secret)"
}

@test "EXEC-1: a caller that speaks badly for ten seconds does not end process 1" {
	local seed=$RANDOM
	echo "seed $seed" >&2
	wk secret
	python3 "$WORKER_ROOT/tests/tool/hostile.py" "$WORKER_STATE/workers/w-1/ctl/control.sock" "$(said .secret)" \
		"$(fence)" "$seed" 10 >"$WORKER_STATE/fence"
	wk health
	[[ $(said .state) =~ ^(clean|ended)$ ]]
	[ "$(said .state)" = clean ] || wk reset aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa t
	finds_nothing
}
