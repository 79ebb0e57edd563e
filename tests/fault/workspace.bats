#!/usr/bin/env bats
# kz-workspace killed before and after every effect it has, and every effect failing: the old state or the new one, never a
# mix, and no loss that is told as success; a store without room, and one that hands out halves.
# shellcheck disable=SC2154,SC2030,SC2031 # run and kz_run set the variables
# bats file_tags=case:root
bats_require_minimum_version 1.5.0
load ../kz

setup_file() {
	cd "$BATS_TEST_DIRNAME/../.." || return 1
	make -s -j2 FAULT=1 build-fault/bin/kz-workspace build-fault/bin/kz-archive
	export FAULT_BIN=$PWD/build-fault/bin
	kz_start SANDBOX_WARM_POOL_MIN=2 SANDBOX_POOL_TARGET_IDLE=0 SANDBOX_POOL_MAX_ALLOCATED=3
}

teardown_file() {
	kz_stop
}

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	unset KZ_LEASE KZ_LEASE_TOKEN KZ_FENCE
	C=c$BATS_TEST_NUMBER
	echo 0 >one
	echo 0 >two
	kz-workspace put -A a -C "$C" one two
}

# Two files in one change, so that a mix would be seen.
faulty_put() {
	echo "$tick" >one
	echo "$tick" >two
	"$FAULT_BIN/kz-workspace" put -A a -C "$C" one two 2>stderr </dev/null
}

walk() {
	local point rc tick=1 kept=1 now two
	KZ_FAULT_TRACE=$PWD/trace faulty_put
	grep -o 'kz-workspace/.*' trace | sort -u >list
	grep -q OBJ_NAME list
	[ "$(wc -l <list)" -ge 6 ]
	while read -r -u 5 point; do
		tick=$((tick + 1)) rc=0
		KZ_FAULT="$point:$1" faulty_put || rc=$?
		now=$(kz-workspace get -A a -C "$C" one)
		two=$(kz-workspace get -A a -C "$C" two)
		echo "$point:$1: status $rc, kept $kept, now $now and $two, tick $tick"
		[ "$now" = "$two" ]
		[ "$now" = "$tick" ] || { [ "$now" = "$kept" ] && [ "$rc" -ne 0 ]; }
		# a failure of ours before the new name stands leaves the old state
		[ "$rc" -eq 0 ] || [ "$rc" -eq 137 ] || grep -q '^kz-workspace put: [a-z_]*: ' stderr
		kept=$now
	done 5<list
	tick=$((tick + 1))
	kz_wait 20 faulty_put
	[ "$(kz-workspace get -A a -C "$C" one)" = "$tick" ]
}

@test "WS-12 INV-36 kz-workspace put killed before each effect" {
	walk before
}

@test "WS-12 INV-36 kz-workspace put killed after each effect" {
	walk after
}

@test "WS-12 WS-13 each effect of kz-workspace put failing" {
	walk fail
}

@test "WS-13 a store without room: the run says so, and what was stored stays" {
	local size
	mkdir small
	mount -t tmpfs -o size=600k,mode=2770 none small
	cp -a "$KZ_STATE/objects/." small/
	mount --bind small "$KZ_STATE/objects"
	kz_run -A a -C "$C" -c 'import os; open("one", "wb").write(os.urandom(900000))' </dev/null
	size=$(kz-workspace get -A a -C "$C" two | wc -c)
	run --separate-stderr kz-workspace put -A a -C "$C" big=/bin/bash
	umount "$KZ_STATE/objects"
	umount small
	kz_record_is reason store_full
	kz_record_is snapshot failed
	[ "$size" -eq 2 ]
	[ "$status" -eq 73 ]
	[[ $stderr == *": store_full: "* ]]
	[ "$(kz-workspace get -A a -C "$C" one)" = 0 ]
}

@test "WS-12 half objects: a cut generation was never whole, cut content is told" {
	local newest blob
	echo 1 >one
	kz-workspace put -A a -C "$C" one
	newest=$(find "$KZ_STATE/objects" -path '*/g/*' -type f -printf '%T@ %p\n' | sort -n | tail -n 1 | cut -d' ' -f2)
	cp "$newest" whole
	for n in 0 1 100; do
		head -c "$n" whole >"$newest"
		[ "$(kz-workspace get -A a -C "$C" one 2>err)" = 0 ]
		grep -q 'never whole' err
	done
	cat whole >"$newest"
	[ "$(kz-workspace get -A a -C "$C" one)" = 1 ]
	blob=$(dirname "$(dirname "$newest")")/b/$(jq -r .tree.id whole)
	truncate -s -1 "$blob"
	run --separate-stderr kz-workspace get -A a -C "$C" one
	[ "$status" -eq 70 ]
	[[ $stderr == *": object_damaged: "* ]]
}
