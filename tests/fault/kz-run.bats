#!/usr/bin/env bats
# weight 68
# kz-run and kz-lease killed before and after every effect they have, and every effect failing, one by one: the pool is
# whole again within 10 s, the same member runs again, nobody finds anything, and no failure is told as success.
# shellcheck disable=SC2154,SC2030,SC2031 # run and kz_run set the variables
# bats file_tags=case:root
bats_require_minimum_version 1.5.0
load ../kz

setup_file() {
	cd "$BATS_TEST_DIRNAME/../.." || return 1
	# kz-run starts kz-archive and kz-native from where it is itself
	make -s -j2 FAULT=1 build-fault/bin/kz-run build-fault/bin/kz-lease build-fault/bin/kz-archive build-fault/bin/kz-native
	export FAULT_BIN=$PWD/build-fault/bin
	export SEED=$BATS_FILE_TMPDIR/seed D=$BATS_FILE_TMPDIR/documents TOOL=$PWD/tests/tool
	mkdir "$D"
	head -c 32 /dev/urandom | od -An -tx1 | tr -d ' \n' >"$SEED"
	python3 "$TOOL/v4public.py" public "$SEED" >"$BATS_FILE_TMPDIR/keys"
	python3 "$TOOL/../registry/registry.py" "$BATS_FILE_TMPDIR" </dev/null >"$BATS_FILE_TMPDIR/registry" 2>&1 3>&- &
	echo $! >"$BATS_FILE_TMPDIR/pid"
	kz_wait 20 test -s "$BATS_FILE_TMPDIR/port"
	kz_start SANDBOX_WARM_POOL_MIN=1 SANDBOX_POOL_MAX_ALLOCATED=2 KZ_APP_KEYS_FILE="$BATS_FILE_TMPDIR/keys" \
		SANDBOX_PACKAGE_REGISTRIES="{\"pypi\":{\"index\":\"http://127.0.0.1:$(cat "$BATS_FILE_TMPDIR/port")/simple/\"}}"
}

teardown_file() {
	local rc=0
	kill "$(cat "$BATS_FILE_TMPDIR/pid")" || rc=1
	kz_stop || rc=1
	return $rc
}

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	mkdir -p out
	echo data >in
	cat >prog.py <<-'END'
		import sys
		assert open("/work/shared/s.txt").read() == "shared"
		for name in "one", "two":
		    open(name, "w").write(sys.argv[1])
		open("res", "w").write("y")
		print("x")
	END
	# a capability that outlives the walk, for two files
	spec='{"actor":"a","conversation":"c","roster":["a"],"manifest":["s.txt=shared","t.txt=too"],"claims":{"exp":36000}}'
	python3 "$TOOL/scope.py" "$SEED" "$D" <<<"$spec" >scope.json
	python3 "$TOOL/scope.py" --live "$SEED" "$D" <<<"$spec" >live.json
	tick=0 kept=
}

faulty_run() {
	rm -rf out
	mkdir out
	"$FAULT_BIN/kz-run" --record 7 -A a -C c --scope scope.json --documents "$D" --audience file:live.json \
		-i in -o res -d out prog.py "$tick" >stdout 2>stderr 7>rec
}

points() {
	rm -f trace
	KZ_FAULT_TRACE=$PWD/trace "$@"
	sort -u trace
}

pool_is_back() {
	[ "$(kz status -j | jq -r '.workers.warm // .warm')" -ge 1 ] && [ "$(kz-lease list -j | wc -l)" -eq 0 ]
}

# The same member and conversation runs again, finds what is stored and nothing else, and the pool is whole within 10 s.
healed() {
	local start=$SECONDS
	kz_run -A a -C c -l shell -c 'ls -A /work/code /work/shared /tmp; cat one; echo; cat two'
	# in a condition a failing line does not end the function by itself
	[ "$status" -eq 0 ] && [ "$(sed -n '1,5p' <<<"$output")" = "$(printf '/tmp:\n\n/work/code:\n\n/work/shared:')" ] &&
		kz_wait 10 pool_is_back && kz_within 10 "$start"
}

# is_old_or_new STATUS: the workspace is that of this run or of the one before, both files of one [WS-12, WS-14]; after a
# success it is this one's [WS-13].
is_old_or_new() {
	local one two
	{
		read -r one
		read -r two
	} <<<"$(tail -n 2 <<<"$output")"
	[ "$one" = "$two" ] || return 1
	[ "$one" = "$tick" ] || { [ "$one" = "$kept" ] && [ "$1" -ne 0 ]; } || return 1
	kept=$one
}

# killed STATUS POINT: it was killed there, or did not come there this time (a wait in line makes more calls).
killed() {
	[ "$1" -eq 137 ] || { [ "$1" -eq 0 ] && ! grep -qx "$2" trace; }
}

# What lies in out is whole or not there.
whole() {
	[ -z "$(ls -A out)" ] || [ "$(cd out && find . -type f -printf '%P:' -exec cat {} \;)" = "res:y" ]
}

walk_run() {
	local point rc bad=0
	points faulty_run >list
	kept=0
	# a restore, a save and the parts of a commit are among them [WS-12]
	[ "$(wc -l <list)" -ge 16 ]
	grep -q OBJ_WRITE list
	grep -q OBJ_NAME list
	# and the staging of both files [PRJ-46]
	[ "$(grep -c STAGE list)" -eq 2 ]
	# a second run restores too, and trims
	tick=1 points faulty_run >list
	kept=1
	tick=1
	while read -r -u 5 point; do
		rc=0
		tick=$((tick + 1))
		rm -f trace
		KZ_FAULT_TRACE=$PWD/trace KZ_FAULT="$point:$1" faulty_run || rc=$?
		if [ "$1" = fail ]; then
			# A failure after the end of the code may leave the result whole; else it must be told.
			[ "$rc" -ne 0 ] || [ "$(jq -r .outcome rec)" = completed ] || bad=1
			[ "$rc" -eq 0 ] || grep -q '^kz-run: [a-z_]*: ' stderr || bad=1
			[ "$(wc -l <rec)" -eq 1 ] || bad=1
		else
			killed "$rc" "$point" || bad=1
		fi
		[ "$bad" -eq 0 ] || {
			echo "$point:$1: status $rc, $(cat rec stderr)"
			return 1
		}
		whole || {
			echo "$point:$1: $(ls -lA out)"
			return 1
		}
		healed || {
			echo "$point:$1: not healed: $output $error; $(kz status)"
			return 1
		}
		is_old_or_new "$rc" || {
			echo "$point:$1: status $rc, kept '$kept', tick $tick, found: $output"
			return 1
		}
	done 5<list
}

@test "FENCE-1 WS-12 PRJ-46 kz-run killed before each effect" {
	walk_run before
}

@test "FENCE-1 WS-12 PRJ-46 kz-run killed after each effect" {
	walk_run after
}

@test "EXEC-16 WS-13 PRJ-46 each effect of kz-run failing is told, and costs no worker for long" {
	walk_run fail
}

# A conversation of its own each time: what is installed there is all of it or nothing.
faulty_install() {
	"$FAULT_BIN/kz-run" --record 7 -A a -C "p$BATS_TEST_NUMBER-$tick" -r pure -c 'import pure; print(pure.VERSION)' >stdout 2>stderr 7>rec </dev/null
}

# has STATUS: packages of that conversation, which the next run without a registry's help finds whole or not at all
has() {
	local kept
	kz_run -A a -C "p$BATS_TEST_NUMBER-$tick" --no-infer -c 'import os
try:
    import pure
    print(pure.VERSION, len(os.listdir("/work/packages/python")))
except ImportError:
    print(os.listdir("/work/packages"))' </dev/null
	kept=$(jq -c '.packages | map(.name)' "$KZ_TEST_RECORD")
	[ "$status" -eq 0 ] && { [ "$output:$kept" = '1.0+local 3:["pure"]' ] || { [ "$output:$kept" = '[]:[]' ] && [ "$1" -ne 0 ]; }; }
}

walk_install() {
	local point rc bad
	points faulty_install >list
	[ "$(cat stdout)" = 1.0+local ]
	has 0
	# the blob of the packages and its generation are among them, and those of nothing else
	grep -q OBJ_WRITE list
	grep -q OBJ_NAME list
	while read -r -u 5 point; do
		rc=0 bad=
		tick=$((tick + 1))
		rm -f trace
		KZ_FAULT_TRACE=$PWD/trace KZ_FAULT="$point:$1" faulty_install || rc=$?
		if [ "$1" = fail ]; then
			# what did not begin is told as that; no code ran then
			[ "$rc" -eq 0 ] || grep -q '^kz-run: [a-z_]*: ' stderr || bad=untold
			[ "$(jq -r .outcome rec)" != not_run ] || [ ! -s stdout ] || bad=ran
		else
			killed "$rc" "$point" || bad=status
		fi
		{ [ -z "$bad" ] && has "$rc" && kz_wait 10 pool_is_back; } || {
			echo "$point:$1: $bad, status $rc, found: $output $error; $(cat rec stderr)"
			return 1
		}
	done 5<list
}

@test "BRK-19 BRK-26 FENCE-1 kz-run killed after each effect of a run that installs" {
	walk_install after
}

@test "BRK-19 BRK-26 EXEC-16 each effect of a run that installs failing is told, and nothing is half installed" {
	walk_install fail
}

faulty_with() {
	"$FAULT_BIN/kz-lease" with -A a -C c -- true 2>stderr
}

walk_with() {
	local point rc
	points faulty_with >list
	[ "$(wc -l <list)" -ge 4 ]
	while read -r -u 5 point; do
		rc=0
		rm -f trace
		KZ_FAULT_TRACE=$PWD/trace KZ_FAULT="$point:$1" faulty_with || rc=$?
		killed "$rc" "$point"
		healed || {
			echo "$point:$1: not healed: $output $error; $(kz status)"
			return 1
		}
	done 5<list
}

@test "FENCE-1 kz-lease with killed before each effect" {
	walk_with before
}

@test "FENCE-1 kz-lease with killed after each effect" {
	walk_with after
}

@test "AUD-9 after all of that the audit chain verifies, and no worker ever had two owners" {
	kz-audit verify
	kz-audit list -j >rows
	[ -z "$(jq -rs '
		[.[] | select(.machine == "lease" and (.event == "grant" or .to_state == "released" or .to_state == "expired" or .to_state == "lost"))]
		| group_by(.worker)[]
		| reduce .[] as $t ({held: null, bad: []};
			if $t.event == "grant" then (if .held then .bad += [$t] else . end) | .held = $t.lease
			elif .held == $t.lease then .held = null else . end)
		| .bad[] | tojson' rows)" ]
}
