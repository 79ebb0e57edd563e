#!/usr/bin/env bats
# What holds for every program that a person calls: help, version, wrong command lines, full disks, no stack.

bats_require_minimum_version 1.5.0
load ../kz

setup_file() {
	cd "$BATS_TEST_DIRNAME/../.."
	KZ_BIN=${KZ_BIN:-$PWD/build/bin}
	# A place where nothing runs: no program may do anything here but say so.
	KZ_STATE=$BATS_FILE_TMPDIR/none
	export KZ_BIN KZ_STATE
	PROGRAMS=$(for deps in bin/*.deps; do
		grep -qx '# internal' "$deps" || basename "$deps" .deps
	done)
	export PROGRAMS
}

# Each line of standard input is one JSON object with these members.
is_error_line() {
	jq -e 'select(.v == 1 and .type == "error" and (.reason | type) == "string" and (.text | type) == "string") | .status' <<<"$1"
}

@test "there are programs to test" {
	[ "$(wc -w <<<"$PROGRAMS")" -ge 2 ]
}

@test "-h and --help print the usage on stdout and end 0" {
	for p in $PROGRAMS; do
		run --separate-stderr "$KZ_BIN/$p" -h
		echo "$p: $status $output $stderr"
		[ "$status" -eq 0 ]
		[ -z "$stderr" ]
		[[ $output == "usage: $p"* ]]
		long=$("$KZ_BIN/$p" --help)
		[ "$long" = "$output" ]
	done
}

@test "-V prints name and version" {
	for p in $PROGRAMS; do
		run --separate-stderr "$KZ_BIN/$p" -V
		[ "$status" -eq 0 ]
		[ "$output" = "$p $(cat "$BATS_TEST_DIRNAME/../../VERSION")" ]
	done
}

@test "an unknown option is 64 with one line that names it" {
	for p in $PROGRAMS; do
		run --separate-stderr "$KZ_BIN/$p" --no-such-option
		echo "$p: $status $output / $stderr"
		[ "$status" -eq 64 ]
		[ -z "$output" ]
		[ "$(wc -l <<<"$stderr")" -eq 1 ]
		[[ $stderr == "$p"*": usage: "*"--no-such-option"* ]]
	done
}

@test "with -j a wrong command line is an error object on stdout" {
	for p in $PROGRAMS; do
		# Where -j exists: a driver speaks JSON anyway.
		"$KZ_BIN/$p" -h | grep -q -e '\[-j\]' -e ' -j ' -e '^verbs:' || continue
		run --separate-stderr "$KZ_BIN/$p" --no-such-option -j
		echo "$p: $status $output / $stderr"
		[ "$status" -eq 64 ]
		[ "$(is_error_line "$output")" = 64 ]
	done
}

@test "help on a full disk ends 74 and says so" {
	for p in $PROGRAMS; do
		status=0
		stderr=$("$KZ_BIN/$p" -h 2>&1 >/dev/full) || status=$?
		echo "$p: $status $stderr"
		[ "$status" -eq 74 ]
		[[ $stderr == "$p: stdout_failed: "* ]]
	done
}

@test "help to a reader that left ends 141 in silence" {
	local status
	for p in $PROGRAMS; do
		status=0
		kz_unread "$KZ_BIN/$p" -h 2>"$BATS_TEST_TMPDIR/err" || status=$?
		echo "$p: $status $(cat "$BATS_TEST_TMPDIR/err")"
		[ "$status" -eq 141 ]
		[ ! -s "$BATS_TEST_TMPDIR/err" ]
	done
}

@test "closed standard input and error harm nothing" {
	for p in $PROGRAMS; do
		status=0
		"$KZ_BIN/$p" -h <&- >"$BATS_TEST_TMPDIR/out" 2>&- || status=$?
		echo "$p: $status"
		[ "$status" -eq 0 ]
		grep -q '^usage: ' "$BATS_TEST_TMPDIR/out"
	done
}

@test "EXEC-8 output for a closed standard output is 74, not success" {
	for p in $PROGRAMS; do
		status=0
		"$KZ_BIN/$p" -h >&- 2>"$BATS_TEST_TMPDIR/err" || status=$?
		echo "$p: $status"
		[ "$status" -eq 74 ]
		grep -q "^$p.*: stdout_failed: " "$BATS_TEST_TMPDIR/err"
		status=0
		"$KZ_BIN/$p" -h <&- >&- 2>&- || status=$?
		[ "$status" -eq 74 ]
	done
}

@test "a hostile argument is answered by one clean line" {
	for p in $PROGRAMS; do
		run --separate-stderr "$KZ_BIN/$p" $'--x\n\e[2J\xff'
		echo "$p: $status $stderr"
		[ "$status" -eq 64 ]
		[ "$(wc -l <<<"$stderr")" -eq 1 ]
		[[ $stderr != *$'\e'* ]]
		huge=$(head -c 100000 /dev/zero | tr '\0' -)
		run --separate-stderr "$KZ_BIN/$p" "$huge"
		[ "$status" -eq 64 ]
		[ "${#stderr}" -lt 1000 ]
	done
}

@test "random command lines end with a known status, never by a signal" {
	words=(-j --json -x -A -C --actor= "" - -- --token-fd 3 x $'a\nb' -t -t5 -h -V list show renew status acquire
		config check $'\xff' --state=/nonexistent/kz -o ../x -i a=b)
	RANDOM=20240607
	for p in $PROGRAMS; do
		for _ in $(seq 60); do
			args=()
			for _ in $(seq $((RANDOM % 6))); do
				args+=("${words[RANDOM % ${#words[@]}]}")
			done
			# No verb that makes or removes a stack, and nothing to read.
			status=0
			timeout 20 "$KZ_BIN/$p" "${args[@]}" </dev/null >/dev/null 2>"$BATS_TEST_TMPDIR/err" || status=$?
			case $status in
			0 | 1 | 64 | 65 | 66 | 69 | 71 | 73 | 74 | 75 | 76 | 77 | 78 | 125) ;;
			*)
				printf '%s: status %s for' "$p" "$status"
				printf ' %q' "${args[@]}"
				cat "$BATS_TEST_TMPDIR/err"
				return 1
				;;
			esac
		done
	done
	[ ! -e "$KZ_STATE" ]
}

@test "LEASE-22 a limit that was reached is named with its setting, and every setting named exists" {
	local code setting policy=$BATS_TEST_DIRNAME/../../policy
	for code in queue_full wait_timeout workspace_busy runtime_unavailable output_too_large output_truncated \
		wall_exceeded memory_exceeded pids_exceeded; do
		setting=$(grep "^$code " "$policy/reasons.tbl" | grep -oE '(SANDBOX|KZ)_[A-Z_]+')
		grep -q "^$setting " "$policy/settings.tbl"
	done
}
