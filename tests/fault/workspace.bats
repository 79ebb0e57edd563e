#!/usr/bin/env bats
# weight 86
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

# faulty VERB ARG...: by the fault build
faulty() {
	local verb=$1
	shift
	"$FAULT_BIN/kz-workspace" "$verb" -A a -C "$C" "$@" 2>stderr </dev/null
}

# What both files hold; - for one that is not there. Two, so that a mix would be seen.
holds() {
	local f
	for f in one two; do
		if kz-workspace get -A a -C "$C" "$f" >held 2>err; then
			cat held
		else
			grep -qE ': (file|workspace)_missing: ' err && echo -
		fi
	done | paste -sd ' '
}

# One change each; new is what it is to leave, and before it both files are there.
both() {
	tick=$((tick + 1))
	echo "$tick" >one
	echo "$tick" >two
}

change_put() {
	both
	new="$tick $tick"
	faulty put one two
}

change_rm() {
	new="- -"
	faulty rm one two
}

change_import() {
	both
	new="$tick -"
	tar -cf one.tar one
	faulty import one.tar
}

# walk HOW CHANGE: at each effect
walk() {
	local point rc tick=1 new old now
	KZ_FAULT_TRACE=$PWD/trace "$2"
	grep -o 'kz-workspace/.*' trace | sort -u >list
	grep -q OBJ_NAME list
	[ "$(wc -l <list)" -ge 6 ]
	while read -r -u 5 point; do
		old=$(holds) rc=0
		if [[ $old == *-* ]]; then
			both
			kz-workspace put -A a -C "$C" one two
			old="$tick $tick"
		fi
		KZ_FAULT="$point:$1" "$2" || rc=$?
		now=$(holds)
		echo "$point:$1: status $rc, was $old, now $now, $new was to be"
		if [ "$now" != "$new" ]; then
			[ "$now" = "$old" ]
			[ "$rc" -ne 0 ]
		fi
		# a failure of ours before the new name stands leaves the old state
		[ "$rc" -eq 0 ] || [ "$rc" -eq 137 ] || grep -q '^kz-workspace [a-z]*: [a-z_]*: ' stderr
	done 5<list
	kz_wait 20 change_put
	[ "$(holds)" = "$new" ]
}

@test "WS-12 INV-36 kz-workspace put killed before each effect" {
	walk before change_put
}

@test "WS-12 INV-36 kz-workspace put killed after each effect" {
	walk after change_put
}

@test "WS-12 WS-13 each effect of kz-workspace put failing" {
	walk fail change_put
}

@test "WS-12 INV-36 kz-workspace rm killed before and after each effect" {
	walk before change_rm
	walk after change_rm
}

@test "WS-12 WS-13 each effect of kz-workspace rm failing" {
	walk fail change_rm
}

@test "WS-12 INV-36 kz-workspace import killed before and after each effect" {
	walk before change_import
	walk after change_import
}

@test "WS-12 WS-13 each effect of kz-workspace import failing" {
	walk fail change_import
}

# The directory of the workspace that was changed last.
place() {
	find "$KZ_STATE/objects/w" -path '*/g/*' -type f -printf '%T@ %h\n' | sort -n | tail -n 1 | cut -d' ' -f2 | xargs dirname
}

# walk_prune AFTERWARDS FILES: kz-workspace prune killed or failing at each effect, each time from the copy. AFTERWARDS lists what both
# files may hold then; the same command again leaves so many objects.
walk_prune() {
	local point how rc now
	rm -f trace
	KZ_FAULT_TRACE=$PWD/trace "$FAULT_BIN/kz-workspace" prune --older-than 2h >counts
	grep OBJ_REMOVE trace | sort -u >list
	while read -r -u 5 point; do
		for how in before after fail; do
			rm -rf "$place"
			install -d -m 2770 "$(dirname "$place")"
			cp -a copy "$place"
			rc=0
			KZ_FAULT="$point:$how" "$FAULT_BIN/kz-workspace" prune --older-than 2h >counts 2>stderr || rc=$?
			now=$(holds)
			echo "$point:$how: status $rc, now $now"
			case $how in
			fail)
				[ "$rc" -eq 69 ]
				grep -q ': store_unavailable: ' stderr
				;;
			*) [ "$rc" -eq 137 ] ;;
			esac
			[[ " $1 " == *" ${now// /,} "* ]]
			kz-workspace prune --older-than 2h >counts
			[ "$(find "$place" -type f 2>/dev/null | wc -l)" -eq "$2" ]
		done
	done 5<list
}

@test "WS-8 WS-12 kz-workspace prune, killed or failing at each effect: the newest generation or none, never an older one" {
	local place tick=0
	both
	kz-workspace put -A a -C "$C" one two
	place=$(place)
	[ "$(find "$place" -type f | wc -l)" -eq 4 ]
	find "$place" -type f -exec touch -d '3 hours ago' {} +
	cp -a "$place" copy
	walk_prune "1,1 -,-" 0
	[ "$(wc -l <list)" -ge 4 ]
	kz-workspace put -A a -C "$C" one two
	[ "$(holds)" = "1 1" ]
}

@test "WS-8 WS-12 kz-workspace prune, killed or failing at each effect, takes what nothing names and leaves what is named" {
	local place
	place=$(place)
	for n in 1 2 3; do echo stray >"$place/b/$(printf '%032d' "$n")"; done
	find "$place/b" -type f -exec touch -d '3 hours ago' {} +
	cp -a "$place" copy
	walk_prune "0,0" 2
	[ "$(wc -l <list)" -ge 3 ]
}

@test "WS-12 WS-13 a store that is full in the middle of a commit: the old generation, whole, and nothing of the new one" {
	local tick=0 new old rc free page halfway=0 before
	mkdir small
	mount -t tmpfs -o size=2m,mode=0755 none small
	mkdir small/objects
	chmod 2770 small/objects
	cp -a "$KZ_STATE/objects/." small/objects/
	mount --bind small/objects "$KZ_STATE/objects"
	page=$(stat -f -c %S small)
	for free in {0..40}; do
		rm -f small/filler trace
		head -c $(($(stat -f -c %a small) * page - free * page)) /dev/zero >small/filler
		before=$(find small/objects -type f | sort)
		old=$(holds) rc=0
		KZ_FAULT_TRACE=$PWD/trace change_put || rc=$?
		echo "$free pages: status $rc, was $old, now $(holds), $(cat stderr)"
		[ "$rc" -ne 0 ] || break
		[ "$rc" -eq 73 ] && grep -q ': store_full: ' stderr || break
		[ "$(holds)" = "$old" ] && [ "$before" = "$(find small/objects -type f | sort)" ] || break
		! grep -q 'OBJ_NAME:1$' trace || halfway=$((halfway + 1))
	done
	now=$(holds)
	umount "$KZ_STATE/objects"
	umount small
	[ "$rc" -eq 0 ]
	[ "$now" = "$new" ]
	# the tree was stored, its generation was not
	[ "$halfway" -ge 1 ]
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
