#!/usr/bin/env bats
# kz-workspace on a stack with one worker: files in and out, whole or not at all, hostile names, hostile archives, bounds.
# shellcheck disable=SC2154,SC2030,SC2031,SC2012,SC2016,SC2046,SC2094 # run sets the variables; lists of plain names
# bats file_tags=case:root
bats_require_minimum_version 1.5.0
load ../kz

setup_file() {
	kz_start SANDBOX_WARM_POOL_MIN=1 SANDBOX_POOL_TARGET_IDLE=0 SANDBOX_WORKSPACE_MAX_BYTES=131072 KZ_RUN_INODES=64 SANDBOX_ACQUIRE_WAIT_SECONDS=120
}

teardown_file() {
	kz_stop
}

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	unset KZ_LEASE KZ_LEASE_TOKEN KZ_FENCE
	SCHEMA=$BATS_TEST_DIRNAME/../schema.py
	C=c$BATS_TEST_NUMBER
}

ws() {
	local verb=$1
	shift
	kz-workspace "$verb" -A a -C "$C" "$@" </dev/null
}

# refused STATUS REASON COMMAND...: and what is stored is as before.
refused() {
	local want=$1 reason=$2 before after
	shift 2
	before=$(generations)
	run --separate-stderr "$@"
	echo "status $status: $stderr"
	[ "$status" -eq "$want" ]
	[[ $stderr == *"kz-workspace"*": $reason: "* ]]
	[ "${#stderr_lines[@]}" -eq 1 ]
	after=$(generations)
	[ "$before" = "$after" ]
}

generations() {
	find "$KZ_STATE/objects" -path '*/g/*' -type f -exec sha256sum {} + | sort
}

lines_are_valid() {
	python3 "$SCHEMA" <"$1"
}

@test "WS-7 put, list, get, rm: bytes and modes come back" {
	head -c 5000 /dev/urandom >blob
	printf '#!/bin/sh\n' >tool
	chmod 755 tool
	ws put -j blob d/e/tool=tool >out
	[ "$(jq -r '.type, .entries, .changed' out | xargs)" = "workspace 4 true" ]
	ws list -j >list
	[ "$(jq -r '[.name, .kind, .bytes, .mode] | join(" ")' list)" = "$(printf '%s\n' 'blob file 5000 0644' 'd directory 0 0755' 'd/e directory 0 0755' 'd/e/tool file 10 0755')" ]
	lines_are_valid list
	[ "$(ws list d)" = "$(printf 'd/\nd/e/\nd/e/tool')" ]
	ws get blob >back
	cmp blob back
	ws get -o back.tool ./d//e/tool
	[ -x back.tool ]
	ws put -j blob >out
	[ "$(jq .changed out)" = true ]
	ws rm -r d
	[ "$(ws list)" = blob ]
	ws get -j blob >out
	[ "$(jq -r .text_base64 out | base64 -d | sha256sum)" = "$(sha256sum <blob)" ]
	lines_are_valid out
}

@test "WS-3 INV-35 same workspace twice: another actor, another conversation, and names that concatenate alike see nothing" {
	echo secret >f
	kz-workspace put -A ab -C c f
	kz-workspace put -A actor-canary -C conversation-canary f
	for who in "-A a -C bc" "-A abc -C c" "-A ab -C c1" "-A a -C c"; do
		# shellcheck disable=SC2086
		refused 66 workspace_missing kz-workspace list $who
		# shellcheck disable=SC2086
		refused 66 workspace_missing kz-workspace get $who f
	done
	# neither name stands in the store [AUD-3]
	run ! grep -rq canary "$KZ_STATE/objects"
	[ -z "$(find "$KZ_STATE/objects" -name '*canary*')" ]
}

@test "WS-10 confused deputy: paths that are absolute, parent, control characters, links, what is missing" {
	mkdir -p t/d
	echo x >t/f
	ln -s f t/link
	ln -s /etc t/etc
	ln -s .. t/up
	tar -C t -cf t.tar .
	ws import t.tar
	for path in /etc/passwd ../f d/../../f $'f\n' $'f\e[2J' $'\xff' '' . d/; do
		refused 65 path_rejected ws get "$path"
		refused 65 path_rejected ws rm "$path"
		refused 65 path_rejected ws put "$path=f.tar"
	done
	for path in link etc etc/passwd up up/f d; do
		refused 65 file_not_regular ws get "$path"
	done
	echo y >y
	for path in link etc/y up/y d f/y; do
		refused 65 file_not_regular ws put "$path=y"
	done
	refused 66 file_missing ws get nothing
	refused 66 file_missing ws get d/nothing
	refused 66 file_missing ws rm f nothing
	refused 65 file_not_regular ws rm d
	refused 65 file_not_regular ws rm etc/passwd
	# a link goes itself
	ws rm link etc up
	[ "$(ws list | xargs)" = "d/ f" ]
}

@test "WS-12 several files are one change: one that is wrong keeps the others out" {
	echo one >one
	echo two >two
	ws put one
	refused 65 file_not_regular ws put two one/below=two
	refused 66 input_unreadable ws put two nothing
	refused 64 usage ws put two x/two=two two
	refused 64 usage ws put -
	[ "$(ws list)" = one ]
	[ "$(echo three | kz-workspace put -A a -C "$C" 3=- && ws get 3)" = three ]
}

@test "BOUND-10 BOUND-12 over the bound nothing is stored; at the bound it is" {
	# a tar of one file: a head, blocks of 512, two empty blocks
	local fit
	for size in $(seq 128000 512 132000); do
		head -c "$size" /dev/zero >f
		if ws put x=f 2>err; then
			fit=$size
		else
			break
		fi
	done
	grep -q ': workspace_over_bound: ' err
	[ "$(ws get x | wc -c)" -eq "$fit" ]
	[ "$(ws export | wc -c)" -le 131072 ]
	[ $(($(ws export | wc -c) + 512)) -gt 131072 ]
	refused 65 workspace_over_bound ws put x=f
	# sparse files count at full length
	truncate -s 140000 sparse
	refused 65 workspace_over_bound ws put sparse
	# entries
	mkdir many
	(cd many && touch $(seq 64))
	tar -C many -cf many.tar $(cd many && ls)
	C=many
	ws import many.tar
	touch many/65
	tar -C many -cf many.tar $(cd many && ls)
	refused 65 archive_refused ws import many.tar
	[ "$(ws list | wc -l)" -eq 64 ]
}

@test "WS-15 export and import give the same tree: names, bytes, modes, times, links" {
	mkdir -p t/sub/deep
	printf 'a\0b' >t/bin
	ln -s ../nowhere t/sub/dangling
	chmod 4755 t/bin
	touch -d '2001-02-03 04:05:06' t/bin t/sub/deep
	: >"t/$(head -c 255 /dev/zero | tr '\0' n)"
	: >t/$'new\nline'
	: >t/$'\xff\xfe'
	: >t/Case
	: >t/case
	: >t/-rf
	: >t/'$(id)'
	tar --format=pax -C t -cf t.tar .
	ws import t.tar
	ws export -o back.tar
	mkdir back
	tar -C back -xpf back.tar
	(cd t && find . -mindepth 1 -printf '%p %y %m %s %T@ %l\0' | sort -z | grep -zv ' d ') >one
	(cd back && find . -mindepth 1 -printf '%p %y %m %s %T@ %l\0' | sort -z | grep -zv ' d ') >two
	cmp one two
	(cd t && find . -type d -mindepth 1 -printf '%p %m\0' | sort -z) >one
	(cd back && find . -type d -mindepth 1 -printf '%p %m\0' | sort -z) >two
	cmp one two
	# what comes out goes in as the same generation
	ws import -j back.tar >out
	[ "$(jq .changed out)" = false ]
	# terminals get no control bytes, programs get the names
	ws list >text
	run ! env LC_ALL=C grep -q $'[\x01-\x08\x0e-\x1f\xff]' text
	grep -qx 'new\\x0aline' text
	grep -qx '\\xff\\xfe' text
	ws list -j >lines
	lines_are_valid lines
	[ "$(jq -r 'select(.name_base64) | .name_base64' lines | base64 -d | xxd -p)" = fffe ]
	[ "$(jq -r 'select(.name == "new\nline") | .kind' lines)" = file ]
}

@test "WS-15 confused deputy: hostile archives are refused as a whole, and nothing outside is touched" {
	echo canary >"$BATS_FILE_TMPDIR/canary"
	echo keep >keep
	ws put keep
	mkdir h
	python3 "$BATS_TEST_DIRNAME/hostile-tar.py" h "$BATS_FILE_TMPDIR/canary"
	[ "$(ls h | wc -l)" -ge 8 ]
	for tar in h/*.tar; do
		echo "$tar"
		refused 65 archive_refused ws import "$tar"
	done
	[ "$(ws list)" = keep ]
	[ "$(cat "$BATS_FILE_TMPDIR/canary")" = canary ]
}

@test "WS-10 confused deputy: export and get write the one file: a link there is replaced, a directory or a device is not" {
	echo content >f
	ws put f
	echo canary >canary
	ln -s canary out
	ws get -o out f
	[ "$(cat canary)" = canary ]
	[ ! -L out ]
	[ "$(cat out)" = content ]
	mkdir dir
	mkfifo fifo
	refused 73 output_uncreatable ws get -o dir f
	refused 73 output_uncreatable ws get -o fifo f
	refused 73 output_uncreatable ws get -o /dev/null f
	refused 73 output_uncreatable ws export -o none/x
	[ -c /dev/null ]
	[ -p fifo ]
	# no temporary file is left
	[ -z "$(find . -name '.kz-*')" ]
	refused 64 usage ws export -j
}

@test "WS-16 same workspace twice: a writer waits for who is at work, and is told when that takes too long" {
	echo x >x
	kz-lease acquire -A a -C "$C" -j >lease
	kz config set SANDBOX_ACQUIRE_WAIT_SECONDS=2
	refused 75 workspace_busy ws put x
	kz config set SANDBOX_ACQUIRE_WAIT_SECONDS=120
	# under that lease it may
	KZ_LEASE=$(jq -r .lease lease) KZ_LEASE_TOKEN=$(jq -r .token lease) KZ_FENCE=$(jq -r .fence lease) kz-workspace put x
	ws get x
	KZ_LEASE=$(jq -r .lease lease) KZ_LEASE_TOKEN=$(jq -r .token lease) refused 77 lease_mismatch kz-workspace put -A a -C other x
	KZ_LEASE=$(jq -r .lease lease) KZ_LEASE_TOKEN=0123456789abcdef0123456789abcdef refused 75 lease_lost kz-workspace put x
	KZ_LEASE=$(jq -r .lease lease) refused 64 token_missing kz-workspace put x
	[ "$(KZ_LEASE=$(jq -r .lease lease) kz-workspace get x)" = x ]
	KZ_LEASE_TOKEN=$(jq -r .token lease) kz-lease release "$(jq -r .lease lease)"
}

@test "WS-16 same workspace twice: writers at once: every file of each is there in the end" {
	local i pids=()
	for i in 1 2 3 4; do
		echo "$i" >"f$i"
		ws put "f$i" &
		pids+=($!)
	done
	for i in "${pids[@]}"; do
		wait "$i"
	done
	[ "$(ws list | xargs)" = "f1 f2 f3 f4" ]
}

@test "WS-7 with persistence off nothing is written; what is there can be read" {
	echo x >x
	ws put x
	kz config set SANDBOX_WORKSPACE_PERSIST=false
	refused 78 workspace_unkept ws put y=x
	[ "$(ws get x)" = x ]
	kz config set SANDBOX_WORKSPACE_PERSIST=true
}

@test "prune: an hour at least, only what is old, dry run, JSON" {
	echo x >x
	ws put x
	for age in 59m 3599s 0d 1 d -1d 1w 99999999999999d; do
		refused 64 usage kz-workspace prune --older-than "$age"
	done
	refused 64 usage kz-workspace prune
	kz-workspace prune --older-than 1h -j >out
	[ "$(jq .workspaces out)" -eq 0 ]
	find "$KZ_STATE/objects" -type f -exec touch -d '3 hours ago' {} +
	echo y >y
	C=young ws put y
	kz-workspace prune --older-than 2h -n -j >out
	lines_are_valid out
	[ "$(jq .workspaces out)" -ge 1 ]
	[ "$(ws get x)" = x ]
	kz-workspace prune --older-than 2h
	refused 66 workspace_missing ws get x
	[ "$(C=young ws get y)" = y ]
	ws put x
	[ "$(ws list)" = x ]
}

@test "WS-7 a store that is gone is told, and no program is taken for empty" {
	echo x >x
	ws put x
	mv "$KZ_STATE/objects" "$KZ_STATE/away"
	run --separate-stderr ws list
	[ "$status" -eq 69 ]
	[[ $stderr == *": store_unavailable: "* ]]
	run --separate-stderr ws put x
	[ "$status" -eq 69 ]
	mv "$KZ_STATE/away" "$KZ_STATE/objects"
	[ "$(ws list)" = x ]
}
