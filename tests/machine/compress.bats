# The model's view shortened: by the built-in rule and by a filter; and all the ways in which it stays as it is.
# shellcheck disable=SC2154 # run and kz_run set the variables
bats_require_minimum_version 1.5.0
load ../kz

setup_file() {
	kz_start SANDBOX_WARM_POOL_MIN=1 KZ_COMPRESS_SECONDS=60
	FILTERS=$(mktemp -d /tmp/kz-filters.XXXXXX)
	chmod 755 "$FILTERS"
	export FILTERS
}

teardown_file() {
	rm -rf "$FILTERS"
	kz_stop
}

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
}

# by PROGRAM: what shortens from now on; a Python program comes from standard input
by() {
	if [ "$1" = filter ]; then
		{
			echo '#!/usr/bin/python3 -IS'
			cat
		} >"$FILTERS/filter"
		chmod 755 "$FILTERS/filter"
		printf %s "$FILTERS/filter" >"$KZ_STATE/env/KZ_COMPRESS"
	else
		printf %s "$1" >"$KZ_STATE/env/KZ_COMPRESS"
	fi
}

# One line looks like an error, far from both ends.
LONG='
import sys
for i in range(9000): print("line", i, "ValueError: boom" if i == 4500 else "")
print("short", file=sys.stderr)'

# What a run prints and tells, but for identity, time and memory; the model's view apart.
rest() {
	jq -cS 'del(.run, .wall_ms, .cpu_ms, .peak_bytes, .killed_count, .model_view) | walk(if type == "object" then del(.run, .id) else . end)' "$KZ_TEST_RECORD"
}

# The view is that of a run without --compress.
stays() {
	kz_run --compress -c "$LONG"
	[ "$status" -eq 0 ]
	[ "$(jq -cS .model_view "$KZ_TEST_RECORD")" = "$(cat plain.view)" ]
	[ "$output" = "$(cat plain.out)" ]
	[ "$(rest)" = "$(cat plain.rest)" ]
}

plain() {
	kz_run -c "$LONG"
	jq -cS .model_view "$KZ_TEST_RECORD" >plain.view
	printf '%s\n' "$output" >plain.out
	rest >plain.rest
}

@test "CMP-1 CMP-3 CMP-6 CMP-7 INV-60: builtin shortens the model's view alone, only where it was asked for" {
	by ''
	plain
	stays
	by builtin
	kz_run -c "$LONG"
	[ "$(jq -cS .model_view "$KZ_TEST_RECORD")" = "$(cat plain.view)" ]
	kz_run --compress -c "$LONG"
	[ "$output" = "$(cat plain.out)" ]
	[ "$(rest)" = "$(cat plain.rest)" ]
	[ "$(kz_record model_view.stdout.compressed.by)" = builtin ]
	[ "$(kz_record model_view.stdout.compressed.original_bytes)" -eq "$(kz_record stdout.kept_bytes)" ]
	[ "$(kz_record model_view.stdout.compressed.original_sha256)" = "$(kz_record stdout.sha256)" ]
	[ "$(kz_record stdout.sha256)" = "$(sha256sum <plain.out | cut -d' ' -f1)" ]
	[ "$(kz_record model_view.stdout.compressed.bytes)" -le 16384 ]
	[[ $(kz_record model_view.stdout.head) == *"line 4500 ValueError: boom"*"line 8999"* ]]
	[ "$(kz_record 'model_view.stderr | has("compressed")')" = false ]
	# all but the streams of the view is as it was
	[ "$(jq -cS '.model_view | del(.stdout)' "$KZ_TEST_RECORD")" = "$(jq -cS 'del(.stdout)' plain.view)" ]
	python3 "$BATS_TEST_DIRNAME/../schema.py" --last record <"$KZ_TEST_RECORD"
}

@test "CMP-2 CMP-5 CMP-7: a filter sees what the model may read, with its bound, and no environment" {
	by filter <<-'PY'
		import os, sys
		t = sys.stdin.read()
		print(len(t), sys.argv[1], sorted(set(os.environ) - {"LC_CTYPE"}), "canary" in t)
	PY
	CANARY=1 kz_run --compress -c "$LONG"
	[ "$(kz_record model_view.stdout.head)" = "$(kz_record stdout.kept_bytes) 16384 [] False" ]
	kz_record_is model_view.stdout.compressed.by filter
	kz_record_is model_view.stdout.tail ''
}

@test "CMP-4 CMP-8 INV-60: a filter that fails, hangs, writes nothing, too much or no text changes nothing" {
	by ''
	plain
	by filter <<<'import sys; print("short"); sys.exit(3)'
	stays
	[[ $error == *"not compressed"*"status 3"* ]]
	by filter <<<'import time; print("short", flush=True); time.sleep(600)'
	echo 1 >"$KZ_STATE/env/KZ_COMPRESS_SECONDS"
	stays
	echo 60 >"$KZ_STATE/env/KZ_COMPRESS_SECONDS"
	by filter <<<''
	stays
	by filter <<<'import sys; sys.stdout.write("x" * 16385)'
	stays
	by filter <<<'import sys; sys.stdout.write(sys.stdin.read() * 2)'
	stays
	by filter <<<'import sys; sys.stdout.buffer.write(b"a\xff")'
	stays
	by filter <<<'import sys; sys.stdout.write("a\0b")'
	stays
	by filter <<<'import os; os.abort()'
	stays
	by /nonexistent/program
	stays
	by filter <<<'import sys; sys.stdout.write("x" * 16384)'
	kz_run --compress -c "$LONG"
	kz_record_is model_view.stdout.compressed.bytes 16384
}
