# Memory and calls that the kernel counts for nobody: a program that wants more than its share takes them from
# the machine, so each door is shut or counted.
# shellcheck disable=SC2154,SC2030,SC2031 # kz_run sets the variables
# bats file_tags=case:root
bats_require_minimum_version 1.5.0
load ../kz

setup_file() {
	kz_start SANDBOX_WARM_POOL_MIN=1 SANDBOX_POOL_TARGET_IDLE=0 SANDBOX_POOL_MAX_ALLOCATED=1 SANDBOX_MAX_WALL_SECONDS=120 \
		KZ_RUN_MEMORY_BYTES=134217728 KZ_RUN_PIDS=32
}

teardown_file() {
	kz_stop
}

# Datagrams that nobody reads, 500 MB of them if the kernel takes them; TCP the same way.
@test "BOUND-11 socket buffers are bounded: UDP and TCP over loopback hold a fraction of the memory bound" {
	kz_run -c '
import socket, struct
keep = []
# by the sockets themselves (SO_MEMINFO): the counters of the machine hold what everybody else has
def held():
    n = 0
    for s in keep:
        m = struct.unpack("9I", s.getsockopt(socket.SOL_SOCKET, 55, 36))
        n += m[0] + m[4] + m[5]
    return n >> 20
def udp():
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    for i in range(900):
        r = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        r.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
        r.bind(("127.0.0.1", 0))
        keep.append(r)
        for _ in range(20):
            s.sendto(b"x" * 32000, r.getsockname())
def tcp():
    l = socket.socket(); l.bind(("127.0.0.1", 0)); l.listen(8)
    for i in range(40):
        c = socket.socket(); c.connect(l.getsockname()); c.setblocking(False)
        keep.extend((c, l.accept()[0]))
        try:
            for _ in range(64): c.send(b"x" * 262144)
        except OSError:
            pass
for f, what in ((udp, "UDP"), (tcp, "TCP")):
    f()
    print(what, held())
    keep.clear()'
	echo "$output; $error"
	[ "$status" -eq 0 ]
	[ "$(grep -cE '^(UDP|TCP) [0-9]+$' <<<"$output")" -eq 2 ]
	# it is really held, and no more than a fraction
	while read -r _ mb; do
		[ "$mb" -ge 1 ]
		[ "$mb" -le 100 ]
	done <<<"$output"
}

# Each of these can hold memory that is charged to no cgroup, or to a bound of the whole machine.
@test "BOUND-11 RT-1 sockets whose memory nobody counts, and programs of sockets, are refused" {
	kz_run -c '
import ctypes, errno, socket, struct
def tried(name, f):
    try: f(); print(name, "made")
    except OSError as e: print(name, errno.errorcode[e.errno])
for family in range(46):
    for kind in (1, 2, 3, 5):
        if family in (socket.AF_UNIX, socket.AF_INET, socket.AF_INET6): continue
        try: socket.socket(family, kind); print("family", family, kind)
        except OSError: pass
for family in (socket.AF_INET, socket.AF_INET6):
    for kind, protocol in ((1, 132), (5, 132), (2, 136), (6, 33), (1, 262), (2, 115), (3, 255)):
        try: socket.socket(family, kind, protocol); print("protocol", protocol)
        except OSError: pass
prog = ctypes.create_string_buffer(struct.pack("HBBI", 6, 0, 0, 0xffff))
given = struct.pack("HL", 1, ctypes.addressof(prog))
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for option in (26, 50, 51, 52):
    tried("attach %d" % option, lambda: s.setsockopt(socket.SOL_SOCKET, option, given))
# what the kernel ignores above an int must not hide the rest
libc = ctypes.CDLL(None, use_errno=True)
high = 1 << 32
def raw(name, *a):
    print(name, "made" if libc.syscall(*map(ctypes.c_long, a)) >= 0 else errno.errorcode[ctypes.get_errno()])
raw("netlink", 41, high | 16, 3, 0)
raw("sctp", 41, 2, 1, high | 132)
raw("dccp", 41, 2, 6, high | 33)
raw("attach", 54, s.fileno(), high | 1, high | 26, ctypes.addressof(ctypes.create_string_buffer(given)), len(given))
# and what programs need still works
socket.socket(socket.AF_INET6).setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
socket.socket().setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
socket.getaddrinfo("localhost", 80)
print("fine")'
	echo "$output; $error"
	[ "$status" -eq 0 ]
	[ "$output" = "attach 26 EPERM
attach 50 EPERM
attach 51 EPERM
attach 52 EPERM
netlink EAFNOSUPPORT
sctp EPROTONOSUPPORT
dccp EPROTONOSUPPORT
attach EPERM
fine" ]
}

@test "RT-3 the limit of core files stays what never starts the core handler of the host" {
	kz_run -c '
import ctypes, errno, resource
libc = ctypes.CDLL(None, use_errno=True)
zero = ctypes.create_string_buffer(16)
at = ctypes.addressof(zero)
for a in ((302, 0, 4, at, 0), (302, 0, (1 << 32) | 4, at, 0), (160, 4, at), (160, (1 << 32) | 4, at)):
    print(libc.syscall(*map(ctypes.c_long, a)), errno.errorcode[ctypes.get_errno()])
print(resource.getrlimit(resource.RLIMIT_CORE))
resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
print(resource.getrlimit(resource.RLIMIT_NOFILE))'
	echo "$output; $error"
	[ "$output" = "-1 EINVAL
-1 EINVAL
-1 EINVAL
-1 EINVAL
(1, 1)
(64, 64)" ]
}

@test "BOUND-11 a program is never spared when the machine is out of memory" {
	kz_run -c '
import os
own = int(open("/proc/self/oom_score_adj").read())
print(own >= 500)
for v in (b"-1000", b"-1"):
    fd = os.open("/proc/self/oom_score_adj", os.O_WRONLY)
    try: os.write(fd, v); print("set", v)
    except OSError as e: print(e.strerror)'
	echo "$output; $error"
	[ "$output" = "True
Permission denied
Permission denied" ]
}

@test "BOUND-11 no program makes the machine write out or forget the files of others" {
	kz_run -c '
import ctypes, errno, os
libc = ctypes.CDLL(None, use_errno=True)
print(libc.syscall(162), errno.errorcode[ctypes.get_errno()])
# the kernel would find the descriptor bad
print(libc.syscall(221, ctypes.c_long(-1), 0, 0, ctypes.c_long(4)), libc.syscall(221, ctypes.c_long(-1), 0, 0, ctypes.c_long((1 << 32) | 4)))
print(libc.syscall(221, ctypes.c_long(-1), 0, 0, 0))
fd = os.open("f", os.O_CREAT | os.O_WRONLY); os.fsync(fd); os.sync()'
	echo "$output; $error"
	[ "$status" -eq 0 ]
	[ "$output" = "-1 ENOSYS
0 0
-1" ]
}

@test "RT-3 pressure of the machine can be neither watched nor read" {
	kz_run -l shell -c 'ls -A /proc/pressure; cat /proc/pressure/memory 2>/dev/null; echo end'
	[ "$output" = end ]
}
