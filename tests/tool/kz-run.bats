# kz-run without a stack: bad command lines and bad files are told in one line, with the right status, and leave nothing.
# shellcheck disable=SC2154,SC2030,SC2031 # run and kz_run set the variables
bats_require_minimum_version 1.5.0

setup() {
	BIN=${KZ_BIN:-$BATS_TEST_DIRNAME/../../build/bin}
	SCHEMA=$BATS_TEST_DIRNAME/../schema.py
	export KZ_STATE=$BATS_TEST_TMPDIR/none
	cd "$BATS_TEST_TMPDIR" || return 1
	echo 'print(1)' >prog.py
}

# refused STATUS REASON ARG...: plain mode says it in exactly one line on stderr, and nothing on stdout.
refused() {
	local want=$1 reason=$2
	shift 2
	run --separate-stderr "$BIN/kz-run" "$@"
	echo "status $status: $stderr"
	[ "$status" -eq "$want" ]
	[ -z "$output" ]
	[ "${#stderr_lines[@]}" -eq 1 ]
	[[ ${stderr_lines[0]} == "kz-run: $reason: "* ]]
	[ "${#stderr_lines[0]}" -lt 600 ]
}

@test "EXEC-16 a wrong command line is 64" {
	refused 64 usage
	refused 64 usage --no-such-option
	refused 64 usage -t 0 prog.py
	refused 64 usage -t 1s prog.py
	refused 64 usage -t -1 prog.py
	refused 64 usage --record 99 prog.py
	refused 64 usage -c
}

@test "EXEC-16 an actor of 1 MB is a usage error in one line" {
	# A single argument may have 128 KiB; a megabyte comes through execve only in pieces, so the longest is tried.
	refused 64 usage -A "$(head -c 131000 /dev/zero | tr '\0' a)" prog.py
	refused 64 usage -A "$(head -c 257 /dev/zero | tr '\0' a)" prog.py
	refused 64 usage -C "$(head -c 257 /dev/zero | tr '\0' a)" prog.py
	refused 64 usage -A '' prog.py
	refused 64 usage -A $'a\nb' prog.py
	refused 64 usage -C $'a\x7f' prog.py
	refused 64 usage -A $'\xff' prog.py
	# at the bound it is no usage error
	refused 125 not_running -A "$(head -c 256 /dev/zero | tr '\0' a)" prog.py
}

@test "EXEC-16 a state directory that can be none is a wrong configuration, no fault inside" {
	KZ_STATE=relative refused 125 config_invalid prog.py
	KZ_STATE=$PWD/prog.py refused 125 config_invalid prog.py
	KZ_STATE=relative run --separate-stderr "$BIN/kz-run" -j prog.py
	[ "$status" -eq 78 ]
}

@test "EXEC-3 an unsupported language is refused" {
	refused 125 unsupported_language -l ruby prog.py
	printf '#!/usr/bin/perl\n' >prog
	refused 125 unsupported_language prog
}

@test "OUT-3 hostile bytes: names of inputs and outputs" {
	refused 64 input_name_invalid -i ../a=prog.py prog.py
	refused 64 input_name_invalid -i /a=prog.py prog.py
	refused 64 input_name_invalid -i =prog.py prog.py
	refused 64 input_name_invalid -i $'a\nb=prog.py' prog.py
	refused 64 input_name_invalid -i $'\xff=prog.py' prog.py
	refused 64 output_name_invalid -o ../a prog.py
	refused 64 output_name_invalid -o /etc/passwd prog.py
	refused 64 output_name_invalid -o a/../../b prog.py
	refused 64 output_name_invalid -o $'a\nb' prog.py
	refused 64 output_name_invalid -o '' prog.py
	refused 64 output_name_invalid -o "$(head -c 256 /dev/zero | tr '\0' a)" prog.py
}

@test "OUT-3 two inputs of one name are a usage error" {
	refused 64 usage -i a=prog.py -i a=prog.py prog.py
	refused 64 usage -i a=prog.py -i ./a=prog.py prog.py
	refused 64 usage -i a=prog.py -i a/b=prog.py prog.py
	refused 64 usage -i prog.py -i ./prog.py prog.py
	refused 64 usage -o a -o ./a prog.py
}

@test "EXEC-13 variables of the environment" {
	refused 64 usage -e '' prog.py
	refused 64 usage -e =x prog.py
	refused 64 usage -e 1A=x prog.py
	refused 64 usage -e 'A B=x' prog.py
	refused 64 usage -e SURELY_NOT_SET_HERE prog.py
	refused 64 usage -e $'A=\xff' prog.py
}

@test "EXEC-16 files that cannot be read, directories that cannot be written" {
	refused 125 code_unreadable missing.py
	[[ "$stderr$output" == *"cannot open the program missing.py: "* ]]
	refused 125 code_unreadable .
	refused 125 output_uncreatable -d missing prog.py
	refused 125 output_uncreatable -d prog.py -o a prog.py
}

@test "EXEC-16 POOL-1 no stack: nothing runs here in its place; what is missing and the way out" {
	refused 125 not_running prog.py
	[[ $stderr == *"start it with: kz up"* ]]
	refused 125 not_running -l shell -c "touch '$BATS_TEST_TMPDIR/ran'"
	refused 125 not_running -c "open('$BATS_TEST_TMPDIR/ran', 'w')"
	[ ! -e "$BATS_TEST_TMPDIR/ran" ]
}

@test "EXEC-16 with -j: the reason's status, one error line, and the record last" {
	local want reason
	while read -r want reason args; do
		# shellcheck disable=SC2086 # words are wanted
		run --separate-stderr "$BIN/kz-run" -j $args
		echo "$args: $status $output"
		[ "$status" -eq "$want" ]
		"$SCHEMA" --last record --expect error <<<"$output"
		[ "$(tail -n 1 <<<"$output" | jq -r .not_run.reason)" = "$reason" ]
		[ "$(head -n 1 <<<"$output" | jq -r .reason)" = "$reason" ]
	done <<-'END'
		69 not_running prog.py
		66 code_unreadable missing.py
		65 unsupported_language -l ruby prog.py
		64 output_name_invalid -o ../a prog.py
		64 usage -e =x prog.py
		73 output_uncreatable -d missing prog.py
	END
}

@test "EXEC-8 the record goes to --record too" {
	run --separate-stderr "$BIN/kz-run" --record 7 prog.py 7>record
	[ "$status" -eq 125 ]
	"$SCHEMA" --last record <record
	[ "$(jq -r .outcome <record)" = not_run ]
	[ "$(jq -r .cause <record)" = null ]
}

@test "EXEC-8 a record that cannot be written is a failure" {
	run --separate-stderr "$BIN/kz-run" --record 7 prog.py 7>/dev/full
	[ "$status" -ne 0 ]
	run bash -c "'$BIN/kz-run' -j prog.py >/dev/full"
	[ "$status" -ne 0 ]
}

@test "EXEC-16 nothing is left behind by a refusal" {
	run "$BIN/kz-run" -o out -d . -i a=prog.py prog.py
	[ "$status" -eq 125 ]
	[ "$(ls -A)" = prog.py ]
}

@test "EXEC-16 a program on a pipe that nobody writes to ends by signal" {
	mkfifo pipe
	"$BIN/kz-run" pipe 2>err &
	local pid=$! i held=0
	# when it takes signals by a descriptor: TERM, bit 14, is held then, as it is for a moment by the shell that became it
	for ((i = 0; i < 600; i++)); do
		held=0x$(awk '$1 == "Name:" { is = $2 == "kz-run" } $1 == "SigBlk:" { print is ? $2 : 0 }' "/proc/$pid/status")
		[ $((held >> 14 & 1)) -eq 0 ] || break
		sleep 0.1
	done
	kill -TERM $pid
	local rc=0
	wait $pid || rc=$?
	[ "$rc" -eq 143 ]
	grep -q '^kz-run: interrupted: ' err
}

@test "AGR-2 help and version are on stdout with status 0" {
	run --separate-stderr "$BIN/kz-run" -h
	[ "$status" -eq 0 ]
	[[ $output == *"(FILE | - | -c CODE)"* ]]
	[ -z "$stderr" ]
	run --separate-stderr "$BIN/kz-run" -V
	[ "$status" -eq 0 ]
}
