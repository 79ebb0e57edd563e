# kz-lease on a real stack.
# weight 71
# shellcheck disable=SC2154,SC2030,SC2031 # run and kz_run set the variables
# bats file_tags=case:root
bats_require_minimum_version 1.5.0
load ../kz

setup_file() {
	# what nobody renews between two lines of a test outlives the test
	kz_start SANDBOX_WARM_POOL_MIN=1 SANDBOX_LEASE_TTL_SECONDS=300 SANDBOX_LEASE_HEARTBEAT_SECONDS=2
}

teardown_file() {
	kz_stop
}

setup() {
	SCHEMA=$BATS_TEST_DIRNAME/../schema.py
	unset KZ_LEASE KZ_LEASE_TOKEN KZ_FENCE
	cd "$BATS_TEST_TMPDIR" || return 1
}

# A dead one that nobody has waited for yet is dead.
is_dead() { ! grep -qs '^State:.[^ZX]' "/proc/$1/status"; }

is_gone() { [ ! -e "$KZ_STATE/workers/$worker" ]; }

pool_is_back() { [ "$(kz status -j | jq -r .workers.warm)" -ge 1 ]; }

none_leased() {
	[ "$(kz-lease list -j | wc -l)" -eq 0 ]
}

@test "LEASE-7 acquire, show, list, renew, release" {
	kz-lease acquire -A a -C c -j >lease
	"$SCHEMA" --last lease <lease
	[ "$(jq -c keys_unsorted lease)" = '["v","type","lease","worker","token","fence","expires_ms"]' ]
	local id token before
	id=$(jq -r .lease lease)
	token=$(jq -r .token lease)
	before=$(jq -r .expires_ms lease)
	kz-lease show -j "$id" | "$SCHEMA" --last lease
	run kz-lease show -j "$id"
	[[ $output != *"$token"* ]]
	kz-lease list -j | "$SCHEMA" --last lease
	[[ $(kz-lease list) != *"$token"* ]]
	sleep 0.2
	KZ_LEASE_TOKEN=$token kz-lease renew -j "$id" >renewed
	"$SCHEMA" --last lease <renewed
	[ "$(jq -r .expires_ms renewed)" -gt "$before" ]
	kz-lease release --token-fd 7 -j "$id" 7<<<"$token" >released
	"$SCHEMA" --last released <released
	[ "$(jq -r .clean released)" = true ]
	none_leased
	run kz-lease show "$id"
	[ "$status" -eq 75 ]
}

@test "LEASE-10 a token that is not the current one changes nothing" {
	kz-lease acquire -A a -C c -j >lease
	local id wrong=0123456789abcdef0123456789abcdef
	id=$(jq -r .lease lease)
	KZ_LEASE_TOKEN=$wrong run kz-lease renew "$id"
	[ "$status" -eq 75 ]
	KZ_LEASE_TOKEN=$wrong run kz-lease release "$id"
	[ "$status" -eq 75 ]
	kz-lease show "$id"
	export KZ_LEASE_TOKEN
	KZ_LEASE_TOKEN=$(jq -r .token lease)
	kz-lease release "$id"
	# A repeated release cannot touch a later lease of the same worker.
	kz-lease acquire -A b -C c -j >later
	kz-lease release "$id"
	KZ_LEASE_TOKEN=$wrong run kz-lease release "$id"
	[ "$status" -eq 75 ]
	kz-lease show "$(jq -r .lease later)"
	KZ_LEASE_TOKEN=$(jq -r .token later) kz-lease release "$(jq -r .lease later)"
}

@test "LEASE-20 a release repeated with the same token has one effect and the same answer" {
	local id pid token rc=0
	kz-lease acquire -A a -C c -j >lease
	id=$(jq -r .lease lease)
	token=$(jq -r .token lease)
	export KZ_LEASE_TOKEN=$token
	# two at once: one resets, the other waits for it
	kz-lease release -j "$id" >first 2>first.err &
	pid=$!
	kz-lease release -j "$id" >second 2>second.err || rc=$?
	local other=0
	wait $pid || other=$?
	cat first second first.err second.err
	[ "$rc" -eq 0 ]
	[ "$other" -eq 0 ]
	[ "$(jq -r .clean first second | tr '\n' ' ')" = "true true " ]
	none_leased
	# and later ones
	kz-lease release -j "$id" >third
	"$SCHEMA" --last released <third
	cmp first third
	# nothing else can be done with it
	local tool
	for tool in "kz-lease renew" kz-reset; do
		# shellcheck disable=SC2086 # words on purpose
		run --separate-stderr $tool "$id"
		[ "$status" -eq 75 ]
		[[ $stderr == *lease_lost* ]]
	done
	releases() {
		kz-audit list -j -k transition | jq -r --arg s "$id" \
			'select(.machine == "lease" and .event == "release" and .subject == $s).event' | wc -l
	}
	one_release() { [ "$(releases)" -eq 1 ]; }
	kz_wait 10 one_release || kz-audit list -j -k transition
	one_release
}

@test "LEASE-22 what is no name of a lease is a wrong command line" {
	local name
	export KZ_LEASE_TOKEN=0123456789abcdef0123456789abcdef
	for name in bogus "" "$(head -c 100000 /dev/zero | tr '\0' a)" $'x\ny' 0123456789ABCDEF0123456789ABCDEF; do
		for tool in "kz-lease show" "kz-lease release" "kz-lease renew" kz-reset; do
			# shellcheck disable=SC2086 # words on purpose
			run --separate-stderr $tool "$name"
			[ "$status" -eq 64 ]
			[[ $stderr == *"kz-lease list"* ]]
			[ "${#stderr_lines[@]}" -eq 1 ]
		done
	done
	run --separate-stderr kz-lease show 0123456789abcdef0123456789abcdef
	[ "$status" -eq 75 ]
}

# taken WORD VALUE: Valkey goes by that setting; the controller takes up what kz config set wrote at its own pace. WORD is its
# place among the settings of docs/authority.md's :terms.
taken() {
	valkey-cli -s "$KZ_STATE/run/valkey.sock" get "{kz:$(cat "$KZ_STATE/env/KZ_DEPLOYMENT_ID")}:terms" |
		awk -F'|' -v word="$1" -v value="$2" '{ split($4, w, " "); exit w[word] != value }'
}

# lives SECONDS: leases from now on
lives() { kz config set "SANDBOX_LEASE_TTL_SECONDS=$1" && kz_wait 10 taken 9 "${1}000"; }

@test "LEASE-12 INV-23 lock leak: an expired lease is not revived" {
	lives 10
	kz-lease acquire -A a -C c -j >lease
	lives 300
	kz_wait 10 none_leased
	KZ_LEASE_TOKEN=$(jq -r .token lease) run kz-lease renew "$(jq -r .lease lease)"
	[ "$status" -eq 75 ]
	[[ $output == *lease_lost* ]]
	# its worker goes, and its place is another's
	worker=$(jq -r .worker lease)
	kz_wait 60 is_gone
	kz_wait 60 pool_is_back
}

@test "LEASE-3 the message names the limit and whose it is" {
	local one two
	one=$(kz-lease acquire -A x -C 1 -j)
	two=$(kz-lease acquire -A x -C 2 -j)
	run kz-lease acquire -A x -C 3 -t 0
	[ "$status" -eq 75 ]
	[[ $output == *"2 of 2 leases of actor x in use (SANDBOX_MAX_CONCURRENT_PER_MEMBER)"* ]]
	KZ_LEASE_TOKEN=$(jq -r .token <<<"$one") kz-lease release "$(jq -r .lease <<<"$one")"
	KZ_LEASE_TOKEN=$(jq -r .token <<<"$two") kz-lease release "$(jq -r .lease <<<"$two")"
}

@test "LEASE-7 with: runs under it share the lease and its workspace, and do not release it" {
	cat >script <<-'END'
		set -e
		kz-run -c 'open("kept", "w").write("x")'
		kz-run -A a -C c -c 'import os; print(os.listdir("."))'
		kz-lease show "$KZ_LEASE" >/dev/null
		[ "$(kz-lease list -j | wc -l)" -eq 1 ]
		rc=0; kz-run -j -A a -C other -c 1 >other || rc=$?
		[ "$rc" -eq 77 ]
		[ "$(tail -n 1 other | jq -r .reason)" = lease_mismatch ]
		rc=0; kz-run -j -A b -C c -c 1 >other || rc=$?
		[ "$rc" -eq 77 ]
		rc=0; KZ_FENCE=1 kz-run -j -c 1 >other || rc=$?
		[ "$rc" -eq 77 ]
		[ -n "$KZ_FENCE" ]
		exit 7
	END
	run kz-lease with -A a -C c -- bash script
	echo "$output"
	[ "$status" -eq 7 ]
	[ "$output" = "['kept']" ]
	none_leased
}

@test "LEASE-11 with: the lease is renewed while the program lives" {
	lives 12
	run kz-lease with -A a -C c -- bash -c 'sleep 14; kz-lease show "$KZ_LEASE" >/dev/null && kz-run -c "print(1)"'
	lives 300
	echo "$output"
	[ "$status" -eq 0 ]
	[ "$output" = 1 ]
	none_leased
}

@test "LEASE-7 with: statuses, signals, and what cannot start" {
	run kz-lease with -A a -C c -- bash -c 'kill -9 $$'
	[ "$status" -eq 137 ]
	run -127 kz-lease with -A a -C c -- /no/such/program
	[[ $output == *"cannot_execute"* ]]
	run kz-lease with -A a -C c -- /etc/passwd
	[ "$status" -eq 126 ]
	[[ $output == *"cannot_execute"* ]]
	kz-lease with -A a -C c -- bash -c 'trap "exit 42" TERM; touch ready; while :; do sleep 0.1; done' &
	local pid=$! rc=0
	kz_wait 20 test -e ready
	kill -TERM $pid
	wait $pid || rc=$?
	[ "$rc" -eq 42 ]
	none_leased
}

@test "LEASE-20 with: a lost lease ends the program, and its children, before anybody can have it" {
	kz-lease with -A a -C c -- bash -c 'setsid sleep 300 & echo $! >child; wait' 2>err &
	local pid=$! rc=0 id token
	kz_wait 20 test -s child
	id=$(kz-lease list -j | jq -r .lease)
	token=$(tr '\0' '\n' <"/proc/$(cat child)/environ" | sed -n 's/^KZ_LEASE_TOKEN=//p')
	KZ_LEASE_TOKEN=$token kz-lease release "$id"
	wait $pid || rc=$?
	[ "$rc" -eq 125 ]
	grep -q lease_lost err
	is_dead "$(cat child)"
}

@test "LEASE-17 tokens are in no argument list" {
	kz-lease with -A a -C c -- bash -c 'for p in /proc/[0-9]*; do tr "\0" " " <$p/cmdline 2>/dev/null; echo; done >lines; grep -c "$KZ_LEASE_TOKEN" lines >count || true'
	[ "$(cat count)" -eq 0 ]
}

@test "LEASE-22 acquire whose token nobody can read gives the worker back" {
	local rc=0
	kz-lease acquire -A a -C c -j >/dev/full || rc=$?
	[ "$rc" -eq 74 ]
	none_leased
}

is_settled() {
	kz status -j | jq -e '.workers.warm >= 1 and .workers.creating == 0 and .workers.retiring == 0' >/dev/null
}

one_leased() {
	[ "$(kz-lease list -j | wc -l)" -eq 1 ]
}

# ended_as LEASE "EVENT CAUSE": the audit store has that end of it
ended_as() {
	[ "$(kz-audit list -j -k transition | jq -r --arg s "$1" 'select(.machine == "lease" and .subject == $s and .event != "grant") | "\(.event) \(.cause)"')" = "$2" ]
}

@test "LEASE-20 acquire killed before its token is out holds nothing; told, the lease outlives the process" {
	local pid one lease
	mkfifo full
	exec 8<>full
	dd if=/dev/zero of=full bs=4096 count=16 oflag=nonblock 2>/dev/null
	kz-lease acquire -A a -C c -j >full 3>&- 8>&- &
	pid=$!
	kz_wait 5 one_leased
	lease=$(kz-lease list -j | jq -r .lease)
	kill -KILL $pid
	wait $pid || true
	exec 8>&-
	# not by its time to live: the holder is seen to be dead
	kz_wait 10 none_leased
	kz_wait 10 ended_as "$lease" "expire holder_gone"
	one=$(kz-lease acquire -A a -C c -j)
	sleep 3
	export KZ_LEASE_TOKEN
	KZ_LEASE_TOKEN=$(jq -r .token <<<"$one")
	kz-lease renew "$(jq -r .lease <<<"$one")"
	kz-lease release "$(jq -r .lease <<<"$one")"
	none_leased
	# its worker was given up: the next test finds the pool whole
	kz_wait 60 is_settled
}

waiting_is() {
	[ "$(kz status -j | jq -s 'map(select(.waiting != null))[0].waiting')" = "$1" ]
}

@test "LEASE-6 acquire that is interrupted while it waits leaves no ticket" {
	local one two pid rc=0
	one=$(kz-lease acquire -A x -C 1 -j)
	two=$(kz-lease acquire -A x -C 2 -j)
	kz-lease acquire -A x -C 3 2>err &
	pid=$!
	kz_wait 20 waiting_is 1
	kill -TERM $pid
	wait $pid || rc=$?
	[ "$rc" -eq 143 ]
	kz_wait 10 waiting_is 0
	KZ_LEASE_TOKEN=$(jq -r .token <<<"$one") kz-lease release "$(jq -r .lease <<<"$one")"
	KZ_LEASE_TOKEN=$(jq -r .token <<<"$two") kz-lease release "$(jq -r .lease <<<"$two")"
	none_leased
}

valkey_pid() {
	kz_service_pid valkey
}

@test "LEASE-11 kz-run: a run longer than the time to live renews" {
	lives 12
	kz_run -c 'import time; time.sleep(16); print(1)'
	lives 300
	[ "$status" -eq 0 ]
	[ "$output" = 1 ]
	none_leased
}

@test "LEASE-23 kz-run: Valkey frozen mid-run, the run ends inside its bounds, and the pool heals" {
	lives 20
	kz-run --record 7 -c 'import time; print(1, flush=True); time.sleep(2); print(2)' >out 2>err 7>rec &
	local pid=$! rc=0 valkey
	kz_wait 20 test -s out
	valkey=$(valkey_pid)
	kill -STOP "$valkey"
	wait $pid || rc=$?
	kill -CONT "$valkey"
	[ "$rc" -eq 0 ]
	[ "$(jq -r .outcome rec)" = completed ]
	[ "$(cat out)" = "1
2" ]
	kz_wait 30 kz-run -c 1
	kz_wait 20 none_leased
	lives 300
}

@test "LEASE-11 loss not enforced: with, cut off from Valkey, the program is dead before the lease can be another's" {
	local pid rc=0 valkey till
	lives 12
	kz-lease with -A a -C c -- bash -c 'trap "" TERM; setsid sleep 300 & echo $! >child; while :; do date +%s%3N >>alive; sleep 0.1; done' 2>err &
	pid=$!
	kz_wait 20 test -s child
	valkey=$(valkey_pid)
	# a promise on any machine: the last renewal was before this, and the time to live is 12 s
	till=$(($(date +%s%3N) + 12000))
	kill -STOP "$valkey"
	wait $pid || rc=$?
	kill -CONT "$valkey"
	# by its own last sign of life: this shell may have heard of the end later
	[ "$(tail -n 1 alive)" -lt "$till" ]
	[ "$rc" -eq 125 ]
	grep -q lease_lost err
	is_dead "$(cat child)"
	kz_wait 40 kz-run -A a -C c -c 1
	lives 300
}

@test "LEASE-7 acquire: several runs under it share the workspace until it is released" {
	kz-lease acquire -A a -C c -j >lease
	export KZ_LEASE KZ_LEASE_TOKEN
	KZ_LEASE=$(jq -r .lease lease)
	KZ_LEASE_TOKEN=$(jq -r .token lease)
	kz_run -c 'open("kept", "w").write("x")'
	[ "$status" -eq 0 ]
	kz-lease renew "$KZ_LEASE"
	kz_run -l shell -c 'sleep 100 & ls'
	[ "$output" = kept ]
	kz_run -l shell -c 'ls'
	[ "$output" = kept ]
	# a run that is killed takes its processes along, and not the lease
	kz-run -l shell -c 'echo x; sleep 50' >out &
	local pid=$!
	kz_wait 20 test -s out
	kill -KILL $pid
	wait $pid || true
	kz_wait 5 kz-run -l shell -c 'ls kept'
	kz-lease release -j "$KZ_LEASE" >released
	[ "$(jq -r .clean released)" = true ]
	unset KZ_LEASE KZ_LEASE_TOKEN
	kz_run -l shell -c 'ls'
	[ -z "$output" ]
}
