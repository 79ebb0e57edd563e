#!/usr/bin/env bats
# weight 10
# kz-grant killed before and after every effect it has, and every effect failing: a token that was handed out is on record,
# the files that the proxy reads are whole, and the same command again puts everything right.
# shellcheck disable=SC2154 # run sets the variables
# bats file_tags=case:root
bats_require_minimum_version 1.5.0
load ../kz

setup_file() {
	cd "$BATS_TEST_DIRNAME/../.." || return 1
	make -s -j2 FAULT=1 build-fault/bin/kz-grant
	export FAULT_BIN=$PWD/build-fault/bin
	kz_start SANDBOX_WARM_POOL_MIN=0 SANDBOX_POOL_TARGET_IDLE=0
}

teardown_file() {
	kz_stop
}

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
}

faulty() { "$FAULT_BIN/kz-grant" "$@" >stdout 2>stderr; }

# What must hold whatever happened.
whole() {
	kz-audit verify >/dev/null && jq -e '.grant | length == 1' "$KZ_STATE/public/keys.json" >/dev/null &&
		[ -z "$(find "$KZ_STATE/public" "$KZ_STATE/keys" -type f ! -name keys.json ! -name revoked ! -name '*.key' ! -name '.*' | tee left)" ]
}

proxy_knows() { kz-grant scope >/dev/null; }
# What each passing begins with.
before_each() { :; }

# walk CHECK COMMAND...: each point that the command passes, in each of the three ways; then CHECK RC HOW.
walk() {
	local check=$1 point how rc count=0
	shift
	rm -f trace
	before_each
	KZ_FAULT_TRACE=$PWD/trace faulty "$@"
	sort -u trace >list
	while read -r -u 5 point; do
		for how in before after fail; do
			rc=0
			before_each
			KZ_FAULT="$point:$how" faulty "$@" || rc=$?
			case $how in
			fail) [ "$rc" -eq 0 ] || grep -q '^kz-grant [a-z]*: [a-z_]*: ' stderr ;;
			*) [ "$rc" -eq 137 ] ;;
			esac || {
				echo "$point:$how: status $rc, $(cat stderr)"
				return 1
			}
			"$check" "$rc" "$how" && whole || {
				echo "$point:$how: status $rc: $(cat stdout stderr)"
				return 1
			}
			count=$((count + 1))
		done
	done 5<list
	echo "$count"
}

@test "GRANT-15 AUD-10 mint: no token without its row, whatever fails" {
	minted() {
		local execution
		if [ "$1" -ne 0 ] && [ "$2" = fail ]; then
			[ ! -s stdout ] || return 1
		fi
		[ -s stdout ] || return 0
		execution=$(kz-grant verify -j - <stdout | jq -r .execution) || return 1
		kz-audit list -j | jq -e --arg x "$execution" 'select(.kind == "grant" and .execution == $x)' >/dev/null
	}
	walk minted mint
}

@test "GRANT-13 revoke: the file is whole, and what was told as revoked is" {
	local token execution
	token=$(kz-grant mint)
	execution=$(kz-grant verify -j "$token" | jq -r .execution)
	other=$(kz-grant mint)
	revoked() {
		run kz-grant verify "$other"
		[ "$status" -eq 0 ] || return 1
		run kz-grant verify "$token"
		[ "$1" -ne 0 ] || [[ "$output" == *grant_revoked* ]] || return 1
		[[ "$output" == *grant_revoked* || "$status" -eq 0 ]]
	}
	walk revoked revoke "$execution"
	kz-grant revoke "$execution"
	run kz-grant verify "$token"
	[[ "$output" == *grant_revoked* ]]
}

@test "GRANT-6 keys -w: the files are whole, and there again after the same command" {
	before_each() { rm -f "$KZ_STATE/public/keys.json" "$KZ_STATE/public/revoked"; }
	written() {
		kz-grant keys -w >/dev/null && kz-grant mint | kz-grant verify >/dev/null
	}
	walk written keys -w
}

@test "DEP-7 keys --rotate: cut off anywhere, keys -w and kz up bring private and public halves together" {
	rotated() {
		kz-grant keys -w >/dev/null && kz-grant mint | kz-grant verify >/dev/null &&
			kz up >/dev/null 2>&1 && kz-grant mint | kz-grant verify >/dev/null && kz_wait 10 proxy_knows
	}
	run walk rotated keys --rotate
	echo "$output"
	[ "$status" -eq 0 ]
	# field key, three that derive, the public file, the revocations
	[ "$(tail -n 1 <<<"$output")" -ge 18 ]
}
