#!/usr/bin/python3
"""What kz-native finds of damaged documents: the table of docs/native.md, measured.

usage: native-mutations.py KZ_NATIVE DIR [--least FILE]

Takes the sound documents below DIR (those that are accepted at level 2), damages each in every way and counts what each
level refuses.  Prints a Markdown table.  Fails (1) when level 2 refuses a sound document, or accepts a damaged Office document
whose parts are not the sound one's to the byte; with --least also when a level refuses fewer of a kind of damage than the table
in FILE says, by more than chance explains.
"""
import glob
import json
import math
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile

KINDS = ("Office", "PDF")
# Places of a damage that has a place.  Documents carry the time of their making, so every run damages others: four places of
# each once gave 27 of 32 where 31 were told.
TRIES = 64


def places(n, seed):
    rng = random.Random(seed)
    return [rng.randrange(n // 20, n - n // 20) for _ in range(TRIES)]


def bit(data, at):
    out = bytearray(data)
    out[at] ^= 1 << (at % 8)
    return bytes(out)


def by_place(change):
    def all_of(data):
        # Different places of every length, the same ones in every run.
        return [change(data, at) for at in places(len(data), len(data))]
    return all_of


DAMAGE = [
    ("one bit flipped", by_place(bit)),
    ("512 bytes zeroed", by_place(lambda d, at: d[:at] + bytes(min(512, len(d) - at)) + d[at + 512:])),
    ("one byte deleted", by_place(lambda d, at: d[:at] + d[at + 1:])),
    ("one byte added", by_place(lambda d, at: d[:at] + b"x" + d[at:])),
    ("two blocks of 64 bytes exchanged", by_place(lambda d, at: d[:at - 64] + d[at:at + 64] + d[at - 64:at] + d[at + 64:])),
    ("cut to 50 %", lambda d: [d[:len(d) // 2]]),
    ("cut to 90 %", lambda d: [d[:len(d) * 9 // 10]]),
    ("last 100 bytes cut", lambda d: [d[:-100]]),
    ("last byte cut", lambda d: [d[:-1]]),
    ("2 KiB appended", lambda d: [d + b"\n" * 2048, d + b"junk" * 512]),
    ("read as Latin-1, written as UTF-8", lambda d: [d.decode("latin-1").encode("utf-8")]),
    ("read as UTF-8 with replacement, written again", lambda d: [d.decode("utf-8", "replace").encode("utf-8")]),
    ("LF became CRLF", lambda d: [d.replace(b"\n", b"\r\n")]),
    ("CRLF became LF", lambda d: [d.replace(b"\r\n", b"\n")]),
    ("an HTML error page", lambda d: [b"<!DOCTYPE html><html><body>502 Bad Gateway</body></html>\n"]),
    ("0 bytes", lambda d: [b""]),
]


def judge(program, level, paths):
    """The names of those that are sound, in calls of as many files as one takes."""
    sound = set()
    for i in range(0, len(paths), 64):
        done = subprocess.run([program, "check", "-j", "--level", str(level)] + paths[i:i + 64], stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=300)
        if done.returncode not in (0, 65):
            sys.exit(f"kz-native ended with {done.returncode}: {done.stderr}")
        lines = [json.loads(x) for x in done.stdout.splitlines()]
        if len(lines) != len(paths[i:i + 64]):
            sys.exit("kz-native did not tell of every file")
        sound.update(x["name"] for x in lines if x["sound"])
    return sound


def parts(path):
    """The names and bytes of a ZIP's members, by a reader that is not kz-native's; nothing of one that it cannot read."""
    try:
        with zipfile.ZipFile(path) as archive:
            return [(name, archive.read(name)) for name in archive.namelist()]
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError):
        return None


def measure(program, documents, work):
    """{(damage, kind): [made, refused at 1, refused at 2]}, and those that level 2 accepted though a part is another"""
    made, origin = {}, {}
    for document in documents:
        kind = "PDF" if document.endswith(".pdf") else "Office"
        with open(document, "rb") as f:
            data = f.read()
        for number, (name, change) in enumerate(DAMAGE):
            for i, out in enumerate(change(data)):
                if out == data:
                    continue
                stem, end = os.path.splitext(os.path.basename(document))
                path = os.path.join(work, f"{number}-{i}-{stem}{end}")
                with open(path, "wb") as f:
                    f.write(out)
                made.setdefault((name, kind), []).append(path)
                origin[path] = document
    paths = [p for some in made.values() for p in some]
    sound = {level: judge(program, level, paths) for level in (1, 2)}
    counts = {key: [len(some)] + [sum(p not in sound[level] for p in some) for level in (1, 2)] for key, some in made.items()}
    return counts, [p for (_, kind), some in made.items() if kind == "Office" for p in some
                    if p in sound[2] and parts(p) != parts(origin[p])]


def table(found):
    cell = {key: (f"{c[1]} / {c[0]}", f"{c[2]} / {c[0]}") for key, c in found.items()}
    rows = ["| damage | Office, level 1 | Office, level 2 | PDF, level 1 | PDF, level 2 |", "| --- | --- | --- | --- | --- |"]
    for name, _ in DAMAGE:
        cells = [x for kind in KINDS for x in cell.get((name, kind), ("-", "-"))]
        rows.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(rows)


def chance(told, made):
    """How far two samples of one share lie apart by chance: five standard deviations, of a share never taken as exactly 1."""
    share = (told * made + 1) / (made + 2)
    return 5 * math.sqrt(2 * share * (1 - share) / made)


def least(path):
    """The shares that a table tells."""
    told = {}
    with open(path, encoding="utf-8") as f:
        for line in f:
            cells = [c.strip() for c in line.strip().strip("|").split("|")]
            if len(cells) != 5 or cells[0] not in dict(DAMAGE):
                continue
            for i, cell in enumerate(cells[1:]):
                m = re.fullmatch(r"(\d+) / (\d+)", cell)
                if m:
                    told[cells[0], KINDS[i // 2], 1 + i % 2] = int(m[1]) / int(m[2])
    return told


def main():
    if len(sys.argv) not in (3, 5):
        sys.exit(__doc__)
    program, top = sys.argv[1:3]
    documents = sorted(p for k in ("pdf", "docx", "pptx", "xlsx") for p in glob.glob(os.path.join(top, f"*.{k}")))
    # What needs a password is sound as far as it can be read, so no measure of what is found.
    documents = [d for d in documents if "encrypted" not in d]
    sound = judge(program, 2, documents)
    bad = [f"refused, and sound: {d}" for d in documents if d not in sound]
    work = tempfile.mkdtemp(prefix="kz-native.")
    try:
        found, altered = measure(program, [d for d in documents if d in sound], work)
    finally:
        shutil.rmtree(work)
    print(table(found))
    bad += [f"accepted, and a part is another: {p}" for p in altered]
    if len(sys.argv) == 5:
        told = least(sys.argv[4])
        if len(told) < 2 * len(DAMAGE):
            bad.append(f"{sys.argv[4]} has no such table")
        for (name, kind, level), share in told.items():
            made = found.get((name, kind), [0, 0, 0])
            if made[0] and made[level] / made[0] < share - chance(share, made[0]):
                bad.append(f"{name}, {kind}, level {level}: {made[level]} of {made[0]}, the table says {share:.0%}")
    print("\n".join(bad), file=sys.stderr)
    sys.exit(1 if bad else 0)


main()
