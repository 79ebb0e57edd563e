#!/usr/bin/env bats
# weight 39
# kz-workspace read and edit: every row of hashline.tsv through the program, what a failed edit leaves behind, bounds,
# the record that code never sees.
# shellcheck disable=SC2154,SC2030,SC2031 # run sets the variables
# bats file_tags=case:root
bats_require_minimum_version 1.5.0
load ../kz

setup_file() {
	kz_start SANDBOX_WARM_POOL_MIN=1 SANDBOX_POOL_TARGET_IDLE=0 SANDBOX_ACQUIRE_WAIT_SECONDS=120 SANDBOX_HASHLINE_STATE_MAX_BYTES=65536
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

# Every row of the table has a file of its own.  All are put in at once, shown, changed behind the record's back at once,
# edited one by one, and read out at once.
@test "HL-3 HL-7 HL-11 HL-12 HL-13 WS-11 every row of the table, through the program" {
	cat >rows.bash <<-'END'
		set -uo pipefail
		bad=0
		declare -a names befores reads nows edits answers afters tags warned
		text() { # C escapes to bytes; Ln to lines
			if [[ $1 =~ ^L([0-9]+)$ ]]; then
				seq -f 'line %g' 1 "${BASH_REMATCH[1]}"
			else
				printf '%b' "$1"
			fi
		}
		wrong() {
			echo "${names[i]}: $*"
			bad=1
		}
		while IFS= read -r line; do
			case $line in '' | '#'*) continue ;; esac
			# to read a tab is white space, which joins empty fields
			mapfile -t -d $'\x1f' f < <(printf '%s' "${line//$'\t'/$'\x1f'}")
			names+=("${f[0]}") befores+=("${f[1]}") reads+=("${f[2]}") nows+=("${f[3]}") edits+=("${f[4]}")
			answers+=("${f[5]}") afters+=("${f[6]}") tags+=("${f[7]}") warned+=("${f[8]}")
		done <"$TABLE"
		mkdir before now after
		for i in "${!names[@]}"; do
			text "${befores[i]}" >"before/$i.txt"
			[ "${nows[i]}" = = ] || text "${nows[i]}" >"now/$i.txt"
		done
		kz-workspace put -A a -C "$C" before/*.txt || exit 9
		for i in "${!names[@]}"; do
			given[i]=0000
			case ${reads[i]} in
			none) continue ;;
			-) kz-workspace read -A a -C "$C" -j "$i.txt" >shown ;;
			*) kz-workspace read -A a -C "$C" -r "${reads[i]}" -j "$i.txt" >shown ;;
			esac
			given[i]=$(jq -r .tag <shown)
		done
		kz-workspace put -A a -C "$C" now/*.txt || exit 9
		for i in "${!names[@]}"; do
			edit=${edits[i]//f.txt/$i.txt}
			printf '%b' "${edit//TAG/${given[i]}}" | kz-workspace edit -A a -C "$C" -j >"answer.$i" 2>/dev/null
		done
		kz-workspace export -A a -C "$C" -o all.tar && tar -xf all.tar -C after || exit 9
		for i in "${!names[@]}"; do
			IFS=' ' read -r type is warns < <(jq -r '[.reason // "ok", .sections[0].tag // "-", if ((.sections // [])[0].warnings // []) == [] then "-" else "w" end] | join(" ")' <"answer.$i")
			[ "$type" = "${answers[i]}" ] || wrong "$(cat "answer.$i"), not ${answers[i]}"
			if [ "${answers[i]}" = ok ]; then
				text "${afters[i]}" >want
				[ "${tags[i]}" = '?' ] || [ "$is" = "${tags[i]}" ] || wrong "tag $is"
				[ "$warns" = "${warned[i]}" ] || wrong "warnings $warns"
			elif [ "${nows[i]}" = = ]; then
				cp "before/$i.txt" want
			else
				cp "now/$i.txt" want
			fi
			cmp want "after/$i.txt" || wrong 'another text'
		done
		cat answer.* | python3 "$SCHEMA" --expect edit --expect error || bad=1
		echo "rows ${#names[@]}"
		exit $bad
	END
	export C SCHEMA TABLE=$BATS_TEST_DIRNAME/hashline.tsv
	run kz-lease with -A a -C "$C" -- bash rows.bash </dev/null
	echo "$output"
	[ "$status" -eq 0 ]
	[ "${lines[${#lines[@]} - 1]#rows }" -ge 100 ]
}

@test "HL-2 HL-11 WS-11 a read shows lines and a tag; ranges show some around them" {
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

@test "HL-5 a tag of one conversation, or of one actor, has no effect in another" {
	put a.txt 'x\ny\n'
	t=$(tag a.txt)
	C=other-$C put a.txt 'x\ny\n'
	C=other-$C refused 77 unknown_tag edit "[a.txt#$t]\\nPUT 1.=1:\\n+z\\n"
	printf 'x\ny\n' | kz-workspace put -A b -C "$C" a.txt=- >/dev/null
	printf '[a.txt#%s]\nPUT 1.=1:\n+z\n' "$t" >e
	run --separate-stderr kz-workspace edit -A b -C "$C" e
	[ "$status" -eq 77 ]
	[[ $stderr == *unknown_tag* ]]
}

@test "HL-13 two shown texts of one tag: where they differ an edit is refused, where they are the same it is made" {
	put a.txt 'alpha\nbeta\ngamma\nrow 3723\n'
	[ "$(tag a.txt)" = B6C1 ]
	put a.txt 'alpha\nbeta\ngamma\n'
	[ "$(tag a.txt)" = B6C1 ]
	refused 75 ambiguous_anchor edit '[a.txt#B6C1]\nPUT 3.=3:\n+G\n'
	edit '[a.txt#B6C1]\nPUT 1.=1:\n+A\n'
	[ "$(ws get a.txt | head -n 1)" = A ]
}

@test "HL-9 a conversation has 32 registers; one more, and all of the edit is refused" {
	local cut n
	put a.txt "$(printf '%s\\n' {1..40})"
	for n in {1..32}; do cut+="CUT $n.=$n @r$n\\n"; done
	refused 65 register_full edit "[a.txt#$(tag a.txt)]\\n${cut}CUT 33.=33 @more\\n"
	edit "[a.txt#$(tag a.txt)]\\n$cut"
	[ "$(ws get a.txt | head -n 1)" = 33 ]
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

@test "HL-6 a path that is not there goes to the one file of this name and tag, but is never removed so" {
	put src/deep/a.txt 'line 1\nline 2\nline 3\n'
	t=$(tag src/deep/a.txt)
	refused 77 unknown_tag edit "[a.txt#$t]\\nREM\\n"
	edit "[a.txt#$t]\\nPUT 2.=2:\\n+two\\n" >out
	[ "$(jq -r '.sections[0] | .path, (.warnings | length > 0)' <out | tr '\n' ' ')" = "src/deep/a.txt true " ]
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

@test "BOUND-7 HL-8 a record over its bound fails the read and leaves everything; other files make room" {
	head -c 65400 /dev/zero | tr '\0' x | ws put big.txt=- >/dev/null
	head -c 65500 /dev/zero | tr '\0' x | ws put bigger.txt=- >/dev/null
	head -c 65537 /dev/zero | tr '\0' x | ws put biggest.txt=- >/dev/null
	put small.txt 'x\n'
	t=$(tag small.txt)
	refused 65 lines_over_bound ws read bigger.txt
	refused 65 file_too_large ws read biggest.txt
	edit "[small.txt#$t]\\nPUT 1.=1:\\n+y\\n" >/dev/null
	t=$(tag small.txt)
	ws read big.txt >/dev/null
	refused 77 unknown_tag edit "[small.txt#$t]\\nPUT 1.=1:\\n+z\\n"
}

# The record of one text is its bytes, its path and 109 more.
@test "BOUND-7 HL-8 sixty-four MiB, the bound nobody can raise: a record of that size is kept and edited, one byte more is refused" {
	local bound=67108864 t z
	# objects are never changed: name, size and time tell as much as half a gigabyte of digests
	stored() { find "$KZ_STATE/objects" -type f -printf '%p %s %T@\n' | sort; }
	run ! kz config set SANDBOX_HASHLINE_STATE_MAX_BYTES=$((bound + 1))
	[[ $output == *SANDBOX_HASHLINE_STATE_MAX_BYTES* ]]
	kz config set SANDBOX_WORKSPACE_MAX_BYTES=$((3 * bound))
	kz config set SANDBOX_HASHLINE_STATE_MAX_BYTES=$bound
	yes "$(head -c 1023 /dev/zero | tr '\0' x)" | head -c $((bound - 115)) >fits
	echo >>fits
	{ printf y && cat fits; } >over
	ws put a.txt=fits
	t=$(tag a.txt)
	record() { find "$KZ_STATE/objects" -type f -size "$1c" -exec grep -l '^KZHL' {} + | wc -l; }
	[ "$(record $bound)" -eq 1 ]
	# the older text makes room; the new one is known, by its tag
	z=$(head -c 1023 /dev/zero | tr '\0' z)
	t=$(edit "[a.txt#$t]\\nPUT 1.=1:\\n+$z\\n" | jq -r '.sections[0].tag')
	[ "$(record $bound)" -ge 1 ]
	refused 65 lines_over_bound edit "[a.txt#$t]\\nPUT 1.=1:\\n+z$z\\n"
	{ printf '%s\n' "$z" && tail -c +1025 fits; } >want
	ws get a.txt | cmp - want
	ws put a.txt=over
	refused 65 lines_over_bound ws read -r 1-1 a.txt
	ws rm a.txt
	kz config set SANDBOX_HASHLINE_STATE_MAX_BYTES=65536
	kz config set SANDBOX_WORKSPACE_MAX_BYTES=8388608
}

@test "HL-1 HL-4 HL-12 WS-9 code sees its files and nothing of the record, and makes anchors stale" {
	put a.txt 'line 1\nline 2\nline 3\n'
	t=$(tag a.txt)
	printf 'import os\nfor top in ("/work", "/tmp", "/run", "/home", "/root", "/var", "/etc", "/dev/shm", "/mnt"):\n for d, s, f in os.walk(top):\n  for n in f:\n   p = os.path.join(d, n)\n   try:\n    if os.path.isfile(p) and b"KZ"+b"HL" == open(p, "rb").read(4): print("record", p)\n   except OSError: pass\nopen("a.txt", "a").write("line 4\\n")\nprint(os.listdir("."))\n' >code.py
	run kz-run -A a -C "$C" -c "$(cat code.py)" </dev/null
	echo "$output"
	[ "$status" -eq 0 ]
	[[ $output != *record* ]]
	[[ $output == *"['a.txt']"* ]]
	# the code changed the file behind the record's back; its first line it did not
	refused 75 stale_anchor edit "[a.txt#$t]\\nREM\\n"
	edit "[a.txt#$t]\\nPUT 1.=1:\\n+one\\n" >out
	[ "$(jq -r '.sections[0].warnings | length > 0' <out)" = true ]
	[ "$(ws get a.txt | tr '\n' ' ')" = "one line 2 line 3 line 4 " ]
}

@test "INV-36 a record that was altered is damage, never an empty one" {
	put a.txt 'x\n'
	t=$(tag a.txt)
	for record in $(grep -rl '^KZHL' "$KZ_STATE/objects"); do
		printf '\xff' | dd of="$record" bs=1 seek=60 conv=notrunc status=none
	done
	refused 70 object_damaged edit "[a.txt#$t]\\nPUT 1.=1:\\n+y\\n"
	refused 70 object_damaged ws read a.txt
}
