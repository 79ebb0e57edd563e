#!/usr/bin/env bats
# kz-audit on a store that a controller filled: what it prints, and that no tampering passes verify.
# shellcheck disable=SC2154,SC2030,SC2031 # run sets the variables
bats_require_minimum_version 1.5.0

load controller

setup() {
	SCHEMA=$BATS_TEST_DIRNAME/../schema.py
	dir=$(c_new one SANDBOX_WARM_POOL_MIN=2)
	export KZ_STATE=$dir
}
teardown() { c_end; }

# A store with the life of two workers in it.
filled() {
	c_valkey "$dir"
	c_start "$dir"
	c_wait 15 c_settled "$dir" 2
	c_stop "$dir" TERM
	c_valkey_stop "$dir"
	"$BIN/kz-audit" verify
}

sql() {
	python3 -c 'import sqlite3, sys
db = sqlite3.connect(sys.argv[1], isolation_level=None)
for s in sys.argv[2:]: db.execute(s)
db.execute("PRAGMA wal_checkpoint(TRUNCATE)")' "$dir/audit/audit.db" "$@"
}

# broken CODE: verify says so with status 1, and in JSON
broken() {
	run --separate-stderr "$BIN/kz-audit" verify -j
	echo "$output" "$stderr"
	[ "$status" -eq 1 ]
	jq -e --arg c "$1" '.ok == false and any(.problems[]; .code == $c)' <<<"$output"
	python3 "$SCHEMA" --expect audit_verify <<<"$output"
	[[ $stderr == *audit_broken* ]]
	run --separate-stderr "$BIN/kz-audit" verify
	[ "$status" -eq 1 ]
	[[ $output == *$1* ]]
}

@test "AUD-9 an empty store is whole and prints nothing" {
	run "$BIN/kz-audit" verify
	[ "$status" -eq 0 ]
	run "$BIN/kz-audit" list -j
	[ "$status" -eq 0 ]
	[ -z "$output" ]
	run "$BIN/kz-audit" show 0123456789abcdef0123456789abcdef
	[ "$status" -eq 1 ]
}

@test "AUD-8 AUD-9 every line fits its schema; filters and export agree" {
	filled
	"$BIN/kz-audit" export | python3 "$SCHEMA" --expect audit
	[ "$("$BIN/kz-audit" export)" = "$("$BIN/kz-audit" list -j)" ]
	worker=$("$BIN/kz-audit" list -j -k transition -l 1 | jq -r .subject)
	"$BIN/kz-audit" list -j -w "$worker" | jq -es --arg w "$worker" 'length == 4 and all(.worker == $w)'
	[ "$("$BIN/kz-audit" list -j -l 3 | wc -l)" -eq 3 ]
	[ "$("$BIN/kz-audit" list -j -s 9999999999999)" = "" ]
	run "$BIN/kz-audit" list -k transition
	[ "$status" -eq 0 ]
	[[ ${lines[0]} == ID* ]]
}

@test "AUD-9 an edited row, also by one who knows the triggers" {
	filled
	sql "DROP TRIGGER transition_update" "UPDATE transition SET to_state = 'retiring', event = 'create_unknown' WHERE id = 3"
	broken row_changed
}

@test "AUD-9 a removed row" {
	filled
	sql "DROP TRIGGER transition_delete" "DROP TRIGGER entry_delete" "DELETE FROM transition WHERE id = 2" \
		"DELETE FROM entry WHERE id = 2"
	broken rows_missing
	broken transition_gap
}

@test "AUD-9 a cut tail" {
	filled
	sql "DROP TRIGGER transition_delete" "DROP TRIGGER entry_delete" \
		"DELETE FROM transition WHERE id = (SELECT max(id) FROM transition)" "DELETE FROM entry WHERE id = (SELECT max(id) FROM entry)"
	broken tail_cut
}

@test "AUD-9 a replaced file, and a store that is gone" {
	filled
	mv "$dir/audit" "$dir/old"
	mkdir "$dir/audit"
	cp "$dir/old/head" "$dir/audit/head"
	broken tail_cut
	c_valkey "$dir"
	c_start "$dir"
	c_wait 15 c_is_open "$dir"
	c_stop "$dir" TERM
	broken broken_before
}

@test "AUD-9 a file of garbage" {
	filled
	rm -f "$dir/audit/audit.db-wal" "$dir/audit/audit.db-shm"
	head -c 8192 /dev/urandom >"$dir/audit/audit.db"
	run --separate-stderr "$BIN/kz-audit" verify
	[ "$status" -ne 0 ]
	[ "${#stderr_lines[@]}" -eq 1 ]
}

@test "AUD-9 rotation keeps the chain; a closed file that is changed or taken away is told" {
	filled
	rows=$("$BIN/kz-audit" export | wc -l)
	"$BIN/kz-audit" rotate -f -j | python3 "$SCHEMA" --expect audit_rotate
	[ "$("$BIN/kz-audit" export | wc -l)" -eq $((rows + 1)) ]
	"$BIN/kz-audit" verify
	closed=$(ls "$dir/audit/closed/"*.db)
	cp "$closed" "$dir/keep"
	printf x | dd of="$closed" bs=1 seek=5000 conv=notrunc status=none
	broken segment_changed
	rm -f "$closed"
	broken segment_missing
	cp "$dir/keep" "$closed"
	"$BIN/kz-audit" verify
	run "$BIN/kz-audit" rotate
	[ "$output" = "nothing to close, 0 removed" ]
}

@test "AUD-9 retention: what is past KZ_AUDIT_KEEP_DAYS goes whole and verify holds" {
	filled
	"$BIN/kz-audit" rotate -f
	c_set "$dir" KZ_AUDIT_KEEP_DAYS 1
	faketime -f +3d "$BIN/kz-audit" rotate
	[ -z "$(ls "$dir/audit/closed")" ]
	"$BIN/kz-audit" verify
	"$BIN/kz-audit" list -j -k removed | jq -e '.first_id == 1'
}

# golden/audit-1.tar.gz is a store of the first form, as it was written then: a closed segment and an open one with
# six runs and the life of their worker, 77 rows.
@test "AUD-9 a store of the first form: it is read as it is, grows with the next row, and its chain holds throughout" {
	c_set "$dir" KZ_AUDIT_KEEP_DAYS 36500
	c_valkey "$dir"
	rm -rf "$dir/audit/"*
	tar -xzf "$BATS_TEST_DIRNAME/../golden/audit-1.tar.gz" -C "$dir/audit"
	before=$(cd "$dir/audit" && sha256sum audit.db closed/*)
	run "$BIN/kz-audit" verify
	[ "$output" = "whole: 77 rows in 2 segments" ]
	first=$BATS_TEST_TMPDIR/first
	"$BIN/kz-audit" export >"$first"
	python3 "$SCHEMA" --expect audit <"$first"
	[ "$(jq -r 'select(.kind == "dispatch") | [.pids, .inputs_sha256, (.dispatch_input | length)] | @json' "$first" | sort -u)" = '[null,null,0]' ]
	[ "$(cd "$dir/audit" && sha256sum audit.db closed/*)" = "$before" ]
	# the first writer of this form; rows that were there hash as before
	c_start "$dir"
	c_wait 15 c_settled "$dir" 2
	c_stop "$dir" TERM
	c_valkey_stop "$dir"
	"$BIN/kz-audit" verify
	rows=$("$BIN/kz-audit" export | wc -l)
	[ "$rows" -gt 77 ]
	[ "$("$BIN/kz-audit" export | head -77)" = "$(cat "$first")" ]
	"$BIN/kz-audit" rotate -f
	"$BIN/kz-audit" verify
	[ "$("$BIN/kz-audit" export | head -77)" = "$(cat "$first")" ]
	[ "$(cd "$dir/audit" && sha256sum closed/0000000000000000001.db)" = "$(grep closed/ <<<"$before")" ]
	# what came later is no hole in what was there: a value put into an old row shows
	python3 -c 'import glob, os, sqlite3, sys
f = sorted(glob.glob(sys.argv[1] + "/audit/closed/*.db"))[1]
os.chmod(f, 0o660)
db = sqlite3.connect(f, isolation_level=None)
db.execute("DROP TRIGGER dispatch_update")
db.execute("UPDATE dispatch SET pids = 5 WHERE id = (SELECT min(id) FROM dispatch)")' "$dir"
	broken row_changed
}

# Two that find a store of an older form at once: one lets it grow, the other finds it done.
@test "AUD-8 many writers find a store of the first form at once" {
	c_set "$dir" KZ_AUDIT_KEEP_DAYS 36500
	rm -rf "$dir/audit/"*
	tar -xzf "$BATS_TEST_DIRNAME/../golden/audit-1.tar.gz" -C "$dir/audit"
	for i in 1 2 3 4 5 6; do
		"$BIN/kz-audit" rotate >"$BATS_TEST_TMPDIR/rotated.$i" 2>&1 &
	done
	wait
	cat "$BATS_TEST_TMPDIR"/rotated.*
	"$BIN/kz-audit" verify
	python3 -c 'import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
assert "egress_mode" in [c[1] for c in db.execute("PRAGMA table_info(dispatch)")]' "$dir/audit/audit.db"
}

@test "INV-59 canaries in settings and environment are not in the store" {
	CANARY=canary-5d41402abc4b filled
	c_set "$dir" KZ_GROUP canary-5d41402abc4b
	run grep -rc canary-5d41402abc4b "$dir/audit"
	[ "$status" -eq 1 ]
}

@test "usage: bad verbs, options and operands are 64 with one line" {
	for args in "" frobnicate "list -k nothing" "list -a alice" "list -r 12" "list -l 0" "list -s x" "show" "show xyz" "show a b" "verify x"; do
		# shellcheck disable=SC2086
		run --separate-stderr "$BIN/kz-audit" $args
		echo "$args: $status $stderr"
		[ "$status" -eq 64 ]
		[ -z "$output" ]
	done
}

@test "EXEC-16 no state directory is 69; full output is 74" {
	KZ_STATE=$BATS_TEST_TMPDIR/none run "$BIN/kz-audit" verify
	[ "$status" -eq 69 ]
	filled
	run bash -c '"$1" export >/dev/full' _ "$BIN/kz-audit"
	[ "$status" -eq 74 ]
}
