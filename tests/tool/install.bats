#!/usr/bin/env bats
# weight 100
# make install and make uninstall (DEP-2), and two builds that are equal (DEP-12).

setup() {
	cd "$BATS_TEST_DIRNAME/../.."
	dest=$BATS_TEST_TMPDIR/dest
}

@test "DEP-2 installed programs find their helpers and shared files by themselves" {
	make -s install DESTDIR="$dest" PREFIX=/opt/kz
	[ -x "$dest/opt/kz/bin/kz" ]
	[ -x "$dest/opt/kz/libexec/kz/kz-worker" ]
	[ -x "$dest/opt/kz/libexec/kz/kz-driver-oci" ]
	[ ! -e "$dest/opt/kz/bin/kz-worker" ]
	[ -f "$dest/opt/kz/share/kz/kz.bash" ]
	[ -f "$dest/opt/kz/share/man/man1/kz.1" ]
	[ -x "$dest/opt/kz/share/kz/supervise/kz-controller/run" ]
	# what the pages name is there, README.md beside its docs/
	grep -ohE 'docs/[a-z-]+\.md' docs/man/* README.md | sort -u | while read -r doc; do
		[ -f "$dest/opt/kz/share/doc/kz/$doc" ] || { echo "$doc is not installed"; exit 1; }
	done
	[ -f "$dest/opt/kz/share/doc/kz/README.md" ]
	grep -q '^ExecStart=/opt/kz/bin/kz ' "$dest/opt/kz/lib/systemd/system/kz.service"
	run "$dest/opt/kz/bin/kz" -V
	[ "$status" -eq 0 ]
}

@test "DEP-2 nothing is installed that others may write, and nothing names the build's place" {
	make -s install DESTDIR="$dest" PREFIX=/opt/kz
	[ -z "$(find "$dest" -type f -perm /022)" ]
	run grep -rlF "$PWD" "$dest"
	echo "$output"
	[ -z "$output" ]
}

@test "DEP-2 uninstall removes exactly what install brought" {
	mkdir -p "$dest/opt/kz/bin" "$dest/opt/kz/share/man/man1"
	echo other >"$dest/opt/kz/bin/other"
	echo other >"$dest/opt/kz/share/man/man1/other.1"
	make -s install DESTDIR="$dest" PREFIX=/opt/kz
	make -s install DESTDIR="$dest" PREFIX=/opt/kz
	make -s uninstall DESTDIR="$dest" PREFIX=/opt/kz
	left=$(cd "$dest" && find . -type f | sort)
	echo "$left"
	[ "$left" = $'./opt/kz/bin/other\n./opt/kz/share/man/man1/other.1' ]
	[ ! -e "$dest/opt/kz/share/kz" ]
	[ ! -e "$dest/opt/kz/libexec/kz" ]
	[ ! -e "$dest/opt/kz/share/doc/kz" ]
}

@test "DEP-12 two builds in two places are equal, byte for byte" {
	for copy in one two; do
		mkdir -p "$BATS_TEST_TMPDIR/$copy/deep"
		git ls-files -z | tar --null -T - -cf - 2>/dev/null | tar -xf - -C "$BATS_TEST_TMPDIR/$copy"
		make -s -j2 -C "$BATS_TEST_TMPDIR/$copy"
		(cd "$BATS_TEST_TMPDIR/$copy/build/bin" && find . -maxdepth 1 -type f -perm -1 | sort | xargs sha256sum) >"$BATS_TEST_TMPDIR/$copy.sums"
	done
	[ -s "$BATS_TEST_TMPDIR/one.sums" ]
	diff "$BATS_TEST_TMPDIR/one.sums" "$BATS_TEST_TMPDIR/two.sums"
}
