#!/usr/bin/env bats
# weight 205
# kz-controller with a driver of sleeping processes: what it keeps, what it recovers from, when it closes.

# shellcheck disable=SC2030,SC2031 # each test has a dir of its own

load controller

teardown() { c_end; }

begin() {
	dir=$(c_new one "$@")
	c_valkey "$dir"
	c_start "$dir"
}

@test "POOL-3 INV-25 an idle deployment converges to the warm minimum and opens" {
	begin
	c_wait 10 c_settled "$dir" 3
	[ "$(c_status "$dir" runtime)" = sleep ]
	c_verifies "$dir"
}

@test "LEASE-18 beginning and ending as told is nothing to warn of; what fails is" {
	begin
	c_wait 10 c_settled "$dir" 3
	c_valkey_stop "$dir"
	c_wait 10 c_is_closed "$dir" coordination_unavailable
	c_valkey "$dir"
	c_wait 10 c_is_open "$dir"
	c_stop "$dir"
	grep -q 'info: admission closed reason=deployment_closed' "$dir/err"
	# nothing else than what the missing Valkey was
	run grep -E 'warning|error' "$dir/err"
	echo "$output"
	[[ $output == *"admission closed reason=coordination_unavailable"* ]]
	run grep -vc coordination_unavailable <<<"$output"
	[ "$output" = 0 ]
}

@test "POOL-11 DEP-8 a second controller of one state directory is refused and disturbs nothing" {
	local rc=0 had
	begin
	c_wait 10 c_settled "$dir" 3
	had=$(find "$dir/driver.workers" -type f | sort)
	timeout 60 "$BIN/kz-controller" --state "$dir" 2>"$dir/second" || rc=$?
	[ "$rc" -eq 75 ]
	grep -q 'try_later: another kz-controller serves' "$dir/second"
	c_wait 10 c_settled "$dir" 3
	[ "$(find "$dir/driver.workers" -type f | sort)" = "$had" ]
	c_stop "$dir" KILL || [ $? -eq 137 ]
	c_start "$dir"
	c_wait 20 c_settled "$dir" 3
}

@test "POOL-17 readiness: a worker that is there and not ready yet is nobody's" {
	dir=$(c_new one SANDBOX_WARM_POOL_MIN=1 KZ_CREATE_TIMEOUT_SECONDS=60)
	touch "$dir/driver.do/create-slow"
	c_valkey "$dir"
	c_start "$dir"
	c_wait 10 c_has_real "$dir" 1
	c_wait 10 c_is_open "$dir"
	c_has "$dir" warm 0
	KZ_STATE=$dir run "$BIN/kz-lease" acquire -A a -C c -t 0
	echo "$output"
	[ "$status" -eq 75 ]
	[[ $output == *wait_timeout* ]]
	rm "$dir/driver.do/create-slow"
	c_wait 10 c_settled "$dir" 1
	KZ_STATE=$dir "$BIN/kz-lease" acquire -A a -C c -t 0
}

@test "POOL-3 a worker killed behind our back is replaced" {
	begin
	c_wait 10 c_settled "$dir" 3
	read -r _ _ pid <"$(find "$dir/driver.workers" -type f | head -1)"
	kill -9 "$pid"
	c_wait 10 c_happened "$dir" lost
	c_wait 10 c_settled "$dir" 3
	c_wait 10 c_has "$dir" absent 1
}

@test "FENCE-7 INV-19 a worker that Valkey does not know is deleted, never adopted" {
	begin
	c_wait 10 c_settled "$dir" 3
	KZ_STATE=$dir setsid sleep 864000 </dev/null >/dev/null 2>&1 3>&- &
	echo "$(printf '1%.0s' {1..32}) $(cat "$dir/driver.image") $!" >"$dir/driver.workers/.stranger"
	mv "$dir/driver.workers/.stranger" "$dir/driver.workers/stranger"
	c_wait 10 c_happened "$dir" absent_confirmed stranger
	[ ! -e "$dir/driver.workers/stranger" ]
	KZ_STATE=$dir "$BIN/kz-audit" list -j -w stranger | jq -es 'map(.to_state) == ["retiring", "absent"]'
}

@test "FENCE-4 FENCE-6 INV-24 a create whose answer is lost stays counted until it is settled" {
	dir=$(c_new one KZ_CREATE_TIMEOUT_SECONDS=2 SANDBOX_WARM_POOL_MIN=1 SANDBOX_POOL_MAX_ALLOCATED=2)
	touch "$dir/driver.do/create-lost"
	c_valkey "$dir"
	c_start "$dir"
	c_wait 10 c_happened "$dir" create_unknown
	rm "$dir/driver.do/create-lost"
	c_wait 25 c_settled "$dir" 1
	# the ceiling counted what nobody could tell of
	[ "$(KZ_STATE=$dir "$BIN/kz-audit" list -j -k transition | jq -sr '[foreach .[] as $r (0;
		if $r.machine != "worker" then . elif $r.from_state == "absent" then . + 1 elif $r.to_state == "absent" then . - 1 else . end)] | max')" -le 2 ]
	c_verifies "$dir"
}

@test "POOL-25 FENCE-4 a driver that says unknown is not believed absent" {
	dir=$(c_new one KZ_CREATE_TIMEOUT_SECONDS=2 SANDBOX_WARM_POOL_MIN=1)
	touch "$dir/driver.do/create-unknown"
	c_valkey "$dir"
	c_start "$dir"
	c_wait 10 c_happened "$dir" create_unknown
	rm "$dir/driver.do/create-unknown"
	c_wait 25 c_settled "$dir" 1
}

@test "POOL-15 POOL-16 INV-16 a driver that lies about the image gets nothing warm" {
	dir=$(c_new one SANDBOX_WARM_POOL_MIN=1 SANDBOX_MAX_CONCURRENT_CREATES=1)
	touch "$dir/driver.do/create-lie"
	c_valkey "$dir"
	c_start "$dir"
	c_wait 10 c_happened "$dir" image_changed
	c_has "$dir" warm 0
	rm "$dir/driver.do/create-lie"
	c_wait 15 c_settled "$dir" 1
	KZ_STATE=$dir "$BIN/kz-audit" list -j -k transition | jq -es 'map(select(.event == "ready")) | length == 1'
}

@test "POOL-20 INV-9 a delete frees nothing until absence is confirmed" {
	dir=$(c_new one SANDBOX_WARM_POOL_MIN=2 SANDBOX_POOL_MAX_ALLOCATED=2 KZ_DELETE_TIMEOUT_SECONDS=1)
	c_valkey "$dir"
	c_start "$dir"
	c_wait 10 c_settled "$dir" 2
	touch "$dir/driver.do/delete-present"
	read -r _ _ pid <"$(find "$dir/driver.workers" -type f | head -1)"
	kill -9 "$pid"
	c_wait 10 c_has "$dir" retiring 1
	sleep 2
	c_has "$dir" retiring 1
	[ "$(grep -c '^create' "$dir/driver.log")" -eq 2 ]
	rm "$dir/driver.do/delete-present"
	c_wait 15 c_settled "$dir" 2
}

@test "LEASE-19 no inventory closes admission, and a later one opens it" {
	begin
	c_wait 10 c_settled "$dir" 3
	touch "$dir/driver.do/list-fail"
	c_wait 10 c_is_closed "$dir" inventory_unavailable
	rm "$dir/driver.do/list-fail"
	c_wait 10 c_is_open "$dir"
	c_wait 10 c_settled "$dir" 3
}

@test "RT-6 a runtime that does not work is named" {
	dir=$(c_new one)
	touch "$dir/driver.do/probe-fail"
	c_valkey "$dir"
	c_start "$dir"
	c_wait 10 c_is_closed "$dir" runtime_unavailable
	rm "$dir/driver.do/probe-fail"
	c_wait 10 c_settled "$dir" 3
}

@test "LEASE-18 POOL-13 POOL-14 without Valkey nothing is made; it is published when Valkey comes" {
	dir=$(c_new one)
	c_start "$dir"
	c_wait 10 c_is_closed "$dir" coordination_unavailable
	[ "$(c_real "$dir")" -eq 0 ]
	c_valkey "$dir"
	c_wait 15 c_settled "$dir" 3
}

@test "FENCE-10 INV-13 Valkey killed: closed until reconciled, the same workers serve on" {
	begin
	c_wait 10 c_settled "$dir" 3
	c_valkey_stop "$dir" KILL
	c_wait 10 c_is_closed "$dir" coordination_unavailable
	before=$(ls "$dir/driver.workers")
	c_valkey "$dir"
	c_wait 15 c_settled "$dir" 3
	[ "$(ls "$dir/driver.workers")" = "$before" ]
	c_verifies "$dir"
}

@test "FENCE-10 INV-19 Valkey emptied: no surviving worker is adopted" {
	begin
	c_wait 10 c_settled "$dir" 3
	before=$(ls "$dir/driver.workers")
	valkey-cli -s "$dir/run/valkey.sock" flushall
	# shellcheck disable=SC2086
	c_wait 15 c_gone "$dir" $before
	c_wait 15 c_settled "$dir" 3
	for w in $before; do c_wait 10 c_happened "$dir" orphan_found "$w"; done
	c_verifies "$dir"
}

@test "LEASE-18 Valkey frozen: closed, and open again after it thaws" {
	begin
	c_wait 10 c_settled "$dir" 3
	c_valkey_stop "$dir" STOP
	c_wait 20 c_is_closed "$dir" coordination_unavailable
	c_valkey_stop "$dir" CONT
	c_wait 20 c_settled "$dir" 3
}

@test "DEP-9 eviction: a Valkey that may evict is refused by name, also when it becomes one" {
	dir=$(c_new one)
	c_valkey "$dir" allkeys-lru
	c_start "$dir"
	c_wait 10 c_is_closed "$dir" valkey_evicts
	valkey-cli -s "$dir/run/valkey.sock" config set maxmemory-policy noeviction
	c_wait 15 c_settled "$dir" 3
	valkey-cli -s "$dir/run/valkey.sock" config set maxmemory-policy allkeys-lru
	c_wait 10 c_is_closed "$dir" valkey_evicts
}

@test "POOL-8 nonsense stops admission with the setting's name; making sense opens it" {
	begin
	c_wait 10 c_settled "$dir" 3
	c_set "$dir" SANDBOX_WARM_POOL_MIN 64
	c_wait 10 c_is_closed "$dir" setting_invalid
	[[ "$(c_status "$dir" admission.text)" == *SANDBOX_WARM_POOL_MIN* ]]
	c_set "$dir" SANDBOX_WARM_POOL_MIN many
	c_wait 10 c_is_closed "$dir" setting_invalid
	c_wait 10 grep -q many "$dir/err"
	c_set "$dir" SANDBOX_WARM_POOL_MIN 4
	c_wait 10 c_settled "$dir" 4
}

@test "POOL-7 POOL-26 a lowered minimum lets the pool shrink after its idle time" {
	begin SANDBOX_WARM_POOL_MIN=4
	c_wait 10 c_settled "$dir" 4
	c_set "$dir" SANDBOX_WARM_POOL_MIN 2
	c_wait 15 c_settled "$dir" 2
}

@test "POOL-15 a new image replaces the warm workers" {
	begin
	c_wait 10 c_settled "$dir" 3
	before=$(ls "$dir/driver.workers")
	echo "sha256:$(printf 'b%.0s' {1..64})" >"$dir/driver.image"
	c_set "$dir" KZ_IMAGE "$dir" # asks the driver again
	# shellcheck disable=SC2086
	c_wait 15 c_gone "$dir" $before
	c_wait 15 c_settled "$dir" 3
}

@test "POOL-15 POOL-14 workers of other bounds come without closing: a run meanwhile is not refused" {
	local n image before
	begin
	c_wait 10 c_settled "$dir" 3
	before=$(grep -c 'admission closed' "$dir/err" || :)
	for n in {1..8}; do
		image=sha256:$(printf "$n%.0s" {1..64})
		echo "$image" >"$dir/driver.image"
		c_set "$dir" SANDBOX_MAX_OUTPUT_BYTES $((100000 + n))
		c_wait 15 grep -q "image published identity=$image" "$dir/err"
	done
	c_wait 15 c_settled "$dir" 3
	run grep -c 'admission closed' "$dir/err"
	[ "$output" = "$before" ]
}

@test "AUD-10 an audit store that cannot be written closes admission" {
	begin
	c_wait 10 c_settled "$dir" 3
	mv "$dir/audit" "$dir/audit.away"
	c_wait 10 c_is_closed "$dir" audit_unavailable
	mv "$dir/audit.away" "$dir/audit"
	c_wait 10 c_is_open "$dir"
	c_verifies "$dir"
}

@test "FENCE-14 the controller killed: the next one takes over what is warm" {
	begin
	c_wait 10 c_settled "$dir" 3
	before=$(ls "$dir/driver.workers")
	c_stop "$dir" KILL || true
	c_start "$dir"
	c_wait 10 c_speaks "$dir"
	c_wait 10 c_settled "$dir" 3
	[ "$(ls "$dir/driver.workers")" = "$before" ]
	c_verifies "$dir"
}

@test "FENCE-14 killed while creating: its creates are settled at once, not at their deadline" {
	dir=$(c_new one KZ_CREATE_TIMEOUT_SECONDS=600)
	touch "$dir/driver.do/create-hang"
	c_valkey "$dir"
	c_start "$dir"
	c_wait 10 c_has "$dir" creating 3
	c_stop "$dir" KILL || true
	rm "$dir/driver.do/create-hang"
	c_start "$dir"
	c_wait 10 c_settled "$dir" 3
	c_wait 10 c_has "$dir" absent 3
	c_verifies "$dir"
}

@test "DEP-1 SIGTERM: closed, no worker left, status 0" {
	begin
	c_wait 10 c_settled "$dir" 3
	c_stop "$dir" TERM
	c_has_real "$dir" 0
	c_is_closed "$dir" deployment_closed
	c_verifies "$dir"
}

@test "INV-1 POOL-12 two controllers on one Valkey: neither touches the other's workers" {
	one=$(c_new one KZ_NODE=n1)
	two=$(c_new two KZ_NODE=n2 "KZ_VALKEY_URL=unix:$BATS_TEST_TMPDIR/one/run/valkey.sock")
	c_valkey "$one"
	c_start "$one"
	c_wait 10 c_settled "$one" 3
	before=$(ls "$one/driver.workers")
	c_start "$two"
	c_wait 10 c_is_open "$two"
	c_set "$one" SANDBOX_WARM_POOL_MIN 6
	c_set "$two" SANDBOX_WARM_POOL_MIN 6
	c_wait 15 c_has_real "$two" 3
	c_has_real "$one" 3
	for w in $before; do [ -e "$one/driver.workers/$w" ]; done
	c_stop "$two" TERM
	for w in $before; do [ -e "$one/driver.workers/$w" ]; done
	[ "$(c_real "$two")" -eq 0 ]
	c_wait 15 c_has_real "$one" 6
	c_verifies "$one"
	c_verifies "$two"
}

# Transitions as numbered by Valkey.
c_rows() { KZ_STATE=$1 "$BIN/kz-audit" list -j -k transition | jq -r '"\(.store) \(.seq)"'; }
c_same_rows() { [ -n "$(c_rows "$1")" ] && [ "$(c_rows "$1")" = "$(c_rows "$2")" ]; }
c_worker_files() { find "$1/driver.workers" -type f ! -name '.*'; }
c_kill_worker() {
	local pid
	c_wait 10 eval "[ -n \"\$(c_worker_files '$1')\" ]"
	read -r _ _ pid <"$(c_worker_files "$1" | head -1)"
	kill -9 "$pid"
}

# Both pools together: what is there is what is warm, so none is being made, and none taken away as one too many.
c_at_rest() { [ $(($(c_real "$one") + $(c_real "$two"))) -eq 4 ] && c_has "$one" warm 4; }

two_nodes() {
	one=$(c_new one KZ_NODE=n1 SANDBOX_WARM_POOL_MIN=4)
	two=$(c_new two KZ_NODE=n2 SANDBOX_WARM_POOL_MIN=4 "KZ_VALKEY_URL=unix:$BATS_TEST_TMPDIR/one/run/valkey.sock")
	c_valkey "$one"
	c_start "$one"
	c_start "$two"
	c_wait 20 c_is_open "$one"
	c_wait 20 c_is_open "$two"
	c_wait 20 c_at_rest
}

@test "AUD-9 two controllers: every transition is in each audit store, and each verifies" {
	two_nodes
	c_kill_worker "$one"
	c_wait 10 c_happened "$one" lost
	c_wait 10 c_happened "$two" lost
	c_wait 20 c_at_rest
	# one of them away for a while: it gets what it missed
	c_stop "$two" KILL || true
	c_kill_worker "$one"
	c_wait 10 c_has "$one" warm 4
	c_start "$two"
	c_wait 15 c_is_open "$two"
	c_wait 15 c_same_rows "$one" "$two"
	for dir in "$one" "$two"; do
		c_verifies "$dir"
		KZ_STATE=$dir "$BIN/kz-audit" verify -j | jq -e '.joined == []'
	done
	c_wait 10 eval '[ "$(valkey-cli -s "$one/run/valkey.sock" llen "{kz:test}:o")" -le 1 ]'
}

@test "AUD-9 a node that was away too long is not waited for; its store says what it lacks" {
	two_nodes
	c_wait 15 c_same_rows "$one" "$two"
	c_stop "$two" KILL || true
	v() { valkey-cli -s "$one/run/valkey.sock" "$@"; }
	v hset "{kz:test}:oc" n2 "$(v hget "{kz:test}:oc" n2 | cut -d' ' -f1) 1 0" # it asked long ago
	c_kill_worker "$one"
	c_wait 10 c_happened "$one" lost
	c_wait 10 eval '[ "$(v hexists "{kz:test}:oc" n2)" = 0 ] && [ "$(v llen "{kz:test}:o")" -le 1 ]'
	c_start "$two"
	c_wait 15 c_speaks "$two"
	c_wait 15 c_is_open "$two"
	c_wait 20 c_at_rest
	c_kill_worker "$one"
	c_wait 15 c_happened "$two" lost
	c_wait 10 c_has "$one" warm 4
	c_verifies "$one"
	c_verifies "$two"
	KZ_STATE=$one "$BIN/kz-audit" verify -j | jq -e '.joined == []'
	KZ_STATE=$two "$BIN/kz-audit" verify -j | jq -e '.joined | length == 1 and .[0].to >= .[0].from'
}

@test "LEASE-19 INV-1 a second controller of one node is refused by name and touches nothing" {
	one=$(c_new one)
	two=$(c_new two "KZ_VALKEY_URL=unix:$BATS_TEST_TMPDIR/one/run/valkey.sock" SANDBOX_WARM_POOL_MIN=5)
	c_valkey "$one"
	c_start "$one"
	c_wait 10 c_settled "$one" 3
	before=$(ls "$one/driver.workers")
	c_start "$two"
	c_wait 10 c_is_closed "$two" node_taken
	[[ "$(c_status "$two" admission.text)" == *"process $(cat "$one/controller.pid")"*KZ_NODE* ]]
	sleep 3 # some inventories of both
	[ "$(ls "$one/driver.workers")" = "$before" ]
	c_is_open "$one"
	[ "$(c_real "$two")" -eq 0 ]
	# its end takes nothing with it either
	c_stop "$two" TERM
	[ "$(ls "$one/driver.workers")" = "$before" ]
	c_is_open "$one"
	c_wait 10 c_has "$one" warm 3
	c_verifies "$one"
	# the first one dies: the next is let in for that, however long the word of the dead one would count
	c_start "$two"
	c_wait 10 c_is_closed "$two" node_taken
	kill -STOP "$(cat "$one/controller.pid")"
	v() { valkey-cli -s "$one/run/valkey.sock" "$@"; }
	v set "{kz:test}:own:n1" "$(v get "{kz:test}:own:n1" | awk '{ print $1, $2 + 3600000, $3 }')"
	c_stop "$one" KILL || true
	c_wait 10 c_is_open "$two"
}

@test "FENCE-14 a controller that was frozen while another took its node is refused when it thaws" {
	one=$(c_new one)
	two=$(c_new two "KZ_VALKEY_URL=unix:$BATS_TEST_TMPDIR/one/run/valkey.sock")
	c_valkey "$one"
	c_start "$one"
	c_wait 10 c_settled "$one" 3
	kill -STOP "$(cat "$one/controller.pid")"
	c_start "$two"
	c_wait 20 c_is_open "$two"
	kill -CONT "$(cat "$one/controller.pid")"
	c_wait 10 c_is_closed "$one" node_taken
	c_wait 10 c_has_real "$two" 3
	sleep 2
	c_is_open "$two"
	c_has_real "$two" 3
	c_has_real "$one" 3
	# the second machine has the node, but not what the node had stored: that shows
	run c_verifies "$two"
	[ "$status" -eq 1 ]
	[[ "$output" == *transition_gap* ]]
	c_verifies "$one"
}

@test "usage: bad options, no state directory, no keys" {
	run "$BIN/kz-controller" --nonsense
	[ "$status" -eq 64 ]
	run "$BIN/kz-controller" --state "$BATS_TEST_TMPDIR/none"
	[ "$status" -ne 0 ]
	[ "${#lines[@]}" -eq 1 ]
	dir=$(c_new one)
	rm "$dir/keys/worker.key"
	run "$BIN/kz-controller" --state "$dir"
	[ "$status" -eq 78 ]
	[[ "$output" == *key_missing* ]]
}
