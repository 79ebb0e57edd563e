"""Destinations against kz-proxy: a table of authorities, each with its verdict under a grant of each mode.

A line is "AUTHORITY<TAB>ISOLATED<TAB>PUBLIC<TAB>PRIVATE<TAB>ALLOWLIST<TAB>WHY"; \\xNN in an authority is that byte.  A
verdict is ok (the tunnel stands), no (403, the same bytes for all), or bad (400).  Prints what is not so, and how many
cases there were.
"""
import concurrent.futures
import json
import os
import re
import sys

import proxy

MODES = ("isolated", "public_internet", "private_network", "host_allowlist")
CODES = {"ok": 200, "no": 403, "bad": 400}


def rows(path):
    with open(path, encoding="ascii") as f:
        for n, line in enumerate(f, 1):
            line = line.rstrip("\n")
            if line and not line.startswith("#"):
                cells = line.split("\t")
                assert len(cells) >= 6, f"{path}:{n}: {len(cells)} cells"
                authority = re.sub(rb"\\x([0-9a-f]{2})", lambda m: bytes.fromhex(m[1].decode()), cells[0].encode())
                yield n, authority, dict(zip(MODES, cells[1:5])), cells[5]


def grants():
    """The grants of the modes: {"MODE": [TOKEN, EXECUTION]}."""
    with open(os.environ["EG"] + "/grants.json", encoding="ascii") as f:
        return json.load(f)


def one(authority, token, execution, plain):
    if plain:
        data = proxy.get_head(b"http://" + authority + b"/hello", grant=token, host=b"Host: " + authority + b"\r\n")
    else:
        data = proxy.connect_head(authority, grant=token)
    with proxy.Conn(execution) as c:
        c.send(data)
        try:
            head = c.head()
            if proxy.status(head) == 200 and not plain:
                return 200, head
            return proxy.status(head), head + c.rest()
        except proxy.Reset:
            return 0, b"reset"


def table(path, plain=False):
    refused, wrong, held, cases = set(), 0, grants(), list(rows(path))
    count = len(cases)

    def case(job):
        (n, authority, verdicts, why), mode = job
        return n, authority, mode, CODES[verdicts[mode]], why, one(authority, *held[mode], plain)
    with concurrent.futures.ThreadPoolExecutor(24) as pool:
        for n, authority, mode, want, why, (code, answer) in pool.map(case, ((c, m) for m in MODES for c in cases)):
            if code == 403:
                refused.add(answer)
            if code != want:
                wrong += 1
                print(f"{path}:{n}: {authority!r} {mode}: {code} instead of {want} ({why})")
    if len(refused) > 1:
        wrong += 1
        print(f"{len(refused)} different answers of 403: {refused}")
    print(f"{count} destinations, {wrong} wrong")
    return wrong


if __name__ == "__main__":
    sys.exit(1 if table(sys.argv[1], "plain" in sys.argv[2:]) else 0)
