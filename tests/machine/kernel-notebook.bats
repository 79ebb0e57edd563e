#!/usr/bin/env bats
# A notebook of forty cells on changing workers against one interpreter that lives all along.
# shellcheck disable=SC2154
# bats file_tags=case:root
bats_require_minimum_version 1.5.0
load ../kz

setup_file() {
	kz_start SANDBOX_WARM_POOL_MIN=2 SANDBOX_POOL_TARGET_IDLE=0 SANDBOX_POOL_MAX_ALLOCATED=4 SANDBOX_ACQUIRE_WAIT_SECONDS=60 SANDBOX_MAX_WALL_SECONDS=120 KZ_RUN_MEMORY_BYTES=1073741824
}

teardown_file() {
	kz_stop
}

@test "KRN-2 KRN-3 KRN-6 KRN-15 forty cells give what one interpreter gives, and a named loss where that is not promised" {
	local workers
	run /usr/bin/python3 "$BATS_TEST_DIRNAME/notebook.py"
	echo "$output"
	[ "$status" -eq 0 ]
	# each cell is a run of its own, and not all of them were on one worker
	workers=$(kz-audit list -j | jq -r 'select(.worker != null) | .worker' | sort -u | wc -l)
	[ "$workers" -ge 2 ]
}
