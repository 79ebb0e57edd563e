#!/usr/bin/env bats
# What is in the audit store after everything that a run can be given, say, write, ask for and be refused (AUD-2 to
# AUD-4, AUD-6, AUD-11), and that nothing starts which the store did not take (AUD-10).
# shellcheck disable=SC2154,SC2030,SC2031 # run and kz_run set the variables
# bats file_tags=case:root
bats_require_minimum_version 1.5.0
load ../kz

setup_file() {
	export KZ_ROOM_DB=$BATS_FILE_TMPDIR/canary.db
	"$(kz_bin_dir)/kz-room" init | jq -r .key >"$BATS_FILE_TMPDIR/keys"
	kz_start SANDBOX_WARM_POOL_MIN=1 KZ_APP_KEYS_FILE="$BATS_FILE_TMPDIR/keys"
}

teardown_file() {
	[ ! -e "$BATS_FILE_TMPDIR/locker" ] || kill "$(cat "$BATS_FILE_TMPDIR/locker")" || :
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
		kz_nowhere -F -- "$secret" "$KZ_STATE/audit"
	done
	run bash -c 'kz audit export | grep -i canary'
	[ "$status" -eq 1 ]
	kz audit export | python3 "$BATS_TEST_DIRNAME/../schema.py" --expect audit
	kz audit verify
}

@test "AUD-2 AUD-3 AUD-4 AUD-11 AUD-12 canaries in workspaces, rooms, documents and edits are nowhere in the store or a log" {
	local dir=$BATS_TEST_TMPDIR/canary-dir doc turn secret
	local -a who=(-A canary-ana -C canary-room)
	mkdir -p "$dir"
	cd "$dir"
	printf 'canary-line\nsecond\n' >canary-file
	kz-workspace put "${who[@]}" canary-name=canary-file
	kz-workspace read "${who[@]}" canary-name >shown
	{ head -n 1 shown && printf 'PUT 1.=1:\n+canary-edited\n'; } >edit
	kz-workspace edit "${who[@]}" edit
	[[ $(kz-workspace get "${who[@]}" canary-name) == canary-edited* ]]
	kz-workspace export "${who[@]}" -o canary.tar
	kz-workspace import "${who[@]}" canary.tar
	for bad in "get canary-none" "put ../canary=canary-file" "rm canary-none" "edit canary-file" "import canary-file"; do
		# shellcheck disable=SC2086 # the verb and its operands
		run kz-workspace ${bad%% *} "${who[@]}" ${bad#* }
		[ "$status" -ne 0 ]
	done
	# a turn with a canary in each name, whose selection is withheld, then one that is refused
	for member in canary-ana canary-ben; do kz-room member $member; done
	kz-room create canary-room canary-ana
	doc=$(kz-room upload canary-ana canary-file | jq -r .document.id)
	kz-room link canary-room "$doc" canary-ana
	echo canary-diary >canary-private
	kz-room select canary-room canary-ana "$(kz-room upload canary-ana canary-private | jq -r .document.id)"
	turn=$(kz-room turn canary-room canary-ana | jq -r .turn)
	kz-room scope "$turn" >scope
	kz-room join canary-room canary-ben
	kz-project resolve -j -k "$BATS_FILE_TMPDIR/keys" -a 'cmd:kz-room audience canary-room' <scope >resolved
	grep -q canary-file resolved
	for document in canary.db.docs none; do
		kz_run -j --scope scope --documents "$BATS_FILE_TMPDIR/$document" --audience 'cmd:kz-room audience canary-room' \
			-o canary-output -l shell -c 'cat canary-name "$KAIZEN_SHARED_RESOURCES_DIR"/* >canary-output'
		kz_record reason >>reasons
	done
	[ "$(grep -c resource_ reasons)" -eq 1 ]
	kz_wait 20 bash -c 'kz audit list -j -k event | grep -q private_selection_withheld'
	for secret in canary "$dir" "$(jq -r .capability scope)"; do
		kz_nowhere -F -- "$secret" "$KZ_STATE/audit" "$KZ_STATE/log"
	done
	kz audit verify
}

@test "AUD-2 AUD-4 WS-13 the row of a run has size and digest of the workspace it left, and what became of it" {
	local want
	cd "$BATS_TEST_TMPDIR"
	last() { rows record -l 1 | jq -c '[.snapshot, .snapshot_bytes, .snapshot_sha256, .snapshot_private]'; }
	kz_run -C snapshots -l shell -c 'echo kept >f'
	kz-workspace export -C snapshots -o all.tar
	want="$(stat -c %s all.tar),\"$(sha256sum <all.tar | cut -d' ' -f1)\",false]"
	[ "$(last)" = "[\"saved\",$want" ]
	kz_run -C snapshots -l shell -c true
	[ "$(last)" = "[\"unchanged\",$want" ]
	kz_run -C snapshots -l shell -c 'head -c 9437184 /dev/zero >f'
	kz_record_is snapshot over_bound
	[ "$(last)" = "[\"over_bound\",$want" ]
	kz_run -l shell -c true
	[ "$(last)" = '["none",null,null,null]' ]
	kz_run -C empty -l shell -c true
	[ "$(last)" = '["unchanged",0,null,false]' ]
	kz audit verify
	kz audit export | python3 "$BATS_TEST_DIRNAME/../schema.py" --expect audit
}

@test "EXEC-11 EXEC-12 AUD-1 the refusal of code that administers the host is on record, with who and why and nothing of the code" {
	local want who
	cd "$BATS_TEST_TMPDIR"
	kz_run -A admin -C canary-admin -c 'print(1)'
	who=$(rows dispatch -l 1 | jq -c '[.actor, .conversation]')
	kz_run -A admin -C canary-admin -l shell -c 'sudo canary-command'
	kz_record_is reason host_administration
	want=$(kz_record run)
	rows denial -r "$want" >row
	jq -se --argjson who "$who" 'length == 1 and .[0].reason == "host_administration" and [.[0].actor, .[0].conversation] == $who' row
	jq -se 'any(.[]; .kind == "run_step" and .to_state == "refused")' <(kz audit list -j -r "$want")
	kz_nowhere -F canary-command "$KZ_STATE/audit"
	# it is refused all the same when it cannot be put on record
	mv "$KZ_STATE/audit" "$KZ_STATE/audit.away"
	kz_run -l shell -c 'sudo id'
	mv "$KZ_STATE/audit.away" "$KZ_STATE/audit"
	kz_record_is reason host_administration
	[[ $error == *"not on record reason=audit_unavailable"* ]]
	# who writes there all the time finds it again
	writes() { kz_run --approve T-1 -c 'print(1)'; [ "$status" -eq 0 ] && [ "$(kz_record egress.effective)" != none ]; }
	kz_wait 60 writes
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

@test "AUD-1 LEASE-18 what is refused because Valkey takes no connection is on record as well: run, lease and workspace" {
	local pid
	cd "$BATS_TEST_TMPDIR"
	is_down() { ! kz_service_pid valkey; }
	s6-svc -O "$KZ_STATE/service/valkey"
	pid=$(kz_service_pid valkey)
	kill -KILL "$pid"
	kz_wait 30 is_down
	kz_run -A gone -C one -c 'print("it ran")'
	kz_record_is reason coordination_unavailable
	echo data >file
	run --separate-stderr kz-lease acquire -t 0 -A gone -C one
	[ "$status" -eq 69 ]
	run --separate-stderr kz-lease with -t 0 -A gone -C one -- true
	[ "$status" -eq 125 ]
	run --separate-stderr kz-workspace put -A gone -C one file
	[ "$status" -eq 69 ]
	s6-svc -u "$KZ_STATE/service/valkey"
	rows denial -R coordination_unavailable | tee gone
	jq -se 'length == 4 and (map([.actor, .conversation]) | unique | length == 1) and all(.[]; .actor | length == 32)' gone
	[ "$(jq -rs '.[0].run' gone)" = "$(kz_record run)" ]
	jq -se 'map(.event) == ["abort"]' < <(kz audit list -j -k run_step -r "$(kz_record run)")
	python3 "$BATS_TEST_DIRNAME/../schema.py" --expect audit <gone
	kz_wait 60 kz status
}

@test "AUD-10 where the store takes no row, no code starts and no grant is made" {
	local audit=$KZ_STATE/audit/audit.db pid
	# somebody holds the write lock for longer than anybody waits
	python3 -c '
import sqlite3, sys, time
db = sqlite3.connect(sys.argv[1], isolation_level=None, timeout=30)
db.execute("BEGIN IMMEDIATE")
print("held", flush=True)
time.sleep(600)' "$audit" >"$BATS_TEST_TMPDIR/lock" 3>&- &
	echo $! >"$BATS_FILE_TMPDIR/locker"
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
	rm "$BATS_FILE_TMPDIR/locker"
	[ "$(kz audit export | jq -s 'map(select(.kind == "grant" or .kind == "dispatch")) | length')" = "$before" ]
	kz_wait 60 kz status
	kz_run -c 'print("again")'
	[ "$output" = again ]
	kz audit verify
}
