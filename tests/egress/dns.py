#!/usr/bin/env python3
"""A DNS responder for tests: names below odd.lab get the answers of a script (changing, mixed, huge, broken ones), all
others are passed to a real server; but names in answers.json beside LOG get the addresses told there.  Each question heard is a line of JSON in LOG: {"t","name","type","proto"}.

usage: dns.py LOG REAL_SERVER ADDRESS[:PORT]...
"""
import json
import os
import select
import socket
import struct
import sys
import threading
import time

A, NS, CNAME, AAAA = 1, 2, 5, 28
PUBLIC, PUBLIC6 = "93.184.216.34", "2606:2800:220:1::1"
ZONE = ".odd.lab"
answers = ""  # the file of listed
asked = {}  # how often a name and type were asked


def wire(name):
    if not name:
        return b"\0"
    return b"".join(bytes([len(x)]) + x.encode("latin-1") for x in name.split(".")) + b"\0"


def rr(owner, rtype, data, ttl=60, rclass=1):
    return wire(owner) + struct.pack("!HHIH", rtype, rclass, ttl, len(data)) + data


def a(owner, text, ttl=60):
    return rr(owner, A, socket.inet_aton(text), ttl)


def aaaa(owner, text, ttl=60):
    return rr(owner, AAAA, socket.inet_pton(socket.AF_INET6, text), ttl)


def cname(owner, target, ttl=60):
    return rr(owner, CNAME, wire(target), ttl)


class Say:
    """What to answer: records, a code, and what is wrong with the packet."""

    def __init__(self, answers=(), rcode=0, extra=(), **odd):
        self.answers, self.rcode, self.extra, self.odd = list(answers), rcode, list(extra), odd


def both(a_list=(), aaaa_list=(), **odd):
    def of(name, rtype, proto):
        if rtype == A:
            return Say([a(name, x) for x in a_list], **odd)
        return Say([aaaa(name, x) for x in aaaa_list] if rtype == AAAA else [], **odd)
    return of


def rebind(name, rtype, proto):
    """Public at the first question, loopback and the like from then on; never to be kept."""
    n = asked[name, rtype]
    if rtype == A:
        return Say([a(name, PUBLIC if n == 1 else "127.0.0.1", 0)])
    return Say()


def turn(name, rtype, proto):
    """Another address at each question: public ones and a private one in turn."""
    n = asked[name, rtype]
    if rtype == A:
        return Say([a(name, PUBLIC if n % 2 else "10.1.2.3", 0)])
    return Say()


def ttl0(name, rtype, proto):
    return Say([a(name, PUBLIC, 0)]) if rtype == A else Say()


def fails(bad, rcode=2, **odd):
    """One family fails, the other has a public answer."""
    def of(name, rtype, proto):
        if rtype in bad:
            return Say(rcode=rcode, **odd)
        return Say([a(name, PUBLIC)] if rtype == A else [aaaa(name, PUBLIC6)])
    return of


def chain(n, end=PUBLIC):
    """n aliases and then an address, all in one answer."""
    def of(name, rtype, proto):
        out, owner = [], name
        for i in range(n):
            target = f"step{i}.{name}"
            out.append(cname(owner, target))
            owner = target
        if rtype == A:
            out.append(a(owner, end))
        return Say(out)
    return of


def loop(name, rtype, proto):
    return Say([cname(name, "x." + name), cname("x." + name, name)])


def self_loop(name, rtype, proto):
    return Say([cname(name, name)])


def to(target, *records):
    def of(name, rtype, proto):
        return Say([cname(name, target)] + ([a(target, x) for x in records] if rtype == A else []))
    return of


def owner(other):
    """The answer belongs to another name than the one asked for."""
    def of(name, rtype, proto):
        return Say([a(other, PUBLIC)] if rtype == A else [])
    return of


def big(count, private=False, udp=True):
    def of(name, rtype, proto):
        if rtype != A:
            return Say()
        if proto == "udp" and not udp:
            return Say(truncated=True)
        out = [a(name, f"93.184.{i // 250}.{i % 250 + 1}") for i in range(count)]
        if private:
            out[-1] = a(name, "10.9.9.9")
        return Say(out)
    return of


def after(name, rtype, proto):
    """A private address in the additional part, none in the answer."""
    return Say(extra=[a(name, "10.1.2.3")])


def with_extra(name, rtype, proto):
    """A public answer; a private address of the same name in the additional part is no answer."""
    return Say([a(name, PUBLIC)] if rtype == A else [], extra=[a("elsewhere.odd.lab", "10.1.2.3")])


def wrong_type(name, rtype, proto):
    """An address of the other family to each question."""
    return Say([aaaa(name, PUBLIC6)] if rtype == A else [a(name, PUBLIC)])


def wrong_length(name, rtype, proto):
    return Say([rr(name, A, b"\x5d\xb8\xd8")] if rtype == A else [rr(name, AAAA, b"\x5d\xb8\xd8\x22")])


def wrong_class(name, rtype, proto):
    return Say([rr(name, A, socket.inet_aton(PUBLIC), rclass=3)] if rtype == A else [])


def spoofed(name, rtype, proto):
    """The server says private; before it another one, that was not asked, says public (Server.one sends that)."""
    return Say([a(name, "10.1.2.3")] if rtype == A else [], forged=True)


ODD = {
    "spoofed": spoofed,
    "pub": both([PUBLIC], [PUBLIC6]),
    "pub4": both([PUBLIC]),
    "pub6": both([], [PUBLIC6]),
    "loop": both(["127.0.0.1"]),
    "loop6": both([], ["::1"]),
    "zero": both(["0.0.0.0"]),
    "meta": both(["169.254.169.254"]),
    "azure": both(["168.63.129.16"]),
    "alibaba": both(["100.100.100.200"]),
    "meta6": both([], ["fd00:ec2::254"]),
    "priv": both(["10.1.2.3"]),
    "priv2": both(["192.168.7.7"]),
    "ula": both([], ["fd12:3456::1"]),
    "shared": both(["100.64.9.9"]),
    "nat64": both([], ["64:ff9b::7f00:1"]),
    "nat64pub": both([], ["64:ff9b::5db8:d822"]),
    "mapped": both([], ["::ffff:127.0.0.1"]),
    "mappedpub": both([], ["::ffff:93.184.216.34"]),
    "compat": both([], ["::7f00:1"]),
    "sixtofour": both([], ["2002:7f00:1::1"]),
    "teredo": both([], ["2001:0:5db8:d822::80ff:fffe"]),
    "isatap": both([], ["2606:4700::5efe:7f00:1"]),
    "linklocal6": both([], ["fe80::1"]),
    "multicast": both(["224.0.0.1"]),
    "broadcast": both(["255.255.255.255"]),
    "doc": both(["192.0.2.1"]),
    "bench": both(["198.18.9.9"]),
    "own": both(["93.184.216.99"]),
    "dead": both(["93.184.216.1"]),
    "fallover": both(["93.184.216.1", "93.184.216.34"]),
    "mixed": both([PUBLIC, "127.0.0.1"]),
    "mixedfirst": both(["10.1.2.3", PUBLIC]),
    "mixed46": both([PUBLIC], ["::1"]),
    "mixed64": both(["127.0.0.1"], [PUBLIC6]),
    "mixedpriv": both([PUBLIC, "10.1.2.3"]),
    "mixedlast": big(64, private=True),
    "rebind": rebind, "turn": turn, "ttl0": ttl0,
    "empty": both(), "nx": both(rcode=3), "servfail": both(rcode=2), "refused": both(rcode=5),
    "notimp": both(rcode=4), "formerr": both(rcode=1),
    "servfail6": fails({AAAA}), "servfail4": fails({A}), "nx6": fails({AAAA}, rcode=3),
    "silent6": fails({AAAA}, drop=True), "silent": both(drop=True),
    "chain1": chain(1), "chain8": chain(8), "chain9": chain(9), "chain40": chain(40),
    "chainpriv": chain(3, "10.1.2.3"), "chainloop": chain(3, "127.0.0.1"),
    "cnameloop": loop, "cnameself": self_loop,
    "cnameonly": to("web.pub.lab"), "cnamepub": to("elsewhere.odd.lab", PUBLIC),
    "cnamelocal": to("localhost", "127.0.0.1"), "cnamemixed": to("elsewhere.odd.lab", PUBLIC, "10.1.2.3"),
    "owner": owner("elsewhere.odd.lab"), "ownerroot": owner(""),
    "many64": big(64), "many65": big(65), "many900": big(900, udp=False),
    "tcponly": big(40, udp=False), "tcpprivate": big(40, private=True, udp=False),
    "tcprefused": both(truncated=True),
    "after": after, "withextra": with_extra, "wrongtype": wrong_type, "wronglength": wrong_length,
    "wrongclass": wrong_class,
    "wrongid": both([PUBLIC], wrong_id=True), "wrongquestion": both([PUBLIC], question="elsewhere.odd.lab"),
    "noquestion": both([PUBLIC], question=""),
    "garbage": both([PUBLIC], raw=b"\x00\x01\x02"), "cut": both([PUBLIC], cut=9), "pointer": both([PUBLIC], pointer=True),
    "counts": both([PUBLIC], counts=200), "query": both([PUBLIC], is_query=True),
    "case": both([PUBLIC]),
}


def parse(q):
    """The question: id, flags, name, type, the bytes of the question."""
    (qid, flags, qd) = struct.unpack("!HHH", q[:6])
    labels, at = [], 12
    while q[at]:
        labels.append(q[at + 1:at + 1 + q[at]].decode("latin-1"))
        at += 1 + q[at]
    (rtype,) = struct.unpack("!H", q[at + 1:at + 3])
    return qid, flags, ".".join(labels), rtype, q[12:at + 5]


def listed(name):
    """What ANSWERS (a file beside the log, {"NAME": [ADDRESS...]}) says of a name, if there is one."""
    try:
        with open(answers, encoding="ascii") as f:
            say = json.load(f).get(name)
    except OSError:
        return None
    return None if say is None else both([x for x in say if ":" not in x], [x for x in say if ":" in x])


def script(name):
    """The odd answer for a name: its own, or that of wild for all names below it."""
    low = name.lower()
    if of := listed(low):
        return of
    if not low.endswith(ZONE):
        return None
    first = low[:-len(ZONE)]
    if first.endswith(".wild"):
        return ODD["loop"]
    return ODD.get(first, both(rcode=3))


def build(q, say, proto):
    qid, flags, name, rtype, question = parse(q)
    odd = say.odd
    if odd.get("drop"):
        return None
    if "raw" in odd:
        return struct.pack("!H", qid) + odd["raw"]
    if "question" in odd:
        question = wire(odd["question"]) + question[-4:] if odd["question"] else b""
    truncated = odd.get("truncated") and proto == "udp"
    answers, extra = ([], []) if truncated else (say.answers, say.extra)
    bits = (0 if odd.get("is_query") else 0x8400) | 0x0080 | (flags & 0x0100) | say.rcode | (0x0200 if truncated else 0)
    head = struct.pack("!HHHHHH", qid ^ 0x5555 if odd.get("wrong_id") else qid, bits, 1 if question else 0,
                       len(answers) + odd.get("counts", 0), 0, len(extra))
    out = head + question + b"".join(answers) + b"".join(extra)
    if odd.get("pointer"):
        at = len(head + question)
        out = head + question + b"\xc0" + bytes([at]) + out[at + len(wire(name)):]
    return out[:-odd["cut"]] if "cut" in odd else out


class Server:
    def __init__(self, log, real):
        self.log, self.real = open(log, "a", buffering=1), real

    def answer(self, q, proto):
        try:
            _, _, name, rtype, _ = parse(q)
        except (struct.error, IndexError):
            return None
        low = name.lower()
        asked[low, rtype] = asked.get((low, rtype), 0) + 1
        asked.setdefault((name, rtype), 0)
        self.log.write(json.dumps({"t": time.time(), "name": name, "type": rtype, "proto": proto}) + "\n")
        of = script(name)
        if of is None:
            return self.forward(q)
        if name != low:
            asked[name, rtype] = asked[low, rtype]
        out = build(q, of(name, rtype, proto), proto)
        # what does not fit is cut and said to be so, as a real server does
        if out and proto == "udp" and len(out) > 4000:
            out = out[:2] + struct.pack("!H", struct.unpack("!H", out[2:4])[0] | 0x0200) + out[4:6] + b"\0\0\0\0\0\0" + \
                parse(q)[4]
        return out

    def forge(self, q, peer, own):
        """The right question and id, a public address, from another address and from another port."""
        name = parse(q)[2]
        say = Say([a(name, PUBLIC)] if parse(q)[3] == A else [])
        for where in ((self.real, 0), (own, 0)):
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
                s.bind(where)
                s.sendto(build(q, say, "udp"), peer)
        time.sleep(0.05)

    def forward(self, q):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
            s.settimeout(2)
            s.sendto(q, (self.real, 53))
            try:
                return s.recv(65535)
            except OSError:
                return None

    def serve(self, addresses):
        udp, tcp = [], []
        for address in addresses:
            family = socket.AF_INET6 if ":" in address else socket.AF_INET
            for kind, held in ((socket.SOCK_DGRAM, udp), (socket.SOCK_STREAM, tcp)):
                s = socket.socket(family, kind)
                s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                s.bind((address, 53))
                if kind == socket.SOCK_STREAM:
                    s.listen(64)
                held.append(s)
        print("ready", flush=True)
        while True:
            for s in select.select(udp + tcp, [], [])[0]:
                try:
                    self.one(s, s in udp)
                except OSError:
                    pass

    def one(self, s, is_udp):
        if is_udp:
            q, peer = s.recvfrom(65535)
            out = self.answer(q, "udp")
            if b"\x07spoofed" in q and out:
                self.forge(q, peer, s.getsockname()[0])
            if out:
                s.sendto(out, peer)
            return
        threading.Thread(target=self.tcp, args=(s.accept()[0],), daemon=True).start()

    def tcp(self, c):
        """Questions on one connection, until the client ends it."""
        with c:
            c.settimeout(30)
            try:
                while len(size := c.recv(2, socket.MSG_WAITALL)) == 2:
                    out = self.answer(c.recv(struct.unpack("!H", size)[0], socket.MSG_WAITALL), "tcp")
                    if out:
                        c.sendall(struct.pack("!H", len(out)) + out)
            except OSError:
                pass


if __name__ == "__main__":
    answers = os.path.join(os.path.dirname(sys.argv[1]), "answers.json")
    Server(sys.argv[1], sys.argv[2]).serve(sys.argv[3:])
