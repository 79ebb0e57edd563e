# kz-lease without a stack: bad command lines, missing tokens, no stack.
# shellcheck disable=SC2154,SC2030,SC2031 # run and kz_run set the variables
bats_require_minimum_version 1.5.0

setup() {
	BIN=${KZ_BIN:-$BATS_TEST_DIRNAME/../../build/bin}
	SCHEMA=$BATS_TEST_DIRNAME/../schema.py
	export KZ_STATE=$BATS_TEST_TMPDIR/none
	unset KZ_LEASE KZ_LEASE_TOKEN KZ_FENCE
	id=0123456789abcdef0123456789abcdef
}

refused() {
	local want=$1 reason=$2
	shift 2
	run --separate-stderr "$BIN/kz-lease" "$@"
	echo "status $status: $stderr"
	[ "$status" -eq "$want" ]
	[ -z "$output" ]
	[ "${#stderr_lines[@]}" -eq 1 ]
	[[ ${stderr_lines[0]} == *": $reason: "* ]]
	[ "${#stderr_lines[0]}" -lt 600 ]
}

@test "LEASE-22 a wrong command line is 64" {
	refused 64 usage
	refused 64 usage frobnicate
	refused 64 usage renew
	refused 64 usage show a b
	refused 64 usage with -A a -C c --
	refused 64 usage acquire -A "$(head -c 131000 /dev/zero | tr '\0' a)" -C c
	refused 64 usage acquire -A $'a\nb' -C c
	refused 64 usage acquire -A a -C ''
	refused 64 usage acquire -A a -C c -t -1
}

@test "LEASE-10 tokens come by environment or descriptor, never by argument" {
	refused 64 token_missing renew $id
	refused 64 token_missing release $id
	KZ_LEASE_TOKEN=short refused 64 token_missing renew $id
	refused 64 token_missing release --token-fd 7 $id 7<<<"short"
	refused 64 token_missing release --token-fd 77 $id
	refused 69 not_running release --token-fd 7 $id 7<<<"$id"
	KZ_LEASE_TOKEN=$id refused 69 not_running renew $id
	run "$BIN/kz-lease" renew -h
	[[ $output != *"--token "* ]]
}

@test "LEASE-18 no stack: what is missing and the way out" {
	refused 69 not_running list
	refused 69 not_running show $id
	refused 69 not_running acquire -A a -C c
	[[ $stderr == *"start it with: kz up"* ]]
	run --separate-stderr "$BIN/kz-lease" with -A a -C c -- touch "$BATS_TEST_TMPDIR/ran"
	[ "$status" -eq 125 ]
	[ ! -e "$BATS_TEST_TMPDIR/ran" ]
}

@test "LEASE-22 errors with -j are JSON lines" {
	run --separate-stderr "$BIN/kz-lease" acquire -A a -C c -j
	[ "$status" -eq 69 ]
	"$SCHEMA" --last error <<<"$output"
	[ "$(jq -r .reason <<<"$output")" = not_running ]
}
