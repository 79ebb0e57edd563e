#!/usr/bin/env bats
# kz-proxy as a service: what it leaves behind, what it tells, what it picks up without a restart, how it ends.
# bats file_tags=case:root

bats_require_minimum_version 1.5.0
load ../kz
load ../egress

setup_file() {
	export EG_HERE
	# a laboratory that stands still for a moment is no destination that cannot be reached
	eg_start SANDBOX_WARM_POOL_MIN=0 KZ_PROXY_CONNECT_SECONDS=20 || return 1
	eg_mint public_internet
	export EG_OTHER_GRANT=$EG_GRANT EG_OTHER=$EG_EXECUTION # to be revoked
}

teardown_file() { eg_stop; }

# a test may change the key
setup() { eg_mint public_internet; }
teardown() { [ ! -s "$EG/tcp.pid" ] || kill "$(cat "$EG/tcp.pid")" 2>/dev/null || :; }

service_pid() { kz_service_pid kz-proxy; }
health() { curl -s -m 20 --unix-socket "$KZ_STATE/run/proxy-health.sock" http://kz/v1/health; }
is_ready() { health | jq -e .ready >/dev/null; }
is_not_ready() { health | jq -e '.ready | not' >/dev/null; }
status_of() { eg_ask connect "$1" | cut -d' ' -f1; }
reaches() { [ "$(status_of "$1")" = 200 ]; }
is_refused() { [ "$(status_of "$1")" = 403 ]; }

@test "PROXY-9 INV-30 it is a user of its own without any right, and cannot sign" {
	local pid base
	pid=$(service_pid)
	base=$("$KZ_BIN/kz" config show -j KZ_UID_BASE | jq -r .value)
	run -0 awk '/^(Uid|Cap[A-Z]|NoNewPrivs|Groups|Seccomp:)/ { print $1, $2 $3 $4 $5 }' "/proc/$pid/status"
	grep -qx "Uid: $((base - 1))$((base - 1))$((base - 1))$((base - 1))" <<<"$output"
	grep -qx 'NoNewPrivs: 1' <<<"$output"
	# it makes no Unix socket any more, executes nothing and signals nobody
	grep -qx 'Seccomp: 2' <<<"$output"
	grep -qx 'Groups: ' <<<"$output"
	run ! grep -q '^Cap[A-Za-z]*: .*[1-9a-f]' <<<"$output"
	run ! grep -qE 'kz_token_sign|kz_sign_public|kz_grant_mint|kz_keys_read|kz_vk_' <(nm "$KZ_BIN/kz-proxy")
}

@test "PROXY-9 INV-30 of the files it sees the public ones, the settings, the audit and /etc" {
	local root
	root=/proc/$(service_pid)/root
	[ "$(find "$root/" -mindepth 1 -maxdepth 1 -printf '%f\n' | sort | tr '\n' ' ')" = "etc tmp " ] # the state is in /tmp
	[ "$(find "$root$KZ_STATE" -mindepth 1 -maxdepth 1 -printf '%f\n' | sort | tr '\n' ' ')" = "audit env public " ]
	[ ! -e "$root$KZ_STATE/keys" ]
	# what is shown for reading cannot be written, whoever writes
	run ! touch "$root$KZ_STATE/env/X" "$root$KZ_STATE/public/X" "$root/etc/X" "$root/X"
	[ ! -e "$KZ_STATE/env/X" ]
	[ ! -e /etc/X ]
}

@test "RT-10 workers see one socket, and the health socket is for the callers' group" {
	[ "$(stat -c '%a %F' "$KZ_STATE/run/proxy" "$KZ_STATE/run/proxy/proxy.sock")" = "711 directory"$'\n'"666 socket" ]
	[ "$(ls -A "$KZ_STATE/run/proxy")" = proxy.sock ]
	[ "$(stat -c %a "$KZ_STATE/run/proxy-health.sock")" = 660 ]
}

@test "GRANT-7 GRANT-8 health tells its keys, its revocations and counts; a silent client holds nobody up" {
	local silent
	"$EG_PYTHON" -c "import socket, time, sys
s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1]); print('there', flush=True); time.sleep(60)" \
		"$KZ_STATE/run/proxy-health.sock" >"$EG/silent" 3>&- &
	silent=$!
	kz_wait 10 grep -q there "$EG/silent"
	run -0 health
	kill "$silent"
	jq -e '.v == 1 and .ready and .revocation_serial > 0 and (.connections | type) == "number"' <<<"$output"
	[ "$(jq -r '.kids[0]' <<<"$output")" = "$(jq -r '.grant[0].kid' "$KZ_STATE/public/keys.json")" ]
	[ "$(curl -s -o /dev/null -w '%{http_code}' --unix-socket "$KZ_STATE/run/proxy-health.sock" http://kz/other)" = 404 ]
	[ "$(curl -s -o /dev/null -w '%{http_code}' -d x --unix-socket "$KZ_STATE/run/proxy-health.sock" http://kz/v1/health)" = 400 ]
	"$KZ_BIN/kz" status -j | jq -e '.services[] | select(.service == "kz-proxy" and .state == "ready")'
	kz_wait 10 eval '"$KZ_BIN/kz" logs kz-proxy | grep -q "kz-proxy: info: serving"'
}

@test "PROXY-12 PROXY-15 INV-33 whatever the reason, a refusal is the same bytes" {
	run -0 "$EG_PYTHON" - "$KZ_STATE" <<-'END'
		import os, subprocess, sys
		sys.path.insert(0, os.environ["EG_HERE"] + "/egress")
		import mint, proxy
		state = sys.argv[1]

		def show(what, head, grant=None, execution=None):
		    with proxy.Conn(execution) as c:
		        c.send(head)
		        got[what] = c.rest()
		got = {}
		for name in ("127.0.0.1:443", "10.1.2.3:443", "169.254.169.254:80", "[::1]:80", "[fe80::1]:80", "93.184.216.99:443",
		             "single:443", "a.local:443", "nothing.pub.lab:443", "web.priv.lab:443", "servfail.odd.lab:443",
		             "mixed.odd.lab:443", "web.pub.lab:22", "224.0.0.1:443", "[2002::1]:443", "four.pub.lab:8999"):
		    show(name, proxy.connect_head(name))
		    show("GET " + name, proxy.get_head("http://" + name + "/"))
		token, execution = mint.grant(state, "public_internet", ports=[443, 4444])
		show("nobody listens", proxy.connect_head("four.pub.lab:4444", grant=token), execution=execution)
		show("nobody answers", proxy.connect_head("93.184.216.1:443", grant=token), execution=execution)
		show("another execution", proxy.connect_head("four.pub.lab:443", grant=token), execution="0" * 32)
		# a worker's own ports, loopback and what stands beside a machine, with a grant that has these ports
		token, execution = mint.grant(state, "public_internet", ports=[80, 8080, 8091])
		for name in ("127.0.0.1:8091", "127.9.9.9:8080", "localhost:8091", "[::1]:8080", "[::ffff:127.0.0.1]:8091", "0.0.0.0:8091",
		             "169.254.1.1:8091", "[fe80::1]:8091", "169.254.169.254:80", "[fd00:ec2::254]:80"):
		    show("granted " + name, proxy.connect_head(name, grant=token), execution=execution)
		    show("granted GET " + name, proxy.get_head("http://" + name + "/", grant=token), execution=execution)
		token, execution = mint.grant(state, "host_allowlist", hosts=["web.pub.lab"])
		show("another host", proxy.connect_head("four.pub.lab:443", grant=token), execution=execution)
		show("a literal", proxy.connect_head("93.184.216.34:443", grant=token), execution=execution)
		token, execution = mint.grant(state, "public_internet", uid_base=5)
		show("another user", proxy.connect_head("four.pub.lab:443", grant=token), execution=execution)
		show("no token", proxy.connect_head("four.pub.lab:443", grant="v4.public.x"))
		import json, time
		revoked = subprocess.run([os.environ["KZ_BIN"] + "/kz-grant", "revoke", "-j", os.environ["EG_OTHER"]], check=True, stdout=subprocess.PIPE)
		serial, until = json.loads(revoked.stdout)["serial"], time.monotonic() + 60
		ask = ["curl", "-s", "--unix-socket", state + "/run/proxy-health.sock", "http://proxy/v1/health"]
		while json.loads(subprocess.run(ask, stdout=subprocess.PIPE).stdout or "{}").get("revocation_serial") != serial:
		    assert time.monotonic() < until, "the proxy never read the revocation"
		    time.sleep(0.1)
		show("revoked", proxy.connect_head("four.pub.lab:443", grant=os.environ["EG_OTHER_GRANT"]), execution=os.environ["EG_OTHER"])
		answers = set(got.values())
		for what, answer in got.items():
		    if not answer.startswith(b"HTTP/1.1 403 ") or len(answers) > 1:
		        print(what, answer)
		assert len(answers) == 1, answers
		print(len(got), "refusals")
	END
	[ "${output%% *}" -ge 20 ]
}

@test "PROXY-11 a changed field key is picked up without a restart, and grants by the former fail" {
	local pid old old_execution
	pid=$(service_pid)
	reaches web.pub.lab:443
	old=$EG_GRANT old_execution=$EG_EXECUTION
	head -c 32 /dev/urandom | od -An -tx1 | tr -d ' \n' >"$KZ_STATE/keys/field.key.new"
	chmod 600 "$KZ_STATE/keys/field.key.new"
	mv "$KZ_STATE/keys/field.key.new" "$KZ_STATE/keys/field.key"
	kz up --state "$KZ_STATE"
	# at once: an unknown key makes the proxy look again
	eg_mint public_internet
	reaches web.pub.lab:443
	EG_GRANT=$old EG_EXECUTION=$old_execution is_refused web.pub.lab:443
	[ "$(service_pid)" = "$pid" ]
	kz_wait 5 eg_is_denied grant_key_unknown web.pub.lab 443
}

@test "PROXY-10 without keys everything is refused; with them it goes on" {
	local pid
	pid=$(service_pid)
	mv "$KZ_STATE/public/keys.json" "$KZ_STATE/keys.aside"
	kz_wait 10 is_not_ready
	is_refused web.pub.lab:443
	kz_wait 5 eg_has_reason keys_missing
	[ "$(health | jq '.kids | length')" -eq 0 ]
	echo '{"v":1}' >"$KZ_STATE/public/keys.json"
	kz_wait 10 is_refused web.pub.lab:443
	mv "$KZ_STATE/keys.aside" "$KZ_STATE/public/keys.json"
	kz_wait 10 is_ready
	reaches web.pub.lab:443
	[ "$(service_pid)" = "$pid" ]
}

@test "GRANT-13 without revocations everything is refused" {
	mv "$KZ_STATE/public/revoked" "$KZ_STATE/revoked.aside"
	kz_wait 10 is_refused web.pub.lab:443
	kz_wait 5 eg_has_reason revocation_invalid
	mv "$KZ_STATE/revoked.aside" "$KZ_STATE/public/revoked"
	kz_wait 10 reaches web.pub.lab:443
}

@test "AUD-6 the same refusal in a moment is one row with a count" {
	mapfile -t forty < <(yes 169.254.169.254:80 | head -n 40)
	eg_ask connect "${forty[@]}" >/dev/null
	# of this grant: rows of what was refused before may still be on their way
	counts() { "$KZ_BIN/kz-audit" list -j -k denial | jq --arg x "$EG_EXECUTION" 'select(.reason == "address_metadata") | .egress[0] | select(.execution == $x).count'; }
	has_40() { [ "$(counts | jq -s 'add // 0')" -eq 40 ]; }
	kz_wait 10 has_40
	[ "$(counts | wc -l)" -lt 40 ]
	"$KZ_BIN/kz-audit" verify
}

@test "PROXY-13 what the head of a request, or the list of a grant, is refused for is in the audit by its own reason" {
	local reason
	denied() { eg_denials | grep -c "^$1 "; }
	answer() { printf 'GET %s HTTP/1.1\r\nHost: %s\r\nProxy-Authorization: Bearer %s\r\n%s\r\n' "$1" "$2" "$EG_GRANT" "$3" | eg_ask raw | head -n 1; }
	declare -A before=()
	for reason in head_too_large request_unsupported host_mismatch host_not_allowed literal_not_allowed; do
		before[$reason]=$(denied $reason || :)
	done
	[[ $(answer http://web.pub.lab/ web.pub.lab "X: $(printf 'x%.0s' {1..70000})"$'\r\n') == *" 431 "* ]]
	[[ $(answer ftp://web.pub.lab/ web.pub.lab '') == *" 501 "* ]]
	[[ $(answer http://web.pub.lab/ four.pub.lab '') == *" 400 "* ]]
	eg_mint host_allowlist 'hosts=["web.pub.lab"]'
	is_refused four.pub.lab:443
	is_refused 93.184.216.34:443
	has_more() { [ "$(denied "$1")" -gt "${before[$1]}" ]; }
	for reason in "${!before[@]}"; do
		kz_wait 10 has_more "$reason"
	done
}

@test "POL-6 an address that this machine gets while it runs is refused" {
	reaches 93.184.216.98:443
	eg_inside ip addr add 93.184.216.98/32 dev lo
	kz_wait 20 is_refused_as_self
	eg_inside ip addr del 93.184.216.98/32 dev lo
	kz_wait 10 reaches 93.184.216.98:443
}

# by another reason at first: nobody listens there
is_refused_as_self() { is_refused 93.184.216.98:443 && eg_is_denied address_self 93.184.216.98 443; }

@test "PROXY-6 other name servers are asked from the next name on, without a restart" {
	eg_mark
	reaches web.pub.lab:443
	[ -n "$(eg_asked)" ]
	eg_set KZ_EGRESS_RESOLVERS=198.51.100.54:53
	# whatever waits in its queue is in its log once this one is answered
	kz_wait 10 eg_inside "$EG_PYTHON" "$EG_HERE/egress/ask.py" resolve 198.51.100.53 pub4.odd.lab
	eg_mark
	reaches web.pub.lab:443
	[ "$(jq -r .name "$EG/dns.log" | grep -vx pub4.odd.lab | sort -u)" = "" ]
	eg_set KZ_EGRESS_RESOLVERS=nonsense.example
	is_refused web.pub.lab:443
	eg_set KZ_EGRESS_RESOLVERS=198.51.100.53
	reaches web.pub.lab:443
}

@test "PROXY-1 a second one is refused, and disturbs nothing" {
	local rc=0
	eg_inside timeout 60 "$KZ_BIN/kz-proxy" 2>"$EG/second" || rc=$?
	[ "$rc" -eq 73 ]
	reaches web.pub.lab:443
}

@test "PROXY-1 after a kill the next one serves, at the same place" {
	local pid
	pid=$(service_pid)
	kill -KILL "$pid"
	kz_wait 20 is_another "$pid"
	kz_wait 20 is_ready
	reaches web.pub.lab:443
}
is_another() { [ -n "$(service_pid)" ] && [ "$(service_pid)" != "$1" ]; }

@test "GRANT-2 by TCP only a grant that names no worker is taken" {
	local pid
	s6-svc -wD -T 60000 -d "$KZ_STATE/service/kz-proxy"
	nsenter --net="/run/netns/$EG_NAME-in" "$KZ_BIN/kz-proxy" -N 9 -l 198.18.0.1:3128 9>"$EG/tcp.ready" 2>"$EG/tcp.err" 3>&- &
	pid=$!
	echo "$pid" >"$EG/tcp.pid"
	kz_wait 10 test -s "$EG/tcp.ready"
	run -0 eg_inside env EG_SOCK=198.18.0.1:3128 "$EG_PYTHON" "$EG_HERE/egress/ask.py" connect web.pub.lab:443
	[ "$output" = "403 web.pub.lab:443" ]
	read -r grant execution < <("$EG_PYTHON" "$EG_HERE/egress/mint.py" "$KZ_STATE" public_internet uid_base=0 uid_count=0)
	run -0 eg_inside env EG_SOCK=198.18.0.1:3128 EG_GRANT="$grant" EG_EXECUTION="$execution" \
		"$EG_PYTHON" "$EG_HERE/egress/ask.py" connect web.pub.lab:443 127.0.0.1:443
	[ "$output" = "200 web.pub.lab:443"$'\n'"403 127.0.0.1:443" ]
	kill "$pid"
	wait "$pid"
	rm "$EG/tcp.pid"
	s6-svc -wU -T 60000 -u "$KZ_STATE/service/kz-proxy"
	reaches web.pub.lab:443
	kz_wait 5 eg_is_denied grant_foreign web.pub.lab 443
}

@test "PROXY-1 TERM: nobody new, a short while for who is there, then the end with 0" {
	"$EG_PYTHON" - "$(service_pid)" "$KZ_STATE" <<-'END'
		import os, signal, sys, time
		sys.path.insert(0, os.environ["EG_HERE"] + "/egress")
		import proxy
		pid = int(sys.argv[1])
		assert pid > 1, "there is no proxy"
		c = proxy.tunnel("four.pub.lab:9001")
		c.send(b"a")
		assert c.exactly(1) == b"a"
		told = time.monotonic()
		os.kill(pid, signal.SIGTERM)
		time.sleep(0.5)
		c.send(b"b")
		try:
		    # five seconds it has
		    assert c.exactly(1) == b"b" or time.monotonic() - told > 4.9, "an open tunnel ended at once"
		    assert c.rest() == b""
		except proxy.Reset:
		    assert time.monotonic() - told > 4.9, "an open tunnel was reset at once"
	END
	kz_wait 20 is_ready
	reaches web.pub.lab:443
}

@test "PROXY-1 a wrong option is a usage error" {
	run -64 "$KZ_BIN/kz-proxy" -x
	run -64 "$KZ_BIN/kz-proxy" -N 1
	run -69 env KZ_STATE="$EG/nowhere" "$KZ_BIN/kz-proxy"
}
