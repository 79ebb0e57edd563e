#!/usr/bin/env bats
# weight 262
# One walk over the whole real stack: each program is killed at its effects (lib/base/sys.tbl), in service, one effect after the
# other. After each: the pool is back within 10 s and a program runs; after each walk: no worker ever had two owners (a query over
# the audit store), the audit chain is whole, and exactly what the pool counts is there, workers, cgroups and mounts.
#
# Which effects: those that a life without faults passes (KZ_FAULT_TRACE), as POINT:N. A program that does one thing after the other
# is in the same state after its Nth effect as before the next one, so each is killed after each effect, and before the first of
# each point. Of effects that are alike (the Nth call to Valkey of a controller that has been running) every 11th after the 14th is
# taken, and three of each other point (every 10th after the 8th, and one, where each costs a start of controller or stack); the drivers' own effects are walked one by one in kz-driver-oci.bats, kz-run's in kz-run.bats.
# shellcheck disable=SC2154,SC2030,SC2031 # run and kz_run set the variables
# bats file_tags=case:root
bats_require_minimum_version 1.5.0
load ../kz

setup_file() {
	cd "$BATS_TEST_DIRNAME/../.." || return 1
	make -s -j2 FAULT=1
	export KZ_BIN=$PWD/build-fault/bin FAULTS=$BATS_FILE_TMPDIR/faults
	mkdir "$FAULTS"
	# A driver whose next create, or delete, meets the fault that lies ready for it.
	cat >"$FAULTS/driver" <<-E
		#!/bin/bash
		IFS= read -r line
		verb=\$(jq -r .verb <<<"\$line")
		for f in $FAULTS/\$verb.*; do
		    mv "\$f" "$FAULTS/met.\${f##*/}" 2>/dev/null || continue
		    read -r KZ_FAULT <"$FAULTS/met.\${f##*/}"
		    export KZ_FAULT
		    break
		done
		[ ! -e $FAULTS/tracing ] || export KZ_FAULT_TRACE=$FAULTS/trace-\$verb
		exec $KZ_BIN/kz-driver-oci <<<"\$line"
	E
	chmod 755 "$FAULTS/driver"
	kz_start SANDBOX_WARM_POOL_MIN=4 SANDBOX_POOL_MAX_ALLOCATED=32 SANDBOX_MAX_CONCURRENT_CREATES=16 SANDBOX_MAX_CONCURRENT_PER_MEMBER=8 \
		KZ_INVENTORY_SECONDS=1 SANDBOX_BURST_IDLE_TTL_SECONDS=1 KZ_CREATE_TIMEOUT_SECONDS=8 KZ_DELETE_TIMEOUT_SECONDS=8 "KZ_DRIVER=$FAULTS/driver"
	# And a controller whose next life does.
	mv "$KZ_STATE/service/kz-controller/run" "$KZ_STATE/service/kz-controller/run.whole"
	cat >"$KZ_STATE/service/kz-controller/run" <<-E
		#!/bin/sh
		if mv $FAULTS/controller $FAULTS/met.controller 2>/dev/null; then
		    read -r KZ_FAULT <$FAULTS/met.controller
		    export KZ_FAULT
		fi
		[ ! -e $FAULTS/tracing ] || export KZ_FAULT_TRACE=$FAULTS/trace-controller
		exec ./run.whole
	E
	chmod 755 "$KZ_STATE/service/kz-controller/run"
}

teardown_file() {
	kz_stop
}

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	kz_wait 60 nothing_odd
}

workers() { find "$KZ_STATE/workers" -mindepth 1 -maxdepth 1 -type d -not -name '.*' -printf '%f\n' | sort; }
# As s6 knows it: what the controller last wrote of itself may be of a life that met its fault since, and then its next life, which
# began without one, would go on.
controller() { kz_service_pid kz-controller; }
is_back() { kz status -j 2>/dev/null | jq -e '.admission.open and .workers.warm >= 4 and .workers.leased == 0 and .workers.resetting == 0' >/dev/null; }

# What is there is what is counted: no worker, cgroup or mount more, and none less.
nothing_odd() {
	kz status -j 2>/dev/null | jq -e '.admission.open and .workers.warm == 4 and .allocated == 4' >/dev/null &&
		[ "$(workers | wc -l)" -eq 4 ] && [ -z "$(find "$KZ_STATE/workers" -mindepth 1 -maxdepth 1 -name '.*')" ] &&
		[ "$(kz_left_cgroups | sed -E 's/.*kz-[0-9a-f]{8}\.([^ ./]*).*/\1/' | sort -u | wc -l)" -eq 4 ] &&
		! grep -F " $KZ_STATE/workers/" /proc/self/mountinfo | grep -qvFf <(workers)
}

judged() {
	kz_wait 60 nothing_odd || {
		kz status
		workers
		kz_left
		return 1
	}
	kz-audit verify
	kz-audit list -j -k transition >rows
	[ -z "$(jq -rs '
		[.[] | select(.machine == "lease" or (.machine == "worker" and (.event == "publish" or .event == "ready")))]
		| group_by(if .machine == "lease" then .worker else .subject end)[]
		| reduce .[] as $t ({held: null, clean: true, bad: []};
			if $t.machine == "worker" then .clean = true
			elif $t.event == "grant" then (if .held or (.clean | not) then .bad += [$t] else . end) | .held = $t.subject | .clean = false
			elif .held == $t.subject then .held = null else . end)
		| .bad[] | tojson' rows)" ]
	jq -es 'any(.event == "grant")' rows >/dev/null
}

# What closes admission late, since the machine is busy, refuses a run; it must not be more than that.
runs_again() {
	is_back || return 1
	kz_run -A a -C c -l shell -c 'ls -A /work/code /tmp; ls -A | grep -v "^kept$"; true'
	[ "$status" -ne 125 ]
}

back() { # WHAT: the pool, and the same member in the same conversation, within 10 s
	local start=$SECONDS
	kz_wait 10 runs_again || {
		echo "not back after $1: $(kz status)"
		return 1
	}
	[ "$status" -eq 0 ] && [ "$output" = "$(printf '/tmp:\n\n/work/code:')" ] && kz_within 11 "$start" || {
		echo "after $1: status $status $output $error"
		return 1
	}
}

# points TRACE [FIRST EVERY OTHERS]: the faults to walk, of a trace
points() {
	sed 's|^[^/]*/||' "$1" | sort -u | sort -t: -k1,1 -k2,2n | awk -F: -v first="${2:-14}" -v every="${3:-11}" -v others="${4:-3}" '
		$2 == 1 { print $0 ":before" }
		$1 == "VK_CALL" ? $2 <= first || $2 % every == 0 && $2 <= 8 * every : $2 <= others { print $0 ":after" }'
}

kill_workers() { # N: their replacement gives controller and driver work
	local w
	workers | head -"$1" >victims
	while read -r w; do kz_process1 "$w" | xargs -r kill -9 2>/dev/null || true; done <victims
}
# Until then Valkey may hand them out: a run takes another worker, but not for ever.
are_lost() {
	local w
	while read -r w; do
		kz-audit list -j -k transition -w "$w" | jq -es 'any(.event == "lost" or .to_state == "retiring")' >/dev/null || return 1
	done <victims
}

# The programs of callers: killed at each effect, in the foreground.
walk() {
	local name=$1 point rc n=0
	rm -f trace
	KZ_FAULT_TRACE=$PWD/trace "$name"
	grep "^$2/" trace >own
	points own >list
	while read -r -u 5 point; do
		rc=0
		KZ_FAULT=$2/$point "$name" || rc=$?
		[ "$rc" -eq 137 ] || [ "$rc" -eq 0 ] || return 1
		n=$((n + (rc == 137)))
		back "$2/$point"
	done 5<list
	# nearly all of them were met: waits and retries differ from life to life
	[ "$n" -ge $(($(wc -l <list) * 3 / 4)) ]
	[ "$n" -ge 4 ]
	judged
}

a_run() { kz-run -A a -C c -l shell -c 'echo x >kept; sleep 0.05' >/dev/null 2>&1; }
a_with() { kz-lease with -A a -C c -- true >/dev/null 2>&1; }
a_reset() {
	local id rc=0
	env -u KZ_FAULT -u KZ_FAULT_TRACE kz-lease acquire -A a -C c -j >lease
	id=$(jq -r .lease lease)
	KZ_LEASE_TOKEN=$(jq -r .token lease) kz-reset "$id" >/dev/null 2>&1 || rc=$?
	# Killed before Valkey heard of it, the lease is held as before: its caller asks again.
	[ "$rc" -eq 0 ] || KZ_LEASE_TOKEN=$(jq -r .token lease) env -u KZ_FAULT -u KZ_FAULT_TRACE kz-reset "$id" >/dev/null 2>&1 || true
	return $rc
}
@test "FENCE-14 kz-run killed at its effects" {
	walk a_run kz-run
}

@test "FENCE-14 kz-lease with killed at its effects" {
	walk a_with kz-lease
}

@test "FENCE-14 FENCE-15 kz-reset killed at its effects" {
	walk a_reset kz-reset
}

@test "FENCE-14 FENCE-4 kz-driver-oci killed at its effects, four creates and four deletes at a time" {
	touch "$FAULTS/tracing"
	kill_workers 2
	kz_wait 20 nothing_odd_after 2
	rm "$FAULTS/tracing"
	points "$FAULTS/trace-create" >creates
	points "$FAULTS/trace-delete" >deletes
	[ "$(wc -l <creates)" -ge 8 ]
	[ "$(wc -l <deletes)" -ge 4 ]
	while [ -s creates ] || [ -s deletes ]; do
		for verb in create delete; do
			head -4 "${verb}s" | nl -nln | while read -r n point; do echo "kz-driver-oci/$point" >"$FAULTS/$verb.$n"; done
			sed -i 1,4d "${verb}s"
		done
		# one that is still being deleted would be killed in place of one that lives
		kz_wait 60 nothing_odd
		kill_workers 4
		kz_wait 10 are_met
		kz_wait 10 are_lost
		back "$(cat "$FAULTS"/met.*)"
		rm -f "$FAULTS"/met.*
	done
	judged
}
are_met() { [ -z "$(find "$FAULTS" -name "create.*" -o -name "delete.*")" ]; }
nothing_odd_after() { [ "$(sort -u "$FAULTS/trace-create" 2>/dev/null | wc -l)" -ge 4 ] && [ -s "$FAULTS/trace-delete" ] && nothing_odd; }

kill_controller() { # it may just have met its fault, and be down
	local pid
	! pid=$(controller) || kill -9 "$pid" 2>/dev/null || true
}

# A life of the controller: it comes up, a worker dies, a program runs.
is_taken() { [ ! -e "$FAULTS/controller" ]; }
one_life() {
	kill_controller
	kz_wait 8 is_taken
	kill_workers 1
	a_run || true
}

@test "FENCE-14 kz-controller killed at its effects" {
	touch "$FAULTS/tracing"
	one_life
	kz_wait 20 nothing_odd
	cp "$FAULTS/trace-controller" trace
	rm "$FAULTS/tracing"
	kill_controller
	kz_wait 20 nothing_odd
	points trace 8 10 1 >list
	[ "$(wc -l <list)" -ge 15 ]
	while read -r -u 5 point; do
		echo "kz-controller/$point" >"$FAULTS/controller"
		one_life
		back "kz-controller/$point"
	done 5<list
	judged
}

@test "FENCE-14 kz up killed at its effects; the next one brings the stack up" {
	local rc point
	kz down -f
	rm -f trace
	KZ_FAULT_TRACE=$PWD/trace kz up
	grep '^kz/' trace >own
	points own 1 99 1 >list
	[ -s list ]
	while read -r -u 5 point; do
		kz down -f
		rc=0
		KZ_FAULT=kz/$point kz up || rc=$?
		[ "$rc" -eq 137 ]
		kz up
		back "kz up/$point"
	done 5<list
	judged
}
