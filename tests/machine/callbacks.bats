#!/usr/bin/env bats
# weight 30
# Tools that a kernel cell calls: only what may be, checked at each call, bounded, and over with the run.
# shellcheck disable=SC2154,SC2030,SC2031,SC2016 # run and kz_run set the variables; the code of cells is quoted
# bats file_tags=case:root
bats_require_minimum_version 1.5.0
load ../kz

setup_file() {
	export TOOLS=$BATS_FILE_TMPDIR/tools.json BOX=$BATS_FILE_TMPDIR
	cat >"$BOX/tool" <<'TOOL'
#!/bin/bash
# tool WAY: arguments on stdin
case $1 in
echo) printf '{"got":%s,"env":"%s"}' "$(cat)" "$(tr '\0' ' ' </proc/$$/environ)" ;;
big) head -c 200000 /dev/zero | tr '\0' 1 ;;
bad) echo 'no JSON' ;;
fails) exit 3 ;;
slow) echo $$ >"$(dirname "$0")/slow.pid"; exec sleep 300 ;;
wrote) touch "$(dirname "$0")/written" ;;
esac
TOOL
	chmod 755 "$BOX" "$BOX/tool"
	write_tools
	kz_start SANDBOX_WARM_POOL_MIN=1 SANDBOX_ACQUIRE_WAIT_SECONDS=60 KZ_CALLBACK_PROVIDERS="$TOOLS" \
		KZ_CALLBACK_MAX_CALLS=20 KZ_CALLBACK_MAX_BYTES=100000 KZ_CALLBACK_SECONDS=60
}

# tool NAME CLASS RUNS_CODE WAY [DESCRIPTION]
tool() {
	local d digest
	d=$(jq -cn --arg n "$1" --arg c "$2" --argjson r "$3" --arg w "$4" --arg d "${5:-a tool}" --arg t "$BOX/tool" \
		'{name:$n,class:$c,runs_code:$r,description:$d,command:[$t,$w]}')
	digest=$(printf '%s' "$d" | jq -cjS . | sha256sum | cut -c1-64)
	jq -c --arg x "$digest" '. + {digest:$x}' <<<"$d"
}

write_tools() {
	{
		tool echo read false "echo" "${1:-a tool}"
		tool big read false big
		tool bad read false bad
		tool fails read false fails
		tool slow read false slow
		tool writes write false wrote
		tool runs read true wrote
		tool forged read false wrote | jq -c '.description = "another"'
	} | jq -cs '{v:1,tools:.}' >"$TOOLS.new"
	mv "$TOOLS.new" "$TOOLS"
}

teardown_file() {
	kz_stop
}

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	unset KZ_LEASE KZ_LEASE_TOKEN KZ_FENCE
	write_tools
}

py() { kz_run -k -A a -C c -l python "${@:2}" -c "$1" </dev/null; }

# py_bounded CODE MS...: a cell whose tool does not answer ends at its bound, the first of these by which the tool had begun
py_bounded() {
	local ms
	for ms in "${@:2}"; do
		rm -f "$BOX/slow.pid"
		py "$1" -t "$ms"
		kz_record_is outcome bounded
		[ ! -s "$BOX/slow.pid" ] || return 0
	done
	return 1
}

# the denials of the last run: REASON=COUNT each, and the sum beside its end
on_record() {
	local id want
	id=$(kz_record run)
	want=$(printf '%s\n' "$@" | sort)
	kz-audit list -j -k denial -r "$id" >rows
	python3 "$BATS_TEST_DIRNAME/../schema.py" --expect audit <rows
	[ "$(jq -r '"\(.reason)=\(.count)"' rows | sort)" = "$want" ]
	[ "$(jq -s 'map(.actor + .conversation) | unique == [.[0]]' rows)" = true ]
	kz-audit list -j -k record -r "$id" | jq -e --slurpfile d rows '.call_refused_count == ($d | map(.count) | add)'
}

# a function of cells: the reason of a call, or its result
TRY='
def call(name, **a):
    try: return kz.tools[name](**a)
    except kz.ToolError as e: return e.reason
'

@test "CB-1 CB-4 CB-10 a cell calls a tool by name and gets its result; the tool has an empty environment" {
	/usr/bin/python3 -c 'import json, jsonschema, sys
jsonschema.validate(json.load(open(sys.argv[1])), json.load(open(sys.argv[2])))' "$TOOLS" "$BATS_TEST_DIRNAME/../../policy/schema/tools.json"
	py 'print(dir(kz.tools)); print(kz.tools.echo(term="ä", n=[1, None]))'
	[ "$output" = $'[\'bad\', \'big\', \'echo\', \'fails\', \'slow\']\n{\'got\': {\'term\': \'ä\', \'n\': [1, None]}, \'env\': \'\'}' ]
	kz_record_is kernel.calls 1
	kz_record_is kernel.calls_refused 0
	kz_run -k -A a -C c -l node -c 'console.log(JSON.stringify(await kz.tools.echo({ n: 1 })))' </dev/null
	[ "$output" = '{"got":{"n":1},"env":""}' ]
}

@test "CB-5 CB-6 CB-7 CB-9 what may not be called is refused by its reason, and nothing of it ran" {
	kz config set KZ_CALLBACK_SECONDS 10 >/dev/null
	py "$TRY"'print([call(x) for x in ("writes", "runs", "forged", "nobody", "bad", "fails", "big", "slow")], call("echo", x="y" * 100000))'
	kz config set KZ_CALLBACK_SECONDS 60 >/dev/null
	[ "$output" = "['tool_writes', 'tool_recursive', 'tool_changed', 'tool_unknown', 'tool_failed', 'tool_failed', 'tool_too_large', 'tool_failed'] tool_too_large" ]
	[ ! -e "$BOX/written" ]
	kz_record_is kernel.calls 9
	kz_record_is kernel.calls_refused 9
	on_record tool_unknown=1 tool_writes=1 tool_recursive=1 tool_changed=1 tool_too_large=2 tool_failed=3
	py "$TRY"'print([call("nobody") for _ in range(25)][18:])'
	[ "$output" = "['tool_unknown', 'tool_unknown', 'tool_limit', 'tool_limit', 'tool_limit', 'tool_limit', 'tool_limit']" ]
	on_record tool_unknown=20 tool_limit=5
}

@test "CB-9 KRN-3 a call that cannot be read is answered at once, the calls after it as ever, and the state is saved" {
	py "$TRY"'
deep = kept = 1
for _ in range(100): deep = [deep]
print([call("echo", q=v) for v in ("\0", "\ud800", 2 ** 70, deep)], call("echo", q="x" * 3000000), call("echo", q=1)["got"])
try: call("echo", q=float("nan"))
except ValueError: print("nan")'
	[ "$output" = $'[\'tool_failed\', \'tool_failed\', \'tool_failed\', \'tool_failed\'] tool_too_large {\'q\': 1}\nnan' ]
	kz_record_is kernel.status saved
	kz_record_is kernel.calls_refused 5
	on_record tool_failed=4 tool_too_large=1
	kz_run -k -A a -C c -l node -c 'for (const q of ["\0", "\ud800"]) await kz.tools.echo({ q }).catch((e) => console.log(e.reason)); console.log(await kz.tools.echo({ q: 1 }))' </dev/null
	[ "$output" = $'tool_failed\ntool_failed\n{ got: { q: 1 }, env: \'\' }' ]
}

@test "CB-9 KZ_CALLBACK_RATE bounds how many calls begin within a second, whatever their sum" {
	kz config set KZ_CALLBACK_RATE 3 >/dev/null
	# a call that is refused by the rate is asked again until it may be: each one passes in the end, and no four begin within a
	# second; a machine on which four calls take one refuses none
	py "$TRY"'
import time
asked, ended, refused = [], [], 0
while len(asked) < 7:
    now = time.monotonic()
    if call("echo") == "tool_limit": refused += 1; time.sleep(0.02)
    else: asked.append(now); ended.append(time.monotonic())
print([ended[i + 3] - asked[i] for i in range(4)], refused)
print(refused > 0 or ended[-1] - asked[0] > 2, all(ended[i + 3] - asked[i] > 0.99 for i in range(4)))'
	echo "$output"
	[ "$(tail -n 1 <<<"$output")" = "True True" ]
	kz_record_is kernel.calls 7
	for bad in 0 10001 x; do
		run kz config set KZ_CALLBACK_RATE $bad
		[ "$status" -eq 78 ]
		[[ $output == *KZ_CALLBACK_RATE* ]]
	done
	kz config set KZ_CALLBACK_RATE 50 >/dev/null
}

@test "AUD-1 AUD-2 CB-4 the audit has the sum of a cell's calls, and nothing of what was asked or answered" {
	local id
	py "$TRY"'print(call("echo", a="canary-argument"), call("canary-tool"))'
	id=$(kz_record run)
	# {"a":"canary-argument"} went there, {"got":{"a":"canary-argument"},"env":""} came back
	kz-audit list -j -k record -r "$id" | jq -e '.call_count == 2 and .call_refused_count == 1 and .call_bytes == 23 + 40'
	kz_record_is kernel.call_bytes 63
	on_record tool_unknown=1
	# one transaction: what was refused stands right before the end
	kz-audit list -j -r "$id" | jq -se 'map(.kind)[-3:] == ["denial", "record", "run_step"]'
	kz_nowhere -F canary "$KZ_STATE/audit" "$KZ_STATE/log"
	# a run that is no cell has no calls
	kz_run -A a -C c -l python -c 'print(1)' </dev/null
	kz-audit list -j -k record -l 1 | jq -e '.call_count == null and .call_bytes == null'
	# a cell that is killed while it calls: what was called until then
	py_bounded "$TRY"'call("nobody"); kz.tools.slow()' 2500 10000 25000
	kz-audit list -j -k record -l 1 | jq -e '.outcome == "bounded" and .call_count == 2 and .call_refused_count >= 1'
	kz-audit verify
}

@test "CB-7 a tool that is another one by the time of the call is refused" {
	kz config set KZ_CALLBACK_MAX_CALLS 100000 >/dev/null
	kz-run -k -A a -C c -l python -c "$TRY"'
import time
print(call("echo")["got"], flush=True)
while isinstance(call("echo"), dict): time.sleep(0.2)
print(call("echo"))' </dev/null >out &
	kz_wait 60 grep -q '{}' out
	write_tools "a tool that writes now"
	wait $!
	kz config set KZ_CALLBACK_MAX_CALLS 20 >/dev/null
	[ "$(tail -1 out)" = tool_changed ]
}

@test "CB-2 CB-3 CB-8 CB-11 INV-44 the way is the run's own descriptor: no credential, no other name, and it ends with the run" {
	py "$TRY"'
import os
print([k for k in os.environ if "KZ" in k or "TOOL" in k], sorted(os.listdir("/work/code")))
os.write(3, b"{\"v\":1,\"type\":\"call\",\"id\":7,\"run\":\"0123456789abcdef0123456789abcdef\",\"tool\":\"echo\",\"arguments\":{}}\n")
print(os.read(3, 1000))'
	[ "$(head -1 <<<"$output")" = "[] ['.kz-kernel.py', 'cell.py']" ]
	[ "$(tail -1 <<<"$output")" = "b'{\"id\":7,\"result\":{\"got\":{},\"env\":\"\"}}\\n'" ]
	# a call under way ends with the run, and its tool with it
	py_bounded 'kz.tools.slow()' 1500 10000 25000
	kz_wait 10 bash -c "! kill -0 $(cat "$BOX/slow.pid") 2>/dev/null"
	# what a child keeps of the descriptor is dead with it
	py 'import os; os.write(3, b"{\"v\":1,\"type\":\"call\",\"id\":1,\"tool\":\"echo\",\"arguments\":{}}\n"); os._exit(0)'
	kz_record_is outcome completed
}

@test "CB-1 a snapshot that makes no sense stops the run before it starts; without one there are no tools" {
	echo '{"v":1,"tools":[{"name":"x"}]}' >"$TOOLS"
	py 1
	kz_record_is outcome refused
	kz_record_is not_run.reason tools_invalid
	rm "$TOOLS"
	py 1
	kz_record_is not_run.reason tools_invalid
	mv "$KZ_STATE/env/KZ_CALLBACK_PROVIDERS" kept
	py "$TRY"'print(dir(kz.tools), call("echo"))'
	mv kept "$KZ_STATE/env/KZ_CALLBACK_PROVIDERS"
	[ "$output" = "[] tool_unknown" ]
}

@test "CB-10 a tool behind a socket" {
	python3 - "$BOX/sock" <<'SERVER' >listens 3>&- &
import os, socket, sys
s = socket.socket(socket.AF_UNIX); s.bind(sys.argv[1]); os.chmod(sys.argv[1], 0o777); s.listen(); s.settimeout(300)
print("ready", flush=True)
for _ in range(2):
    c, _a = s.accept(); data = b""
    while True:
        m = c.recv(65536)
        if not m: break
        data += m
    c.sendall(b'{"asked":' + data + b"}"); c.close()
SERVER
	local server=$! d digest
	kz_wait 20 grep -q ready listens
	d=$(jq -cn --arg s "$BOX/sock" '{name:"s",class:"read",runs_code:false,description:"d",socket:$s}')
	digest=$(printf '%s' "$d" | jq -cjS . | sha256sum | cut -c1-64)
	jq -c --arg x "$digest" '{v:1,tools:[. + {digest:$x}]}' <<<"$d" >"$TOOLS"
	py 'kz.tools.s(a=1), kz.tools.s(b=2)'
	[ "$output" = "({'asked': {'a': 1}}, {'asked': {'b': 2}})" ]
	wait "$server"
}
