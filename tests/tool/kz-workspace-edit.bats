#!/usr/bin/env bats
# kz-workspace read and edit: every row of hashline.tsv through the program, what a failed edit leaves behind, bounds,
# the record that code never sees.
# shellcheck disable=SC2154,SC2030,SC2031 # run sets the variables
# bats file_tags=case:root
bats_require_minimum_version 1.5.0
load ../kz

setup_file() {
	kz_start SANDBOX_WARM_POOL_MIN=1 SANDBOX_POOL_TARGET_IDLE=0 SANDBOX_ACQUIRE_WAIT_SECONDS=20 SANDBOX_HASHLINE_STATE_MAX_BYTES=65536
}

teardown_file() {
	kz_stop
}

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	unset KZ_LEASE KZ_LEASE_TOKEN KZ_FENCE
	SCHEMA=$BATS_TEST_DIRNAME/../schema.py
	C=e$BATS_TEST_NUMBER
}

ws() {
	local verb=$1
	shift
	kz-workspace "$verb" -A a -C "$C" "$@"
}

# put NAME TEXT: a file of the workspace, with C escapes.
put() {
	printf '%b' "$2" | ws put "$1=-" >/dev/null
}

# Everything the store holds of workspaces.
stored() {
	find "$KZ_STATE/objects" -type f -exec sha256sum {} + | sort
}

# refused STATUS REASON COMMAND...: and what is stored is as before, to the byte.
refused() {
	local want=$1 reason=$2 before after
	shift 2
	before=$(stored)
	run --separate-stderr "$@"
	echo "status $status: $stderr"
	[ "$status" -eq "$want" ]
	[[ $stderr == *"kz-workspace"*": $reason: "* ]]
	after=$(stored)
	[ "$before" = "$after" ]
}

edit() {
	printf '%b' "$1" | ws edit -j
}

tag() {
	ws read -j "$1" </dev/null | jq -r .tag
}

@test "HL-2 HL-11 a read shows lines and a tag; ranges show some around them" {
	local many
	many=$(seq -f 'line %g' 1 100 | tr '\n' '~')
	put a.txt "${many//\~/\\n}"
	run ws read -r 10-11 a.txt
	[ "$status" -eq 0 ]
	[ "${lines[0]}" = "[a.txt#E715]" ]
	[ "${lines[1]}" = "9:line 9" ]
	[ "${lines[6]}" = "14:line 14" ]
	[ "${#lines[@]}" -eq 7 ]
	ws read -j -r 1 -r '99-$' a.txt >out
	python3 "$SCHEMA" --expect read <out
	[ "$(jq -r '.rows | join(" ")' <out)" = "1:line 1 2:line 2 3:line 3 4:line 4 ... 98:line 98 99:line 99 100:line 100" ]
	refused 65 line_out_of_range ws read -r 101 a.txt
	refused 65 bad_range ws read -r 5-4 a.txt
	refused 66 file_missing ws read b.txt
	refused 65 path_rejected ws read ../a.txt
	refused 65 path_rejected ws read /etc/passwd
}

@test "HL-11 WS-12 INV-36 unseen lines stay unseen after a refusal; a read makes them seen" {
	put a.txt '1\n2\n3\n4\n5\n6\n7\n8\n9\n'
	t=$(ws read -j -r 1-1 a.txt </dev/null | jq -r .tag)
	refused 77 unseen_lines edit "[a.txt#$t]\\nPUT 7.=7:\\n+x\\n"
	refused 77 unseen_lines edit "[a.txt#$t]\\nPUT 7.=7:\\n+x\\n"
	ws read -r 7 a.txt >/dev/null
	# a line that was shown is seen, also when it was context
	edit "[a.txt#$t]\\nPUT 6.=6:\\n+six\\nPUT 2.=2:\\n+two\\n" >out
	[ "$(jq -r '.sections[0].first_changed_line' <out)" = 2 ]
	[ "$(ws get a.txt | tr '\n' ' ')" = "1 two 3 4 5 six 7 8 9 " ]
}

@test "HL-3 WS-14 several files in one edit: all or none; REM and MV" {
	put a.txt 'line 1\nline 2\nline 3\n'
	put b.txt 'line 1\nline 2\n'
	put c.txt 'c\n'
	a=$(tag a.txt) b=$(tag b.txt) c=$(tag c.txt)
	refused 75 target_exists edit "[a.txt#$a]\\nREM\\n[b.txt#$b]\\nMV c.txt\\n"
	refused 65 edit_noop edit "[a.txt#$a]\\nPUT 1.=1:\\n+x\\n[b.txt#$b]\\nPUT 1.=1:\\n+line 1\\n"
	put b.txt 'other\n'
	refused 75 stale_anchor edit "[a.txt#$a]\\nPUT 1.=1:\\n+x\\n[b.txt#$b]\\nPUT 1.=1:\\n+x\\n"
	put b.txt 'line 1\nline 2\n'
	edit "[a.txt#$a]\\nREM\\n[b.txt#$b]\\nPUT 1.=1:\\n+X\\nMV \"lib/a b.txt\"\\n" >out
	python3 "$SCHEMA" --expect edit <out
	[ "$(jq -r '.sections[1].tag' <out)" = 1671 ]
	[ "$(ws get "lib/a b.txt")" = "$(printf 'X\nline 2')" ]
	refused 66 file_missing ws get a.txt
	refused 66 file_missing ws get b.txt
	# the new name has the history of the old one; the removed file has none
	edit "[lib/a b.txt#1671]\\nPUT 2.=2:\\n+Y\\n" >out
	put a.txt 'line 1\nline 2\nline 3\n'
	refused 77 unknown_tag edit "[a.txt#$a]\\nREM\\n"
	[ "$c" != null ]
}

@test "HL-9 named registers live from edit to edit; what a refused edit cut is not kept" {
	put a.txt 'line 1\nline 2\nline 3\nline 4\n'
	put b.txt 'B 1\nB 2\n'
	a=$(tag a.txt) b=$(tag b.txt)
	refused 65 line_out_of_range edit "[a.txt#$a]\\nCUT 2.=3 @fn\\n[b.txt#$b]\\nPUT >9:\\n+x\\n"
	refused 66 register_empty edit "[b.txt#$b]\\nPUT <2 @fn\\n"
	edit "[a.txt#$a]\\nCUT 2.=3 @fn\\n" >out
	[ "$(jq -r '.sections[0].tag, .registers[]' <out | tr '\n' ' ')" = "7898 fn " ]
	edit "[b.txt#$b]\\nPUT <2 @fn\\n" >out
	[ "$(jq -r '.sections[0].tag' <out)" = F98B ]
	edit "[b.txt#F98B]\\nPUT 1.=1 @fn\\n" >out
	[ "$(jq -r '.sections[0].tag' <out)" = C426 ]
}

@test "HL-3 an edit may be one JSON document" {
	put a.txt 'x\ny\n'
	t=$(tag a.txt)
	jq -n --arg t "$t" '{sections:[{path:"a.txt",tag:$t,ops:[{op:"PUT",at:"2.=2",rows:["Y","z"]}]}]}' | ws edit -j >out
	python3 "$SCHEMA" --expect edit <out
	[ "$(ws get a.txt | tr '\n' ' ')" = "x Y z " ]
	refused 65 edit_malformed edit '{"sections":[],"more":1}'
	refused 65 edit_malformed edit '{"sections"'
}
