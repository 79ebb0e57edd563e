#!/usr/bin/env python3
"""Execute PROGRAM ARG... on a kernel that has no Landlock, as far as it can see: its calls fail with ENOSYS.

usage: without-landlock.py PROGRAM [ARG]...
"""
import ctypes
import os
import struct
import sys

NO_NEW_PRIVS, SECCOMP, FILTER = 38, 22, 2
LOAD_NUMBER, IF_EQUAL, IF_ABOVE, ANSWER = 0x20, 0x15, 0x25, 0x06
ALLOW, ENOSYS = 0x7FFF0000, 0x00050000 | 38


class Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("code", ctypes.c_char_p)]


def main(*argv):
    # landlock_create_ruleset, add_rule and restrict_self are 444 to 446 on every architecture
    code = b"".join(struct.pack("=HBBI", *step) for step in (
        (LOAD_NUMBER, 0, 0, 0), (IF_ABOVE, 3, 0, 446), (IF_EQUAL, 1, 0, 444), (IF_EQUAL, 0, 1, 445),
        (ANSWER, 0, 0, ENOSYS), (ANSWER, 0, 0, ALLOW)))
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(NO_NEW_PRIVS, 1, 0, 0, 0) or libc.prctl(SECCOMP, FILTER, ctypes.byref(Program(6, code)), 0, 0):
        sys.exit(os.strerror(ctypes.get_errno()))
    os.execvp(argv[0], argv)


if __name__ == "__main__":
    main(*sys.argv[1:])
