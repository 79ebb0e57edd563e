# The network of a run from end to end: who gets it, that it is this run's alone, what a restart of the proxy does
# to a run, and that nothing of it is left in the worker.  One worker serves all of it.
# shellcheck disable=SC2154,SC2016 # kz_run sets output, error and status; the programs are quoted on purpose
# bats file_tags=case:root
bats_require_minimum_version 1.5.0
load ../kz
load ../egress

setup_file() {
	eg_start SANDBOX_WARM_POOL_MIN=1 SANDBOX_POOL_MAX_ALLOCATED=1
}

teardown_file() {
	eg_stop
}

ASK='
import base64, os, socket, sys, time, urllib.parse
def way(url=None):
    u = urllib.parse.urlsplit(url or os.environ["HTTP_PROXY"])
    return (u.hostname, u.port), base64.b64encode(f"{u.username}:{u.password}".encode()).decode()
def tunnel(host, port=80, url=None):
    at, who = way(url)
    s = socket.create_connection(at, 20)
    s.sendall(f"CONNECT {host}:{port} HTTP/1.1\r\nHost: {host}:{port}\r\nProxy-Authorization: Basic {who}\r\n\r\n".encode())
    head = b""
    while not head.endswith(b"\r\n\r\n"):
        byte = s.recv(1)
        if not byte: break
        head += byte
    return s, head.split(b"\r\n")[0].decode()
def get(s, path="/hello"):
    s.sendall(f"GET {path} HTTP/1.1\r\nHost: web.pub.lab\r\nConnection: close\r\n\r\n".encode())
    got = b""
    while True:
        piece = s.recv(65536)
        if not piece: return got
        got += piece
'

py() {
	local code=$1
	shift
	kz_run "$@" -c "$ASK$code"
}

# the worker there is, by the id that no other one ever has
instance() { jq -r .instance "$KZ_STATE"/workers/[!.]*/worker.json; }

proxy_pid() { kz_service_pid kz-proxy; }
proxy_ready() {
	curl -s -m 2 --unix-socket "$KZ_STATE/run/proxy-health.sock" http://proxy/v1/health | jq -e .ready >/dev/null
}
proxy_tunnels() { curl -s -m 2 --unix-socket "$KZ_STATE/run/proxy-health.sock" http://proxy/v1/health | jq .tunnels; }
is_another() { [ -n "$(proxy_pid)" ] && [ "$(proxy_pid)" != "$1" ]; }
no_tunnels() { [ "$(proxy_tunnels)" = 0 ]; }

@test "RT-10 EXEC-17: a run that was not approved has no port and no variable, and says what to do" {
	py 'print(sorted(n for n in os.environ if "proxy" in n.lower() or "NODE" in n))
try: socket.create_connection(("127.0.0.1", 3128), 5); print("open")
except OSError as e: print(e.errno)'
	[ "$output" = "$(printf '[]\n111')" ]
	kz_record_is egress.scope "none: not approved (--approve ID)"
	kz_record_is egress.reason not_approved
	kz_record_is egress.effective none
	kz_record_is egress.configured public_internet
	kz_record_is egress.execution null
	kz_record | "$BATS_TEST_DIRNAME/../schema.py" --last record
	run kz-grant scope
	[[ $output == *"--approve"* ]]
}

@test "EXEC-17: a run that was not approved asks neither the proxy nor for the key" {
	strace -f -e trace=connect,open,openat -o "$BATS_TEST_TMPDIR/calls" "$KZ_BIN/kz-run" -c 'print(1)'
	[ "$(grep -c 'connect(' "$BATS_TEST_TMPDIR/calls")" -gt 0 ]
	run ! grep -E 'proxy\.sock|proxy-health|grant\.key' "$BATS_TEST_TMPDIR/calls"
}

@test "GRANT-1 GRANT-2: an approved run reaches what the policy allows, with an execution of its own" {
	local first
	py 's, head = tunnel("web.pub.lab"); print(head); print(b"says hello" in get(s))' --approve a-1
	[ "$output" = "$(printf 'HTTP/1.1 200 OK\nTrue')" ] || [[ $output == *200*True ]]
	kz_record_is egress.effective public_internet
	kz_record_is egress.reason null
	kz_record_is egress.approval a-1
	kz_record | "$BATS_TEST_DIRNAME/../schema.py" --last record
	first=$(kz_record egress.execution)
	[[ $first =~ ^[0-9a-f]{32}$ ]]
	py 'print(1)' --approve a-1
	[ "$(kz_record egress.execution)" != "$first" ]
	# neither is in what is kept of the run
	kz_nowhere -F v4.public. "$KZ_STATE/log" "$KZ_STATE/audit" "$KZ_STATE/run"
}

@test "PROXY-1: the variables stand in both cases and win over -e" {
	kz_run --approve a-1 -e HTTP_PROXY=http://elsewhere -e no_proxy=web.pub.lab -e NODE_OPTIONS=--no-warnings \
		-c 'import os
print(len({os.environ[n] for n in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy")}))
print({os.environ[n] for n in ("NO_PROXY", "no_proxy")}, os.environ["NODE_OPTIONS"])'
	[ "$output" = "$(printf '1\n%s' "{'localhost,127.0.0.1,::1'} --no-warnings --require=/work/code/.kz-proxy.cjs")" ]
}

@test "GRANT-2: a grant of another execution of the same worker is refused, and nobody but the operator learns why" {
	kz-lease with -A keeper -C one -- sh -c '
		kz-run -A keeper -C one --approve a-1 -c "import os; open(\"kept\", \"w\").write(os.environ[\"HTTP_PROXY\"])" || exit 1
		kz-run -A keeper -C one --approve a-2 -c "$1" || exit 2
		kz-run -A keeper -C one -c "$2"' sh "$ASK"'
kept = open("kept").read()
assert kept != os.environ["HTTP_PROXY"]
print(tunnel("web.pub.lab")[1])
print(tunnel("web.pub.lab", url=kept)[1])' "$ASK"'
try: tunnel("web.pub.lab", url=open("kept").read())
except OSError as e: print(e.errno)' >"$BATS_TEST_TMPDIR/out"
	sed -n 1p "$BATS_TEST_TMPDIR/out" | grep -q ' 200 '
	sed -n 2p "$BATS_TEST_TMPDIR/out" | grep -q ' 403 '
	[ "$(sed -n 3p "$BATS_TEST_TMPDIR/out")" = 111 ]
	kz_wait 10 eg_has_reason grant_foreign
}

@test "GRANT-2: a program that announces an execution itself is no more than malformed, and one without a grant is asked for it" {
	py 'at, who = way()
for first in (b"KZ-EXECUTION 0123456789abcdef0123456789abcdef\n", b""):
    s = socket.create_connection(at, 20)
    s.sendall(first + b"CONNECT web.pub.lab:80 HTTP/1.1\r\nHost: web.pub.lab:80\r\n\r\n")
    print(s.recv(100).split()[1].decode())' --approve a-1
	[ "$output" = "$(printf '400\n407')" ]
}

@test "PROXY-1: a restart of the proxy does not cut a living worker off" {
	local pid
	pid=$(proxy_pid)
	"$KZ_BIN/kz-run" --approve a-1 -c "$ASK"'
print(tunnel("web.pub.lab")[1], flush=True)
sys.stdin.readline()
print(tunnel("web.pub.lab")[1], flush=True)' >"$BATS_TEST_TMPDIR/out" < <(
		kz_wait 20 grep -q 200 "$BATS_TEST_TMPDIR/out" >&2
		s6-svc -r "$KZ_STATE/service/kz-proxy"
		kz_wait 20 is_another "$pid" >&2
		kz_wait 20 proxy_ready >&2
		sleep 1
		echo go
	)
	[ "$(proxy_pid)" != "$pid" ]
	[ "$(grep -c ' 200 ' "$BATS_TEST_TMPDIR/out")" -eq 2 ]
}

@test "PROXY-1: kill -9 of the proxy in the middle of tunnels ends them, the run and the worker go on" {
	local id status=0
	id=$(instance)
	"$KZ_BIN/kz-run" --approve a-1 -c "$ASK"'
held = [tunnel("web.pub.lab")[0] for _ in range(10)]
print("held", flush=True)
ends = 0
for s in held:
    try: ends += s.recv(1) == b""
    except ConnectionResetError: ends += 1
print("ends", ends, flush=True)' >"$BATS_TEST_TMPDIR/out" 3>&- &
	local job=$!
	kz_wait 20 grep -q held "$BATS_TEST_TMPDIR/out"
	kill -9 "$(proxy_pid)"
	wait "$job" || status=$?
	[ "$status" -eq 0 ]
	grep -qx 'ends 10' "$BATS_TEST_TMPDIR/out"
	kz_wait 20 proxy_ready
	py 'print(tunnel("web.pub.lab")[1])' --approve a-1
	[[ $output == *' 200 '* ]]
	[ "$(instance)" = "$id" ]
}

@test "GRANT-7: without the proxy the run has no credential, and goes on" {
	s6-svc -d "$KZ_STATE/service/kz-proxy"
	s6-svwait -d -t 60000 "$KZ_STATE/service/kz-proxy"
	py 'print(sorted(n for n in os.environ if "proxy" in n.lower()))' --approve a-1
	s6-svc -u "$KZ_STATE/service/kz-proxy"
	[ "$status" -eq 0 ]
	[ "$output" = '[]' ]
	[[ $error == *reason=proxy_unreachable* ]]
	kz_record_is egress.reason proxy_unreachable
	kz_record_is egress.effective none
	kz_wait 20 proxy_ready
}

@test "POL-19 ADM-4: what the policy says counts for the next run, and nothing restarts" {
	local pid
	pid=$(proxy_pid)
	eg_set SANDBOX_EGRESS_MODE=isolated
	py 'print(sorted(n for n in os.environ if "proxy" in n.lower()))' --approve a-1
	eg_set SANDBOX_EGRESS_MODE=public_internet
	[ "$output" = '[]' ]
	kz_record_is egress.reason mode_isolated
	kz_record_is egress.configured isolated
	py 'print(tunnel("web.pub.lab")[1])' --approve a-1
	[[ $output == *' 200 '* ]]
	[ "$(proxy_pid)" = "$pid" ]
}

@test "RESET-1: tunnels that are open, full or half closed at the end leave the worker clean; the next tenant finds nothing" {
	local id
	id=$(instance)
	for _ in 1 2 3 4 5; do
		py 'held = [tunnel("web.pub.lab")[0] for _ in range(8)]
for s in held[:2]: s.sendall(b"GET /big HTTP/1.1\r\nHost: web.pub.lab\r\n\r\n")
for s in held[2:4]: s.shutdown(socket.SHUT_WR)
for s in held[4:6]:
    s.setblocking(False)
    try:
        while True: s.send(b"x" * 65536)
    except OSError: pass
at, _ = way()
more = [socket.create_connection(at) for _ in range(20)]
more[0].sendall(b"CONNECT web.pub")
if os.fork() == 0: time.sleep(60)
print("left", flush=True)
os._exit(0)' --approve a-1
		[ "$output" = left ]
		py 'try: socket.create_connection(("127.0.0.1", 3128), 5); print("open")
except OSError as e: print(e.errno)
print(len(open("/proc/self/net/tcp").readlines()) - 1, len(open("/proc/self/net/unix").readlines()) - 1)'
		[ "$output" = "$(printf '111\n0 0')" ]
		[ "$(instance)" = "$id" ]
	done
	kz_wait 10 no_tunnels
}

@test "PROXY-17 RESET-1: a server that takes nothing keeps neither the tunnel nor the worker" {
	local id code
	id=$(instance)
	for code in '' 'for s in held: s.shutdown(socket.SHUT_WR)' 'for s in held: s.close()'; do
		py 'held = [tunnel("web.pub.lab", 9006)[0] for _ in range(4)]
for s in held: s.sendall(b"rate 1\n")
end = time.monotonic() + 3
for s in held:
    s.setblocking(False)
sent = 1
while sent and time.monotonic() < end:
    sent = 0
    for s in held:
        try: sent += s.send(b"x" * 65536)
        except OSError: pass
    time.sleep(0.02)
print("full", flush=True)
'"$code" --approve a-1
		[[ $output == full* ]]
		[ "$(instance)" = "$id" ]
		kz_wait 10 no_tunnels
	done
}

@test "PROXY-17: a tunnel ends with its run, not with its grant" {
	py 'tunnel("web.pub.lab"); print("open", flush=True); time.sleep(0.5)' --approve a-1
	[ "$output" = open ]
	kz_wait 10 no_tunnels
}

@test "BOUND-11: a run that opens more than it may waits, and its worker serves the next" {
	local id
	id=$(instance)
	py 'at, _ = way()
many = []
for _ in range(300):
    s = socket.socket()
    s.setblocking(False)
    try: s.connect(at)
    except BlockingIOError: pass
    many.append(s)
time.sleep(1)
for s in many: s.close()
print(tunnel("web.pub.lab")[1])' --approve a-1
	[[ $output == *' 200 '* ]]
	py 'print(1)'
	[ "$output" = 1 ]
	[ "$(instance)" = "$id" ]
}

@test "GRANT-14: node uses the proxy for fetch, http and https, with agents of its own too, and keeps to NO_PROXY" {
	kz_run --approve a-1 -l node -i "$EG/ca.pem" -e NODE_EXTRA_CA_CERTS=/work/space/ca.pem -c '
const http = require("http"), https = require("https");
const get = (m, u, o) => new Promise((done) => m.get(u, o || {}, (r) => {
	let b = ""; r.on("data", (d) => { b += d; }); r.on("end", () => done(r.statusCode + " " + b.trim()));
}).on("error", (e) => done("error " + e.code)));
const all = async (u) => { try { const r = await fetch(u); return r.status + " " + (await r.text()).trim(); } catch (e) { return "error"; } };
(async () => {
	const own = http.createServer((q, r) => r.end("own")).listen(8000, "127.0.0.1");
	console.log(await get(http, "http://web.pub.lab/hello"));
	console.log(await get(https, "https://web.pub.lab/hello"));
	console.log(await get(https, "https://web.pub.lab/hello", { agent: new https.Agent({ keepAlive: true }) }));
	console.log(await all("http://web.pub.lab/hello"));
	console.log(await all("https://web.pub.lab/hello"));
	console.log(await get(http, "http://127.0.0.1:8000/"), await all("http://127.0.0.1:8000/"));
	console.log(await get(https, "https://web.priv.lab/hello"), await all("https://web.priv.lab/hello"));
	own.close();
	process.exit(0);
})();'
	[ "$output" = "$(printf '200 the internet says hello\n%.0s' 1 2 3 4 5)
200 own 200 own
error ECONNREFUSED error" ]
}

@test "PROXY-1: curl, wget, git, pip's library and Python's own read the variables by themselves" {
	kz_run --approve a-1 -l shell -c 'curl -fsS http://web.pub.lab/hello
wget -qO- http://web.pub.lab/hello
python3 -c "import urllib.request as u; print(u.urlopen(\"http://web.pub.lab/hello\").read().decode().strip())"
curl -sS -o /dev/null -w "%{http_code}\n" http://web.priv.lab/hello'
	[ "$output" = "$(printf 'the internet says hello\n%.0s' 1 2 3)
403" ]
}
