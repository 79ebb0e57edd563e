#!/usr/bin/env bats
# weight 97
# Many processes, random kills, and the outbox judged afterwards.  Workers are files of
# the driver program, so that two tenants of one worker are seen where they meet.

bats_require_minimum_version 1.5.0
load auth

setup_file() {
	make -s -C "$BATS_TEST_DIRNAME/../.." build/tests/history/drive
}
setup() { auth_up; }
teardown() { auth_down; }

# controllers NODE... with the settings in sets
controllers() {
	local node
	control=()
	for node in "$@"; do
		auth_bg "controller.$node" controller d "$node" "$dir" "${sets[@]}"
		control+=("$bg")
	done
	auth_wait 10 is_open
}

# clients COUNT ACTORS ROUNDS HOLD_MS: start them; their pids in clients
clients() {
	local i
	clients=()
	for i in $(seq "$1"); do
		auth_bg "client.$i" client d "$dir" "actor$((i % $2))" "$3" "$4"
		clients+=("$bg")
	done
}

wait_clients() {
	local pid
	for pid in "${clients[@]}"; do
		wait "$pid" || [ $? -eq 137 ] || [ "$1" = any ]
	done
}

no_overlap() {
	! grep -h OVERLAP "$dir"/client.*.out
}

# Back at the wanted number, with every worker that is there known and every tenant gone or its worker deleted.
settled() {
	drive status d | jq -e --argjson warm "$1" '.workers == {creating: 0, warm: $warm, leased: 0, resetting: 0, retiring: 0}
		and .waiting == 0 and .ambiguous == 0' >/dev/null && [ "$(find "$dir/w" -type f | wc -l)" = "$1" ]
}

stop_controllers() {
	local pid
	touch "$dir/stop"
	for pid in "${control[@]}"; do
		wait "$pid"
	done
}

@test "INV-1 to 13 15 22 25 200 acquires at once by ten actors, ceiling 8: all served, the pool returns to its minimum" {
	sets=(SANDBOX_ACQUIRE_QUEUE_MAX=256)
	controllers n1
	clients 200 10 1 20
	wait_clients
	[ "$(cat "$dir"/client.*.out | grep -c ^served)" = 200 ]
	no_overlap
	auth_wait 30 settled 2
	stop_controllers
	auth_judge | tee "$dir/verdict"
	grep ' 200 leases' "$dir/verdict"
}

@test "INV-4 INV-26 200 acquires at once by one actor: never more than its limit, all served" {
	sets=(SANDBOX_ACQUIRE_QUEUE_MAX=256)
	controllers n1
	clients 200 1 1 10
	wait_clients
	[ "$(cat "$dir"/client.*.out | grep -c ^served)" = 200 ]
	no_overlap
	auth_wait 30 settled 2
	stop_controllers
	auth_judge | grep ' 200 leases'
}

@test "FENCE-3 FENCE-8 FENCE-14 INV-7 INV-8 double allocation: clients and controllers killed at random: no overlap, nothing leaks" {
	sets=(SANDBOX_LEASE_TTL_SECONDS=10)
	controllers n1
	clients 24 6 30 40
	for i in $(seq 24); do
		sleep 0.25
		kill -KILL "${clients[RANDOM % 24]}" 2>/dev/null || true
		if [ $((i % 6)) -eq 0 ]; then
			kill -KILL "${control[0]}"
			wait "${control[0]}" || [ $? -eq 137 ]
			auth_bg "controller.again.$i" controller d n1 "$dir" "${sets[@]}"
			control=("$bg")
		fi
	done
	wait_clients
	no_overlap
	auth_wait 30 settled 2
	stop_controllers
	auth_judge
}

@test "INV-2 INV-3 FENCE-8 two controllers on one deployment share its bounds and leave each other's workers alone" {
	sets=()
	controllers n1 n2
	clients 16 8 25 30
	wait_clients
	no_overlap
	# Both have made workers, and each deleted only its own: a delete of the other's would leave it leased and not there.
	grep -q 'absent create creating' "$dir/outbox.n1" "$dir/outbox.n2"
	auth_wait 30 settled 2
	drive status d | jq -e '[.nodes[].node] | sort == ["n1", "n2"]'
	stop_controllers
	auth_judge
}

@test "POOL-12 two deployments under load on one server never meet" {
	sets=()
	controllers n1
	auth_bg other setup e n1 2
	wait "$bg"
	clients 8 4 20 10
	for i in $(seq 40); do
		read -r lease token _ <<<"$(drive acquire e actor1 "c$i" 5000 60000)"
		read -r reset _ <<<"$(drive release e "$lease" "$token")"
		drive publish e "$lease" "$reset"
	done
	wait_clients
	no_overlap
	[ "$(drive status e | jq -c '[.workers.warm, .allocated]')" = '[2,2]' ]
	stop_controllers
	auth_judge
}

@test "FENCE-10 INV-13 the store is killed and emptied under load: closed until reconciled, no overlap, the pool comes back" {
	sets=(SANDBOX_LEASE_TTL_SECONDS=10)
	controllers n1
	clients 12 6 40 40
	sleep 1.5
	kill -KILL "$server"
	wait "$server" || [ $? -eq 137 ]
	auth_server
	auth_wait 10 is_open
	clients 12 6 40 40
	sleep 1.5
	cli flushall
	auth_wait 10 is_open
	wait_clients any
	no_overlap
	auth_wait 40 settled 2
	stop_controllers
	# Each life of the store is without gaps; what an emptied store had not told yet is lost with it.
	! auth_judge | grep -v transitions | grep -v 'INV-22 ticket' | grep .
}

@test "LEASE-18 a frozen server serves nobody and the pool survives it" {
	sets=()
	controllers n1
	clients 6 3 20 20
	sleep 1
	kill -STOP "$server"
	sleep 3
	kill -CONT "$server"
	wait_clients any
	no_overlap
	auth_wait 40 settled 2
	stop_controllers
	auth_judge
}
