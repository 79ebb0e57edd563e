#!/usr/bin/env bats
# A real stack whose store is changed behind its back: it closes, finds out what is there, and opens again by itself.
# shellcheck disable=SC2154,SC2030,SC2031 # run and kz_run set the variables
# bats file_tags=case:root
bats_require_minimum_version 1.5.0
load ../kz

setup_file() {
	kz_start SANDBOX_WARM_POOL_MIN=2
}

teardown_file() {
	kz_stop
}

cli() {
	valkey-cli -s "$KZ_STATE/run/valkey.sock" "$@"
}

warm_is() {
	[ "$(kz status -j | jq -s 'map(select(.workers != null))[0] | [.admission.open, .workers.warm] == [true, '"$1"']')" = true ]
}

serves() {
	kz_run -A a -C "c$RANDOM" -c 'print(42)'
	[ "$status" -eq 0 ] && [ "$output" = 42 ]
}

@test "LEASE-21 FENCE-7 an entry deleted by hand: noticed, its worker is deleted and replaced, the pool serves on" {
	kz_wait 30 warm_is 2
	local key worker
	key=$(cli --raw keys '*:w:*' | head -n 1)
	worker=${key##*:}
	cli del "$key"
	kz_wait 60 test ! -e "$KZ_STATE/workers/$worker"
	kz_wait 60 warm_is 2
	serves
}

@test "LEASE-21 FENCE-10 a store whose outbox lost its end: a new life, the same workers" {
	kz_wait 30 warm_is 2
	local before
	before=$(ls "$KZ_STATE/workers")
	cli rpop "$(cli --raw keys '*:o')"
	# whoever asks before it is noticed is told to come again
	kz_wait 60 serves
	kz_wait 60 warm_is 2
	[ "$(ls "$KZ_STATE/workers")" = "$before" ]
	kz-audit verify
}

@test "LEASE-21 a right taken away in the middle of calls: closed by its reason, and open when it is given back" {
	kz_wait 30 warm_is 2
	cli acl setuser default -rpush
	kz_run -A b -C c -c 'print(1)'
	[ "$status" -eq 125 ]
	kz_run -A b -C c -c 'print(1)'
	[ "$status" -eq 125 ]
	[[ "$error" == *coordination* || "$error" == *not_reconciled* || "$error" == *reconcil* ]]
	cli acl setuser default +@all
	kz_wait 60 serves
	kz_wait 60 warm_is 2
}
