#!/usr/bin/env bats
# kz-audit receipt and check-receipt on a real stack: what is signed is what ran, and it verifies with the public
# key and nothing else (AUD-1, AUD-4, AUD-9, RESET-13).
# shellcheck disable=SC2154,SC2030,SC2031 # run and kz_run set the variables
# bats file_tags=case:root
bats_require_minimum_version 1.5.0
load ../kz

setup_file() {
	kz_start SANDBOX_WARM_POOL_MIN=1 SANDBOX_MAX_CONCURRENT_PER_MEMBER=8
	SCHEMA=$BATS_TEST_DIRNAME/../schema.py
	V4=$BATS_TEST_DIRNAME/v4public.py
	JOB=$BATS_FILE_TMPDIR
	export SCHEMA V4 JOB
	cat >"$JOB/job.py" <<-'PY'
		import sys
		text = open("data.csv").read() + sys.stdin.read() + sys.argv[1]
		open("sums.txt", "w").write(text)
		print(len(text))
	PY
	printf '1,2,3\n' >"$JOB/data.csv"
	printf 'from a pipe' >"$JOB/in"
	mkdir "$JOB/out"
	kz_run -A alice -C one -e WORD=canary-env-2f7a -i data.csv="$JOB/data.csv" -o sums.txt -d "$JOB/out" -t 29000 --approve TICKET-7 \
		"$JOB/job.py" 'an argument' <"$JOB/in"
	[ "$status" -eq 0 ]
	kz_record run >"$JOB/run"
	kz audit receipt "$(cat "$JOB/run")" >"$JOB/token"
	jq -r '.receipt[0].key' "$KZ_STATE/public/keys.json" >"$JOB/pub"
}

teardown_file() {
	kz_stop
}

setup() {
	RUN=$(cat "$JOB/run")
	TOKEN=$(cat "$JOB/token")
	PUB=$(cat "$JOB/pub")
	cd "$BATS_TEST_TMPDIR" || return 1
}

# check ARGUMENT...: check-receipt with no state directory, no variable, nothing
check() {
	run --separate-stderr env -i "$KZ_BIN/kz-audit" check-receipt "$@"
	echo "$status: $output / $stderr"
}

# invalid TOKEN WORDS: it is none, with status 1, the reason, and these words
invalid() {
	check -k "$PUB" "$1"
	[ "$status" -eq 1 ]
	[ -z "$output" ]
	[[ $stderr == *receipt_invalid*"$2"* ]]
}

claim() {
	env -i "$KZ_BIN/kz-audit" check-receipt -j -k "$PUB" "$TOKEN" | jq -r ".claims.$1"
}

sha() { sha256sum "$@" | cut -d' ' -f1; }
# the digest of a file's name in a run
name_sha() { printf 'kz name 1\0%s\0%s' "$1" "$2" | sha; }

@test "AUD-9 a receipt verifies in an empty root, without network, state or environment" {
	local root=$BATS_TEST_TMPDIR/root lib
	mkdir -p "$root/dev"
	mknod -m 666 "$root/dev/null" c 1 3
	cp "$KZ_BIN/kz-audit" "$root/"
	for lib in $(ldd "$KZ_BIN/kz-audit" | grep -o '/[^ ]*'); do
		mkdir -p "$root$(dirname "$lib")"
		cp "$lib" "$root$lib"
	done
	cp "$JOB/token" "$JOB/pub" "$JOB/job.py" "$root/"
	run --separate-stderr env -i "$(command -v unshare)" -n "$(command -v chroot)" "$root" /kz-audit check-receipt -k /pub -c /job.py - <"$JOB/token"
	echo "$status $output $stderr"
	[ "$status" -eq 0 ]
	[[ ${lines[0]} == "valid, signed by k4.pid."* ]]
	[[ $output == *"run: $RUN"* ]]
	[[ $output == *"reset.state: clean"* ]]
}

@test "AUD-9 a receipt verifies by openssl and the specification, and holds the payload that is shown" {
	[ "$PUB" = "$(python3 "$V4" public "$KZ_STATE/keys/receipt.key")" ]
	python3 "$V4" verify "$PUB" "kz receipt 1" <"$JOB/token" >payload
	check -j -k "$PUB" "$TOKEN"
	[ "$(jq -cS .claims <<<"$output")" = "$(jq -cS . payload)" ]
	run python3 "$V4" verify "$PUB" "kz grant 1" <"$JOB/token"
	[ "$status" -ne 0 ]
}

@test "AUD-1 AUD-4 what it says is what ran: each digest is made anew here" {
	[ "$(claim code.sha256)" = "$(sha "$JOB/job.py")" ]
	[ "$(claim code.arguments_sha256)" = "$(printf '["an argument"]' | sha)" ]
	[ "$(claim stdin.sha256)" = "$(sha "$JOB/in")" ]
	[ "$(claim stdin.bytes)" = 11 ]
	[ "$(claim env_count)" = 1 ]
	[ "$(claim result.stdout.sha256)" = "$(kz_record stdout.sha256)" ]
	[ "$(claim result.outcome)" = completed ]
	[ "$(claim limits.wall_ms)" = 29000 ]
	[ "$(claim limits.pids)" = 128 ]
	[ "$(claim limits.cpus)" = 1000 ]
	[ "$(claim limits.sha256)" = "$(claim limits | jq -jcS 'del(.sha256)' | sha)" ]
	[ "$(claim posture.sha256)" = "$(kz status -j | jq -jcS '.posture.posture | del(.uid_base, .gid_base)' | sha)" ]
	[ "$(claim posture.kernel)" = shared ]
	[ "$(claim lease.runs_before)" = 0 ]
	[ "$(claim egress.mode)" = "$(kz_record egress.effective)" ]
	for field in reason execution revision; do
		[ "$(claim egress.$field)" = "$(kz_record egress.$field)" ]
	done
	[ "$(claim egress.approval_sha256)" = "$(printf TICKET-7 | sha)" ]
	[ "$(claim image)" = "$(kz audit list -j -k dispatch -r "$RUN" | jq -r .image)" ]
	# files: the list as it is, and its parts
	[ "$(claim 'inputs.files[0].name_sha256')" = "$(name_sha "$RUN" data.csv)" ]
	[ "$(claim 'inputs.files[0].sha256')" = "$(sha "$JOB/data.csv")" ]
	[ "$(claim inputs.sha256)" = "$(claim inputs.files | jq -jcS . | sha)" ]
	[ "$(claim 'outputs.files[0].name_sha256')" = "$(name_sha "$RUN" sums.txt)" ]
	[ "$(claim 'outputs.files[0].sha256')" = "$(sha "$JOB/out/sums.txt")" ]
	[ "$(claim outputs.sha256)" = "$(claim outputs.files | jq -jcS . | sha)" ]
	# the evidence, from the row that it names
	[ "$(claim reset.sha256)" = "$(kz audit show -j "$RUN" |
		jq -jcS --argjson id "$(claim audit.evidence.id)" 'select(.id == $id) | {clean, surfaces: .evidence_surface}' | sha)" ]
	[ "$(claim audit.record.hash)" = "$(kz audit list -j -k record -r "$RUN" | jq -r .hash)" ]
}

@test "AUD-2 neither the receipt nor the store holds a name, a value or an argument" {
	python3 "$V4" verify "$PUB" "kz receipt 1" <"$JOB/token" >payload
	for canary in canary-env-2f7a data.csv sums.txt TICKET-7 'an argument' 'from a pipe' alice; do
		run grep -rlF -- "$canary" payload "$KZ_STATE/audit"
		echo "$canary: $output"
		[ "$status" -eq 1 ]
	done
}

@test "the same file is confirmed; another, a changed or an unknown one is not" {
	check -k "$PUB" -c "$JOB/job.py" -i data.csv="$JOB/data.csv" -i ./data.csv="$JOB/data.csv" \
		-o sums.txt="$JOB/out/sums.txt" "$TOKEN"
	[ "$status" -eq 0 ]
	check -j -k "$PUB" -c "$JOB/job.py" -o sums.txt="$JOB/out/sums.txt" "$TOKEN"
	python3 "$SCHEMA" --expect check_receipt <<<"$output"
	[ "$(jq .compared <<<"$output")" = 2 ]
	{ cat "$JOB/job.py" && echo; } >job.py
	for args in "-c job.py" "-i data.csv=job.py" "-o sums.txt=$JOB/data.csv" "-o data.csv=$JOB/data.csv" "-i ../x=$JOB/in"; do
		# shellcheck disable=SC2086
		check -k "$PUB" $args "$TOKEN"
		[ "$status" -eq 1 ]
		[ -z "$output" ]
		[[ $stderr == *receipt_differs* ]]
	done
	check -k "$PUB" -c none "$TOKEN"
	[ "$status" -eq 66 ]
	check -k "$PUB" -i data.csv "$TOKEN"
	[ "$status" -eq 64 ]
}

@test "a flipped, missing or added byte anywhere is receipt_invalid" {
	local i
	for i in 0 9 10 50 $((${#TOKEN} / 2)) $((${#TOKEN} - 90)) $((${#TOKEN} - 1)); do
		[ "${TOKEN:i:1}" = A ] && c=B || c=A
		invalid "${TOKEN:0:i}$c${TOKEN:i+1}" ""
		invalid "${TOKEN:0:i}${TOKEN:i+1}" ""
	done
	invalid "${TOKEN}A" ""
	invalid "$TOKEN." ""
	invalid "${TOKEN%.*}" "names its key"
	invalid "" ""
	invalid "v4.public.AAAA" ""
	head -c 300000 /dev/zero | tr '\0' A >long
	run --separate-stderr env -i "$KZ_BIN/kz-audit" check-receipt -k "$PUB" "$JOB/token"
	[ "$status" -eq 1 ]
	[[ "$stderr" == *"the name of a file; say: check-receipt <FILE"* ]]
	run --separate-stderr env -i "$KZ_BIN/kz-audit" check-receipt -k "$PUB" <long
	[ "$status" -eq 1 ]
	[[ $stderr == *receipt_invalid* ]]
}

@test "GRANT-5 what the grant key signed, or the receipt key for another purpose, is no receipt" {
	python3 "$V4" verify "$PUB" "kz receipt 1" <"$JOB/token" >payload
	# the very claims, under the grant key: with its public key given, and without
	python3 "$V4" sign "$KZ_STATE/keys/grant.key" "kz grant 1" <payload >grant
	invalid "$(cat grant)" "none of the keys"
	check -k "$(python3 "$V4" public "$KZ_STATE/keys/grant.key")" "$(cat grant)"
	[ "$status" -eq 1 ]
	[[ $stderr == *receipt_invalid*signature* ]]
	invalid "$(python3 "$V4" sign "$KZ_STATE/keys/receipt.key" "kz grant 1" <payload)" signature
	# control: the same signer makes one that verifies; a claim more or less, or twice, makes it none
	check -k "$PUB" "$(python3 "$V4" sign "$KZ_STATE/keys/receipt.key" "kz receipt 1" <payload)"
	[ "$status" -eq 0 ]
	invalid "$(jq -jc '. + {"more": 1}' payload | python3 "$V4" sign "$KZ_STATE/keys/receipt.key" "kz receipt 1")" "does not know"
	invalid "$(jq -jc 'del(.reset)' payload | python3 "$V4" sign "$KZ_STATE/keys/receipt.key" "kz receipt 1")" reset
	invalid "$(jq -jc '.v = 2' payload | python3 "$V4" sign "$KZ_STATE/keys/receipt.key" "kz receipt 1")" version
	invalid "$(sed 's/^{/{"v":1,/' payload | python3 "$V4" sign "$KZ_STATE/keys/receipt.key" "kz receipt 1")" ""
}

@test "another deployment's key does not verify it; its receipt does not verify with ours" {
	openssl rand -hex 32 >other
	check -k "$(python3 "$V4" public other)" "$TOKEN"
	[ "$status" -eq 1 ]
	[[ $stderr == *receipt_invalid*"none of the keys"* ]]
	python3 "$V4" verify "$PUB" "kz receipt 1" <"$JOB/token" >payload
	python3 "$V4" sign other "kz receipt 1" <payload >forged
	invalid "$(cat forged)" "none of the keys"
	# both keys in one file: each verifies its own
	{ echo "# ours" && echo "$PUB" && python3 "$V4" public other; } >both
	check -k both "$TOKEN"
	[ "$status" -eq 0 ]
	check -k both "$(cat forged)"
	[ "$status" -eq 0 ]
}

@test "keys: a copy of keys.json does; without -k the state directory's; nonsense is 78, a missing file 66" {
	cp "$KZ_STATE/public/keys.json" copy.json
	check -k copy.json "$TOKEN"
	[ "$status" -eq 0 ]
	run kz-audit check-receipt "$TOKEN"
	[ "$status" -eq 0 ]
	check "$TOKEN"
	[ "$status" -eq 66 ]
	check -k none "$TOKEN"
	[ "$status" -eq 66 ]
	for text in "" k4.public.AAAA '{"v":1,"receipt":[]}' '{"v":1' k4.secret.x; do
		printf '%s' "$text" >bad
		check -k bad "$TOKEN"
		[ "$status" -eq 78 ]
		[[ $stderr == *keys_invalid* ]]
	done
}

@test "receipt -j has its schema; the token alone is one line" {
	run --separate-stderr kz-audit receipt -j "$RUN"
	[ "$status" -eq 0 ]
	python3 "$SCHEMA" --expect receipt <<<"$output"
	[ "$(wc -l <"$JOB/token")" -eq 1 ]
	jq -r .token <<<"$output" | env -i "$KZ_BIN/kz-audit" check-receipt -j -k "$PUB" | python3 "$SCHEMA" --expect check_receipt
}

@test "a run that is unknown, was refused, or has no end has no receipt" {
	run --separate-stderr kz-audit receipt 0123456789abcdef0123456789abcdef
	[ "$status" -eq 66 ]
	[[ $stderr == *run_unknown* ]]
	kz_run -l cobol -c 'x'
	run --separate-stderr kz-audit receipt "$(kz_record run)"
	[ "$status" -eq 66 ]
	# killed while its program runs: dispatched, and no end was ever recorded
	kz-run -A killed -c 'import time; print("up", flush=True); time.sleep(60)' >up &
	local pid=$! run
	kz_wait 20 grep -q up up
	run=$(kz audit list -j -k dispatch | jq -rs 'last | .run')
	run --separate-stderr kz-audit receipt "$run"
	[ "$status" -eq 75 ]
	[[ $stderr == *run_unended* ]]
	kill -9 $pid
	wait $pid || true
	run --separate-stderr kz-audit receipt "$run"
	[ "$status" -eq 75 ]
	for bad in "" x "${RUN}0" "${RUN^^}" "$RUN $RUN"; do
		# shellcheck disable=SC2086
		run --separate-stderr kz-audit receipt $bad
		[ "$status" -eq 64 ] || [ "$bad" = "${RUN^^}" ]
	done
}

@test "a lease that is held: reset none and the runs before, then clean" {
	cat >held <<-'SH'
		kz-run -A held -C one --record 9 -c 'open("a", "w").write("1")' 9>first
		kz-run -A held -C one --record 9 -c 'print(open("a").read())' 9>second
		kz-audit receipt "$(jq -r .run second)" >during
	SH
	kz lease with -A held -C one -- sh -e held
	check -j -k "$PUB" "$(cat during)"
	[ "$(jq -r .claims.reset.state <<<"$output")" = none ]
	[ "$(jq -r .claims.reset.sha256 <<<"$output")" = null ]
	[ "$(jq -r .claims.lease.runs_before <<<"$output")" = 1 ]
	TOKEN=$(kz-audit receipt "$(jq -r .run first)")
	[ "$(claim reset.state)" = clean ]
	[ "$(claim lease.runs_before)" = 0 ]
}

@test "an end that is no success is told as it was" {
	kz_run -t 300 -c 'while True: pass'
	TOKEN=$(kz-audit receipt "$(kz_record run)")
	[ "$(claim result.outcome)" = bounded ]
	[ "$(claim result.cause)" = wall ]
	[ "$(claim 'result.limits_hit|join(",")')" = wall ]
	[ "$(claim reset.state)" = clean ]
	kz_run -c 'import sys; sys.exit(3)'
	TOKEN=$(kz-audit receipt "$(kz_record run)")
	[ "$(claim result.exit)" = 3 ]
	[ "$(claim result.outcome)" = failed ]
	[ "$(claim egress.mode)" = none ]
	[ "$(claim egress.reason)" = not_approved ]
	[ "$(claim egress.approval_sha256)" = null ]
}

@test "AUD-9 a receipt over closed segments; none where a row since the run was edited" {
	local db=$KZ_STATE/audit/audit.db
	kz-audit rotate -f
	kz_run -c 'print(1)'
	[ "$status" -eq 0 ]
	TOKEN=$(kz-audit receipt "$RUN")
	[ "$(claim reset.state)" = clean ]
	[ "$(claim run)" = "$RUN" ]
	python3 -c 'import sqlite3, sys
db = sqlite3.connect(sys.argv[1], isolation_level=None, timeout=60)
db.execute("DROP TRIGGER record_update")
db.execute("UPDATE record SET wall_ms = wall_ms + 1 WHERE id = (SELECT max(id) FROM record)")' "$db"
	run --separate-stderr kz-audit receipt "$RUN"
	echo "$status $stderr"
	[ "$status" -eq 1 ]
	[ -z "$output" ]
	[[ $stderr == *audit_broken* ]]
	python3 -c 'import sqlite3, sys
db = sqlite3.connect(sys.argv[1], isolation_level=None, timeout=60)
db.execute("UPDATE record SET wall_ms = wall_ms - 1 WHERE id = (SELECT max(id) FROM record)")' "$db"
	kz-audit receipt "$RUN"
}

@test "who may not call gets no receipt; anybody may check one; a full disk is 74" {
	cp "$KZ_BIN/kz-audit" "$BATS_TEST_TMPDIR/kz-audit"
	chmod 755 "$BATS_TEST_TMPDIR" "$BATS_TEST_TMPDIR/kz-audit"
	run --separate-stderr setpriv --reuid 65534 --regid 65534 --clear-groups kz-audit receipt "$RUN"
	[ "$status" -eq 77 ]
	[ -z "$output" ]
	run --separate-stderr setpriv --reuid 65534 --regid 65534 --clear-groups kz-audit check-receipt -k "$PUB" "$TOKEN"
	[ "$status" -eq 0 ]
	run bash -c 'kz-audit receipt "$1" >/dev/full' _ "$RUN"
	[ "$status" -eq 74 ]
}

@test "a rotated key: what was signed before verifies with the old public key alone" {
	kz down
	rm "$KZ_STATE/keys/field.key"
	kz up
	new=$(jq -r '.receipt[0].key' "$KZ_STATE/public/keys.json")
	[ "$new" != "$PUB" ]
	check -k "$PUB" "$TOKEN"
	[ "$status" -eq 0 ]
	check -k "$new" "$TOKEN"
	[ "$status" -eq 1 ]
	[[ $stderr == *"none of the keys"* ]]
	# signed anew: the same run under the new key
	again=$(kz-audit receipt "$RUN")
	check -j -k "$new" "$again"
	[ "$(jq -r .claims.run <<<"$output")" = "$RUN" ]
	printf '%s\n%s\n' "$PUB" "$new" >kept
	check -k kept "$TOKEN"
	[ "$status" -eq 0 ]
	check -k kept "$again"
	[ "$status" -eq 0 ]
}
