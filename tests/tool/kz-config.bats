#!/usr/bin/env bats
# kz config, on a state directory whose services never start (POOL-8, DEP-15).

# shellcheck disable=SC2154 # stderr and stderr_lines come from run --separate-stderr
bats_require_minimum_version 1.5.0
load ../kz

setup() {
	PATH=$(kz_bin_dir):$PATH
	export KZ_STATE=$BATS_TEST_TMPDIR/state
}

# A state directory without a stack: the services of it are never started.
make_state() {
	mkdir -p "$KZ_STATE/env"
	echo s0123456789abcdef >"$KZ_STATE/stack"
	chmod 750 "$KZ_STATE" "$KZ_STATE/env"
}

@test "POOL-8: every setting of the table is shown with value, default and meaning" {
	run kz config show
	[ "$status" -eq 0 ]
	while read -r name; do
		grep -q "^$name " <<<"$output"
	done < <(grep -vE '^(#|$)' "$BATS_TEST_DIRNAME/../../policy/settings.tbl" | cut -d' ' -f1)
}

@test "POOL-8: show -j lines fit their schema, and named settings are shown alone" {
	kz config show -j | python3 "$BATS_TEST_DIRNAME/../schema.py" --expect setting
	run kz config show -j KZ_RUN_PIDS
	[ "$status" -eq 0 ]
	[ "${#lines[@]}" -eq 1 ]
	[ "$(jq -r .value <<<"$output")" = 128 ]
}

@test "POOL-8: a name that is no setting is refused before anything is printed" {
	run --separate-stderr kz config show KZ_RUN_PIDS KZ_NONSENSE
	[ "$status" -eq 78 ]
	[ -z "$output" ]
	[[ "$stderr" == *setting_unknown*KZ_NONSENSE* ]]
}

@test "DEP-15: the caller's environment sets nothing" {
	make_state
	KZ_RUN_PIDS=7 run kz config show -j KZ_RUN_PIDS
	[ "$status" -eq 0 ]
	[ "$(jq -r .value <<<"$output")" = 128 ]
}

@test "POOL-8: set stores, and show tells it" {
	make_state
	run kz config set SANDBOX_WARM_POOL_MIN=5 KZ_RUN_PIDS=64
	[ "$status" -eq 0 ]
	[ "$(cat "$KZ_STATE/env/SANDBOX_WARM_POOL_MIN")" = 5 ]
	[ "$(kz config show -j KZ_RUN_PIDS | jq -r .value)" = 64 ]
}

@test "BRK-32: registries of packages that make no sense are stored, and what is wrong is told" {
	make_state
	run kz config set 'SANDBOX_PACKAGE_REGISTRIES={"pypi":{"indx":"https://h/simple/"}}'
	echo "$output"
	[ "$status" -eq 0 ]
	[[ "$output" == *"no package can be installed: SANDBOX_PACKAGE_REGISTRIES: pypi: "* ]]
	run kz config set 'SANDBOX_PACKAGE_REGISTRIES={"pypi":{"index":"https://h/simple/"}}' KZ_RUN_PIDS=64
	[ "$status" -eq 0 ]
	[ "$output" = "kz: 2 settings stored" ]
}

@test "POOL-8: one setting may be two words, its value kept as it is" {
	make_state
	kz config set KZ_RUN_PIDS 65
	[ "$(cat "$KZ_STATE/env/KZ_RUN_PIDS")" = 65 ]
	kz config set KZ_EGRESS_DENY_CIDRS "8.8.8.0/24, a=b"
	[ "$(cat "$KZ_STATE/env/KZ_EGRESS_DENY_CIDRS")" = "8.8.8.0/24, a=b" ]
	run --separate-stderr kz config set KZ_RUN_PIDS
	[ "$status" -ne 0 ]
	[ -n "$stderr" ]
	run --separate-stderr kz config set NO_SUCH_SETTING 1
	[ "$status" -eq 78 ] && [[ "$stderr" == *setting_unknown* ]]
}

@test "POOL-8: nonsense is refused by name, with status 78, and nothing is stored" {
	make_state
	local bad
	for bad in SANDBOX_WARM_POOL_MIN=-1 SANDBOX_WARM_POOL_MIN=8x SANDBOX_WARM_POOL_MIN=9223372036854775808 \
		SANDBOX_POOL_MAX_ALLOCATED=1000000000 SANDBOX_WARM_POOL_MIN= SANDBOX_POOL_MAX_ALLOCATED=0 \
		KZ_RUN_MEMORY_BYTES=1 "KZ_RUN_PIDS= 3" KZ_RUN_PIDS=+3; do
		run --separate-stderr kz config set "$bad"
		echo "$bad: $status $stderr"
		[ "$status" -eq 78 ]
		[[ "$stderr" == *setting_invalid*"${bad%%=*}"* ]]
		[ -z "$(ls "$KZ_STATE/env")" ]
	done
}

@test "POOL-5 missing cap: a size of the pool that is no size is refused by name" {
	make_state
	local bad
	for bad in 1000000000 -1 8x 9223372036854775808 99999999999999999999 1e9 ''; do
		run --separate-stderr kz config set "SANDBOX_POOL_MAX_ALLOCATED=$bad"
		echo "$bad: $status $stderr"
		[ "$status" -eq 78 ]
		[[ $stderr == *SANDBOX_POOL_MAX_ALLOCATED* ]]
	done
	[ ! -e "$KZ_STATE/env/SANDBOX_POOL_MAX_ALLOCATED" ]
}

@test "POOL-8: settings that are right alone and wrong together are refused" {
	make_state
	run --separate-stderr kz config set SANDBOX_WARM_POOL_MIN=20 SANDBOX_POOL_MAX_ALLOCATED=10
	[ "$status" -eq 78 ]
	[[ "$stderr" == *setting_invalid* ]]
	[ -z "$(ls "$KZ_STATE/env")" ]
}

@test "POOL-8: settings that are right only together are stored in any order" {
	make_state
	kz config set SANDBOX_WARM_POOL_MIN=40 SANDBOX_POOL_MAX_ALLOCATED=50
	kz config set SANDBOX_POOL_MAX_ALLOCATED=3 SANDBOX_WARM_POOL_MIN=2
	[ "$(kz config show -j SANDBOX_POOL_MAX_ALLOCATED | jq -r .value)" = 3 ]
	[ "$(kz config show -j SANDBOX_WARM_POOL_MIN | jq -r .value)" = 2 ]
}

@test "POOL-8: two that set at once are judged one after the other, so they cannot be wrong together" {
	local first second
	make_state
	exec 8>"$KZ_STATE/front.lock"
	flock 8
	kz config set KZ_RUN_PIDS=98 SANDBOX_WARM_POOL_MIN=20 >"$BATS_TEST_TMPDIR/first" 2>&1 8>&- &
	first=$!
	kz config set KZ_RUN_PIDS=99 SANDBOX_POOL_MAX_ALLOCATED=10 >"$BATS_TEST_TMPDIR/second" 2>&1 8>&- &
	second=$!
	waits() { find "/proc/$1/fd" -lname "$KZ_STATE/front.lock" | grep -q .; }
	kz_wait 20 waits "$first"
	kz_wait 20 waits "$second"
	exec 8>&-
	wait "$first" && first=0 || first=$?
	wait "$second" && second=0 || second=$?
	cat "$BATS_TEST_TMPDIR/first" "$BATS_TEST_TMPDIR/second"
	[ $((first + second)) -eq 78 ]
	kz config check
	# all or nothing
	[ "$(kz config show -j KZ_RUN_PIDS | jq -r .value)" = $((first == 0 ? 98 : 99)) ]
}

@test "POOL-8: one wrong name among right ones stores none of them" {
	make_state
	run kz config set KZ_RUN_PIDS=64 KZ_NONSENSE=1
	[ "$status" -eq 78 ]
	[ ! -e "$KZ_STATE/env/KZ_RUN_PIDS" ]
}

@test "POOL-8: check names the stored setting that is wrong, and set can mend it" {
	make_state
	echo many >"$KZ_STATE/env/KZ_RUN_PIDS"
	run --separate-stderr kz config check
	[ "$status" -eq 78 ]
	[[ "$stderr" == *setting_invalid*KZ_RUN_PIDS* ]]
	kz config set KZ_RUN_PIDS=99
	run kz config check
	[ "$status" -eq 0 ]
}

@test "POOL-8: a stored name of kz that is no setting is told" {
	make_state
	echo 1 >"$KZ_STATE/env/SANDBOX_NO_SUCH"
	run --separate-stderr kz config check
	[ "$status" -eq 78 ]
	[[ "$stderr" == *SANDBOX_NO_SUCH* ]]
}

@test "POOL-8: set without a state directory says how to start" {
	run --separate-stderr kz config set KZ_RUN_PIDS=64
	[ "$status" -eq 69 ]
	[[ "$stderr" == *not_running*"kz up"* ]]
	[ ! -e "$KZ_STATE" ]
}

@test "POOL-8: config with a wrong command line is status 64 and one line of usage" {
	local args
	for args in "" "nonsense" "set" "check more" "show --nonsense" "set NOEQUALS" "set =1"; do
		# shellcheck disable=SC2086 # words on purpose
		run --separate-stderr kz config $args
		echo "kz config $args: $status $stderr"
		[ "$status" -eq 64 ]
		[ "${#stderr_lines[@]}" -eq 1 ]
		[ ! -e "$KZ_STATE" ]
	done
}

@test "POL-9: the policy takes any text of one line, which stops nothing; config check is content" {
	make_state
	kz config set SANDBOX_EGRESS_MODE=nonsense "SANDBOX_EGRESS_ALLOWED_PORTS=80, 99999"
	run kz config check
	[ "$status" -eq 0 ]
	[ "$(kz config show -j SANDBOX_EGRESS_MODE | jq -r .value)" = nonsense ]
	printf 'a\0b' >"$KZ_STATE/env/SANDBOX_EGRESS_MODE"
	kz config check
	[ "$(kz config show -j SANDBOX_EGRESS_MODE | jq -r .value)" = null ]
}

@test "POL-10: a setting of the policy has no default; show names what an installation writes" {
	make_state
	kz config show -j SANDBOX_EGRESS_MODE | jq -e '.value == null and .default == null and .packaged == "public_internet"'
	kz config set SANDBOX_EGRESS_MODE=
	[ "$(kz config show -j SANDBOX_EGRESS_MODE | jq -r .value)" = "" ]
	[ "$(wc -c <"$KZ_STATE/env/SANDBOX_EGRESS_MODE")" -eq 1 ]
}

@test "POL-19: a value is replaced whole: a reader sees the old one or the new one" {
	make_state
	kz config set "SANDBOX_EGRESS_HOST_ALLOWLIST=a.example"
	exec 9<"$KZ_STATE/env/SANDBOX_EGRESS_HOST_ALLOWLIST"
	kz config set "SANDBOX_EGRESS_HOST_ALLOWLIST=b.example"
	[ "$(cat <&9)" = a.example ]
	exec 9<&-
	[ "$(cat "$KZ_STATE/env/SANDBOX_EGRESS_HOST_ALLOWLIST")" = b.example ]
	[ "$(find "$KZ_STATE/env" -type f ! -name .lock | wc -l)" -eq 1 ]
}

@test "DEP-15: a policy in the caller's environment is nobody's" {
	make_state
	SANDBOX_EGRESS_MODE=public_internet run kz config show -j SANDBOX_EGRESS_MODE
	[ "$status" -eq 0 ]
	[ "$(jq -r .value <<<"$output")" = null ]
}

@test "POOL-8 WS-8: a store or a Valkey of another scheme is refused, when it is set and when it stands there" {
	make_state
	for setting in KZ_OBJECTS_URL=ftp://host/path KZ_VALKEY_URL=http://host; do
		run --separate-stderr kz config set "$setting"
		[ "$status" -eq 78 ]
		[[ $stderr == *": url_unsupported: ${setting%%=*}: "* ]]
		[ ! -e "$KZ_STATE/env/${setting%%=*}" ]
		echo "${setting#*=}" >"$KZ_STATE/env/${setting%%=*}"
	done
	run --separate-stderr kz-lease list
	[ "$status" -eq 78 ]
	[[ $stderr == *": url_unsupported: KZ_VALKEY_URL: "* ]]
}
