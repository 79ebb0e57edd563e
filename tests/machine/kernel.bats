#!/usr/bin/env bats
# Kernels: state from cell to cell on other workers, bounds, refusals, queues, and what is told.
# shellcheck disable=SC2154,SC2030,SC2031,SC2016 # run and kz_run set the variables; the code of cells is quoted
# bats file_tags=case:root
bats_require_minimum_version 1.5.0
load ../kz

setup_file() {
	kz_start SANDBOX_WARM_POOL_MIN=2 SANDBOX_POOL_TARGET_IDLE=0 SANDBOX_POOL_MAX_ALLOCATED=4 SANDBOX_ACQUIRE_WAIT_SECONDS=60 \
		SANDBOX_WORKSPACE_MAX_BYTES=1000000 KZ_RUN_MEMORY_BYTES=268435456
}

teardown_file() {
	kz_stop
}

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	unset KZ_LEASE KZ_LEASE_TOKEN KZ_FENCE
	C=c$BATS_TEST_NUMBER
}

teardown() {
	rm -f "$KZ_STATE/env/SANDBOX_WORKSPACE_PERSIST"
}

py() { kz_run -k -A a -C "$C" -l python "${@:2}" -c "$1" </dev/null; }
js() { kz_run -k -A a -C "$C" -l node "${@:2}" -c "$1" </dev/null; }

refused() {
	[ "$status" -ne 0 ]
	[[ $(kz_record outcome) =~ ^(refused|not_run)$ ]]
	kz_record_is not_run.reason "$1"
	kz_record_is kernel null
}

@test "KRN-1 KRN-2 KRN-5 variables last with -k only, in hidden files of the workspace; losses are told on stderr and in both views" {
	py 'x = [1]; g = (i for i in x)'
	[ "$status" -eq 0 ]
	[ "$error" = "kz-run: kernel: g was not kept: a generator cannot be saved" ]
	kz_record_is kernel.status saved
	kz_record_is kernel.generation 1
	kz_record_is 'kernel.lost[0].name' g
	kz_record_is 'model_view.kernel.lost[0].reason' "a generator cannot be saved"
	python3 "$BATS_TEST_DIRNAME/../schema.py" --expect record <"$KZ_TEST_RECORD"
	py 'x'
	[ "$output" = '[1]' ]
	kz_record_is kernel.restored 1
	kz_run -A a -C "$C" -l python -c 'import os; print("x" in globals(), sorted(os.listdir(".")))' </dev/null
	[ "$output" = "False ['.kz-kernel.0.pkl', '.kz-kernel.json']" ]
	kz_record_is kernel null
	[ -z "$(kz-workspace list -A a -C "$C")" ]
	[ "$(kz-workspace list -a -A a -C "$C" | wc -l)" -eq 2 ]
}

@test "KRN-4 Node keeps state as JSON on another worker and tells losses by path" {
	js 'state.a = { list: [1] }; state.when = { at: new Date(0) }; state.a'
	[ "$output" = '{ list: [ 1 ] }' ]
	[ "$error" = "kz-run: kernel: state.when.at was not kept: an object of class Date" ]
	kz-lease acquire -A other -C other -j >lease
	js 'state.a.list.push(2); state'
	KZ_LEASE_TOKEN=$(jq -r .token lease) kz-lease release "$(jq -r .lease lease)"
	[ "$output" = '{ a: { list: [ 1, 2 ] } }' ]
	py 'x = 1'
	js 'state.a.list.length'
	[ "$output" = 2 ]
	py 'x'
	[ "$output" = 1 ]
}

@test "KRN-15 a time-out, a kill for memory and os._exit leave the state of the cell before, and say so" {
	py 'x = 1'
	# a bound by which it had begun
	local ms
	for ms in 3000 10000 25000; do
		py 'x = 2
print("seen")
while True: pass' -t "$ms"
		[ "$status" -eq 124 ]
		[ "$output" != seen ] || break
	done
	[ "$output" = seen ]
	kz_record_is outcome bounded
	kz_record_is kernel.status kept_previous
	kz_record_is kernel.generation 1
	kz_record_is kernel.reason kernel_report_missing
	[[ $error == *"kz-run: kernel: the state before this cell stays"* ]]
	py 'x'
	[ "$output" = 1 ]
	py 'x = 3
hog = bytearray(1 << 30)
hog[::4096] = b"x" * len(hog[::4096])'
	kz_record_is cause memory
	kz_record_is kernel.status kept_previous
	kz_record_is kernel.generation 1
	py 'x = 4
import os
os._exit(5)'
	[ "$status" -eq 5 ]
	kz_record_is kernel.status kept_previous
	py 'print(x); x = 6; 1 / 0'
	[ "$output" = 1 ]
	kz_record_is kernel.status saved
	py 'x'
	[ "$output" = 6 ]
}

@test "KRN-8 a workspace over its bound is an error, and the state before it is what the next cell gets" {
	py 'x = "before"'
	py 'x = "after"
import random
open("big", "wb").write(random.randbytes(1500000))'
	[ "$status" -ne 0 ]
	kz_record_is reason workspace_over_bound
	kz_record_is snapshot over_bound
	kz_record_is kernel.status kept_previous
	kz_record_is kernel.generation 1
	py 'import os; print(x, os.path.exists("big"))'
	[ "$output" = "before False" ]
	py 'x = "a" * 1500000'
	kz_record_is kernel.status refused
	kz_record_is kernel.reason kernel_state_over_bound
	py 'x'
	[ "$output" = "'before'" ]
}

@test "GRANT-12 KRN-11 INV-34 KRN-12 KRN-13 KRN-14 a cell has no network, no grant, no files; shell has no kernel" {
	py 'print(1)' --approve ticket-1
	refused kernel_egress
	kz_record_is egress.execution null
	[ -z "$(kz-audit list -j -k grant)" ]
	py 'import os; os.environ["KAIZEN_SHARED_RESOURCES_DIR"]'
	refused resource_persistent_kernel
	echo 'print(open("x")) # KAIZEN_SHARED_RESOURCES_MANIFEST' >asks.py
	kz_run -k -A a -C "$C" asks.py </dev/null
	refused resource_persistent_kernel
	kz_run -k -A a -C "$C" -l shell -c true </dev/null
	refused kernel_language
	kz_run -k -A a -c 1 </dev/null
	[ "$status" -ne 0 ]
	kz_record_is not_run.reason usage
	py 'import os; sorted(os.environ)'
	[ "$output" = "['HOME', 'LANG', 'PATH', 'PYTHONUNBUFFERED']" ]
	kz_record_is egress.effective none
	kz_record_is egress.execution null
}

@test "KRN-7 KRN-16 no value of the environment is stored, and a state that was altered is told" {
	TOKEN_VALUE=sk-abcdefghij py 'import os; t = os.environ["TOKEN_VALUE"]; u = "x"' -e TOKEN_VALUE
	kz_record_is 'kernel.lost[0].name' t
	kz_run -A a -C "$C" -l shell -c 'grep -c sk-abc .kz-kernel*; echo "[" >.kz-kernel.json' </dev/null
	[ "$output" = $'.kz-kernel.0.pkl:0\n.kz-kernel.json:0' ]
	py '"u" in globals()'
	[ "$output" = False ]
	kz_record_is kernel.reason kernel_state_damaged
}

@test "KRN-17 cells of one conversation at the same time come one after the other, and none is lost" {
	py 'seen = []'
	local i
	for i in 1 2 3; do
		kz-run -k -A a -C "$C" -c "import time; time.sleep(0.2); seen.append($i)" </dev/null >/dev/null &
	done
	wait
	py 'sorted(seen)'
	[ "$output" = '[1, 2, 3]' ]
	kz_record_is kernel.generation 4
}

@test "KRN-9 KRN-10 without a store the state stays in the worker of a held lease, and a run without one is refused" {
	echo false >"$KZ_STATE/env/SANDBOX_WORKSPACE_PERSIST"
	py 'x = 1'
	refused kernel_not_kept
	run -0 kz-lease with -A a -C "$C" -- bash -c '
		kz-run -k -l python -c "x = [1]; import os; pid = os.getppid()" </dev/null
		kz-run -k -l python -c "x.append(2); print(x)" </dev/null
		kz-run -k -l python -t 2000 -c "x = 0
while True: pass" </dev/null 2>/dev/null
		kz-run -k -l python -c "print(x)" </dev/null'
	[ "$output" = $'[1, 2]\n[1, 2]' ]
	run -0 kz-lease with -A a -C "$C" -- kz-run -k -l python -c '"x" in globals()' </dev/null
	[ "$output" = False ]
}

@test "a cell that forges reports, floods the channel or closes it harms nobody" {
	py 'import os
os.write(3, b"{\"v\":1,\"type\":\"report\",\"status\":\"saved\",\"generation\":99,\"lost\":[{\"name\":\"\\u001b[2J\\u009b\\u2028\\u202ex\\u00e9\",\"type\":1,\"reason\":\"x\"}]}\n")
os._exit(0)'
	kz_record_is kernel.generation 99
	kz_record_is 'kernel.lost[0].name' ' [2J   xé'
	py 'import os
junk = b"x" * 65536
for _ in range(200): os.write(3, junk)
y = 1'
	kz_record_is outcome completed
	kz_record_is kernel.status saved
	py 'y'
	[ "$output" = 1 ]
	# what the record says of the state is so, whatever was done to the channel
	js 'state.z = "before"'
	py 'z = "before"'
	for code in 'os.close(3)' 'os.closerange(3, 100); f = open("mine", "w")' 'import socket; socket.socket(fileno=os.dup(3)).shutdown(2)'; do
		py "import os; $code; z = 'after'"
		kz_record_is outcome completed
		kz_record_is kernel.status kept_previous
		kz_record_is kernel.reason kernel_report_missing
		[[ $error == *"kernel: the cell closed descriptor 3: its state is not saved"* ]]
		py 'z'
		[ "$output" = "'before'" ]
	done
	js 'require("fs").closeSync(3); state.mine = require("fs").openSync("mine", "w"); state.z = "after"'
	kz_record_is kernel.status kept_previous
	js 'state.z'
	[ "$output" = "'before'" ]
	kz_run -A a -C "$C" -l shell -c 'wc -c <mine' </dev/null
	[ "$output" = 0 ]
	py 'import os
for i in range(3000): os.write(3, b"{\"v\":1,\"type\":\"call\",\"id\":1,\"tool\":\"x\",\"arguments\":{}}\n")
print("done")'
	[ "$output" = "done" ]
}
