#!/usr/bin/env python3
"""Destinations against kz-proxy: tables of authorities, each with its verdict under a grant of each mode.

usage: destinations.py golden TABLE STATE [plain]   tests/golden/egress-authority.tsv, the table of the rules: each line
                                            with a grant of its own and with the answers it tells; over the real proxy
       destinations.py names TABLE          AUTHORITY, verdict in four modes, why: names of the scripted DNS server, under
                                            the grants in EG/grants.json; a verdict is ok (the tunnel stands), no (403) or bad

Prints what is not so, and how many cases there were; writes the addresses that may have been tried to EG/allowed, and
(golden) what the audit must say to EG/expected, as "EXECUTION REASON".
"""
import concurrent.futures
import ipaddress
import json
import os
import re
import socket
import sys

import mint
import proxy

MODES = ("isolated", "public_internet", "private_network", "host_allowlist")
CODES = {"ok": 200, "no": 403, "bad": 400, "allow": 200, "invalid_target": 400, "numeric_host": 400, "invalid_port": 400}
RANGES = {"isolated": [], "public_internet": [],
          "private_network": ["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7", "100.64.0.0/10"],
          "host_allowlist": ["10.0.0.0/8", "fc00::/7"]}
EG = os.environ["EG"]
PACE = 300


def lines(path, cells):
    with open(path, encoding="ascii") as f:
        for n, line in enumerate(f, 1):
            line = line.rstrip("\n")
            if line and not line.startswith("#"):
                row = line.split("\t")
                assert len(row) == cells, f"{path}:{n}: {len(row)} cells"
                yield n, re.sub(rb"\\x([0-9a-f]{2})", lambda m: bytes.fromhex(m[1].decode()), row[0].encode()), row[1:]


def one(authority, token, execution, plain=False):
    """(status, answer) of one connection."""
    if plain:
        data = proxy.get_head(b"http://" + authority + b"/hello", grant=token, host=b"Host: " + authority + b"\r\n")
    else:
        data = proxy.connect_head(authority, grant=token)
    with proxy.Conn(execution) as c:
        c.send(data)
        try:
            head = c.head()
            code = proxy.status(head)
            if code == 200 and not plain:
                return 200, head
            head += c.rest()
            # whatever a server said, it was reached
            return (200 if plain and b"nginx" in head else code), head
        except proxy.Reset:
            return 0, b"reset"


class Tally:
    def __init__(self):
        self.refused, self.wrong, self.count, self.allowed = set(), 0, 0, set()

    def case(self, where, mode, code, answer, want, why):
        if code == 403:
            self.refused.add(answer)
        if code != want:
            self.wrong += 1
            print(f"{where} {mode}: {code} instead of {want} ({why})")

    def end(self):
        if len(self.refused) > 1:
            self.wrong += 1
            print(f"{len(self.refused)} different answers of 403: {self.refused}")
        with open(EG + "/allowed", "w", encoding="ascii") as f:
            f.writelines(a + "\n" for a in sorted(self.allowed))
        print(f"{self.count} destinations, {self.wrong} wrong")
        return 1 if self.wrong else 0


def normal(authority):
    """The host of an authority as a list entry, None when it has none."""
    m = re.fullmatch(r"(?:\[([0-9a-fA-F:.]+)\]|([^:\[\]]+))(?::[0-9]+)?", authority.decode("latin-1"))
    if not m:
        return None
    try:
        a = ipaddress.ip_address(m[1] or m[2])
        four = a.version == 6 and a.ipv4_mapped
        return f"::ffff:{four}" if four else a.compressed
    except ValueError:
        return m[2].rstrip(".").lower() if m[2] else None


def addresses(authority, answers):
    """What the row lets be dialled when it is allowed."""
    if answers in ("-", "none"):
        return [ipaddress.ip_address(normal(authority))] if answers == "-" else []
    if answers.startswith("count:"):
        return [ipaddress.ip_address(f"93.184.{i // 250}.{i % 250 + 1}") for i in range(int(answers[6:]))]
    return [ipaddress.ip_address(x) for x in answers.split(",")]


def waves(rows):
    """Rows in groups that each know a name once, so that a name has one set of answers at a time, or none."""
    groups = []
    for row in rows:
        name = normal(row[1])
        for g in groups:
            if name not in g:
                break
        else:
            g = {}
            groups.append(g)
        g.setdefault(name, []).append(row)
    return [[r for rows in g.values() for r in rows] for g in groups]


def is_written(state):
    """Has the audit a row of every refusal so far?  (Each is of a grant of its own, so none is counted into another.)"""
    with socket.socket(socket.AF_UNIX) as c:
        c.connect(state + "/run/proxy-health.sock")
        c.sendall(b"GET /v1/health HTTP/1.1\r\nHost: proxy\r\nConnection: close\r\n\r\n")
        got = b""
        while more := c.recv(65536):
            got += more
    h = json.loads(got.partition(b"\r\n\r\n")[2])
    return h["audit"]["written"] + h["audit"]["lost"] >= h["refused"]


def paced(results, state, count):
    """The audit keeps a bounded number of rows before it writes them; what is beyond is counted, and here not wanted."""
    yield from results
    if count >= PACE:
        proxy.wait(30, lambda: is_written(state))


def golden(path, state, plain=False):
    t, rows, expected = Tally(), list(lines(path, 7)), []
    if plain:  # where an authority may go without its port
        rows = [r for r in rows if re.search(rb":[^\]:]*$", r[1])]
    t.count = len(rows)

    def case(job):
        (n, authority, (answers, *verdicts, why)), mode = job
        verdict = verdicts[MODES.index(mode)]
        host = normal(authority) if mode == "host_allowlist" else None
        token, execution = mint.grant(state, mode, hosts=[host] if host and len(host) < 254 else ["x.pub.lab"] if
                                      mode == "host_allowlist" else [], cidrs=RANGES[mode],
                                      ports=[] if mode == "isolated" else [80, 443, 8443])
        return f"{path}:{n}: {authority!r}", authority, answers, mode, verdict, execution, why, one(authority, token, execution, plain)
    with concurrent.futures.ThreadPoolExecutor(16) as pool:
        for wave in waves(rows):
            say = {normal(a): [str(x) for x in addresses(a, c[0])] for _, a, c in wave if c[0] != "-"}
            with open(EG + "/answers.new", "w", encoding="ascii") as f:
                json.dump(say, f)
            os.rename(EG + "/answers.new", EG + "/answers.json")
            jobs = [(r, m) for r in wave for m in MODES]
            for where, authority, answers, mode, verdict, execution, why, (code, answer) in \
                    (x for i in range(0, len(jobs), PACE) for x in paced(pool.map(case, jobs[i:i + PACE]), state, len(jobs))):
                t.case(where, mode, code, answer, CODES.get(verdict, 403), f"{verdict}: {why}")
                if verdict == "allow":
                    t.allowed.update(str(x) for x in addresses(authority, answers))
                elif CODES.get(verdict, 403) == 403 and mode != "isolated":  # no grant of that mode is sound
                    expected.append(f"{execution} {'dns_failed' if verdict == 'lookup' else verdict}\n")
    with open(EG + "/expected", "w", encoding="ascii") as f:
        f.writelines(expected)
    os.unlink(EG + "/answers.json")
    return t.end()


def names(path):
    t, rows = Tally(), list(lines(path, 6))
    t.count = len(rows)
    with open(EG + "/grants.json", encoding="ascii") as f:
        held = json.load(f)

    def case(job):
        (n, authority, cells), mode = job
        return n, authority, mode, cells[MODES.index(mode)], cells[4], one(authority, *held[mode])
    with concurrent.futures.ThreadPoolExecutor(32) as pool:
        for n, authority, mode, verdict, why, (code, answer) in pool.map(case, ((r, m) for r in rows for m in MODES)):
            t.case(f"{path}:{n}: {authority!r}", mode, code, answer, CODES[verdict], why)
    return t.end()


if __name__ == "__main__":
    if sys.argv[1] == "golden":
        sys.exit(golden(sys.argv[2], sys.argv[3], "plain" in sys.argv[4:]))
    sys.exit(names(sys.argv[2]))
