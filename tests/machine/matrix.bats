#!/usr/bin/env bats
# Every state and event of every machine means the same in C, in Lua inside a running Valkey, in SQL and in the
# model (POOL-10, INV-15).  The matrix that the generator wrote is what each of them is compared with.

setup_file() {
	cd "$BATS_TEST_DIRNAME/../.."
	make -s build/tests/machine/matrix
	grep -hv '^#' statemachines/gen/*.tsv | sort > "$BATS_FILE_TMPDIR/want"
	# The socket's path must be short.
	export SOCK_DIR
	SOCK_DIR=$(mktemp -d /tmp/kzm.XXXXXX)
	valkey-server --port 0 --unixsocket "$SOCK_DIR/s" --save '' --dir "$SOCK_DIR" > "$SOCK_DIR/log" 2>&1 &
	echo $! > "$SOCK_DIR/pid"
	for _ in $(seq 600); do
		valkey-cli -s "$SOCK_DIR/s" ping > "$SOCK_DIR/ping" 2>&1 && grep -q PONG "$SOCK_DIR/ping" && return 0
		sleep 0.1
	done
	cat "$SOCK_DIR/log"
	return 1
}

teardown_file() {
	kill "$(cat "$SOCK_DIR/pid")"
	wait "$(cat "$SOCK_DIR/pid")" 2>/dev/null || :
	rm -rf "$SOCK_DIR"
}

setup() {
	cd "$BATS_TEST_DIRNAME/../.."
	want=$BATS_FILE_TMPDIR/want
	got=$BATS_TEST_TMPDIR/got
	machines=$(basename -s .sm statemachines/*.sm)
}

@test "POOL-10 the matrix holds every state and event of the sources" {
	local m n total=0
	for m in statemachines/*.sm; do
		n=$(($(grep -c '^state ' "$m") * $(grep -c '^event ' "$m")))
		[ "$(grep -c "^$(basename "$m" .sm)	" "$want")" = "$n" ]
		total=$((total + n))
	done
	[ "$(wc -l < "$want")" = "$total" ]
	[ "$total" -ge 200 ]
}

@test "POOL-10 INV-15 C takes and refuses every pair as the matrix says" {
	build/tests/machine/matrix | sort > "$got"
	diff "$want" "$got"
}

@test "POOL-10 INV-15 Lua inside Valkey has every pair as the matrix says" {
	{
		echo '#!lua name=kzmatrix'
		cat statemachines/gen/*.lua
		echo "local machines = { $(printf '%s_sm, ' $machines)}"
		cat tests/machine/matrix.lua
	} > "$BATS_TEST_TMPDIR/lib.lua"
	[ "$(valkey-cli -s "$SOCK_DIR/s" -x FUNCTION LOAD < "$BATS_TEST_TMPDIR/lib.lua")" = kzmatrix ]
	valkey-cli -s "$SOCK_DIR/s" FCALL KZMATRIX 0 | sort > "$got"
	diff "$want" "$got"
}

@test "POOL-10 INV-15 SQL has every pair as the matrix says" {
	for m in $machines; do cat statemachines/gen/$m.sql; done | cat - tests/machine/matrix.sql | sqlite3 :memory: | sort > "$got"
	diff "$want" "$got"
}

@test "POOL-10 the SQL inside the C header is the same" {
	printf '#include <stdio.h>\n#include "gen/machines_sql.h"\nint main(void) { fputs(KZ_MACHINES_SQL, stdout); return 0; }\n' > "$BATS_TEST_TMPDIR/x.c"
	cc -Istatemachines -o "$BATS_TEST_TMPDIR/x" "$BATS_TEST_TMPDIR/x.c"
	{ "$BATS_TEST_TMPDIR/x"; cat tests/machine/matrix.sql; } | sqlite3 :memory: | sort > "$got"
	diff "$want" "$got"
}

@test "INV-15 a store whose rows refer to the edges takes each edge and no other transition" {
	{
		cat statemachines/gen/worker.sql
		echo 'PRAGMA foreign_keys = ON;
			CREATE TABLE t (m, a, e, b, FOREIGN KEY (m, a, e, b) REFERENCES machine_edge (machine, from_state, event, to_state));
			INSERT INTO t SELECT machine, from_state, event, to_state FROM machine_edge;
			SELECT count(*) = (SELECT count(*) FROM machine_edge) FROM t;'
	} > "$BATS_TEST_TMPDIR/edges.sql"
	[ "$(sqlite3 :memory: < "$BATS_TEST_TMPDIR/edges.sql")" = 1 ]
	for row in "'worker', 'retiring', 'publish', 'warm'" "'worker', 'warm', 'assign', 'warm'" "'worker', 'creating', 'assign', 'leased'"; do
		run sqlite3 :memory: ".read $BATS_TEST_TMPDIR/edges.sql" "INSERT INTO t VALUES ($row);"
		[ "$status" != 0 ]
		[[ $output == *"FOREIGN KEY constraint failed"* ]]
	done
}

@test "POOL-10 INV-15 the model's step takes every pair as the matrix says" {
	local m
	for m in $machines; do
		{
			grep -o 'G_[A-Z_]*(x)' statemachines/gen/$m.pml | sort -u | sed 's/.*/#define & true/'
			cat statemachines/gen/$m.pml
			echo "active proctype all() { byte s; bool ok;"
			grep "^$m	" "$want" | while IFS=$'\t' read -r _ from event _; do
				echo "s = ${m^^}_S_${from^^}; ${m}_step(s, ${m^^}_E_${event^^}, 0, ok); printf(\"ROW %d $m $from $event %d\\n\", ok, s);"
			done
			echo "}"
		} > "$BATS_TEST_TMPDIR/$m.pml"
		(cd "$BATS_TEST_TMPDIR" && spin "$m.pml") | sed -n 's/^ *ROW //p' > "$BATS_TEST_TMPDIR/$m.out"
		grep "^$m	" "$want" | while IFS=$'\t' read -r _ from event to _; do
			[ "$to" = - ] && to=$from ok=0 || ok=1
			echo "$ok $m $from $event $(sed -n "s/^#define ${m^^}_S_${to^^} //p" statemachines/gen/$m.pml)"
		done > "$BATS_TEST_TMPDIR/$m.want"
		[ -s "$BATS_TEST_TMPDIR/$m.want" ]
		diff "$BATS_TEST_TMPDIR/$m.want" "$BATS_TEST_TMPDIR/$m.out"
	done
}

@test "POOL-10 each guard of the registry is answered where the registry says" {
	local name lua c n=0
	while IFS='|' read -r name _ lua c _; do
		name=${name// /} lua=${lua// /} c=${c// /}
		if [ "$lua" != - ]; then
			[ "$lua" = "guard.$name" ]
			grep -qF "function $lua(" lib/valkey/*.lua
		fi
		[ "$c" = - ] || grep -rqE "\\b$c\\(" lib --include='*.h'
		n=$((n + 1))
	done < <(grep -v '^#' statemachines/guards.tbl)
	[ "$n" -ge 18 ]
}
