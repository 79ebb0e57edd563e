#!/usr/bin/env bats
# A full disk under the audit store: nothing that must be recorded happens, the reason is told, and with room again all goes on.
# shellcheck disable=SC2154 # run and kz_run set the variables
# bats file_tags=case:root
bats_require_minimum_version 1.5.0
load ../kz

setup_file() {
	kz_start SANDBOX_WARM_POOL_MIN=1 SANDBOX_POOL_MAX_ALLOCATED=2 || return 1
	# a small file system under the store, mounted where the services see it
	"$KZ_BIN/kz" down -f || return 1
	cp -a "$KZ_STATE/audit" "$KZ_STATE/audit.was"
	mount -t tmpfs -o "size=1500k,mode=2770,gid=$(stat -c %g "$KZ_STATE/audit.was")" none "$KZ_STATE/audit" || return 1
	cp -a "$KZ_STATE/audit.was/." "$KZ_STATE/audit/"
	rm -r "$KZ_STATE/audit.was"
	"$KZ_BIN/kz" up
}

teardown_file() {
	kz_stop
}

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
}

is_closed() { "$KZ_BIN/kz" status -j | jq -e '.admission | .open == false and .reason == "audit_unavailable"' >/dev/null; }
is_open() { "$KZ_BIN/kz" status -j | jq -e '.admission.open and .workers.leased == 0 and .workers.resetting == 0 and .workers.warm >= 1' >/dev/null; }
# Each lease that was granted has its end in the store.
all_ended() {
	"$KZ_BIN/kz-audit" list -j -k transition | jq -es '[.[] | select(.machine == "lease")] | group_by(.subject) |
		length > 0 and all(any(.event == "grant") and any(.to_state | IN("released", "expired", "lost")))' >/dev/null
}

@test "AUD-10 a full disk under the store closes admission, and nothing of what it guards happens" {
	local rc=0
	for _ in $(seq 500); do
		kz-run -c 'print("ran")' >out 2>err </dev/null || rc=$?
		[ "$rc" -eq 0 ] || break
	done
	[ "$rc" -eq 125 ]
	grep -q '^kz-run: audit_unavailable: ' err
	kz_wait 10 is_closed
	kz_run -c 'print("ran")'
	[ "$status" -eq 125 ]
	[ -z "$output" ]
	[[ $error == *"audit_unavailable"* ]]
	run -69 --separate-stderr kz-lease acquire -A a -C c
	# shellcheck disable=SC2154
	[[ $stderr == *"kz-lease acquire: audit_unavailable: "* ]]
	# what was written before is whole all the same
	run -0 kz-audit verify
}

@test "AUD-10 with room again admission opens by itself, what waited is recorded, and the chain is whole" {
	mount -o remount,size=16m "$KZ_STATE/audit"
	kz_wait 20 is_open
	kz_run -c 'print("ran")'
	[ "$status" -eq 0 ]
	[ "$output" = ran ]
	kz_wait 10 all_ended
	run -0 kz-audit verify
}
