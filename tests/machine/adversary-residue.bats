# One hostile tenant plants what it can wherever it can; the next one on the same worker looks for it. What was
# planted is asserted too, so that a plant that fails is no proof.
# shellcheck disable=SC2154,SC2030,SC2031 # kz_run sets the variables
# bats file_tags=case:root
bats_require_minimum_version 1.5.0
load ../kz

setup_file() {
	kz_start SANDBOX_WARM_POOL_MIN=1 SANDBOX_POOL_TARGET_IDLE=0 SANDBOX_POOL_MAX_ALLOCATED=1 SANDBOX_MAX_WALL_SECONDS=120 \
		KZ_RUN_MEMORY_BYTES=134217728 KZ_RUN_DISK_BYTES=16777216 KZ_RUN_INODES=512 KZ_RUN_PIDS=32
}

teardown_file() {
	kz_stop
}

# The tenant's own cgroups, one directory for each controller.
tenant_cgroups() {
	find /sys/fs/cgroup -type d -path "*/kz-$(printf %s "$KZ_STATE" | sha256sum | cut -c1-8).*/tenant"
}

plant() {
	kz_run -A first -C one -c '
import array, ctypes, fcntl, os, signal, socket, subprocess, time
libc = ctypes.CDLL(None, use_errno=True)
C = b"CANARY-7f3a"
def done(what): print(what, flush=True)
# files: every directory that can be written (packages: tests/tool/kz-worker-packages.bats), odd names, modes, attributes, a name gone and its file held
out = subprocess.run(["find", "/", "-xdev", "-type", "d", "-writable"], capture_output=True).stdout
dirs = set(out.split(b"\n")[:-1]) | {b"/work/space", b"/tmp", b"/var/tmp", b"/dev/shm", b"/dev/mqueue"}
for d in sorted(dirs):
    for name in (b"CANARY", b".CANARY\n\xff -rf", b"$(CANARY)"):
        with open(os.path.join(d, name), "wb") as f: f.write(b"" if d == b"/dev/mqueue" else C)
    done("files " + d.decode())
os.makedirs("/tmp/CANARY.d/a/b"); os.chmod("/tmp/CANARY.d/a", 0)
os.symlink("/etc", "/work/space/CANARY.link"); os.mkfifo("/var/tmp/CANARY.fifo"); os.mknod("/tmp/CANARY.w", 0o20000, 0)
os.setxattr("/tmp/CANARY", "user.c", C); os.chmod("/work/space", 0o777)
held = os.open("/tmp", os.O_TMPFILE | os.O_RDWR); os.write(held, C * 100000)
# memory and queues
libc.shmat.restype = ctypes.c_void_p
seg = libc.shmget(0x7f3a, 4096, 0o1666); ctypes.memmove(libc.shmat(seg, None, 0), C, len(C))
if min(seg, libc.msgget(0x7f3a, 0o1666), libc.semget(0x7f3a, 1, 0o1666)) >= 0: done("ipc")
memory = os.memfd_create("CANARY"); os.write(memory, C * 1000000)
# sockets: names, ports, a connection closed by this side, descriptors in flight in a cycle
keep = [socket.socket(socket.AF_UNIX) for _ in range(2)]
keep[0].bind(b"\0CANARY"); keep[1].bind("/tmp/CANARY.sock"); keep[0].listen(); keep[1].listen()
l = socket.socket(); l.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1); l.bind(("127.0.0.1", 4444)); l.listen(1)
c = socket.create_connection(("127.0.0.1", 4444)); l.accept()[0].close(); c.close()
for _ in range(50):
    s = socket.socket(); s.setblocking(False); s.connect_ex(("127.0.0.1", 4444)); keep.append(s)
for _ in range(10):
    x, y = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    x.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [x.fileno(), y.fileno(), held, memory]))])
done("sockets")
# locks and watches on what the image shares
for f in ("/usr/bin/env", "/etc/passwd", "/usr", "/etc", "/", "/.kz/kz-worker"):
    fd = os.open(f, os.O_RDONLY)
    fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    if not os.path.isdir(f): fcntl.lockf(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
    try: fcntl.fcntl(fd, fcntl.F_SETLEASE, fcntl.F_RDLCK); done("lease " + f)
    except OSError: pass
watch = libc.inotify_init1(0)
if min(libc.inotify_add_watch(watch, f, 0xfff) for f in (b"/usr/bin/env", b"/usr/bin", b"/etc/passwd")) > 0: done("locks")
# itself
os.nice(5); os.umask(0); os.sched_setaffinity(0, {min(os.sched_getaffinity(0))}); libc.personality(0x40000)
for f, v in (("oom_score_adj", "1000"), ("timerslack_ns", "1"), ("coredump_filter", "0xff"), ("comm", "CANARY")):
    with open("/proc/self/" + f, "w") as p: p.write(v)
libc.prlimit(0, 7, (ctypes.c_long * 2)(100, 100), None)
# the first process of its namespace, by every signal
for s in range(1, 65):
    if libc.kill(1, s) == 0: done("signal %d" % s)
# processes that want to stay: stopped, deaf, away from their parents, one blocked in vfork
for how in range(4):
    if os.fork() == 0:
        os.setsid()
        if os.fork(): os._exit(0)
        for s in set(range(1, 65)) - {9, 19, 32, 33}: signal.signal(s, signal.SIG_IGN)
        if how == 1: os.kill(os.getpid(), signal.SIGSTOP)
        if how == 2: os.execve("/usr/bin/python3", ["CANARY", "-c", "import os, subprocess, time\nwhile True: time.sleep(1)"], {})
        if how == 3:
            while True: os.write(1, b"")
        while True: time.sleep(1)
time.sleep(0.3)
done("processes")'
}

look() {
	kz_run -A second -C two -c '
import fcntl, os, resource, stat, subprocess
libc = None
def sh(c): return subprocess.run(c, shell=True, capture_output=True, text=True, errors="replace").stdout
print(sh("find / -xdev -not -path \"/proc/*\" -name \"*CANARY*\" 2>/dev/null; find /work /tmp /var/tmp /dev/shm /dev/mqueue -mindepth 1 -not -path /work/space -not -path /work/code -not -path /work/shared -not -path /work/packages -not -path /work/node_modules 2>&1"), end="")
print(sh("tail -qn +2 /proc/sysvipc/* /proc/net/unix /proc/net/tcp /proc/net/tcp6 /proc/net/udp; cat /proc/locks"), end="")
for p in os.listdir("/proc"):
    if p.isdigit():
        try: name = open("/proc/%s/comm" % p).read()
        except OSError: continue
        if "python" not in name: print("process", p, name, end="")
for f in ("/usr/bin/env", "/etc/passwd", "/usr", "/etc", "/", "/.kz/kz-worker"):
    fcntl.flock(os.open(f, os.O_RDONLY), fcntl.LOCK_EX | fcntl.LOCK_NB)
def own(f): return open("/proc/self/" + f).read().strip()
print(own("timerslack_ns"), own("coredump_filter"), own("oom_score_adj"), own("personality"), len(os.sched_getaffinity(0)) == os.cpu_count(),
      os.nice(0), os.umask(0), resource.getrlimit(resource.RLIMIT_NOFILE), oct(os.stat("/work/space").st_mode), os.uname().nodename)
u = os.statvfs("/tmp"); print(u.f_files - u.f_ffree, (u.f_blocks - u.f_bfree) * u.f_bsize)
'
}

@test "RESET-12 RESET-1 RESET-2 RESET-3 RT-3 cross-occupant residue: what one tenant plants everywhere, the next on its worker cannot find" {
	local clean
	look
	echo "$output; $error"
	[ "$status" -eq 0 ]
	clean=$output
	[ "$(wc -l <<<"$clean")" -eq 2 ]
	plant
	echo "$output; $error"
	[ "$status" -eq 0 ]
	[ "$output" = "files /dev/mqueue
files /dev/shm
files /tmp
files /var/tmp
files /work/space
ipc
sockets
locks
processes" ]
	[ "$(kz_record killed_count)" -ge 4 ]
	look
	echo "$output; $error"
	[ "$status" -eq 0 ]
	[ "$output" = "$clean" ]
	# it was one worker, with nothing of the first tenant's left in its account
	[ "$(kz-audit list -j | jq -r 'select(.kind == "dispatch").worker' | sort -u | wc -l)" -eq 1 ]
	kz_wait 20 nothing_shared
}

# Files in memory that are charged to the tenant while it is empty: something holds them.
nothing_shared() {
	[ "$(tenant_cgroups | while read -r d; do cat "$d/memory.stat" 2>/dev/null || :; done | awk '$1 == "shmem" { n += $2; k++ } END { print (k ? n : "unread") }')" = 0 ]
}

@test "RESET-12 the devices that all tenants share keep no mark, and still work" {
	kz_run -c '
import errno, os
for d in ("null", "zero", "full", "random", "urandom"):
    d = "/dev/" + d
    for f in (lambda: os.utime(d), lambda: os.utime(d, (0, 0)), lambda: os.chmod(d, 0o600), lambda: os.setxattr(d, "user.x", b"x"), lambda: os.chown(d, 1000, 1000), lambda: os.rename(d, "/tmp/x"), lambda: os.link(d, "/tmp/x")):
        try: f(); print("marked", d)
        except OSError as e: pass
    print(d, oct(os.stat(d).st_mode), flush=True)
print(os.system("echo x >/dev/null; echo x >>/dev/null; cat </dev/null; head -c 4 /dev/zero | wc -c"), len(open("/dev/urandom", "rb").read(3)))
try: os.write(os.open("/dev/full", os.O_RDWR), b"x")
except OSError as e: print(errno.errorcode[e.errno])'
	echo "$output; $error"
	[ "$status" -eq 0 ]
	[ "$output" = "/dev/null 0o20666
/dev/zero 0o20666
/dev/full 0o20666
/dev/random 0o20666
/dev/urandom 0o20666
4
0 3
ENOSPC" ]
}

# Name, number, arguments on x86-64: what the kernel does for one of these is a way out or in.
@test "RT-1 RT-3 RT-15 no call that reaches process 1, the kernel, other namespaces or the machine is answered" {
	[ "$(uname -m)" = x86_64 ] || skip "the numbers are those of x86-64"
	kz_run -c '
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
high = 1 << 32
user, buf = 0x10000000, ctypes.addressof(ctypes.create_string_buffer(256))
def path(s): return ctypes.addressof(names.setdefault(s, ctypes.create_string_buffer(s)))
names = {}
calls = [("ptrace attach", 101, 16, 1, 0, 0), ("ptrace seize", 101, 0x4206, 1, 0, 0), ("process_vm_readv", 310, 1, buf, 1, buf, 1, 0),
 ("process_vm_writev", 311, 1, buf, 1, buf, 1, 0), ("pidfd_getfd", 438, 0, 0, 0), ("kcmp", 312, 1, 1, 0, 0, 0), ("bpf", 321, 0, buf, 64),
 ("perf_event_open", 298, buf, 0, -1, -1, 0), ("userfaultfd", 323, 1), ("io_uring_setup", 425, 8, buf), ("io_setup", 206, 8, buf),
 ("fsopen", 430, path(b"tmpfs"), 0), ("open_tree", 428, -100, path(b"/"), 1), ("move_mount", 429, -100, path(b"/"), -100, path(b"/tmp"), 0),
 ("mount_setattr", 442, -100, path(b"/"), 0, buf, 32), ("mount", 165, path(b"x"), path(b"/tmp"), path(b"tmpfs"), 0, 0),
 ("umount2", 166, path(b"/tmp"), 2), ("pivot_root", 155, path(b"."), path(b".")), ("chroot", 161, path(b"/tmp")), ("statmount", 457, buf, buf, 256, 0),
 ("listmount", 458, buf, buf, 1, 0), ("unshare user", 272, user), ("unshare user, high", 272, high | user), ("unshare time", 272, 0x80), ("setns", 308, 0, 0),
 ("add_key", 248, path(b"user"), path(b"a"), path(b"b"), 1, -2), ("keyctl", 250, 0, -3, 1), ("request_key", 249, path(b"user"), path(b"a"), 0, 0),
 ("settimeofday", 164, buf, 0), ("clock_settime", 227, 0, buf), ("adjtimex", 159, buf), ("clock_adjtime", 305, 0, buf), ("syslog", 103, 3, buf, 64),
 ("fanotify_init", 300, 0x200, 0), ("open_by_handle_at", 304, 0, buf, 0), ("name_to_handle_at", 303, -100, path(b"/"), buf, buf, 0), ("iopl", 172, 3),
 ("ioperm", 173, 0, 8, 1), ("modify_ldt", 154, 1, buf, 16), ("acct", 163, 0), ("swapoff", 168, path(b"/tmp")), ("sethostname", 170, buf, 1),
 ("setdomainname", 171, buf, 1), ("mknod disk", 133, path(b"/tmp/d"), 0o60666, 0x800), ("mknod mem", 133, path(b"/tmp/m"), 0o20666, 0x101),
 ("setuid", 105, 0), ("setgid", 106, 0), ("setgroups", 116, 0, 0), ("setresuid", 117, 0, 0, 0), ("memfd_secret", 447, 0), ("mbind", 237, 0, 0, 0, 0, 0, 0),
 ("init_module", 175, buf, 1, path(b"")), ("finit_module", 313, 0, path(b""), 0), ("kexec_load", 246, 0, 0, 0, 0), ("quotactl", 179, 0, 0, 0, 0),
 ("rt scheduling", 144, 0, 1, ctypes.addressof(ctypes.c_int(1))), ("kill init", 62, 1, 9), ("tgkill init", 234, 1, 1, 9), ("sigqueue init", 129, 1, 9, buf)]
for flag in (0x20000, 0x2000000, 0x4000000, 0x8000000, user, 0x20000000, 0x40000000):
    calls += [("clone %x" % flag, 56, flag | 17, 0, 0, 0, 0), ("clone %x, high" % flag, 56, high | flag | 17, 0, 0, 0, 0)]
calls.append(("clone3", 435, buf, 88))
me = os.getpid()
for name, *a in calls:
    r = libc.syscall(*map(ctypes.c_long, a))
    if os.getpid() != me: os._exit(0)
    if r >= 0: print("answered:", name, r)
for f in ("1/environ", "1/mem", "1/maps", "1/cwd/x", "1/root/x", "1/fd/0", "1/stat", "kcore", "sched_debug", "self/../1/status"):
    try: open("/proc/" + f); print("opened:", f)
    except OSError: pass
for f in ("locks", "cmdline", "diskstats", "softirqs", "kallsyms", "keys", "key-users", "kmsg", "timer_list", "interrupts", "sysrq-trigger"):
    try: t = open("/proc/" + f).read(9); t and print("read:", f)
    except OSError: pass
for top, dirs, files in os.walk("/proc/sys"):
    for f in files:
        try: os.write(os.open(os.path.join(top, f), os.O_WRONLY), b"1"); print("written:", top, f)
        except OSError: pass
print(len(calls), "tried", libc.syscall(39) == me)'
	echo "$output; $error"
	[ "$status" -eq 0 ]
	[ "$output" = "74 tried True" ]
}
