#!/usr/bin/env python3
"""Connections to a worker that do not show its secret: silent.py SOCKET SECRET

One says nothing and one sends half a head: both must be closed soon.  One that showed the secret stays open.
"""
import socket
import sys
import time

HEALTH = f"GET /v1/health HTTP/1.1\r\nHost: w\r\nAuthorization: Bearer {sys.argv[2]}\r\n\r\n".encode()


def connect():
    s = socket.socket(socket.AF_UNIX)
    s.connect(sys.argv[1])
    s.settimeout(100)
    return s


known = connect()
known.sendall(HEALTH)
assert b"200 OK" in known.recv(65536)
begin = time.monotonic()
silent, slow = connect(), connect()
slow.sendall(HEALTH[:20])
assert silent.recv(1) == b"" and slow.recv(1) == b""
assert 3 < time.monotonic() - begin < 90
known.sendall(HEALTH)
assert b"200 OK" in known.recv(65536)
