#!/usr/bin/env bats
# Notebooks of Python and Node on changing workers, each against one interpreter that lives all along.
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

# notebook PROGRAM: each cell is a run of its own, and not all of them are on one worker
notebook() {
	local rows workers
	rows=$(kz-audit list -j | wc -l)
	run /usr/bin/python3 "$BATS_TEST_DIRNAME/$1"
	echo "$output"
	[ "$status" -eq 0 ]
	workers=$(kz-audit list -j | tail -n "+$((rows + 1))" | jq -r 'select(.worker != null) | .worker' | sort -u | wc -l)
	[ "$workers" -ge 2 ]
}

@test "KRN-2 KRN-3 KRN-6 KRN-15 forty cells give what one interpreter gives, and a named loss where that is not promised" {
	notebook notebook.py
}

@test "KRN-2 KRN-4 KRN-6 KRN-15 cells of Node give what one process gives, and each loss is named by its path" {
	notebook notebook_node.py
}
