#!/usr/bin/env python3
"""Write each attempt to open a TCP connection, and each UDP datagram, that leaves this network namespace or goes
over its loopback, as a line "tcp|udp ADDRESS PORT FROM_PORT" to a file.  What is tried is seen, not only what
succeeds; nobody has to listen there.

usage: sniff.py LOG
"""
import ctypes
import ipaddress
import socket
import struct
import sys

OUTGOING = 4


def op(code, jt, jf, k):
    return struct.pack("HBBI", code, jt, jf, k)


# The packets wanted: TCP with SYN and without ACK, UDP; at the network header.
LOAD_B, SHIFT, JEQ, AND, RET = 0x30, 0x74, 0x15, 0x54, 0x06
PROGRAM = [
    op(LOAD_B, 0, 0, 0), op(SHIFT, 0, 0, 4), op(JEQ, 0, 7, 4),
    # version 4
    op(LOAD_B, 0, 0, 9), op(JEQ, 12, 0, 17), op(JEQ, 0, 12, 6),
    op(0xb1, 0, 0, 0), op(0x50, 0, 0, 13), op(AND, 0, 0, 0x12), op(JEQ, 7, 8, 2),
    # version 6
    op(JEQ, 0, 7, 6), op(LOAD_B, 0, 0, 6), op(JEQ, 4, 0, 17), op(JEQ, 0, 4, 6),
    op(LOAD_B, 0, 0, 53), op(AND, 0, 0, 0x12), op(JEQ, 0, 1, 2),
    op(RET, 0, 0, 65535), op(RET, 0, 0, 0),
]


def attach(s):
    code = ctypes.create_string_buffer(b"".join(PROGRAM))
    s.setsockopt(socket.SOL_SOCKET, 26, struct.pack("HL", len(PROGRAM), ctypes.addressof(code)))


def main():
    s = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(3))
    attach(s)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8 << 20)
    log = open(sys.argv[1], "a", buffering=1)
    print("ready", flush=True)
    while True:
        p, where = s.recvfrom(128)
        if where[2] != OUTGOING or len(p) < 24:
            continue
        if p[0] >> 4 == 4:
            proto, to, at = p[9], ipaddress.ip_address(p[16:20]), 4 * (p[0] & 15)
        else:
            proto, to, at = p[6], ipaddress.ip_address(p[24:40]), 40
        if len(p) >= at + 4:
            source, port = struct.unpack("!HH", p[at:at + 4])
            log.write(f"{'tcp' if proto == 6 else 'udp'} {to} {port} {source}\n")


if __name__ == "__main__":
    main()
