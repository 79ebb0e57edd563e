#!/usr/bin/env bats
# The shims of kernels killed before, failing at and interrupted in each system call on the files of the state: the state
# before or the one after, whole; the report says which; the next cell leaves nothing behind.
# shellcheck disable=SC2154 # setup sets the variables
bats_require_minimum_version 1.5.0

setup() {
	cd "$BATS_TEST_DIRNAME/../.." || return 1
	space=$BATS_TEST_TMPDIR/space base=$BATS_TEST_TMPDIR/base trace=$BATS_TEST_TMPDIR/trace
	mkdir "$space"
	count=0
}

# cells LANGUAGE TEXT: the answers on stdout
cells() { tests/tool/cells.py "$1" "$space" <<<"$2"; }

# traced INJECTION: run cells under strace, which counts only calls on the files of the state
traced() {
	local file under="strace -qq -o $trace"
	for file in .json .json.new .0.pkl .1.pkl -node.json -node.json.new; do
		under+=" -P $space/.kz-kernel$file"
	done
	CELLS_UNDER="$under -e inject=$1" cells "$language" "$change"
}

# was_hit: did the call come in which it was to happen?
was_hit() { grep -qE 'killed by SIGKILL|INJECTED|--- SIGALRM' "$trace"; }

# holds ANSWER: what the next cell reads is one of the two states, the one that the report tells
holds() {
	local next is told
	next=$(cells "$language" "$read")
	is=$(jq -r .out <<<"$next")
	told=$(jq -r '.report.status // "none"' <<<"$1")
	case "$told $is" in
	"none $before" | "none $after" | "saved $after" | "kept_previous $before") ;;
	*) return 1 ;;
	esac
	jq -e '.report | .status == "saved" and (.damaged | not) and .restore_lost == []' <<<"$next" >/dev/null || return 1
	[ "$(find "$space" -type f | wc -l)" -eq "$files" ]
}

# walk HOW CALLS[:FIRST]...: from call FIRST on, until it comes no more
walk() {
	local how=$1 calls n answer
	shift
	cells "$language" "$begin" >/dev/null
	cp -a "$space" "$base"
	for calls in "$@"; do
		n=1
		[[ $calls != *:* ]] || n=${calls#*:}
		for ((; ; n++)); do
			rm -rf "$space"
			cp -a "$base" "$space"
			answer=$(traced "${calls%:*}:$how:when=$n")
			holds "$answer" || {
				echo "$how at call $n of ${calls%:*}: $answer"
				cat "$trace"
				find "$space" -type f -exec head -c 400 {} +
				return 1
			}
			was_hit || break
			count=$((count + 1))
		done
	done
	echo "$count points"
	[ "$count" -ge "$least" ]
}

python() {
	language=python files=2
	begin='class Point:
    made = "before"
def said(): return word
word, l, p, many = "before", ["before"], Point(), ["before"] * 20000
alias, p.at = l, "before"'
	change='word, l[0], p.at, Point.made, many = "after", "after", "after", "after", ["after"] * 20000
import signal
def late(*_): raise TimeoutError
signal.signal(signal.SIGALRM, late)'
	# shellcheck disable=SC2089 # it is no command
	read='print(word, said(), l, alias is l, p.at, Point.made, many.count(word))'
	before="before before ['before'] True before before 20000"
	after="after after ['after'] True after after 20000"
}

node() {
	language=node files=1
	begin='state.word = "before"; state.l = ["before"]; state.many = Array(20000).fill("before")'
	change='state.word = state.l[0] = "after"; state.many.fill("after"); process.on("SIGALRM", () => { throw new Error("late") })'
	read='console.log(state.word, state.l[0], state.many.filter((x) => x === state.word).length)'
	before="before before 20000"
	after="after after 20000"
}

WRITES='?write,?pwrite64,?writev' RENAMES='?rename,?renameat,?renameat2' REMOVALS='?unlink,?unlinkat'

@test "KRN-3 KRN-15 Python: killed before each call on its files, a cell leaves the state before or the state after" {
	python
	least=13 walk signal=KILL openat "$WRITES" fsync close "$RENAMES" "$REMOVALS"
}

@test "KRN-3 KRN-8 Python: a call on its files that fails leaves one of the two, and the report says which" {
	python
	least=8 walk error=EIO openat:3 "$WRITES" fsync close:3 "$RENAMES" "$REMOVALS"
}

@test "KRN-3 KRN-15 Python: a handler that a cell left and that raises in a call on its files breaks neither" {
	python
	least=8 walk signal=ALRM openat "$WRITES" fsync close "$RENAMES" "$REMOVALS"
}

@test "KRN-4 KRN-15 Node: killed before each call on its file, a cell leaves the state before or the state after" {
	node
	least=7 walk signal=KILL openat "$WRITES" fsync close "$RENAMES"
}

@test "KRN-4 KRN-8 Node: a call on its file that fails leaves one of the two, and the report says which" {
	node
	least=5 walk error=EIO openat:2 "$WRITES" fsync close:2 "$RENAMES"
}
