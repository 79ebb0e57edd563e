#!/usr/bin/env bats
# scripts/sweep-tests: what a killed test run left goes, what lives or is not a test's stays.
bats_require_minimum_version 1.5.0
load ../kz

setup() {
	SWEEP=$BATS_TEST_DIRNAME/../../scripts/sweep-tests
	file=$BATS_TEST_TMPDIR/killed.bats
}

# killed TEXT: a file of tests that makes something, says where in $BATS_TEST_TMPDIR/dir, and is killed as a whole.
killed() {
	local pid
	sed "s/^case/@test/" >"$file"
	WHERE=$BATS_TEST_TMPDIR/dir HERE=$BATS_TEST_DIRNAME setsid bats --tap "$file" </dev/null >"$BATS_TEST_TMPDIR/log" 2>&1 3>&- &
	pid=$!
	kz_wait 60 [ -s "$BATS_TEST_TMPDIR/dir" ] || {
		cat "$BATS_TEST_TMPDIR/log"
		return 1
	}
	kill -KILL -- "-$pid"
	wait "$pid" || true
	dir=$(cat "$BATS_TEST_TMPDIR/dir")
	[ -d "$dir" ]
	[ -f "$dir.owner" ]
	kz_wait 20 eval '! grep -qs "^State:.[^ZX]" "/proc/$(cut -d" " -f1 "$dir.owner")/status"'
}

gone() {
	[ ! -e "$dir" ] && [ ! -e "$dir.owner" ] && ! grep -qF "$dir" /proc/self/mountinfo
}

# bats test_tags=case:root
@test "DEP-1 INV-26 a stack whose tests were killed goes, with its services, workers, cgroups and mounts" {
	killed <<-'E'
		load "$HERE/../kz"
		case "a" { kz_start SANDBOX_WARM_POOL_MIN=1; echo "$KZ_STATE" >"$WHERE"; sleep 600; }
	E
	KZ_STATE=$dir
	KZ_STACK_ID=$(cat "$dir/stack")
	export KZ_STATE KZ_STACK_ID
	run kz_left
	[ "$status" -eq 1 ]
	[[ $output == *"process "* && $output == *"cgroup "* ]]
	run "$SWEEP"
	echo "$output"
	[[ $output == *"$dir: its tests were killed"* ]]
	gone
	kz_left
}

# bats test_tags=case:root
@test "POOL-20 workers of a driver's tests that were killed go, with their cgroups" {
	killed <<-'E'
		load "$HERE/../driver"
		case "a" { driver_setup_file; driver_setup; create w-1; [ "$(field .answer)" = present ]; echo "$DRIVER_DIR" >"$WHERE"; sleep 600; }
	E
	unit=kz-$(printf %s "$dir"/s.* | sha256sum | cut -c1-8)
	[ -n "$(find /sys/fs/cgroup -type d -name "$unit.*")" ]
	run "$SWEEP"
	echo "$output"
	gone
	[ -z "$(find /sys/fs/cgroup -type d -name "$unit.*")" ]
}

@test "what a test started beside its stack goes; a person's shell that has its path in the environment does not" {
	local other
	killed <<-'E'
		load "$HERE/../kz"
		case "a" { d=$(mktemp -d /tmp/kza.XXXXXX); kz_own "$d"; setsid sleep 700 3>&- & echo $! >"$d/pid"; echo "$d" >"$WHERE"; sleep 600; }
	E
	pid=$(cat "$dir/pid")
	env -i KZ_STATE="$dir" sleep 700 3>&- &
	other=$!
	kill -0 "$pid"
	"$SWEEP"
	gone
	kz_wait 10 eval '! grep -qs "^State:.[^ZX]" "/proc/$pid/status"'
	kill "$other"
}

@test "what lives stays, and so does what no test made: another name, a link, an owner that cannot be read" {
	local d e f
	d=$(mktemp -d /tmp/kz.XXXXXX)
	kz_own "$d"
	# one whose start nobody wrote
	f=$(mktemp -d /tmp/kz.XXXXXX)
	echo "$$ " >"$f.owner"
	e=$(mktemp -d /tmp/kz.XXXXXX)
	echo "nobody" >"$e.owner"
	# a dead owner, of a link to elsewhere and of a name of another form
	mkdir "$BATS_TEST_TMPDIR/elsewhere"
	ln -s "$BATS_TEST_TMPDIR/elsewhere" "$e/link"
	ln -s "$BATS_TEST_TMPDIR/elsewhere" "${e}x"
	echo "1 1" >"${e}x.owner"
	mv "${e}x" "${e%??????}ABCDEF" && mv "${e}x.owner" "${e%??????}ABCDEF.owner"
	mkdir "$e-named" && echo "1 1" >"$e-named.owner"
	run "$SWEEP"
	echo "$output"
	local there
	for there in "$d" "$e" "$f" "$e-named" "$BATS_TEST_TMPDIR/elsewhere"; do
		[ -d "$there" ]
	done
	[ -L "${e%??????}ABCDEF" ]
	rm -rf "$d" "$d.owner" "$e" "$e.owner" "$f" "$f.owner" "$e-named" "$e-named.owner" "${e%??????}ABCDEF" "${e%??????}ABCDEF.owner"
}
