# kz-compress: the built-in rule, and the jail of a foreign filter.
# shellcheck disable=SC2154 # run sets the variables
bats_require_minimum_version 1.5.0

setup() {
	PATH=${KZ_BIN:-$BATS_TEST_DIRNAME/../../build/bin}:$PATH
	# a filter is read by nobody, so the way to it is open
	DIR=$(mktemp -d /tmp/kz-compress.XXXXXX)
	chmod 755 "$DIR"
	cd "$DIR" || return 1
}

teardown() {
	rm -rf "$DIR"
}

# filter: a Python program from standard input
filter() {
	{
		echo '#!/usr/bin/python3 -IS'
		cat
	} >"$DIR/filter"
	chmod 755 "$DIR/filter"
}

@test "CMP-6: what fits stays; of what does not, begin, end and errors stay; twice is the same" {
	printf 'a\nb\n' | kz-compress -b 256 | cmp - <(printf 'a\nb\n')
	seq 20000 | sed '7000s/$/ ValueError: boom/; 7001s/$/ ValueError: boom/' >text
	kz-compress -b 400 <text >short
	[ "$(stat -c %s short)" -le 400 ]
	[ "$(head -n 1 short)" = 1 ]
	[ "$(tail -n 1 short)" = 20000 ]
	grep -qx '7000 ValueError: boom' short
	grep -q '^\[\.\.\. [0-9]* bytes left out \.\.\.\]$' short
	kz-compress -b 400 <text | cmp - short
	# one line without an end, of characters with three bytes
	printf '\xe2\x82\xac%.0s' {1..1000} | kz-compress -b 300 >short
	[ "$(stat -c %s short)" -le 300 ]
	iconv -f utf-8 -t utf-8 short | cmp - short
}

@test "kz-compress: wrong use has its status" {
	run ! kz-compress -b 255
	[ "$status" -eq 64 ]
	run ! kz-compress relative/program
	[ "$status" -eq 64 ]
	run ! kz-compress "$DIR/none"
	[ "$status" -eq 66 ]
}

@test "CMP-5: a filter gets text, its bound and nothing else" {
	export CANARY=secret
	echo canary >"$DIR/secret"
	chmod 644 "$DIR/secret"
	exec 7<"$DIR/secret"
	filter <<-PY
		import os, socket, sys
		def refused(f, *a):
		    try: f(*a)
		    except OSError: return "refused"
		    return "done"
		print(sys.stdin.read().upper(), sys.argv[1], [k for k in os.environ if k != "LC_CTYPE"], os.getuid() != 0)
		print("read", refused(open, "$DIR/secret"), refused(open, "/etc/passwd"), refused(os.listdir, "/"), refused(os.listdir, "/proc"))
		print("write", refused(open, "$DIR/new", "w"), refused(open, "/tmp/kz-compress-new", "w"), refused(os.mkdir, "/tmp/kz-compress-new"))
		print("network", refused(socket.socket), refused(socket.socket, socket.AF_UNIX), refused(socket.socketpair))
		print("process", refused(os.fork), refused(os.kill, os.getppid(), 0), refused(os.setsid), refused(os.unshare if hasattr(os, "unshare") else os.setsid))
		print("execute", refused(os.execv, "/bin/sh", ["sh"]), refused(os.execv, "/usr/bin/env", ["env"]))
		print("descriptors", [refused(os.fstat, n) for n in (3, 7)])
	PY
	run --separate-stderr kz-compress -b 300 "$DIR/filter" <<<"text"
	exec 7<&-
	[ "$status" -eq 0 ]
	# the string it was given ends in a line end
	[ "${lines[0]}" = TEXT ]
	[ "${lines[1]}" = " 300 [] True" ]
	[[ $output != *done* ]]
	[ "$(grep -o refused <<<"$output" | wc -l)" -eq 18 ]
	[ ! -e "$DIR/new" ]
}

@test "CMP-4: processor time and memory of a filter have their bounds" {
	filter <<<'while True: pass'
	run ! kz-compress -s 1 "$DIR/filter" </dev/null
	[ "$status" -ge 128 ]
	filter <<<'x = bytearray(3 << 30)'
	run ! kz-compress "$DIR/filter" </dev/null
	[[ $output == *MemoryError* ]]
}
