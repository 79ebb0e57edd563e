# Egress under attack: hostile servers, runs that try everything but the proxy, floods of refusals, settings that would open the policy.
# shellcheck disable=SC2154 # run, kz_run and eg_mint set the variables
# bats file_tags=case:root
bats_require_minimum_version 1.5.0
load ../kz
load ../egress

setup_file() {
	# what the proxy inherits: some 600 connections
	ulimit -Sn 1600 && ulimit -Hn 1600 || return 1
	eg_start SANDBOX_WARM_POOL_MIN=1 SANDBOX_POOL_MAX_ALLOCATED=2
}

teardown_file() {
	eg_stop
}

setup() {
	eg_mint public_internet
}

attack() { eg_ask attack "$@"; }
proxy_pid() { kz_service_pid kz-proxy; }

@test "PROXY-19 a server that hints without end is cut off, and holds nobody up" {
	attack hints
}

@test "PROXY-6 the resolver changes twice while names are asked for: each is answered, the proxy lives on" {
	local before
	before=$(proxy_pid)
	attack resolver "$KZ_BIN/kz"
	[ "$(proxy_pid)" = "$before" ]
}

@test "INV-27 inside an approved run there is the proxy's port and nothing else; without approval not even that" {
	kz_run --approve t -c "$(cat "$BATS_TEST_DIRNAME/../egress/inside.py")"
	[ "$output" = "port 127.0.0.1 3128"$'\n'"done" ]
	kz_run -c "$(cat "$BATS_TEST_DIRNAME/../egress/inside.py")"
	[ "$output" = "the proxy's port can be taken"$'\n'"done" ]
}

@test "PROXY-19 a neighbour that fills every place with connections that were told no stops nobody" {
	attack crowd
	kz_wait 10 eg_has_reason head_malformed
}

@test "AUD-6 another who shows a grant, even an expired one, spends nothing of its owner's rows" {
	# of this grant, by somebody whose preamble names another execution
	EG_EXECUTION=00000000000000000000000000000001 attack flood 400
	kz_wait 10 eg_has_reason grant_foreign
	eg_ask connect mine.four.pub.lab:22
	kz_wait 10 eg_is_denied port_not_allowed mine.four.pub.lab 22
	eg_mint public_internet --past=7200
	EG_EXECUTION=00000000000000000000000000000001 eg_ask connect late.four.pub.lab:443
	kz_wait 10 eg_is_denied grant_expired late.four.pub.lab 443
	# the row names who showed it
	"$KZ_BIN/kz-audit" list -j -k denial |
		jq -se 'any(.reason == "grant_expired" and .egress[0].execution == "00000000000000000000000000000001")' >/dev/null
}

@test "INV-27 what the operator denies counts at once, though another setting makes no sense" {
	run eg_ask connect four.pub.lab:9001
	[ "$output" = "200 four.pub.lab:9001" ]
	echo never >"$KZ_STATE/env/KZ_PROXY_IDLE_SECONDS"
	echo 93.184.216.0/24 >"$KZ_STATE/env/KZ_EGRESS_DENY_CIDRS"
	eg_taken
	run eg_ask connect four.pub.lab:9001
	rm "$KZ_STATE/env/KZ_PROXY_IDLE_SECONDS" "$KZ_STATE/env/KZ_EGRESS_DENY_CIDRS"
	[ "$output" = "403 four.pub.lab:9001" ]
	kz_wait 10 eg_is_denied address_denied four.pub.lab 9001
	eg_taken
	run eg_ask connect four.pub.lab:9001
	[ "$output" = "200 four.pub.lab:9001" ]
}

is_isolated() { timeout 60 "$KZ_BIN/kz-grant" scope -j --approve t | jq -e '.effective == "isolated"' >/dev/null; }

@test "INV-28 a policy file of odd bytes, a pipe or a directory is isolated, told, and waited for by nobody" {
	local name file bad=""
	for name in SANDBOX_EGRESS_ENABLED SANDBOX_EGRESS_MODE SANDBOX_EGRESS_ALLOWED_PORTS SANDBOX_EGRESS_TOKEN_TTL_SECONDS \
		KZ_EGRESS_DENY_CIDRS KZ_PROXY_URL; do
		file=$KZ_STATE/env/$name
		[ ! -f "$file" ] || mv "$file" "$EG/kept"
		printf '\377\376' >"$file"
		is_isolated || bad+="$name: bytes; "
		rm "$file"
		mkfifo "$file"
		is_isolated || bad+="$name: pipe; "
		rm "$file"
		mkdir "$file"
		is_isolated || bad+="$name: directory; "
		rmdir "$file"
		[ ! -f "$EG/kept" ] || mv "$EG/kept" "$file"
	done
	echo "$bad"
	[ -z "$bad" ]
	! is_isolated
}

# With so many descriptors at most from now on; as the proxy's own user, whose right it is.
limit_files() {
	setpriv --reuid "$(awk '/^Uid:/ { print $2 }' "/proc/$1/status")" --regid "$(awk '/^Gid:/ { print $2 }' "/proc/$1/status")" \
		--clear-groups prlimit --pid "$1" --nofile="$2":
}
lowest_free() {
	local fd=0
	while [ -e "/proc/$1/fd/$fd" ]; do fd=$((fd + 1)); done
	echo "$fd"
}
logged() { "$KZ_BIN/kz" logs kz-proxy | grep -c "$1" || :; }
has_logged() { [ "$(logged "$1")" -gt "$2" ]; }
reaches() { [ "$(eg_ask connect "$1")" = "200 $1" ]; }

@test "INV-28 PROXY-10 what could not be read for want of descriptors is read again" {
	local pid usual before
	pid=$(proxy_pid)
	reaches four.pub.lab:9001
	usual=$(awk '/^Max open files/ { print $4 }' "/proc/$pid/limits")
	# others were unreadable before
	before=$(logged 'the settings make no sense.*cannot read')
	# one is enough to see that something changed, and too few to read it
	limit_files "$pid" $(($(lowest_free "$pid") + 1))
	touch "$KZ_STATE/env/KZ_DEPLOYMENT_ID"
	kz_wait 20 has_logged 'the settings make no sense.*cannot read' "$before"
	limit_files "$pid" "$usual"
	# nothing else changes
	kz_wait 20 reaches four.pub.lab:9001
	[ "$(proxy_pid)" = "$pid" ]
}
