"""Entry streams (lib/rule/entry.h) for tests.

entries.py show [FILE]...  streams, else that on standard input, one line an entry: KIND MODE MTIME SIZE NAME [CONTENT or TARGET]
entries.py make [FILE]...  streams of lines KIND MODE MTIME NAME [CONTENT or TARGET] with tabs between, an empty line between streams
entries.py tree DIR        a stream of a directory, in an order of names that is not the sorted one
entries.py tars DIR        all the hostile and odd tars, as NAME.tar
"""
import io
import os
import struct
import sys

KINDS = {1: "file", 2: "dir", 3: "link"}
HEAD = struct.Struct(">BBHIqIIq")


def entry(kind, name, data=b"", mode=0o644, mtime=0):
    s, ns = divmod(mtime, 10**9)
    return HEAD.pack(kind, 0, len(name), mode, s, ns, 0, len(data)) + name + data


def end(count, skipped=0):
    return HEAD.pack(4, 0, 0, 0, skipped, 0, 0, count)


def parse(data):
    at = count = 0
    while True:
        kind, zero, n, mode, s, ns, zeros, size = HEAD.unpack_from(data, at)
        at += HEAD.size
        assert zero == 0 and zeros == 0
        if kind == 4:
            assert at == len(data) and size == count, "cut, or more after the end"
            return
        name, content = data[at : at + n], data[at + n : at + n + size]
        assert len(name) == n and len(content) == size
        at += n + size
        count += 1
        yield kind, name, content, mode, s * 10**9 + ns


def show(data):
    for kind, name, content, mode, mtime in parse(data):
        tail = "" if kind == 2 else " " + ascii(content[:60])
        print(f"{KINDS[kind]} {mode:04o} {mtime} {len(content)} {ascii(name)}{tail}")


def tree(top):
    top, out = os.fsencode(top), []
    for path, dirs, files in os.walk(top):
        dirs.sort(reverse=True)
        for name in sorted(dirs + files, reverse=True):
            full = os.path.join(path, name)
            st, rel = os.lstat(full), os.path.relpath(full, top)
            mode, mtime = st.st_mode & 0o7777, st.st_mtime_ns
            if os.path.islink(full):
                out.append(entry(3, rel, os.readlink(full), mode, mtime))
            elif os.path.isdir(full):
                out.append(entry(2, rel, b"", mode, mtime))
            elif os.path.isfile(full):
                with open(full, "rb") as f:
                    out.append(entry(1, rel, f.read(), mode, mtime))
    return b"".join(out) + end(len(out))


USTAR, GNU, PAX = 0, 1, 2


def tar(members, fmt=PAX):
    """members: (name, type, content or target) each"""
    import tarfile  # slow to load, and only this needs it

    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=fmt) as t:
        for name, kind, content in members:
            i = tarfile.TarInfo(name)
            i.type = kind
            if kind in (LNK, SYM):
                i.linkname, content = content, b""
            i.size = len(content)
            t.addfile(i, io.BytesIO(content))
    return out.getvalue()


REG, LNK, SYM, CHR, BLK, DIR, FIFO = b"0", b"1", b"2", b"3", b"4", b"5", b"6"


def nul_in_pax():
    data = tar([("a" * 300 + "X" + "b" * 10, REG, b"x")])
    return data.replace(b"a" * 300 + b"X", b"a" * 300 + b"\0", 1)


def sparse():
    """GNU sparse: 3 bytes at 4096 of 10000."""
    import tarfile

    i = tarfile.TarInfo("hole")
    i.size = 512
    head = bytearray(i.tobuf(GNU))
    head[156:157] = b"S"
    head[386:386 + 24] = b"%011o\0%011o\0" % (4096, 512)
    head[483:495] = b"%011o\0" % 10000
    head[148:156] = b" " * 8
    head[148:156] = b"%06o\0 " % sum(head)
    return bytes(head) + b"abc" + b"\0" * 509 + b"\0" * 1024


CASES = {
    "plain": lambda: tar([("a", REG, b"hello"), ("d", DIR, b""), ("d/l", SYM, "../a")]),
    "gnu": lambda: tar([("n" * 200, REG, b"1"), ("m" * 120, SYM, "t" * 300)], GNU),
    "ustar": lambda: tar([("a", REG, b"1")], USTAR),
    "utf8": lambda: tar([("caf\u00e9", REG, b"1"), ("e\u0301", REG, b"2"), ("bad\udcff", REG, b"3")]),
    "dots": lambda: tar([("./", DIR, b""), ("./a//b/", DIR, b""), ("./a/./c", REG, b"1")]),
    "parents": lambda: tar([("x/y/z", REG, b"1"), ("x/y/w", REG, b"2"), ("x/a", REG, b"3")]),
    "hardlink": lambda: tar([("z", REG, b"same"), ("a", LNK, "z"), ("b", LNK, "./a")]),
    "bomb": lambda: tar([("z", REG, b"x" * 1000)] + [(f"l{i}", LNK, "z") for i in range(100)]),
    "sparse": sparse,
    "absolute": lambda: tar([("/etc/passwd", REG, b"x")]),
    "dotdot": lambda: tar([("a/../../b", REG, b"x")]),
    "empty-name": lambda: tar([("", REG, b"x")]),
    "nul": nul_in_pax,
    "fifo": lambda: tar([("f", FIFO, b"")]),
    "char": lambda: tar([("c", CHR, b"")]),
    "block": lambda: tar([("b", BLK, b"")]),
    "through-link": lambda: tar([("l", SYM, "/tmp"), ("l/x", REG, b"x")]),
    "through-file": lambda: tar([("l", REG, b""), ("l/x", REG, b"x")]),
    "link-after": lambda: tar([("l/x", REG, b"x"), ("l", SYM, "/tmp")]),
    "twice": lambda: tar([("a", REG, b"1"), ("./a", REG, b"2")]),
    "twice-other": lambda: tar([("a", DIR, b""), ("a", SYM, "/tmp")]),
    "hardlink-out": lambda: tar([("a", LNK, "../../etc/passwd")]),
    "hardlink-absolute": lambda: tar([("a", LNK, "/etc/passwd")]),
    "hardlink-later": lambda: tar([("a", LNK, "z"), ("z", REG, b"x")]),
    "hardlink-self": lambda: tar([("a", LNK, "a")]),
    "hardlink-symlink": lambda: tar([("l", SYM, "/etc/passwd"), ("a", LNK, "l")]),
    "hardlink-dir": lambda: tar([("d", DIR, b""), ("a", LNK, "d")]),
    "long-component": lambda: tar([("a" * 256, REG, b"x")]),
    "long-name": lambda: tar([("/".join(["a" * 200] * 21), REG, b"x")]),
    "deep": lambda: tar([("/".join(["d"] * 129), DIR, b"")]),
    "cut-header": lambda: tar([("a", REG, b"x" * 600)])[:700],
    "cut-content": lambda: tar([("a", REG, b"x" * 600)])[:1100],
    "cut-end": lambda: tar([("a", REG, b"\0" * 1024)])[:1536],
    "one-zero-block": lambda: tar([("a", REG, b"x")])[:1536],
    "trailing": lambda: tar([("a", REG, b"x")]) + b"x",
    "second": lambda: tar([("a", REG, b"x")]) + tar([("b", REG, b"x")]),
    "checksum": lambda: tar([("a", REG, b"x")]).replace(b"ustar", b"ustaR", 1),
    "nothing": lambda: b"",
    "noise": lambda: b"not an archive at all" * 100,
    "cpio": lambda: b"070701" + b"0" * 104 + b"a\0" + b"\0" * 512,
    "zip": lambda: b"PK\x03\x04" + b"\0" * 1020,
}


def make(lines):
    out = []
    for line in lines:
        kind, mode, mtime, name, *rest = line.rstrip("\n").split("\t")
        data = rest[0].encode("latin-1") if rest else b""
        number = {v: k for k, v in KINDS.items()}[kind]
        name = name.encode("latin-1").decode("unicode_escape").encode("latin-1")
        out.append(entry(number, name, data, int(mode, 8), int(mtime)))
    return b"".join(out) + end(len(out))


def main(verb, *args):
    out = sys.stdout.buffer
    if verb == "show":
        for name in args or ["/dev/stdin"]:
            with open(name, "rb") as f:
                show(f.read())
    elif verb == "make":
        streams = sys.stdin.read().rstrip("\n").split("\n\n")
        for name, lines in zip(args or ["/dev/stdout"], streams, strict=True):
            with open(name, "wb") as f:
                f.write(make(lines.split("\n")))
    elif verb == "tree":
        out.write(tree(args[0]))
    elif verb == "tars":
        for name, content in CASES.items():
            with open(os.path.join(args[0], name + ".tar"), "wb") as f:
                f.write(content())


if __name__ == "__main__":
    main(*sys.argv[1:])
