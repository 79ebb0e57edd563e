#!/usr/bin/env bats
# kz-archive: hostile archives, exact round trips, its bounds and its jail.

bats_require_minimum_version 1.5.0

setup_file() {
	cd "$BATS_TEST_DIRNAME/../.."
	KZ_BIN=${KZ_BIN:-$PWD/build/bin}
	export KZ_BIN TARS=$BATS_FILE_TMPDIR/tars
	mkdir "$TARS"
	entries tars "$TARS"
}

setup() { cd "$BATS_TEST_TMPDIR" || exit 1; }

entries() { python3 -IS "$BATS_TEST_DIRNAME/entries.py" "$@"; }
archive() { "$KZ_BIN/kz-archive" "$@"; }

# The case of that name is refused: nothing goes out, and the text names nothing of the archive.
refuses() {
	run --separate-stderr archive unpack <"$TARS/$1.tar"
	echo "$1: $status $stderr"
	[ "$status" -eq 65 ]
	[ -z "$output" ]
	[[ $stderr == "kz-archive unpack: archive_refused: "* ]]
	[[ $stderr != *passwd* ]]
}

# The cases of those names, one after the other, become what standard input says.
shows() {
	for c; do archive unpack <"$TARS/$c.tar" >"$c"; done
	diff <(cat) <(entries show "$@")
}

@test "WS-15 confused deputy: absolute, empty, parent and overlong names, and such with a zero byte are refused" {
	for c in absolute dotdot empty-name nul long-component long-name deep; do refuses $c; done
}

@test "WS-15 confused deputy: devices, fifos and what lies below something that is no directory are refused" {
	for c in fifo char block through-link through-file link-after; do refuses $c; done
}

@test "WS-15: a name twice is refused, however it is written" {
	for c in twice twice-other; do refuses $c; done
}

@test "WS-15 confused deputy: a hard link to anything but an earlier file inside is refused" {
	for c in hardlink-out hardlink-absolute hardlink-later hardlink-self hardlink-symlink hardlink-dir; do refuses $c; done
}

@test "WS-15: an archive that is cut or followed by something is refused" {
	for c in cut-header cut-content cut-end one-zero-block trailing second nothing; do refuses $c; done
	# in and at the end of a header, a content and the first block of zeros
	for n in 256 512 514 1024 2048 2560 2816; do
		run --separate-stderr archive unpack < <(head -c "$n" "$TARS/plain.tar")
		[ "$status" -eq 65 ]
		[ -z "$output" ]
	done
}

@test "WS-15: what is no tar is refused" {
	for c in checksum noise cpio zip; do refuses $c; done
}

@test "WS-15: made-up parents, cleaned names, hard links as files, sparse files at full length" {
	shows plain dots parents hardlink utf8 <<-'EOF'
		file 0644 0 5 b'a' b'hello'
		dir 0644 0 0 b'd'
		link 0644 0 4 b'd/l' b'../a'
		dir 0755 0 0 b'a'
		dir 0644 0 0 b'a/b'
		file 0644 0 1 b'a/c' b'1'
		dir 0755 0 0 b'x'
		file 0644 0 1 b'x/a' b'3'
		dir 0755 0 0 b'x/y'
		file 0644 0 1 b'x/y/w' b'2'
		file 0644 0 1 b'x/y/z' b'1'
		file 0644 0 4 b'a' b'same'
		file 0644 0 4 b'b' b'same'
		file 0644 0 4 b'z' b'same'
		file 0644 0 1 b'bad\xff' b'3'
		file 0644 0 1 b'caf\xc3\xa9' b'1'
		file 0644 0 1 b'e\xcc\x81' b'2'
	EOF
	archive unpack -b 10000 <"$TARS/sparse.tar" >stream
	[ "$(tail -c +37 stream | head -c 10000 | sha256sum)" = "$({ head -c 4096 /dev/zero; printf abc; head -c 5901 /dev/zero; } | sha256sum)" ]
}

@test "BOUND-10: bytes and entries at the bound pass, one less is refused; links and holes count in full" {
	# a hundred links to a thousand bytes are more than the 62 kilobytes of the archive
	archive unpack -b 101000 -e 101 <"$TARS/bomb.tar" >/dev/null
	for bounds in "-b 100999 -e 101" "-b 101000 -e 100"; do
		# shellcheck disable=SC2086
		run --separate-stderr archive unpack $bounds <"$TARS/bomb.tar"
		[ "$status" -eq 65 ]
		[ -z "$output" ]
		[[ $stderr == *"archive_refused: "* ]]
	done
	run --separate-stderr archive unpack -b 9999 <"$TARS/sparse.tar"
	[ "$status" -eq 65 ]
	[ -z "$output" ]
	# made-up directories are entries
	archive unpack -e 5 <"$TARS/parents.tar" >/dev/null
	run archive unpack -e 4 <"$TARS/parents.tar"
	[ "$status" -eq 65 ]
	# the archive itself
	size=$(stat -c %s "$TARS/plain.tar")
	archive unpack -b "$size" <"$TARS/plain.tar" >/dev/null
	run archive unpack -b "$((size - 1))" <"$TARS/plain.tar"
	[ "$status" -eq 65 ]
}

@test "WS-15 hostile bytes: any tree goes through a tar exactly, in any locale, and the same tree makes the same bytes" {
	python3 - <<-'EOF'
		import os
		os.umask(0)
		os.makedirs(b"t/d/e"); os.makedirs(b"t/empty")
		for i, n in enumerate([b"nl\nx", b"bad\xff\xfe", b"a" * 255, b"case", b"CASE", "caf\u00e9".encode(), "e\u0301".encode(), b"\x01", b"d/e/f", b"-"]):
		    with open(b"t/" + n, "wb") as f: f.write(b"x" * (i * 700))
		    os.utime(b"t/" + n, ns=(0, (-1, 0, 1, 10**18 + 7, 2**62)[i % 5]))
		os.chmod(b"t/case", 0o6755); os.chmod(b"t/CASE", 0); os.chmod(b"t/empty", 0o1777)
		os.symlink(b"to\xff\n", b"t/link"); os.symlink(b"/" + b"l" * 4000, b"t/long")
		os.utime(b"t/link", ns=(0, 5), follow_symlinks=False)
		deep = b"t/" + b"/".join([b"p" * 31] * 120)
		os.makedirs(deep)
	EOF
	entries tree t >in
	LC_ALL=C archive pack <in >c.tar
	LC_ALL=C.UTF-8 archive pack <in >u.tar
	cmp c.tar u.tar
	for l in C C.UTF-8; do
		LC_ALL=$l archive unpack <c.tar >"out.$l"
		archive pack <"out.$l" | cmp - c.tar
	done
	cmp out.C out.C.UTF-8
	entries show in | sort >want
	diff want <(entries show out.C | sort)
	# other readers see the same
	python3 -c 'import tarfile; print(len(tarfile.open("c.tar").getmembers()))' | grep -qx "$(wc -l <want)"
}

@test "WS-15: entries that are no tree are refused by pack" {
	entries make twice below through parent whole <<-'EOF'
		file	0644	0	a	1
		file	0644	0	a	2

		file	0644	0	a/b	1

		link	0777	0	a	/tmp
		file	0644	0	a/b	1

		file	0644	0	../a	1

		file	0644	0	a	1
	EOF
	for c in twice below through parent; do
		run --separate-stderr archive pack <"$c"
		[ "$status" -eq 65 ]
		[ -z "$output" ]
		[[ $stderr == "kz-archive pack: archive_refused: "* ]]
	done
	run --separate-stderr archive pack < <(head -c 40 whole)
	[ "$status" -eq 65 ] && [ -z "$output" ]
}

@test "BOUND-10: a tar at its bound is kept, one byte over is workspace_over_bound" {
	printf 'file\t0644\t0\ta\t1\n' | entries make >in
	size=$(archive pack <in | wc -c)
	archive pack -b "$size" <in >/dev/null
	run --separate-stderr archive pack -b "$((size - 1))" <in
	[ "$status" -eq 65 ]
	[[ $stderr == "kz-archive pack: workspace_over_bound: "* ]]
}

@test "WS-15: compressed archives pass only where that is asked for, and what they become is bounded" {
	cp "$TARS/plain.tar" .
	archive unpack <plain.tar >want
	for tool in gzip xz zstd; do
		command -v "$tool" || continue
		"$tool" -c <plain.tar >packed
		archive unpack -z <packed | cmp - want
		run --separate-stderr archive unpack <packed
		[ "$status" -eq 65 ]
		[ -z "$output" ]
		run --separate-stderr archive unpack -z < <(head -c 60 packed)
		[ "$status" -eq 65 ]
		[ -z "$output" ]
		run --separate-stderr archive unpack -z < <(cat packed; printf garbage)
		[ "$status" -eq 65 ]
		[ -z "$output" ]
		# sixty megabytes of zeros in a few kilobytes
		head -c 60000000 /dev/zero | "$tool" -1 -c >bomb
		run --separate-stderr archive unpack -z <bomb
		[ "$status" -eq 65 ]
		[ -z "$output" ]
	done
	archive unpack -z <plain.tar | cmp - want
	bzip2 -c <plain.tar >packed 2>/dev/null || return 0
	run archive unpack -z <packed
	[ "$status" -eq 65 ]
}

@test "WS-15: before its first byte of input it has no files, no capability and a filter" {
	mkfifo wait
	"$KZ_BIN/kz-archive" unpack <./wait >/dev/null 2>told 7<"$KZ_BIN/kz-archive" &
	pid=$!
	exec 8>./wait
	for ((i = 0; i < 900; i++)); do
		grep -q '^Seccomp:.2' "/proc/$pid/status" && break
		sleep 0.05
	done
	grep -q '^Seccomp:.2' "/proc/$pid/status"
	grep -q '^NoNewPrivs:.1' "/proc/$pid/status"
	grep -q '^CapEff:.0000000000000000' "/proc/$pid/status"
	[ "$(echo /proc/"$pid"/fd/*)" = "/proc/$pid/fd/0 /proc/$pid/fd/1 /proc/$pid/fd/2" ]
	[ "$(awk '/^Max open files/ {print $5}' "/proc/$pid/limits")" = 0 ]
	[ "$(awk '/^Max core file size/ {print $6}' "/proc/$pid/limits")" = 0 ]
	exec 8>&-
	status=0
	wait "$pid" || status=$?
	[ "$status" -eq 65 ]
}
