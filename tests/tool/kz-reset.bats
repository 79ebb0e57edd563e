#!/usr/bin/env bats
# kz-reset in a private stack: evidence printed, worker published or retired, lease gone.
bats_require_minimum_version 1.5.0

load ../kz

# One worker and no other: none that is made meanwhile is leased in its place.
setup_file() { kz_start SANDBOX_WARM_POOL_MIN=1 SANDBOX_POOL_TARGET_IDLE=0 SANDBOX_POOL_MAX_ALLOCATED=1 SANDBOX_MAX_CONCURRENT_PER_MEMBER=2; }
teardown_file() { kz_stop; }

setup() {
	kz_wait 30 pool_is_warm
	lease=$(kz-lease acquire -A reset-test -C "$BATS_TEST_NUMBER" -j)
	id=$(jq -r .lease <<<"$lease")
	worker=$(jq -r .worker <<<"$lease")
	KZ_LEASE_TOKEN=$(jq -r .token <<<"$lease")
	export KZ_LEASE_TOKEN
}

# what a failed test still holds
teardown() {
	[ -z "${stopped:-}" ] || kill -CONT "$stopped" 2>/dev/null || true
	kz-lease release "$id" >/dev/null 2>&1 || true
}

is_gone() { [ ! -e "$KZ_STATE/workers/$worker" ]; }

pool_is_warm() { [ "$(kz status -j | jq -r .workers.warm)" -ge 1 ]; }

# run the program in the lease, as kz-lease with does
use() { KZ_LEASE=$id KZ_FENCE=$(jq -r .fence <<<"$lease") kz-run -A reset-test -C "$BATS_TEST_NUMBER" -l shell -c "$1"; }

@test "RESET-5: the evidence names worker, lease, operation and every surface, equal to the baseline" {
	use 'touch a /tmp/b /dev/shm/c; (setsid sleep 100 &)'
	run -0 --separate-stderr kz-reset -j "$id"
	python3 "$BATS_TEST_DIRNAME/../schema.py" --last evidence <<<"$output"
	[ "$(jq -r '[.type,.clean,.worker,.lease]|join(" ")' <<<"$output")" = "evidence true $worker $id" ]
	[ "$(jq -r '.surfaces|keys|length' <<<"$output")" -eq \
		"$(grep -c '^X(' "$BATS_TEST_DIRNAME/../../lib/rule/surfaces.tbl")" ]
	[ "$(jq -r '[.surfaces[]|select(.now != .baseline or .digest != .baseline_digest)]|length' <<<"$output")" -eq 0 ]
}

@test "RESET-7: a worker proved clean is warm again under the same name" {
	kz-reset "$id"
	[ "$(kz-lease acquire -A reset-test -C other -j | tee "$BATS_TEST_TMPDIR/next" | jq -r .worker)" = "$worker" ]
	KZ_LEASE_TOKEN=$(jq -r .token "$BATS_TEST_TMPDIR/next") kz-lease release "$(jq -r .lease "$BATS_TEST_TMPDIR/next")"
}

@test "RESET-8: a lease that was reset cannot be reset again, nor with a wrong token" {
	KZ_LEASE_TOKEN=$(printf '%032d' 0) run -75 kz-reset "$id"
	kz-reset "$id"
	run -75 kz-reset "$id"
	[[ "$output" == *lease_lost* ]]
}

@test "RESET-9: a worker that is gone cannot be proved clean: it is retired and replaced" {
	local pid
	pid=$(kz_process1 "$worker")
	[ -n "$pid" ]
	# that finds it out first would end the lease with it
	stopped=$(kz_service_pid kz-controller)
	kill -STOP "$stopped"
	kill -9 "$pid"
	run --separate-stderr kz-reset -j "$id"
	kill -CONT "$stopped"
	[ "$status" -eq 69 ]
	[ "$(jq -rs '.[0].clean' <<<"$output")" = false ]
	kz_wait 30 pool_is_warm
	run -0 kz-lease list -j
	[[ "$output" != *"$id"* ]]
}

@test "RESET-10: a worker in which nothing can be ended is given up at the bound of the reset, retired and replaced" {
	local pid
	use 'touch a'
	pid=$(kz_process1 "$worker")
	[ -n "$pid" ]
	kz config set KZ_RESET_TIMEOUT_SECONDS 2
	kill -STOP "$pid"
	run --separate-stderr kz-reset -j "$id"
	kz config set KZ_RESET_TIMEOUT_SECONDS 20
	echo "$status $output $stderr"
	[ "$status" -eq 69 ]
	[ "$(jq -rs '.[0].clean' <<<"$output")" = false ]
	kz_wait 60 is_gone
	kz_wait 60 pool_is_warm
	run -0 kz-lease list -j
	[[ "$output" != *"$id"* ]]
}

@test "RESET-13: evidence is in the audit store, without names of files" {
	use 'touch secretname'
	kz-reset "$id"
	run -0 kz-audit list -j
	[[ "$output" == *evidence* ]]
	[[ "$output" != *secretname* ]]
}

@test "LEASE-17: the token is asked for and never taken from the arguments" {
	unset KZ_LEASE_TOKEN
	run -64 kz-reset "$id"
	[[ "$output" == *token_missing* ]]
	jq -r .token <<<"$lease" | kz-reset --token-fd 0 "$id"
}
