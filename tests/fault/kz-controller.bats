#!/usr/bin/env bats
# kz-controller killed before and after each of its effects, one by one: the next one has the pool back
# within 10 s, the audit chain is whole, and nothing runs that nobody counts (FENCE-14).

load ../tool/controller

setup_file() {
	cd "$BATS_TEST_DIRNAME/../.."
	make -s -j2 FAULT=1
}

setup() {
	export C_BIN=$BATS_TEST_DIRNAME/../../build-fault/bin
	dir=$(c_new one SANDBOX_WARM_POOL_MIN=2)
	c_valkey "$dir"
}

teardown() { c_end; }

# One life: the pool is filled, a worker dies, it is replaced.
live() {
	c_wait 10 c_settled "$dir" 2 || return 1
	local victim
	victim=$(find "$dir/driver.workers" -type f ! -name '.*' | head -1)
	read -r _ _ pid <"$victim"
	kill -9 "$pid"
	c_wait 10 c_gone "$dir" "${victim##*/}" && c_wait 10 c_settled "$dir" 2
}

# The passings of a life that was not disturbed, as POINT:N; of the many alike only some.
passings() {
	c_start "$dir" KZ_FAULT_TRACE="$dir/trace"
	live
	c_stop "$dir" KILL || true
	sed -n 's|^kz-controller/||p' "$dir/trace" | awk -F: '$1 != "VK_CALL" || $2 <= 12 || $2 % 7 == 0' |
		awk -F: '$1 != "DB_COMMIT" && $1 != "AUDIT_HEAD" && $1 != "SPAWN" || $2 <= 6'
}

# Killed at this point, and then a whole one.
survives() {
	local at=$1
	rm -f "$dir/err"
	c_start "$dir" KZ_FAULT="kz-controller/$at"
	for _ in $(seq 1 60); do
		kill -0 "$(cat "$dir/controller.pid")" 2>/dev/null || break
		sleep 0.1
		[ "$(c_real "$dir")" -lt 2 ] || kill_one
	done
	c_stop "$dir" KILL || true
	c_start "$dir"
	c_wait 10 c_speaks "$dir" && c_wait 10 c_settled "$dir" 2 && c_verifies "$dir" || {
		echo "not back after $at"
		return 1
	}
	c_stop "$dir" KILL || true
}

# Give it something to do once: a worker dies.
kill_one() {
	[ ! -e "$dir/killed" ] || return 0
	touch "$dir/killed"
	local pid
	read -r _ _ pid <"$(find "$dir/driver.workers" -type f ! -name '.*' | head -1)" || return 0
	kill -9 "$pid" 2>/dev/null || return 0 # just deleted
}

@test "FENCE-14 killed before each effect" {
	for at in $(passings); do
		rm -f "$dir/killed"
		survives "$at:before"
	done
}

@test "FENCE-14 killed after each effect" {
	for at in $(passings); do
		rm -f "$dir/killed"
		survives "$at:after"
	done
}

@test "AUD-10 each effect fails once: it goes on, or closes and opens again" {
	for at in $(passings); do
		c_start "$dir" KZ_FAULT="kz-controller/$at:fail"
		c_wait 12 c_speaks "$dir"
		c_wait 12 c_settled "$dir" 2
		kill -0 "$(cat "$dir/controller.pid")"
		c_stop "$dir" KILL || true
		c_verifies "$dir"
	done
}
