# What a program in a worker can reach: one line each, nothing when it is nothing but the proxy's port.
import ctypes
import os
import socket
import stat

for family, host in ((socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")):
    for port in range(1, 65536):
        s = socket.socket(family)
        if s.connect_ex((host, port)) == 0 and s.getpeername() != s.getsockname():
            print("port", host, port)
        s.close()
lines = open("/proc/net/unix").read().splitlines()[1:]
print(*(f"unix {x}" for x in lines), sep="\n", end="\n" if lines else "")
for where, dirs, files in os.walk("/"):
    if where in ("/proc", "/sys"):
        dirs[:] = []
        continue
    for name in files:
        try:
            mode = os.lstat(os.path.join(where, name)).st_mode
        except OSError:
            continue
        if stat.S_ISSOCK(mode) or stat.S_ISFIFO(mode):
            print("socket", os.path.join(where, name))
for what in ("fd", "root", "cwd", "ns/net", "mountinfo", "environ", "maps"):
    if os.path.lexists("/proc/1/" + what):
        print("process 1:", what)
libc = ctypes.CDLL(None, use_errno=True)
first = libc.syscall(434, 1, 0)  # pidfd_open
for fd in range(64):
    if first >= 0 and libc.syscall(438, first, fd, 0) >= 0:  # pidfd_getfd
        print("descriptor of process 1:", fd)
for flags, name in ((0x40000000 | 0x10000000, "unshare"), ):
    if libc.syscall(272, flags) == 0:
        print(name)
for host in ("198.18.0.1", "93.184.216.34", "10.1.2.3", "169.254.169.254", "198.51.100.53"):
    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
        s = socket.socket(socket.AF_INET, kind)
        s.settimeout(1)
        if s.connect_ex((host, 53)) == 0:
            print("reached", host, kind)
        s.close()
try:
    s = socket.socket()
    s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    s.bind(("127.0.0.1", 3128))
    s.listen()
    print("the proxy's port can be taken")
except OSError:
    pass
print("done")
