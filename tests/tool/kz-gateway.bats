#!/usr/bin/env bats
# weight 65
# kz-gateway as a service: what it serves to whom, what it leaves behind, what hostile bytes get, how it goes on.
# bats file_tags=case:root

bats_require_minimum_version 1.5.0
load ../kz

setup_file() {
	export PORT
	PORT=$(free_port)
	kz_start SANDBOX_WARM_POOL_MIN=1 KZ_GATEWAY_LISTEN="127.0.0.1:$PORT" || return 1
	kz_wait 20 is_listening
}

teardown_file() { kz_stop; }

free_port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }
url() { echo "http://127.0.0.1:$PORT$1"; }
get() { curl -s -m 20 "$@"; }
code() { get -o /dev/null -w '%{http_code}' "$@"; }
admin() { get --unix-socket "$KZ_STATE/run/gateway-admin.sock" "http://localhost$1"; }
is_listening() { admin /gateway.json | jq -e .listening >/dev/null; }
is_well() { admin /healthz | jq -e .ok >/dev/null; }
service_pid() { kz_service_pid kz-gateway; }
# fits TYPE: standard input is one line of this type, as its schema has it
fits() { python3 "$BATS_TEST_DIRNAME/../schema.py" --last "$1"; }

# The service ends and is there again.
started_anew() {
	local pid
	pid=$(service_pid)
	s6-svc -r "$KZ_STATE/service/kz-gateway"
	kz_wait 30 eval '[ "$(service_pid)" != '"$pid"' ] && admin /gateway.json | jq -e .v >/dev/null'
}

# raw UNIX_OR_PORT BYTES: what a connection gets for these bytes, its end included. BYTES as printf takes them.
raw() {
	printf "$2" | python3 -c '
import socket, sys
at = sys.argv[1]
s = socket.socket(socket.AF_UNIX if at.startswith("/") else socket.AF_INET)
s.settimeout(30)
s.connect(at if at.startswith("/") else ("127.0.0.1", int(at)))
data = sys.stdin.buffer.read()
try:
    s.sendall(data)
    s.shutdown(socket.SHUT_WR)
except OSError:
    pass
out = b""
try:
    while True:
        part = s.recv(65536)
        if not part:
            break
        out += part
except ConnectionResetError:
    out += b"RESET"
sys.stdout.buffer.write(out)' "$1"
}
execution=0123456789abcdef0123456789abcdef
worker() { raw "$KZ_STATE/run/gateway/gateway.sock" "$1"; }

@test "DEP-5 it serves operators at the address and over their socket, and kz status says where" {
	[ "$(code "$(url /healthz)")" = 200 ]
	get "$(url /healthz)" | jq -e '.v == 1 and .type == "health" and .ok and .reasons == []'
	[ "$(admin /healthz)" = '{"v":1,"type":"health","ok":true,"reasons":[]}' ]
	kz status -j | jq -e --arg at "127.0.0.1:$PORT" '.gateway == {listen: $at, listening: true, reason: null, text: null}'
	admin /healthz | fits health
	admin /gateway.json | fits gateway
	admin /status.json | fits gateway_status
	kz status -j | jq -e '.services[] | select(.service == "kz-gateway" and .state == "ready")'
	kz status | grep -qx "page       http://127.0.0.1:$PORT/"
	kz logs kz-gateway | grep -q 'serving'
}

@test "RT-11 RT-10 workers see one socket, and operators' is for the callers' group" {
	[ "$(stat -c '%a %F' "$KZ_STATE/run/gateway" "$KZ_STATE/run/gateway/gateway.sock")" = "711 directory"$'\n'"666 socket" ]
	[ "$(ls -A "$KZ_STATE/run/gateway")" = gateway.sock ]
	[ "$(stat -c %a "$KZ_STATE/run/gateway-admin.sock")" = 660 ]
}

@test "INV-30 it is a user of its own without any right, and sees one key" {
	local pid base root
	pid=$(service_pid)
	root=/proc/$pid/root
	base=$(kz config show -j KZ_UID_BASE | jq -r .value)
	run -0 awk '/^(Uid|Cap[A-Z]|NoNewPrivs|Groups|Seccomp:)/ { print $1, $2 $3 $4 $5 }' "/proc/$pid/status"
	grep -qx "Uid: $((base - 2))$((base - 2))$((base - 2))$((base - 2))" <<<"$output"
	grep -qx 'NoNewPrivs: 1' <<<"$output"
	# it makes no Unix socket any more, executes nothing and signals nobody
	grep -qx 'Seccomp: 2' <<<"$output"
	grep -qx 'Groups: ' <<<"$output"
	run ! grep -q '^Cap[A-Za-z]*: .*[1-9a-f]' <<<"$output"
	[ "$(find "$root/" -mindepth 1 -maxdepth 1 -printf '%f\n' | sort | tr '\n' ' ')" = "etc lib tmp usr " ] # the state is in /tmp
	[ "$(find "$root$KZ_STATE" -mindepth 1 -maxdepth 1 -printf '%f\n' | sort | tr '\n' ' ')" = "env keys public " ]
	[ "$(ls -A "$root$KZ_STATE/keys")" = package.key ]
	run ! touch "$root$KZ_STATE/env/X" "$root$KZ_STATE/public/X" "$root/etc/X" "$root/X"
	run ! grep -qE 'kz_token_sign|kz_sign_public|kz_grant_mint' <(nm "$KZ_BIN/kz-gateway")
}

@test "GRANT-5 /keys hands out the public keys, and nothing hands out others" {
	[ "$(get "$(url /keys)")" = "$(cat "$KZ_STATE/public/keys.json")" ]
	local secret
	for secret in "$KZ_STATE"/keys/*.key; do
		run ! grep -rqFf "$secret" <(for p in / /keys /metrics /healthz /status.json /gateway.json; do get "$(url "$p")"; done)
	done
}

@test "ADM-3 ADM-5 /status.json is what kz status and kz-grant scope say" {
	local told
	told=$(get "$(url /status.json)")
	jq -e '.v == 1 and .type == "gateway_status" and .gateway.listening' <<<"$told"
	[ "$(jq -c .scope <<<"$told")" = "$(kz-grant scope -j | jq -c .)" ]
	# what moves by itself left out
	local still='del(.now_ms, .workers, .nodes, .outbox, .fence, .allocated, .desired, .services[].state_ms)'
	[ "$(jq -cS ".status | $still" <<<"$told")" = "$(kz status -j | jq -cS "$still")" ]
}

@test "DEP-5 /metrics is the text form of Prometheus, and counts what kz status counts" {
	get -D "$KZ_STATE/head" "$(url /metrics)" >"$KZ_STATE/metrics"
	grep -qi '^content-type: text/plain; version=0.0.4' "$KZ_STATE/head"
	python3 - "$KZ_STATE/metrics" <<'PY'
import re, sys
kinds, seen = {}, set()
for line in open(sys.argv[1]):
    line = line.rstrip("\n")
    if m := re.fullmatch(r"# HELP ([a-z_]+) \S.*", line):
        assert m[1] not in kinds, line
        kinds[m[1]] = None
    elif m := re.fullmatch(r"# TYPE ([a-z_]+) (gauge|counter)", line):
        assert kinds[m[1]] is None, line
        kinds[m[1]] = m[2]
    else:
        m = re.fullmatch(r'([a-z_]+)(\{(?:[a-z_]+="(?:[^"\\\n]|\\.)*",?)+\})? (\d+)', line)
        assert m and kinds[m[1]], line
        assert (m[1], m[2]) not in seen, line
        seen.add((m[1], m[2]))
        assert kinds[m[1]] == ("counter" if m[1].endswith("_total") else "gauge"), line
for name in ("kz_up", "kz_admission_open", "kz_pool_allocated", "kz_pool_wanted", "kz_tickets_waiting", "kz_leases",
             "process_resident_memory_bytes", "kz_gateway_listening"):
    assert any(n == name for n, _ in seen), name
PY
	grep -qx 'kz_pool_ceiling 32' "$KZ_STATE/metrics"
	grep -qx 'kz_service_ready{service="kz-proxy"} 1' "$KZ_STATE/metrics"
	grep -q '^kz_gateway_requests_total{route="/healthz",status="200"} [1-9]' "$KZ_STATE/metrics"
	grep -q '^kz_pool_workers{state="warm"} [0-9]' "$KZ_STATE/metrics"
}

@test "ADM-1 nothing takes another method, a body, or a form" {
	local method path
	for path in / /healthz /metrics /keys /status.json /pypi/ /nothing; do
		for method in POST PUT PATCH DELETE OPTIONS TRACE CONNECT X; do
			[ "$(raw "$PORT" "$method $path HTTP/1.1\r\nHost: localhost\r\n\r\n" | head -n 1 | cut -d' ' -f2)" = 405 ]
		done
	done
	raw "$PORT" 'POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\n\r\na=b' >"$KZ_STATE/answer"
	grep -q '^Allow: GET, HEAD' "$KZ_STATE/answer"
	grep -q '"reason":"method_refused"' "$KZ_STATE/answer"
	raw "$PORT" 'GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\n\r\na=b' | head -n 1 | grep -q ' 413 '
	[ "$(code "$(url /nothing)")" = 404 ]
	get "$(url /nothing)" | jq -e '.reason == "route_unknown"'
}

@test "DEP-5 HEAD, keep-alive, pipelining, HTTP/1.0" {
	local one='GET /gateway.json HTTP/1.1\r\nHost: localhost\r\n\r\n'
	[ "$(raw "$PORT" "$one$one$one" | grep -c '^HTTP/1.1 200')" = 3 ]
	[ "$(raw "$PORT" "$one$one$one" | grep -c '"type":"gateway"')" = 3 ]
	raw "$PORT" 'HEAD / HTTP/1.1\r\nHost: localhost\r\n\r\n' >"$KZ_STATE/head"
	grep -q '^Content-Length: [1-9]' "$KZ_STATE/head"
	run ! grep -q '<html' "$KZ_STATE/head"
	raw "$PORT" 'GET /gateway.json HTTP/1.0\r\nHost: localhost\r\n\r\n' | grep -q '^Connection: close'
	# two requests over one connection
	[ "$(get -w '%{num_connects}\n' -o /dev/null -o /dev/null "$(url /gateway.json)" "$(url /gateway.json)")" = 1$'\n'0 ]
}

@test "DEP-5 a page of another name gets nothing (DNS rebinding), and no other page may read" {
	local name
	for name in evil.example "evil.example:$PORT" 10.1.2.3 localhost.evil.example 0.0.0.0 ''; do
		[ "$(code -H "Host: $name" "$(url /status.json)")" != 200 ]
	done
	[ "$(code -H 'Host: evil.example' "$(url /status.json)")" = 421 ]
	get -H 'Host: evil.example' "$(url /status.json)" | jq -e '.reason == "gateway_host"'
	for name in localhost "localhost:$PORT" '[::1]' 127.0.0.1; do
		[ "$(code -H "Host: $name" "$(url /gateway.json)")" = 200 ]
	done
	run ! grep -qi 'access-control' <(get -i -H 'Origin: http://evil.example' "$(url /status.json)")
	# a name of the operator's choice, at once
	kz config set KZ_GATEWAY_HOSTS=kz.example
	kz_wait 20 eval '[ "$(code -H "Host: kz.example" "$(url /gateway.json)")" = 200 ]'
	kz config set KZ_GATEWAY_HOSTS=
	# the socket of the operators has no name to be led to
	[ "$(get --unix-socket "$KZ_STATE/run/gateway-admin.sock" http://evil.example/gateway.json | jq -r .type)" = gateway ]
}

@test "DEP-5 the page's policy names what runs, and nothing else loads" {
	get -i "$(url /)" >"$KZ_STATE/page"
	grep -q "^Content-Security-Policy: default-src 'none'; script-src 'sha256-" "$KZ_STATE/page"
	grep -q "form-action 'none'; frame-ancestors 'none'" "$KZ_STATE/page"
	run ! grep -qiE '<(form|input|button|select|textarea|a|iframe|img|object|embed)[ >]|unsafe-inline| src=|https?://' "$KZ_STATE/page"
}

@test "EXEC-1 hostile heads are refused in one way, and the next connection is served" {
	local bad
	for bad in '\r\n\r\n' 'GET /\r\n\r\n' 'GET / HTTP/2.0\r\nHost: localhost\r\n\r\n' 'GET / HTTP/1.1\nHost: localhost\n\n' \
		'GET / HTTP/1.1\r\n\r\n' 'GET / HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n\r\n' \
		'GET / HTTP/1.1\r\nHost: localhost\r\n folded: x\r\n\r\n' 'GET / HTTP/1.1\r\nHost : localhost\r\n\r\n' \
		'GET /\x00 HTTP/1.1\r\nHost: localhost\r\n\r\n' 'GET http://localhost/ HTTP/1.1\r\nHost: localhost\r\n\r\n' \
		'\x16\x03\x01\x02\x00\x01\x00\x01' 'GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n'; do
		raw "$PORT" "$bad" | head -n 1 | grep -qE '^HTTP/1.1 400 '
	done
	bad=$(printf 'A: %01000d' 0)
	raw "$PORT" "GET / HTTP/1.1\r\nHost: localhost\r\n$(for _ in {1..20}; do printf '%s\\r\\n' "$bad"; done)\r\n" | head -n 1 | grep -q ' 431 '
	# an end in the middle of a head
	[ -z "$(raw "$PORT" 'GET / HT')" ]
	[ "$(code "$(url /gateway.json)")" = 200 ]
}

@test "PROXY-19 slow heads and many connections hold nobody up" {
	local slow
	python3 - "$PORT" "$KZ_STATE/slow" <<'PY' 3>&- &
import socket, sys, time
held = []
refused = 0
for i in range(100):
    s = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
    s.sendall(b"GET /gateway.json HTTP/1.1\r\nHo")
    held.append(s)
# of a hundred some are turned away, at once and with an answer
for s in held:
    s.settimeout(2 if not refused else 0.2)
    try:
        if s.recv(100).startswith(b"HTTP/1.1 503 "):
            refused += 1
    except OSError:
        pass
open(sys.argv[2], "w").write(str(refused))
time.sleep(600)
PY
	slow=$!
	kz_wait 60 test -s "$KZ_STATE/slow"
	[ "$(cat "$KZ_STATE/slow")" -ge 30 ]
	# a worker's connections are counted for themselves
	[ "$(worker "KZ-EXECUTION $execution\nGET /pypi/simple/six/ HTTP/1.1\r\nHost: 127.0.0.1:8000\r\n\r\n" | head -n 1 | cut -d' ' -f2)" = 401 ]
	kill "$slow"
	wait "$slow" || :
	# and what the slow ones held is free again
	kz_wait 30 eval '[ "$(code "$(url /gateway.json)")" = 200 ]'
	get "$(url /metrics)" | grep -q '^kz_gateway_connections_refused_total [1-9]'
}

@test "BRK-5 a worker gets packages alone, with its line and a token" {
	local path
	[ "$(worker 'GET /pypi/simple/six/ HTTP/1.1\r\nHost: a\r\n\r\n' | head -n 1 | cut -d' ' -f2)" = 400 ]
	[ "$(worker "KZ-EXECUTION ${execution^^}\nGET / HTTP/1.1\r\nHost: a\r\n\r\n" | head -n 1 | cut -d' ' -f2)" = 400 ]
	for path in / /healthz /metrics /keys /status.json /gateway.json; do
		[ "$(worker "KZ-EXECUTION $execution\nGET $path HTTP/1.1\r\nHost: localhost\r\n\r\n" | head -n 1 | cut -d' ' -f2)" = 404 ]
	done
	for path in /pypi/simple/six/ /npm/left-pad /broker/state; do
		[ "$(worker "KZ-EXECUTION $execution\nGET $path HTTP/1.1\r\nHost: 127.0.0.1:8000\r\n\r\n" | head -n 1 | cut -d' ' -f2)" = 401 ]
		[ "$(code "$(url "$path")")" = 401 ]
	done
}

@test "ADM-5 DEP-5 /healthz says what is not well" {
	s6-svc -d "$KZ_STATE/service/kz-proxy"
	kz_wait 20 eval '[ "$(code "$(url /healthz)")" = 503 ]'
	kz_wait 20 eval 'admin /healthz | jq -e ".reasons[] | select(.part == \"kz-proxy\" and .reason == \"not_running\")"'
	admin /healthz | fits health
	s6-svc -u "$KZ_STATE/service/kz-proxy"
	kz_wait 30 is_well
	# the server of the counts stands still: that is told, and ends nothing
	local pid
	pid=$(kz_service_pid valkey)
	kill -STOP "$pid"
	kz_wait 60 eval '! is_well'
	admin /healthz | fits health
	admin /status.json | fits gateway_status
	kill -CONT "$pid"
	kz_wait 60 is_well
}

@test "DEP-5 an address that is taken stops nothing, is told, and is tried again" {
	local taken holder
	taken=$(free_port)
	python3 -c 'import socket, sys, time
s = socket.socket(); s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1); s.bind(("127.0.0.1", int(sys.argv[1]))); s.listen()
time.sleep(600)' "$taken" 3>&- &
	holder=$!
	kz_wait 20 eval "python3 -c 'import socket; socket.create_connection((\"127.0.0.1\", $taken))' 2>/dev/null"
	kz config set KZ_GATEWAY_LISTEN="127.0.0.1:$taken"
	kz_wait 20 eval '! is_listening'
	admin /healthz | jq -e '.ok == false and (.reasons[] | select(.part == "gateway" and .reason == "gateway_listen"))'
	admin /gateway.json | fits gateway
	kz status -j | jq -e --arg at "127.0.0.1:$taken" '.gateway.listen == $at and (.gateway.listening | not) and .gateway.reason == "gateway_listen"'
	kz status | grep -q "^page       NOT at 127.0.0.1:$taken: cannot listen"
	kz_wait 10 grep -q 'warning: .*reason=gateway_listen' "$KZ_STATE/log/kz-gateway/current"
	# the former address is given up
	run ! get "$(url /healthz)"
	kill "$holder"
	wait "$holder" || :
	kz_wait 30 is_listening
	[ "$(code "http://127.0.0.1:$taken/gateway.json")" = 200 ]
	kz config set KZ_GATEWAY_LISTEN=
	kz_wait 20 eval '[ "$(admin /gateway.json | jq -r .listen)" = null ]'
	is_well
	run ! grep -q '^page' <(kz status)
	# where none is wanted from the start nothing is amiss
	started_anew
	is_well
	admin /gateway.json | jq -e '.listen == null and .reason == null and .text == null'
	kz config set KZ_GATEWAY_LISTEN="127.0.0.1:$PORT"
	kz_wait 20 is_listening
}

# Another process than that one, and it listens; between the two there is none.
is_anew() {
	local now
	now=$(service_pid) && [ "$now" != "$1" ] && is_listening
}

@test "INV-30 BRK-2 it starts again when the key of the tokens is replaced, or whoever asks for it dies" {
	local pid asker
	pid=$(service_pid)
	asker=$(pgrep -P "$pid" -x kz-gateway-ask)
	kill "$asker"
	kz_wait 60 is_anew "$pid"
	pid=$(service_pid)
	kz-grant keys --rotate >/dev/null
	kz_wait 60 is_anew "$pid"
	kz_wait 30 eval '[ "$(get "$(url /keys)")" = "$(cat "$KZ_STATE/public/keys.json")" ]'
}
