# kz-mcp with the official clients of the Model Context Protocol, on a whole stack, in both revisions.
# weight 75
# shellcheck disable=SC2154,SC2016 # run sets the variables; programs are not for this shell
bats_require_minimum_version 1.5.0
load ../kz

setup_file() {
	CLIENTS=$("$BATS_TEST_DIRNAME/../mcp/get-clients")
	FIX=$(mktemp -d /tmp/kzp.XXXXXX)
	export CLIENTS FIX
	python3 "$BATS_TEST_DIRNAME/../registry/registry.py" "$FIX" </dev/null >"$FIX/out" 2>&1 3>&- &
	echo $! >"$FIX/pid"
	kz_wait 20 test -s "$FIX/port"
	kz_start SANDBOX_WARM_POOL_MIN=2 SANDBOX_ACQUIRE_WAIT_SECONDS=120 SANDBOX_MAX_WALL_SECONDS=120 SANDBOX_EGRESS_MODE=isolated \
		SANDBOX_PACKAGE_REGISTRIES="{\"pypi\":{\"index\":\"http://127.0.0.1:$(cat "$FIX/port")/simple/\"}}"
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
	mkdir out
	INIT='{"jsonrpc":"2.0","id":"i","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}'
}

# both SCENARIO [ARG...]: with each revision, each with a conversation of its own; with arguments of kz-mcp
both() {
	local revision scenario=$1
	shift
	for revision in 2026-07-28 2025-11-25; do
		echo "$revision $scenario"
		ARGS=$(printf '%s\n' -A ann -C "$scenario-$revision" "$@") node "$BATS_TEST_DIRNAME/../mcp/client.mjs" "$revision" "$scenario"
	done
}

@test "MCP: an official client lists the tools, with schemas that name no identity" { both list; }
@test "MCP: it runs code and gets a structured result, files as links, and bounded output" { both run -d out; }
@test "MCP OUT-12: without a directory images and short texts come with the answer, and everything can be read as a resource" {
	export TMPDIR=$BATS_TEST_TMPDIR/tmp
	mkdir "$TMPDIR"
	both outputs
	# nothing stays behind, and nothing was put anywhere else
	[ -z "$(ls -A "$TMPDIR")" ]
	[ -z "$(ls -A out)" ]
}

@test "MCP: below a directory the newest outputs stay, and what was changed there" {
	both kept -d out --keep-runs 2
	# two revisions, each with a change of its own that keeps a directory
	[ "$(find out -name 'kept.txt' | wc -l)" = 2 ]
	[ "$(find out -name '*.txt' | wc -l)" = 4 ]
	[ "$(find out/.kz-mcp -type f | wc -l)" = 2 ]
}

@test "MCP OUT-3: what is handed out stays readable when its name is gone or is another file's" { both replaced -d out; }

@test "MCP: it reads, edits and lists the workspace that runs work on" { both files; }
@test "MCP: cells of a kernel keep their variables, and what is not kept is told" { both kernel; }
@test "MCP KRN-8 KRN-15: what of variables and files lasts, and why not, is in the text that a model reads" { both lasting; }
@test "MCP: files come with a call, by their content" { both inputs; }
@test "MCP EXEC-17: it tells that runs have no network, and no argument gives them one" { both scope; }
@test "MCP: it sees progress, which only grows" { both progress; }
@test "MCP: it cancels a long run: the program is ended and the worker given back" { both cancel; }
@test "MCP BRK-5: it has packages installed, in isolated mode, and the conversation keeps them" { both packages; }
@test "MCP: refusals come with their reason, and identity is never an argument" { both refusals; }

@test "MCP: runs are the configured actor's; nothing else of the environment counts" {
	ARGS=$(printf '%s\n' -A ann -C mine -d out) node "$BATS_TEST_DIRNAME/../mcp/client.mjs" 2026-07-28 run
	kz-workspace list -A ann -C mine | grep -qx 'a b.txt'
	run ! kz-workspace list -A mallory -C mine
}

@test "MCP ADM-9: the example of docs/mcp.md answers as it stands there" {
	run bash -ec "$(awk '/^```sh$/ { on = 1; next } /^```$/ { on = 0 } on' "$BATS_TEST_DIRNAME/../../docs/mcp.md")" </dev/null
	echo "$output"
	[ "${lines[0]}" = 42 ]
}

# begin LINE...: kz-mcp with these as its first messages; its input is descriptor 8, its answers are in answers, it is $pid
begin() {
	mkfifo in
	kz-mcp -A ann "${WHO[@]}" <in >answers 2>errors 3>&- &
	pid=$!
	exec 8>in
	printf '%s\n' "$INIT" "$@" >&8
}

# code ID TEXT: a call of run_code, in shell
code() {
	jq -nc --argjson id "$1" --arg code "$2" '{jsonrpc: "2.0", id: $id, method: "tools/call", params: {name: "run_code", arguments: {language: "shell", code: $code}}}'
}

# answered ID: has it its one answer?
answered() {
	[ "$(jq -s "map(select(.id == $1)) | length" answers)" = 1 ]
}

@test "MCP: calls of one conversation at once come one after the other, each with its answer" {
	WHO=(-C parallel)
	local -a calls=()
	for i in 1 2 3 4 5; do calls+=("$(code "$i" "n=\$(cat n 2>/dev/null || echo 0); sleep 0.2; echo \$((n + 1)) >n; cat n")"); done
	begin "${calls[@]}"
	for i in 1 2 3 4 5; do kz_wait 100 answered "$i"; done
	# no update is lost: each saw what the one before it wrote
	[ "$(jq -r 'select(.id | numbers) | .result.structuredContent.stdout.head' answers | sort | tr -d '\n')" = 12345 ]
	exec 8>&-
	wait "$pid"
}

@test "MCP: an id in use is refused, a cancelled or finished one is free; what is cancelled twice or never was is nothing" {
	WHO=(-C ids)
	begin "$(code 1 'sleep 600')" "$(code 1 'echo second')"
	kz_wait 30 grep -q 'under way' answers
	[ "$(jq -c 'select(.id == 1) | .error.code' answers)" = -32600 ]
	for id in 1 1 99 '"1"' null; do echo '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":'"$id"'}}' >&8; done
	code 1 'echo third' >&8
	kz_wait 60 grep -q third answers
	code 1 'echo fourth' >&8
	kz_wait 60 grep -q fourth answers
	echo '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}' >&8
	echo '{"jsonrpc":"2.0","id":2,"method":"ping"}' >&8
	kz_wait 30 answered 2
	# the refusal, third and fourth: of what was cancelled nothing is told
	[ "$(jq -s 'map(select(.id == 1)) | length' answers)" = 3 ]
	exec 8>&-
	wait "$pid"
}

@test "MCP: a reader that goes in the middle of a run ends the run, and its lease is given back" {
	local mark="sleep 7$BASHPID"
	mkfifo in out.pipe
	kz-mcp -A ann -C goes <in >out.pipe 2>errors 3>&- &
	pid=$!
	exec 8>in 9<out.pipe
	printf '%s\n' "$INIT" "$(code 1 "$mark")" >&8
	kz_wait 30 pgrep -f "^$mark\$"
	# it has nothing to write, and its input stays open
	read -r -u 9 _
	exec 9<&-
	wait "$pid"
	exec 8>&-
	kz_run -A ann -C goes -l shell -c 'echo free'
	[ "$output" = free ]
	run ! pgrep -f "^$mark\$"
}

@test "MCP: a client that reads nothing holds up no lease: the run ends, and its answer waits" {
	mkfifo in out.pipe
	kz-mcp -A ann -C slow <in >out.pipe 2>errors 3>&- &
	pid=$!
	exec 8>in 9<out.pipe
	printf '%s\n' "$INIT" >&8
	# far more answers than a pipe takes
	for i in $(seq 1000 1100); do echo '{"jsonrpc":"2.0","id":'"$i"',"method":"tools/list"}' >&8; done
	code 1 'head -c 100000 /dev/zero | tr "\\0" x' >&8
	kz_run -A ann -C slow -l shell -c 'echo free'
	[ "$output" = free ]
	exec 8>&-
	jq -c .id <&9 >ids
	[ "$(sort -n ids | uniq -d)" = "" ]
	[ "$(grep -c '^1[01]' ids)" -ge 101 ]
	wait "$pid"
}

@test "MCP: a run whose program here is killed is an end that nobody knows; 16 calls are the most" {
	mkfifo in
	kz-mcp -A ann -C crowd <in >answers 3>&- &
	pid=$!
	exec 8>in
	echo '{"jsonrpc":"2.0","id":"i","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}' >&8
	for i in $(seq 17); do
		echo '{"jsonrpc":"2.0","id":'"$i"',"method":"tools/call","params":{"name":"run_code","arguments":{"language":"shell","code":"sleep 600"}}}' >&8
	done
	kz_wait 30 grep -q queue_full answers
	[ "$(jq -r 'select(.result.isError).id' answers)" = 17 ]
	pkill -KILL -o -P "$pid"
	kz_wait 30 grep -q outcome_unknown answers
	[ "$(jq -r 'select(.result.structuredContent.reason == "outcome_unknown").result.isError' answers)" = true ]
	exec 8>&-
	wait "$pid"
	kz_run -A ann -C crowd -l shell -c 'echo free'
	[ "$output" = free ]
}

@test "MCP: the end of input, SIGTERM and SIGKILL end what is under way" {
	for how in EOF TERM KILL; do
		mark="sleep 8$BASHPID"
		mkfifo "in.$how"
		kz-mcp -A ann -C "$how" <"in.$how" >"out.$how" 3>&- &
		pid=$!
		exec 8>"in.$how"
		printf '%s\n' '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}' \
			'{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"run_code","arguments":{"language":"shell","code":"'"$mark"'"}}}' >&8
		kz_wait 30 pgrep -f "^$mark\$"
		status=0
		case $how in
		EOF) exec 8>&- ;;
		*) kill -s "$how" "$pid" ;;
		esac
		wait "$pid" || status=$?
		exec 8>&-
		[ "$how" = KILL ] || [ "$status" -eq 0 ]
		# the conversation is free when its worker was given back
		kz_run -A ann -C "$how" -l shell -c 'echo free'
		[ "$output" = free ]
		run ! pgrep -f "^$mark\$"
		[ "$(jq -s 'map(select(.id == 2)) | length' "out.$how")" -eq 0 ]
	done
}

# The last one: the stack is another one after it.
@test "MCP: kz that is stopped between calls is not_running, and the same server goes on when it is up again" {
	WHO=(-C again)
	begin "$(code 1 'echo one >kept')"
	kz_wait 30 answered 1
	kz down
	code 2 'cat kept' >&8
	kz_wait 30 answered 2
	[ "$(jq -r 'select(.id == 2) | [.result.isError, .result.structuredContent.reason] | @tsv' answers)" = $'true\tnot_running' ]
	kz up --state "$KZ_STATE"
	code 3 'cat kept' >&8
	kz_wait 60 answered 3
	[ "$(jq -r 'select(.id == 3) | .result.structuredContent.stdout.head' answers)" = one ]
	exec 8>&-
	wait "$pid"
}
