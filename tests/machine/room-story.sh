#!/usr/bin/env bash
# room-story DIR: a story of two people in a chat, played with kz-room, kz-run and kz on a stack that is up.
#
# DIR is the chat's place: chat.db, and keys, which has to be the stack's KZ_APP_KEYS_FILE; both are made where they
# are missing. Nothing is judged here: each run leaves NAME.jsonl (what kz-run -j said), NAME.rec (the record) and NAME.txt
# (what the program inside the worker printed), each NAME.link what kz-room outputs answered, and its exit status.
# Exit: 0 played to its end, 64 usage, else that of the command that failed.
set -euo pipefail
[ $# -eq 1 ] || { echo "usage: room-story DIR" >&2 && exit 64; }
cd "$1"
export KZ_ROOM_DB=$PWD/chat.db

say() { printf '\n%s\n' "$*"; }

# file MEMBER NAME TEXT: a file in the library of a member; prints its document
file() {
	printf '%s\n' "$3" >"$2"
	kz-room upload "$1" "$2" | jq -r .document.id
}
turn() { kz-room turn "$@" | jq -r .turn; }

# play NAME TURN ARG...: kz-run in this turn, as the application would call it
play() {
	local name=$1 turn=$2 status=0
	shift 2
	mkdir "$name.d"
	kz-room scope "$turn" >"$name.scope"
	kz-run -j --scope "$name.scope" --documents chat.db.docs --audience "$audience" -d "$name.d" "$@" \
		</dev/null >"$name.jsonl" 2>"$name.err" || status=$?
	tail -n 1 "$name.jsonl" >"$name.rec"
	jq -rj 'select(.type == "output" and .stream == "stdout") | .text' "$name.jsonl" >"$name.txt"
	printf '%s: exit status %s, %s\n' "$name" "$status" \
		"$(jq -r '[.outcome, .reason, .projection.withheld.reason // empty] | map(select(.)) | join(", ")' "$name.rec")"
	sed 's/^/    | /' "$name.txt"
}

# give NAME TURN: the outputs of that run go to the room
give() {
	local status=0
	kz-room outputs -d "$1.d" "$2" <"$1.jsonl" >"$1.link" 2>"$1.link.err" || status=$?
	echo "$status" >"$1.link.status"
	printf '%s: the outputs are %s\n' "$1" "$(jq -r .status "$1.link")"
}

# What every reader runs: the files that the manifest names, by the name of their path.
cat >read.py <<'PY'
import json, os
for e in json.loads(os.environ["KAIZEN_SHARED_RESOURCES_MANIFEST"]):
    print(os.path.basename(e["path"]), e["filename"], "version", e["version"], "is", open(e["path"]).read().strip())
PY
# Code that must not run would leave this behind: text, a file of the workspace, and an output.
cat >canary.py <<'PY'
print("canary")
open("canary", "w").write("ran")
PY
# Somebody joins at the last moment: when the live audience is asked for, before it answers.
cat >joins.sh <<'SH'
kz-room join "$1" ben >/dev/null
exec kz-room audience "$1"
SH

[ -e chat.db ] || kz-room init | jq -r .key >keys
for member in ana ben; do kz-room member $member; done >people
for room in talk quiet secret; do kz-room create $room ana; done >>people

say "1. ana is alone in the room talk. plan.txt is linked; diary.txt is her private selection."
audience="cmd:kz-room audience talk"
diary=$(file ana diary.txt "a secret")
kz-room link talk "$(file ana plan.txt "a plan")" ana >>people
kz-room select talk ana "$diary" >>people
play alone "$(turn talk ana)" read.py

say "2. ben joins between the admission of the turn and the moment at which files are read."
audience="cmd:sh joins.sh talk"
play joined "$(turn talk ana)" read.py
say "   The same in the room quiet, which has no file of its own: code that asks for files is refused, other code runs."
kz-room select quiet ana "$diary" >>people
turn=$(turn quiet ana)
audience="cmd:sh joins.sh quiet"
play refused "$turn" -o canary -c "$(cat canary.py read.py)"
audience="cmd:kz-room audience quiet"
play unasked "$turn" -c 'print(6 * 7)'

say "3. ben links notes.txt after ana's turn was admitted."
audience="cmd:kz-room audience talk"
turn=$(turn talk ana)
kz-room link talk "$(file ben notes.txt "some notes")" ben >>people
play foreign "$turn" -o canary canary.py

say "4. ana's run makes report.txt, which is linked. It does not stop the turn, and is a file of the next one."
turn=$(turn talk ana)
play makes "$turn" -o report.txt -c 'open("report.txt", "w").write("first report"); print("made")'
give makes "$turn"
play again "$turn" -c "$(cat read.py)
print('in the workspace:', open('report.txt').read())"
play next "$(turn talk ana)" read.py
play other "$(turn talk ben)" -c "$(cat read.py)
print('in the workspace:', os.path.exists('report.txt'))"

say "5. ana's run makes report.txt anew. The turn that was admitted with the old one has ended with that."
turn=$(turn talk ana)
play revises "$turn" -o report.txt -c 'open("report.txt", "w").write("second report"); print("made")'
give revises "$turn"
play revised "$turn" -o canary canary.py

say "6. The next turn, here ben's, has both."
play both "$(turn talk ben)" read.py

say "7. In the room secret two runs see ana's diary while she is alone. Then ben joins, and what they made is held."
audience="cmd:kz-room audience secret"
kz-room select secret ana "$diary" >>people
accepted=$(turn secret ana)
copies='import json, os, sys
e = json.loads(os.environ["KAIZEN_SHARED_RESOURCES_MANIFEST"])[0]
open(sys.argv[1], "w").write("from " + open(e["path"]).read())
print("copied")'
play accepted "$accepted" -o one.txt -c "$copies" one.txt
dropped=$(turn secret ana)
play dropped "$dropped" -o two.txt -c "$copies" two.txt
kz-room join secret ben >>people
give accepted "$accepted"
give dropped "$dropped"
play held "$(turn secret ben)" -c "print('asks for nothing')"
kz-room audience secret >held.audience

say "8. ana accepts one and drops the other."
kz-room outputs --accept "$accepted" >accept.link
kz-room outputs --drop "$dropped" >drop.link
play decided "$(turn secret ben)" read.py

say "The end."
