# kz-mcp alone: the edges of its protocol. No stack runs, so every call is refused with the reason of the program behind it.
# shellcheck disable=SC2154 # run sets the variables
bats_require_minimum_version 1.5.0

setup() {
	PATH=${KZ_BIN:-$BATS_TEST_DIRNAME/../../build/bin}:$PATH
	export KZ_STATE=$BATS_TEST_TMPDIR/none
	cd "$BATS_TEST_TMPDIR" || return 1
	META='"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}'
	INIT='{"jsonrpc":"2.0","id":"i","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}'
}

# served: standard input through kz-mcp; the answers are in answers
served() {
	kz-mcp >answers 2>errors
}

# is FILTER VALUE: of all answers as one array
is() {
	local got
	got=$(jq -cs "$1" answers)
	[ "$got" = "$2" ] || {
		echo "$1 is $got, not $2"
		cat answers errors
		return 1
	}
}

# talk LINE...: as served, but the input stays open until there are so many answers as lines
talk() {
	rm -f in
	mkfifo in
	kz-mcp <in >answers 2>errors 3>&- &
	local pid=$! start=$SECONDS
	exec 8>in
	printf '%s\n' "$@" >&8
	until [ "$(wc -l <answers)" -ge $# ] || [ $((SECONDS - start)) -gt 60 ]; do sleep 0.02; done
	exec 8>&-
	wait "$pid"
}

@test "what is no message gets the error that JSON-RPC has for it, and the next one is answered" {
	printf '%s\n' 'nonsense' '[]' '[{"jsonrpc":"2.0","id":1,"method":"ping"}]' '7' '{"id":1,"method":"ping"}' '{"jsonrpc":"2.0","id":null,"method":"ping"}' \
		'{"jsonrpc":"2.0","id":1.5,"method":"ping"}' '{"jsonrpc":"2.0","id":2,"method":7}' '{"jsonrpc":"2.0","id":3,"method":"ping","params":[1]}' \
		'{"jsonrpc":"2.0","id":4,"id":5,"method":"ping"}' '{"jsonrpc":"2.0","id":6,"method":"ping"} {}' '{"jsonrpc":"2.0","id":7,"method":"ping"}' | served
	is 'map(.error.code)' '[-32700,-32600,-32600,-32600,-32600,-32600,-32600,-32600,-32602,-32700,-32700,null]'
	is 'map(.id)' '[null,null,null,null,1,null,null,2,3,null,null,7]'
	is '.[-1].result' '{}'
	is 'map(.jsonrpc) | unique' '["2.0"]'
	[ ! -s errors ]
}

@test "a huge line is read over, whole, and refused once" {
	{
		printf '{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"'
		head -c 12000000 /dev/zero | tr '\0' x
		printf '"}}\n{"jsonrpc":"2.0","id":2,"method":"ping"}\n'
	} | served
	is 'map([.id, .error.code])' '[[null,-32600],[2,null]]'
	# deeper than anything may be
	{
		head -c 100000 /dev/zero | tr '\0' '['
		echo
	} | served
	is 'map(.error.code)' '[-32700]'
	# bytes that are no UTF-8, and a zero byte
	printf '{"jsonrpc":"2.0","id":1,"method":"\xff"}\n{"jsonrpc":"2.0","id":1,"method":"a\0b"}\n{"jsonrpc":"2.0","id":1,"method":"a\\u0000b"}\n' | served
	is 'map(.error.code)' '[-32700,-32700,-32700]'
}

@test "notifications and responses are never answered" {
	printf '%s\n' '{"jsonrpc":"2.0","method":"notifications/initialized"}' '{"jsonrpc":"2.0","method":"no/such"}' '{"jsonrpc":"2.0","method":"tools/call","params":[]}' \
		'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":99}}' '{"jsonrpc":"2.0","method":"notifications/cancelled"}' \
		'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":{"a":1}}}' '{"jsonrpc":"2.0","id":5,"result":{}}' \
		'{"jsonrpc":"2.0","id":5,"error":{"code":1,"message":"x"}}' '' | served
	is . '[]'
}

@test "2026-07-28: each request says what it speaks; another version is told what there is" {
	printf '%s\n' '{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{'"$META"'}}' '{"jsonrpc":"2.0","id":2,"method":"tools/list","params":{'"$META"'}}' \
		'{"jsonrpc":"2.0","id":3,"method":"tools/list"}' '{"jsonrpc":"2.0","id":4,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}' \
		'{"jsonrpc":"2.0","id":5,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"1900-01-01","io.modelcontextprotocol/clientCapabilities":{}}}}' \
		'{"jsonrpc":"2.0","id":6,"method":"ping","params":{'"$META"'}}' '{"jsonrpc":"2.0","id":7,"method":"initialize","params":{'"$META"'}}' \
		'{"jsonrpc":"2.0","id":8,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":7}}}' | served
	is '.[0].result | [.supportedVersions, .capabilities, .resultType]' '[["2026-07-28","2025-11-25"],{"tools":{}},"complete"]'
	is '.[0].result._meta["io.modelcontextprotocol/serverInfo"].name' '"kz-mcp"'
	is '.[1].result | [.resultType, .cacheScope, (.tools | length)]' '["complete","private",4]'
	is '.[2:] | map(.error.code)' '[-32602,-32602,-32022,-32601,-32601,-32602]'
	is '.[4].error.data' '{"supported":["2026-07-28","2025-11-25"],"requested":"1900-01-01"}'
}

@test "2025-11-25: initialize first; whoever asks for another version is offered this one" {
	printf '%s\n' '{"jsonrpc":"2.0","id":1,"method":"tools/list"}' "$INIT" '{"jsonrpc":"2.0","id":2,"method":"tools/list"}' '{"jsonrpc":"2.0","id":3,"method":"server/discover"}' \
		'{"jsonrpc":"2.0","id":4,"method":"tools/list","params":{"cursor":"x"}}' "${INIT/2025-11-25/2024-11-05}" '{"jsonrpc":"2.0","id":5,"method":"initialize"}' \
		'{"jsonrpc":"2.0","id":6,"method":"resources/list"}' | served
	is '.[0].error.code' -32602
	is '[.[1], .[5]] | map(.result.protocolVersion) | unique' '["2025-11-25"]'
	is '.[2].result | keys' '["tools"]'
	is '[.[3], .[4], .[6], .[7]] | map(.error.code)' '[-32601,-32602,-32602,-32601]'
}

@test "the table of tools: schemas are closed, and none has an identity" {
	printf '%s\n' '{"jsonrpc":"2.0","id":2,"method":"tools/list","params":{'"$META"'}}' | served
	is '.[0].result.tools | map(.name)' '["run_code","read_file","edit_file","list_files"]'
	is '.[0].result.tools | map(.inputSchema.additionalProperties) | unique' '[false]'
	is '.[0].result.tools | map(.inputSchema.properties | has("actor") or has("conversation")) | any' false
}

@test "what models read of cells is the text of docs/kernels.md" {
	local docs=$BATS_TEST_DIRNAME/../../docs/kernels.md
	printf '%s\n' '{"jsonrpc":"2.0","id":2,"method":"tools/list","params":{'"$META"'}}' | served
	is '.[0].result.tools[0].inputSchema.properties.kernel.description' \
		"$(sed -n '/^## Text for a tool description$/,/^## [^T]/s/^> //p' "$docs" | tr '\n' ' ' | sed 's/ $//' | jq -Rc .)"
}

@test "a call without a stack is refused with the reason; so are arguments that no tool has" {
	talk "$INIT" '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"run_code","arguments":{"code":"1"}}}' \
		'{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"list_files"}}' \
		'{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"run_code","arguments":{"code":"1","actor":"a"}}}' \
		'{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"run_code","arguments":{"code":"1","outputs":["x"]}}}' \
		'{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"none"}}' \
		'{"jsonrpc":"2.0","id":6,"method":"tools/call","params":{"name":"run_code","arguments":[]}}' \
		'{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"run_code","arguments":{"code":"1","timeout_ms":0}}}' \
		'{"jsonrpc":"2.0","id":8,"method":"tools/call","params":{"name":"run_code","arguments":{"code":""}}}'
	is 'sort_by(.id) | map(select(.result.isError)) | map([.id, .result.structuredContent.reason])' \
		'[[1,"not_running"],[2,"not_running"],[3,"usage"],[4,"usage"],[6,"usage"],[7,"usage"],[8,"usage"]]'
	is 'map(select(.id == 5))[0].error.code' -32602
	is 'map(select(.id == 3))[0].result.content[0].text | test("configuration")' true
}

@test "the end of input in the middle of a message is the end; a reader that is gone is, too" {
	printf '{"jsonrpc":"2.0","id":1,"method":"pi' | served
	is . '[]'
	# nobody reads: it ends by itself
	yes '{"jsonrpc":"2.0","id":1,"method":"ping"}' 2>/dev/null | timeout 60 kz-mcp | head -c 100 >first
	[ "${PIPESTATUS[1]}" -eq 0 ]
	[ -s first ]
}

@test "kz-mcp: a directory that is not there, and operands, are wrong" {
	run ! kz-mcp -d "$BATS_TEST_TMPDIR/gone" </dev/null
	[ "$status" -eq 66 ]
	run ! kz-mcp operand </dev/null
	[ "$status" -eq 64 ]
}
