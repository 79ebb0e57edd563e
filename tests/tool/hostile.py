#!/usr/bin/env python3
"""Speak a worker's control API badly: hostile.py SOCKET SECRET FENCE SEED SECONDS

Random requests, frames, cuts and drops by a caller that holds the secret.  Ends by asking for health; fails when
process 1 does not answer.
"""
import json
import random
import socket
import struct
import sys
import time

PATH, SECRET, FENCE, SEED, SECONDS = sys.argv[1:6]
LEASE = "a" * 32
R = random.Random(int(SEED))


def request(method, path, body):
    head = f"{method} {path} HTTP/1.1\r\nHost: w\r\nAuthorization: Bearer {SECRET}\r\nContent-Length: {len(body)}\r\n\r\n"
    return head.encode() + body


def framed(head, tail):
    text = json.dumps(head).encode()
    return struct.pack(">I", len(text)) + text + tail


def connect():
    s = socket.socket(socket.AF_UNIX)
    s.connect(PATH)
    s.settimeout(0.03)
    return s


PROGRAMS = [[b"/bin/true"], [b"/bin/sleep", b"5"], [b"/bin/cat"], [b"/usr/bin/yes"], [b"/nothing"],
            [b"/bin/sh", b"-c", b"sleep 9 & sleep 9 & kill -9 $$"]]


def execute():
    argv = R.choice(PROGRAMS)
    head = {"lease": LEASE, "argc": len(argv) + R.choice([0, 0, 0, 0, 1, -1]), "envc": 0,
            "wall_ms": R.choice([0, 1, 50, 3000]), "output_bytes": R.choice([1, 100, 1048576]), "open_files": 64,
            "stdin": R.random() < 0.5}
    return request("POST", "/v1/exec", framed(head, b"".join(a + b"\0" for a in argv)))


def message(fence):
    put = framed({"lease": LEASE, "name": R.choice(["a", "d/e", "../x", "/x"]), "mode": 420,
                  "size": R.choice([5, 4])}, b"hello")
    kinds = [
        lambda: request("POST", "/v1/bind", json.dumps({"lease": LEASE, "fence": fence, "ttl_ms": 60000}).encode()),
        execute, execute,
        lambda: request("POST", "/v1/reset", json.dumps({"lease": LEASE, "token": "t"}).encode()),
        lambda: request("POST", "/v1/put", put),
        lambda: request("POST", "/v1/get", json.dumps({"lease": LEASE, "name": "a", "max": 10}).encode()),
        lambda: request("GET", "/v1/health", b""),
        lambda: struct.pack(">BI", R.choice([16, 17, 18, 19, 1, 0]), R.choice([0, 3])) + R.choice([b"", b"abc"]),
        lambda: bytes(R.randrange(256) for _ in range(R.randrange(200))),
    ]
    made = R.choice(kinds)()
    return made[: R.randrange(len(made) + 1)] if R.random() < 0.1 else made


def main():
    socks, fence, end = [], int(FENCE), time.time() + float(SECONDS)
    while time.time() < end:
        fence += 1
        if not socks or R.random() < 0.5:
            socks.append(connect())
        s = R.choice(socks)
        try:
            s.sendall(message(fence))
            if R.random() < 0.6:
                s.recv(65536)
        except TimeoutError:
            pass
        except (BrokenPipeError, ConnectionResetError):
            socks.remove(s)
        if len(socks) > 20 or (socks and R.random() < 0.25):
            socks.pop(R.randrange(len(socks))).close()
    for s in socks:
        s.close()
    s = connect()
    s.settimeout(100)
    s.sendall(request("GET", "/v1/health", b""))
    assert s.recv(4096).startswith(b"HTTP/1.1 200")
    print(fence)


main()
