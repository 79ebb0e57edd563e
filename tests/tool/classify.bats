# Which programs administer a host: kz-run --classify over a table, and the refusal of a run.
# weight 50
# shellcheck disable=SC2154 # run sets the variables
bats_require_minimum_version 1.5.0

setup() {
	BIN=${KZ_BIN:-$BATS_TEST_DIRNAME/../../build/bin}
	SCHEMA=$BATS_TEST_DIRNAME/../schema.py
	export KZ_STATE=$BATS_TEST_TMPDIR/none
	cd "$BATS_TEST_TMPDIR" || return 1
}

@test "EXEC-11 the table of programs: what is explicit is found, names and prose are not" {
	local want language code status count=0
	while IFS=$'\t' read -r want language code; do
		[[ $want != '#'* ]] || continue
		printf -v code '%b' "$code"
		status=0
		"$BIN/kz-run" --classify -l "$language" -c "$code" >out </dev/null || status=$?
		count=$((count + 1))
		[ "$(jq -r '[.matches[].what] | unique | join(",") | if . == "" then "-" else . end' out)" = "$want" ] &&
			[ "$status" -eq "$([ "$want" = - ] && echo 0 || echo 1)" ] || {
			echo "$language, wanted $want, status $status: $(cat out): $code"
			return 1
		}
		cat out >>all
	done <"$BATS_TEST_DIRNAME/classify.tsv"
	[ "$count" -ge 120 ]
	python3 "$SCHEMA" --expect classify <all
}

@test "EXEC-12 Run is not offered, nothing runs by itself, and the code may be read" {
	run "$BIN/kz-run" --classify -c $'print(1)\nimport os\nos.system("sudo id")' </dev/null
	[ "$status" -eq 1 ]
	[ "$output" = '{"v":1,"type":"classify","class":"host_administration","run_allowed":false,"auto_run":false,"download":true,"matches":[{"line":3,"what":"sudo"}]}' ]
	run "$BIN/kz-run" --classify -c 'root = Tk()' </dev/null
	[ "$status" -eq 0 ]
	[ "$output" = '{"v":1,"type":"classify","class":"ordinary","run_allowed":true,"auto_run":true,"download":true,"matches":[]}' ]
}

@test "EXEC-11 EXEC-12 a run of such code is refused before anything is asked of kz, which does not even run here" {
	run "$BIN/kz-run" -j -c 'import os; os.setuid(0)' </dev/null
	[ "$status" -eq 77 ]
	[ "$(jq -r 'select(.type == "error").reason' <<<"$output")" = host_administration ]
	jq -e 'select(.type == "record") | .outcome == "refused" and .reason == "host_administration" and
		.lease == null and .wall_ms == null' <<<"$output"
	# ordinary code comes as far as the stack that is not there
	run "$BIN/kz-run" -j -c 'print(1)' </dev/null
	[ "$(jq -r 'select(.type == "error").reason' <<<"$output")" = not_running ]
	[ ! -e "$KZ_STATE" ]
}

@test "EXEC-11 the language decides how the text is read, by name, suffix and first line" {
	echo 'sudo id' >a.sh
	printf '#!/bin/sh\nsudo id\n' >b
	echo 'sudo = id' >c.py
	run "$BIN/kz-run" --classify a.sh </dev/null
	[ "$status" -eq 1 ]
	run "$BIN/kz-run" --classify b </dev/null
	[ "$status" -eq 1 ]
	run "$BIN/kz-run" --classify c.py </dev/null
	[ "$status" -eq 0 ]
	run "$BIN/kz-run" --classify - <a.sh
	[ "$status" -eq 0 ]
	run "$BIN/kz-run" --classify -l shell - <a.sh
	[ "$status" -eq 1 ]
	run "$BIN/kz-run" --classify missing.py </dev/null
	[ "$status" -ne 0 ] && [ "$status" -ne 1 ]
}

@test "EXEC-11 eight mebibytes that open brackets, quotes and patterns without end are read once" {
	local unit language
	for language in python node shell; do
		for unit in '$(' '((' '(/[' '`${' "x='sudo " '<<E ' 'run(' 'if '; do
			yes "$unit" | tr -d '\n' | head -c 8388608 >big
			# as memory is fixed, so is the time a byte; a quadratic reading would take hours
			timeout 120 "$BIN/kz-run" --classify -l "$language" big >out </dev/null
			[ "$(jq -r .class out)" = ordinary ]
		done
	done
}
