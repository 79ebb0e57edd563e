#!/usr/bin/env bats
# The way from a program to the proxy's socket: whose it is, to the byte, bounded, and gone with the program.

bats_require_minimum_version 1.5.0
load worker

setup_file() { worker_start; }
teardown_file() { worker_stop; }

setup() {
	DIR=$WORKER_STATE/run/proxy
	LOG=$WORKER_STATE/far
	FAR=
	WK_EXECUTION=0123456789abcdef0123456789abcdef
	export WK_EXECUTION
	far
}

teardown() {
	[ -z "$FAR" ] || kill "$FAR" 2>/dev/null || :
	rm -f "$DIR"/*.sock
}

# start the far end; arguments as far_end.py has them after DIR
far() {
	: >"$LOG"
	python3 "$BATS_TEST_DIRNAME/far_end.py" "$DIR" "$@" >>"$LOG" 2>&1 3>&- &
	FAR=$!
	until_told '.up'
}

far_dies() {
	kill -9 "$FAR"
	wait "$FAR" 2>/dev/null || :
	FAR=
}

# wait until the far end has told what FILTER selects
until_told() {
	local i
	for ((i = 0; i < 300; i++)); do
		[ -z "$(jq -c "select($1)" <"$LOG" 2>/dev/null)" ] || return 0
		sleep 0.1
	done
	echo "never told: $1" >&2
	cat "$LOG" >&2
	return 1
}

PORT='
import socket, sys, threading, time, os
def port(ask=None, timeout=20):
    s = socket.create_connection(("127.0.0.1", 3128), timeout)
    if ask: s.sendall(ask.encode() + b"\n")
    return s
def rest(s):
    got = bytearray()
    while True:
        piece = s.recv(65536)
        if not piece: return bytes(got)
        got += piece
'

py() { tenant /usr/bin/python3 -c "$PORT$1"; }
out() { cat "$WORKER_STATE/out"; }
clean() { [ -z "$(dirty)" ] || { echo "dirty: $(dirty)" >&2; return 1; }; }

@test "GRANT-2: each connection is announced as this execution's, and comes from the worker's own uid" {
	py 'print(rest(port("give 5")))'
	[ "$(out)" = "b'xxxxx'" ]
	until_told '.ask == "give 5"'
	[ "$(jq -r 'select(.ask) | .preamble' <"$LOG")" = "KZ-EXECUTION $WK_EXECUTION" ]
	[ "$(jq -r 'select(.ask) | .uid' <"$LOG")" = "$(jq .uid_base "$WORKER_STATE/workers/w-1/worker.json")" ]
	clean
}

@test "PROXY-19: half-close and early data keep to the byte, both ways" {
	py 'import hashlib, os
s = port()
data = os.urandom(5000000)
def send():
    s.sendall(b"echo\n" + data[:100])
    s.sendall(data[100:])
    s.shutdown(socket.SHUT_WR)
threading.Thread(target=send).start()
print(rest(s) == data)
print(len(rest(port("give 20000000"))))'
	[ "$(out)" = "$(printf 'True\n20000000')" ]
	clean
}

@test "RT-10: without an execution nothing listens, and nothing reaches the proxy's socket" {
	unset WK_EXECUTION
	py 'try: port(); print("open")
except OSError as e: print(e.errno)
print([l for l in open("/proc/self/mountinfo") if "proxy" in l])
print([d for d, _, f in os.walk("/run") if f] + [f for f in os.listdir("/.kz") if f != "kz-worker"])'
	[ "$(out)" = "$(printf '111\n[]\n[]')" ]
	[ "$(jq -c 'select(.ask)' <"$LOG")" = "" ]
	clean
}

@test "RT-10: the proxy's directory is in no list of mounts, not even of process 1, and no way up" {
	local pid
	pid=$(KZ_STATE=$WORKER_STATE kz_process1 w-1)
	[ -n "$pid" ]
	run ! grep -F proxy "/proc/$pid/mountinfo"
	local fd found=
	for fd in "/proc/$pid/fd/"*; do
		[ "$(stat -Lc %i "$fd")" = "$(stat -c %i "$DIR")" ] || continue
		found=$fd
		[ "$(stat -Lc %i "$fd/..")" = "$(stat -c %i "$DIR")" ]
		run ! touch "$fd/new"
	done
	[ -n "$found" ]
}

@test "PROXY-1: the next tenant, made while the program ran, has no port and no connection" {
	py 's = port("greet"); print(s.recv(1))'
	[ "$(out)" = "b'h'" ]
	clean
	until_told '.done == "greet" or .failed'
	unset WK_EXECUTION
	py 'try: port(); print("open")
except OSError as e: print(e.errno)
print([l for l in open("/proc/self/net/tcp")][1:])'
	[ "$(out)" = "$(printf '111\n[]')" ]
	finds_nothing
}

@test "PROXY-17: what the program leaves open ends with it, before its processes do" {
	py 'held = [port("hold") for _ in range(20)]
if os.fork() == 0:
    time.sleep(100)
    os._exit(0)
print("gone", flush=True)
os._exit(0)'
	[ "$(record .exit)" = 0 ]
	until_told '.done == "hold" or .failed'
	clean
	finds_nothing
}

@test "PROXY-1: a proxy that is not there refuses the connection and the run goes on" {
	far_dies
	rm -f "$DIR/proxy.sock"
	py 'for _ in range(3):
    try: print(rest(port("give 1")))
    except OSError as e: print(type(e).__name__)'
	run out
	[ "$(sort -u <<<"$output")" = ConnectionResetError ] || [ "$(sort -u <<<"$output")" = BrokenPipeError ]
	[ "$(record .exit)" = 0 ]
	clean
}

@test "PROXY-1: a proxy that is started again is found by a program that runs" {
	tenant_in_background 'print(rest(port("give 3")), flush=True)
while not os.path.exists("/work/space/go"): time.sleep(0.05)
print(rest(port("give 4")), flush=True)' &
	local job=$!
	until_told '.ask == "give 3"'
	far_dies
	far
	wk put "$LEASE" space go /dev/null
	wait "$job"
	grep -qF "b'xxxx'" "$WORKER_STATE/out.background"
}

# as py, on a connection of its own that does not wait: out in out.background
tenant_in_background() {
	local n
	n=$(fence)
	"$WORKER_BUILD/tests/tool/wk" "$WORKER_STATE" w-1 "$(cat "$WORKER_STATE/instance")" \
		bind "$LEASE" "$n" 120000 + exec "$LEASE" 60000 1048576 /usr/bin/python3 -c "$PORT$1" + reset "$LEASE" t \
		3>"$WORKER_STATE/said.background" >"$WORKER_STATE/out.background" 2>&1
}

@test "PROXY-1: kill -9 of the proxy in the middle of tunnels ends them, and nothing else" {
	tenant_in_background 'held = [port("hold") for _ in range(10)]
print("held", flush=True)
ends = 0
for s in held:
    try: ends += len(rest(s)) == 0
    except ConnectionResetError: ends += 1
print("ends", ends, flush=True)' &
	local job=$! i
	for ((i = 0; i < 300; i++)); do
		[ "$(jq -c 'select(.ask == "hold")' <"$LOG" | wc -l)" -lt 10 ] || break
		sleep 0.1
	done
	far_dies
	wait "$job"
	grep -qx 'ends 10' "$WORKER_STATE/out.background"
	[ "$(jq -rs 'map(select(.cause)) | last | .exit' <"$WORKER_STATE/said.background")" = 0 ]
	finds_nothing
}

@test "PROXY-12: what the proxy answered and closed arrives although the program still sends" {
	py 's = port("answer")
got = b""
try:
    while True:
        s.sendall(b"z" * 1000)
        time.sleep(0.01)
except OSError: pass
s.settimeout(10)
try:
    got = s.recv(2)
except OSError as e: got = e
print(got)'
	[ "$(out)" = "b'no'" ]
	clean
}

@test "PROXY-1: a full queue of the proxy is waited for" {
	far_dies
	far 1 1
	py 'said = []
def one():
    said.append(len(rest(port("give 7"))))
all = [threading.Thread(target=one) for _ in range(20)]
for t in all: t.start()
for t in all: t.join()
print(sorted(said) == [7] * 20)'
	[ "$(out)" = True ]
	clean
}

@test "INV-29: an execution that is none is refused, and nothing runs" {
	local bad
	for bad in 0123 0123456789ABCDEF0123456789ABCDEF 'x123456789abcdef0123456789abcdef'; do
		WK_EXECUTION=$bad wk bind "$LEASE" "$(fence)" 60000 + exec "$LEASE" 5000 1000 /bin/echo ran + reset "$LEASE" t
		[ "$status" -eq 1 ]
		grep -q '^malformed_input' "$WORKER_STATE/err"
		[ ! -s "$WORKER_STATE/out" ]
		wk reset "$LEASE" t
	done
	clean
}

@test "BOUND-11: a flood of connections waits, whatever it holds counts, and the worker serves on" {
	WALL=60000 py 'for _ in range(5):
    many = []
    for _ in range(200):
        s = socket.socket()
        s.setblocking(False)
        try: s.connect(("127.0.0.1", 3128))
        except BlockingIOError: pass
        many.append(s)
    time.sleep(0.5)
    for s in many: s.close()
print(rest(port("give 3")))'
	[ "$(out)" = "b'xxx'" ]
	clean
	finds_nothing
}

@test "BOUND-11: at most 64 connections reach the proxy at once" {
	tenant_in_background 'held = []
for _ in range(75):
    held.append(port("hold"))
while not os.path.exists("/work/space/go"): time.sleep(0.05)
os._exit(0)' &
	local job=$! i
	for ((i = 0; i < 300; i++)); do
		[ "$(jq -c 'select(.ask == "hold")' <"$LOG" | wc -l)" -lt 64 ] || break
		sleep 0.1
	done
	# for what must not come
	sleep 2
	wk put "$LEASE" space go /dev/null
	wait "$job"
	finds_nothing
	# those that waited come to it when the program's end has made room
	[ "$(jq -s 'map(.open // 0) | max' <"$LOG")" -eq 64 ]
	clean
}

@test "BOUND-11: programs that read slowly or not at all do not fill process 1" {
	WALL=60000 py 'held = [port("pour") for _ in range(64)]
for s in held:
    s.setblocking(False)
    try:
        while True: s.send(b"u" * 65536)
    except BlockingIOError: pass
    except OSError: pass
time.sleep(2)
print("full")'
	[ "$(out)" = full ]
	[ "$(record .cause)" = exit ]
	clean
	finds_nothing
}

@test "EXEC-5: fifty runs with connections leave process 1 as it was" {
	local i
	for ((i = 0; i < 50; i++)); do
		tenant /usr/bin/python3 -c "${PORT}port('hold'); rest(port('give 100000'))" || return 1
		clean || return 1
	done
}

@test "BRK-5 BRK-33: the way to the gateway is another port, for another execution, and never beside the one to the proxy" {
	far_dies
	DIR=$WORKER_STATE/run/gateway
	far
	WK_GATEWAY=fedcba9876543210fedcba9876543210
	export WK_GATEWAY
	unset WK_EXECUTION
	tenant /usr/bin/python3 -c "${PORT//3128/8000}"'
print(rest(port("give 5")))
try: socket.create_connection(("127.0.0.1", 3128), 5); print("open")
except OSError as e: print(e.errno)'
	[ "$(out)" = "$(printf "b'xxxxx'\n111")" ]
	until_told '.ask == "give 5"'
	[ "$(jq -r 'select(.ask) | .preamble' <"$LOG")" = "KZ-EXECUTION $WK_GATEWAY" ]
	[ "$(jq -r 'select(.ask) | .uid' <"$LOG")" = "$(jq .uid_base "$WORKER_STATE/workers/w-1/worker.json")" ]
	clean
	unset WK_GATEWAY
	tenant /usr/bin/python3 -c "${PORT//3128/8000}"'
try: port(); print("open")
except OSError as e: print(e.errno)'
	[ "$(out)" = 111 ]
	clean
	wk bind "$LEASE" "$(fence)" 600000 + reset "$LEASE" t
	export WK_EXECUTION=0123456789abcdef0123456789abcdef WK_GATEWAY=fedcba9876543210fedcba9876543210
	wk bind "$LEASE" "$(fence)" 600000 + exec "$LEASE" 20000 1048576 /bin/true
	[ "$status" -ne 0 ]
	[[ $(cat "$WORKER_STATE/err") == *malformed_input* ]]
}
