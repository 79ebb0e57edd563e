#!/usr/bin/env bats
# scripts/bench judges what was measured: goals that are the most or the least, figures that are missing.

setup() {
	bench=$BATS_TEST_DIRNAME/../../scripts/bench
	kept=$BATS_TEST_TMPDIR/kept
	cat >"$kept" <<-'END'
		{"v":1,"type":"bench","row":"a.most","ratio":0.5,"goal":0.6,"clients":3}
		{"v":1,"type":"bench","row":"a.least","ratio":0.5,"goal":0.6,"better":"more"}
		{"v":1,"type":"bench","row":"b.report","value":12,"unit":"ms","goal":null}
		{"v":1,"type":"bench","row":"b.none","value":null,"unit":"ms","goal":3}
	END
}

@test "a goal is met, missed, or nothing was measured" {
	run "$bench" -r "$kept"
	echo "$output"
	[ "$status" -eq 0 ]
	[[ ${lines[1]} =~ ^a\.most\ +\<=\ 0\.6\ +0\.5\ +met\ +clients=3 ]]
	[[ ${lines[2]} =~ ^a\.least\ +\>=\ 0\.6\ +0\.5\ +MISSED ]]
	[[ ${lines[3]} =~ ^b\.report\ +report\ +12\ ms ]]
	[[ ${lines[4]} =~ ^b\.none\ +\<=\ 3\ +-\ +not\ measured ]]
	[ "${lines[5]}" = "3 goals: 1 met, 1 missed, 1 not measured" ]
}

@test "-j adds the verdict to each line, and rows are chosen by prefix" {
	run "$bench" -j -r "$kept" b.none a
	[ "$status" -eq 0 ]
	[ "$(jq -rs 'map("\(.row)=\(.met)") | join(" ")' <<<"$output")" = "a.most=true a.least=false b.none=null" ]
}

@test "the file is found from where the caller is" {
	cd "$BATS_TEST_TMPDIR"
	run "$bench" -r kept a.most
	[ "$status" -eq 0 ]
	[ "${lines[-1]}" = "1 goals: 1 met, 0 missed, 0 not measured" ]
	run "$bench" -r nothing-there
	[ "$status" -eq 66 ]
	run "$bench" -z
	[ "$status" -eq 64 ]
}
