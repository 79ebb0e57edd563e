#!/usr/bin/env python3
"""Write archives that no workspace takes, each for one reason, to DIR/*.tar.

usage: hostile-tar.py DIR CANARY     CANARY: a file outside that some of them aim at
"""
import io
import os
import sys
import tarfile


def member(name, kind=tarfile.REGTYPE, data=b"", **fields):
    m = tarfile.TarInfo(name)
    m.type = kind
    m.size = len(data)
    for key, value in fields.items():
        setattr(m, key, value)
    return m, io.BytesIO(data)


def archive(path, *members):
    with tarfile.open(path, "w", format=tarfile.PAX_FORMAT) as t:
        for m, data in members:
            t.addfile(m, data)


def main():
    out, canary = sys.argv[1:]
    above = os.path.dirname(canary)
    at = lambda name: os.path.join(out, name + ".tar")
    archive(at("absolute"), member(canary, data=b"evil"))
    archive(at("parent"), member("../../canary", data=b"evil"))
    archive(at("parent-inside"), member("a/../../canary", data=b"evil"))
    archive(at("device"), member("null", tarfile.CHRTYPE, devmajor=1, devminor=3))
    archive(at("block"), member("disk", tarfile.BLKTYPE, devmajor=8, devminor=0))
    archive(at("through-link"), member("up", tarfile.SYMTYPE, linkname=above), member("up/canary", data=b"evil"))
    archive(at("through-relative-link"), member("up", tarfile.SYMTYPE, linkname=".."), member("up/canary", data=b"evil"))
    archive(at("hard-link-out"), member("hard", tarfile.LNKTYPE, linkname=canary))
    archive(at("twice"), member("f", data=b"one"), member("f", data=b"two"))
    archive(at("file-and-directory"), member("f", data=b"one"), member("f/g", data=b"two"))
    archive(at("long-component"), member("n" * 256, data=b"x"))
    archive(at("whole"), member("f", data=b"x" * 5000))
    with open(at("whole"), "rb") as f:
        whole = f.read()
    os.unlink(at("whole"))
    for name, data in ("cut", whole[:2000]), ("cut-in-head", whole[:300]), ("no-archive", b"no archive " * 200):
        with open(at(name), "wb") as f:
            f.write(data)


main()
