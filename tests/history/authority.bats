#!/usr/bin/env bats
# weight 23
# The authority against a real Valkey, one operation at a time.

bats_require_minimum_version 1.5.0
load auth

setup_file() {
	make -s -C "$BATS_TEST_DIRNAME/../.." build/tests/history/drive
}
setup() { auth_up; }
teardown() { auth_down; }

@test "LEASE-7 LEASE-9 POOL-17 a worker is leased, reset and published, and its tokens change each time" {
	drive setup d n1 1
	read -r lease token worker fence _ <<<"$(drive acquire d a c 0 60000)"
	[ "${worker:0:1}" = w ]
	[ "$fence" -gt 1600000000000 ]
	read -r reset _ <<<"$(drive release d "$lease" "$token")"
	[ "$reset" != "$token" ]
	drive publish d "$lease" "$reset"
	read -r lease2 token2 worker2 fence2 _ <<<"$(drive acquire d a c 0 60000)"
	[ "$worker2" = "$worker" ]
	[ "$lease2" != "$lease" ]
	[ "$token2" != "$token" ]
	[ "$fence2" -gt "$fence" ]
}

@test "INV-10 LEASE-10 FENCE-9 a token that is not the current one changes nothing" {
	drive setup d n1 1
	read -r lease token _ <<<"$(drive acquire d a c 0 60000)"
	auth_dump >"$dir/before"
	for verb in renew release publish retire quarantine abandon; do
		run -75 drive "$verb" d "$lease" 00000000000000000000000000000000
		run -75 drive "$verb" d "$lease" -
		run -75 drive "$verb" d 00000000000000000000000000000000 "$token"
	done
	auth_dump >"$dir/after"
	diff "$dir/before" "$dir/after"
	read -r reset _ <<<"$(drive release d "$lease" "$token")"
	auth_dump >"$dir/before"
	for verb in renew publish retire abandon; do
		run -75 drive "$verb" d "$lease" "$token"
	done
	auth_dump >"$dir/after"
	diff "$dir/before" "$dir/after"
}

@test "LEASE-20 a repeated release has one effect and cannot touch a later lease" {
	drive setup d n1 1
	read -r lease token _ <<<"$(drive acquire d a c 0 60000)"
	read -r reset _ <<<"$(drive release d "$lease" "$token")"
	read -r again _ <<<"$(drive release d "$lease" "$token")"
	[ "$again" = "$reset" ]
	drive publish d "$lease" "$reset"
	read -r _ <<<"$(drive acquire d b c2 0 60000)"
	auth_dump >"$dir/before"
	run -75 drive release d "$lease" "$token"
	[[ "$output" == "refused lease_released"* ]]
	# what was told of it is no help to one without the token
	run -75 drive release d "$lease" "${token:0:31}x"
	[[ "$output" == "refused lease_lost"* ]]
	auth_dump >"$dir/after"
	diff "$dir/before" "$dir/after"
}

@test "LEASE-2 LEASE-3 LEASE-22 LEASE-24 each refusal has its own reason and waiting counts for nothing" {
	drive setup d n1 4 SANDBOX_WARM_POOL_MIN=4 SANDBOX_ACQUIRE_QUEUE_MAX=1 SANDBOX_ACQUIRE_WAIT_SECONDS=15
	drive acquire d a c1 0 60000
	run -75 drive acquire d a c1 0 60000
	[[ "$output" == "refused workspace_busy"* ]]
	drive acquire d a c2 0 60000
	run -75 drive acquire d a c3 0 60000
	[[ "$output" == "refused member_limit"*"2 of 2 leases"*SANDBOX_MAX_CONCURRENT_PER_MEMBER* ]]
	auth_bg wait acquire d a c4 60000 60000
	auth_wait 5 eval '[ "$(drive status d | jq .waiting)" = 1 ]'
	run -75 drive acquire d a c5 5000 60000
	[[ "$output" == "refused queue_full"* ]]
	drive acquire d b c6 0 60000
	wait "$bg" || [ $? -eq 75 ]
	grep -q '^refused wait_timeout' "$dir/wait.out"
	[ "$(drive status d | jq .waiting)" = 0 ]
	drive close d "" deployment_closed
	run -77 drive acquire d b c7 0 60000
	[[ "$output" == "refused deployment_closed"* ]]
}

@test "LEASE-5 INV-12 INV-26 a member at its limit is passed over and keeps its number" {
	drive setup d n1 2
	read -r l1 t1 _ <<<"$(drive acquire d a c1 0 60000)"
	read -r l2 t2 _ <<<"$(drive acquire d a c2 0 60000)"
	auth_bg first acquire d a c3 20000 60000
	auth_wait 5 eval '[ "$(drive status d | jq .waiting)" = 1 ]'
	auth_bg second acquire d b c4 20000 60000
	auth_wait 5 eval '[ "$(drive status d | jq .waiting)" = 2 ]'
	auth_bg third acquire d a c5 20000 60000
	auth_wait 5 eval '[ "$(drive status d | jq .waiting)" = 3 ]'
	# A worker comes free without freeing the member: the other member gets it, though it came later.
	read -r create worker instance token _ <<<"$(drive step d n1 | grep ^create)"
	[ "$create" = create ]
	drive ready d "$worker" "$token" "$instance" sha256:drive
	auth_wait 5 grep -q "$worker" "$dir/second.out"
	[ ! -s "$dir/first.out" ]
	# The member's own tickets keep their order.
	read -r reset _ <<<"$(drive release d "$l1" "$t1")"
	drive publish d "$l1" "$reset"
	auth_wait 5 grep -q ^ "$dir/first.out"
	[ ! -s "$dir/third.out" ]
	read -r reset _ <<<"$(drive release d "$l2" "$t2")"
	drive publish d "$l2" "$reset"
	auth_wait 5 grep -q ^ "$dir/third.out"
}

@test "LEASE-6 stale grant: a killed or stopped waiter never holds the head of the line" {
	drive setup d n1 1
	read -r lease token _ <<<"$(drive acquire d a c1 0 60000)"
	auth_bg dead acquire d b c2 25000 60000
	auth_wait 5 eval '[ "$(drive status d | jq .waiting)" = 1 ]'
	dead=$bg
	auth_bg live acquire d c c3 25000 60000
	auth_wait 5 eval '[ "$(drive status d | jq .waiting)" = 2 ]'
	kill -STOP "$dead"
	sleep 2.2
	read -r reset _ <<<"$(drive release d "$lease" "$token")"
	drive publish d "$lease" "$reset"
	auth_wait 4 grep -q ^ "$dir/live.out"
	# The one that was silent is alive again, has its number still, and is served next.
	kill -CONT "$dead"
	read -r lease token _ <"$dir/live.out"
	read -r reset _ <<<"$(drive release d "$lease" "$token")"
	drive publish d "$lease" "$reset"
	auth_wait 5 grep -q ^ "$dir/dead.out"
}

@test "LEASE-12 LEASE-13 FENCE-2 expiry is by Valkey's clock and ends in deletion" {
	drive setup d n1 1
	read -r lease token worker _ expires <<<"$(drive acquire d a c 0 12000)"
	# A client whose clock is an hour ahead or behind renews all the same, and moves nothing by it.
	read -r _ renewed <<<"$(faketime -f '+1h' "$drive_bin" renew "$url" d "$lease" "$token")"
	[ "$renewed" -ge "$expires" ]
	[ "$renewed" -lt $((expires + 1000000)) ]
	read -r _ renewed <<<"$(faketime -f '-1h' "$drive_bin" renew "$url" d "$lease" "$token")"
	[ "$renewed" -ge "$expires" ]
	[ "$renewed" -lt $((expires + 1000000)) ]
	sleep 12.2
	for verb in renew release publish abandon; do
		run -75 faketime -f '-1h' "$drive_bin" "$verb" "$url" d "$lease" "$token"
	done
	drive step d n1 | grep "^delete $worker "
	[ "$(drive status d | jq .workers.retiring)" = 1 ]
	run -75 drive acquire d b c2 0 60000
	instance=$(cli get "{kz:d}:w:$worker" | cut -d' ' -f3)
	# Only proved absence frees capacity, and only of this instance.
	run -75 drive absent d "$worker" 00000000000000000000000000000000
	[ "$(drive status d | jq .workers.retiring)" = 1 ]
	drive absent d "$worker" "$instance"
	[ "$(drive status d | jq .workers.retiring)" = 0 ]
}

@test "FENCE-4 FENCE-6 a create of unknown outcome counts until it can no longer take effect" {
	drive setup d n1 0 KZ_CREATE_TIMEOUT_SECONDS=10
	read -r _ worker instance token _ <<<"$(drive step d n1 | head -n 1)"
	drive unknown d "$worker" "$token"
	[ "$(drive status d | jq .ambiguous)" = 1 ]
	run -75 drive absent d "$worker" "$instance"
	[[ "$output" == "refused create_unsettled"* ]]
	drive inventory d n1
	[ "$(drive status d | jq .ambiguous)" = 1 ]
	# Late success is not believed.
	run -75 drive ready d "$worker" "$token" "$instance" sha256:drive
	auth_wait 30 eval 'drive inventory d n1 && [ "$(drive status d | jq .ambiguous)" = 0 ]'
}

@test "FENCE-7 FENCE-13 orphans are counted, deleted, never leased; the same inventory twice changes nothing" {
	drive setup d n1 1
	w=$(cli --no-raw keys '{kz:d}:w:*' | sed 's/.*:w:\([a-z0-9]*\).*/\1/')
	i=$(cli get "{kz:d}:w:$w" | cut -d' ' -f3)
	drive inventory d n1 "$w:$i:0:0" orphan:11111111111111111111111111111111:99999999999999:1
	[ "$(drive status d | jq -c '[.workers.retiring, .allocated]')" = '[1,2]' ]
	auth_dump >"$dir/before"
	drive inventory d n1 "$w:$i:0:0" orphan:11111111111111111111111111111111:99999999999999:1
	auth_dump >"$dir/after"
	diff "$dir/before" "$dir/after"
	# The fence is higher than any that a living worker ever saw.
	read -r _ _ _ fence _ <<<"$(drive acquire d a c 0 60000)"
	[ "$fence" -gt 99999999999999 ]
	drive step d n1 | grep '^delete orphan 11111111111111111111111111111111'
	drive absent d orphan 11111111111111111111111111111111
	[ "$(drive status d | jq .workers.retiring)" = 0 ]
}

@test "POOL-15 POOL-16 INV-16 a worker of another image is never leased" {
	drive setup d n1 1
	read -r lease reset _ <<<"$(drive acquire d a c 0 60000)"
	read -r reset _ <<<"$(drive release d "$lease" "$reset")"
	drive publish d "$lease" "$reset"
	read -r lease reset _ <<<"$(drive acquire d a c 0 60000)"
	read -r _ worker instance token _ <<<"$(drive step d n1 | grep ^create | head -n 1)"
	run -70 drive ready d "$worker" "$token" "$instance" sha256:other
	[[ "$output" == "refused image_mismatch"* ]]
	D=$(sed -n '1s/.*name=//p' "$root/build/kz.lua")
	cli fcall "${D}_image" 1 '{kz:d}' sha256:new
	# Clean, but outdated: what is proved is not published any more.
	read -r reset _ <<<"$(drive release d "$lease" "$reset")"
	drive publish d "$lease" "$reset"
	run -75 drive acquire d a c 0 60000
	[ "$(drive status d | jq -c '[.workers.warm, .workers.leased]')" = '[0,0]' ]
}

@test "POOL-12 two deployments on one Valkey never meet" {
	drive setup d n1 1
	drive setup e n1 1
	read -r lease token _ <<<"$(drive acquire d a c 0 60000)"
	drive acquire e a c 0 60000
	run -75 drive release e "$lease" "$token"
	[ "$(drive status e | jq .allocated)" = 1 ]
	drive close e "" deployment_closed
	drive renew d "$lease" "$token"
	! cli --no-raw keys '*' | grep -v '{kz:d}' | grep -v '{kz:e}'
}

@test "FENCE-10 LEASE-18 a restarted, emptied or reloaded store is closed until reconciled" {
	drive setup d n1 1
	is_open
	kill -KILL "$server"
	wait "$server" || [ $? -eq 137 ]
	run -69 drive acquire d a c 0 60000
	[[ "$output" == "refused coordination_unavailable"* ]]
	auth_server
	# The library came back with the data; what it knew did not.
	run -69 drive acquire d a c 0 60000
	[[ "$output" == "refused not_reconciled"* ]]
	drive setup d n1 0
	is_open
	cli flushall
	run -69 drive acquire d a c 0 60000
	[[ "$output" == "refused not_reconciled"* ]]
	run -69 drive open d n1
	[[ "$output" == "refused not_reconciled"* ]]
	cli function flush
	run -76 drive acquire d a c 0 60000
	drive setup d n1 0
	is_open
}

@test "DEP-9 an evicting server is refused at load and closes admission at the next inventory" {
	drive setup d n1 1
	cli config set maxmemory-policy allkeys-lru
	run -78 drive setup e n1 1
	[[ "$output" == "refused valkey_evicts"* ]]
	run -78 drive inventory d n1
	[[ "$output" == "refused valkey_evicts"* ]]
	run -78 drive acquire d a c 0 60000
	[[ "$output" == "refused valkey_evicts"* ]]
}

@test "LEASE-18 frozen, full and read-only servers each have their reason" {
	drive setup d n1 1
	cli config set maxmemory 1
	run -69 drive acquire d a c 0 60000
	[[ "$output" == "refused coordination_memory"* ]]
	cli config set maxmemory 0
	cli replicaof 127.0.0.1 1
	run -69 drive acquire d a c 0 60000
	[[ "$output" == "refused coordination_readonly"* ]]
	cli replicaof no one
	kill -STOP "$server"
	run -69 drive acquire d a c 0 60000
	[[ "$output" == "refused coordination_unavailable"* ]]
	kill -CONT "$server"
}

@test "LEASE-19 a node whose inventory is stale serves nobody" {
	drive setup d n1 1
	D=$(sed -n '1s/.*name=//p' "$root/build/kz.lua")
	cli fcall "${D}_open" 1 '{kz:d}' n1 100
	sleep 0.3
	run -69 drive acquire d a c 0 60000
	[[ "$output" == "refused inventory_unavailable"* ]]
}

@test "POOL-10 AUD-9 the outbox has every transition once, in order, until it is acknowledged" {
	drive setup d n1 2
	read -r lease token _ <<<"$(drive acquire d a c 0 60000)"
	drive release d "$lease" "$token"
	[ "$(drive status d | jq .outbox)" -ge 8 ]
	drive outbox d >"$dir/outbox.n1"
	[ "$(drive status d | jq .outbox)" = 0 ]
	auth_judge | grep ' 1 leases'
}

@test "POOL-8 settings that make no sense together close admission by name" {
	drive setup d n1 1
	run -78 drive setup d n1 1 SANDBOX_WARM_POOL_MIN=9
	[[ "$output" == *SANDBOX_WARM_POOL_MIN* ]]
	run -78 drive acquire d a c 0 60000
	[[ "$output" == "refused setting_invalid"* ]]
}

@test "POOL-3 to 7 19 21 26 the rule of the pool is the one of the table in Lua too" {
	drive setup d n1 0
	D=$(sed -n '1s/.*name=//p' "$root/build/kz.lua")
	while IFS=$'\t' read -r _ a b c d e f g h i j k want_desired want_creates want_retires; do
		got=$(cli fcall_ro "${D}_pool" 1 '{kz:d}' "$a" "$b" "$c" "$d" "$e" "$f" "$g" "$h" "$i" "$j" "$k" | paste -sd' ')
		[ "$got" = "$want_desired $want_creates $want_retires" ]
	done < <(grep -v '^#' "$root/tests/golden/pool.tsv")
}

@test "LEASE-9 the holder of a dead process loses its lease at once, whatever its state" {
	drive setup d n1 2
	read -r l1 t1 w1 _ <<<"$(drive acquire d a c1 0 60000 pid-1)"
	read -r l2 t2 w2 _ <<<"$(drive acquire d a c2 0 60000 pid-2)"
	drive release d "$l2" "$t2"
	drive step d n1 | sort >"$dir/checks"
	grep -q "^check $w1 .* pid-1" "$dir/checks"
	grep -q "^check $w2 .* pid-2" "$dir/checks"
	drive gone d "$l1"
	drive gone d "$l2"
	drive gone d "$l2"
	[ "$(drive status d | jq .workers.retiring)" = 2 ]
	run -75 drive renew d "$l1" "$t1"
}
