# Hostile programs: each ends within its bound plus one second, the record says why, and the next tenant of that
# shellcheck disable=SC2154,SC2030,SC2031 # run and kz_run set the variables
# worker finds nothing.  One worker serves them all, so that each row is also a test of the reset after the last.
# bats file_tags=case:root
bats_require_minimum_version 1.5.0
load ../kz

setup_file() {
	kz_start SANDBOX_WARM_POOL_MIN=1 SANDBOX_POOL_TARGET_IDLE=0 SANDBOX_POOL_MAX_ALLOCATED=1 SANDBOX_MAX_WALL_SECONDS=60 \
		KZ_RUN_MEMORY_BYTES=134217728 KZ_RUN_DISK_BYTES=16777216 KZ_RUN_INODES=512 KZ_RUN_PIDS=32
}

teardown_file() {
	kz_stop
}

# What a next tenant can see of the last one.
clean_after() {
	kz_run -l shell -c '
find /work /tmp /var/tmp /dev/shm /dev/mqueue -mindepth 1 ! -path /work/space ! -path /work/code ! -path /work/shared ! -path /work/packages ! -path /work/node_modules 2>/dev/null
ls /proc | grep -E "^[0-9]+$" | while read -r p; do [ -e "/proc/$p/cmdline" ] && tr "\0" " " <"/proc/$p/cmdline"; done | grep -E "canary|sleep" | grep -v grep
tail -qn +2 /proc/sysvipc/shm /proc/sysvipc/msg /proc/sysvipc/sem
tail -qn +2 /proc/net/unix /proc/net/tcp 2>/dev/null
true'
	[ "$status" -eq 0 ]
	[ -z "$output" ] || {
		echo "left: $output"
		return 1
	}
}

# ends_in MS ARG...: run it with that bound and check that the program was over within it and a second, as process 1 saw it:
# what a busy machine takes to start and end kz-run is not the program's, and its second is longer. Nothing waits for a tree longer than its bound.
ends_in() {
	local ms=$1 start=$SECONDS
	shift
	kz_run -t "$ms" "$@"
	[ "$(kz_record wall_ms)" -lt $((ms + $(kz_late))) ] && kz_within $((ms / 1000 + 20)) "$start" || {
		echo "took $((SECONDS - start)) s, the program $(kz_record wall_ms) ms"
		return 1
	}
}

is() {
	echo "status $status, record $record, stderr $(head -c 500 <<<"$error")"
	[ "$status" -eq "$1" ]
	kz_record_is outcome "$2"
	kz_record_is cause "$3"
	[ "$(kz_record 'limits_hit|join(",")')" = "$4" ]
}

@test "BOUND-1 fork: children of an ended program are killed" {
	ends_in 60000 -l shell -c 'sleep 100 & sleep 101 & echo done'
	is 0 completed exit ""
	[ "$(kz_record killed_count)" -ge 2 ]
	clean_after
}

@test "BOUND-1 double fork and setsid" {
	ends_in 60000 -c '
import os, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        time.sleep(100)
    os._exit(0)
os.wait()'
	is 0 completed exit ""
	[ "$(kz_record killed_count)" -ge 1 ]
	clean_after
}

@test "BOUND-1 ignored TERM, HUP and INT" {
	ends_in 3000 -l shell -c 'trap "" TERM HUP INT; while :; do sleep 1; done'
	is 124 bounded wall "wall"
	clean_after
}

@test "BOUND-1 stdout kept open by a child never delays the end" {
	ends_in 60000 -l shell -c 'sleep 100 >&1 2>&1 & echo first'
	is 0 completed exit ""
	[ "$output" = first ]
	clean_after
}

@test "BOUND-11 disk filled: ENOSPC for the program, listed" {
	ends_in 60000 -c '
import errno
try:
    with open("/work/space/fill", "wb") as f:
        while True: f.write(b"x" * 65536)
except OSError as e:
    print(errno.errorcode[e.errno])'
	is 0 completed exit "disk"
	[ "$output" = ENOSPC ]
	clean_after
}

@test "BOUND-11 inode exhaustion: inodes filled: ENOSPC for the program, listed" {
	ends_in 60000 -c '
import errno
try:
    for i in range(100000): open("/tmp/%d" % i, "w").close()
except OSError as e:
    print(errno.errorcode[e.errno])'
	is 0 completed exit "inodes"
	[ "$output" = ENOSPC ]
	clean_after
}

@test "BOUND-11 memory used up" {
	ends_in 60000 -c '
a = []
while True: a.append(bytearray(1 << 20))'
	is 125 bounded memory "memory"
	kz_record_is reason memory_exceeded
	[[ $error == *" used up its memory (KZ_RUN_MEMORY_BYTES = "* ]]
	clean_after
}

@test "BOUND-11 memory used up by a child ends the tree" {
	ends_in 60000 -l shell -c 'python3 -c "a = []
while True: a.append(bytearray(1 << 20))"; sleep 100'
	is 125 bounded memory "memory"
	clean_after
}

@test "BOUND-11 fork without end" {
	ends_in 60000 -c '
import os
while True:
    try: os.fork()
    except OSError: pass'
	is 125 bounded pids "pids"
	kz_record_is reason pids_exceeded
	[[ $error == *" process bound (KZ_RUN_PIDS = "* ]]
	clean_after
}

@test "BOUND-3 100 MB of output is counted, kept to the bound, and ends no run" {
	ends_in 60000 -l shell -c 'head -c 100000000 /dev/zero; echo end >&2'
	is 125 completed exit "output"
	kz_record_is reason output_truncated
	kz_record_is stdout.seen_bytes 100000000
	kz_record_is stdout.sha256 "$(head -c 100000000 /dev/zero | sha256sum | cut -d' ' -f1)"
	[[ $(tail -n 1 <<<"$error") == "kz-run: output_truncated: "* ]]
	[[ $error == end* ]]
	[ $(($(kz_record stdout.kept_bytes) + $(kz_record stderr.kept_bytes))) -le 1048576 ]
	clean_after
}

@test "EXEC-14 descriptors closed" {
	ends_in 60000 -l shell -c 'exec 0<&- 1>&- 2>&-; sleep 1; exit 4'
	is 4 failed exit ""
	clean_after
}

@test "BOUND-1 a program that stops itself ends at its bound" {
	ends_in 3000 -l shell -c 'kill -STOP $$'
	is 124 bounded wall "wall"
	clean_after
}

@test "BOUND-1 a program that busy-loops ends at its bound" {
	ends_in 3000 -c 'while True: pass'
	is 124 bounded wall "wall"
	clean_after
}

@test "RESET-5 shared memory, queues, semaphores, sockets and modes are gone for the next tenant" {
	ends_in 60000 -c '
import ctypes, os, socket, stat
libc = ctypes.CDLL(None)
libc.shmget(1, 4096, 0o1666); libc.msgget(2, 0o1666); libc.semget(3, 1, 0o1666)
open("/dev/shm/x", "w").close()
s = socket.socket(socket.AF_UNIX); s.bind("\0canary"); s.listen()
os.chmod("/work/space", 0o777)
if os.fork() == 0:
    os.setsid()
    import time; time.sleep(100)
print("made")'
	is 0 completed exit ""
	[ "$output" = made ]
	clean_after
	kz_run -l shell -c 'stat -c %a /work/space; ulimit -n'
	local first=$output
	kz_run -l shell -c 'chmod 711 /work/space; ulimit -n 100'
	kz_run -l shell -c 'stat -c %a /work/space; ulimit -n'
	[ "$output" = "$first" ]
}

@test "RESET-4 the same worker served all of the above" {
	[ "$(kz-audit list -j | jq -r 'select(.kind == "dispatch").worker // empty' | sort -u | wc -l)" -le 2 ]
}
