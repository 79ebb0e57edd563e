#!/usr/bin/env python3
"""Ask kz-proxy something, by the grant in EG_GRANT and EG_EXECUTION, at EG_SOCK (see proxy.py).

usage: ask.py connect AUTHORITY...      one line each: STATUS AUTHORITY
       ask.py get URL...                the same for plain HTTP; with the length of the body
       ask.py raw                       the bytes on standard input, the whole answer on standard output
       ask.py resolve SERVER NAME       ask a DNS server for an A record; 0 when there is one
       ask.py probe NAME                a function of probes.py
       ask.py attack NAME [ARG]...      a function of adversary.py
"""
import socket
import struct
import sys

import proxy


def resolve(server, name):
    q = struct.pack("!HHHHHH", 7, 0x100, 1, 0, 0, 0) + b"".join(
        bytes([len(x)]) + x.encode() for x in name.split(".")) + b"\0\0\1\0\1"
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        s.settimeout(2)
        s.sendto(q, (server, 53))
        got = s.recv(4096)
    return struct.unpack("!H", got[6:8])[0] > 0


def main(verb, *args):
    if verb == "resolve":
        return 0 if resolve(*args) else 1
    if verb == "connect":
        for authority in args:
            print(proxy.try_connect(authority)[0], authority)
    elif verb == "get":
        for url in args:
            code, got = proxy.ask(proxy.get_head(url))
            print(code, url, len(got.partition(b"\r\n\r\n")[2]))
    elif verb == "raw":
        sys.stdout.buffer.write(proxy.ask(sys.stdin.buffer.read())[1])
    elif verb == "probe":
        import probes
        getattr(probes, args[0])(*args[1:])
    elif verb == "attack":
        import adversary
        getattr(adversary, args[0])(*args[1:])
    else:
        sys.exit(__doc__)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main(*sys.argv[1:]))
    except AssertionError as e:
        sys.exit(f"not as it should be: {e}")
