#!/usr/bin/env bats
# A whole stack of the fault build: a reset whose worker is dirty in one surface is refused for that surface.
bats_require_minimum_version 1.5.0

setup_file() {
	root=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
	make -s -C "$root" -j2 FAULT=1 >&2
	export KZ_BIN=$root/build-fault/bin
	load ../kz
	kz_start SANDBOX_WARM_POOL_MIN=2 SANDBOX_MAX_CONCURRENT_PER_MEMBER=4
}

teardown_file() {
	load ../kz
	kz_stop
}

setup() { load ../kz; }

pool_is_warm() { [ "$(kz status -j | jq -r .workers.warm)" -ge 1 ]; }

# The reset says no and names the surface, the lease is gone, the worker too.
is_refused_for() {
	local lease id worker
	kz_wait 60 pool_is_warm
	lease=$(kz-lease acquire -A dirty -C "$1" -j)
	id=$(jq -r .lease <<<"$lease")
	worker=$(jq -r .worker <<<"$lease")
	KZ_LEASE=$id KZ_LEASE_TOKEN=$(jq -r .token <<<"$lease") KZ_FENCE=$(jq -r .fence <<<"$lease") \
		kz-run -A dirty -C "$1" -l shell -c true
	KZ_FAULT_DIRTY=$1 KZ_LEASE_TOKEN=$(jq -r .token <<<"$lease") run --separate-stderr kz-reset -j "$id"
	# shellcheck disable=SC2154 # run sets it
	echo "status $status, $output, $stderr"
	[ "$status" -eq 1 ]
	[ "$(head -1 <<<"$output" | jq -r '[.clean,.dirty]|join(" ")')" = "false $1" ]
	[[ "$stderr" == *"reset_unclean: $1 differs"* ]]
	[ "$(kz-lease list -j | grep -c "$id")" -eq 0 ]
	kz_wait 60 is_absent "$worker"
}

is_absent() { [ ! -e "$KZ_STATE/workers/$1" ]; }

@test "RESET-4: without a dirty surface the same steps publish the worker" {
	local lease
	kz_wait 60 pool_is_warm
	lease=$(kz-lease acquire -A dirty -C clean -j)
	KZ_LEASE_TOKEN=$(jq -r .token <<<"$lease") kz-reset "$(jq -r .lease <<<"$lease")"
	[ -e "$KZ_STATE/workers/$(jq -r .worker <<<"$lease")" ]
}

@test "RESET-4, RESET-6, RESET-9: each surface alone refuses the reset and retires the worker" {
	local s surfaces
	mapfile -t surfaces < <(sed -nE 's/^X\([A-Z_]+, "([a-z_]+)".*/\1/p' "$BATS_TEST_DIRNAME/../../lib/rule/surfaces.tbl")
	[ "${#surfaces[@]}" -gt 10 ]
	for s in "${surfaces[@]}"; do
		echo "surface $s" >&2
		is_refused_for "$s"
	done
}
