#!/usr/bin/env bats
# What is in the audit store after everything that a run can be given, say, write, ask for and be refused (AUD-2 to
# AUD-4, AUD-6, AUD-11), and that nothing starts which the store did not take (AUD-10).
# shellcheck disable=SC2154,SC2030,SC2031 # run and kz_run set the variables
# bats file_tags=case:root
bats_require_minimum_version 1.5.0
load ../kz

setup_file() {
	kz_start SANDBOX_WARM_POOL_MIN=1
}

teardown_file() {
	kz_stop
}

# Rows of a kind as JSON lines.
rows() {
	kz audit list -j -k "$@"
}

@test "AUD-2 AUD-3 AUD-4 AUD-6 AUD-11 canaries in every text that a run has are nowhere in the store" {
	local dir=$BATS_TEST_TMPDIR/canary-dir pid
	mkdir -p "$dir/canary-out"
	echo canary-content >"$dir/canary-in.txt"
	cat >"$dir/canary-program.py" <<-'PY'
		import os, sys, urllib.request  # canary-comment
		print("canary-stdout", sys.stdin.read(), sys.argv, os.environ["CANARY_NAME"])
		print("canary-stderr", file=sys.stderr)
		open("canary-file.txt", "w").write("canary-written")
		os.makedirs("canary-folder")
		for url in ("http://canary-user:canary-password@203.0.113.7:81/canary-path?canary=query#canary",
		            "http://203.0.113.7:443/canary-path"):
		    try:
		        urllib.request.urlopen(urllib.request.Request(url, b"canary-body", {"canary-field": "canary"}), timeout=10)
		    except Exception as e:
		        print(type(e).__name__)
	PY
	cd "$dir"
	kz_run -j -A canary-actor -C canary-conversation --approve canary-approval -e CANARY_NAME=canary-value \
		-i canary-input.txt="$dir/canary-in.txt" -o canary-file.txt -o canary-missing -d "$dir/canary-out" \
		canary-program.py canary-argument < <(echo canary-stdin)
	echo "$output $error $record"
	kz_record_is cause exit
	[ "$(kz_record egress.effective)" != none ]
	[ -s "$dir/canary-out/canary-file.txt" ]
	# refused, missing, failed, killed
	kz_run -A canary-actor -i "$dir/canary-none" -c 'pass'
	kz_run -A canary-actor -o ../canary -c 'pass'
	kz_run -A canary-actor -l canary-language -c 'pass'
	kz_run -A canary-actor -c 'raise Exception("canary-exception")'
	kz-run -A canary-actor -c 'import time; print("canary-up", flush=True); time.sleep(60)' canary-argument >up 2>&1 &
	pid=$!
	kz_wait 20 grep -q canary-up up
	kill -9 $pid
	wait $pid || true
	kz lease with -A canary-actor -C canary-lease -- sh -c 'kz-run -A canary-actor -C canary-lease -c "print(1)"'
	kz_wait 20 bash -c 'kz audit list -j -k denial | grep -q 203.0.113.7'
	kz-audit rotate -f
	kz_run -A canary-actor -C canary-conversation -c 'print("canary-after")'
	# control: the search finds what may be there
	run -0 grep -rlaF 203.0.113.7 "$KZ_STATE/audit"
	for secret in canary v4.public. CANARY "$dir"; do
		run grep -rlaF -- "$secret" "$KZ_STATE/audit"
		echo "$secret in: $output"
		[ "$status" -eq 1 ]
	done
	run bash -c 'kz audit export | grep -i canary'
	[ "$status" -eq 1 ]
	kz audit export | python3 "$BATS_TEST_DIRNAME/../schema.py" --expect audit
	kz audit verify
}

@test "AUD-6 a refusal of the proxy says reason, host and port, and whose grant it was" {
	kz_run --approve T-1 -c '
import urllib.request
try: urllib.request.urlopen("http://203.0.113.9:80/some/path?and=query", timeout=10)
except Exception as e: print(type(e).__name__)'
	[ "$(kz_record egress.effective)" != none ]
	kz_wait 20 bash -c 'kz audit list -j -k denial | grep -q 203.0.113.9'
	row=$(rows denial -r "$(kz_record run)")
	echo "$row"
	[ "$(jq -r .reason <<<"$row")" = address_documentation ]
	[ "$(jq -cS '.egress[0] | {host, port, count}' <<<"$row")" = '{"count":1,"host":"203.0.113.9","port":80}' ]
	[ "$(jq -r '.egress[0].execution' <<<"$row")" = "$(kz_record egress.execution)" ]
	[ "$(jq -r '.egress[0].revision' <<<"$row")" = "$(kz_record egress.revision)" ]
	# and people read it without JSON
	[[ "$(kz audit list -k denial -r "$(kz_record run)")" == *"reason=address_documentation host=203.0.113.9 port=80 execution="*" count=1" ]]
	# the grant's own row stands before its dispatch, and both before the refusal
	run -0 jq -es 'map(.kind) | index("grant") < index("dispatch") and index("dispatch") < index("denial")' < <(kz audit show -j "$(kz_record run)")
}

@test "AUD-1 a refused acquire is on record with its actor, conversation and reason" {
	lease=$(kz-lease acquire -j -A busy -C one)
	run --separate-stderr kz-lease acquire -t 0 -A busy -C one
	[ "$status" -eq 75 ]
	run --separate-stderr kz-lease with -t 0 -A busy -C one -- true
	[ "$status" -eq 125 ]
	[ "$(rows denial | jq -s 'map(select(.reason == "workspace_busy")) | length')" = 2 ]
	# the same hashed names, so that they can be told apart and put together
	[ "$(rows denial | jq -rs 'map(select(.reason == "workspace_busy") | .actor + .conversation) | unique | length')" = 1 ]
	KZ_LEASE_TOKEN=$(jq -r .token <<<"$lease") kz-lease release "$(jq -r .lease <<<"$lease")"
	rows denial | python3 "$BATS_TEST_DIRNAME/../schema.py" --expect audit
}

@test "AUD-10 where the store takes no row, no code starts and no grant is made" {
	local audit=$KZ_STATE/audit/audit.db pid
	# somebody holds the write lock for longer than anybody waits
	python3 -c '
import sqlite3, sys, time
db = sqlite3.connect(sys.argv[1], isolation_level=None, timeout=30)
db.execute("BEGIN IMMEDIATE")
print("held", flush=True)
time.sleep(120)' "$audit" >"$BATS_TEST_TMPDIR/lock" &
	pid=$!
	kz_wait 30 grep -q held "$BATS_TEST_TMPDIR/lock"
	before=$(kz audit export | jq -s 'map(select(.kind == "grant" or .kind == "dispatch")) | length')
	kz_run -A locked --approve T-2 -o ran -d "$BATS_TEST_TMPDIR" -c 'open("ran", "w").write("x"); print("it ran")'
	echo "$status $output $error $record"
	[ "$status" -ne 0 ]
	[ -z "$output" ]
	[ ! -e "$BATS_TEST_TMPDIR/ran" ]
	[ "$(kz_record reason)" = audit_unavailable ]
	[ "$(kz_record egress.execution)" = null ]
	kill $pid
	wait $pid || true
	[ "$(kz audit export | jq -s 'map(select(.kind == "grant" or .kind == "dispatch")) | length')" = "$before" ]
	kz_wait 60 kz status
	kz_run -c 'print("again")'
	[ "$output" = again ]
	kz audit verify
}
