#!/usr/bin/env bats
# weight 40
# What a real stack recovers from: real workers hung, killed or forgotten, a second controller, everything killed at once.
# shellcheck disable=SC2154,SC2030,SC2031 # run and kz_run set the variables
# bats file_tags=case:root
bats_require_minimum_version 1.5.0
load ../kz

setup_file() {
	kz_start SANDBOX_WARM_POOL_MIN=4 SANDBOX_POOL_MAX_ALLOCATED=8 SANDBOX_MAX_CONCURRENT_CREATES=4 \
		SANDBOX_MAX_CONCURRENT_PER_MEMBER=8 KZ_INVENTORY_SECONDS=1 SANDBOX_BURST_IDLE_TTL_SECONDS=2 SANDBOX_MAX_WALL_SECONDS=60 SANDBOX_ACQUIRE_WAIT_SECONDS=120
}

teardown_file() {
	kz_stop
}

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
}

teardown() {
	# what goes round until then, also when its test failed half-way
	touch "$BATS_TEST_TMPDIR/stop"
}

workers() { find "$KZ_STATE/workers" -mindepth 1 -maxdepth 1 -type d -not -name '.*' -printf '%f\n' | sort; }
is_back() { # N warm, N allocated, N real, open
	kz status -j 2>/dev/null | jq -e --argjson n "$1" '.admission.open and .workers.warm == $n and .allocated == $n' >/dev/null &&
		[ "$(workers | wc -l)" -eq "$1" ]
}
events() { kz-audit list -j -k transition -w "$1" | jq -r 'select(.machine == "worker") | .event'; }
# The controller moves transitions to the store at its own pace.
has_event() { events "$1" | grep -qx "$2"; }
none_of() { ! workers | grep -qxFf "$1"; }
# From the audit store alone: no lease begins on a worker while another one is in force, and none after an end that is not publish.
judged() {
	kz-audit verify
	[ -z "$(kz-audit list -j -k transition | jq -rs '
		[.[] | select((.machine == "lease") or (.machine == "worker" and .event == "publish") or (.machine == "worker" and .event == "ready"))]
		| group_by(if .machine == "lease" then .worker else .subject end)[]
		| reduce .[] as $t ({held: null, clean: true, bad: []};
			if $t.machine == "worker" then .clean = true
			elif $t.event == "grant" then (if .held or (.clean | not) then .bad += [$t] else . end) | .held = $t.lease | .clean = false
			elif .held == $t.subject or .held == $t.lease then .held = null else . end)
		| .bad[] | tojson')" ]
}

@test "POOL-3 ledger drift, dead in pool: workers killed behind our back five times; the pool is back, no more and no less" {
	kz_wait 20 is_back 4
	for _ in 1 2 3 4 5; do
		victim=$(workers | head -1)
		kill -9 "$(kz_process1 "$victim")"
		# dead in pool: it is never handed out; the next acquire skips it or the bind finds out
		kz_run -c 'print(1)'
		echo "status $status: $error $record"
		[ "$status" -eq 0 ]
		echo "$victim" >dead
		kz_wait 10 none_of dead
		kz_wait 15 is_back 4
	done
	judged
}

@test "LEASE-19 hung workers do not hold up the others, and are replaced" {
	kz_wait 20 is_back 4
	workers | head -3 >hung
	while read -r w; do kill -STOP "$(kz_process1 "$w")"; done <hung
	start=$SECONDS
	until none_of hung && is_back 4; do
		kz-lease list -j >/dev/null
		kz_within 30 "$start"
		sleep 0.2
	done
	while read -r w; do kz_wait 10 has_event "$w" lost; done <hung
	judged
}

@test "FENCE-14 a worker that is only slow when the controller comes back is asked again, and not lost" {
	local slow
	kz_wait 60 is_back 4
	slow=$(workers | head -n 1)
	kill -STOP "$(kz_process1 "$slow")"
	kill -9 "$(kz_service_pid kz-controller)"
	kz_wait 30 grep -qsh "worker silent, asked again worker=$slow" "$KZ_STATE"/log/kz-controller/current
	kill -CONT "$(kz_process1 "$slow")"
	kz_wait 60 is_back 4
	workers | grep -qx "$slow"
}

# A new life of the controller has opened admission.
is_reborn() { [ "$(jq -r .pid "$KZ_STATE/run/controller.json")" != "$1" ] && jq -e .admission.open "$KZ_STATE/run/controller.json" >/dev/null; }
rebirth() {
	local old
	old=$(jq -r .pid "$KZ_STATE/run/controller.json")
	kill -9 "$old"
	kz_wait 30 is_reborn "$old"
}

@test "POOL-3 LEASE-4 a controller killed again and again costs no caller his run" {
	local i
	kz_wait 60 is_back 4
	for i in 1 2; do
		while [ ! -e stop ]; do
			kz-run -A "a$i" -C c -l shell -c 'echo ran' >>"ran$i" 2>>"err$i" </dev/null || echo "$i: $?" >>failed
		done 3>&- &
	done
	for _ in 1 2 3; do rebirth; done
	touch stop
	wait
	cat err1 err2
	[ ! -e failed ]
	[ -s ran1 ]
	[ -s ran2 ]
}

are_waiting() { kz status -j | jq -e --argjson n "$1" '.waiting == $n' >/dev/null; }
@test "LEASE-4 LEASE-5 who stands in line when the controller is killed keeps his place and gets his turn" {
	local i
	kz_wait 60 is_back 4
	for i in $(seq 8); do kz-lease acquire -A "a$i" -C c -j >"lease$i"; done
	for i in 1 2 3; do
		kz-lease acquire -A "w$i" -C c -j >"turn$i" 2>"err$i" </dev/null 3>&- &
		echo $! >"pid$i"
		kz_wait 20 are_waiting "$i"
	done
	rebirth
	kz_wait 10 are_waiting 3
	for i in 1 2 3; do
		KZ_LEASE_TOKEN=$(jq -r .token "lease$i") kz-lease release "$(jq -r .lease "lease$i")"
		# in the order in which they came
		wait "$(cat "pid$i")"
		jq -e .lease "turn$i" >/dev/null
	done
	for i in turn1 turn2 turn3 lease4 lease5 lease6 lease7 lease8; do
		KZ_LEASE_TOKEN=$(jq -r .token "$i") kz-lease release "$(jq -r .lease "$i")"
	done
	kz_wait 60 is_back 4
	judged
}

@test "FENCE-10 INV-13 INV-19 Valkey emptied under running programs: their workers go, and nobody is told that it went well" {
	kz_wait 20 is_back 4
	for i in 1 2; do
		kz-run --record 9 -A "a$i" -l shell -c 'echo begun; sleep 45; echo done' >"out$i" 2>"err$i" 9>"rec$i" 3>&- &
		echo $! >"pid$i"
	done
	kz_wait 10 eval 'grep -q begun out1 && grep -q begun out2'
	kz-lease list -j | jq -r .worker >bound
	[ "$(wc -l <bound)" -eq 2 ]
	workers >before
	valkey-cli -s "$KZ_STATE/run/valkey.sock" flushall
	kz_wait 15 none_of before
	for i in 1 2; do
		rc=0
		wait "$(cat "pid$i")" || rc=$?
		[ "$rc" -ne 0 ]
		[ "$(jq -r .outcome "rec$i")" != completed ]
		jq -e '.outcome == "outcome_unknown" or .cause == "lease_lost" or .cause == "transport_lost"' "rec$i"
		[ "$(grep -c 'done' "out$i")" = 0 ]
	done
	kz_wait 15 is_back 4
	while read -r w; do
		kz_wait 10 has_event "$w" orphan_found
		[ "$(events "$w" | sed '1,/orphan_found/d' | grep -cx assign)" = 0 ]
	done <before
	kz_run -c 'print(1)'
	[ "$status" -eq 0 ]
	judged
}

@test "INV-1 false orphan: a second machine's controller with an empty state touches nothing of the first" {
	kz_wait 20 is_back 4
	kz-lease acquire -A a -C c -j >lease
	workers >before
	second=$(mktemp -d /tmp/kz.XXXXXX)
	kz_own "$second"
	kz up --state "$second" --set "KZ_VALKEY_URL=unix:$KZ_STATE/run/valkey.sock" --set KZ_NODE=two \
		--set "KZ_DEPLOYMENT_ID=$(cat "$KZ_STATE/env/KZ_DEPLOYMENT_ID")" --set SANDBOX_WARM_POOL_MIN=4 --set KZ_INVENTORY_SECONDS=1 \
		--set SANDBOX_POOL_MAX_ALLOCATED=8 --set SANDBOX_LEASE_HEARTBEAT_SECONDS=60
	sleep 3
	diff before <(workers)
	KZ_LEASE_TOKEN=$(jq -r .token lease) kz-lease renew "$(jq -r .lease lease)"
	KZ_STATE=$second kz-audit verify
	KZ_STATE=$second kz down -f
	KZ_STATE=$second kz down --purge --yes
	kz_disown "$second"
	comm -23 before <(workers) >lost
	[ ! -s lost ]
	KZ_LEASE_TOKEN=$(jq -r .token lease) kz-lease release "$(jq -r .lease lease)"
	kz_wait 20 is_back 4
	judged
}

@test "FENCE-14 orphans after restart: everything killed under leases; what was leased stays leased, the rest is back" {
	kz_wait 20 is_back 4
	for i in 1 2 3 4 5 6; do kz-lease acquire -A "a$i" -C c -j >"lease$i"; done
	for p in $(kz_left_processes | awk '{ print $2 }'); do kill -9 "$p" 2>/dev/null || true; done
	kz up --state "$KZ_STATE"
	for i in 1 2 3 4 5 6; do
		KZ_LEASE_TOKEN=$(jq -r .token "lease$i") kz-lease renew "$(jq -r .lease "lease$i")"
		KZ_LEASE_TOKEN=$(jq -r .token "lease$i") kz-lease release "$(jq -r .lease "lease$i")"
	done
	kz_wait 30 is_back 4
	judged
}

@test "FENCE-14 a controller that outlived all the rest is no reason to end what it keeps" {
	kz_wait 20 is_back 4
	kz-lease acquire -A a -C c -j >lease
	# Valkey cannot be asked by it any more, nor can anybody see what it does
	for p in $(kz_left_processes | awk '!/ kz-controller( |$)/ { print $2 }'); do kill -9 "$p" 2>/dev/null || true; done
	[ -n "$(kz_left_processes | grep ' kz-controller ')" ]
	kz up --state "$KZ_STATE"
	KZ_LEASE_TOKEN=$(jq -r .token lease) kz-lease renew "$(jq -r .lease lease)"
	KZ_LEASE_TOKEN=$(jq -r .token lease) kz-lease release "$(jq -r .lease lease)"
	kz_wait 30 is_back 4
	judged
}
