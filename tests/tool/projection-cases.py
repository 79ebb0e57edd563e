#!/usr/bin/env python3
"""Cases of kz-project resolve, one a line: every rule of the two admission paths, through the program.

usage: projection-cases.py KZ_PROJECT DIR      prints each case that is not as said, fails then
A case: rows, what is so, SPEC of scope.py, does the code ask for files, and what comes out: a reason code; or the names
of the files, "+" before them when the private selection is among them, "reason<" before all when it was withheld early,
"reason<<" when by the bound of the merged set.
"""
import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import scope  # noqa: E402

BYTES = 8388608
F = ["f%02d=%d" % (i, i) for i in range(21)]
NAMES = ["f%02d" % i for i in range(21)]


def P(**kw):
    return dict({"kind": "private_attachments"}, **kw)


def R(**kw):
    return dict({"kind": "room"}, **kw)


def link(name, **kw):
    return dict({"id": "d-" + name, "root": "r-" + name, "version": "1", "turn": "t1", "member": "ann", "position": 11}, **kw)


def state(s, name="s"):
    return {"id": "d-" + name, "filename": name, "state": s}


def big(name, size):
    return {"filename": name, "content": name, "size": size}


def many(names, sep=" "):
    return sep.join(names)


ALONE = {"roster": ["ann"]}
V2 = {"filename": "a", "content": "new", "id": "d-a2", "version": "2", "root": "r-a"}
OTHER = {"version": "a2", "roster": ["ann", "bob"]}

CASES = [
    ("PRJ-11", "a private chat: all that is attached", P(manifest=["a=1", "b=2"]), False, "a b"),
    ("PRJ-12", "ids select nothing away", P(manifest=["a=1", "b=2"], requested=["d-a"]), False, "a b"),
    ("PRJ-13", "an id that does not resolve", P(manifest=["a=1"], requested=["d-a", "d-foreign"]), False, "resource_unavailable"),
    ("PRJ-13", "an id of a file that cannot be read", P(manifest=["a=1", state("unreadable")], requested=["d-s"]), False, "resource_unavailable"),
    ("PRJ-14", "a retrieved document joins", P(manifest=["a=1"], retrieved=[{"filename": "r", "content": "r", "turn": "t1"}]), False, "a r"),
    ("PRJ-14", "of another turn it does not", P(manifest=["a=1"], retrieved=[{"filename": "r", "content": "r", "turn": "t0"}]), False, "a"),
    ("PRJ-14", "asked for in another turn's name", P(manifest=[], requested=["d-r"], retrieved=[{"filename": "r", "content": "r", "turn": "t0"}]), False, "resource_unavailable"),
    ("PRJ-14", "attached and retrieved is shown once", P(manifest=["a=1"], retrieved=[{"filename": "a", "content": "1", "turn": "t1"}]), False, "a"),
    ("PRJ-14", "the bound is over both", P(manifest=F[:20], retrieved=[{"filename": "r", "content": "r", "turn": "t1"}]), False, "resource_over_count"),
    ("PRJ-15", "in a room it has no place", R(manifest=[], retrieved=[{"filename": "r", "content": "r", "turn": "t1"}]), False, "scope_malformed"),
    ("PRJ-32", "a private chat: still processing", P(manifest=["a=1", state("processing")]), False, "resource_not_ready"),
    ("PRJ-32", "a private chat: failed", P(manifest=["a=1", state("failed")]), False, "resource_failed"),
    ("PRJ-32", "a private chat: no longer readable", P(manifest=["a=1", state("unreadable")]), False, "resource_unavailable"),
    ("PRJ-2 BOUND-12", "20 files", P(manifest=F[:20]), False, many(NAMES[:20])),
    ("PRJ-2 BOUND-12", "21 files", P(manifest=F), False, "resource_over_count"),
    ("PRJ-2 BOUND-12", "8 MiB", P(manifest=[big("a", BYTES - 1), "b=2"]), False, "a b"),
    ("PRJ-2 BOUND-12", "8 MiB and a byte", P(manifest=[big("a", BYTES), "b=2"]), False, "resource_over_bytes"),
    ("PRJ-17", "a private chat that somebody else sees", P(manifest=["a=1"], roster=["ann", "bob"]), False, "resource_audience_changed"),
    ("PRJ-17", "a private chat that was shared meanwhile", P(manifest=["a=1"], live=OTHER), False, "resource_audience_changed"),
    ("PRJ-46", "a private chat whose version moved", P(manifest=["a=1"], live={"version": "a2"}), False, "resource_audience_changed"),
    ("PRJ-46", "a private chat without the member", P(manifest=["a=1"], live={"roster": ["bob"]}), False, "member_inactive"),
    ("PRJ-47", "a private file that is gone now", P(manifest=["a=1"], live={"manifest": []}), False, "resource_unavailable"),
    ("PRJ-9", "a private chat without a file", P(), False, ""),
    ("PRJ-25", "asked for and none is attached", P(), True, "resource_none"),
    ("PRJ-32", "a private chat has no selection", P(selection=["s=1"]), False, "scope_malformed"),
    ("PRJ-16", "a room with only its owner", R(manifest=["a=1"]), False, "a"),
    ("PRJ-9", "a room without a file", R(), False, ""),
    ("PRJ-25", "a room without a file, asked for", R(), True, "resource_none"),
    ("PRJ-19", "the selection comes to every run", R(selection=["s=1"]), False, "+s"),
    ("PRJ-19 PRJ-21", "after the room's files", R(manifest=["a=1"], selection=["s=1"]), True, "+a s"),
    ("PRJ-21", "linked and selected is shown once", R(manifest=["a=1"], selection=["a=1", "s=1"]), False, "+a s"),
    ("PRJ-21", "all of it is linked: nothing private", R(manifest=["a=1"], selection=["a=1"], live={"version": "a2"}), False, "a"),
    ("PRJ-25", "shared at admission: never considered", R(manifest=["a=1"], selection=["s=1"], roster=["ann", "bob"]), True, "a"),
    ("PRJ-25", "shared at admission, no other file", R(selection=["s=1"], roster=["ann", "bob"]), True, "resource_none"),
    ("PRJ-25", "shared at admission, not asked", R(selection=["s=1"], roster=["ann", "bob"]), False, ""),
    ("PRJ-25", "alone now, shared at admission", R(selection=["s=1"], roster=["ann", "bob"], live=ALONE), False, ""),
    ("PRJ-24 PRJ-30", "the version moved, the only source", R(selection=["s=1"], live={"version": "a2"}), True, "resource_audience_changed"),
    ("PRJ-24", "somebody joined under the same version", R(selection=["s=1"], live={"roster": ["ann", "bob"]}), True, "resource_audience_changed"),
    ("PRJ-26 PRJ-31", "the version moved, not asked", R(selection=["s=1"], live={"version": "a2"}), False, "resource_audience_changed<"),
    ("PRJ-26 PRJ-33", "somebody joined, the room has files", R(manifest=["a=1"], selection=["s=1"], live=OTHER), True, "resource_audience_changed<a"),
    ("PRJ-28", "still processing, not asked", R(selection=[state("processing")]), False, "resource_not_ready<"),
    ("PRJ-28 PRJ-30", "still processing, the only source", R(selection=[state("processing")]), True, "resource_not_ready"),
    ("PRJ-28", "still processing, the room has files", R(manifest=["a=1"], selection=["s=1", state("processing", "p")]), True, "resource_not_ready<a"),
    ("PRJ-28", "failed, not asked", R(selection=[state("failed")]), False, "resource_failed<"),
    ("PRJ-28 PRJ-30", "failed, the only source", R(selection=[state("failed")]), True, "resource_failed"),
    ("PRJ-20", "revoked or foreign, not asked", R(selection=[state("unreadable")]), False, "resource_unavailable<"),
    ("PRJ-20 PRJ-30", "revoked or foreign, the only source", R(selection=["s=1", {"id": "x", "state": "unreadable"}]), True, "resource_unavailable"),
    ("PRJ-28 INV-42", "the selection alone over the count", R(selection=F), False, "resource_over_count<"),
    ("PRJ-30", "the same, the only source", R(selection=F), True, "resource_over_count"),
    ("PRJ-28", "the selection alone over the bytes", R(manifest=["a=1"], selection=[big("s", BYTES + 1)]), True, "resource_over_bytes<a"),
    ("PRJ-30", "the same, the only source", R(selection=[big("s", BYTES + 1)]), True, "resource_over_bytes"),
    ("PRJ-29", "together over the count", R(manifest=["a=1"], selection=F[:20]), True, "resource_over_count<<a"),
    ("PRJ-29", "together over the bytes", R(manifest=["a=1"], selection=[big("s", BYTES)]), False, "resource_over_bytes<<a"),
    ("INV-41 BOUND-12", "together 20 files", R(manifest=F[:1], selection=F[1:20]), False, "+" + many(NAMES[:20])),
    ("INV-41 BOUND-12", "together 8 MiB", R(manifest=["a=1"], selection=[big("s", BYTES - 1)]), False, "+a s"),
    ("PRJ-47", "the room's own files: still processing", R(manifest=[state("processing")]), False, "resource_not_ready"),
    ("PRJ-47", "the room's own files: failed", R(manifest=[state("failed")]), False, "resource_failed"),
    ("PRJ-47", "the room's own files: no longer readable", R(manifest=[state("unreadable")]), False, "resource_unavailable"),
    ("PRJ-47", "the room's own files: over the count", R(manifest=F), False, "resource_over_count"),
    ("PRJ-47", "the room's own files: over the bytes", R(manifest=[big("a", BYTES + 1)]), False, "resource_over_bytes"),
    ("PRJ-35 PRJ-37", "an own new link", R(manifest=["a=1"], live={"add": ["n=2"], "links": [link("n")]}), False, "a"),
    ("PRJ-36", "of another turn", R(manifest=["a=1"], live={"add": ["n=2"], "links": [link("n", turn="t0")]}), False, "resource_room_changed"),
    ("PRJ-36", "of another member", R(manifest=["a=1"], live={"add": ["n=2"], "links": [link("n", member="bob")]}), False, "resource_room_changed"),
    ("PRJ-36 PRJ-41", "at the admission position", R(manifest=["a=1"], live={"add": ["n=2"], "links": [link("n", position=10)]}), False, "resource_room_changed"),
    ("PRJ-36", "own and another's link of one file", R(manifest=["a=1"], live={"add": ["n=2"], "links": [link("n"), link("n", member="bob")]}), False, "resource_room_changed"),
    ("PRJ-36", "without a link", R(manifest=["a=1"], live={"add": ["n=2"]}), False, "resource_room_changed"),
    ("PRJ-41", "an earlier attempt's link was admitted", R(manifest=["a=1"], live={"links": [link("a", position=9)]}), False, "a"),
    ("PRJ-35", "an admitted file that the run linked again", R(manifest=["a=1"], live={"links": [link("a")]}), False, "a"),
    ("PRJ-39 INV-43", "a new version by the run itself", R(manifest=["a=1"], live={"add": [V2], "links": [link("a", id="d-a2", version="2")]}), False, "resource_updated_in_turn"),
    ("PRJ-42", "a new version by somebody else", R(manifest=["a=1"], live={"add": [V2], "links": [link("a", id="d-a2", version="2", member="bob")]}), False, "resource_room_changed"),
    ("PRJ-40", "both versions in the next turn", R(manifest=["a.txt=1", dict(V2, filename="a.txt")]), False, "a.txt 2-a.txt"),
    ("PRJ-42", "a removal", R(manifest=["a=1", "b=2"], live={"manifest": ["a=1"]}), False, "resource_room_changed"),
    ("PRJ-42", "another digest under the same name", R(manifest=["a=1"], live={"manifest": ["a=2"]}), False, "resource_room_changed"),
    ("PRJ-33", "somebody joined: the room's set stands", R(manifest=["a=1"], live=OTHER), False, "a"),
    ("PRJ-33 PRJ-46", "the member left the room", R(manifest=["a=1"], live={"version": "a2", "roster": ["bob"]}), False, "member_inactive"),
    ("PRJ-46", "the member was not there at admission", R(manifest=["a=1"], roster=["bob"], live=ALONE), False, "member_inactive"),
    ("PRJ-22", "the room is judged before the selection", R(manifest=["a=1"], selection=F, live={"add": ["n=2"]}), True, "resource_room_changed"),
    ("PRJ-46", "a room whose source does not tell its files", R(manifest=["a=1"], live={"manifest": None}), False, "audience_unavailable"),
    ("PRJ-46", "a live audience that is none", R(manifest=["a=1"], live={"roster": "ann"}), False, "audience_unavailable"),
    ("PRJ-46", "another manifest digest than the manifest's", R(manifest=["a=1"], manifest_sha256="0" * 64), False, "resource_manifest_mismatch"),
    ("PRJ-3", "names are made safe and differ", P(manifest=[dict(filename=n, content=n, id="i%d" % i, root="r%d" % i) for i, n in enumerate(
        ["../etc/passwd", "-rf x", "A.txt", "a.TXT", "x\u202egpj.exe", ".hidden", "a\nb", "\u00fc.txt", "..", "con:.txt", "a" * 300 + ".csv"])], live=None), False,
     "passwd rf_x A.txt 2-a.TXT x_gpj.exe hidden a_b \u00fc.txt file con_.txt " + "a" * 105 + ".csv"),
    ("PRJ-54", "an unknown member", R(extra=1), False, "scope_malformed"),
    ("PRJ-54", "another form", R(v=2), False, "scope_malformed"),
    ("PRJ-54", "a file twice", R(manifest=["a=1", "a=1"]), False, "scope_malformed"),
    ("PRJ-54", "a ready file without a size", R(manifest=[{"id": "a", "state": "ready"}]), False, "scope_malformed"),
    ("PRJ-54", "a negative size", R(manifest=[big("a", -1)]), False, "scope_malformed"),
    ("PRJ-54", "a kind of its own", R(kind="public"), False, "scope_malformed"),
    ("EXEC-19", "a token that is none", R(token="v4.public.x"), False, "capability_invalid"),
    ("EXEC-19", "another assertion", R(implicit="kz grant 1"), False, "capability_invalid"),
    ("EXEC-19", "one that has ended", R(claims={"iat": -700, "exp": -100}), False, "capability_invalid"),
    ("EXEC-19", "one that begins later", R(claims={"iat": 300, "exp": 900}), False, "capability_invalid"),
    ("EXEC-19", "one that lives too long", R(claims={"iat": 0, "exp": 86401}), False, "capability_invalid"),
    ("EXEC-19", "a claim more", R(claims={"admin": True}), False, "capability_invalid"),
    ("EXEC-19", "position as text", R(claims={"position": "10"}), False, "capability_invalid"),
] + [
    ("EXEC-19", "claim %s removed" % k, R(manifest=["a=1"], claims={k: None}), False, "capability_missing")
    for k in ("v", "actor", "conversation", "turn", "position", "audience_version", "manifest_sha256", "document_sha256", "iat", "exp")
] + [
    ("EXEC-19", "claim %s altered" % k, R(manifest=["a=1"], claims={k: v}), False, "capability_invalid")
    for k, v in (("v", 2), ("actor", "bob"), ("conversation", "c"), ("turn", "t2"), ("position", 11), ("audience_version", "a2"),
                 ("manifest_sha256", "1" * 64), ("document_sha256", "1" * 64))
] + [
    ("EXEC-19", "document without %s" % k, R(manifest=["a=1"], drop=[k]), False, "capability_missing")
    for k in ("actor", "conversation", "turn", "admission_position", "audience_version", "manifest", "manifest_sha256", "capability")
]


def decide(program, dir, spec, asks):
    seed, documents = os.path.join(dir, "seed"), os.path.join(dir, "documents")
    args = [program, "resolve", "-j", "-k", os.path.join(dir, "keys")]
    if spec.get("live", {}) is not None:
        with open(os.path.join(dir, "live"), "w") as f:
            json.dump(scope.live(spec, documents), f)
        args += ["-a", "file:" + os.path.join(dir, "live")]
    if asks:
        args += ["-f", os.path.join(dir, "asks")]
    doc = scope.signed(spec, documents, seed)
    p = subprocess.run(args, input=json.dumps(doc).encode(), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    line = json.loads(p.stdout.decode().splitlines()[0])
    if not line["allowed"]:
        assert p.returncode != 0 and line["files"] == [] and line["extracted_text_substitute"] is False
        return line["reason"]
    assert p.returncode == 0
    out = " ".join(f["filename"] for f in line["files"])
    w = line["withheld"]
    how = "" if not w else w["reason"] + ("<<" if w["event"].startswith("sandbox.") else "<")
    return how + ("+" if line["private_selection"] else "") + out


def main():
    program, dir = sys.argv[1:]
    bad, seen = 0, set()
    for rows, what, spec, asks, want in CASES:
        try:
            got = decide(program, dir, spec, asks)
        except Exception as e:  # a case that breaks is one that fails
            got = "%s: %s" % (type(e).__name__, e)
        seen.add(got)
        if got != want:
            bad += 1
            print("%s %s: %r, not %r" % (rows, what, got, want))
    print("%d cases, %d bad" % (len(CASES), bad))
    return bad != 0


if __name__ == "__main__":
    sys.exit(main())
