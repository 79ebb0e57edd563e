#!/usr/bin/env bats
# The fault build: a program killed at an effect, or whose effect fails, leaves the old state or the new one.

setup_file() {
	cd "$BATS_TEST_DIRNAME/../.."
	make -s -j2 FAULT=1
	export FAULT_BIN=$PWD/build-fault/bin
}

setup() {
	export KZ_STATE=$BATS_TEST_TMPDIR/state
	mkdir -p "$KZ_STATE/env"
	chmod 700 "$KZ_STATE"
	echo 2 >"$KZ_STATE/env/SANDBOX_WARM_POOL_MIN"
}

set_three() {
	status=0
	KZ_FAULT=$1 "$FAULT_BIN/kz" config set SANDBOX_WARM_POOL_MIN=3 2>"$BATS_TEST_TMPDIR/err" || status=$?
	value=$(cat "$KZ_STATE/env/SANDBOX_WARM_POOL_MIN")
	left=$(cd "$KZ_STATE/env" && find . -type f ! -name .lock | sort)
	echo "status $status value $value left $left err $(cat "$BATS_TEST_TMPDIR/err")"
}

@test "DEP-15 a setting is written whole: killed before the change, the old value stays and nothing else" {
	set_three kz/FILE_REPLACE:1:before
	[ "$status" -eq 137 ]
	[ "$value" = 2 ]
	[ "$left" = ./SANDBOX_WARM_POOL_MIN ]
}

@test "DEP-15 a setting is written whole: killed after the change, the new value is there and nothing else" {
	set_three FILE_REPLACE:1:after
	[ "$status" -eq 137 ]
	[ "$value" = 3 ]
	[ "$left" = ./SANDBOX_WARM_POOL_MIN ]
}

@test "DEP-15 a setting that cannot be written is told, and the old value stays" {
	set_three FILE_REPLACE:1:fail
	[ "$status" -eq 74 ]
	[ "$value" = 2 ]
	[ "$left" = ./SANDBOX_WARM_POOL_MIN ]
	grep -q '^kz .*: io_failed: .*input/output error$' "$BATS_TEST_TMPDIR/err"
}

@test "a fault for another program or a later passing does nothing" {
	set_three kz-run/FILE_REPLACE:1:before
	[ "$status" -eq 0 ]
	[ "$value" = 3 ]
	set_three FILE_REPLACE:2:before
	[ "$status" -eq 0 ]
}

@test "the trace names every passing" {
	KZ_FAULT_TRACE=$BATS_TEST_TMPDIR/trace set_three ""
	[ "$status" -eq 0 ]
	[ "$(cat "$BATS_TEST_TMPDIR/trace")" = kz/FILE_REPLACE:1 ]
}

@test "the normal build knows no faults" {
	run grep -c KZ_FAULT "$BATS_TEST_DIRNAME/../../build/bin/kz"
	[ "$output" = 0 ]
}
