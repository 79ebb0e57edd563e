#!/usr/bin/env bats
# kz-grant on a stack that runs: the scope and what it lacks, grants by hand, revocation, keys
# (ADM-1 to ADM-4, POL-9 to POL-12, POL-19 to POL-23, GRANT-1 to GRANT-7, GRANT-10 to GRANT-15, INV-28 to INV-31, PROXY-11).

# shellcheck disable=SC2154 # stderr comes from run --separate-stderr
bats_require_minimum_version 1.5.0
load ../kz

setup_file() {
	kz_start SANDBOX_WARM_POOL_MIN=1 SANDBOX_POOL_TARGET_IDLE=0 SANDBOX_POOL_MAX_ALLOCATED=3
	cp -a "$KZ_STATE/env" "$BATS_FILE_TMPDIR/env"
}

teardown_file() {
	kz_stop
}

is_open() {
	kz status >/dev/null 2>&1 && kz-grant scope >/dev/null
}

# Each test begins with the policy of a new installation, whatever the one before it did.
setup() {
	rm -f "$KZ_STATE"/env/SANDBOX_EGRESS_* "$KZ_STATE"/env/KZ_EGRESS_* "$KZ_STATE/env/KZ_PROXY_URL"
	cp -a "$BATS_FILE_TMPDIR"/env/SANDBOX_EGRESS_* "$BATS_FILE_TMPDIR"/env/KZ_EGRESS_* \
		"$BATS_FILE_TMPDIR/env/KZ_PROXY_URL" "$KZ_STATE/env"
	kz_wait 30 is_open
}

# holds_none TEXT DIR...: no file below holds it. Of what comes and goes meanwhile grep would tell.
holds_none() {
	local text=$1
	shift
	run grep -rlaF -e "$text" "$@"
	! grep -v '^grep: .*: No such file or directory$' <<<"$output" | grep .
}

fits() { python3 "$BATS_TEST_DIRNAME/../schema.py" --expect "$1"; }

# lacks REASON: the scope is isolated for that reason, asks for attention and names what mends it; so says kz status.
lacks() {
	run kz-grant scope -j --approve t
	echo "$output"
	[ "$status" -eq 1 ]
	jq -e --arg r "$1" '.effective == "isolated" and .reason == $r and .attention and (.fix | length > 0) and
		.ports == [] and .hosts == [] and .cidrs == [] and .ttl_s == null and
		.run == {effective: "none", reason: $r, text: .run.text}' <<<"$output"
	fits scope <<<"$output"
	kz status -j | jq -e --arg r "$1" '.egress.reason == $r and .egress.effective == "isolated" and .egress.attention'
	run kz-grant scope
	[ "$status" -eq 1 ]
	[[ "$output" == *"effective   ATTENTION: isolated: "* ]]
	[[ "$output" == *"fix         "* ]]
	run kz-grant mint
	[ "$status" -ne 0 ]
	[[ "$output" != *v4.public* ]]
}

as() {
	local groups=$1
	shift
	setpriv --reuid nobody --regid nogroup "$groups" env "PATH=$PATH" "KZ_STATE=$KZ_STATE" "$@"
}
as_member() { as "--groups=$(getent group kz | cut -d: -f3)" "$@"; }
as_nobody() { as --clear-groups "$@"; }

@test "ADM-1: scope shows the mode in force, the ports that are enforced, and the classes that no mode reaches" {
	run kz-grant scope
	echo "$output"
	[ "$status" -eq 0 ]
	grep -qx 'configured  public_internet' <<<"$output"
	grep -qx 'effective   public_internet' <<<"$output"
	grep -qx 'ports       80, 443' <<<"$output"
	grep -qx 'grant life  600 s' <<<"$output"
	local class
	for class in loopback link_local multicast unspecified reserved metadata; do
		grep -qE "^never .*\\b$class\\b" <<<"$output"
	done
	kz-grant scope -j | fits scope
	kz-grant scope -j | jq -e '.reason == null and .attention == false and .vintage == "fresh"'
}

@test "EXEC-17: without an approval a run has none, and scope says so in the words of the record" {
	run kz-grant scope
	grep -qx 'a run       none: not approved (--approve ID)' <<<"$output"
	kz-grant scope -j | jq -e '.run == {effective: "none", reason: "not_approved", text: "none: not approved (--approve ID)"}'
	kz-grant scope -j --approve ticket-17 | jq -e '.run == {effective: "public_internet", reason: null, text: "public_internet"}'
	local bad
	for bad in "" "a b" $'a\nb' "$(printf 'x%.0s' {1..129})" "ä"; do
		run kz-grant scope --approve "$bad"
		[ "$status" -eq 64 ]
	done
}

@test "ADM-2 POL-9 POL-11 POL-12 POL-20: what cannot be held is isolation with attention, the reason and what mends it" {
	local reason name value
	while IFS='|' read -r reason name value; do
		echo "$name=$value"
		if [ "$value" = absent ]; then rm "$KZ_STATE/env/$name"; else kz config set "$name=$value"; fi
		lacks "$reason"
		cp -a "$BATS_FILE_TMPDIR/env/$name" "$KZ_STATE/env"
	done <<-'END'
		mode_unknown|SANDBOX_EGRESS_MODE|absent
		mode_unknown|SANDBOX_EGRESS_MODE|
		mode_unknown|SANDBOX_EGRESS_MODE|public-internet
		mode_unknown|SANDBOX_EGRESS_MODE|Public_internet
		mode_unknown|SANDBOX_EGRESS_MODE|public_internet 
		ports_unusable|SANDBOX_EGRESS_ALLOWED_PORTS|absent
		ports_unusable|SANDBOX_EGRESS_ALLOWED_PORTS|
		ports_unusable|SANDBOX_EGRESS_ALLOWED_PORTS|80,443,
		ports_unusable|SANDBOX_EGRESS_ALLOWED_PORTS|80,0
		ports_unusable|SANDBOX_EGRESS_ALLOWED_PORTS|80,65536
		ports_unusable|SANDBOX_EGRESS_ALLOWED_PORTS|80 443
		ttl_unusable|SANDBOX_EGRESS_TOKEN_TTL_SECONDS|absent
		ttl_unusable|SANDBOX_EGRESS_TOKEN_TTL_SECONDS|0
		ttl_unusable|SANDBOX_EGRESS_TOKEN_TTL_SECONDS|10m
		deny_unusable|KZ_EGRESS_DENY_CIDRS|10.0.0.1/8
		proxy_unset|KZ_PROXY_URL|absent
		proxy_unset|KZ_PROXY_URL|http://127.0.0.1:3128
	END
	printf 'public_internet\0' >"$KZ_STATE/env/SANDBOX_EGRESS_MODE"
	lacks mode_unknown
}

@test "ADM-2 POL-13: the lists of a mode that are empty or bad" {
	kz config set SANDBOX_EGRESS_MODE=host_allowlist
	lacks hosts_unusable
	kz config set 'SANDBOX_EGRESS_HOST_ALLOWLIST=*.example'
	lacks hosts_unusable
	kz config set 'SANDBOX_EGRESS_HOST_ALLOWLIST=A.Example., b.example'
	run kz-grant scope -j
	[ "$status" -eq 0 ]
	[ "$(jq -c .hosts <<<"$output")" = '["a.example","b.example"]' ]
	kz config set SANDBOX_EGRESS_MODE=private_network SANDBOX_EGRESS_PRIVATE_CIDRS=8.8.8.0/24
	lacks cidrs_unusable
	kz config set SANDBOX_EGRESS_PRIVATE_CIDRS=10.1.0.0/16
	[ "$(kz-grant scope -j | jq -c .cidrs)" = '["10.1.0.0/16"]' ]
}

@test "ADM-2 POL-11 GRANT-7: no field key, no proxy" {
	mv "$KZ_STATE/keys/field.key" "$KZ_STATE/keys/field.off"
	run lacks field_key_missing
	mv "$KZ_STATE/keys/field.off" "$KZ_STATE/keys/field.key"
	echo "$output"
	[ "$status" -eq 0 ]
	s6-svc -wD -T 60000 -d "$KZ_STATE/service/kz-proxy"
	run kz-grant scope -j
	s6-svc -wu -T 60000 -u "$KZ_STATE/service/kz-proxy"
	[ "$status" -eq 1 ]
	jq -e '.reason == "proxy_unreachable" and .effective == "isolated" and .attention' <<<"$output"
}

@test "ADM-3: a proxy that takes its time is waited for as long as a run waits" {
	local pid
	pid=$(kz_service_pid kz-proxy)
	for _ in 1 2 3; do
		kill -STOP "$pid"
		(sleep 3; kill -CONT "$pid") &
		run kz-grant scope -j
		wait
		[ "$(jq -r .effective <<<"$output")" = isolated ] || break
	done
	echo "$output"
	jq -e '.effective == "public_internet" and .reason == null' <<<"$output"
}

@test "POL-21: what somebody chose is shown, and asks for no attention" {
	kz config set SANDBOX_EGRESS_ENABLED=false
	run kz-grant scope -j
	[ "$status" -eq 0 ]
	jq -e '.configured == "public_internet" and .effective == "isolated" and .reason == "egress_disabled" and (.attention | not)' <<<"$output"
	run --separate-stderr kz-grant mint
	[ "$status" -eq 77 ]
	[ -z "$output" ]
	[[ "$stderr" == *egress_disabled*SANDBOX_EGRESS_ENABLED=true* ]]
	# neither word: off as well, and nobody chose that
	run kz config set SANDBOX_EGRESS_ENABLED=True
	[[ "$output" == *"isolated: "*"; fix: kz config set SANDBOX_EGRESS_ENABLED=true"* ]]
	run kz-grant scope -j
	[ "$status" -eq 1 ]
	jq -e '.attention and .reason == "egress_disabled" and .fix == "kz config set SANDBOX_EGRESS_ENABLED=true"' <<<"$output"
	kz config set SANDBOX_EGRESS_ENABLED=true SANDBOX_EGRESS_MODE=isolated
	run kz-grant scope -j
	[ "$status" -eq 0 ]
	jq -e '.configured == "isolated" and .effective == "isolated" and (.attention | not)' <<<"$output"
	run --separate-stderr kz-grant mint
	[ "$status" -eq 77 ]
	[[ "$stderr" == *mode_isolated* ]]
}

@test "ADM-3: kz status says in one line what kz-grant scope says" {
	local line
	line=$(kz status | grep '^network ')
	[ "$line" = "network    public_internet; ports 80, 443; for approved runs" ]
	kz config set SANDBOX_EGRESS_ALLOWED_PORTS=none
	line=$(kz status | grep '^network ')
	[[ "$line" == "network    ATTENTION: isolated: "*"; fix: kz config set SANDBOX_EGRESS_ALLOWED_PORTS="* ]]
	diff <(kz status -j | jq -S .egress) <(kz-grant scope -j | jq -S '{configured, effective, reason, text, fix, attention, ports}')
	kz status -j | fits status
}

@test "ADM-4 POL-19: a change counts at once, and no process is another one for it" {
	local before
	pids() { for s in kz-controller kz-proxy valkey; do kz_service_pid "$s"; done; }
	before=$(pids)
	kz config set SANDBOX_EGRESS_ALLOWED_PORTS=8443,443,443
	[ "$(kz-grant scope -j | jq -c .ports)" = "[443,8443]" ]
	[ "$(kz-grant mint -j | jq -c .ports)" = "[443,8443]" ]
	[ "$(pids)" = "$before" ]
}

@test "ADM-2 POL-19: who changes the policy is told at once what the next run has" {
	run kz config set SANDBOX_EGRESS_ALLOWED_PORTS=8080
	[ "$status" -eq 0 ]
	[[ "$output" == *"the next approved run: public_internet" ]]
	run kz config set SANDBOX_EGRESS_MODE=private
	[ "$status" -eq 0 ]
	[[ "$output" == *"the next approved run: isolated: "*"; fix: kz config set SANDBOX_EGRESS_MODE="* ]]
	run kz config set KZ_PROXY_IDLE_SECONDS=200
	[[ "$output" != *"the next approved run"* ]]
}

@test "POL-23: the revision is another one for every other policy, and the same for the same" {
	local first name one
	first=$(kz-grant scope -j | jq -r .revision)
	one=$first
	for name in SANDBOX_EGRESS_ENABLED SANDBOX_EGRESS_MODE SANDBOX_EGRESS_HOST_ALLOWLIST SANDBOX_EGRESS_PRIVATE_CIDRS \
		SANDBOX_EGRESS_ALLOWED_PORTS SANDBOX_EGRESS_TOKEN_TTL_SECONDS KZ_EGRESS_DENY_CIDRS; do
		kz config set "$name=1"
		one+=$'\n'$(kz-grant scope -j | jq -r .revision)
		rm "$KZ_STATE/env/$name"
		one+=$'\n'$(kz-grant scope -j | jq -r .revision)
		cp -a "$BATS_FILE_TMPDIR/env/$name" "$KZ_STATE/env"
	done
	[ "$(sort -u <<<"$one" | wc -l)" -eq 15 ]
	[ "$(kz-grant scope -j | jq -r .revision)" = "$first" ]
	[ "$(kz-grant mint -j | jq -r .revision)" = "$first" ]
}

@test "DEP-15: a policy in the caller's environment is nobody's" {
	local one two
	one=$(kz-grant scope -j)
	two=$(SANDBOX_EGRESS_MODE=host_allowlist SANDBOX_EGRESS_ENABLED=false SANDBOX_EGRESS_ALLOWED_PORTS=22 KZ_PROXY_URL=x kz-grant scope -j)
	[ "$one" = "$two" ]
}

@test "GRANT-1 GRANT-2: mint prints a token alone; its claims are what was asked, and no two are alike" {
	run --separate-stderr kz-grant mint
	[ "$status" -eq 0 ]
	[ -z "$stderr" ]
	[[ "$output" =~ ^v4\.public\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+$ ]]
	kz-grant verify -j "$output" | fits grant
	kz-grant mint -j | fits grant
	[ "$(for _ in 1 2 3; do kz-grant mint -j | jq -r .execution; done | sort -u | wc -l)" -eq 3 ]
	run kz-grant verify -j "$(kz-grant mint -A alice -r "$(printf 'a%.0s' {1..32})" -x "$(printf 'b%.0s' {1..32})" -w w7 -u 70000 -n 65536 -t 60)"
	[ "$status" -eq 0 ]
	jq -e '.run == "a" * 32 and .execution == "b" * 32 and .worker == "w7" and .uid_base == 70000 and .uid_count == 65536 and
		.mode == "public_internet" and .ports == [80, 443] and .hosts == [] and .cidrs == [] and
		.expires_ms - .issued_ms == 60000' <<<"$output"
	[ "$(jq -r .actor <<<"$output")" = "$(kz-grant mint -j -A alice | jq -r .actor)" ]
	[ "$(jq -r .actor <<<"$output")" != "$(kz-grant mint -j -A bob | jq -r .actor)" ]
	kz-grant mint -j | jq -e --argjson uid "$(id -u)" '.uid_base == $uid and .uid_count == 1'
	kz-grant mint -j --any-peer | jq -e '.uid_base == 0 and .uid_count == 0'
}

@test "GRANT-10: a token is v4.public by another implementation too, with the key that kz-grant keys shows" {
	local token key claims
	token=$(kz-grant mint -x "$(printf 'c%.0s' {1..32})")
	key=$(kz-grant keys -j | jq -r 'select(.use == "grant").key')
	run python3 "$BATS_TEST_DIRNAME/v4public.py" verify "$key" "kz grant 1" <<<"$token"
	echo "$output"
	[ "$status" -eq 0 ]
	jq -e '.jti == "c" * 32 and .iss == "kz" and .nbf == .iat' <<<"$output"
	[ "$(jq -r .aud <<<"$output")" = "kz-proxy:$(cat "$KZ_STATE/env/KZ_DEPLOYMENT_ID")" ]
	[ "$(base64 -d <<<"$(cut -d. -f4 <<<"$token" | tr _- /+)===" 2>/dev/null | jq -r .kid)" = "$(kz-grant keys -j | jq -r 'select(.use == "grant").kid')" ]
	# and what the other one makes is taken, or not, by the same rules
	claims=$output
	python3 "$BATS_TEST_DIRNAME/v4public.py" sign "$KZ_STATE/keys/grant.key" "kz grant 1" < <(printf %s "$claims") >"$BATS_TEST_TMPDIR/again"
	kz-grant verify <"$BATS_TEST_TMPDIR/again"
	python3 "$BATS_TEST_DIRNAME/v4public.py" sign "$KZ_STATE/keys/receipt.key" "kz grant 1" < <(printf %s "$claims") >"$BATS_TEST_TMPDIR/again"
	run kz-grant verify - <"$BATS_TEST_TMPDIR/again"
	[ "$status" -eq 77 ]
	[[ "$output" == *grant_key_unknown* ]]
}

@test "GRANT-3 GRANT-4 INV-31: ten minutes unless something else is stored, up to four hours; no grant is longer than four hours, whatever is asked or stored" {
	local bad
	for bad in 0 -1 14401 99999999999999999999 1h ""; do
		run --separate-stderr kz-grant mint -t "$bad"
		[ "$status" -eq 64 ]
		[ -z "$output" ]
	done
	kz-grant mint -j | jq -e '.expires_ms - .issued_ms == 600000'
	kz-grant mint -j -t 14400 | jq -e '.expires_ms - .issued_ms == 14400000'
	kz config set SANDBOX_EGRESS_TOKEN_TTL_SECONDS=14400
	kz-grant mint -j | jq -e '.expires_ms - .issued_ms == 14400000'
	kz config set SANDBOX_EGRESS_TOKEN_TTL_SECONDS=900000
	kz-grant mint -j | jq -e '.expires_ms - .issued_ms == 14400000'
}

@test "INV-29 GRANT-9: a grant by hand is within the policy, or is none" {
	kz-grant mint -j -P 443 -P 443 | jq -e '.ports == [443]'
	run --separate-stderr kz-grant mint -P 22
	[ "$status" -eq 77 ]
	[ -z "$output" ]
	[[ "$stderr" == *not_allowed* ]]
	# public_internet holds no hosts or ranges that it could be narrowed to
	run kz-grant mint -H a.example
	[ "$status" -eq 77 ]
	run kz-grant mint -C 10.0.0.0/8
	[ "$status" -eq 77 ]
	kz config set SANDBOX_EGRESS_MODE=host_allowlist SANDBOX_EGRESS_HOST_ALLOWLIST=a.example,b.example
	kz-grant mint -j -H B.EXAMPLE | jq -e '.hosts == ["b.example"]'
	run kz-grant mint -H b.example -H c.example
	[ "$status" -eq 77 ]
	kz config set SANDBOX_EGRESS_MODE=private_network SANDBOX_EGRESS_PRIVATE_CIDRS=10.0.0.0/8
	kz-grant mint -j -C 10.7.0.0/16 | jq -e '.cidrs == ["10.7.0.0/16"]'
	run kz-grant mint -C 10.0.0.0/7
	[ "$status" -eq 77 ]
	run kz-grant mint -C 192.168.0.0/16
	[ "$status" -eq 77 ]
	local bad
	for bad in "-P x" "-P 0" "-P 70000" "-H *.example" "-H a.example:80" "-C 10.0.0.1/8" "-w W" "-r 12" "-x zz"; do
		# shellcheck disable=SC2086 # words on purpose
		run --separate-stderr kz-grant mint $bad
		echo "$bad: $status $stderr"
		[ "$status" -eq 65 ]
		[ -z "$output" ]
	done
}

@test "GRANT-10: verify names why a token is none" {
	local token out
	token=$(kz-grant mint)
	# fails REASON [TOKEN]: on standard input
	fails() {
		run --separate-stderr kz-grant verify -j - <<<"$2"
		echo "$1: $status $output"
		[ "$status" -eq 77 ]
		[ "$(jq -r .reason <<<"$output")" = "$1" ]
		[ "$(jq -r .type <<<"$output")" = error ]
	}
	fails grant_missing ""
	fails grant_malformed x
	fails grant_malformed "v3.public.${token#v4.public.}"
	fails grant_malformed "v4.local.${token#v4.public.}"
	fails grant_malformed "$token "
	fails grant_malformed "${token%.*}"
	fails grant_malformed "$(head -c 100000 /dev/zero | tr '\0' A)"
	fails grant_signature "${token:0:40}$([ "${token:40:1}" = A ] && echo B || echo A)${token:41}"
	fails grant_early "$(kz-grant mint -b "$(date -u -d '+1 hour' +%Y-%m-%dT%H:%M:%SZ)")"
	fails grant_expired "$(kz-grant mint -b "$(date -u -d '-1 hour' +%Y-%m-%dT%H:%M:%SZ)")"
	run kz-grant verify "$token"
	[ "$status" -eq 0 ]
	kz-grant verify <<<"$token"
	mv "$KZ_STATE/public/keys.json" "$BATS_TEST_TMPDIR/keys.json"
	run kz-grant verify "$token"
	echo '{"v":1}' >"$KZ_STATE/public/keys.json"
	out=$output
	[ "$status" -eq 69 ]
	run kz-grant verify "$token"
	mv "$BATS_TEST_TMPDIR/keys.json" "$KZ_STATE/public/keys.json"
	[[ "$out" == *keys_missing* ]]
	[ "$status" -eq 78 ]
	[[ "$output" == *keys_invalid* ]]
}

@test "GRANT-15: the audit has execution and revision of a grant; the token is in no file" {
	local one token
	one=$(kz-grant mint -j)
	token=$(jq -r .token <<<"$one")
	kz-grant verify "$token"
	kz-audit list -j | fits audit
	kz-audit list -j | jq -e --argjson g "$one" 'select(.kind == "grant" and .execution == $g.execution) |
		.revision == $g.revision and .run == $g.run'
	holds_none "${token:0:60}" "$KZ_STATE/audit" "$KZ_STATE/log" "$KZ_STATE/run" "$KZ_STATE/public"
	kz-audit verify
}

@test "AUD-10: what cannot be put on record is not handed out" {
	mv "$KZ_STATE/audit" "$KZ_STATE/audit.off"
	touch "$KZ_STATE/audit"
	run --separate-stderr kz-grant mint -j
	rm "$KZ_STATE/audit"
	mv "$KZ_STATE/audit.off" "$KZ_STATE/audit"
	[ "$status" -ne 0 ]
	[[ "$output" != *v4.public* ]]
	[ "$(jq -r .reason <<<"$output")" = audit_unavailable ]
}

@test "GRANT-13: revoke ends the grant of one execution, and no other" {
	local one two execution
	one=$(kz-grant mint)
	two=$(kz-grant mint)
	execution=$(kz-grant verify -j "$one" | jq -r .execution)
	run --separate-stderr kz-grant revoke "$execution"
	[ "$status" -eq 0 ]
	[ -z "$output" ]
	run kz-grant verify "$one"
	[ "$status" -eq 77 ]
	[[ "$output" == *grant_revoked* ]]
	kz-grant verify "$two"
	# again is the same, and the serial grows
	run kz-grant revoke -j "$execution"
	fits revocation <<<"$output"
	[ "$(kz-grant revoke -j "$execution" | jq .serial)" -gt "$(jq .serial <<<"$output")" ]
	kz-audit list -j | jq -e --arg x "$execution" 'select(.kind == "revocation" and .execution == $x)' >/dev/null
	[ "$(stat -c '%a %U' "$KZ_STATE/public/revoked")" = "644 root" ]
}

@test "GRANT-13: revoke --before now ends all that were made, and none that is made next" {
	local one
	one=$(kz-grant mint)
	kz-grant revoke --before now
	run kz-grant verify "$one"
	[ "$status" -eq 77 ]
	[[ "$output" == *grant_revoked* ]]
	kz-grant mint | kz-grant verify
	# the proxy holds the file that was written
	serial=$(kz-grant revoke -j "$(printf 'd%.0s' {1..32})" | jq .serial)
	has() {
		[ "$(curl -s --unix-socket "$KZ_STATE/run/proxy-health.sock" http://proxy/v1/health | jq .revocation_serial)" = "$serial" ]
	}
	kz_wait 10 has
}

@test "GRANT-13: a file of revocations that was altered or is gone passes nothing" {
	local one
	one=$(kz-grant mint)
	cp -a "$KZ_STATE/public/revoked" "$BATS_TEST_TMPDIR/revoked"
	sed 's/./x/60' "$BATS_TEST_TMPDIR/revoked" >"$KZ_STATE/public/revoked"
	run kz-grant verify "$one"
	[ "$status" -eq 78 ]
	[[ "$output" == *revocation_invalid* ]]
	rm "$KZ_STATE/public/revoked"
	run kz-grant verify "$one"
	[ "$status" -eq 78 ]
	# keys -w puts a new one there, with a later serial
	kz-grant keys -w
	kz-grant verify "$one"
}

@test "GRANT-13: revoke with bad input changes nothing" {
	local before args
	before=$(sha256sum <"$KZ_STATE/public/revoked")
	for args in "" "--before now $(printf 'a%.0s' {1..32})" "--before tomorrow" "--before 2026-02-30T00:00:00Z" "--before 9999-01-01T00:00:00Z" \
		"--before 0" "a b" "--no-such"; do
		# shellcheck disable=SC2086 # words on purpose
		run --separate-stderr kz-grant revoke $args
		echo "revoke $args: $status $stderr"
		[ "$status" -eq 64 ]
		[ "$(wc -l <<<"$stderr")" -eq 1 ]
	done
	for args in x "$(printf 'A%.0s' {1..32})" "$(printf 'a%.0s' {1..33})" ../../etc/passwd; do
		run kz-grant revoke "$args"
		[ "$status" -eq 65 ]
	done
	[ "$(sha256sum <"$KZ_STATE/public/revoked")" = "$before" ]
}

@test "GRANT-6: keys shows the public halves and nothing else; -w puts them back" {
	kz-grant keys -j | fits key
	[ "$(kz-grant keys -j | jq -r .use | paste -sd,)" = grant,receipt ]
	local before use
	before=$(cat "$KZ_STATE/public/keys.json")
	rm "$KZ_STATE/public/keys.json"
	run kz-grant keys
	[ "$status" -eq 69 ]
	kz-grant keys -w
	[ "$(cat "$KZ_STATE/public/keys.json")" = "$before" ]
	for use in grant receipt; do
		[ "$(kz-grant keys -j | jq -r "select(.use == \"$use\").key")" = "$(python3 "$BATS_TEST_DIRNAME/v4public.py" public "$KZ_STATE/keys/$use.key")" ]
		holds_none "$(cat "$KZ_STATE/keys/$use.key")" "$KZ_STATE/public" "$KZ_STATE/run" "$KZ_STATE/log"
	done
}

@test "PROXY-11 DEP-7: a rotated field key ends former grants, reaches the proxy by itself, and runs go on" {
	local one before kid pid
	one=$(kz-grant mint)
	before=$(kz-grant keys -j)
	pid=$(kz_service_pid kz-proxy)
	kz-grant keys --rotate
	[ "$(kz-grant keys -j)" != "$before" ]
	run kz-grant verify "$one"
	[ "$status" -eq 77 ]
	[[ "$output" == *grant_key_unknown* ]]
	kz-grant mint | kz-grant verify
	kid=$(kz-grant keys -j | jq -r 'select(.use == "grant").kid')
	has() { curl -s --unix-socket "$KZ_STATE/run/proxy-health.sock" http://proxy/v1/health | jq -e --arg k "$kid" '.ready and .kids == [$k]' >/dev/null; }
	kz_wait 10 has
	[ "$(kz_service_pid kz-proxy)" = "$pid" ]
	# Workers of the former key are replaced first, which takes as long as the machine needs.
	runs() { kz_run -c 'print(6 * 7)'; echo "$status $error"; [ "$status$output" = 042 ]; }
	kz_wait 120 runs
	kz-grant scope
}

@test "GRANT-5: who may not read grant.key makes no grant; a key that is open to others is none" {
	run as_nobody kz-grant mint
	[ "$status" -eq 77 ]
	[[ "$output" == *no_permission* ]]
	local args
	for args in scope "explain http://a.example/" "verify x" "revoke $(printf 'a%.0s' {1..32})" keys; do
		# shellcheck disable=SC2086 # words on purpose
		run as_nobody kz-grant $args
		echo "$args: $output"
		[ "$status" -eq 77 ]
		[[ "$output" == *no_permission* ]]
	done
	chmod 644 "$KZ_STATE/keys/grant.key"
	run --separate-stderr kz-grant mint
	chmod 640 "$KZ_STATE/keys/grant.key"
	[ "$status" -eq 78 ]
	[ -z "$output" ]
	[[ "$stderr" == *key_invalid* ]]
	mv "$KZ_STATE/keys/grant.key" "$KZ_STATE/keys/grant.off"
	run --separate-stderr kz-grant mint
	mv "$KZ_STATE/keys/grant.off" "$KZ_STATE/keys/grant.key"
	[ "$status" -eq 78 ]
	[ -z "$output" ]
	[[ "$stderr" == *key_missing* ]]
}

@test "LEASE-17: a member of group kz sees the scope and makes grants; keys and revocations are the owner's" {
	as_member kz-grant scope
	as_member kz-grant mint | as_member kz-grant verify
	run as_member kz-grant revoke --before now
	[ "$status" -eq 77 ]
	[[ "$output" == *no_permission* ]]
	run as_member kz-grant keys --rotate
	[ "$status" -eq 77 ]
	[[ "$output" == *no_permission* ]]
	as_member kz-grant keys
}

@test "INV-32: explain says what would be decided, by which rule, and asks nobody" {
	run kz-grant explain -j https://a.example/x?y
	[ "$status" -eq 0 ]
	fits explain <<<"$output"
	jq -e '.verdict == "lookup" and .target == "a.example:443" and .reason == null' <<<"$output"
	run kz-grant explain -j -r 93.184.216.34,2606:2800:220:1::1 http://a.example
	[ "$status" -eq 0 ]
	jq -e '.verdict == "allowed" and .target == "a.example:80" and (.answers | length) == 2' <<<"$output"
	local url answers reason
	while read -r url answers reason; do
		if [ "$answers" = - ]; then
			run kz-grant explain -j "$url"
		else
			run kz-grant explain -j -r "$answers" "$url"
		fi
		echo "$url $answers: $output"
		[ "$status" -eq 1 ]
		jq -e --arg r "$reason" '.verdict == "refused" and .reason == $r' <<<"$output"
		fits explain <<<"$output"
	done <<-'END'
		http://a.example:22/ - port_not_allowed
		http://127.0.0.1/ - address_loopback
		http://169.254.169.254/latest - address_metadata
		http://10.0.0.1/ - address_private
		http://[::1]/ - address_loopback
		http://0x7f.1/ - numeric_host
		http://user@a.example/ - invalid_target
		ftp://a.example/ - invalid_port
		a.example - invalid_port
		http://localhost/ - special_name
		https://a.example/ 93.184.216.34,10.0.0.1 address_private
	END
	# what is no destination is shown as it was given, with the forms that are
	run kz-grant explain ftp://a.example/
	[ "$output" = "ftp://a.example/: refused: invalid_port: the port is malformed; give http://HOST, https://HOST or HOST:PORT" ]
	run kz-grant explain $'a.example\e[2J'
	[[ "$output" == "invalid: refused: invalid_target: "* ]]
	run kz-grant explain -r "" https://a.example/
	[ "$status" -eq 1 ]
	[[ "$output" == *dns_empty* ]]
	run kz-grant explain -r 1.2.3 https://a.example/
	[ "$status" -eq 64 ]
	kz config set KZ_EGRESS_DENY_CIDRS=93.184.216.0/24
	run kz-grant explain -r 93.184.216.34 http://a.example
	[ "$status" -eq 1 ]
	[[ "$output" == *address_denied* ]]
}

@test "EXEC-16: a wrong command line is 64 and one line; a full disk is 74; no stack is 69" {
	local args
	for args in "" nonsense "scope more" "explain" "explain a b" "mint more" "verify a b" "keys more" "mint -u -1" "mint -n 0" "mint -b soon"; do
		# shellcheck disable=SC2086 # words on purpose
		run --separate-stderr kz-grant $args
		echo "kz-grant $args: $status $stderr"
		[ "$status" -eq 64 ]
		[ -z "$output" ]
		[ "$(wc -l <<<"$stderr")" -eq 1 ]
	done
	for args in scope mint keys "explain http://a.example/"; do
		# shellcheck disable=SC2086 # words on purpose
		run bash -c 'kz-grant "$@" >/dev/full' _ $args
		[ "$status" -eq 74 ]
		# shellcheck disable=SC2086 # words on purpose
		KZ_STATE=$BATS_TEST_TMPDIR/none run kz-grant $args
		[ "$status" -eq 69 ]
		[[ "$output" == *not_running* ]]
	done
}

@test "GRANT-2 a grant that its list makes too long is not made" {
	kz config set SANDBOX_EGRESS_MODE=host_allowlist SANDBOX_EGRESS_HOST_ALLOWLIST="$(printf "%060d.%060d.%060d.h%02d.example.com\n" {1..60} | paste -sd,)"
	run --separate-stderr kz-grant mint
	[ "$status" -eq 65 ]
	[[ $stderr == *": grant_too_large: "* ]]
	[ -z "$output" ]
}
