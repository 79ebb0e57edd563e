#!/usr/bin/env bats
# kz-native: documents of many producers and their damage, documents made to harm, and the gate.
# shellcheck disable=SC2154,SC2030,SC2031 # run sets the variables
bats_require_minimum_version 1.5.0

setup_file() {
	cd "$BATS_TEST_DIRNAME/../.." || return 1
	export KZ_BIN=${KZ_BIN:-$PWD/build/bin} SCHEMA=$PWD/tests/schema.py
	export HOSTILE=$BATS_FILE_TMPDIR/hostile VERDICTS=$BATS_FILE_TMPDIR/verdicts
	mkdir "$HOSTILE"
	tests/tool/native-hostile.py "$HOSTILE" >"$VERDICTS"
	# LibreOffice is slow to start: its documents are made once a tree and release of their makers.
	local makers
	makers=$(cat tests/tool/native-samples.py /var/lib/dpkg/status | sha256sum | cut -c1-16)
	export SAMPLES=$PWD/build/native-samples/$makers
	if [ ! -d "$SAMPLES" ]; then
		rm -rf build/native-samples
		mkdir -p build/native-samples
		tests/tool/native-samples.py "$BATS_FILE_TMPDIR/samples" >/dev/null
		mv "$BATS_FILE_TMPDIR/samples" "$SAMPLES"
	fi
}

# check OPTION... -- FILE...: lines of all files, in calls of 64.
check() {
	local -a options=()
	while [ "$1" != -- ]; do
		options+=("$1")
		shift
	done
	shift
	printf '%s\0' "$@" | xargs -0 -n 64 "$KZ_BIN/kz-native" check -j "${options[@]}" || [ $? -eq 123 ]
}

verdict='if .sound then (if .warning_count > 0 then "warned" else "ok" end) else .reason end'

@test "NAT-1 NAT-2 NAT-3 NAT-4 NAT-8 each document made by hand gets its verdict" {
	cd "$HOSTILE"
	mapfile -t names < <(cut -d' ' -f1 "$VERDICTS")
	[ "${#names[@]}" -ge 150 ]
	check -- "${names[@]}" >"$BATS_TEST_TMPDIR/lines"
	python3 "$SCHEMA" --expect native <"$BATS_TEST_TMPDIR/lines"
	diff "$VERDICTS" <(jq -r "\"\\(.name) \\($verdict)\"" "$BATS_TEST_TMPDIR/lines")
	for reason in ok warned native_invalid native_mismatch native_encrypted native_bomb; do
		grep -q " $reason\$" "$VERDICTS"
	done
}

@test "NAT-8 no beginning of a document is a sound one" {
	cd "$HOSTILE/cut"
	mapfile -t names < <(printf '%s\n' *)
	[ "${#names[@]}" -ge 1000 ]
	check -- "${names[@]}" >"$BATS_TEST_TMPDIR/lines"
	[ "$(wc -l <"$BATS_TEST_TMPDIR/lines")" -eq "${#names[@]}" ]
	run jq -r 'select(.sound) | .name' "$BATS_TEST_TMPDIR/lines"
	[ -z "$output" ]
}

@test "NAT-1 documents of LibreOffice, python-docx, openpyxl, XlsxWriter, reportlab, cairo and TeX are sound at both levels" {
	cd "$SAMPLES"
	for who in libreoffice-letter.docx libreoffice-deck.pptx libreoffice-table.xlsx libreoffice-letter.pdf python-docx.docx openpyxl.xlsx \
		xlsxwriter.xlsx reportlab.pdf cairo.pdf pdflatex.pdf; do
		[ -s "$who" ]
	done
	for level in 1 2; do
		check --level $level -- *.docx *.pptx *.xlsx *.pdf >"$BATS_TEST_TMPDIR/lines"
		run jq -r 'select(.sound | not) | .name, .text' "$BATS_TEST_TMPDIR/lines"
		echo "$output"
		[ -z "$output" ]
	done
	# what they hold was found too
	jq -es 'map({(.name): .}) | add | .["pdflatex.pdf"].pages >= 1 and .["reportlab.pdf"].pages == 3 and .["cairo.pdf"].pages == 2 and
		.["reportlab-encrypted.pdf"].encrypted and (.["cairo.pdf"].encrypted | not) and .["python-docx.docx"].parts > 5' "$BATS_TEST_TMPDIR/lines"
}

@test "NAT-1 damage is found no less than docs/native.md says, and no sound document is refused" {
	run "$BATS_TEST_DIRNAME/native-mutations.py" "$KZ_BIN/kz-native" "$SAMPLES" --least "$BATS_TEST_DIRNAME/../../docs/native.md"
	echo "$output"
	[ "$status" -eq 0 ]
}

@test "NAT-2 NAT-3 level 1 looks at marks and parts, level 2 at all of it" {
	cd "$HOSTILE"
	run -0 "$KZ_BIN/kz-native" check --level 1 marks-only.pdf checksum.docx after.docx
	run -65 "$KZ_BIN/kz-native" check -l 1 html.pdf no-types.docx docx-as.xlsx
	[ "${#lines[@]}" -eq 3 ]
	[[ ${lines[2]} == *native_mismatch* ]]
	run -65 "$KZ_BIN/kz-native" check marks-only.pdf
}

@test "NAT-7 case, dots, spaces and double extensions of a name change nothing" {
	cd "$HOSTILE"
	for name in x.PDF 'x.pdf.' 'x.pdf .. ' 'x.txt.pdf' $'x.pdf\u00a0' $'x.\u200bpdf' '.pdf'; do
		run -65 "$KZ_BIN/kz-native" check --name "$name" html.pdf
		run -0 "$KZ_BIN/kz-native" check --name "$name" least.pdf
	done
}

@test "NAT-9 other names are not judged" {
	cd "$HOSTILE"
	for name in x.txt x.pdf.txt x.html x x.docm pdf; do
		run -0 "$KZ_BIN/kz-native" check -j -n "$name" html.pdf
		jq -e '.kind == null and .sound' <<<"$output"
	done
}

@test "one line a file, of any name; 65 when one of them is not sound" {
	cd "$HOSTILE"
	cp least.pdf $'\e[2J\n\xff.pdf'
	run --separate-stderr -65 "$KZ_BIN/kz-native" check least.pdf $'\e[2J\n\xff.pdf' html.pdf least.docx
	[ "${#lines[@]}" -eq 4 ]
	[ -z "$stderr" ]
	[[ ${lines[1]} == '?[2J??.pdf: ok, pdf' ]]
	[[ ${lines[2]} == 'html.pdf: native_invalid: '* ]]
	run -65 "$KZ_BIN/kz-native" check -j html.pdf
	python3 "$SCHEMA" --last native <<<"$output"
}

@test "NAT-5 what a hostile document says of itself is told printable and short" {
	cd "$HOSTILE"
	long=$(printf 'x%.0s' {1..1000})
	python3 - "$long" <<-'END'
		import sys, zipfile
		with zipfile.ZipFile("says.docx", "w") as z:
		    z.writestr("../\x1b[2J\u202e" + sys.argv[1], b"")
	END
	run -65 "$KZ_BIN/kz-native" check -j says.docx
	[ "${#output}" -lt 600 ]
	LC_ALL=C grep -qx '[ -~]*' <<<"$output"
	jq -e '.text | test("^[ -~]+$")' <<<"$output"
}

@test "standard input, and files that cannot be read" {
	cd "$HOSTILE"
	"$KZ_BIN/kz-native" check -n x.pdf - <least.pdf
	# shellcheck disable=SC2002 # a pipe is meant
	cat least.docx | "$KZ_BIN/kz-native" check -n x.docx -
	run --separate-stderr -66 "$KZ_BIN/kz-native" check least.pdf gone.pdf
	[ -z "$output" ]
	[[ $stderr == *input_missing* ]]
	mkfifo fifo.pdf
	for what in . fifo.pdf /dev/zero; do
		run --separate-stderr -66 timeout 60 "$KZ_BIN/kz-native" check "$what"
		[[ $stderr == *input_unreadable* ]]
	done
	run -64 "$KZ_BIN/kz-native" check -n x.pdf least.pdf least.docx
	run -64 "$KZ_BIN/kz-native" check --level 3 least.pdf
}

@test "a file is read behind the jail only, and nothing is opened from there" {
	command -v strace >/dev/null || skip "no strace"
	cd "$HOSTILE"
	strace -f -o "$BATS_TEST_TMPDIR/trace" -e trace=openat,open,read,pread64,mmap,seccomp,prctl,socket,execve "$KZ_BIN/kz-native" check least.docx ||
		[ ! -s "$BATS_TEST_TMPDIR/trace" ] || false
	opened=$(grep -n 'least.docx' "$BATS_TEST_TMPDIR/trace" | tail -1 | cut -d: -f1)
	wall=$(grep -nE 'seccomp\(SECCOMP_SET_MODE_FILTER|PR_SET_SECCOMP' "$BATS_TEST_TMPDIR/trace" | tail -1 | cut -d: -f1)
	[ "$opened" -lt "$wall" ]
	fd=$(sed -n "${opened}s/.*= //p" "$BATS_TEST_TMPDIR/trace")
	read=$(grep -n "read($fd, \"PK" "$BATS_TEST_TMPDIR/trace" | head -1 | cut -d: -f1)
	[ "$read" -gt "$wall" ]
	run sed -n "$wall,\$p" "$BATS_TEST_TMPDIR/trace"
	[[ $output != *open* && $output != *socket* && $output != *execve* ]]
}

# gate JSON: status and output of the gate.
gate() {
	run --separate-stderr "$KZ_BIN/kz-native" gate -j <<<"$1"
	echo "$1: $status $output $stderr"
	[ "$status" -eq 0 ] || [ "$status" -eq 1 ]
	python3 "$SCHEMA" --expect gate <<<"$output"
}

@test "NAT-6 INV-45 a claim needs an attachment that is durable, validated and of the kind" {
	sound='{"name":"r.PDF","media_type":"application/pdf","durable":true,"validated":true,"sha256":"x"}'
	for request in '"pdf"' '["pdf"]' '".PDF"' '"application/pdf"' '["pdf","md"]'; do
		gate "{\"requested\":$request,\"attachments\":[$sound]}"
		[ "$status" -eq 0 ]
		gate "{\"requested\":$request,\"attachments\":[]}"
		[ "$status" -eq 1 ]
		jq -es 'map(select(.type == "gate"))[0] | .permit == false and .missing == ["pdf"]' <<<"$output"
		[[ $stderr == *gate_denied* ]]
	done
	for change in '.durable = false' '.validated = false' 'del(.durable)' 'del(.validated)' '.name = "r.docx"' \
		'.name = "r.pdf.txt" | .media_type = "text/plain"' '.name = null | .media_type = null'; do
		gate "{\"requested\":\"pdf\",\"attachments\":[$(jq -c "$change" <<<"$sound")]}"
		[ "$status" -eq 1 ]
	done
	for change in '.name = "r"' '.media_type = null' '.media_type = "text/plain"' '.name = "r.pdf. "'; do
		gate "{\"requested\":\"pdf\",\"attachments\":[$(jq -c "$change" <<<"$sound")]}"
		[ "$status" -eq 0 ]
	done
	gate "{\"requested\":[\"pdf\",\"xlsx\"],\"attachments\":[$sound]}"
	[ "$status" -eq 1 ]
	jq -es 'map(select(.type == "gate"))[0].missing == ["xlsx"]' <<<"$output"
	run -0 "$KZ_BIN/kz-native" gate <<<"{\"requested\":\"pdf\",\"attachments\":[$sound]}"
	[ "$output" = permit ]
}

@test "NAT-9 nothing, and other kinds, need no attachment" {
	for request in null '[]' '"md"' '["csv","text/html"]'; do
		gate "{\"requested\":$request,\"attachments\":[]}"
		[ "$status" -eq 0 ]
	done
}

@test "the gate denies by failing when its input is malformed" {
	for input in '' '{' '[]' 'null' '{"requested":"pdf"}' '{"attachments":[]}' '{"requested":7,"attachments":[]}' '{"requested":"pdf","attachments":{}}' \
		'{"requested":"pdf","attachments":[7]}' '{"requested":"pdf","attachments":[{"durable":"true"}]}' '{"requested":[null],"attachments":[]}' \
		'{"requested":"pdf","attachments":[{"name":7}]}' '{"requested":"pdf","attachments":[],"permit":true}' \
		'{"requested":"pdf","requested":null,"attachments":[]}'; do
		run --separate-stderr -65 "$KZ_BIN/kz-native" gate <<<"$input"
		[ -z "$output" ]
		[[ $stderr == *malformed_input* ]]
	done
}
