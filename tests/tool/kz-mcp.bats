# kz-mcp alone: the edges of its protocol. No stack runs, so every call is refused with the reason of the program behind it.
# shellcheck disable=SC2154 # run sets the variables
bats_require_minimum_version 1.5.0
load ../kz

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
	is 'map([.id, .error.code])' '[[1,-32600],[2,null]]'
	# whoever asked is told, also where that stands at the end, as clients write it; of one that never ends nobody is known
	{
		printf '{"method":"ping","params":{"id":9,"x":"\\"'
		head -c 6000000 /dev/zero | tr '\0' x
		printf '"},"jsonrpc":"2.0","id":"b"}\n{"method":"ping","jsonrpc":"2.0","id":3,"params":{"x":"'
		head -c 6000000 /dev/zero | tr '\0' x
	} | served
	is 'map([.id, .error.code])' '[["b",-32600],[null,-32600]]'
	# deeper than anything may be
	{
		head -c 100000 /dev/zero | tr '\0' '['
		echo
	} | served
	is 'map(.error.code)' '[-32700]'
	# bytes that are no UTF-8, and a zero byte
	printf '{"jsonrpc":"2.0","id":1,"method":"\xff"}\n{"jsonrpc":"2.0","id":1,"method":"a\0b"}\n{"jsonrpc":"2.0","id":1,"method":"a\\u0000b"}\n' | served
	is 'map(.error.code)' '[-32700,-32700,-32700]'
	is 'map(.id)' '[1,1,1]'
}

@test "a request that no parser takes is answered with its id, so that no client waits for it; what is uncertain has none" {
	printf '%s\n' '{"method":"tools/call","params":{"name":"run_code","arguments":{"code":"a\u0000b"},"_meta":{"id":7}},"jsonrpc":"2.0","id":1}' \
		'{"jsonrpc":"2.0","id":"two","method":"tools/call","params":{"name":"run_code","arguments":{"code":"half \ud800"}}}' \
		'{"jsonrpc":"2.0","id":3,"method":"ping","params":{"n":99999999999999999999}}' \
		'{"jsonrpc":"2.0","id":4,"method":"ping","params":{"n":1,"n":2}}' \
		'{"jsonrpc":"2.0","id":5,"method":"ping","params":{}' '{"jsonrpc":"2.0","id":6,"method":"ping"}}' '[{"jsonrpc":"2.0","id":7,"method":"x\u0000"}]' \
		'{"jsonrpc":"2.0","id":8,"id":9,"method":"ping"}' '{"jsonrpc":"2.0","id":10,"result":"\u0000"}' '{"jsonrpc":"2.0","id":1.5,"method":"\u0000"}' \
		'{"jsonrpc":"2.0","id":12,"method":"ping"} x' '{"jsonrpc":"2.0","id":"\u0000","method":"ping"}' '{"jsonrpc":"2.0","id":13,"method":"ping"}' | served
	is 'map(.id)' '[1,"two",3,4,null,null,null,null,null,null,null,null,13]'
	is '.[:-1] | map(.error.code) | unique' '[-32700]'
	is '.[0].error.message | test("U\\+0000")' true
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
	is '.[0].result | [.supportedVersions, .capabilities, .resultType]' '[["2026-07-28","2025-11-25"],{"tools":{},"resources":{}},"complete"]'
	is '.[0].result._meta["io.modelcontextprotocol/serverInfo"].name' '"kz-mcp"'
	is '.[1].result | [.resultType, .cacheScope, (.tools | length)]' '["complete","private",7]'
	is '.[2:] | map(.error.code)' '[-32602,-32602,-32022,-32601,-32601,-32602]'
	is '.[4].error.data' '{"supported":["2026-07-28","2025-11-25"],"requested":"1900-01-01"}'
}

@test "2025-11-25: initialize first; whoever asks for another version is offered this one" {
	printf '%s\n' '{"jsonrpc":"2.0","id":1,"method":"tools/list"}' "$INIT" '{"jsonrpc":"2.0","id":2,"method":"tools/list"}' '{"jsonrpc":"2.0","id":3,"method":"server/discover"}' \
		'{"jsonrpc":"2.0","id":4,"method":"tools/list","params":{"cursor":"x"}}' "${INIT/2025-11-25/2024-11-05}" '{"jsonrpc":"2.0","id":5,"method":"initialize"}' \
		'{"jsonrpc":"2.0","id":6,"method":"prompts/list"}' | served
	is '.[0].error.code' -32602
	is '[.[1], .[5]] | map(.result.protocolVersion) | unique' '["2025-11-25"]'
	is '.[2].result | keys' '["tools"]'
	is '[.[3], .[4], .[6], .[7]] | map(.error.code)' '[-32601,-32602,-32602,-32601]'
}

@test "the table of tools: schemas are closed, and none has an identity" {
	printf '%s\n' '{"jsonrpc":"2.0","id":2,"method":"tools/list","params":{'"$META"'}}' | served
	is '.[0].result.tools | map(.name)' '["run_code","reset_kernel","read_file","edit_file","write_file","list_files","network_scope"]'
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
		'{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"run_code","arguments":{"code":"1","outputs":["x"],"approve":"1"}}}' \
		'{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"none"}}' \
		'{"jsonrpc":"2.0","id":6,"method":"tools/call","params":{"name":"run_code","arguments":[]}}' \
		'{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"run_code","arguments":{"code":"1","timeout_ms":0}}}' \
		'{"jsonrpc":"2.0","id":8,"method":"tools/call","params":{"name":"run_code","arguments":{"code":""}}}' \
		'{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"network_scope"}}' \
		'{"jsonrpc":"2.0","id":10,"method":"tools/call","params":{"name":"write_file","arguments":{"path":"a","text":"x"}}}' \
		'{"jsonrpc":"2.0","id":11,"method":"tools/call","params":{"name":"reset_kernel"}}' \
		'{"jsonrpc":"2.0","id":12,"method":"tools/call","params":{"name":"run_code","arguments":{"code":"1","files":[{"path":"a","text":"x"},{"path":"b","text":"x","mode":1}]}}}'
	is 'sort_by(.id) | map(select(.result.isError)) | map([.id, .result.structuredContent.reason])' \
		'[[1,"not_running"],[2,"not_running"],[3,"usage"],[4,"usage"],[6,"usage"],[7,"usage"],[8,"usage"],[9,"not_running"],[10,"not_running"],[11,"not_running"],[12,"usage"]]'
	is 'map(select(.id == 5))[0].error.code' -32602
	is 'map(select(.id == 3))[0].result.content[0].text | test("configuration")' true
}

@test "files that come with a call: wrong ones are refused in words, before anything starts" {
	local n=0 a
	local -a lines=()
	for a in '{"path":"a"}' '{"path":"a","text":"x","base64":"eA=="}' '{"path":"a","base64":"eA"}' '{"path":"a","base64":"e A=="}' '{"path":"a=b","text":"x"}' '{"path":"","text":"x"}' '{"text":"x"}'; do
		n=$((n + 1))
		lines+=('{"jsonrpc":"2.0","id":'"$n"',"method":"tools/call","params":{"name":"write_file","arguments":'"$a"'}}'
			'{"jsonrpc":"2.0","id":'"$((n + 100))"',"method":"tools/call","params":{"name":"run_code","arguments":{"code":"1","files":[{"path":"ok","text":""},'"$a"']}}}')
	done
	talk "$INIT" "${lines[@]}"
	is 'map(select(.result.isError).result.structuredContent.reason) | group_by(.) | map([.[0], length])' '[["path_rejected",2],["usage",12]]'
	is 'map(select(.id == 1 or .id == 101).result.structuredContent.text)' '["a: give either text or base64","a: give either text or base64"]'
	is 'map(select(.id == 5 or .id == 105).result.structuredContent.text | test("no =")) | all' true
	is 'map(select(.id == 106 or .id == 107).result.structuredContent.text)' '["files[1].path is empty","files[1].path is missing"]'
}

@test "resources: in both revisions there are none before a run; what is not there has its code" {
	printf '%s\n' "$INIT" '{"jsonrpc":"2.0","id":1,"method":"resources/list"}' '{"jsonrpc":"2.0","id":2,"method":"resources/read","params":{"uri":"file:///etc/passwd"}}' \
		'{"jsonrpc":"2.0","id":3,"method":"resources/templates/list"}' '{"jsonrpc":"2.0","id":4,"method":"resources/read","params":{"uri":{}}}' \
		'{"jsonrpc":"2.0","id":5,"method":"resources/list","params":{'"$META"'}}' '{"jsonrpc":"2.0","id":6,"method":"resources/read","params":{"uri":"file:///etc/passwd",'"$META"'}}' \
		'{"jsonrpc":"2.0","id":7,"method":"resources/list","params":{"cursor":"x",'"$META"'}}' '{"jsonrpc":"2.0","id":8,"method":"resources/subscribe","params":{"uri":"x"}}' | served
	is '[.[] | select(.id == 1 or .id == 3) | .result]' '[{"resources":[]},{"resourceTemplates":[]}]'
	is '.[] | select(.id == 5) | .result | [.resources, .ttlMs, .cacheScope, .resultType]' '[[],0,"private","complete"]'
	is '[.[] | select(.error) | [.id, .error.code]]' '[[2,-32002],[4,-32002],[6,-32602],[7,-32602],[8,-32601]]'
	is '.[] | select(.id == 6) | .error.data' '{"uri":"file:///etc/passwd"}'
}

@test "a client that asks faster than it reads is waited for: every answer comes, and little is held" {
	mkfifo in slow
	kz-mcp <in >slow 2>errors 3>&- &
	local pid=$!
	exec 8>in 9<slow
	for i in $(seq 3000); do echo '{"jsonrpc":"2.0","id":'"$i"',"method":"tools/list","params":{'"$META"'}}'; done >&8 &
	local writer=$!
	# as much as goes is asked: it reads no more until somebody reads
	sleep 2
	[ "$(awk '/VmHWM/ { print $2 }' "/proc/$pid/status")" -lt 65536 ]
	exec 8>&-
	jq -c .id <&9 >answers
	exec 9<&-
	wait "$writer" "$pid"
	[ "$(sort -n answers | uniq | wc -l)" = 3000 ]
}

@test "a reader that went is noticed with nothing to write, and the input still open" {
	mkfifo in
	{
		status=0
		timeout 60 kz-mcp <in || status=$?
		echo "$status" >status
	} 3>&- | true &
	exec 8>in
	wait
	exec 8>&-
	[ "$(cat status)" = 0 ]
}

@test "the end of input in the middle of a message is the end; a reader that is gone is, too" {
	printf '{"jsonrpc":"2.0","id":1,"method":"pi' | served
	is . '[]'
	# nobody reads: it ends by itself
	yes '{"jsonrpc":"2.0","id":1,"method":"ping"}' 2>/dev/null | timeout 60 kz-mcp | head -c 100 >first
	[ "${PIPESTATUS[1]}" -eq 0 ]
	[ -s first ]
}

@test "kz-mcp: a directory that cannot be made, and operands, are wrong" {
	run ! kz-mcp -d "$BATS_TEST_TMPDIR/gone/deeper" </dev/null
	[ "$status" -eq 66 ]
	: >file
	run ! kz-mcp -d file </dev/null
	[ "$status" -eq 66 ]
	run ! kz-mcp operand </dev/null
	[ "$status" -eq 64 ]
	# a name that no run would take is the configuration's fault, not the model's
	for name in '' $'a\nb' $'\xff' "$(printf %257s x)"; do
		run ! kz-mcp -C "$name" </dev/null
		[ "$status" -eq 64 ]
		run ! kz-mcp -A "$name" </dev/null
		[ "$status" -eq 64 ]
	done
	# only it is missing: it is made, for this user alone
	kz-mcp -d "$BATS_TEST_TMPDIR/fresh" </dev/null
	[ "$(stat -c %a fresh)" = 700 ]
}

# handed NAME AGE CONTENT: outputs as a run left them: a directory, a file f in it, and their mark, so many seconds old
handed() {
	mkdir -p out/.kz-mcp "out/$1/sub"
	chmod 700 out/.kz-mcp
	printf %s "$3" >"out/$1/f"
	printf %s "$3" >"out/$1/sub/g"
	mark "$1"
	touch -d "-$2 seconds" "out/.kz-mcp/$1"
}

# mark NAME: what kz-mcp writes of a run that has f and sub/g
mark() {
	stat -c '%i %s %Y' "out/$1" "out/$1/f" "out/$1/sub/g" | jq -Rnc '[inputs | split(" ") | map(tonumber)] as $s
		| {v: 1, type: "mcp_outputs", inode: $s[0][0], files: [$s[1:][] | {inode: .[0], bytes: .[1], mtime_ms: (.[2] * 1000)}]}
		| .files[0].name = "f" | .files[1].name = "sub/g"' >"out/.kz-mcp/$1"
}

# older: all marks but that of the newest
older() {
	find out/.kz-mcp -type f ! -name run-000000 -exec touch -d '-100 seconds' {} +
}

# settled: times as a mark has them, which the tests write without fractions
settled() {
	find out -name f -o -name g | while read -r f; do touch -d "@$(stat -c %Y "$f")" "$f"; done
}

@test "outputs without -d: what a server that was killed left goes with the next one; what is in use, and what is not its own, stays" {
	export TMPDIR=$BATS_TEST_TMPDIR/tmp
	mkdir -p own/build/bin "$TMPDIR"/{else,kz-outputs-left/deep,kz-outputs-used}
	echo secret >"$TMPDIR/kz-outputs-left/deep/o"
	echo kept | tee "$TMPDIR/kz-outputs-file" "$TMPDIR/else/f" "$TMPDIR/kz-outputs-used/f"
	ln -s else "$TMPDIR/kz-outputs-link"
	mkdir "$TMPDIR/kz-outputs-other"
	[ "$(id -u)" -ne 0 ] || chown 65534 "$TMPDIR/kz-outputs-other"
	exec 9<"$TMPDIR/kz-outputs-used"
	flock 9
	# a server under way, whose run does not end by itself
	cp "$(command -v kz-mcp)" own/build/bin
	ln -s "$BATS_TEST_DIRNAME/../../policy" own
	printf '#!/bin/sh\nexec sleep 300\n' >own/build/bin/kz-run
	chmod 755 own/build/bin/kz-run
	mkfifo in
	own/build/bin/kz-mcp <in >answers 2>errors 3>&- 9>&- &
	local pid=$! now
	exec 8>in
	printf '%s\n' "$INIT" '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"run_code","arguments":{"code":"1","outputs":["o"]}}}' >&8
	is_there() { now=$(find "$TMPDIR" -name 'kz-outputs-??????') && [ -d "$now" ]; }
	kz_wait 30 is_there
	[ ! -e "$TMPDIR/kz-outputs-left" ]
	kz-mcp </dev/null 8>&- 9>&-
	[ -d "$now" ]
	kill -KILL "$pid"
	exec 8>&-
	wait "$pid" || :
	kz-mcp </dev/null 9>&-
	[ ! -e "$now" ]
	# with a directory of its own it has none of these, and leaves them alone
	mkdir "$TMPDIR/kz-outputs-left"
	kz-mcp -d fresh </dev/null 9>&-
	[ -d "$TMPDIR/kz-outputs-left" ]
	cat "$TMPDIR"/{kz-outputs-file,else/f,kz-outputs-used/f}
	[ -L "$TMPDIR/kz-outputs-link" ]
	[ "$(id -u)" -ne 0 ] || [ -d "$TMPDIR/kz-outputs-other" ]
}

@test "outputs below -d: the oldest go by count, by bytes and by age, and the newest stays however large" {
	for i in 1 2 3 4; do handed "run-00000$i" $((100 * i)) 12345; done
	settled
	kz-mcp -d out </dev/null
	[ "$(find out -type f | wc -l)" = 12 ]
	kz-mcp -d out --keep-days 1 </dev/null
	[ "$(find out -type f | wc -l)" = 12 ]
	kz-mcp -d out --keep-runs 3 </dev/null
	[ "$(cd out && echo run-*)" = "run-000001 run-000002 run-000003" ]
	# 10 bytes each
	kz-mcp -d out --keep-bytes 20 </dev/null
	[ "$(cd out && echo run-*)" = "run-000001 run-000002" ]
	kz-mcp -d out --keep-bytes 1 </dev/null
	[ "$(cd out && echo run-*)" = run-000001 ]
	touch -d '-25 hours' out/.kz-mcp/run-000001
	kz-mcp -d out --keep-days 2 </dev/null
	[ -e out/run-000001 ]
	kz-mcp -d out --keep-days 1 </dev/null
	[ "$(find out | sort | tr '\n' ' ')" = "out out/.kz-mcp " ]
}

@test "outputs below -d: what kz-mcp did not write, or somebody changed, is never removed" {
	handed run-000000 0 newest
	for i in changed swapped added moved copied linked above twice; do handed "run-$i" 100 12345; done
	settled
	mkdir -p elsewhere/deep out/mine out/run-mine
	printf 12345 | tee elsewhere/deep/g elsewhere/f out/mine/f out/run-mine/f >/dev/null
	# another file, as long and as old
	cp -p out/run-swapped/f other
	mv other out/run-swapped/f
	printf 54321 >out/run-changed/f
	touch -d '+1 minute' out/run-changed/f
	: >out/run-added/own
	mv out/run-moved out/renamed
	# a copy under the name: other inodes
	cp -a out/run-copied copy
	rm -r out/run-copied
	mv copy out/run-copied
	# a link where a directory was: nothing behind it is touched
	rm -r out/run-linked/sub
	ln -s ../../elsewhere out/run-linked/sub
	touch -d "@$(stat -c %Y elsewhere/deep/g)" elsewhere/deep/g
	jq -c --argjson i "$(stat -c %i elsewhere/deep/g)" --argjson t "$(stat -c %Y000 elsewhere/deep/g)" '.files[1] |= (.name = "sub/deep/g" | .inode = $i | .mtime_ms = $t)' out/.kz-mcp/run-linked >m
	cat m >out/.kz-mcp/run-linked
	# a mark that leads out
	touch -d "@$(stat -c %Y out/mine/f)" out/mine/f
	jq -c --argjson i "$(stat -c %i out/mine/f)" --argjson t "$(stat -c %Y000 out/mine/f)" '.files[0] |= (.name = "../mine/f" | .inode = $i | .mtime_ms = $t)' out/.kz-mcp/run-above >m
	cat m >out/.kz-mcp/run-above
	# a mark that is a link to a file of ours
	rm out/.kz-mcp/run-twice
	echo precious >precious
	ln -s "$PWD/precious" out/.kz-mcp/run-twice
	older
	kz-mcp -d out --keep-runs 1 </dev/null
	[ -e out/run-000000/sub/g ]
	[ "$(cat out/run-changed/f)" = 54321 ]
	[ -e out/run-added/own ]
	[ ! -e out/run-added/f ]
	[ -e out/renamed/f ]
	[ -e out/run-copied/f ]
	[ -e elsewhere/deep/g ]
	[ -e out/run-swapped/f ]
	[ -e elsewhere/f ]
	[ -e out/mine/f ]
	[ -e out/run-mine/f ]
	[ -e out/run-twice/f ]
	[ "$(cat precious)" = precious ]
	# what was as it was written is gone, where it stood beside something else too
	[ ! -e out/run-changed/sub/g ]
	[ ! -e out/run-above/sub/g ]
}

@test "outputs below -d: one that is being written stays; a mark that is cut names nothing" {
	handed run-000000 0 newest
	for i in busy cut empty; do handed "run-$i" 100 12345; done
	settled
	head -c 30 out/.kz-mcp/run-cut >m
	cat m >out/.kz-mcp/run-cut
	rm -r out/run-empty/*
	: >out/.kz-mcp/run-empty
	older
	exec 9<out/.kz-mcp/run-busy
	flock 9
	kz-mcp -d out --keep-runs 1 </dev/null 9>&-
	[ -e out/run-busy/f ]
	[ -e out/.kz-mcp/run-busy ]
	[ -e out/run-cut/f ]
	[ ! -e out/run-empty ]
	exec 9>&-
	kz-mcp -d out --keep-runs 1 </dev/null
	[ ! -e out/run-busy ]
}

@test "outputs below -d: a directory of marks that somebody else can write is refused" {
	mkdir out elsewhere
	ln -s ../elsewhere out/.kz-mcp
	run ! kz-mcp -d out </dev/null
	[ "$status" -eq 73 ]
	[[ "$output" == *output_uncreatable* ]]
	rm out/.kz-mcp
	mkdir -m 777 out/.kz-mcp
	chmod 777 out/.kz-mcp
	run ! kz-mcp -d out </dev/null
	[ "$status" -eq 73 ]
	chmod 755 out/.kz-mcp
	kz-mcp -d out </dev/null
}
