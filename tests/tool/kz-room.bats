# kz-room against kz-project, without a stack: whole stories of a chat, decided by the programs.
# shellcheck disable=SC2154 # run sets the variables
bats_require_minimum_version 1.5.0

setup() {
	BIN=${KZ_BIN:-$(cd "$BATS_TEST_DIRNAME/../../build/bin" && pwd)}
	SCHEMA=$BATS_TEST_DIRNAME/../schema.py
	PATH=$BIN:$PATH
	cd "$BATS_TEST_TMPDIR" || return 1
	export KZ_STATE=$PWD/none KZ_ROOM_DB=$PWD/room.db
	kz-room init >init.json
	jq -r .key init.json >keys
	kz-room member ana >all
	kz-room member ben >>all
	kz-room create talk ana >>all
	echo 'import os; os.environ["KAIZEN_SHARED_RESOURCES_DIR"]' >asks.py
	echo 'print(1)' >plain.py
}

# upload MEMBER NAME BYTES [OPTION...]: a new file of so many bytes; prints its document
upload() {
	local member=$1 name=$2 bytes=$3
	shift 3
	head -c "$bytes" /dev/zero | tr '\0' "${name:0:1}" >"$name"
	kz-room upload "$@" "$member" "$name" | tee -a all | jq -r .document.id
}
turn() { kz-room turn "$@" | tee -a all | jq -r .turn; }

# decided TURN CODE [ROOM]: what a run of this code in this turn would see; sets status and decision
decided() {
	kz-room scope "$1" >scope.json
	cat scope.json >>all
	run --separate-stderr kz-project resolve -j -k keys -f "$2" -a "cmd:kz-room audience ${3:-talk}" <scope.json
	decision=$(head -n 1 <<<"$output")
}
reason_is() {
	[ "$(jq -r .reason <<<"$decision")" = "$1" ] || {
		echo "not $1: $decision; $stderr"
		return 1
	}
}
files_are() { [ "$(jq -r '[.files[].path | ltrimstr("/work/shared/")] | join(" ")' <<<"$decision")" = "$1" ]; }

@test "PRJ-16 PRJ-19 PRJ-54 a chat of one: linked files first, then the member's own selection; what is printed fits its schemas" {
	kz-room link talk "$(upload ana one.txt 4)" ana >>all
	kz-room select talk ana "$(upload ana mine.txt 5)" >>all
	decided "$(turn talk ana)" plain.py
	reason_is null
	files_are 'one.txt mine.txt'
	[ "$(jq .private_selection <<<"$decision")" = true ]
	kz-room audience talk >>all
	kz-room journal talk >>all
	cat init.json >>all
	[ "$(kz-room audience talk | jq -c '[.links[].id]')" = '["doc-2"]' ] # PRJ-18: a selection is no link
	python3 "$SCHEMA" --expect room_key --expect room_change --expect room_document --expect room_turn \
		--expect scope_document --expect audience --expect room_journal <all
}

@test "PRJ-23 PRJ-24 PRJ-26 PRJ-30 PROJ-12 somebody joins, through a Project too: the selection is withheld, or the run refused when it had nothing else" {
	kz-room project crew ana
	kz-room create --project crew plan ana
	kz-room select plan ana "$(upload ana mine.txt 5)"
	local turn
	turn=$(turn plan ana)
	decided "$turn" plain.py plan
	files_are mine.txt
	kz-room project crew ben
	decided "$turn" plain.py plan
	reason_is null
	files_are ''
	[ "$(jq -r .withheld.reason <<<"$decision")" = resource_audience_changed ]
	decided "$turn" asks.py plan
	reason_is resource_audience_changed
	[ "$status" -eq 75 ]
	# who left and came back is another audience all the same
	kz-room project --leave crew ben
	decided "$turn" asks.py plan
	reason_is resource_audience_changed
	# a turn that began with two never considers it [PRJ-25]
	kz-room project crew ben
	decided "$(turn plan ana)" asks.py plan
	reason_is resource_none
}

@test "PRJ-28 PRJ-30 PRJ-31 every reason of a selection that cannot be shown, and none for code that asks for nothing" {
	local want document turn
	document=$(upload ana mine.txt 5)
	kz-room select talk ana "$document"
	for want in processing:resource_not_ready failed:resource_failed unreadable:resource_unavailable; do
		kz-room state "$document" "${want%%:*}"
		turn=$(turn talk ana)
		decided "$turn" asks.py
		reason_is "${want#*:}"
		decided "$turn" plain.py
		reason_is null
		files_are ''
	done
	kz-room select talk ana "$(upload ben theirs.txt 5)" # PRJ-20: foreign
	decided "$(turn talk ana)" asks.py
	reason_is resource_unavailable
	[[ $output != *theirs.txt* ]]
	kz-room select talk ana "$(upload ana huge.bin 8388609)"
	decided "$(turn talk ana)" asks.py
	reason_is resource_over_bytes
	# shellcheck disable=SC2046 # one word a document
	kz-room select talk ana $(for i in $(seq 21); do upload ana "f$i" 1; done)
	decided "$(turn talk ana)" asks.py
	reason_is resource_over_count
}

@test "PRJ-2 PRJ-21 PRJ-29 room and selection together over the bound: the room's files stay, the selection goes as a whole" {
	kz-room link talk "$(upload ana big.bin 8388608)" ana
	kz-room select talk ana "$(upload ana mine.txt 1)"
	decided "$(turn talk ana)" asks.py
	reason_is null
	files_are big.bin
	[ "$(jq -r '.withheld.event' <<<"$decision")" = sandbox.private_selection_withheld ]
}

@test "PRJ-11 PRJ-13 PRJ-14 PRJ-47 a private chat: the whole attachment scope, and one id too many refuses all" {
	local one two
	kz-room create --private mine ana
	one=$(upload ana one.txt 4)
	kz-room link mine "$one" ana
	decided "$(turn mine ana)" plain.py mine
	reason_is null
	files_are one.txt
	two=$(upload ana two.txt 4)
	decided "$(turn --retrieved "$two" mine ana)" plain.py mine
	files_are 'one.txt two.txt'
	decided "$(turn mine ana)" plain.py mine # for that turn only
	files_are one.txt
	decided "$(turn --request "$(upload ben theirs.txt 3)" mine ana)" plain.py mine
	reason_is resource_unavailable
	[[ $output != *theirs.txt* ]]
	kz-room state "$one" processing
	decided "$(turn mine ana)" plain.py mine
	reason_is resource_not_ready
	kz-room state "$one" failed
	decided "$(turn mine ana)" plain.py mine
	reason_is resource_failed
}

# record TURN NAME...: what kz-run says of a run of ana in this turn with these outputs
record() {
	local name turn=$1
	shift
	for name in "$@"; do
		jq -n --arg name "$name" --arg turn "$turn" --arg sha256 "$(sha256sum <"$name" | cut -d' ' -f1)" '{$name, $sha256, $turn, member: "ana"}'
	done | jq -cs --argjson private "${PRIVATE:-false}" --argjson derived "${DERIVED:-${PRIVATE:-false}}" \
		'{v: 1, type: "record", private_selection: $private, outputs: map(.derived_private = $derived)}'
}

@test "OUT-9 OUT-15 PRJ-35 to PRJ-42 own output is linked and does not stop the turn, a foreign file does; a revision refuses, and both versions come next turn" {
	local first second
	kz-room join talk ben
	first=$(turn talk ana)
	echo 1 >report.txt
	record "$first" report.txt | kz-room outputs "$first" >out.json
	python3 "$SCHEMA" --expect room_outputs <out.json
	[ "$(jq -r .status out.json)" = linked ]
	[ "$(kz-room audience talk | jq -c '.links[] | [.turn, .member]')" = "[\"$first\",\"ana\"]" ]
	decided "$first" plain.py # PRJ-37
	reason_is null
	files_are ''
	second=$(turn talk ana)
	decided "$second" plain.py
	files_are report.txt
	echo 2 >report.txt
	record "$second" report.txt | kz-room outputs "$second" >/dev/null
	decided "$second" plain.py # PRJ-39
	reason_is resource_updated_in_turn
	decided "$(turn talk ben)" plain.py # PRJ-40, PRJ-45
	reason_is null
	[ "$(jq -c '[.files[].version] | sort' <<<"$decision")" = '["1","2"]' ]
	[ "$(jq -r '[.files[].path] | unique | length' <<<"$decision")" = 2 ]
	first=$(turn talk ana)
	kz-room link talk "$(upload ben notes.txt 3)" ben
	decided "$first" plain.py # PRJ-42
	reason_is resource_room_changed
	kz-room leave talk ana
	decided "$first" plain.py
	reason_is member_inactive
	run kz-room turn talk ana
	[ "$status" -eq 77 ]
}

@test "PRJ-52 PRJ-53 OUT-14 what a private selection went into is held when the member is not alone any more, until the member decides" {
	local turn
	turn=$(turn talk ana)
	kz-room join talk ben
	echo x >out.txt
	PRIVATE=true record "$turn" out.txt >record
	run kz-room outputs "$turn" <record
	[ "$status" -eq 75 ]
	[[ $output == *'"status":"held","derived_private":true'* ]]
	[[ $output == *link_not_sole* ]]
	[ "$(kz-room audience talk | jq '.links | length')" = 0 ]
	run kz-room outputs --accept --drop "$turn"
	[ "$status" -eq 64 ]
	kz-room outputs --drop "$turn" | grep '"status":"dropped"'
	[ "$(kz-room audience talk | jq '.links | length')" = 0 ]
	run kz-room outputs --accept "$turn"
	[ "$status" -eq 66 ]
	kz-room outputs "$turn" <record || [ $? -eq 75 ]
	kz-room outputs --accept "$turn" | grep '"status":"linked"'
	[ "$(kz-room audience talk | jq '.links | length')" = 1 ]
	# so is what a later run made that saw none, and may have found a copy in the workspace
	DERIVED=true record "$turn" out.txt >record
	run kz-room outputs "$turn" <record
	[ "$status" -eq 75 ]
	[[ $output == *'"status":"held","derived_private":true'* ]]
	kz-room outputs --drop "$turn" | grep '"status":"dropped"'
	# a run that saw none is linked at once
	record "$turn" out.txt | kz-room outputs "$turn" | grep '"status":"linked"'
}

@test "PRJ-53 who lets somebody in is warned of what private selections went into, before and when it is shared" {
	local turn
	kz-room project p ana
	kz-room create --project p filed ana
	for room in talk filed; do
		turn=$(turn $room ana)
		echo $room >plain.txt
		record "$turn" plain.txt | kz-room outputs "$turn"
		kz-room join -n $room ben 2>warning | jq -e '.what == "would_join" and .derived_private == []'
		[ ! -s warning ]
		echo $room >$room.txt
		PRIVATE=true record "$turn" $room.txt | kz-room outputs "$turn" | jq -r '.documents[].id' >$room.id
		kz-room join -n $room ben 2>warning >line
		python3 "$SCHEMA" --expect room_change <line
		jq -e --arg id "$(cat $room.id)" '.derived_private == [$id]' line
		grep 'warning: .*private selection.* files=1' warning
		[ "$(kz-room audience $room | jq -c .roster)" = '["ana"]' ]
	done
	kz-room join talk ben 2>warning | jq -e --arg id "$(cat talk.id)" '.what == "join" and .derived_private == [$id]'
	grep warning: warning
	[ "$(kz-room audience talk | jq -c .roster)" = '["ana","ben"]' ]
	kz-room project p ben 2>warning >line
	python3 "$SCHEMA" --expect room_change <line
	jq -e --arg id "$(cat filed.id)" '.what == "project_join" and .derived_private == [$id]' line
	grep warning: warning
	kz-room leave talk ben | jq -e 'has("derived_private") | not'
}

@test "OUT-9 an output that is not the one of the record, or not there, is not taken, nor is any other of that run" {
	local turn
	turn=$(turn talk ana)
	echo a >a
	echo b >b
	record "$turn" a b >record
	echo c >b
	run kz-room outputs "$turn" <record
	[ "$status" -eq 77 ]
	rm b
	run kz-room outputs "$turn" <record
	[ "$status" -ne 0 ]
	run kz-room outputs "$turn" </dev/null
	[ "$status" -eq 65 ]
	# nor is what another turn, another member or a run without a scope made [OUT-15]
	record turn-99 a >record
	run kz-room outputs "$turn" <record
	[ "$status" -eq 65 ]
	record "$turn" a | jq -c '.outputs[0].member = "ben"' >record
	run kz-room outputs "$turn" <record
	[ "$status" -eq 65 ]
	record "$turn" a | jq -c '.outputs[0] |= (.turn = null | .member = null)' >record
	run kz-room outputs "$turn" <record
	[ "$status" -eq 65 ]
	[ "$(kz-room audience talk | jq '.links | length')" = 0 ]
	# a record that does not say what the run saw is one that saw a selection
	kz-room join talk ben
	record "$turn" a | jq -c 'del(.private_selection)' >record
	run kz-room outputs "$turn" <record
	[ "$status" -eq 75 ]
	kz-room outputs --drop "$turn"
	record "$turn" a | jq -c 'del(.outputs[].derived_private)' >record
	run kz-room outputs "$turn" <record
	[ "$status" -eq 75 ]
}

@test "EXEC-19 PRJ-46 each claim of a capability that is altered or gone refuses, as does a capability of another turn or key" {
	local field other
	kz-room link talk "$(upload ana one.txt 4)" ana
	other=$(turn talk ana)
	kz-room scope "$other" >other.json
	kz-room scope "$(turn talk ana)" >scope.json
	kz-project resolve -k keys -a 'cmd:kz-room audience talk' <scope.json
	for field in '.actor = "ben"' '.conversation = "x"' '.turn = "x"' '.admission_position = 1' \
		'.audience_version = "x"' '.roster += ["ben"]' '.selection += [{id: "x", state: "failed"}]' \
		".capability = \"$(jq -r .capability other.json)\""; do
		jq -c "$field" scope.json >bad.json
		run kz-project resolve -k keys -a 'cmd:kz-room audience talk' <bad.json
		echo "$field: $output"
		[[ $output == *capability_invalid* ]]
	done
	for field in actor conversation turn admission_position audience_version manifest_sha256 capability; do
		jq -c "del(.$field)" scope.json >bad.json
		run kz-project resolve -k keys -a 'cmd:kz-room audience talk' <bad.json
		echo "$field: $output"
		[[ $output == *capability_missing* ]]
	done
	KZ_ROOM_DB=$PWD/second.db kz-room init | jq -r .key >other.keys
	run kz-project resolve -k other.keys -a 'cmd:kz-room audience talk' <scope.json
	[[ $output == *capability_invalid* ]]
	run kz-project resolve -k keys -a 'cmd:kz-room audience nowhere' <scope.json
	[[ $output == *audience_unavailable* ]]
	jq -c '.manifest[0].size = 5' scope.json >bad.json
	run kz-project resolve -k keys -a 'cmd:kz-room audience talk' <bad.json
	[[ $output == *resource_manifest_mismatch* ]]
}

# denied REASON ARG...
denied() {
	run kz-room grant "${@:2}"
	[ "$status" -eq 77 ] && [[ $output == *"$1"* ]]
}

@test "PROJ-1 PROJ-4 to PROJ-9 INV-61 what is filed in a Project is read there, by its members, until it is withdrawn; nothing else is" {
	local doc other
	doc=$(upload ana filed.txt 3)
	other=$(upload ana private.txt 3)
	kz-room project crew ana
	run kz-room file crew "$doc" ben # not its owner, not a member
	[ "$status" -eq 77 ]
	kz-room file crew "$doc" ana
	kz-room file --private crew "$other" ana
	denied grant_not_member crew "$doc" ben
	kz-room project crew ben
	kz-room grant crew "$doc" ben
	denied grant_pointer_private crew "$other" ben
	for right in write rename publish delete fork reshare; do
		denied grant_read_only --right "$right" crew "$doc" ben
	done
	kz-room project two ben
	denied grant_other_project two "$doc" ben
	kz-room project --leave crew ben
	denied grant_not_member crew "$doc" ben
	kz-room project crew ben
	kz-room grant crew "$doc" ben
	kz-room withdraw crew "$doc" ben # only who filed it can
	kz-room grant crew "$doc" ben
	kz-room withdraw crew "$doc" ana
	denied grant_withdrawn crew "$doc" ben
	# membership alone shows no file to a run [PROJ-3]
	[ "$(kz-room audience talk | jq -c .manifest)" = '[]' ]
}

# asked REASON JQ: the same grant with one fact changed
asked() {
	jq -cn '{pointer: {item: "d", kind: "document", project: "p", shared: true, withdrawn: false, linked_by: "ana"},
		membership: {project: "p", members: ["ana", "ben"], default: "write"},
		request: {reader: "ben", item: "d", project: "p", right: "read"}}' | jq -c "$2" >question
	run kz-project grant -j <question
	[ "$(jq -r .reason <<<"$output")" = "$1" ] && [ "$status" -eq "$([ "$1" = null ] && echo 0 || echo 1)" ] &&
		python3 "$SCHEMA" --expect project_grant <<<"$output"
}

@test "PROJ-5 PROJ-8 PROJ-9 PROJ-13 kz-project grant: one predicate for all kinds, strict about what it is told" {
	for kind in document artifact prompt; do
		asked null ".pointer.kind = \"$kind\""
		asked grant_pointer_private ".pointer.kind = \"$kind\" | .pointer.shared = false"
	done
	asked grant_withdrawn '.pointer.withdrawn = true'
	asked grant_not_member '.membership.members = ["ana"]'
	asked grant_not_member '.membership.project = "q"'
	asked grant_other_project '.request.project = "q"'
	asked grant_other_project '.request.item = "e"'
	asked grant_read_only '.request.right = "reshare"'
	for bad in '.pointer.withdrawn = 0' 'del(.pointer.withdrawn)' 'del(.pointer.shared)' '.pointer.Withdrawn = true' \
		'.request.right = "READ"' 'del(.request)' '.membership.members = "ben"' '.extra = 1' '[]'; do
		jq -c "$bad" question >bad 2>/dev/null || echo '[]' >bad
		run kz-project grant <bad
		[ "$status" -eq 65 ]
	done
}

@test "EXEC-16 kz-room: what is not there is 66, a bad name 65, a second init 73, no database 64" {
	run kz-room init
	[ "$status" -eq 73 ]
	run kz-room turn nowhere ana
	[ "$status" -eq 66 ]
	run kz-room scope turn-99
	[ "$status" -eq 66 ]
	run kz-room member $'a\nb'
	[ "$status" -eq 65 ]
	unset KZ_ROOM_DB
	run kz-room journal talk
	[ "$status" -eq 64 ]
}
