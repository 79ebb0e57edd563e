#!/usr/bin/env bats
# weight 20
# The edges of the authority: lost answers, order under load, databases and logins, a full
# outbox, owners that come too late.

bats_require_minimum_version 1.5.0
load auth

setup_file() {
	make -s -C "$BATS_TEST_DIRNAME/../.." build/tests/history/drive
}
setup() { auth_up; }
teardown() { auth_down; }

# A relay in front of the server that cuts the connection instead of answering the first acquire.
deaf_relay() {
	python3 - "$dir/s" "$dir/relay" >"$dir/relay.out" 2>&1 <<'PY' &
import os, select, socket, sys
server, path = sys.argv[1:]
l = socket.socket(socket.AF_UNIX)
l.bind(path)
l.listen(8)
pairs, cut, deaf = {}, False, set()
while True:
    for s in select.select([l] + list(pairs), [], [])[0]:
        if s is l:
            c = l.accept()[0]
            u = socket.socket(socket.AF_UNIX)
            u.connect(server)
            pairs[c], pairs[u] = (u, True), (c, False)
            continue
        if s not in pairs:
            continue
        other, from_client = pairs[s]
        data = s.recv(65536)
        if from_client and b'_acquire' in data and not cut:
            cut = True
            deaf.add(other)
        if not data or s in deaf:
            if data:
                print('cut', data, flush=True)
            for x in (s, other):
                del pairs[x]
                x.close()
            continue
        other.sendall(data)
PY
	started+=($!)
	auth_wait 5 test -S "$dir/relay"
}

@test "LEASE-6 LEASE-18 an acquire whose answer is lost gives back what it got" {
	drive setup d n1 2
	deaf_relay
	run -69 "$drive_bin" acquire "unix:$dir/relay" d a c 5000 60000
	[[ "$output" == "refused coordination_unavailable"* ]]
	# It was granted, and nobody heard it.
	grep "^cut b'.*ok" "$dir/relay.out"
	[ "$(drive status d | jq -c '[.workers.leased, .workers.retiring]')" = '[0,1]' ]
	drive acquire d a c 0 60000
}

@test "FENCE-14 LEASE-6 a holder that died before it heard its lease is found by the keeper, long before the lease ends" {
	drive setup d n1 2
	sleep 300 &
	holder=$!
	D=$(sed -n '1s/.*name=//p' "$root/build/kz.lua")
	# What such a client leaves behind: the call was sent, and nobody is there for its answer.
	cli fcall "${D}_acquire" 1 '{kz:d}' 33333333333333333333333333333333 44444444444444444444444444444444 a c "pid-$holder" 0 900000 1 >/dev/null
	kill -KILL "$holder"
	wait "$holder" || [ $? -eq 137 ]
	drive step d n1 >"$dir/step"
	read -r _ _ _ lease gone <<<"$(grep ^check "$dir/step")"
	[ "$gone" = "pid-$holder" ]
	drive gone d "$lease"
	[ "$(drive status d | jq -c '[.workers.leased, .workers.retiring]')" = '[0,1]' ]
	drive acquire d a c 0 60000
}

@test "INV-12 LEASE-4 under load tickets of members with room are served in their order" {
	# Few workers for many clients that keep them longer than clients take to begin, so that there is a line on any machine.
	auth_bg controller.n1 controller d n1 "$dir" SANDBOX_MAX_CONCURRENT_PER_MEMBER=2 SANDBOX_POOL_MAX_ALLOCATED=4
	control=$bg
	auth_wait 10 is_open
	clients=()
	for i in $(seq 24); do
		auth_bg "client.$i" client d "$dir" "actor$i" 6 100
		clients+=("$bg")
	done
	for pid in "${clients[@]}"; do
		wait "$pid"
	done
	touch "$dir/stop"
	wait "$control"
	[ "$(cat "$dir"/client.*.out | grep -c ^served)" = 144 ]
	auth_judge -v ordered=1 | tee "$dir/verdict"
	# There was a line.
	read -r tickets <<<"$(sed 's/.* \([0-9]*\) tickets served.*/\1/' "$dir/verdict")"
	[ "$tickets" -gt 20 ]
}

@test "INV-12 the judge sees a ticket that was served before an earlier one" {
	printf '%s\n' \
		's 1 1 ticket none enqueue waiting 1 - a1 a -' 's 2 2 ticket none enqueue waiting 2 - a2 b -' \
		's 3 3 ticket waiting serve served 2 - a2 b -' 's 4 4 ticket waiting serve served 1 - a1 a -' >"$dir/outbox.n1"
	auth_judge
	run -1 auth_judge -v ordered=1
	[[ "$output" == *"INV-12 served after 2"* ]]
}

@test "INV-13 nothing is granted while Valkey is away, nor in a new life before it is reconciled" {
	auth_bg controller.n1 controller d n1 "$dir"
	control=$bg
	auth_wait 10 is_open
	auth_wait 10 warm_is 2
	auth_bg client client d "$dir" actor 400 5
	sleep 1
	kill -KILL "$server"
	wait "$server" || [ $? -eq 137 ]
	down=$(date +%s%3N)
	sleep 1
	up=$(date +%s%3N)
	auth_server
	auth_wait 10 is_open
	read -r lease token _ <<<"$(drive acquire d other c 20000 60000)"
	drive release d "$lease" "$token"
	touch "$dir/stop"
	wait "$control"
	# No transition at all has a time in between, and none of the second life came before its birth.
	awk -v down="$down" -v up="$up" '$3 > down && $3 < up { print; bad = 1 } END { exit bad }' "$dir/outbox.n1"
	[ "$(cut -d' ' -f1 "$dir/outbox.n1" | sort -u | wc -l)" -ge 2 ]
	awk '$4 == "lease" && $6 == "grant"' "$dir/outbox.n1" | grep .
}

@test "POOL-12 LEASE-17 another database is another deployment; a login over TCP works, a wrong one says so" {
	cli acl setuser kz on '>secret' '~*' '&*' +@all
	auth_tcp
	unix_url=$url
	url=valkey://kz:secret@127.0.0.1:$port/3
	drive setup d n1 1
	read -r lease token _ <<<"$(drive acquire d a c 0 60000)"
	[ "$(cli --raw -n 3 keys '*' | grep -vc '^{kz:d/3}:')" = 0 ]
	[ "$(cli -n 3 dbsize)" -gt 3 ]
	[ "$(cli -n 0 dbsize)" = 0 ]
	url=$unix_url
	run -75 drive release d "$lease" "$token"
	drive setup d n1 1
	drive acquire d a c 0 60000
	url=valkey://kz:secret@127.0.0.1:$port/3
	drive renew d "$lease" "$token"
	# The line works over TCP too: two connections, one that waits.
	auth_bg waiter acquire d b c2 20000 60000
	auth_wait 5 eval '[ "$(drive status d | jq .waiting)" = 1 ]'
	read -r reset _ <<<"$(drive release d "$lease" "$token")"
	drive publish d "$lease" "$reset"
	auth_wait 5 grep -q ^ "$dir/waiter.out"
	for wrong in "kz:wrong@127.0.0.1:$port/3" "nobody:secret@127.0.0.1:$port/3" "kz:secret@127.0.0.1:$port/99" "127.0.0.1:1/0"; do
		url=valkey://$wrong
		run -69 drive acquire d a c 0 60000
		[[ "$output" == "refused coordination_unavailable"* ]]
		[[ "$output" != *secret* ]]
	done
	url=$unix_url
}

@test "AUD-10 outbox_full: nothing new is granted, everything ends, and draining opens again" {
	drive setup d n1 2
	read -r lease token _ <<<"$(drive acquire d a c 0 60000)"
	# Transitions of an earlier life that nobody stored yet.
	cli eval 'for n = 100000, 1, -1 do redis.call("LPUSH", KEYS[1], ("%032d %d 1 worker warm lost retiring w - - - -"):format(7, n)) end' 1 '{kz:d}:o'
	read -r reset _ <<<"$(drive release d "$lease" "$token")"
	run -69 drive acquire d b c2 0 60000
	[[ "$output" == "refused outbox_full"* ]]
	drive publish d "$lease" "$reset"
	drive step d n1
	[ "$(drive status d | jq .outbox)" -gt 100000 ]
	drive outbox d >"$dir/drained"
	[ "$(grep -c "$(printf '^%032d ' 7)" "$dir/drained")" = 100000 ]
	[ "$(drive status d | jq .outbox)" = 0 ]
	drive acquire d b c2 0 60000
}

@test "FENCE-15 FENCE-2 owners that come too late: the reset, the create and the delete are ended by the keeper" {
	drive setup d n1 1 KZ_RESET_TIMEOUT_SECONDS=1 KZ_CREATE_TIMEOUT_SECONDS=1 KZ_DELETE_TIMEOUT_SECONDS=1
	read -r lease token worker _ <<<"$(drive acquire d a c 0 60000)"
	read -r reset _ <<<"$(drive release d "$lease" "$token")"
	read -r _ created instance create_token _ <<<"$(drive step d n1 | grep ^create)"
	sleep 6.3
	auth_dump >"$dir/before"
	run -75 drive publish d "$lease" "$reset"
	[[ "$output" == "refused token_superseded"* ]]
	run -75 drive ready d "$created" "$create_token" "$instance" sha256:drive
	[[ "$output" == "refused token_superseded"* ]]
	run -75 drive release d "$lease" "$token"
	[[ "$output" == "refused lease_released"* ]]
	auth_dump >"$dir/after"
	diff "$dir/before" "$dir/after"
	drive step d n1 | sort >"$dir/step"
	grep "^delete $worker " "$dir/step"
	grep "^delete $created " "$dir/step"
	# Its deleter does not come back either: it is handed out again, and the entry is counted all the time.
	sleep 6.3
	drive step d n1 | grep "^delete $worker "
	drive outbox d >"$dir/outbox.n1"
	grep -q "worker retiring expire retiring $worker" "$dir/outbox.n1"
	[ "$(cli exists "{kz:d}:w:$worker" "{kz:d}:w:$created")" = 2 ]
	auth_whole
}

@test "LEASE-12 a release past the deadline is too late, swept or not" {
	drive setup d n1 1
	read -r lease token _ <<<"$(drive acquire d a c 0 500)"
	sleep 0.7
	run -75 drive release d "$lease" "$token"
	[[ "$output" == "refused lease_lost"* ]]
	drive step d n1
	run -75 drive release d "$lease" "$token"
	[[ "$output" == "refused lease_lost"* ]]
}
