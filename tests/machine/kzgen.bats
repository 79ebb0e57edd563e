#!/usr/bin/env bats
# The generator refuses every kind of wrong table with file and line (POOL-10).
# Each file in statemachines/bad is wrong in one point and says how in its first line.

setup() {
	cd "$BATS_TEST_DIRNAME/../.."
	make -s build/kzgen
	kzgen=$PWD/build/kzgen
	bad=statemachines/bad
	out=$BATS_TEST_TMPDIR/out
}

# refused FILE ARGUMENTS...: kzgen must end 1 with exactly the message that FILE expects.
refused() {
	local file=$1 want got status=0
	shift
	want="$file:$(sed -n '1s/^# expect: \(\([0-9]*:\)\{0,1\} \{0,1\}.*\)$/\1/p' "$file")"
	[[ $want == "$file":[0-9]* ]] || want="$file: ${want#"$file":}"
	got=$("$kzgen" -o "$out" "$@" 2>&1) || status=$?
	if [ "$status" != 1 ] || [ "$got" != "$want" ]; then
		printf 'status %s\nwant %s\n got %s\n' "$status" "$want" "$got"
		return 1
	fi
}

@test "POOL-10 the machine that the bad ones differ from is taken" {
	"$kzgen" -o "$out" machines $bad/guards.tbl $bad/ok.sm
	[ -s "$out/statemachines/gen/m.lua" ]
}

@test "POOL-10 each bad machine is refused with file, line and cause" {
	local f n=0
	for f in "$bad"/*.sm; do
		[ "$f" = $bad/ok.sm ] && continue
		refused "$f" machines $bad/guards.tbl "$f"
		n=$((n + 1))
	done
	[ "$n" -ge 29 ]
}

@test "POOL-10 a refused machine leaves no file behind" {
	run "$kzgen" -o "$out" machines $bad/guards.tbl $bad/no_initial.sm
	[ "$status" = 1 ]
	[ ! -e "$out" ]
}

@test "POOL-10 bad registries of guards are refused" {
	refused $bad/guards_nowhere.tbl machines $bad/guards_nowhere.tbl $bad/ok.sm
	refused $bad/guards_unused.tbl machines $bad/guards_unused.tbl $bad/ok.sm
}

@test "POOL-10 two machines of one name are refused" {
	run "$kzgen" -o "$out" machines $bad/guards.tbl $bad/ok.sm $bad/ok.sm
	[ "$status" = 1 ]
	[[ $output == *"machine m is there already" ]]
}

@test "POOL-8 EXEC-16 POL-5 bad tables of settings, reasons and addresses are refused" {
	local f
	for f in $bad/reasons_*.tbl; do refused "$f" reasons "$f"; done
	for f in $bad/settings_*.tbl; do refused "$f" settings "$f"; done
	for f in $bad/addresses_*.tbl; do refused "$f" addresses "$f"; done
}

@test "kzgen: wrong command line ends 64, a missing file 1" {
	run "$kzgen"
	[ "$status" = 64 ]
	run "$kzgen" machines
	[ "$status" = 64 ]
	run "$kzgen" reasons /nonexistent/x.tbl
	[ "$status" = 1 ]
}

@test "POOL-10 the checked-in files are what the tables give" {
	make -s gen GEN_OUT="$out"
	diff -r "$out/statemachines/gen" statemachines/gen
	diff -r "$out/docs/tables" docs/tables
	diff "$out/docs/machines.md" docs/machines.md
	diff "$out/policy/packaged.env" policy/packaged.env
}
