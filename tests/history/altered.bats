#!/usr/bin/env bats
# weight 83
# What the library remembers can never differ from what is stored: calls that fail half-way,
# stores that were changed, rolled back, cut, emptied or taken over, and clocks that go back.

bats_require_minimum_version 1.5.0
load auth

setup_file() {
	make -s -C "$BATS_TEST_DIRNAME/../.." build/tests/history/drive build/tests/history/clock.so
}
setup() { auth_up; }
teardown() { auth_down; }

# A library of the same text under another digest.
other_library() {
	local digest
	digest=$(sed -n '1s/.*name=kz_//p' "$root/build/kz.lua")
	sed "1,2s/$digest/$1/" "$root/build/kz.lua" | cli -x function load
}

is_closed() {
	[ "$(drive status d | jq -r .admission.reason)" = "${1:-not_reconciled}" ]
}

# One of everything, whatever becomes of it; what each said goes to dir/said.
one_of_everything() {
	local lease token reset worker instance rest
	{
		read -r lease token rest <<<"$(drive acquire d a c1 0 60000)"
		drive renew d "$lease" "$token"
		read -r reset rest <<<"$(drive release d "$lease" "$token")"
		drive publish d "$lease" "$reset"
		read -r lease token rest <<<"$(drive acquire d b c2 0 60000)"
		drive quarantine d "$lease" "$token"
		drive acquire d a c1 200 60000
		read -r rest worker instance token rest <<<"$(drive step d n1 | grep ^create)"
		drive ready d "$worker" "$token" "$instance" sha256:drive
		drive step d n1 | awk '$1 == "delete" { print $2, $3 }' >"$dir/deletes"
		while read -r worker instance; do
			drive absent d "$worker" "$instance"
		done <"$dir/deletes"
		drive outbox d
	} >"$dir/said" 2>&1
}

# With a right taken away, calls fail in their middle; after it nothing may differ and everything must go on.
walk() {
	local what=$1
	shift
	auth_reconcile
	auth_whole
	cli acl setuser default "$@" >/dev/null
	one_of_everything || true
	cli --user admin --pass x --no-auth-warning acl setuser default '~*' '&*' +@all >/dev/null
	if grep -q '^refused coordination_unavailable' "$dir/said"; then
		failed_ones=$((failed_ones + 1))
	fi
	auth_reconcile
	auth_whole || { echo "after $what" && cat "$dir/said" && return 1; }
	# And it works again, with every worker that was lost on the way made anew.
	drive step d n1 >"$dir/step"
	awk '$1 == "delete" { print $2, $3 }' "$dir/step" | while read -r worker instance; do
		drive absent d "$worker" "$instance"
	done
	awk '$1 == "create" { print $2, $4, $3 }' "$dir/step" | while read -r worker token instance; do
		drive ready d "$worker" "$token" "$instance" sha256:drive
	done
	drive outbox d >/dev/null
}

@test "LEASE-21 INV-21 a call that a command fails half-way leaves nothing that differs" {
	drive setup d n1 2 SANDBOX_LEASE_TTL_SECONDS=2
	cli acl setuser admin on '>x' '~*' '&*' +@all
	failed_ones=0
	for command in set del zadd zrem rpush hsetnx sadd srem hset hdel incr pexpire pexpireat lset ltrim exists zcard zrange zrangebyscore hkeys llen lrange lindex time get info; do
		walk "$command" "-$command"
	done
	[ "$failed_ones" -gt 10 ]
	auth_wait 10 eval 'sleep 1; drive step d n1 >/dev/null; [ "$(drive status d | jq .workers.leased)" = 0 ]'
	auth_whole
}

@test "LEASE-21 INV-21 a call that one kind of key fails half-way leaves nothing that differs" {
	drive setup d n1 2 SANDBOX_LEASE_TTL_SECONDS=2
	cli acl setuser admin on '>x' '~*' '&*' +@all
	failed_ones=0
	kinds=(terms w: n all: creating: retiring: unsure: quarantined t: deadlines q qa: pa: pc: wake: work: seen: tickets fence o told)
	for kind in "${kinds[@]}"; do
		rights=(resetkeys '%R~*')
		for other in "${kinds[@]}"; do
			[ "$other" = "$kind" ] || rights+=("~{kz:d}:$other*")
		done
		walk "key $kind" "${rights[@]}"
	done
	[ "$failed_ones" -gt 10 ]
}

@test "LEASE-21 a call that fails half-way closes admission by itself" {
	drive setup d n1 2
	cli acl setuser admin on '>x' '~*' '&*' +@all
	read -r lease token _ <<<"$(drive acquire d a c1 0 60000)"
	cli acl setuser default -rpush
	run -69 drive release d "$lease" "$token"
	cli --user admin --pass x --no-auth-warning acl setuser default +@all
	is_closed
	run -69 drive acquire d b c2 0 60000
	[[ "$output" == "refused not_reconciled"* ]]
	auth_reconcile
	drive acquire d b c2 0 60000
	auth_whole
}

@test "LEASE-21 entries that somebody deletes or writes are found out, by use or by the keeper" {
	drive setup d n1 2
	read -r lease token worker _ <<<"$(drive acquire d a c1 0 60000)"
	cli del "{kz:d}:w:$worker"
	run -69 drive release d "$lease" "$token"
	[[ "$output" == "refused not_reconciled"* ]]
	[ "$(cli exists "{kz:d}:w:$worker")" = 0 ]
	is_closed
	# What is not there any more is found by the inventory as an orphan, and counted.
	# shellcheck disable=SC2046 # words
	drive inventory d n1 $(auth_entries) "$worker:11111111111111111111111111111111:0:1"
	drive open d n1
	auth_whole
	[ "$(drive status d | jq -c '[.workers.warm, .workers.retiring]')" = '[1,1]' ]
	# A warm one that is said to be leased.
	warm=$(cli --raw keys '{kz:d}:w:*' | grep -v "$worker")
	cli set "$warm" "$(cli get "$warm" | sed 's/^warm/leased/')"
	run -69 drive step d n1
	[[ "$output" == "refused not_reconciled"* ]]
	is_closed
	auth_reconcile
	auth_whole
	[ "$(drive status d | jq -c '[.workers.warm, .workers.leased]')" = '[0,1]' ]
}

@test "LEASE-21 POOL-5 sets that somebody empties are mended before admission opens" {
	drive setup d n1 3
	read -r lease token _ <<<"$(drive acquire d a c1 0 60000)"
	drive quarantine d "$lease" "$token"
	cli del '{kz:d}:retiring:n1' '{kz:d}:quarantined' '{kz:d}:n'
	cli zadd '{kz:d}:creating:n1' 1 "$(cli --raw keys '{kz:d}:w:*' | head -n 1 | sed 's/.*://')"
	cli zadd '{kz:d}:all:n1' 0 wnobody
	cli function flush
	drive setup d n1 3 2>&1 || true
	auth_reconcile
	auth_whole
}

@test "POOL-10 FENCE-10 two libraries on one deployment: the one that configured last decides, and neither goes by what it knew" {
	drive setup d n1 2
	read -r lease token _ <<<"$(drive acquire d a c1 0 60000)"
	other_library 0123456789ab
	cli fcall kz_0123456789ab_configure 1 '{kz:d}' "$(cli get '{kz:d}:terms' | cut -d'|' -f4)"
	run -76 drive acquire d b c2 0 60000
	[[ "$output" == "refused library_missing"* ]]
	run -76 drive release d "$lease" "$token"
	# The other one ends the lease, then this one takes over again.
	cli fcall kz_0123456789ab_release 1 '{kz:d}' "$lease" "$token" 22222222222222222222222222222222 20000 '' | grep -q ok
	cli fcall kz_0123456789ab_status 1 '{kz:d}' | grep -q not_reconciled
	cli fcall "$(sed -n '1s/.*name=//p' "$root/build/kz.lua")_configure" 1 '{kz:d}' "$(cli get '{kz:d}:terms' | cut -d'|' -f4)"
	run -69 drive acquire d b c2 0 60000
	[[ "$output" == "refused not_reconciled"* ]]
	auth_reconcile
	run cli fcall kz_0123456789ab_acquire 1 '{kz:d}' x y a c1 '' 0 1000 1
	[[ "$output" == *KZSUPERSEDED* ]]
	auth_whole
	[ "$(drive status d | jq -c '[.workers.leased, .workers.resetting]')" = '[0,1]' ]
	drive acquire d a c1 0 60000
}

@test "POOL-10 prune removes libraries that serve nobody, and no other" {
	drive setup d n1 1
	other_library 0123456789ab
	other_library ba9876543210
	echo '#!lua name=kz_mine
server.register_function("mine", function() return 1 end)' | cli -x function load
	cli fcall kz_ba9876543210_configure 1 '{kz:e}' "$(cli get '{kz:d}:terms' | cut -d'|' -f4)"
	cli fcall kz_ba9876543210_image 1 '{kz:e}' i
	cli fcall kz_ba9876543210_seen 1 '{kz:e}' n "$(cli fcall_ro kz_ba9876543210_now 1 '{kz:e}')" s 1
	cli fcall kz_ba9876543210_unseen 1 '{kz:e}' n "$(cli fcall_ro kz_ba9876543210_now 1 '{kz:e}')" s ''
	cli fcall kz_ba9876543210_open 1 '{kz:e}' n 60000
	[ "$(drive prune d)" = 1 ]
	cli function list | grep library_name -A1 | grep -c kz_ | grep -x 3
	[ "$(cli function list | grep -c kz_0123456789ab_now)" = 0 ]
	[ "$(cli function list | grep -c kz_ba9876543210_now)" = 1 ]
	[ "$(drive prune d)" = 0 ]
	is_open
}

@test "FENCE-10 a rolled back store is noticed, though its terms are the same" {
	drive setup d n1 2
	mkdir "$dir/r"
	valkey-server --port 0 --unixsocket "$dir/r/s" --dir "$dir/r" --save '' >/dev/null 2>&1 &
	started+=($!)
	auth_wait 10 eval 'valkey-cli -s "$dir/r/s" ping | grep -q PONG'
	auth_tcp
	valkey-cli -s "$dir/r/s" replicaof 127.0.0.1 "$port"
	auth_wait 10 eval 'valkey-cli -s "$dir/r/s" info replication | grep -q master_link_status:up'
	valkey-cli -s "$dir/r/s" wait 0 100
	[ "$(valkey-cli -s "$dir/r/s" get '{kz:d}:terms')" = "$(cli get '{kz:d}:terms')" ]
	# The replica is cut off, the server goes on, then it is given the replica's older data.
	valkey-cli -s "$dir/r/s" replicaof no one
	read -r lease token _ <<<"$(drive acquire d a c1 0 60000)"
	drive acquire d a c2 0 60000
	auth_tcp valkey-cli -s "$dir/r/s"
	cli replicaof 127.0.0.1 "$port"
	auth_wait 10 eval 'cli info replication | grep -q master_link_status:up'
	run -69 drive acquire d b c1 0 60000
	cli replicaof no one
	cli get '{kz:d}:terms'
	run -69 drive acquire d b c3 0 60000
	[[ "$output" == "refused not_reconciled"* ]]
	run -75 drive release d "$lease" "$token"
	auth_reconcile
	auth_whole
	# A promoted replica knows nothing either: it never wrote.
	run -69 "$drive_bin" acquire "unix:$dir/r/s" d a c1 0 60000
	[[ "$output" == "refused not_reconciled"* ]]
}

@test "FENCE-10 LEASE-21 an append-only file cut half way through a call comes back whole" {
	drive setup d n1 2
	read -r lease token _ <<<"$(drive acquire d a c1 0 60000)"
	sleep 0.2
	drive release d "$lease" "$token"
	cli config set appendfsync always
	kill -KILL "$server"
	wait "$server" || [ $? -eq 137 ]
	truncate -s -40 "$dir"/appendonlydir/*.incr.aof
	auth_server
	run -69 drive acquire d a c2 0 60000
	[[ "$output" == "refused not_reconciled"* ]]
	auth_reconcile
	auth_whole
	# All of the call is lost, or nothing: the lease is as it was before it.
	[ "$(drive status d | jq -c '[.workers.warm, .workers.leased, .workers.resetting]')" = '[1,1,0]' ]
	run -75 drive acquire d a c1 0 60000
	[[ "$output" == "refused workspace_busy"* ]]
}

@test "LEASE-21 more entries than one call handles: counted again page by page after a restart" {
	drive setup d n1 250 SANDBOX_POOL_MAX_ALLOCATED=300 SANDBOX_MAX_CONCURRENT_CREATES=64
	drive acquire d a c1 0 60000
	read -r lease token _ <<<"$(drive acquire d a c2 0 60000)"
	auth_whole
	kill -KILL "$server"
	wait "$server" || [ $? -eq 137 ]
	auth_server
	auth_reconcile
	auth_whole
	[ "$(drive status d | jq -c '[.workers.warm, .workers.leased, .allocated]')" = '[248,2,250]' ]
	run -75 drive acquire d a c3 0 60000
	[[ "$output" == "refused member_limit"* ]]
	drive release d "$lease" "$token"
	drive acquire d a c3 0 60000
	auth_whole
}

# A server whose clock is ahead by what dir/clock says, in seconds.
moved_server() {
	echo 0 >"$dir/clock"
	kill -KILL "$server"
	wait "$server" || [ $? -eq 137 ]
	KZ_TEST_CLOCK=$dir/clock LD_PRELOAD=$root/build/tests/history/clock.so auth_server
}

@test "LEASE-13 INV-13 FENCE-6 a clock that goes back closes admission and stretches nothing" {
	moved_server
	drive setup d n1 3 SANDBOX_LEASE_TTL_SECONDS=12
	echo 7200 >"$dir/clock"
	auth_reconcile
	read -r lease token _ <<<"$(drive acquire d a c1 0 12000)"
	read -r worker <<<"$(cli --raw keys '{kz:d}:w:*' | sort | tail -n 1 | sed 's/.*://')"
	auth_bg wait acquire d a c1 20000 12000
	auth_wait 5 eval '[ "$(drive status d | jq .waiting)" = 1 ]'
	kill -KILL "$bg"
	echo -1 >"$dir/clock"
	run -69 drive acquire d b c2 0 12000
	[[ "$output" == "refused coordination_clock"* ]]
	is_closed coordination_clock
	run -69 drive open d n1
	auth_reconcile
	auth_whole
	# The lease ends within its time to live from now, as does the line, and no idle time lies ahead.
	is_open
	drive step d n1
	sleep 12.5
	drive step d n1
	[ "$(drive status d | jq -c '[.workers.leased, .workers.retiring]')" = '[0,1]' ]
	auth_whole
	auth_wait 30 eval 'drive inventory d n1 $(auth_entries); drive step d n1 >/dev/null; [ "$(drive status d | jq .waiting)" = 0 ]'
}

@test "LEASE-18 nothing is known of a server that was frozen but what it has: it goes on where it stopped" {
	drive setup d n1 2
	read -r lease token _ <<<"$(drive acquire d a c1 0 60000)"
	kill -STOP "$server"
	sleep 1
	kill -CONT "$server"
	drive release d "$lease" "$token"
	auth_whole
	is_open
}

@test "LEASE-21 flushed between two calls: both know nothing" {
	drive setup d n1 2
	read -r lease token _ <<<"$(drive acquire d a c1 0 60000)"
	cli flushdb
	for verb in renew release publish abandon; do
		run -75 drive "$verb" d "$lease" "$token"
	done
	run -69 drive acquire d a c1 0 60000
	[[ "$output" == "refused not_reconciled"* ]]
	drive inventory d n1 w:11111111111111111111111111111111:5:1 || true
	run -69 drive open d n1
	drive setup d n1 0
	auth_whole
}
