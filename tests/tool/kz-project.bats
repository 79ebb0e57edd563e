#!/usr/bin/env bats
# kz-project: the decision over a table of cases, the files, and what is verified of both.

bats_require_minimum_version 1.5.0

setup_file() {
	cd "$BATS_TEST_DIRNAME" || return 1
	PROJECT=${KZ_BIN:-$PWD/../../build/bin}/kz-project
	export PROJECT
	mkdir "$BATS_FILE_TMPDIR/documents"
	head -c 32 /dev/urandom | od -An -tx1 | tr -d ' \n' >"$BATS_FILE_TMPDIR/seed"
	python3 v4public.py public "$BATS_FILE_TMPDIR/seed" >"$BATS_FILE_TMPDIR/keys"
	# shellcheck disable=SC2016
	echo 'ls "$KAIZEN_SHARED_RESOURCES_DIR"' >"$BATS_FILE_TMPDIR/asks"
}

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	D=$BATS_FILE_TMPDIR/documents
}

# make SPEC: scope.json and live.json
make_scope() {
	python3 "$BATS_TEST_DIRNAME/scope.py" "$BATS_FILE_TMPDIR/seed" "$D" <<<"$1" >scope.json
	python3 "$BATS_TEST_DIRNAME/scope.py" --live "$BATS_FILE_TMPDIR/seed" "$D" <<<"$1" >live.json
}

project() {
	run --separate-stderr "$PROJECT" "$1" -k "$BATS_FILE_TMPDIR/keys" "${@:2}" <scope.json
}

schema() { python3 "$BATS_TEST_DIRNAME/../schema.py" "$@"; }

@test "PRJ-11 to PRJ-48, EXEC-19: every case of the table is decided as it says" {
	run python3 "$BATS_TEST_DIRNAME/projection-cases.py" "$PROJECT" "$BATS_FILE_TMPDIR"
	echo "$output"
	[ "$status" -eq 0 ]
	[ "$(grep -o '^[0-9]*' <<<"${lines[-1]}")" -ge 115 ]
}

@test "PRJ-54: scope document, live audience, decision and capability fit their schemas" {
	make_scope '{"manifest":["a.txt=1"],"selection":["s=2"],"live":{"links":[{"id":"d-a.txt","root":"r","version":"1","turn":"t","member":"m","position":1}]}}'
	schema --expect scope_document <scope.json
	schema --expect audience <live.json
	project resolve -j -a file:live.json
	[ "$status" -eq 0 ]
	schema --expect projection <<<"$output"
	project verify -j
	schema --expect capability <<<"$output"
}

@test "PRJ-47: a refusal names the file and the limit, and an id that was never readable as it was given" {
	make_scope '{"kind":"private_attachments","manifest":[{"id":"d","state":"processing","filename":"plan.pdf"}]}'
	project resolve -j
	[ "$status" -eq 75 ]
	jq -se '.[0] | .reason == "resource_not_ready" and (.text | startswith("plan.pdf: "))' <<<"$output"
	make_scope '{"kind":"private_attachments","manifest":[{"filename":"x.bin","content":"x","size":8388609}]}'
	project resolve -j
	jq -se '.[0].text | contains("x.bin") and contains("8388609") and contains("8388608")' <<<"$output"
	make_scope '{"kind":"private_attachments","requested":["doc-of-somebody"]}'
	project resolve -j
	[ "$status" -eq 77 ]
	jq -se '.[0].text | startswith("doc-of-somebody: ")' <<<"$output"
}

@test "PRJ-23, PRJ-54: the audience comes from a program without a shell, once, in time and in size" {
	make_scope '{"manifest":["a=1"]}'
	printf '#!/bin/sh\necho asked >>asked\ncat live.json\n' >ask
	chmod +x ask
	project resolve -a 'cmd:./ask  with $(words)'
	[ "$status" -eq 0 ]
	[ "$(wc -l <asked)" -eq 1 ]
	for source in cmd:false cmd:./none file:none file:/dev/zero 'cmd:cat /dev/zero' http://127.0.0.1:1/ cmd:echo; do
		project resolve -a "$source"
		[ "$status" -eq 69 ]
		[[ $stderr == *audience_unavailable* ]]
	done
	project resolve -a "live.json"
	[ "$status" -eq 64 ]
	project resolve
	[ "$status" -eq 69 ]
}

@test "PRJ-54: the audience comes from a URL" {
	make_scope '{"manifest":["a=1"]}'
	python3 -u -c 'import http.server
s = http.server.HTTPServer(("127.0.0.1", 0), http.server.SimpleHTTPRequestHandler)
print(s.server_port, flush=True)
s.serve_forever()' >port 2>/dev/null 3>&- &
	server=$!
	for _ in {1..600}; do
		[ ! -s port ] || break
		sleep 0.1
	done
	project resolve -a "http://127.0.0.1:$(cat port)/live.json"
	first=$status
	project resolve -a "http://127.0.0.1:$(cat port)/other.json"
	kill $server
	[ "$first" -eq 0 ]
	[ "$status" -eq 69 ]
}

@test "PRJ-4, PRJ-55: stage writes the set read-only and whole, verify holds it against the scope" {
	make_scope '{"manifest":["a.txt=alpha","b.txt="],"selection":["s=secret"]}'
	mkdir out
	project stage -j -d out -D "$D" -a file:live.json
	[ "$status" -eq 0 ]
	[ "$(cat out/a.txt)" = alpha ]
	[ "$(stat -c %a out/a.txt out/b.txt out/s out | tr '\n' ' ')" = '444 444 444 555 ' ]
	jq -e 'length == 3 and all(.[]; .path | startswith("/"))' out/.manifest.json
	project verify -d out
	[ "$status" -eq 0 ]
	chmod u+w out out/a.txt
	printf alphA >out/a.txt
	chmod 444 out/a.txt
	project verify -d out
	[ "$status" -eq 77 ]
	[[ $stderr == *resource_digest_mismatch* ]]
	printf alpha | dd of=out/a.txt 2>/dev/null
	touch out/more
	project verify -d out
	[[ $stderr == *resource_manifest_mismatch* ]]
	project stage -d out -D "$D" -a file:live.json
	[ "$status" -eq 64 ]
}

@test "PRJ-4, PRJ-55: a document that is missing, short, long, altered, a link or a fifo leaves nothing" {
	make_scope '{"manifest":["first=1","a.txt=alpha beta"]}'
	file=$D/$(printf 'alpha beta' | sha256sum | cut -d' ' -f1)
	mkdir out
	try() {
		project stage -d out -D "$D" -a file:live.json
		[ "$status" -eq 77 ]
		[[ $stderr == *"$1"*a.txt* ]]
		[ -z "$(ls -A out)" ]
		rm -rf "$file"
	}
	rm "$file"
	try resource_unavailable
	printf 'alpha bet' >"$file"
	try resource_digest_mismatch
	printf 'alpha beta!' >"$file"
	try resource_digest_mismatch
	printf 'alpha betA' >"$file"
	try resource_digest_mismatch
	printf 'alpha beta' >real
	ln -s "$PWD/real" "$file"
	try resource_unavailable
	mkfifo "$file"
	try resource_unavailable
	mkdir "$file"
	try resource_unavailable
}

@test "PRJ-55: a file that is swapped for a link, another file and back while it is staged is exact or refused" {
	make_scope '{"manifest":["a.txt=alpha beta"]}'
	file=$D/$(printf 'alpha beta' | sha256sum | cut -d' ' -f1)
	printf 'alpha beta' >good
	printf 'CANARY' >bad
	touch go
	python3 -c 'import os, sys
file, n = sys.argv[1], 0
while os.path.exists("go"):
    n += 1
    if n % 3 == 0:
        os.symlink(os.path.abspath("bad"), "t")
    else:
        os.link("good" if n % 3 == 1 else "bad", "t")
    os.rename("t", file)
    if os.path.lexists("t"): os.unlink("t")' "$file" 3>&- &
	swapper=$!
	exact=0 refused=0
	for _ in $(seq 60); do
		rm -rf out
		mkdir out
		project stage -d out -D "$D" -a file:live.json
		if [ "$status" -eq 0 ]; then
			[ "$(cat out/a.txt)" = 'alpha beta' ]
			exact=$((exact + 1))
			chmod u+w out
		else
			[ -z "$(ls -A out)" ]
			refused=$((refused + 1))
		fi
	done
	rm go
	wait $swapper || true
	rm -f "$file"
	echo "exact $exact refused $refused"
	[ $((exact + refused)) -eq 60 ]
}

@test "EXEC-19: without keys, with a file that holds none, or another's, nothing verifies" {
	make_scope '{"manifest":["a=1"]}'
	: >none
	run --separate-stderr "$PROJECT" verify -k none <scope.json
	[ "$status" -eq 78 ]
	[[ $stderr == *app_keys_missing* ]]
	head -c 32 /dev/urandom | od -An -tx1 | tr -d ' \n' >seed
	python3 "$BATS_TEST_DIRNAME/v4public.py" public seed >other
	run --separate-stderr "$PROJECT" verify -k other <scope.json
	[ "$status" -eq 77 ]
	[[ $stderr == *capability_invalid* ]]
	cat other "$BATS_FILE_TMPDIR/keys" >both
	run --separate-stderr "$PROJECT" verify -k both <scope.json
	[ "$status" -eq 0 ]
}

@test "EXEC-19: one byte of the document or of the token changed, and nothing verifies" {
	make_scope '{"manifest":["a=1"],"selection":["s=2"],"roster":["ann"],"requested":["q"]}'
	for change in '.roster=["ann","bob"]' '.selection[0].sha256=.manifest[0].sha256' '.requested=[]' '.links=[]' '.kind="private_attachments"|del(.selection)' \
		'.capability|=sub("A";"B")' '.capability|=(.[0:60]+"x"+.[61:])' '.capability+="A"'; do
		jq -c "$change" scope.json >changed.json
		cmp -s scope.json changed.json || run --separate-stderr "$PROJECT" verify -k "$BATS_FILE_TMPDIR/keys" <changed.json
		echo "$change: $status $stderr"
		[ "$status" -eq 77 ]
	done
}
