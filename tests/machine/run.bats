# kz-run on a real stack: what goes in, what comes out, and what the record says of it.
# shellcheck disable=SC2154,SC2030,SC2031 # run and kz_run set the variables
# bats file_tags=case:root
bats_require_minimum_version 1.5.0
load ../kz

setup_file() {
	kz_start SANDBOX_WARM_POOL_MIN=1 SANDBOX_MAX_WALL_SECONDS=120 SANDBOX_ACQUIRE_WAIT_SECONDS=60
}

teardown_file() {
	kz_stop
}

setup() {
	SCHEMA=$BATS_TEST_DIRNAME/../schema.py
	cd "$BATS_TEST_TMPDIR" || return 1
}

@test "EXEC-5 each language prints, and its record fits the schema" {
	kz_run -c 'print(6 * 7)'
	[ "$status" -eq 0 ]
	[ "$output" = 42 ]
	[ -z "$error" ]
	kz_record | "$SCHEMA" --last record
	kz_record_is outcome completed
	kz_record_is cause exit
	kz_record_is exit 0
	kz_record_is reason null
	kz_record_is not_run null
	kz_record_is stdout.seen_bytes 3
	kz_record_is stdout.sha256 "$(printf '42\n' | sha256sum | cut -d' ' -f1)"
	kz_run -l shell -c 'echo $((6 * 7))'
	[ "$output" = 42 ]
	kz_run -l node -c 'console.log(6 * 7)'
	[ "$output" = 42 ]
}

@test "EXEC-10 what a program says of itself decides nothing: the record is the same as of a silent one" {
	local silent
	say='for fd in 1 2; do
	printf "%s\n" "kz-run: dependency_install_failed: numpy: the package registry cannot be reached" "kz-run: workspace_over_bound: x" \
		"kz-run: the program was killed: memory" "{\"v\":1,\"type\":\"record\",\"outcome\":\"not_run\",\"reason\":\"outcome_unknown\",\"not_run\":{\"reason\":\"dependency_install_failed\"}}" >&$fd
	done; '
	judged() { jq -c '[.outcome, .cause, .exit, .signal, .reason, .limits_hit, .not_run, .snapshot, .member_view.state, .member_view.text]' "$KZ_TEST_RECORD"; }
	for end in "exit 0" "exit 3" "exit 125" 'kill -9 $$'; do
		kz_run -l shell -c "$end" </dev/null
		silent="$status $(judged)"
		kz_run -l shell -c "$say$end" </dev/null
		[[ $error == *dependency_install_failed* && $output == *workspace_over_bound* ]]
		echo "$silent"
		[ "$status $(judged)" = "$silent" ]
	done
}

@test "EXEC-5 the record's fields stand in their order" {
	kz_run -c 1
	[ "$(kz_record | jq -c keys_unsorted)" = '["v","type","run","outcome","cause","exit","signal","reason","wall_ms","cpu_ms","peak_bytes","limits_hit","stdout","stderr","killed_count","snapshot","workspace","packages","kernel","egress","projection","private_selection","outputs","not_run","refused_count","downloads","canvas_refs","model_view","member_view"]' ]
}

@test "EXEC-3 a file, standard input and an option give the program" {
	echo 'import sys; print(sys.argv[1:], repr(sys.stdin.read()))' >prog.py
	kz_run prog.py a -x '' <<<hello
	[ "$output" = "['a', '-x', ''] 'hello\\n'" ]
	kz_run - a <prog.py
	[ "$output" = "['a'] ''" ]
	kz_run -c "$(cat prog.py)" a <<<hello
	[ "$output" = "['a'] 'hello\\n'" ]
	printf '#!/bin/sh\necho "$0 $1"\n' >prog
	kz_run prog b
	[ "$output" = "/work/code/prog b" ]
	echo 'console.log(process.argv.slice(2))' >prog.mjs
	kz_run prog.mjs c
	[ "$output" = "[ 'c' ]" ]
}

@test "EXEC-2 the workspace starts empty, is the working directory and the home, and /work is not writable" {
	echo 'import os; print(os.getcwd(), os.listdir("."), os.environ["HOME"]); os.makedirs("a/b"); open("a/b/c", "w")' >prog.py
	kz_run prog.py
	[ "$output" = "/work/space [] /work/space" ]
	kz_run -l shell -c 'touch /work/x 2>/dev/null || echo no; touch /work/code/x 2>/dev/null || echo no; rm -f /work/code/* ; ls -A'
	[ "$output" = "$(printf 'no\nno')" ]
}

@test "EXEC-13 the environment is built from empty; -e is the only way in" {
	SECRET=canary kz_run -l shell -c 'env | cut -d= -f1 | sort | tr "\n" " "'
	[[ $output != *SECRET* ]]
	[ "$output" = "HOME LANG PATH PWD PYTHONUNBUFFERED " ]
	SECRET=canary kz_run -l shell -e SECRET -e A=b=c -e A=d -e E= -c 'echo "$SECRET $A ${E-unset}."'
	[ "$output" = "canary d ." ]
}

@test "EXEC-14 nothing is open but 0, 1 and 2" {
	kz_run -l shell -c 'ls /proc/$$/fd' 7</dev/null
	[ "$output" = "$(printf '0\n1\n2')" ]
}

@test "EXEC-5 BOUND-1 lost output: what a program printed before its bound is there, from Python too" {
	kz_run -t 1500 -c 'print("begun", 1); import time; time.sleep(60)'
	[ "$status" -eq 124 ]
	[ "$output" = "begun 1" ]
	kz_run -t 1500 -l shell -c 'python3 -c "print(2); import time; time.sleep(60)"'
	[ "$status" -eq 124 ]
	[ "$output" = 2 ]
	kz_run -l node -t 1500 -c 'console.log(3); setTimeout(() => {}, 60000)'
	[ "$status" -eq 124 ]
	[ "$output" = 3 ]
	kz_run -c 'import os, signal; print(4); os.kill(os.getpid(), signal.SIGKILL)'
	[ "$output" = 4 ]
	# a program that prints millions of lines can have Python's buffer back
	kz_run -e PYTHONUNBUFFERED= -t 1500 -c 'print(5); import time; time.sleep(60)'
	[ "$status" -eq 124 ]
	[ -z "$output" ]
}

@test "EXEC-5 the program's own status is kept, whatever it is" {
	local n
	for n in 1 2 64 124 125 126 127 128 143 255; do
		kz_run -l shell -c "exit $n"
		[ "$status" -eq "$n" ]
		kz_record_is outcome failed
		kz_record_is cause exit
		kz_record_is exit "$n"
		kz_record_is reason null
		[ -z "$error" ]
	done
}

@test "EXEC-5 death by a signal is 128 and its number" {
	local n
	for n in 1 6 9 11 15; do
		kz_run -l shell -c "kill -$n \$\$"
		[ "$status" -eq $((128 + n)) ]
		kz_record_is cause signal
		kz_record_is signal "$n"
		kz_record_is exit null
	done
}

@test "EXEC-5 with -j: events, the record last, and statuses 0 and 1" {
	run --separate-stderr kz-run -j -c 'import sys; print("out"); sys.stderr.write("err")'
	[ "$status" -eq 0 ]
	[ -z "$stderr" ]
	"$SCHEMA" --last record --expect output <<<"$output"
	[ "$(jq -rj 'select(.stream == "stdout").text' <<<"$output")" = out ]
	[ "$(jq -rj 'select(.stream == "stderr").text' <<<"$output")" = err ]
	run kz-run -j -c 'exit(3)'
	[ "$status" -eq 1 ]
	run kz-run -j -t 300 -c 'import time; time.sleep(20)'
	[ "$status" -eq 1 ]
}

@test "EXEC-5 with -j characters are never split, and bytes come through" {
	run kz-run -j -c 'import sys
for b in "a\u20ac\U0001f600".encode(): sys.stdout.buffer.write(bytes([b])); sys.stdout.flush()'
	"$SCHEMA" --last record <<<"$output"
	[ "$(jq -rj 'select(.type == "output").text' <<<"$output")" = "a€😀" ]
	kz-run -j -c 'import sys; sys.stdout.buffer.write(bytes(range(256)) * 4)' >lines
	jq -r 'select(.type == "output") | .base64 // (.text | @base64)' lines | while read -r piece; do base64 -d <<<"$piece"; done >bytes
	[ "$(sha256sum <bytes | cut -d' ' -f1)" = "$(jq -r 'select(.type == "record").stdout.sha256' lines)" ]
}

@test "EXEC-3 modules that are inputs are found from a program that is a file" {
	local main
	echo 'answer = 42' >helper.py
	echo 'import helper; print(helper.answer)' >prog.py
	kz_run -i helper.py prog.py
	[ "$output" = 42 ]
	kz_run -i helper.py - <prog.py
	[ "$output" = 42 ]
	echo 'answer=42' >helper.sh
	echo '. ./helper.sh; echo $answer' >prog.sh
	kz_run -i helper.sh prog.sh
	[ "$output" = 42 ]
	echo 'exports.answer = 42; exports.deep = require("./sub/deep").deep' >helper.js
	echo 'exports.deep = 7' >deep.js
	echo '{"a":1}' >data.json
	# shellcheck disable=SC2041 # programs, not words
	for main in 'const h = require("./helper"), h2 = require("helper"), d = require("./data.json");
console.log(h.answer, h.deep, h2.answer, d.a)'; do
		echo "$main" >prog.js
		kz_run -i helper.js -i sub/deep.js=deep.js -i data.json prog.js
		[ "$output" = "42 7 42 1" ] || { echo "$error"; false; }
		kz_run -i helper.js -i sub/deep.js=deep.js -i data.json -l node - <prog.js
		[ "$output" = "42 7 42 1" ] || { echo "$error"; false; }
	done
	echo 'export const answer = 42' >helper.mjs
	echo 'import { answer } from "./helper.mjs"; console.log(answer)' >prog.mjs
	kz_run -i helper.mjs prog.mjs
	[ "$output" = 42 ] || { echo "$error"; false; }
	# also of a program whose name does not say that it is a module, and by import()
	echo 'import "fs"' >told.js # an older node takes nothing without the name for a module
	if /usr/bin/node told.js 2>/dev/null; then
		kz_run -i helper.mjs -l node - <prog.mjs
		[ "$output" = 42 ] || { echo "$error"; false; }
	fi
	echo 'import("./helper.mjs").then((m) => console.log(m.answer, typeof require))' >prog.js
	kz_run -i helper.mjs prog.js
	[ "$output" = "42 function" ] || { echo "$error"; false; }
	echo 'require("./missing")' >prog.js
	kz_run prog.js
	[ "$status" -eq 1 ]
	[[ $error == *"Cannot find module './missing'"* ]]
}

@test "WS-1 EXEC-3 a module of the workspace that was edited is the new one, however soon after; imports leave nothing there" {
	local n
	# the same size, and most likely the same second
	for n in 1 2 3 4; do
		echo "V = $n" >mod.py
		kz_run -A a -C edited -i mod.py - <<<'import mod; print(mod.V)'
		[ "$output" = "$n" ]
		kz_run -A a -C edited -k -c 'import mod, os; print(mod.V, sorted(x for x in os.listdir() if x[0] != "."))' </dev/null
		[ "$output" = "$n ['mod.py']" ]
	done
}

@test "BRK-22 what the machine's own Python has of numpy, pandas and matplotlib works in a worker too" {
	local module
	for module in numpy pandas matplotlib.pyplot; do
		/usr/bin/python3 -c "import ${module%.*}" 2>/dev/null || continue
		kz_run -c "import $module as m; print(m.__name__)"
		[ "$output" = "$module" ] || { echo "$error"; false; }
	done
}

@test "OUT-3 inputs arrive, declared outputs come back whole with size, digest and type" {
	printf 'a,b\n1,2\n' >in.csv
	mkdir out
	kz_run -i in.csv -i deep/er.csv=in.csv -o result.json -o sub/copy.csv -d out -c '
import json, os, shutil
os.makedirs("sub"); shutil.copy("deep/er.csv", "sub/copy.csv")
json.dump(sorted(os.listdir(".")), open("result.json", "w"))'
	[ "$status" -eq 0 ]
	[ "$(cat out/result.json)" = '["deep", "in.csv", "sub"]' ]
	cmp in.csv out/sub/copy.csv
	[ "$(stat -c %a out/result.json out/sub/copy.csv | sort -u)" = 644 ]
	kz_record_is 'outputs[0].name' result.json
	kz_record_is 'outputs[0].media_type' application/json
	kz_record_is 'outputs[1].bytes' 8
	kz_record_is 'outputs[1].sha256' "$(sha256sum <in.csv | cut -d' ' -f1)"
	[ "$(find out -type f | wc -l)" -eq 2 ]
}

@test "OUT-3 confused deputy: links, sockets, pipes and directories are not retained, and cost only themselves" {
	mkdir out
	kz_run -o link -o dir -o fifo -o sock -o to-sock -o good -d out -l shell -c 'ln -s /etc/passwd link; mkdir dir; mkfifo fifo
		python3 -c "import socket; socket.socket(socket.AF_UNIX).bind(\"sock\")"; ln -s sock to-sock; echo ok >good'
	[ "$status" -eq 125 ]
	[[ $(tail -n 1 <<<"$error") == "kz-run: output_not_regular: output link: "* ]]
	kz_record_is outcome failed
	kz_record_is exit 0
	kz_record_is reason output_not_regular
	kz_record_is 'outputs|length' 1
	[ "$(grep -c ': output_not_regular: ' <<<"$error")" -eq 5 ]
	[ "$(ls -A out)" = good ]
	kz_run -o d/passwd -d out -l shell -c 'ln -s /etc d'
	[ "$status" -eq 125 ]
	[ "$(ls -A out)" = good ]
	run kz-run -j -o missing -d out -c 1
	[ "$status" -eq 65 ]
}

@test "OUT-16 a declared output that is missing leaves nothing, and fails only a program that said it did well" {
	mkdir out
	kz_run -o a -d out -c 1
	[ "$status" -eq 125 ]
	kz_record_is reason output_missing
	kz_record_is 'outputs|length' 0
	[ -z "$(ls -A out)" ]
	kz_run -o a -o b -d out -c 'open("b", "w").write("x"); exit(3)'
	[ "$status" -eq 3 ]
	kz_record_is reason null
	[ "$(ls -A out)" = b ]
}

@test "OUT-3 confused deputy: an output replaces a link of its name and never writes through it" {
	mkdir out
	echo precious >victim
	ln -s ../victim out/a
	kz_run -o a -d out -c 'open("a", "w").write("x")'
	[ "$status" -eq 0 ]
	[ "$(cat victim)" = precious ]
	[ ! -L out/a ]
	mkdir elsewhere
	ln -s ../elsewhere out/sub
	kz_run -o sub/a -d out -l shell -c 'mkdir sub; echo x >sub/a'
	[ "$status" -eq 125 ]
	kz_record_is reason output_uncreatable
	[ -z "$(ls -A elsewhere)" ]
}

@test "BOUND-1 timeout kills one pid: the wall bound ends the whole tree; -t only lowers it" {
	kz_run -t 500 -l shell -c 'sleep 60 & sleep 60'
	[ "$status" -eq 124 ]
	kz_record_is outcome bounded
	kz_record_is cause wall
	kz_record_is reason wall_exceeded
	[[ $error == *"wall_exceeded: "*"(-t 500)" ]]
	[ "$(kz_record wall_ms)" -ge 450 ]
	kz_run -t 9223372036854775807 -c 'print(1)'
	[ "$status" -eq 0 ]
}

@test "EXEC-16 what cannot start is 126 or 127, and not_run" {
	kz_run -e PATH=/nowhere -l shell -c 'true'
	[ "$status" -eq 0 ]
	kz_run -i big=/dev/zero -c 1
	[ "$status" -eq 125 ]
	kz_record_is outcome not_run
	kz_record_is reason input_over_bound
}

@test "EXEC-5 standard input streams with its end, and a closed one is empty" {
	head -c 3000000 /dev/urandom >data
	kz_run -c 'import hashlib, sys; print(hashlib.sha256(sys.stdin.buffer.read()).hexdigest())' <data
	[ "$output" = "$(sha256sum <data | cut -d' ' -f1)" ]
	# A program that does not read holds nobody.
	kz_run -c 'print(1)' < <(yes)
	[ "$status" -eq 0 ]
	kz_run -l shell -c 'cat' <&-
	[ "$status" -eq 0 ]
	# Lines come while the program runs: a conversation over two pipes.
	coproc kz-run -c 'for line in iter(input, "end"): print(line * 2, flush=True)' 2>/dev/null
	echo ab >&"${COPROC[1]}"
	local answer
	read -r -t 120 answer <&"${COPROC[0]}"
	[ "$answer" = abab ]
	echo end >&"${COPROC[1]}"
	wait "$COPROC_PID"
}

one_leased() {
	[ "$(kz-lease list -j | wc -l)" -eq 1 ]
}

one_waits() {
	[ "$(kz status -j | jq -s 'map(select(.waiting != null))[0].waiting')" = 1 ]
}

# taken WORD VALUE: Valkey goes by that setting; the controller takes up what kz config set wrote at its own pace. WORD is its
# place among the settings of docs/authority.md's :terms.
taken() {
	valkey-cli -s "$KZ_STATE/run/valkey.sock" get "{kz:$(cat "$KZ_STATE/env/KZ_DEPLOYMENT_ID")}:terms" |
		awk -F'|' -v word="$1" -v value="$2" '{ split($4, w, " "); exit w[word] != value }'
}

@test "LEASE-7 same workspace twice: the same one waits its turn, others do not" {
	mkfifo go
	exec 8<>go
	# each of the first ones ends when it is told to, and the second comes when the first has its lease
	kz-run -A a -C c -l shell -c 'read -r x' <go 8>&- &
	local pid=$! waiter
	kz_wait 20 one_leased
	kz-run -A a -C c -c 'print(1)' >second 2>&1 8>&- &
	waiter=$!
	kz_wait 20 one_waits
	kz_run -A a -C other -c 'print(2)'
	[ "$output" = 2 ]
	[ ! -s second ]
	echo >&8
	wait $pid
	wait $waiter
	[ "$(cat second)" = 1 ]
	kz-run -A a -C c -l shell -c 'read -r x' <go 8>&- &
	pid=$!
	kz_wait 20 one_leased
	kz config set SANDBOX_ACQUIRE_WAIT_SECONDS=1
	kz_run -A a -C c -c 'print(1)'
	kz config set SANDBOX_ACQUIRE_WAIT_SECONDS=60
	kz_wait 10 taken 6 60000
	[ "$status" -eq 125 ]
	kz_record_is outcome refused
	kz_record_is reason workspace_busy
	[[ $error == "kz-run: workspace_busy: "* ]]
	echo >&8
	exec 8>&-
	wait $pid
}

@test "AUD-1 each run stands in the audit store with its digests, and the chain verifies" {
	kz_run -A canary-actor -C canary-conversation -c 'print("canary-output")'
	kz-audit show "$(kz_record run)" -j >rows || kz-audit show -j "$(kz_record run)" >rows
	grep -q "$(printf %s 'print("canary-output")' | sha256sum | cut -d' ' -f1)" rows
	run ! grep -q canary rows
	run -0 kz-audit verify
}

@test "BOUND-1 poison after abort: runs that are aborted poison nothing" {
	local i pid
	for i in $(seq 20); do
		kz-run -A a -C c -c 'import time; print(1, flush=True); time.sleep(20)' >out 2>err &
		pid=$!
		kz_wait 20 test -s out || {
			cat err
			kz-lease list
			kz status
			return 1
		}
		if [ $((i % 2)) -eq 0 ]; then kill -KILL $pid; else kill -INT $pid; kill -TERM $pid || true; fi
		wait $pid || true
		: >out
	done
	for i in $(seq 20); do
		kz_run -A a -C c -l shell -c "echo $i"
		[ "$status" -eq 0 ]
		[ "$output" = "$i" ]
	done
}

@test "BOUND-1 timer accuracy: the wall bound is neither early nor twice as late" {
	local n
	# as process 1 saw it; the longest is long enough that no busy machine makes it twice as long
	for n in 100 1000 10000; do
		kz_run -t $n -c 'while True: pass'
		[ "$status" -eq 124 ]
		[ "$(kz_record wall_ms)" -ge $((n - 50)) ]
	done
	[ "$(kz_record wall_ms)" -lt $((10000 + $(kz_late))) ]
}

@test "EXEC-3 hostile bytes in programs and arguments" {
	# some interpreters run what stands before a zero byte and end with 0
	printf 'print("a")\n\0print("b")' >nul.py
	local name
	for name in nul.py nul.js nul.sh nul; do
		[ "$name" = nul.py ] || cp nul.py "$name"
		kz_run "$name"
		[ "$status" -eq 125 ]
		[ -z "$output" ]
		[[ $error == *"kz-run: code_unreadable: "*zero* ]]
		kz_record_is outcome not_run
	done
	kz_run - <nul.py
	[ "$status" -eq 125 ]
	# an archive of modules is no text and runs
	mkdir app
	echo 'print("zipped")' >app/__main__.py
	python3 -m zipapp app -o app.pyz
	kz_run -l python app.pyz
	[ "$output" = zipped ]
	printf 'print("\xff")' >bad.py
	kz_run bad.py
	[ "$status" -eq 1 ]
	kz_run -c 'import sys; print(sys.argv[1:])' '$(id)' '`id`' $'a\nb' '' -- '-x' 'é'
	[ "$output" = "['\$(id)', '\`id\`', 'a\\nb', '', '--', '-x', 'é']" ]
	kz_run -o $'\xd7\x90.txt' -o -dash.txt -l shell -c 'printf x >"א.txt"; printf y >./-dash.txt'
	[ "$status" -eq 0 ]
	[ "$(cat ./-dash.txt)" = y ]
	[ "$(kz_record 'outputs[0].name')" = 'א.txt' ]
}

@test "EXEC-3 node: arguments begin at the same place for -c, long -c and FILE" {
	local code='console.log(JSON.stringify(process.argv.slice(2)))' long
	kz_run -l node -c "$code" x -y
	[ "$output" = '["x","-y"]' ]
	long="$code //$(head -c 40000 /dev/zero | tr '\0' a)"
	kz_run -l node -c "$long" x -y
	[ "$output" = '["x","-y"]' ]
	echo "$code" >args.js
	kz_run args.js x -y
	[ "$output" = '["x","-y"]' ]
}

@test "EXEC-16: a program that uses up the processor time it gave itself is told from one that is killed" {
	kz_run -c 'import resource
resource.setrlimit(resource.RLIMIT_CPU, (1, 5))
while True: pass'
	[ "$status" -eq 125 ]
	kz_record_is cause cpu
	kz_record_is reason cpu_exceeded
	kz_record_is outcome bounded
}
