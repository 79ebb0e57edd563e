#!/usr/bin/env bats
# kz where no stack runs: help, bad input, states that are not there or not ours (ADM-5, ADM-8, ADM-9).

# shellcheck disable=SC2154 # stderr and stderr_lines come from run --separate-stderr
bats_require_minimum_version 1.5.0
load ../kz

setup() {
	PATH=$(kz_bin_dir):$PATH
	export KZ_STATE=$BATS_TEST_TMPDIR/state
}

@test "ADM-9: kz -h names every verb, and each verb has a help of its own" {
	run kz -h
	[ "$status" -eq 0 ]
	local verb
	for verb in up down status doctor logs config help; do
		grep -q "kz $verb" <<<"$output"
		run kz help "$verb"
		[ "$status" -eq 0 ]
		[[ "${lines[0]}" == "usage: kz "* ]]
		[ "$(kz "$verb" -h)" = "$output" ] || [ "$verb" = help ]
		[[ "$(kz "$verb" -h)" == "usage: kz $verb"* ]]
		run kz -h
	done
	# what a verb is called stands apart from what it does, however long it is
	run kz-audit -h
	[[ "$output" == *"  check-receipt  check a receipt"* ]]
}

@test "ADM-9: kz X runs kz-X, and kz help X is kz-X -h" {
	run kz audit -h
	[ "$status" -eq 0 ]
	[ "$output" = "$(kz-audit -h)" ]
	run kz help audit
	[ "$output" = "$(kz-audit -h)" ]
	run kz help kz-audit
	[ "$output" = "$(kz-audit -h)" ]
}

@test "ADM-9: unknown verbs, options and topics are refused in one line, and change nothing" {
	local args
	for args in "nonsense" "--nonsense" "up --nonsense" "up more" "down more" "status more" "up --set" "help a b" \
		"status --json=1" "logs a b" "../kz-audit" "doctor -x"; do
		# shellcheck disable=SC2086 # words on purpose
		run --separate-stderr kz $args
		echo "kz $args: $status $stderr"
		[ "$status" -eq 64 ]
		[ "${#stderr_lines[@]}" -eq 1 ]
		[ ! -e "$KZ_STATE" ]
	done
	for args in "config nonsense" "config -j show" "help a b" "help -x"; do
		# shellcheck disable=SC2086 # words on purpose
		run --separate-stderr kz $args
		echo "kz $args: $status $stderr"
		[ "$status" -eq 64 ]
		[[ "$stderr" != *"usage: usage:"* ]]
	done
	run --separate-stderr kz help no-such-topic
	[ "$status" -eq 66 ]
}

@test "ADM-9: a name with a newline or a megabyte of it does no harm" {
	run --separate-stderr kz $'up\nx'
	[ "$status" -eq 64 ]
	[ "${#stderr_lines[@]}" -eq 1 ]
	run --separate-stderr kz "$(printf '%0100000d' 0)"
	[ "$status" -eq 64 ]
	KZ_STATE=/$(printf '%04000d' 0) run --separate-stderr kz status
	[ "$status" -eq 78 ]
	KZ_STATE=relative run --separate-stderr kz status
	[ "$status" -eq 78 ]
}

@test "DEP-15: an empty --state is refused, and does not mean the default" {
	run --separate-stderr kz up --state ''
	[ "$status" -eq 64 ]
	[[ "$stderr" == *usage*--state* ]]
}

@test "ADM-5: where nothing runs, status is 69 and says how to start" {
	run --separate-stderr kz status
	[ "$status" -eq 69 ]
	[[ "$stderr" == *not_running*"kz up"* ]]
	kz status -j >"$BATS_TEST_TMPDIR/line" 2>/dev/null || [ $? -eq 69 ]
	python3 "$BATS_TEST_DIRNAME/../schema.py" --expect error <"$BATS_TEST_TMPDIR/line"
	[ "$(jq -r .reason "$BATS_TEST_TMPDIR/line")" = not_running ]
}

@test "ADM-5: a file in the place of the state is told as that, and left alone" {
	local verb
	echo precious >"$KZ_STATE"
	for verb in status up 'down --purge --yes' logs; do
		# shellcheck disable=SC2086 # words
		run --separate-stderr kz $verb
		echo "$verb: $status $stderr"
		[ "$status" -ne 0 ]
		[[ $stderr != *no_permission* ]]
		[ "$(cat "$KZ_STATE")" = precious ]
	done
	run --separate-stderr kz status
	[ "$status" -eq 78 ]
	[[ $stderr == "kz status: config_invalid: $KZ_STATE is no directory" ]]
}

@test "ADM-5: down, where nothing runs, is done already and makes nothing" {
	run kz down
	[ "$status" -eq 0 ]
	run kz down --purge --yes
	[ "$status" -eq 0 ]
	[ ! -e "$KZ_STATE" ]
}

@test "ADM-9: purge without a terminal needs --yes, and says so before it stops anything" {
	run --separate-stderr kz down --purge </dev/null
	[ "$status" -eq 64 ]
	[[ "$stderr" == *--yes* ]]
}

@test "ADM-9: purge never removes a directory that is no state directory of kz" {
	mkdir -p "$KZ_STATE"
	echo precious >"$KZ_STATE/file"
	run kz down --purge --yes
	[ "$status" -ne 0 ]
	[ "$(cat "$KZ_STATE/file")" = precious ]
}

@test "ADM-9: up refuses a directory that holds something else" {
	mkdir -p "$KZ_STATE"
	echo precious >"$KZ_STATE/file"
	run --separate-stderr kz up
	[ "$status" -eq 69 ]
	[[ "$stderr" == *disk_unavailable* ]]
	[ "$(ls "$KZ_STATE")" = file ]
}

@test "ADM-9: logs without a state say how to start" {
	run --separate-stderr kz logs
	[ "$status" -eq 69 ]
	[[ "$stderr" == *not_running* ]]
}

@test "ADM-8: doctor prints one line a part, with ok, warn or fail, and leaves nothing behind" {
	run kz doctor
	local part
	for part in runtime cgroups userns seccomp valkey disk; do
		grep -qE "^(ok|warn|fail) +$part " <<<"$output"
	done
	[ "$status" -eq 0 ]
	kz doctor -j | python3 "$BATS_TEST_DIRNAME/../schema.py" --expect check
	[ ! -e "$KZ_STATE" ]
}

@test "ADM-9: a full disk for standard output is status 74, not success" {
	local args
	for args in "-h" "config show" "config show -j" "doctor -j"; do
		local status=0
		# shellcheck disable=SC2086 # words on purpose
		kz $args >/dev/full 2>"$BATS_TEST_TMPDIR/err" || status=$?
		echo "kz $args: $status $(cat "$BATS_TEST_TMPDIR/err")"
		[ "$status" -eq 74 ]
		grep -q stdout_failed "$BATS_TEST_TMPDIR/err"
	done
}

@test "ADM-9: a reader that went away ends kz with 141 and no words" {
	local status=0
	kz_unread kz config show -j 2>"$BATS_TEST_TMPDIR/err" || status=$?
	[ -z "$(cat "$BATS_TEST_TMPDIR/err")" ]
	[ "$status" = 141 ]
}

@test "RT-6: up with a runtime that is missing refuses by name, and starts nothing" {
	run --separate-stderr kz up --set KZ_RUNTIME=/no/such/runtime
	[ "$status" -eq 69 ]
	[[ "$stderr" == *runtime_unavailable* ]]
	run kz status
	[ "$status" -eq 69 ]
	[ ! -e "$KZ_STATE" ]
	run kz down --purge --yes
	[ "$status" -eq 0 ]
}

@test "RT-6: several ups at once, all refused, leave nothing either" {
	local i pids=""
	for i in 1 2 3; do
		kz up --set KZ_RUNTIME=/no/such/runtime 2>"$BATS_TEST_TMPDIR/err.$i" 3>&- &
		pids+=" $!"
	done
	for i in $pids; do
		local rc=0
		wait "$i" || rc=$?
		[ "$rc" -eq 69 ]
	done
	grep -h . "$BATS_TEST_TMPDIR"/err.*
	[ "$(grep -l runtime_unavailable "$BATS_TEST_TMPDIR"/err.* | wc -l)" -eq 3 ]
	[ ! -e "$KZ_STATE" ]
}

@test "DEP-15: a setting in the environment is not taken, and up says so once, without its value" {
	export KZ_VALKEY_URL=unix:/canary/value KZ_RUN_PIDS=64 KZ_RUNTIME=''
	run --separate-stderr kz up --set KZ_RUNTIME=/no/such/runtime --set KZ_RUN_PIDS=64
	[ "$status" -eq 69 ]
	[ "$(grep -c 'not taken from the environment' <<<"$stderr")" -eq 1 ]
	local note
	note=$(grep 'not taken from the environment' <<<"$stderr")
	[[ $note == *KZ_VALKEY_URL* ]]
	[[ $note != *KZ_RUN_PIDS* ]]
	[[ $note == *"kz up --set NAME=VALUE"* ]]
	[[ $stderr != *canary* ]]
}

@test "POOL-8: up with a setting that makes no sense names it, and makes no keys" {
	run --separate-stderr kz up --set SANDBOX_WARM_POOL_MIN=50 --set SANDBOX_POOL_MAX_ALLOCATED=3
	[ "$status" -eq 78 ]
	[[ "$stderr" == *setting_invalid* ]]
	[ ! -e "$KZ_STATE" ]
}

# The installed layout, where anybody may read it.
install_for_all() {
	ALL=$(mktemp -d /tmp/kz-all.XXXXXX)
	chmod 755 "$ALL"
	local bin
	bin=$(kz_bin_dir)
	mkdir -p "$ALL/bin" "$ALL/libexec/kz" "$ALL/share/kz" "$ALL/home"
	cp "$bin/kz" "$bin/kz-audit" "$ALL/bin/"
	cp "$bin/kz-driver-oci" "$bin/kz-worker" "$ALL/libexec/kz/"
	cp -r "$BATS_TEST_DIRNAME/../../supervise" "$ALL/share/kz/"
	chown nobody "$ALL/home"
}

as_nobody() {
	setpriv --reuid nobody --regid nogroup --clear-groups env -i HOME="$ALL/home" PATH="$ALL/bin:/usr/bin:/bin" "$@"
}

@test "RT-6: as another user up refuses by name what that user lacks, and starts nothing" {
	install_for_all
	run --separate-stderr as_nobody kz up
	echo "$status $stderr"
	[ "$status" -eq 69 ]
	[[ "$stderr" == *userns_unavailable* || "$stderr" == *cgroup_unavailable* ]]
	run as_nobody kz status
	[ "$status" -eq 69 ]
	# as if it had not been called
	[ -z "$(ls -A "$ALL/home")" ]
	mkdir "$ALL/home/mine"
	chown nobody "$ALL/home/mine"
	run as_nobody kz up --state "$ALL/home/mine"
	[ "$status" -eq 69 ]
	[ "$(ls -A "$ALL/home")" = mine ]
	[ -z "$(ls -A "$ALL/home/mine")" ]
	rm -rf "$ALL"
}

@test "LEASE-17: without permission each verb is 77 and says the fix" {
	install_for_all
	mkdir -p "$ALL/state/env"
	echo s0123456789abcdef >"$ALL/state/stack"
	chmod 750 "$ALL/state"
	local verb
	for verb in status up down logs "config show" "config set KZ_RUN_PIDS=64"; do
		# shellcheck disable=SC2086 # words on purpose
		run --separate-stderr as_nobody KZ_STATE="$ALL/state" kz $verb
		echo "$verb: $status $stderr"
		[ "$status" -eq 77 ]
		[[ "$stderr" == *no_permission* ]]
		[[ "$stderr" == *sudo* || "$stderr" == *usermod* ]]
	done
	rm -rf "$ALL"
}
