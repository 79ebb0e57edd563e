#!/usr/bin/env bats
# weight 103
# Packages of runs: through the real gateway from a registry on loopback, with the machine's own pip and npm, in isolated workers.
# shellcheck disable=SC2154,SC2030,SC2031,SC2089,SC2090 # kz_run sets the variables; JSON is quoted
# bats file_tags=case:root
bats_require_minimum_version 1.5.0
load ../kz

setup_file() {
	local registry
	FIX=$(mktemp -d /tmp/kzp.XXXXXX)
	BAKED=$(sed -n 's/^Version: //p' /usr/lib/python3/dist-packages/requests-*/{METADATA,PKG-INFO} 2>/dev/null | head -n 1)
	[ -n "$BAKED" ]
	export FIX BAKED
	python3 "$BATS_TEST_DIRNAME/../registry/registry.py" "$FIX" </dev/null >"$FIX/out" 2>&1 3>&- &
	echo $! >"$FIX/pid"
	kz_wait 20 test -s "$FIX/port"
	registry=http://127.0.0.1:$(cat "$FIX/port")
	# made when they are first asked for, which may take longer than the broker waits for an answer
	curl -fsS -o /dev/null "$registry/simple/huge/" -o /dev/null "$registry/simple/many/"
	REGISTRIES="{\"pypi\":{\"index\":\"$registry/simple/\"},\"npm\":{\"registry\":\"$registry/npm/\"}}"
	# nothing listens there
	NOWHERE='{"pypi":{"index":"http://127.0.0.1:1/simple/"},"npm":{"registry":"http://127.0.0.1:1/npm/"}}'
	export REGISTRIES NOWHERE
	kz_start SANDBOX_WARM_POOL_MIN=2 SANDBOX_POOL_TARGET_IDLE=0 SANDBOX_POOL_MAX_ALLOCATED=4 SANDBOX_ACQUIRE_WAIT_SECONDS=60 \
		KZ_RUN_DISK_BYTES=33554432 KZ_RUN_INODES=2000 KZ_RUN_MEMORY_BYTES=268435456 SANDBOX_PACKAGE_REGISTRIES="$REGISTRIES"
}

teardown_file() {
	local rc=0
	kill "$(cat "$FIX/pid")" || rc=1
	kz_stop || rc=1
	rm -rf "$FIX"
	return $rc
}

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	unset KZ_LEASE KZ_LEASE_TOKEN KZ_FENCE
	C=c$BATS_TEST_NUMBER
	: >"$FIX/log"
}

teardown() {
	[ ! -e "$BATS_TEST_TMPDIR/changed" ] || set_to SANDBOX_PACKAGE_REGISTRIES "$REGISTRIES"
	# workers are made anew for another bound
	[ ! -e "$BATS_TEST_TMPDIR/bounds" ] || bounds_to 268435456 65536
}

# The gateway reads its settings anew by itself; a run reads them at its start.
set_to() {
	touch "$BATS_TEST_TMPDIR/changed"
	kz config set "$1" "$2" >/dev/null
}

image() { kz status -j | jq -rs 'map(.image // empty)[0]'; }
# New bounds of packages, and workers that have them; they differ from what was.
bounds_to() {
	local was
	was=$(image)
	touch "$BATS_TEST_TMPDIR/bounds"
	kz config set KZ_PACKAGES_MAX_BYTES="$1" KZ_PACKAGES_INODES="$2" >/dev/null
	kz_wait 60 eval '[ "$(image)" != "'"$was"'" ] && kz status -j | jq -es "map(.workers.warm // empty)[0] >= 1"'
}

# kz-run -j of an actor and a conversation; sets status, record, view (of the member)
jrun() {
	kz_run -A a "$@" </dev/null
	echo "status $status: $output $error"
}

rec() { jq -e "$1" <"$KZ_TEST_RECORD" >/dev/null || { jq -c '{outcome,reason,not_run,packages,member_view,stdout}' "$KZ_TEST_RECORD" >&2; return 1; }; }
# the worker of the last run
ran_on() { kz-audit list -j -k dispatch -r "$(jq -r .run "$KZ_TEST_RECORD")" | jq -rs 'last | .worker // empty'; }
asked() { grep -c "^$1 " "$FIX/log" || :; }
# the code did not run, and why
not_run() {
	rec '.outcome == "not_run" and .cause == null and .stdout.seen_bytes == 0 and .killed_count == null'
	rec ".reason == \"$1\" and .not_run.reason == \"$1\""
	[ "$status" -eq 125 ]
	[ -z "$output" ]
	python3 "$BATS_TEST_DIRNAME/../schema.py" --expect record <"$KZ_TEST_RECORD"
	case $1 in dependency_install_failed | dependency_baked_pin) on_record ;; esac
}

# the audit has why: the reason, its cause, how many names and a digest of them, and no name [AUD-1, AUD-4]
on_record() {
	local names
	names=$(jq -cj .not_run.packages "$KZ_TEST_RECORD" | sha256sum | cut -c1-64)
	kz-audit list -j -k denial -r "$(jq -r .run "$KZ_TEST_RECORD")" | tee row | jq -se --arg names "$names" --slurpfile rec "$KZ_TEST_RECORD" '
		length == 1 and (.[0] | .reason == $rec[0].reason and .cause == $rec[0].not_run.cause and .packages_sha256 == $names
		and .count == ($rec[0].not_run.packages | length))'
	python3 "$BATS_TEST_DIRNAME/../schema.py" --expect audit <row
}

@test "BRK-5 BRK-27 BRK-16 BRK-25: a wheel is installed in an isolated worker, ahead of the image, and told with its digest" {
	jrun -r pure==1.0 -c 'import pure, sys; print(pure.VERSION, pure.__file__)'
	[ "$status" -eq 0 ]
	[ "$output" = "1.0+local /work/packages/python/pure.py" ]
	rec '.egress.effective == "none" or .egress.effective == "isolated"'
	rec '.packages | length == 1 and .[0].for == "python" and .[0].name == "pure" and .[0].version == "1.0+local"'
	rec '.packages[0].digest | test("^sha256:[0-9a-f]{64}$")'
	rec '.not_run == null'
	# what was about to run is in the audit store, with a count and no name
	kz-audit list -j -k event | jq -se --arg run "$(jq -r .run "$KZ_TEST_RECORD")" \
		'map(select(.run == $run)) | length == 1 and .[0].code == "run_code.packages_install" and .[0].reason == "dependency_missing" and .[0].count == 1 and (tostring | contains("pure") | not)'
	python3 "$BATS_TEST_DIRNAME/../schema.py" --expect record <"$KZ_TEST_RECORD"
}

@test "BRK-33 BRK-9: a source archive is built in the worker; ten dependencies come along" {
	jrun -r source -c 'import source; print(source.VERSION)'
	[ "$output" = 1.0 ]
	jrun -r tree -c 'import tree, companion, leaf_0, leaf_8, pure; print(tree.VERSION, pure.VERSION)'
	[ "$output" = "1.0 1.0+local" ]
	rec '.packages | length == 12'
}

@test "BRK-1 BRK-25: npm, scoped and with dependencies, for require and import" {
	jrun -C "$C" -l node -r @scope/three -c 'console.log(require("@scope/three"), require("two"), require("one"))'
	# which of the two that fit, one of them deprecated, is npm's choice
	[[ $output =~ ^3\.0\.0\ 2\.0\.0\ 1\.[01]\.0$ ]]
	rec '[.packages[] | .name + "@" + .version | sub("^one@1[.][01][.]0$"; "one")] == ["@scope/three@3.0.0","one","two@2.0.0"]'
	rec '.packages | all(.digest | test("^sha512-")) and all(.for == "node")'
	: >"$FIX/log"
	echo 'import three from "@scope/three"; import one from "one"; console.log(three, one)' >x.mjs
	jrun -C "$C" x.mjs
	[ "$output" = "3.0.0 1.0.0" ]
	[ ! -s "$FIX/log" ]
}

@test "BRK-10 BRK-11: imports are inferred; what the image, the lock, the workspace or an input has starts nothing" {
	jrun -C "$C" -c 'import json, requests, PIL
from pure import VERSION
print(VERSION)'
	[ "$status" -eq 0 ]
	[ "$(asked /simple/pure/)" -ge 1 ]
	[ "$(asked /simple/requests/)" -eq 0 ]
	: >"$FIX/log"
	jrun -C "$C" -c 'import pure; open("leaf_1.py", "w").write("VERSION = 5"); print(pure.VERSION)'
	[ "$status" -eq 0 ]
	jrun -C "$C" -c 'import leaf_1, pure; print(leaf_1.VERSION)'
	[ "$output" = 5 ]
	echo 'VERSION = 6' >leaf_2.py
	jrun -i leaf_2.py -c 'import leaf_2; print(leaf_2.VERSION)'
	[ "$output" = 6 ]
	jrun -c 'try:
    import leaf_3
except ImportError:
    print("without")'
	[ "$output" = without ]
	jrun --no-infer -c 'import leaf_3'
	[ "$status" -eq 1 ]
	[ ! -s "$FIX/log" ]
	rec '.outcome == "failed" and .packages == []'
}

@test "BRK-22 BRK-23 BRK-24: pins against the image, every row" {
	jrun -r "requests==$BAKED" -c 'import requests; print(requests.__file__)'
	[[ "$output" == /usr/lib/* ]]
	jrun -r requests -r 'Requests>=1' -c 'import requests; print(requests.__file__)'
	[[ "$output" == /usr/lib/* ]]
	[ ! -s "$FIX/log" ]
	# another version, from the registry: it shadows the image's
	jrun -r requests==99.0 -c 'import requests; print(requests.VERSION, requests.__file__)'
	[ "$output" = "99.0 /work/packages/python/requests.py" ]
	# other work, which has the newest requests as its dependency, and the pin of the image along with it
	: >"$FIX/log"
	jrun -r over-requests -r "requests==$BAKED" -c 'import over_requests, requests; print(requests.VERSION)'
	[ "$output" = "$BAKED" ]
	jrun -r over-requests -c 'import over_requests, requests; print(requests.VERSION)'
	[ "$output" = 99.0 ]
	# a pin that nobody has
	jrun -r requests==98.7 -c 'print("ran")'
	not_run dependency_install_failed
	rec '.not_run.packages == ["requests"] and .not_run.registry_unreachable == false'
	[[ "$error" == *"the worker image has requests $BAKED"* ]]
	set_to SANDBOX_PACKAGE_REGISTRIES '{}'
	jrun -r "requests==$BAKED" -c 'import requests; print("ran")'
	[ "$output" = ran ]
	jrun -r requests==99.0 -c 'print("ran")'
	not_run dependency_baked_pin
	[[ "$error" == *"requests $BAKED"* ]]
	set_to SANDBOX_PACKAGE_REGISTRIES "$NOWHERE"
	jrun -r requests==99.0 -c 'print("ran")'
	not_run dependency_install_failed
	rec '.not_run.registry_unreachable'
	[[ "$error" == *"requests $BAKED"* ]]
	# what the image has needs no registry, reachable or not; with other work to do it goes along with that
	jrun -r "requests==$BAKED" -c 'import requests; print("ran")'
	[ "$output" = ran ]
	rec '.packages == []'
	jrun -r pure -r "requests==$BAKED" -c 'print("ran")'
	not_run dependency_install_failed
	rec '.not_run.registry_unreachable and .not_run.packages == ["pure", "requests"]'
}

@test "BRK-21 DEP-4: without a registry nothing is attempted, and the error names the image's own; imports stop nothing" {
	set_to SANDBOX_PACKAGE_REGISTRIES '{}'
	jrun -r pure -c 'print("ran")'
	not_run dependency_install_failed
	rec '.not_run.cause == "registry_unset" and .not_run.packages == ["pure"] and .not_run.registry_unreachable == false'
	[[ "$error" == *SANDBOX_PACKAGE_REGISTRIES*"requests $BAKED"* ]]
	jrun -c 'import pure'
	[ "$status" -eq 1 ]
	rec '.outcome == "failed"'
	jrun -l node -r one -c 'console.log("ran")'
	not_run dependency_install_failed
	[ ! -s "$FIX/log" ]
}

@test "EXEC-6 BRK-17 BRK-18 BRK-19 BRK-20: a registry that cannot be reached ends the run at once, in words for the member" {
	set_to SANDBOX_PACKAGE_REGISTRIES "$NOWHERE"
	for args in '-r pure' '-l node -r one'; do
		# shellcheck disable=SC2086
		jrun $args -c '1'
		not_run dependency_install_failed
		rec '.not_run.registry_unreachable and (.not_run.install_timed_out | not) and .not_run.cause == "registry_unreachable"'
		rec '.member_view.reason == "dependency_install_failed" and (.member_view.text | test("registry cannot be reached") and test("need no registry"))'
	done
}

@test "BRK-17 BRK-21: a gateway that is not there, and a list of registries that makes no sense, have words of their own" {
	s6-svc -wd -d "$KZ_STATE/service/kz-gateway"
	jrun -r pure -c 'print("ran")'
	s6-svc -wU -u "$KZ_STATE/service/kz-gateway"
	not_run dependency_install_failed
	rec '.not_run.cause == "gateway_unreachable" and (.not_run.registry_unreachable | not)'
	set_to SANDBOX_PACKAGE_REGISTRIES '{"pypi":7}'
	jrun -r pure -c 'print("ran")'
	not_run dependency_install_failed
	rec '.not_run.cause == "registry_invalid"'
}

@test "BRK-9 EXEC-7: what is no requirement is refused before a worker is asked for" {
	for bad in '-e .' 'git+https://h/x' 'x @ http://h/x' './x' 'x; python_version<"3"' '--index-url=http://h' 'x==1 --hash=sha256:0' "$(printf 'x\ny')"; do
		jrun -r "$bad" -c 'print("ran")'
		not_run dependency_request_invalid
		# which of them it is
		[[ $bad == *$'\n'* || $error == *"dependency_request_invalid: $bad: "* ]]
	done
	rec '.workspace == null'
	for bad in 'user/repo' 'x@npm:y' 'x@file:../y' 'x.tgz'; do
		jrun -l node -r "$bad" -c 'console.log("ran")'
		not_run dependency_request_invalid
	done
	jrun -l shell -r pure -c 'echo ran'
	not_run dependency_request_invalid
	[ ! -s "$FIX/log" ]
}

@test "BRK-19: what no registry has, and what is not what it should be" {
	jrun -r nosuchpackage -c 'print("ran")'
	not_run dependency_install_failed
	rec '.not_run.packages == ["nosuchpackage"] and .not_run.cause == "package_unknown"'
	jrun -r wrong-hash -c 'print("ran")'
	not_run dependency_install_failed
	jrun -l node -r bad-integrity -c 'console.log("ran")'
	not_run dependency_install_failed
	jrun -r pure==77 -c 'print("ran")'
	not_run dependency_install_failed
}

# The registry misbehaves, one way a line: what was asked for, and the cause that the member is told.
@test "BRK-3 BRK-4 BRK-8 BRK-19: a registry that misbehaves has a cause of its own each time, long before the bound of the step, and nothing ran" {
	local package cause
	touch changed
	kz config set SANDBOX_PACKAGE_MAX_FILE_BYTES 1000000 >/dev/null
	while read -r package cause; do
		echo "-- $package"
		jrun -r "$package" -c 'print("ran")'
		not_run dependency_install_failed
		rec ".not_run.cause == \"$cause\" and .not_run.install_timed_out == false and .not_run.packages == [\"$package\"]"
	done <<-'END'
		wrong-hash package_digest
		large index_too_large
		bomb registry_answer
		large-length package_too_large
		large-chunked package_too_large
		index-denied package_host_denied
		index-metadata package_host_denied
		away-denied package_host_denied
		away-unlisted package_unknown
		loop registry_answer
		dies registry_answer
		dies-large registry_answer
		odd-500 registry_refused
		odd-type registry_answer
	END
	kz config set SANDBOX_PACKAGE_MAX_FILE_BYTES 100000000 >/dev/null
	# one that takes its time is no such registry
	jrun -r slow -c 'import slow; print(slow.VERSION)'
	[ "$status$output" = 01.0 ]
}

@test "WS-4 BRK-26: packages are of one actor and conversation, beside the workspace, with a lock that satisfies the same request" {
	jrun -C "$C" -r pure==1.0 -c 'import errno, pure, sys
try: open("/work/packages/python/pure.py", "w").write("VERSION = 666")
except OSError as e: sys.exit(3 if e.errno == errno.EROFS else 4)'
	[ "$status" -eq 3 ]
	rec '.workspace.bytes == 0 and .snapshot == "unchanged"'
	: >"$FIX/log"
	# kept although the run failed, and as it was installed
	jrun -C "$C" -r pure==1.0 -c 'import pure; print(pure.VERSION)'
	[ "$output" = 1.0+local ]
	rec '.packages[0].version == "1.0+local"'
	[ ! -s "$FIX/log" ]
	jrun -C "$C-other" --no-infer -c 'import pure'
	[ "$status" -eq 1 ]
	kz_run -A b -C "$C" --no-infer -c 'import pure' </dev/null
	[ "$status" -eq 1 ]
	# without a registry what is there stays there
	set_to SANDBOX_PACKAGE_REGISTRIES '{}'
	jrun -C "$C" -c 'import pure; print(pure.VERSION)'
	[ "$output" = 1.0+local ]
	run -0 kz-workspace list -A a -C "$C" -j
	[ "$(jq -s 'map(select(.type == "file")) | length' <<<"$output")" -eq 0 ]
}

@test "INV-37 BRK-26: packages that were altered, cut or lost are damage; nothing runs without them, and nothing is installed in their place" {
	local blob damage
	jrun -C "$C" -r pure==1.0 -c 'open("mine", "w").write("x")'
	[ "$status" -eq 0 ]
	blob=$(grep -rl kz-lock.json "$KZ_STATE/objects" | xargs ls -t | head -n 1)
	cp "$blob" kept
	: >"$FIX/log"
	for damage in 'printf X | dd of="$blob" bs=1 seek=600 conv=notrunc status=none' 'truncate -s 100 "$blob"' 'rm "$blob"'; do
		eval "$damage"
		jrun -C "$C" -r pure==1.0 -c 'print("ran")'
		not_run packages_damaged
		rec '.snapshot == "skipped"'
		cat kept >"$blob"
	done
	[ ! -s "$FIX/log" ]
	jrun -C "$C" -r pure==1.0 -c 'import pure; print(pure.VERSION, open("mine").read())'
	[ "$output" = "1.0+local x" ]
}

@test "BRK-10 CB-1: the module kz of a cell is no package that anybody looks for; in a program it is as any" {
	jrun -k -C "$C" -c 'import kz; from kz import tools, ToolError; print(kz.tools is tools)'
	[ "$output" = True ]
	rec '.packages == [] and .not_run == null'
	[ "$(asked /simple/kz/)" = 0 ]
	jrun -C "$C" -c 'import kz'
	not_run dependency_install_failed
	[ "$(asked /simple/kz/)" -gt 0 ]
}

@test "KZ_PACKAGES_MAX_BYTES: packages over their bound start nothing, and the workspace's bound is another" {
	local before
	jrun -C "$C" -c 'open("mine", "w").write("x")'
	before=$(jq -c .workspace "$KZ_TEST_RECORD")
	bounds_to 1000000 65536
	jrun -C "$C" -r fat -c 'print("ran")'
	not_run dependency_install_failed
	rec '.not_run.cause == "packages_over_bound"'
	rec ".workspace.generation == $(jq .generation <<<"$before")"
	bounds_to 268435456 65536
	rm "$BATS_TEST_TMPDIR/bounds"
	set_to SANDBOX_WORKSPACE_MAX_BYTES 100000
	jrun -C "$C" -r fat -c 'import fat; print(open("mine").read())'
	[ "$output" = x ]
	rec '.snapshot == "unchanged" and .packages[0].name == "fat"'
	set_to SANDBOX_WORKSPACE_MAX_BYTES 8388608
}

# A run here has 32 MiB of files, 2000 of them, and 256 MiB of memory.
@test "KZ_PACKAGES_MAX_BYTES KZ_PACKAGES_INODES: packages far larger than a run's files are installed, used, kept, and restored on another worker" {
	local worker
	# 120 MiB of packages beside 200 MiB of the program's own, and all the files it may have
	jrun -C "$C" -r huge -r many -c 'import os, huge, many
b = bytearray(200 << 20)
for i in range(3): assert os.path.getsize("/work/packages/python/huge-%d.bin" % i) == 40 << 20
with open("/tmp/mine", "wb") as f:
    for i in range(30): f.write(bytes(1 << 20))
open("mine", "w").write("x")
print(huge.VERSION, many.VERSION, len(os.listdir("/work/packages/python/many_files")), len(b) >> 20)'
	[ "$status" -eq 0 ]
	[ "$output" = "1.0 1.0 2500 200" ]
	rec '.limits_hit == [] and .snapshot == "saved" and .workspace.bytes < 10000'
	worker=$(ran_on)
	[ -n "$worker" ]
	# workers of other bounds are other workers
	bounds_to 268435456 65000
	: >"$FIX/log"
	jrun -C "$C" -r huge -r many -c 'import os, huge, many
b = bytearray(200 << 20)
print(huge.VERSION, sum(os.path.getsize("/work/packages/python/huge-%d.bin" % i) for i in range(3)) >> 20, len(os.listdir("/work/packages/python/many_files")), open("mine").read())'
	[ "$output" = "1.0 120 2500 x" ]
	[ -n "$(ran_on)" ]
	[ "$(ran_on)" != "$worker" ]
	[ ! -s "$FIX/log" ]
	# the program's own memory is bounded as without packages
	jrun -C "$C" -c 'b = bytearray(300 << 20); print("ran")'
	rec '.cause == "memory"'
	# a bound that was lowered since: they do not fit into a worker any more
	bounds_to 268435456 1000
	jrun -C "$C" -c 'print("ran")'
	not_run packages_over_bound
	[[ "$error" == *KZ_PACKAGES_MAX_BYTES*KZ_PACKAGES_INODES* ]]
	bounds_to 268435456 64000
	jrun -C "$C" -c 'import many; print(many.VERSION)'
	[ "$output" = 1.0 ]
}

# The memory controller of the tenant's group, and how its kernel is told to give up what it can.
shrink() {
	find /sys/fs/cgroup -type d -path "*/kz-$(printf %s "$KZ_STATE" | sha256sum | cut -c1-8).$1/tenant" | while read -r dir; do
		if [ -e "$dir/memory.force_empty" ]; then
			echo 0 >"$dir/memory.force_empty"
		elif [ -e "$dir/memory.reclaim" ]; then
			echo 100M >"$dir/memory.reclaim"
		fi
	done 2>/dev/null || :
}

@test "BOUND-8 KZ_PACKAGES_MAX_BYTES: what the kernel gave up while packages were installed is not taken from the program" {
	local worker pid
	kz-lease acquire -A a -C "$C" -j >lease
	export KZ_LEASE KZ_LEASE_TOKEN KZ_FENCE
	KZ_LEASE=$(jq -r .lease lease) KZ_LEASE_TOKEN=$(jq -r .token lease) KZ_FENCE=$(jq -r .fence lease)
	# names that are not there are kept by the kernel, in the account of who looked
	kz_run -c 'import os
for i in range(400000): os.access("/usr/%0100d" % i, os.F_OK)' </dev/null
	[ "$status" -eq 0 ]
	worker=$(jq -r .worker lease)
	: >"$FIX/log"
	(
		until [ -s "$FIX/log" ] || [ -e "$BATS_TEST_TMPDIR/over" ]; do sleep 0.05; done
		while [ ! -e "$BATS_TEST_TMPDIR/over" ]; do shrink "$worker"; sleep 0.05; done
	) 3>&- &
	pid=$!
	kz_run -r huge -c 'import huge
b = bytearray(200 << 20)
print(huge.VERSION, len(b) >> 20)' </dev/null
	echo "$status: $output $error"
	touch "$BATS_TEST_TMPDIR/over"
	wait "$pid"
	kz-lease release "$KZ_LEASE"
	[ "$output" = "1.0 200" ]
}

@test "KZ_PACKAGES_INODES BRK-19: an installer that finds no room has the packages' bound as its cause, in bytes and in files; the workspace stays as it was" {
	local args generation
	jrun -C "$C" -c 'open("mine", "w").write("x")'
	generation=$(jq .workspace.generation "$KZ_TEST_RECORD")
	# a worker has room for 1 MB, and for the last pages of 200 files
	bounds_to 1000000 200
	for args in '-r huge' '-r many' '-l node -r fat'; do
		# shellcheck disable=SC2086
		jrun -C "$C" $args -c '1'
		not_run dependency_install_failed
		rec '.not_run.cause == "packages_over_bound" and .packages == []'
		[[ "$error" == *KZ_PACKAGES_MAX_BYTES*KZ_PACKAGES_INODES* ]]
		rec ".workspace.generation == $generation"
	done
	# nothing of it takes room from what is installed next
	jrun -C "$C" -r pure -c 'import pure; print(pure.VERSION, open("mine").read())'
	[ "$output" = "1.0+local x" ]
}

@test "EXEC-8 BRK-19: an install script that speaks in the installer's place and ends it makes no success of it" {
	jrun -C "$C" -r liar -c 'print("ran")'
	not_run dependency_install_failed
	rec '.packages == [] and .not_run.cause == "dependency_install_failed"'
	jrun -C "$C" --no-infer -c 'import os; print(os.listdir("/work/packages"))'
	[ "$output" = "[]" ]
}

@test "EXEC-6 BRK-29 BOUND-2 BOUND-8: an installation that does not end is ended with all its processes; the wall bound is another" {
	set_to SANDBOX_DEPENDENCY_INSTALL_TIMEOUT_SECONDS 4
	jrun -C "$C" -r stuck -c 'print("ran")'
	not_run dependency_install_failed
	rec '.not_run.install_timed_out and .not_run.cause == "dependency_timeout" and .snapshot == "skipped"'
	jrun -C "$C" -c 'import os; print(os.listdir("."))'
	[ "$output" = "[]" ]
	set_to SANDBOX_DEPENDENCY_INSTALL_TIMEOUT_SECONDS 120
	# the program's bound does not count the installation, whose index alone takes six seconds
	jrun -t 5000 -r slow -c 'print("ran")'
	[ "$output" = ran ]
}

@test "BRK-19 BRK-26: a run that is killed while it installs leaves nothing of it" {
	local signal pid
	for signal in TERM KILL; do
		: >"$FIX/log"
		kz-run -A a -C "$C" -r pure -r stuck -c 'print("ran")' </dev/null >out 2>err 3>&- &
		pid=$!
		kz_wait 30 grep -q "^/f/stuck/" "$FIX/log"
		kill -"$signal" "$pid"
		wait "$pid" || :
		[ ! -s out ]
		jrun -C "$C" --no-infer -c 'import os; print(os.listdir("."), os.listdir("/work/packages"))'
		[ "$output" = "[] []" ]
	done
}

@test "BRK-25 under a held lease: the next run has them, as they were installed" {
	kz-lease acquire -A a -C "$C" -j >lease
	export KZ_LEASE KZ_LEASE_TOKEN KZ_FENCE
	KZ_LEASE=$(jq -r .lease lease) KZ_LEASE_TOKEN=$(jq -r .token lease) KZ_FENCE=$(jq -r .fence lease)
	kz_run -r pure==1.0 -c 'import pure; print(pure.VERSION)' </dev/null
	[ "$output" = 1.0+local ]
	kz_run -c 'import pure; print(pure.VERSION)' </dev/null
	[ "$output" = 1.0+local ]
	kz-lease release "$KZ_LEASE"
}

@test "BRK-28 BRK-33: the program sees no token and no way to the gateway" {
	jrun -r pure -c 'import os, socket
print([k for k in os.environ if "TOKEN" in k or "PIP" in k])
try: socket.create_connection(("127.0.0.1", 8000), 2); print("open")
except OSError as e: print(e.errno)
print([os.path.join(d, n) for top in ("/work/packages", "/work/code", "/tmp") for d, _, f in os.walk(top) for n in f if b"kzp1." in open(os.path.join(d, n), "rb").read()])'
	[ "$output" = "$(printf '[]\n111\n[]')" ]
}

@test "KRN-18: a cell has packages under the same bounds, finds them in the next one, and sees no token" {
	jrun -C "$C" -k -r pure -c 'import pure, os; found = pure.VERSION; print([k for k in os.environ if "TOKEN" in k or "PIP" in k])'
	[ "$status" -eq 0 ]
	[ "$output" = "[]" ]
	: >"$FIX/log"
	jrun -C "$C" -k -c 'import pure; print(found, pure.VERSION)'
	[ "$output" = "1.0+local 1.0+local" ]
	[ ! -s "$FIX/log" ]
	jrun -C "$C" -k -r nosuchpackage -c 'print("ran")'
	not_run dependency_install_failed
	jrun -C "$C" -l node -k -r one -c 'console.log(require("one"))'
	[[ $output =~ ^1\.[01]\.0$ ]]
}

# The last one, as its host is left alone for a while after.
@test "BRK-12 BRK-14 BRK-18: a registry that never answers ends the run long before the bound of the step; it is asked once, and keeps nobody else" {
	: >"$FIX/log"
	jrun -r silent -c 'print("ran")'
	not_run dependency_install_failed
	rec '.not_run.registry_unreachable and .not_run.cause == "registry_unreachable" and .not_run.install_timed_out == false'
	[ "$(grep -c '^/simple/silent/' "$FIX/log")" = 1 ]
	jrun -r pure -c 'print("ran")'
	rec '.outcome == "completed"'
}
