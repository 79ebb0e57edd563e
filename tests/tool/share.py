"""Whoever runs code in kz-gateway has its descriptors: take the one that leads to the keeper of cooldowns, and try things.

share.py GATEWAY_PID ask WHAT HOST:PORT      print the answer: a number, or "unknown"; what changes nothing when it is asked again
                                             is asked again, as Valkey has a tenth of a second to answer
share.py GATEWAY_PID hostile                 send what no gateway sends; fails when any of it is answered as a question
share.py GATEWAY_PID flood COUNT             say of so many hosts that they failed; print how many were taken, and how many
                                             the time that it took allows
"""
import ctypes
import os
import socket
import struct
import sys
import time

SYS_PIDFD_GETFD = 438
libc = ctypes.CDLL(None, use_errno=True)


def take(pid):
    pidfd = os.pidfd_open(pid)
    for name in os.listdir(f"/proc/{pid}/fd"):
        fd = libc.syscall(SYS_PIDFD_GETFD, pidfd, int(name), 0)
        if fd < 0:
            continue
        try:
            s = socket.socket(fileno=fd)
        except OSError:
            os.close(fd)
            continue
        if s.family == socket.AF_UNIX and s.type & 0xF == socket.SOCK_SEQPACKET:
            s.setblocking(True)
            s.settimeout(20)
            return s
        s.close()
    sys.exit("the gateway has no such descriptor")


def packet(number, what, at):
    return struct.pack("=IB", number, what) + at.ljust(262, b"\0") + b"\0"


def send(s, number, data):
    s.send(data)
    while True:
        got, known, n = struct.unpack("=IIq", s.recv(64))
        if got == number:
            return n if known else None


def hostile(s):
    where = b"a.test:1"
    hosts = [b"", b"a.test", b":1", b"a.test:0", b"a.test:65536", b"a.test:01", b"A.test:1", b"a.test.:1", b"a..test:1", b"*:1",
             b"127.1:1", b"0x7f.0.0.1:1", b"[::ffff:127.0.0.1%1]:1", b"a.test:1 ", b" a.test:1", b"a.test:1\r\nFLUSHALL\r\n",
             b"a.test:1}:lease", b"lease:0:1", b"../x:1", b"{kz:x}:1", b"x" * 262, b"x" * 300, b"a.test:1\0b", b"\xff:1"]
    packets = [packet(9, w, where) for w in range(256) if w not in b"lfpr"]
    packets += [packet(9, w, h)[:268] for w in b"lfpr" for h in hosts]
    # the protocol of Valkey itself, and packets of another size
    packets += [b"FLUSHALL\r\n", b"*1\r\n$8\r\nFLUSHALL\r\n", b"*3\r\n$4\r\nAUTH\r\n$7\r\ndefault\r\n$1\r\nx\r\n", b"x", packet(9, 0x66, where)[:-1],
                packet(9, 0x66, where) + b"x", packet(9, 0x66, where) * 200]
    for p in packets:
        s.send(p)
        _, known, n = struct.unpack("=IIq", s.recv(64))
        assert (known, n) == (0, 0), (p, known, n)
    print(len(packets))


def main():
    s = take(int(sys.argv[1]))
    if sys.argv[2] == "ask":
        until = time.monotonic() + 30
        while True:
            n = send(s, 7, packet(7, ord(sys.argv[3]), sys.argv[4].encode()))
            if n is not None or sys.argv[3] not in "lf" or time.monotonic() > until:
                break
            time.sleep(1)
        print("unknown" if n is None else n)
    elif sys.argv[2] == "hostile":
        hostile(s)
    else:
        begin = time.monotonic()
        taken = [send(s, i, packet(i, ord("f"), b"h%d.test:1" % i)) for i in range(int(sys.argv[3]))]
        # share_keep.c: 64 at once, and one more each 60 ms
        print(sum(n is not None for n in taken), 64 + int((time.monotonic() - begin) / 0.06) + 2)


main()
