# When a tunnel ends: expiry, revocation, its run, the limits, a restart of the proxy; and that many tunnels starve nobody.
# weight 74
# shellcheck disable=SC2154,SC2016 # run, kz_run and eg_mint set the variables; programs are quoted on purpose
# bats file_tags=case:root
bats_require_minimum_version 1.5.0
load ../kz
load ../egress

setup_file() {
	# what the proxy and the servers inherit
	ulimit -Sn 20000 && ulimit -Hn 20000 || return 1
	eg_start SANDBOX_WARM_POOL_MIN=1 SANDBOX_POOL_MAX_ALLOCATED=2 KZ_PROXY_HEAD_SECONDS=60 SANDBOX_MAX_WALL_SECONDS=60 || return 1
	eg_mint public_internet
}

teardown_file() {
	eg_stop
}

# Its name is no command that kz.bash uses.
ends() { "$EG_PYTHON" "$EG_HERE/egress/cut.py" "$@"; }

# The process that supervision started as kz-proxy.
proxy_pid() { kz_service_pid kz-proxy; }
proxy_answers() { "$KZ_BIN/kz-grant" scope -j --approve t | jq -e '.effective == "public_internet"' >/dev/null; }
origin_saw() { jq -se "any(.port == $1 and (.what == \"end\" or .what == \"reset\"))" "$EG/origin.log" >/dev/null; }
origin_open() { jq -se "any(.port == $1 and .what == \"open\")" "$EG/origin.log" >/dev/null; }

@test "PROXY-17 a running download of 1 GB is cut within a second of its grant's expiry" {
	eg_mark
	ends expiry "$KZ_STATE"
}

@test "PROXY-17 GRANT-13 it is cut within a second of its revocation; another grant's is not" {
	eg_mark
	ends revoked "$KZ_STATE" "$KZ_BIN/kz-grant" revoke EXECUTION
	kz_wait 5 eg_has_reason grant_revoked
}

@test "PROXY-17 in a run: curl's download of 1 GB ends with the grant's life, the run goes on" {
	local ttl
	# a life within which it had begun
	for ttl in 4 12 25; do
		"$KZ_BIN/kz" config set SANDBOX_EGRESS_TOKEN_TTL_SECONDS=$ttl
		kz_run --approve t -l shell -c 'curl -s -o /dev/null -w "%{size_download}\n" http://web.pub.lab:9006/x/10000000; echo "curl $?"
			curl -s -o /dev/null http://web.pub.lab/hello; echo "later $?"; curl -s -f http://web.pub.lab/hello; echo "code $?"'
		[ "${output%%$'\n'*}" -le 1000000 ] || break
	done
	"$KZ_BIN/kz" config set SANDBOX_EGRESS_TOKEN_TTL_SECONDS=600
	[ "$status" -eq 0 ]
	[ "${output%%$'\n'*}" -gt 1000000 ]
	[ "${output%%$'\n'*}" -lt 1073741824 ]
	[[ $output == *"curl "[1-9]*"later 0"*"code 22"* ]]
	kz_record_is outcome completed
}

@test "PROXY-17 a tunnel ends with its run" {
	eg_mark
	kz_run --approve t -c '
import os, socket, base64, urllib.parse
u = urllib.parse.urlsplit(os.environ["HTTP_PROXY"])
s = socket.create_connection((u.hostname, u.port))
cred = base64.b64encode(f"{u.username}:{u.password}".encode()).decode()
s.sendall(f"CONNECT four.pub.lab:9007 HTTP/1.1\r\nHost: x\r\nProxy-Authorization: Basic {cred}\r\n\r\n".encode())
print(s.recv(100)[:12].decode())
s.sendall(b"abc")
if os.fork() == 0:
    os.setsid()
    while True:
        s.recv(100)
'
	[[ $output == "HTTP/1.1 200"* ]]
	kz_wait 10 origin_open 9007
	kz_wait 10 origin_saw 9007
}

@test "PROXY-17 a reset by the program reaches the server while the run goes on" {
	local job
	eg_mark
	rm -f "$EG/www/flag"
	"$KZ_BIN/kz-run" --approve t -c '
import base64, os, socket, struct, time, urllib.parse, urllib.request
u = urllib.parse.urlsplit(os.environ["HTTP_PROXY"])
s = socket.create_connection((u.hostname, u.port))
cred = base64.b64encode(f"{u.username}:{u.password}".encode()).decode()
s.sendall(f"CONNECT four.pub.lab:9007 HTTP/1.1\r\nHost: x\r\nProxy-Authorization: Basic {cred}\r\n\r\n".encode())
print(s.recv(100)[9:12].decode(), flush=True)
s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
s.close()
while True:
    try:
        print(urllib.request.urlopen("http://web.pub.lab/flag").read().decode(), flush=True)
        break
    except OSError:
        time.sleep(0.1)' >"$EG/out" 2>"$EG/err" 3>&- &
	job=$!
	kz_wait 20 origin_open 9007
	kz_wait 5 origin_saw 9007
	kill -0 "$job"
	echo "the flag" >"$EG/www/flag"
	wait "$job"
	[ "$(head -n 2 "$EG/out")" = "$(printf '200\nthe flag')" ]
}

@test "GRANT-2 the grant of one run is worth nothing in another, while it lives" {
	kz_run --approve t -l shell -c 'echo $HTTP_PROXY'
	local stolen=$output
	[[ $stolen == http://grant:v4.public.*@127.0.0.1:3128 ]]
	kz_run --approve t -e "STOLEN=$stolen" -l shell -c 'curl -s -o /dev/null -w "%{http_code}" -x "$STOLEN" http://web.pub.lab/hello; curl -s -o /dev/null -w " %{http_code}" http://web.pub.lab/hello'
	[ "$output" = "403 200" ]
	kz_wait 5 eg_has_reason grant_foreign
}

@test "GRANT-14 without an approval there is no way to the proxy, even with a grant" {
	kz_run --approve t -l shell -c 'echo $HTTP_PROXY'
	kz_run -e "STOLEN=$output" -l shell -c 'curl -s -o /dev/null -w "%{http_code}" -x "$STOLEN" http://web.pub.lab/hello; ls /run/kz 2>/dev/null; find / -name proxy.sock 2>/dev/null'
	[ "$output" = 000 ]
}

@test "PROXY-19 so many tunnels of one grant and no more; another's are served" {
	eg_set KZ_PROXY_TUNNELS_PER_GRANT=20
	ends limit "$KZ_STATE" 20
	kz_wait 5 eg_has_reason tunnel_limit
	eg_set KZ_PROXY_TUNNELS_PER_GRANT=256
}

@test "PROXY-19 a head that does not come, an answer that does not begin, and a tunnel without a byte end in their time" {
	# one bound at a time: what another one is asked about may be slow meanwhile
	eg_set KZ_PROXY_HEAD_SECONDS=1
	eg_probe slow_head 1
	kz_wait 5 eg_has_reason head_timeout
	eg_set KZ_PROXY_HEAD_SECONDS=60 KZ_PROXY_FIRST_BYTE_SECONDS=1
	ends first "$KZ_STATE" 1
	eg_set KZ_PROXY_FIRST_BYTE_SECONDS=60 KZ_PROXY_IDLE_SECONDS=10
	ends idle "$KZ_STATE" 10
	eg_set KZ_PROXY_IDLE_SECONDS=300
}

@test "PROXY-19 lookups and dials of one grant that are never answered hold up no other" {
	eg_set KZ_PROXY_CONNECT_SECONDS=30
	ends unresolved "$KZ_STATE" 200
	eg_set KZ_PROXY_CONNECT_SECONDS=15
}

@test "PROXY-17 AUD-6 a lookup or a dial that its grant's end interrupts is recorded as that" {
	eg_mark
	eg_set KZ_PROXY_CONNECT_SECONDS=60
	ends late "$KZ_STATE"
	eg_set KZ_PROXY_CONNECT_SECONDS=15
	kz_wait 5 eg_is_denied grant_expired silent.odd.lab 443
	kz_wait 5 eg_is_denied grant_expired dead.odd.lab 8443
}

@test "PROXY-19 names of one grant that are looked up at once have a bound, and all have one; the refusal tells nothing" {
	eg_set KZ_PROXY_CONNECT_SECONDS=120
	ends names "$KZ_STATE" 64 2048 "$(proxy_pid)"
	eg_set KZ_PROXY_CONNECT_SECONDS=15
	kz_wait 5 eg_is_denied name_limit four.pub.lab 9004
}

@test "PROXY-19 streams that nobody reads hold their servers back, and fill nothing" {
	ends unread "$KZ_STATE" 100 "$(proxy_pid)"
}

@test "PROXY-19 8,000 idle tunnels and 100 slow clients under 20,000 descriptors: one more is served" {
	# who may raise the limit has done so
	[ "$(limit_of_proxy)" -le 20000 ] || prlimit --pid "$(proxy_pid)" --nofile=20000:20000
	[ "$(limit_of_proxy)" -eq 20000 ]
	ends many "$KZ_STATE" 8000 100 "$(proxy_pid)"
	# and all of it is given back
	kz_wait 20 proxy_is_small
}
limit_of_proxy() { awk '/open files/ { print $5 }' "/proc/$(proxy_pid)/limits"; }
proxy_is_small() { [ "$(find "/proc/$(proxy_pid)/fd" -mindepth 1 2>/dev/null | wc -l)" -lt 200 ]; }

@test "PROXY-11 a restart of the proxy ends its tunnels, and the same run reaches the new one" {
	local job old
	eg_mark
	rm -f "$EG/www/flag"
	"$KZ_BIN/kz-run" --approve t -l shell -c 'curl -s http://web.pub.lab/hello
		curl -s -o /dev/null http://web.pub.lab:9006/x/1000000; echo "stream $?"
		until curl -s -f http://web.pub.lab/flag; do sleep 0.1; done' >"$EG/out" 2>"$EG/err" 3>&- &
	job=$!
	kz_wait 20 origin_open 9006
	old=$(proxy_pid)
	s6-svc -r "$KZ_STATE/service/kz-proxy"
	kz_wait 10 proxy_is_new "$old"
	echo "the flag" >"$EG/www/flag"
	wait "$job"
	[ "$(sed -n 1p "$EG/out")" = "the internet says hello" ]
	grep -q '^stream [1-9]' "$EG/out"
	[ "$(tail -n 1 "$EG/out")" = "the flag" ]
}
proxy_is_new() { [ -n "$(proxy_pid)" ] && [ "$(proxy_pid)" != "$1" ]; }

@test "PROXY-11 a kill of the proxy in the middle of tunnels: the next one serves" {
	local old
	eg_mark
	"$EG_PYTHON" "$EG_HERE/egress/cut.py" hold >"$EG/hold" 3>&- &
	local job=$!
	kz_wait 10 origin_open 9006
	old=$(proxy_pid)
	kill -KILL "$old"
	wait $job
	[ "$(cat "$EG/hold")" -ge 0 ]
	kz_wait 10 proxy_is_new "$old"
	kz_wait 10 proxy_answers
	run -0 eg_ask connect web.pub.lab:443
	[ "$output" = "200 web.pub.lab:443" ]
}
