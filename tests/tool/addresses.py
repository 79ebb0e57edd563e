"""addresses.py TABLE SEED: addresses around every block of policy/addresses.tbl, with their class.

Reads the table and does its own arithmetic on whole numbers (no address library, none of kz's code).  One line an
address: SPELLING <tab> NORMAL FORM <tab> CLASS <tab> REASON.  For each row: its first and last address and those
beside them, and random ones in it and anywhere, in the normal form and in other lawful spellings.
"""
import random
import sys


def groups_of(text):
    """Numbers of the groups of a part without "::"; the last may be four decimal parts."""
    out = []
    for g in text.split(":") if text else []:
        if "." in g:
            a, b, c, d = map(int, g.split("."))
            out += [a << 8 | b, c << 8 | d]
        else:
            out.append(int(g, 16))
    return out


def number(text):
    if ":" not in text:
        a, b, c, d = map(int, text.split("."))
        return a << 24 | b << 16 | c << 8 | d
    head, gap, tail = text.partition("::")
    head, tail = groups_of(head), groups_of(tail)
    groups = head + [0] * (8 - len(head) - len(tail) if gap else 0) + tail
    assert len(groups) == 8, text
    return sum(g << (112 - 16 * i) for i, g in enumerate(groups))


def read(path):
    """Classes by name with their reasons; rows (family, value, mask, class)."""
    reasons, rows = {}, []
    for line in open(path, encoding="ascii"):
        field = [f.strip() for f in line.split("|")]
        if line.startswith("#") or len(field) != 4:
            continue
        if field[0].startswith("class "):
            reasons[field[0].split()[1]] = field[2]
            continue
        block, name = field[0], field[1]
        if "*" in block:
            groups = block.split(":")
            value = sum(0 if g == "*" else int(g, 16) << (112 - 16 * i) for i, g in enumerate(groups))
            mask = sum(0 if g == "*" else 0xFFFF << (112 - 16 * i) for i, g in enumerate(groups))
            rows.append((6, value, mask, name))
            continue
        address, bits = block.split("/")
        family, width = (6, 128) if ":" in address else (4, 32)
        mask = ((1 << int(bits)) - 1) << (width - int(bits))
        rows.append((family, number(address), mask, name))
    return reasons, rows


def class_of(rows, family, n):
    held = [(bin(mask).count("1"), name) for f, value, mask, name in rows if f == family and n & mask == value]
    best = max(held)[0]
    names = {name for bits, name in held if bits == best}
    assert len(names) == 1, (family, n, names)
    return names.pop()


def hex_groups(n):
    return [n >> (112 - 16 * i) & 0xFFFF for i in range(8)]


def quad(n):
    return ".".join(str(n >> s & 255) for s in (24, 16, 8, 0))


def with_gap(groups, start, length):
    part = lambda g: ":".join("%x" % v for v in g)
    return part(groups[:start]) + "::" + part(groups[start + length:])


def normal(family, n):
    """RFC 5952."""
    if family == 4:
        return quad(n)
    if n >> 32 == 0xFFFF:
        return "::ffff:" + quad(n & 0xFFFFFFFF)
    g = hex_groups(n)
    runs = [(length, -start) for start in range(8) for length in range(2, 9 - start) if not any(g[start:start + length])]
    if not runs:
        return ":".join("%x" % v for v in g)
    length, start = max(runs)
    return with_gap(g, -start, length)


def spellings(family, n):
    """Other lawful texts of the same address."""
    if family == 4:
        return []
    g = hex_groups(n)
    out = [":".join("%04X" % v for v in g), ":".join("%x" % v for v in g),
           ":".join("%x" % v for v in g[:6]) + ":" + quad(n & 0xFFFFFFFF)]
    out += [with_gap(g, i, 1) for i in range(8) if g[i] == 0]
    if not any(g[:6]):
        out.append("::" + quad(n & 0xFFFFFFFF))
    return out


def main():
    reasons, rows = read(sys.argv[1])
    random.seed(sys.argv[2])
    wanted = set()
    for family, value, mask, _ in rows:
        full = (1 << (128 if family == 6 else 32)) - 1
        last = value | (full & ~mask)
        for n in [value - 1, value, value + 1, last - 1, last, last + 1] + [value | (random.getrandbits(128) & full & ~mask) for _ in range(8)]:
            if 0 <= n <= full:
                wanted.add((family, n))
    for _ in range(2000):
        wanted.add((4, random.getrandbits(32)))
        wanted.add((6, random.getrandbits(random.choice((32, 64, 96, 125, 128))) | random.choice((0, 1 << 125))))
    for family, n in sorted(wanted):
        name = class_of(rows, family, n)
        for text in [normal(family, n)] + spellings(family, n):
            print(text, normal(family, n), name, reasons[name], sep="\t")


if __name__ == "__main__":
    main()
