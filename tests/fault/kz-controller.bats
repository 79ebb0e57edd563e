#!/usr/bin/env bats
# weight 70
# Each effect of kz-controller fails once (it is killed at them in stack.bats, on a real stack): it goes on, and the audit
# chain is whole. Of calls that are alike every 7th after the 12th is taken, and six of each other point.

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
	live || return 1
	c_stop "$dir" KILL || true
	sed -n 's|^kz-controller/||p' "$dir/trace" | awk -F: '$1 != "VK_CALL" || $2 <= 12 || $2 % 7 == 0' |
		awk -F: '$1 != "DB_COMMIT" && $1 != "AUDIT_HEAD" && $1 != "SPAWN" || $2 <= 6'
}

@test "AUD-10 each effect fails once: it goes on, or closes and opens again" {
	passings >"$dir/passings"
	[ "$(wc -l <"$dir/passings")" -ge 12 ]
	while read -r -u 5 at; do
		c_start "$dir" KZ_FAULT="kz-controller/$at:fail"
		c_wait 12 c_speaks "$dir"
		c_wait 12 c_settled "$dir" 2
		kill -0 "$(cat "$dir/controller.pid")"
		c_stop "$dir" KILL || true
		c_verifies "$dir"
	done 5<"$dir/passings"
}
