#!/usr/bin/env bats
# scripts/check counts what there is: failures, skips, crashes, silence, cases that do not apply.

setup() {
	root=$BATS_TEST_DIRNAME/../..
	tree=$BATS_TEST_TMPDIR/tree
	mkdir -p "$tree/scripts" "$tree/tests/unit" "$tree/tests/tool" "$tree/build/tests/unit"
	cp "$root/scripts/check" "$tree/scripts/check"
	printf 'all unit test-programs:\n\t@:\n' >"$tree/Makefile"
	: >"$tree/tests/applicable.txt"
}

# unit NAME: a unit test program whose body is standard input.
unit() {
	: >"$tree/tests/unit/test_$1.c"
	{ echo '#!/bin/sh'; cat; } >"$tree/build/tests/unit/test_$1"
	chmod +x "$tree/build/tests/unit/test_$1"
}

check() {
	run "$tree/scripts/check" --only "$1"
	echo "$output"
	last=${lines[-1]}
}

@test "what passes is counted" {
	unit a <<<'echo 1..2; echo ok 1 - x; echo ok 2 - y'
	check unit
	[ "$status" -eq 0 ]
	[ "$last" = "3 passed, 0 failed" ]
}

@test "a failed test fails" {
	unit a <<<'echo 1..2; echo ok 1 - x; echo not ok 2 - y; exit 1'
	check unit
	[ "$status" -eq 1 ]
	[ "$last" = "2 passed, 1 failed" ]
	[[ $output == *"not ok 2 - y"* ]]
}

@test "a skipped test is a failure" {
	unit a <<<'echo 1..2; echo ok 1 - x; echo "ok 2 - y # SKIP no runtime"'
	check unit
	[ "$status" -eq 1 ]
	[ "$last" = "2 passed, 1 failed" ]
}

@test "tests that a crash swallowed are failures" {
	unit a <<<'echo 1..5; echo ok 1 - x; kill -SEGV $$'
	check unit
	[ "$status" -eq 1 ]
	[ "$last" = "2 passed, 4 failed" ]
}

@test "a program that says nothing, fails at its end, or is missing is a failure" {
	unit a <<<'echo 1..0'
	unit b <<<'echo 1..1; echo ok 1 - x; exit 1'
	unit c <<<''
	rm "$tree/build/tests/unit/test_c"
	check unit
	[ "$status" -eq 1 ]
	[ "$last" = "2 passed, 3 failed" ]
}

@test "a test that hangs is a failure, and so is what there was no time left for" {
	local i n
	n=$(nproc)
	for ((i = 0; i < n; i++)); do
		unit "a$i" <<<'echo 1..1; echo ok 1 - x; exec sleep 600'
	done
	unit b <<<'echo 1..1; echo ok 1 - x'
	run "$tree/scripts/check" --only unit --seconds 20
	echo "$output"
	[ "$status" -eq 1 ]
	[ "${lines[-1]}" = "$((n + 1)) passed, $((n + 1)) failed" ]
	[[ $output == *"build-test_a0: stopped after"* ]]
	grep -q 'no time left' "$tree/build/check/build-test_b.log"
}

@test "who ends the check ends what it started" {
	unit a <<<'echo $$ >pid; echo 1..1; exec sleep 600'
	"$tree/scripts/check" --only unit >/dev/null 2>&1 3>&- &
	local check=$! i rc=0
	for ((i = 0; i < 300; i++)); do
		[ ! -s "$tree/pid" ] || break
		sleep 0.1
	done
	kill -TERM "$check"
	wait "$check" || rc=$?
	[ "$rc" -eq 1 ]
	for ((i = 0; i < 300; i++)); do
		kill -0 "$(cat "$tree/pid")" 2>/dev/null || return 0
		sleep 0.1
	done
	return 1
}

@test "bats files are counted, skips too" {
	sed "s/^case/@test/" >"$tree/tests/tool/t.bats" <<'END'
case "yes" { true; }
case "no" { false; }
case "later" { skip "not today"; }
END
	check tool
	[ "$status" -eq 1 ]
	[ "$last" = "2 passed, 2 failed" ]
}

@test "files of all suites begin by weight, and each suite has its line" {
	mkdir "$tree/tests/doc"
	# one at a time, so that the order shows
	sed -i 's/at_once=$((processors \* 2))/at_once=1/' "$tree/scripts/check"
	write() { sed "s/^case/@test/" >"$tree/tests/$1.bats"; }
	write tool/few <<<'case "a" { echo few >>"$ORDER"; }'
	printf 'case "a" { echo two >>"$ORDER"; }\ncase "b" { false; }\n' | write tool/two
	printf '# weight 9\ncase "a" { echo heavy >>"$ORDER"; }\n' | write doc/heavy
	ORDER=$tree/order run "$tree/scripts/check" --only tool,doc
	echo "$output"
	[ "$(paste -sd ' ' "$tree/order")" = "heavy two few" ]
	[ "$status" -eq 1 ]
	grep -qE '^tool +3 passed, 1 failed' <<<"$output"
	grep -qE '^doc +2 passed, 0 failed' <<<"$output"
	[ "${lines[-1]}" = "5 passed, 1 failed" ]
	# the line of a suite does not wait for the others
	[[ ${lines[0]} == doc* ]]
}

@test "Python is that of the distribution" {
	unit a <<<'[ "$(readlink -f "$(command -v python3)")" = "$(readlink -f /usr/bin/python3)" ] && echo 1..1 && echo ok 1'
	mkdir "$tree/other"
	printf '#!/bin/sh\nexit 1\n' >"$tree/other/python3"
	chmod +x "$tree/other/python3"
	PATH=$tree/other:$PATH check unit
	[ "$status" -eq 0 ]
}

@test "a case that does not apply is listed with its reason and left out" {
	sed "s/^case/@test/" >"$tree/tests/tool/t.bats" <<'END'
case "yes" { true; }
# bats test_tags=case:unicorn
case "needs a unicorn" { false; }
# bats test_tags=case:horse
case "needs a horse" { false; }
END
	cat >"$tree/tests/applicable.txt" <<'END'
# comment
unicorn | | echo "there are no unicorns"; exit 1
horse | | exit 1
END
	check tool
	[ "$status" -eq 0 ]
	[ "$last" = "2 passed, 0 failed" ]
	[[ $output == *"not applicable: unicorn: there are no unicorns"* ]]
	[[ $output == *"not applicable: horse: the probe failed"* ]]
}

@test "a case that must apply on this release and does not is a failure" {
	release=$(sed -n 's/^VERSION_ID="\{0,1\}\([^"]*\)"\{0,1\}$/\1/p' /etc/os-release)
	echo "unicorn | 1,$release | echo none; exit 1" >"$tree/tests/applicable.txt"
	unit a <<<'echo 1..1; echo ok 1 - x'
	check unit
	[ "$status" -eq 1 ]
	[ "$last" = "2 passed, 1 failed" ]
}

# A fuzz tool that passes when it is called as the table says: 5 seconds for one target, 20 for the other.
fuzz_tree() {
	mkdir -p "$tree/tests/fuzz"
	: >"$tree/tests/fuzz/own.c"
	: >"$tree/tests/fuzz/other.c"
	printf 'fuzz-build all:\n\t@:\n' >"$tree/Makefile"
	printf '#!/bin/sh\necho "$@" >>asked\n' >"$tree/scripts/fuzz"
	chmod +x "$tree/scripts/fuzz"
	printf '# a comment\nown 5\n' >"$tree/tests/fuzz/seconds.txt"
}

@test "a fuzz target has the seconds of its line in the table, else 10" {
	fuzz_tree
	check fuzz
	[ "$status" -eq 0 ]
	[ "$last" = "3 passed, 0 failed" ]
	[ "$(sort "$tree/asked")" = "$(printf '%s\n' '--seconds 10 other' '--seconds 5 own')" ]
}

@test "a line for a fuzz target that is not there is a failure" {
	fuzz_tree
	echo "gone 60" >>"$tree/tests/fuzz/seconds.txt"
	check fuzz
	[ "$status" -eq 1 ]
	[ "$last" = "3 passed, 1 failed" ]
	[[ $output == *fuzz-seconds-gone* ]]
}

@test "the table of fuzz seconds has a minute for requests, heads, hosts and tokens" {
	[ "$(sed '/^#/d' "$root/tests/fuzz/seconds.txt" | sort)" = "$(printf '%s\n' 'authority 60' 'head 60' 'request 60' 'token 60')" ]
}

@test "the scripts that people call tell how" {
	for script in check bench fuzz demo image install-deps; do
		for option in -h --help; do
			run "$root/scripts/$script" $option
			[ "$status" -eq 0 ]
			[[ ${lines[0]} == *"$script "* ]]
			[ "${#lines[@]}" -gt 3 ]
		done
	done
}

@test "an unknown suite or option is 64" {
	run "$tree/scripts/check" --only nothing
	[ "$status" -eq 64 ]
	run "$tree/scripts/check" --nothing
	[ "$status" -eq 64 ]
}
