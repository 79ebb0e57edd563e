#!/usr/bin/env bats
# The file system of packages in a real worker: bounds of its own, memory of its own, clean afterwards.
# Of a run here: 32 MiB of files, 1000 inodes, 128 MiB of memory; of packages: 48 MiB, 1500 inodes.

bats_require_minimum_version 1.5.0
load worker

setup_file() { worker_start; }
teardown_file() { worker_stop; }

# CALL... of one lease with a reset, which leaves nothing
lease() {
	wk bind "$LEASE" "$(fence)" 600000 + "$@" + reset "$LEASE" t
	cat "$WORKER_STATE/out" "$WORKER_STATE/err"
	[ "$status" -eq 0 ]
	[ -z "$(dirty)" ] || {
		echo "dirty: $(dirty)"
		return 1
	}
}

# causes of all runs in said, in order
causes() { jq -rs '[.[] | select(.cause) | .cause] | join(" ")' "$WORKER_STATE/said"; }

# a program that has N MiB at once and writes them
has() { echo "exec $LEASE 120000 1000 /usr/bin/python3 -c b=bytearray($1<<20);print(len(b)>>20)"; }

# an installation of N MiB in one file
fill="import os;f=open('/work/packages/big','wb');[f.write(os.urandom(1<<20)) for i in range(%d)]"
# shellcheck disable=SC2059 # the format is the program
installs() { printf "$fill" "$1"; }

@test "BOUND-11 BRK-26: packages take nothing of the run's files, nor these of theirs" {
	lease install "$LEASE" 120000 1048576 /usr/bin/python3 -c "$(installs 48)
for top in ('/work/space', '/tmp'):
    with open(top + '/mine', 'wb') as f: f.write(bytes(15 << 20))
print('both')" + \
		exec "$LEASE" 120000 1000 /bin/sh -c 'stat -c "%n %s" /work/packages/big /work/space/mine /tmp/mine'
	[ "$(cat "$WORKER_STATE/out")" = "$(printf 'both\n/work/packages/big 50331648\n/work/space/mine 15728640\n/tmp/mine 15728640')" ]
	[ "$(record '.limits_hit | tostring')" = '[]' ]
}

@test "BOUND-11: full of bytes or of files it says so to the installer, and the run's own files are as they were" {
	# the bound as stored, and the rest of each file's last page
	lease install "$LEASE" 120000 1048576 /usr/bin/python3 -c "
import errno, os
os.chdir('/work/packages')
v = os.statvfs('.')
print(v.f_blocks * v.f_frsize - 1500 * os.sysconf('SC_PAGESIZE'), v.f_files)
n = 0
try:
    with open('big', 'wb', 0) as f:
        while True: n += f.write(b'x' * 65536)
except OSError as e: print(errno.errorcode[e.errno], n == v.f_blocks * v.f_frsize)
os.unlink('big')
n = 0
try:
    while True:
        open('f%d' % n, 'w').close()
        n += 1
except OSError as e: print(errno.errorcode[e.errno], n)
open('/work/space/mine', 'w').write('x')"
	[ "$(cat "$WORKER_STATE/out")" = "$(printf '50331648 1501\nENOSPC True\nENOSPC 1500')" ]
	[ "$(record '[.cause, .exit, .limits_hit] | tostring')" = '["exit",0,[]]' ]
}

# shellcheck disable=SC2046 # words of a call
@test "BOUND-11: what an installation wrote is not of the program's memory, whose bound stays what it is" {
	# 48 MiB of files and 100 of memory: the step has the bound of a run beside what it installs
	lease install "$LEASE" 120000 1000 /usr/bin/python3 -c "$(installs 48);b=bytearray(100<<20);print(len(b)>>20)" + \
		$(has 100) + $(has 140) + $(has 100)
	[ "$(causes)" = "exit exit memory exit" ]
	# and without packages, in the same worker, it is the same
	lease $(has 100) + $(has 140)
	[ "$(causes)" = "exit memory" ]
	# what it wrote elsewhere counts as ever
	lease install "$LEASE" 120000 1000 /usr/bin/python3 -c "open('/tmp/mine','wb').write(bytes(30<<20))" + $(has 80) + $(has 110)
	[ "$(causes)" = "exit exit memory" ]
}

# shellcheck disable=SC2046 # words of a call
@test "BOUND-11 BRK-26: what is put there is charged to process 1, which has room for it; the program has its whole memory, and no more" {
	WK_PACKAGES=1 lease install "$LEASE" 120000 1000 /usr/bin/python3 -c "$(installs 47)" + tree-get "$LEASE" 50331648 1500
	cp "$WORKER_STATE/out" "$BATS_TEST_TMPDIR/s"
	[ "$(stat -c %s "$BATS_TEST_TMPDIR/s")" -gt $((47 << 20)) ]
	export WK_PACKAGES=1
	lease tree-put "$LEASE" g "$BATS_TEST_TMPDIR/s" + $(has 100) + $(has 140) + exec "$LEASE" 120000 1000 /usr/bin/stat -c %s /work/packages/big
	[ "$(causes)" = "exit memory exit" ]
	[ "$(tail -n 1 "$WORKER_STATE/out")" -eq $((47 << 20)) ]
	# what replaced an installation is not in the tenant's account any more
	lease install "$LEASE" 120000 1000 /usr/bin/python3 -c "$(installs 47)" + tree-put "$LEASE" g "$BATS_TEST_TMPDIR/s" + $(has 100) + $(has 140)
	[ "$(causes)" = "exit exit memory" ]
}

@test "BOUND-11: an installer that wants more memory than a run beside its files is ended for it, and the worker goes on" {
	lease install "$LEASE" 120000 1000 /usr/bin/python3 -c "$(installs 40);b=bytearray(200<<20)" + exec "$LEASE" 120000 1000 /bin/echo on
	[ "$(causes)" = "memory exit" ]
}

@test "RESET-2 RESET-3 RESET-12: packages that are full, deep, closed, or without a name and held open, are gone with the lease" {
	# shellcheck disable=SC2016 # for the tenant's shell
	lease install "$LEASE" 120000 1000000 /bin/sh -c 'cd /work/packages; exec 9>held; head -c 1000000 /dev/zero >&9; rm held
		mkdir -p .hidden/a/b; echo x >.hidden/a/b/c; chmod 0 .hidden; mkfifo fifo; head -c 60000000 /dev/zero >big
		sleep 100 <&9 >/dev/null 2>&1 & setsid sleep 100 9>&9 >/dev/null 2>&1 & exit 0'
	finds_nothing
	lease exec "$LEASE" 120000 1000 /bin/sh -c 'find /work/packages -mindepth 1; stat -c %a:%u:%h /work/packages; grep -c " /work/packages .*ro,nosuid,nodev" /proc/self/mountinfo'
	[ "$(cat "$WORKER_STATE/out")" = "$(printf '755:1000:2\n1')" ]
}
