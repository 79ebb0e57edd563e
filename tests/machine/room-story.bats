#!/usr/bin/env bats
# Two people and a room, with the real programs on a real stack: the story of room-story.sh, judged by what the program
# inside the worker printed; and every field of a capability, altered or gone.
# shellcheck disable=SC2154 # status and output are set by run
bats_require_minimum_version 1.5.0
load ../kz

setup_file() {
	export DIR=$BATS_FILE_TMPDIR KZ_ROOM_DB=$BATS_FILE_TMPDIR/chat.db TOOL=$BATS_TEST_DIRNAME/../tool
	KZ_BIN=$(kz_bin_dir)
	"$KZ_BIN/kz-room" init | jq -r .key >"$DIR/keys"
	kz_start SANDBOX_WARM_POOL_MIN=1 KZ_APP_KEYS_FILE="$DIR/keys"
	"$BATS_TEST_DIRNAME/room-story.sh" "$DIR" >"$DIR/told" 2>&1 || {
		cat "$DIR/told" "$DIR"/*.err
		return 1
	}
}
teardown_file() { kz_stop; }

setup() { cd "$DIR" || return 1; }

# printed NAME TEXT: what the program of that run printed, and that it ended well
printed() {
	[ "$(cat "$1.txt")" = "$2" ] && [ "$(jq -r .outcome "$1.rec")" = completed ] && return
	echo "$1 printed: $(cat "$1.txt")"
	cat "$1.rec" "$1.err"
	return 1
}

# refused NAME REASON: no code ran: nothing printed, no process, no file of it
refused() {
	[ ! -s "$1.txt" ] && [ ! -e "$1.d/canary" ] && is "$1" .reason "$2" && is "$1" .not_run.reason "$2" &&
		is "$1" .cause null && is "$1" '.outputs | length' 0
}

is() {
	local got
	got=$(jq -cr "$2" "$1.rec")
	[ "$got" = "$3" ] || {
		echo "$1: $2 is $got, not $3"
		return 1
	}
}

@test "PRJ-16 PRJ-19 PRJ-21: alone in a room, a run sees the room's file and then the member's own selection" {
	printed alone "plan.txt plan.txt version 1 is a plan
diary.txt diary.txt version 1 is a secret"
	is alone .private_selection true
}

@test "PRJ-23 PRJ-24 PRJ-26 PRJ-33: somebody joins between admission and load: the selection is withheld, the room's file is shown" {
	printed joined "plan.txt plan.txt version 1 is a plan"
	is joined .private_selection false
	is joined .projection.withheld.event run_code.private_selection_withheld
	is joined .projection.withheld.reason resource_audience_changed
	run grep -c 'a secret' joined.jsonl
	[ "$output" = 0 ]
}

@test "PRJ-30 PRJ-31: where the room has no file, code that asks is refused for that, and other code of the same turn runs" {
	refused refused resource_audience_changed
	printed unasked 42
	is unasked .projection.withheld.reason resource_audience_changed
}

@test "PRJ-42: somebody else's file linked after the admission stops the run before its code" {
	refused foreign resource_room_changed
}

@test "OUT-9 OUT-15 PRJ-35 to PRJ-38: the turn's own output is linked, does not stop the turn, and is no file of it" {
	[ "$(cat makes.link.status)" = 0 ]
	[ "$(jq -r .status makes.link)" = linked ]
	[ "$(jq -r '.documents[0].sha256' makes.link)" = "$(printf 'first report' | sha256sum | cut -d' ' -f1)" ]
	printed again "plan.txt plan.txt version 1 is a plan
notes.txt notes.txt version 1 is some notes
in the workspace: first report"
}

@test "PRJ-37 PRJ-43 PRJ-45: the next turn has it, another member's too, whose workspace is another one" {
	printed next "plan.txt plan.txt version 1 is a plan
notes.txt notes.txt version 1 is some notes
report.txt report.txt version 1 is first report"
	printed other "$(cat next.txt)
in the workspace: False"
}

@test "PRJ-39: a new version of an admitted file ends the turn, also one that the turn made itself" {
	printed revises made
	[ "$(jq -r .status revises.link)" = linked ]
	refused revised resource_updated_in_turn
}

@test "PRJ-3 PRJ-40: the next turn has both versions, under two names" {
	printed both "plan.txt plan.txt version 1 is a plan
notes.txt notes.txt version 1 is some notes
report.txt report.txt version 1 is first report
2-report.txt 2-report.txt version 2 is second report"
}

@test "PRJ-52 PRJ-53 OUT-14: what was computed from a selection is held when the member is not alone any more" {
	printed accepted copied
	is accepted '.outputs[0].derived_private' true
	for name in accepted dropped; do
		[ "$(cat $name.link.status)" = 75 ]
		[ "$(jq -r .status $name.link)" = held ]
		grep -q link_not_sole $name.link.err
	done
	[ "$(jq '.links | length' held.audience)" = 0 ]
	printed held "asks for nothing"
	is held .projection.count 0
}

@test "PRJ-52: what the member accepts is linked, what it drops is not" {
	printed decided "one.txt one.txt version 1 is from a secret"
	[ "$(jq -r .status accept.link drop.link | paste -sd ' ')" = "linked dropped" ]
}

@test "OUT-15: the links of the room have turn, member and position of the runs that made them" {
	kz-room audience talk >now
	[ "$(jq -c '[.links[] | select(.turn | startswith("turn-")) | [.turn, .member]]' now)" = "$(jq -c '[.turn, "ana"]' makes.link revises.link | jq -cs .)" ]
	jq -se '.[0].admission_position as $admitted | .[1].links | map(select(.turn | startswith("turn-")) | .position > $admitted) == [true, true]' \
		makes.scope now
}

@test "OUT-15: outputs are taken by the turn whose run made them, and by no other" {
	other=$(kz-room turn talk ben | jq -r .turn)
	before=$(kz-room audience talk | jq '.links | length')
	run kz-room outputs -d makes.d "$other" <makes.jsonl
	echo "$output"
	[ "$status" -ne 0 ]
	[ "$(kz-room audience talk | jq '.links | length')" = "$before" ]
}

# tried SCOPE: the canary's run under that document; what the program printed, and the record in tried.rec
tried() {
	rm -rf tried.d
	mkdir tried.d
	kz-run -j --scope "$1" --documents chat.db.docs --audience 'cmd:kz-room audience alone' -d tried.d -o canary canary.py \
		</dev/null >tried.jsonl 2>tried.err || true
	tail -n 1 tried.jsonl >tried.rec
	jq -rj 'select(.type == "output") | .text' tried.jsonl >tried.txt
}

@test "PRJ-46: under a held lease of another conversation or member a scope is refused, and shows it no file" {
	kz-room create apart ana
	kz-room link apart "$(kz-room upload ana plan.txt | jq -r .document.id)" ana
	kz-room scope "$(kz-room turn apart ana | jq -r .turn)" >apart.json
	apart() {
		run --separate-stderr kz-lease with -A "$1" -C "$2" -- kz-run --scope apart.json --documents chat.db.docs \
			--audience 'cmd:kz-room audience apart' read.py </dev/null
		echo "$output $stderr"
	}
	apart ana elsewhere
	[ "$status" -eq 125 ]
	[ -z "$output" ]
	[[ $stderr == *lease_mismatch* ]]
	apart ben apart
	[ "$status" -eq 125 ]
	[ -z "$output" ]
	[[ $stderr == *lease_mismatch* ]]
	apart ana apart
	[ "$output" = "plan.txt plan.txt version 1 is a plan" ]
}

# started: how many programs the audit store saw start
started() { kz-audit list -j -k dispatch | wc -l; }

@test "EXEC-19 PRJ-34 PRJ-46: every field of the capability altered or gone: no code starts, in no worker, and nothing is kept" {
	local reason name document before count=0
	kz-room create alone ana
	kz-room link alone "$(kz-room upload ana plan.txt | jq -r .document.id)" ana
	kz-room scope "$(kz-room turn alone ana | jq -r .turn)" >scope.json
	od -An -tx1 chat.db.key | tr -d ' \n' >seed
	python3 "$TOOL/resign.py" seed <scope.json >changes
	before=$(started)
	while IFS=$'\t' read -r reason name document; do
		[ "$reason" != none ] || continue
		printf '%s\n' "$document" >changed.json
		tried changed.json
		refused tried "$reason" || {
			echo "$name"
			cat tried.jsonl tried.err
			return 1
		}
		count=$((count + 1))
	done <changes
	[ "$count" -eq $(($(wc -l <changes) - 1)) ]
	[ "$count" -gt 50 ]
	[ "$(started)" -eq "$before" ]
	run kz-workspace list -A ana -C alone
	[[ $output != *canary* ]]
	# the same, signed in the same way and unchanged, does start
	head -n 1 changes | cut -f3 >changed.json
	tried changed.json
	printed tried canary
	[ "$(cat tried.d/canary)" = ran ]
	[ "$(started)" -eq $((before + 1)) ]
	kz-workspace list -A ana -C alone | grep canary
}
