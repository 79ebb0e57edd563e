# What is refused, and who is told what: grants that are not good, configurations that cannot be held, a proxy that is not
# weight 65
# there.  The operator has the reason; the sandbox has one answer, or nothing at all.
# shellcheck disable=SC2154,SC2016 # run, kz_run and eg_mint set the variables; programs are quoted on purpose
# bats file_tags=case:root
bats_require_minimum_version 1.5.0
load ../kz
load ../egress

setup_file() {
	eg_start SANDBOX_WARM_POOL_MIN=1 SANDBOX_POOL_MAX_ALLOCATED=2 || return 1
	eg_mint public_internet
	cp -a "$KZ_STATE/env" "$EG/env"
}

teardown_file() {
	eg_stop
}

setup() {
	policy_back
	if [ ! -e "$EG/nothing" ]; then
		kz_run -l shell -c "$LOOK"
		echo "$output" >"$EG/nothing"
	fi
}

# The policy as kz up wrote it.
policy_back() {
	local file
	for file in "$EG"/env/SANDBOX_EGRESS_* "$EG"/env/KZ_EGRESS_* "$EG"/env/KZ_PROXY_URL "$EG"/env/KZ_INSTALL_VINTAGE; do
		cp -a "$file" "$KZ_STATE/env/.new.$$" && mv "$KZ_STATE/env/.new.$$" "$KZ_STATE/env/${file##*/}"
	done
}

# absent NAME: as if it had never been set
absent() { rm "$KZ_STATE/env/$1"; }
set_to() { "$KZ_BIN/kz" config set "$1=$2"; }

# What a program can see of the network: the same whenever there is no grant.
LOOK='env | grep -ic proxy; tail -n +2 /proc/net/tcp | wc -l; curl -s -m 60 -o /dev/null http://web.pub.lab/hello; echo $?; curl -s -m 60 -o /dev/null -x http://127.0.0.1:3128 http://web.pub.lab/hello; echo $?; ls -d /run/kz /proc/1/root/run/kz 2>/dev/null'

# same WHAT IS WANT
same() {
	[ "$2" = "$3" ] || {
		echo "$1 is '$2', not '$3'" >&2
		return 1
	}
}

# is_isolated REASON: the run has no network, and the record and kz-grant scope say why.
is_isolated() {
	eg_mark
	kz_run --approve t -l shell -c "$LOOK"
	echo "status $status: $error"
	same "what the program sees" "$output" "$(cat "$EG/nothing")" &&
		same "the record's effective mode" "$(kz_record egress.effective)" none &&
		same "the record's reason" "$(kz_record egress.reason)" "$1" &&
		same "the record's execution" "$(kz_record egress.execution)" null &&
		same "what was asked" "$(eg_asked)" "" &&
		same "what was tried" "$(eg_tried)" "" &&
		same "kz-grant scope" "$("$KZ_BIN/kz-grant" scope -j --approve t | jq -r .reason)" "$1"
}

@test "INV-33 GRANT-10 a hundred grants that are not good: one answer, no lookup, no dial" {
	eg_mark
	run "$EG_PYTHON" "$EG_HERE/egress/refusals.py" "$KZ_STATE"
	[ "$status" -eq 0 ] || {
		echo "$output" >&2
		return 1
	}
	[[ ${lines[-1]} =~ ^([0-9]+)\ grants && ${BASH_REMATCH[1]} -ge 90 ]]
	# the good one at the beginning asked and dialled; nobody else did
	[ "$(eg_asked | sort -u)" = "$(printf 'four.pub.lab 1\nfour.pub.lab 28')" ]
	[ "$(eg_tried)" = "tcp 93.184.216.34 9004" ]
}

@test "PROXY-13 each of them has its own reason in the audit" {
	has_all() {
		eg_denials | sort -u >"$EG/denials"
		[ -z "$(sort -u "$EG/expected" | comm -23 - "$EG/denials" | tee "$EG/lacking")" ]
	}
	kz_wait 20 has_all || {
		while read -r reason host _; do
			echo "$(grep "^$host " "$EG/cases"): $reason, not $(grep " $host " "$EG/denials")" >&2
		done <"$EG/lacking"
		return 1
	}
}

@test "GRANT-11 a grant that begins within the tolerance of clocks is taken" {
	eg_mint public_internet --past=-20
	run -0 eg_ask connect four.pub.lab:9004
	[ "$output" = "200 four.pub.lab:9004" ]
	eg_mint public_internet --past=-45
	run -0 eg_ask connect four.pub.lab:9004
	[ "$output" = "403 four.pub.lab:9004" ]
}

@test "INV-31 two grants of the same run have executions of their own, and both say no more than four hours" {
	local one
	one=$("$KZ_BIN/kz-audit" list -j | jq -r 'select(.kind == "grant") | .execution' | wc -l)
	kz_run --approve t -c 'import os; print(os.environ["HTTP_PROXY"])'
	local first=$output
	kz_run --approve t -c 'import os; print(os.environ["HTTP_PROXY"])'
	[ "$first" != "$output" ]
	[ "$("$KZ_BIN/kz-audit" list -j | jq -r 'select(.kind == "grant") | .execution' | sort -u | wc -l)" -eq $((one + 2)) ]
}

@test "POL-9 to POL-13, POL-21 each configuration that cannot be held: isolated, with its reason" {
	is_isolated_by() {
		local reason=$1 name=$2
		shift 2
		if [ $# -gt 0 ]; then set_to "$name" "$1"; else absent "$name"; fi
		is_isolated "$reason" || {
			echo "$name=${1-absent}" >&2
			return 1
		}
		policy_back
	}
	is_isolated_by egress_disabled SANDBOX_EGRESS_ENABLED false
	is_isolated_by egress_disabled SANDBOX_EGRESS_ENABLED
	is_isolated_by egress_disabled SANDBOX_EGRESS_ENABLED TRUE
	is_isolated_by mode_unknown SANDBOX_EGRESS_MODE public
	is_isolated_by mode_unknown SANDBOX_EGRESS_MODE
	is_isolated_by mode_unknown SANDBOX_EGRESS_MODE PUBLIC_INTERNET
	is_isolated_by mode_isolated SANDBOX_EGRESS_MODE isolated
	is_isolated_by ports_unusable SANDBOX_EGRESS_ALLOWED_PORTS
	is_isolated_by ports_unusable SANDBOX_EGRESS_ALLOWED_PORTS 80,443,0
	is_isolated_by ports_unusable SANDBOX_EGRESS_ALLOWED_PORTS 80,443,https
	is_isolated_by ports_unusable SANDBOX_EGRESS_ALLOWED_PORTS 80,,443
	is_isolated_by ports_unusable SANDBOX_EGRESS_ALLOWED_PORTS 80-443
	is_isolated_by ttl_unusable SANDBOX_EGRESS_TOKEN_TTL_SECONDS 0
	is_isolated_by ttl_unusable SANDBOX_EGRESS_TOKEN_TTL_SECONDS -1
	is_isolated_by ttl_unusable SANDBOX_EGRESS_TOKEN_TTL_SECONDS 10m
	is_isolated_by deny_unusable KZ_EGRESS_DENY_CIDRS 10.0.0.1/8
	is_isolated_by proxy_unset KZ_PROXY_URL
}

@test "POL-13 an empty or malformed list of the mode: isolated" {
	set_to SANDBOX_EGRESS_MODE host_allowlist
	absent SANDBOX_EGRESS_HOST_ALLOWLIST || :
	is_isolated hosts_unusable
	for list in '*.pub.lab' 'web.pub.lab,' 'web.pub.lab:80' 'http://web.pub.lab'; do
		set_to SANDBOX_EGRESS_HOST_ALLOWLIST "$list"
		is_isolated hosts_unusable
	done
	set_to SANDBOX_EGRESS_MODE private_network
	for list in 10.0.0.1/8 10.0.0.0 0.0.0.0/0 10.0.0.0/8,8.8.8.0/24 127.0.0.0/8 169.254.0.0/16; do
		set_to SANDBOX_EGRESS_PRIVATE_CIDRS "$list"
		is_isolated cidrs_unusable
	done
	absent SANDBOX_EGRESS_PRIVATE_CIDRS
	is_isolated cidrs_unusable
}

@test "POL-11 GRANT-7 without a field key: isolated" {
	mv "$KZ_STATE/keys/field.key" "$KZ_STATE/keys/field.off"
	mv "$KZ_STATE/keys/grant.key" "$KZ_STATE/keys/grant.off"
	is_isolated field_key_missing || bad=1
	mv "$KZ_STATE/keys/field.off" "$KZ_STATE/keys/field.key"
	mv "$KZ_STATE/keys/grant.off" "$KZ_STATE/keys/grant.key"
	[ -z "${bad:-}" ]
}

@test "GRANT-8 PROXY-10 a proxy that holds no keys: no grant, and it refuses what it is shown" {
	mv "$KZ_STATE/public/keys.json" "$KZ_STATE/public/keys.off"
	s6-svc -wr -T 60000 -r "$KZ_STATE/service/kz-proxy"
	keyless() { "$KZ_BIN/kz-grant" scope -j --approve t | jq -e '.reason == "proxy_keyless"' >/dev/null; }
	kz_wait 10 keyless || bad=1
	is_isolated proxy_keyless || bad=1
	eg_mint public_internet
	run -0 eg_ask connect web.pub.lab:443
	[ "$output" = "403 web.pub.lab:443" ] || bad=1
	kz_wait 5 eg_has_reason keys_missing || bad=1
	mv "$KZ_STATE/public/keys.off" "$KZ_STATE/public/keys.json"
	[ -z "${bad:-}" ]
	# and with keys again it serves, without a restart
	serves() { [ "$(eg_ask connect web.pub.lab:443)" = "200 web.pub.lab:443" ]; }
	kz_wait 5 serves
}

@test "GRANT-7 a proxy that is not there: isolated" {
	s6-svc -wD -T 60000 -d "$KZ_STATE/service/kz-proxy"
	is_isolated proxy_unreachable || bad=1
	s6-svc -wu -T 60000 -u "$KZ_STATE/service/kz-proxy"
	[ -z "${bad:-}" ]
	ready() { kz_run --approve t -c 1 && [ "$(kz_record egress.effective)" = public_internet ]; }
	kz_wait 10 ready
}

@test "GRANT-13 PROXY-11 a revocation file that does not verify closes the proxy; the right one opens it" {
	eg_mint public_internet
	run -0 eg_ask connect web.pub.lab:443
	[ "$output" = "200 web.pub.lab:443" ]
	cp -a "$KZ_STATE/public/revoked" "$EG/revoked"
	sed 's/./x/60' "$EG/revoked" >"$KZ_STATE/public/.new"
	! cmp -s "$EG/revoked" "$KZ_STATE/public/.new" || sed 's/./y/60' "$EG/revoked" >"$KZ_STATE/public/.new"
	mv "$KZ_STATE/public/.new" "$KZ_STATE/public/revoked"
	closed() { [ "$(eg_ask connect web.pub.lab:443)" = "403 web.pub.lab:443" ]; }
	opened() { [ "$(eg_ask connect web.pub.lab:443)" = "200 web.pub.lab:443" ]; }
	kz_wait 5 closed
	kz_wait 5 eg_has_reason revocation_invalid
	cp -a "$EG/revoked" "$KZ_STATE/public/.new"
	mv "$KZ_STATE/public/.new" "$KZ_STATE/public/revoked"
	kz_wait 5 opened
	local till
	till=$(($(date +%s) + 5))
	"$KZ_BIN/kz-grant" revoke --before "$(date -u -d "@$till" +%Y-%m-%dT%H:%M:%SZ)"
	kz_wait 5 closed
	kz_wait 5 eg_has_reason grant_revoked
	# an older file is not taken again
	cp -a "$EG/revoked" "$KZ_STATE/public/.new"
	mv "$KZ_STATE/public/.new" "$KZ_STATE/public/revoked"
	eg_taken
	closed
	until [ "$(date +%s)" -gt "$till" ]; do sleep 0.2; done
	"$KZ_BIN/kz-grant" revoke "$(printf 'a%.0s' {1..32})" || :
	eg_mint public_internet
	kz_wait 5 opened
}

@test "PROXY-14 the audit has reason, host and port; no path, query, user-info, address or token" {
	eg_mint public_internet
	eg_ask get http://priv.odd.lab/SECRETPATH?q=SECRETQUERY http://user:SECRETWORD@web.pub.lab/x http://web.pub.lab:22/SECRETPATH http://loop.odd.lab/SECRETPATH
	eg_ask connect priv.odd.lab:8443 mixed.odd.lab:443 "SECRET@web.pub.lab:443"
	kz_wait 5 eg_is_denied address_private priv.odd.lab 8443
	kz_wait 5 eg_is_denied port_not_allowed web.pub.lab 22
	"$KZ_BIN/kz-audit" list -j >"$EG/audit"
	cat "$KZ_STATE"/log/*/current >>"$EG/audit"
	run ! grep -E 'SECRET|v4\.public\.|10\.1\.2\.3' "$EG/audit"
	kz_nowhere -E 'SECRET|v4\.public\.ey|10\.1\.2\.3' "$KZ_STATE/audit" "$KZ_STATE/log"
	kz_nowhere -F "$grant" "$KZ_STATE"
	"$KZ_BIN/kz-audit" verify
}

@test "PROXY-13 the same refusal many times within a second is one row with a count" {
	eg_mint public_internet
	local asks=()
	for _ in {1..50}; do asks+=(often.pub.lab:25); done
	eg_ask connect "${asks[@]}" >"$EG/often"
	[ "$(grep -c '^403' "$EG/often")" -eq 50 ]
	counted() {
		local rows
		rows=$("$KZ_BIN/kz-audit" list -j -k denial | jq -c '.egress[0] | select(.host == "often.pub.lab")')
		[ "$(jq -s 'map(.count) | add' <<<"$rows")" -eq 50 ] && [ "$(wc -l <<<"$rows")" -lt 50 ]
	}
	kz_wait 10 counted
}

@test "PROXY-9 INV-30 the proxy has no private key: not open, not in its environment, not in its memory" {
	local pid key
	pid=$(kz_service_pid kz-proxy)
	eg_ask connect web.pub.lab:443
	run ! grep -aqE '[0-9a-f]{64}' "/proc/$pid/environ"
	[ -z "$(find "/proc/$pid/fd" -lname '*/keys/*')" ]
	# who has one is found
	K=$(head -n 1 "$KZ_STATE/keys/grant.key") sleep 600 3>&- &
	kz_wait 10 grep -qszF K= "/proc/$!/environ"
	run "$EG_PYTHON" "$EG_HERE/egress/memory.py" $! "$(head -n 1 "$KZ_STATE/keys/grant.key")"
	kill $!
	[ "$status" -eq 1 ]
	for key in field grant worker receipt identity; do
		[ -f "$KZ_STATE/keys/$key.key" ] || continue
		"$EG_PYTHON" "$EG_HERE/egress/memory.py" "$pid" "$(head -n 1 "$KZ_STATE/keys/$key.key")"
	done
}

@test "POL-8 DEP-15 nothing of the caller's environment changes the policy, nor where the proxy is" {
	set_to SANDBOX_EGRESS_MODE isolated
	export SANDBOX_EGRESS_MODE=public_internet SANDBOX_EGRESS_ENABLED=true KZ_PROXY_URL=unix:/tmp/other.sock \
		SANDBOX_EGRESS_ALLOWED_PORTS=1-65535 KZ_EGRESS_DENY_CIDRS='' HTTP_PROXY=http://10.1.2.3:80
	is_isolated mode_isolated
	set_to SANDBOX_EGRESS_MODE public_internet
	kz_run --approve t -l shell -c 'curl -s -f http://web.pub.lab/hello; echo "$HTTP_PROXY" | grep -c 127.0.0.1:3128'
	[ "$output" = "$(printf 'the internet says hello\n1')" ]
	unset SANDBOX_EGRESS_MODE SANDBOX_EGRESS_ENABLED KZ_PROXY_URL SANDBOX_EGRESS_ALLOWED_PORTS KZ_EGRESS_DENY_CIDRS HTTP_PROXY
}

@test "GRANT-15 the grant of a run is in no log, record, audit or file of the state" {
	kz_run --approve t -l shell -c 'curl -s -o /dev/null http://web.pub.lab/hello; curl -s -o /dev/null http://web.priv.lab/hello; echo "$HTTP_PROXY"'
	local token=${output#*grant:}
	token=${token%%@*}
	[[ $token == v4.public.* ]]
	# what the program printed is in the model's view of it, and nowhere else
	[[ $(kz_record 'del(.model_view)') != *"${token:10:60}"* ]]
	[[ $error != *"${token:10:60}"* ]]
	kz_wait 5 eg_is_denied address_private web.priv.lab 80
	kz_nowhere -F "${token:10:60}" "$KZ_STATE"
	# and what the audit has of it is its execution
	"$KZ_BIN/kz-audit" list -j | grep -q "$(kz_record egress.execution)"
}

@test "POL-23 the revision changes with each value of the policy, and a run's record has it" {
	local name one two
	revision() { "$KZ_BIN/kz-grant" scope -j --approve t | jq -r .revision; }
	one=$(revision)
	[[ $one =~ ^[0-9a-f]{64}$ ]]
	kz_run --approve t -c 1
	kz_record_is egress.revision "$one"
	for name in SANDBOX_EGRESS_MODE=private_network SANDBOX_EGRESS_ALLOWED_PORTS=443 SANDBOX_EGRESS_TOKEN_TTL_SECONDS=601 \
		SANDBOX_EGRESS_PRIVATE_CIDRS=10.0.0.0/8 SANDBOX_EGRESS_HOST_ALLOWLIST=a.lab KZ_EGRESS_DENY_CIDRS=10.0.0.0/8 SANDBOX_EGRESS_ENABLED=false; do
		set_to "${name%%=*}" "${name#*=}"
		two=$(revision)
		[ "$one" != "$two" ] || {
			echo "$name changes nothing" >&2
			return 1
		}
		policy_back
		[ "$(revision)" = "$one" ]
	done
}

@test "PROXY-11 GRANT-5 another field key: the proxy takes it without a restart, and grants of the former one are refused" {
	local pid old old_execution
	pid=$(kz_service_pid kz-proxy)
	eg_mint public_internet
	old=$grant old_execution=$execution
	run -0 eg_ask connect web.pub.lab:443
	[ "$output" = "200 web.pub.lab:443" ]
	"$KZ_BIN/kz-grant" keys --rotate
	# the very first use of the new key, within the second
	eg_mint public_internet
	run -0 eg_ask connect web.pub.lab:443
	[ "$output" = "200 web.pub.lab:443" ]
	EG_GRANT=$old EG_EXECUTION=$old_execution run -0 eg_ask connect web.pub.lab:443
	[ "$output" = "403 web.pub.lab:443" ]
	kz_wait 5 eg_has_reason grant_key_unknown
	[ "$(kz_service_pid kz-proxy)" = "$pid" ]
	runs() { kz_run --approve t -l shell -c 'curl -s http://web.pub.lab/hello' && [ "$output" = "the internet says hello" ]; }
	kz_wait 30 runs
}

@test "PROXY-11 grants of unknown keys make the proxy read its keys again once a second, however many they are" {
	local before after start took asks=()
	for _ in {1..300}; do asks+=(unknown.pub.lab:443); done
	eg_mint public_internet --kid=k4.pid.AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA
	sleep 1.2
	before=$(eg_health | jq .settings)
	start=$SECONDS
	eg_ask connect "${asks[@]}" >"$EG/unknown"
	took=$((SECONDS - start))
	after=$(eg_health | jq .settings)
	[ "$(grep -c '^403' "$EG/unknown")" -eq 300 ]
	echo "$((after - before)) readings in $took s"
	[ "$after" -gt "$before" ]
	[ $((after - before)) -le $((took + 3)) ]
	kz_wait 5 eg_is_denied grant_key_unknown unknown.pub.lab 443
}

@test "GRANT-2 over TCP nobody vouches for a peer: only a grant that names none is taken" {
	local token job
	s6-svc -wD -T 60000 -d "$KZ_STATE/service/kz-proxy"
	nsenter --net="/run/netns/$EG_NAME-in" "$KZ_BIN/kz-proxy" -s "$KZ_STATE" -l 198.18.0.1:3128 >"$EG/tcp.out" 2>"$EG/tcp.err" 3>&- &
	job=$!
	is_up() { eg_health | jq -e .ready >/dev/null; }
	kz_wait 10 is_up
	eg_mint public_internet
	code() { eg_outside curl -s -o /dev/null -m 100 -w '%{http_code}' -x "http://grant:$1@198.18.0.1:3128" "$2"; }
	[ "$(code "$grant" http://four.pub.lab/hello)" = 403 ] || bad=foreign
	eg_mint public_internet uid_count=0 uid_base=0
	[ "$(code "$grant" http://four.pub.lab/hello)" = 200 ] || bad=any
	token=$(env -u KZ_PROXY_URL "$KZ_BIN/kz-grant" mint --any-peer --ttl 600)
	[ "$(code "$token" http://four.pub.lab/hello)" = 200 ] || bad=minted
	[ "$(code "$token" http://priv.odd.lab/hello)" = 403 ] || bad=private
	[ "$(code "$token" http://198.18.0.1/hello)" = 403 ] || bad=own
	# a preamble has no meaning there
	[ "$(printf 'KZ-EXECUTION %s\n' "$execution" | eg_outside "$EG_PYTHON" -c 'import socket, sys
s = socket.create_connection(("198.18.0.1", 3128), 100)
s.sendall(sys.stdin.buffer.read() + b"CONNECT four.pub.lab:80 HTTP/1.1\r\nHost: x\r\n\r\n")
print(s.recv(100)[9:12].decode())')" = 400 ] || bad=preamble
	kill "$job"
	wait "$job" || :
	s6-svc -wu -T 60000 -u "$KZ_STATE/service/kz-proxy"
	[ "${bad:-}" = "" ]
	kz_wait 5 eg_has_reason grant_foreign
}

@test "GRANT-7 a proxy that hangs: isolated, and the run does not wait for ever" {
	local pid
	pid=$(kz_service_pid kz-proxy)
	kill -STOP "$pid"
	is_isolated proxy_unreachable || bad=1
	kill -CONT "$pid"
	[ -z "${bad:-}" ]
	ready() { kz_run --approve t -c 1 && [ "$(kz_record egress.effective)" = public_internet ]; }
	kz_wait 10 ready
}

@test "INV-28 settings of the proxy that make no sense open nothing and stop nothing" {
	local name pid
	pid=$(kz_service_pid kz-proxy)
	eg_mint public_internet
	nonsense() {
		printf '%s\n' "$2" >"$KZ_STATE/env/.new"
		mv "$KZ_STATE/env/.new" "$KZ_STATE/env/$1"
	}
	for name in KZ_EGRESS_RESOLVERS=nonsense KZ_EGRESS_RESOLVERS=198.51.100.53:99999 KZ_EGRESS_FAMILIES=none KZ_PROXY_IDLE_SECONDS=-1 \
		KZ_PROXY_TUNNELS_PER_GRANT=many; do
		nonsense "${name%%=*}" "${name#*=}"
		eg_taken
		eg_mark
		run -0 eg_ask connect 127.0.0.1:80 priv.odd.lab:80 mixed.odd.lab:80
		[ "$(grep -c '^403 ' <<<"$output")" -eq 3 ]
		[ -z "$(eg_tried)" ]
		rm "$KZ_STATE/env/${name%%=*}"
		[ ! -e "$EG/env/${name%%=*}" ] || cp -a "$EG/env/${name%%=*}" "$KZ_STATE/env/"
	done
	serves() { [ "$(eg_ask connect web.pub.lab:443)" = "200 web.pub.lab:443" ]; }
	kz_wait 10 serves
	[ "$(kz_service_pid kz-proxy)" = "$pid" ]
}
