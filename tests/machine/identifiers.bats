#!/usr/bin/env bats
# What Valkey holds of those who use it, on a real stack: everything it was ever told is in its
# append-only file.
# shellcheck disable=SC2154,SC2030,SC2031 # run and kz_run set the variables
# bats file_tags=case:root
bats_require_minimum_version 1.5.0
load ../kz

setup_file() {
	kz_start SANDBOX_WARM_POOL_MIN=1 SANDBOX_POOL_MAX_ALLOCATED=2 SANDBOX_MAX_CONCURRENT_PER_MEMBER=1
}

teardown_file() {
	kz_stop
}

# Pieces of them are looked for too, and so are long: four digits stand by chance in some hundred random identifiers.
ACTOR=alice.7391048265-actor
CONVERSATION=holiday.5512937406-conversation

waiting_is() {
	[ "$(kz status -j | jq -s 'map(select(.waiting != null))[0].waiting')" = "$1" ]
}

# Every key and every value, as text.
everything() {
	local key
	valkey-cli -s "$KZ_STATE/run/valkey.sock" --raw keys '*' | while read -r key; do
		echo "key $key"
		valkey-cli -s "$KZ_STATE/run/valkey.sock" --raw eval '
			local t = redis.call("TYPE", KEYS[1]).ok
			if t == "string" then return { redis.call("GET", KEYS[1]) } end
			if t == "hash" then return redis.call("HGETALL", KEYS[1]) end
			if t == "list" then return redis.call("LRANGE", KEYS[1], 0, -1) end
			if t == "set" then return redis.call("SMEMBERS", KEYS[1]) end
			if t == "zset" then return redis.call("ZRANGE", KEYS[1], 0, -1) end
			if t == "none" then return {} end -- expired just now
			return { "unknown type " .. t }' 1 "$key"
	done
}

@test "LEASE-17 INV-14 no key, no value and nothing ever written holds an actor, a conversation or their plain hashes" {
	local id token waiter name
	cd "$BATS_TEST_TMPDIR"
	kz_run -A "$ACTOR" -C "$CONVERSATION" -c 'print("hello from alice")'
	[ "$status" -eq 0 ]
	kz-lease acquire -A "$ACTOR" -C "$CONVERSATION" -j >lease
	id=$(jq -r .lease lease)
	token=$(jq -r .token lease)
	KZ_LEASE_TOKEN=$token kz-lease renew "$id"
	# A ticket of the same member, put aside because it has no room.
	kz-lease acquire -A "$ACTOR" -C "$CONVERSATION.second" -j >second 2>&1 &
	waiter=$!
	kz_wait 10 waiting_is 1
	everything >dump
	kill "$waiter"
	wait "$waiter" || true
	KZ_LEASE_TOKEN=$token kz-lease release "$id"
	kz_wait 10 grep -rqa "$id" "$KZ_STATE/valkey"
	# It is really there what was looked through.
	run ! grep '^unknown type' dump
	grep -q "${id:0:20}" dump
	grep -rqa "$id" "$KZ_STATE/valkey"
	for name in "$ACTOR" "$CONVERSATION" alice holiday 5512937406 7391048265 "hello from"; do
		run ! grep -a "$name" dump
		kz_nowhere -e "$name" "$KZ_STATE/valkey"
	done
	# Nor what anybody could compute from a guessed name.
	for name in "$ACTOR" "$CONVERSATION"; do
		for sum in md5sum sha1sum sha256sum b2sum "b2sum -l 256" "b2sum -l 128"; do
			kz_nowhere -e "$(printf %s "$name" | $sum | cut -c1-24)" "$KZ_STATE/valkey"
		done
	done
}
