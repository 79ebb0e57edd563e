"""decide-model.py TABLE SEED COUNT: random policies and destinations, with the verdict that docs/egress.md gives.

A second reading of the rules, on whole numbers and regular expressions, that shares nothing with kz's.  One line a case,
of cells between tabs: enabled, mode, hosts, ranges, ports, life, denied ranges ("~": not set), 1 when the ranges are the
operator's own, AUTHORITY (\\xNN: a byte), ANSWERS (-: nobody asked), VERDICT.
"""
import random
import re
import sys

from addresses import number, read

LABEL = r"[A-Za-z0-9_](?:[A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?"
NEVER = ("localhost", "localdomain", "onion", "invalid", "alt")
INNER = ("local", "internal", "intranet", "private", "corp", "home", "lan", "home.arpa")
OCTET = r"(?:0|[1-9][0-9]?|1[0-9][0-9]|2[0-4][0-9]|25[0-5])"
QUAD = OCTET + r"(?:\." + OCTET + r"){3}"
KEYS = ("enabled", "mode", "hosts", "cidrs", "ports", "ttl", "deny")


def address(text):
    """(family, number), or None when it is no address in its strict form."""
    if re.fullmatch(QUAD, text):
        return 4, number(text)
    if ":" not in text or text.count("::") > 1 or ":::" in text:
        return None
    head, gap, tail = text.partition("::")
    words = 0
    for part in (head, tail):
        groups = part.split(":") if part else []
        for i, g in enumerate(groups):
            is_quad = re.fullmatch(QUAD, g) and i == len(groups) - 1 and (part is tail or not gap)
            if not is_quad and not re.fullmatch(r"[0-9A-Fa-f]{1,4}", g):
                return None
            words += 2 if is_quad else 1
    if words > 7 if gap else words != 8:
        return None
    return 6, number(text)


def block(text):
    """(family, value, mask) of ADDRESS/BITS without bits behind the prefix, or None."""
    m = re.fullmatch(r"([^/]+)/(0|[1-9][0-9]{0,2})", text)
    a = m and address(m[1])
    width = 32 if a and a[0] == 4 else 128
    if not a or int(m[2]) > width:
        return None
    mask = ((1 << int(m[2])) - 1) << (width - int(m[2]))
    return (a[0], a[1], mask) if a[1] & ~mask == 0 else None


class Rules:
    def __init__(self, path):
        self.reasons, self.rows = read(path)
        self.denied, self.severity = {}, {}
        with open(path, encoding="ascii") as f:
            for n, line in enumerate(x for x in f if x.startswith("class ")):
                name, denied = [x.strip() for x in line[6:].split("|")][:2]
                self.denied[name], self.severity[name] = denied, n

    def class_of(self, a):
        """The class of the longest row; of rows as long the first."""
        held = [(bin(m).count("1"), c) for f, v, m, c in self.rows if f == a[0] and a[1] & m == v]
        best = max(bits for bits, _ in held)
        return next(c for bits, c in held if bits == best)

    def may_be_given(self, b):
        """Is the longest row that holds all of the range one of private or shared space?"""
        rows = [(bin(m).count("1"), c) for f, v, m, c in self.rows if f == b[0] and b[1] & m == v and m & ~b[2] == 0]
        return self.denied[max(rows)[1]] == "public"


def entries(text):
    return [""] if text is None else [e.strip(" ") for e in text.split(",")]


def is_plain(text):
    return 0 < len(text) <= 262 and re.fullmatch("[!-~]+", text) and not re.search(r"[@/?#\\%,]", text)


def host(text):
    """("name", lower case) or ("address", (family, number)), or the reason."""
    bare = text[:-1] if text.endswith(".") else text
    if re.fullmatch("[0-9]+|0[xX][0-9a-fA-F]*", bare.rsplit(".", 1)[-1]):
        a = address(text)
        return ("address", a) if a else "numeric_host"
    if not re.fullmatch(LABEL + r"(?:\." + LABEL + ")*", bare) or len(bare) > 253:
        return "invalid_target"
    return "name", bare.lower()


def entry(text):
    if not is_plain(text):
        return "invalid_target"
    if ":" in text:
        a = address(text)
        return ("address", a) if a and a[0] == 6 else "invalid_target"
    return host(text)


def target(text):
    """(host, port), or the reason."""
    if not is_plain(text):
        return "invalid_target"
    if text.startswith("["):
        m = re.fullmatch(r"\[([^\]]*)\](?::(.*))?", text)
        a = m and address(m[1])
        if not a or a[0] != 6:
            return "invalid_target"
        h, port = ("address", a), m[2]
    else:
        if text.count(":") > 1:
            return "invalid_target"
        name, colon, port = text.partition(":")
        h = host(name)
        if isinstance(h, str):
            return h
    if not port or not re.fullmatch("[1-9][0-9]{0,4}", port) or int(port) > 65535:
        return "invalid_port"
    return h, int(port)


def is_said(text):
    return bool((text or "").strip(" "))


def resolve(rules, p):
    """A scope as (mode, hosts, ranges, ports), or the reason."""
    if p["enabled"] != "true":
        return "egress_disabled"
    if p["mode"] not in ("isolated", "public_internet", "private_network", "host_allowlist"):
        return "mode_unknown"
    if p["mode"] == "isolated":
        return "isolated", [], [], []
    ports = entries(p["ports"])
    if not all(re.fullmatch("[1-9][0-9]{0,4}", e) and int(e) < 65536 for e in ports):
        return "ports_unusable"
    is_list = p["mode"] == "host_allowlist"
    hosts = [entry(e) for e in entries(p["hosts"])] if is_list else []
    if any(isinstance(h, str) for h in hosts):
        return "hosts_unusable"
    ranges = []
    if p["mode"] == "private_network" or (is_list and p["own"] and is_said(p["cidrs"])):
        ranges = [block(e) for e in entries(p["cidrs"])]
        if not all(b and rules.may_be_given(b) for b in ranges):
            return "cidrs_unusable"
    if not re.fullmatch("[1-9][0-9]{0,8}", p["ttl"] or ""):
        return "ttl_unusable"
    if is_said(p["deny"]) and not all(block(e) for e in entries(p["deny"])):
        return "deny_unusable"
    return p["mode"], hosts, ranges, [int(e) for e in ports]


def against(rules, scope, deny, a):
    """(how bad, reason) of an address; (0, None) when it may be dialled."""
    mode, _, ranges, _ = scope
    name = rules.class_of(a)
    holds = lambda blocks: any(f == a[0] and a[1] & m == v for f, v, m in blocks)
    if rules.denied[name] == "always":
        return 300 + rules.severity[name], rules.reasons[name]
    if holds(deny):
        return 200, "address_denied"
    is_public = name == "public" and mode != "private_network"
    if is_public or (mode != "public_internet" and holds(ranges)):
        return 0, None
    return 1 + rules.severity[name], rules.reasons[name]


def judge_name(scope, name):
    """The reason against asking for a name, or None."""
    below = lambda domains: any(name == d or name.endswith("." + d) for d in domains)
    if "." not in name or below(NEVER):
        return "special_name"
    if scope[0] == "host_allowlist" and ("name", name) not in scope[1]:
        return "host_not_allowed"
    return "special_name" if scope[0] == "public_internet" and below(INNER) else None


def verdict(rules, p, authority, answers):
    scope = resolve(rules, p)
    if isinstance(scope, str):
        return scope
    t = target(authority)
    if isinstance(t, str):
        return t
    (kind, what), port = t
    if scope[0] == "isolated":
        return "mode_isolated"
    if port not in scope[3]:
        return "port_not_allowed"
    deny = [block(e) for e in entries(p["deny"])] if is_said(p["deny"]) else []
    if kind == "address":
        rank, why = against(rules, scope, deny, what)
        if rank < 100 and scope[0] == "host_allowlist" and (kind, what) not in scope[1]:
            return "literal_not_allowed"
        return why or "allow"
    why = judge_name(scope, what)
    if why or answers is None:
        return why or "lookup"
    if not answers:
        return "dns_empty"
    return max((against(rules, scope, deny, address(a)) for a in answers), key=lambda x: x[0])[1] or "allow"


NAMES = ["pub.test", "PUB.test.", "git.internal", "x.local", "localhost", "intranet", "a.b.onion", "nas.home.arpa",
         "xn--bcher-kva.test", "_x.test", "a..b", "-a.test", "pub.test.1", "x.0x1f", "*.test", "b.test", "127.0.0.1.test"]
LITERALS = ["1.1.1.1", "8.8.8.8", "10.1.2.3", "10.1.1.1", "172.16.0.1", "192.168.1.1", "100.64.0.1", "2606:4700::1", "fd12::1",
            "100.100.100.200", "127.0.0.1", "169.254.169.254", "0.0.0.0", "224.0.0.1", "192.0.2.1", "198.18.0.1", "168.63.129.16",
            "2606:4700::200:5efe:1:1", "fd00:ec2::254", "::1", "::", "::ffff:1.1.1.1", "64:ff9b::1", "2002::1", "fe80::1", "ff02::1",
            "4000::1", "1:2:3:4:5:6:7:8"]
MILD = LITERALS[:9]
ODD = ["127.1", "0x7f.1", "0177.0.0.1", "2130706433", "127.0.0.1.", "1.1.1.256", "1:2:3::4:5:6:7:8", "::1%lo", "1.1.1.1x", "", "x y",
       "u@x.test"]
RANGES = ["10.0.0.0/8", "10.1.0.0/16", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7", "fd12::/16", "100.64.0.0/10", "10.1.1.1/32"]
BAD_RANGES = ["10.0.0.1/8", "8.8.8.0/24", "0.0.0.0/0", "::/0", "127.0.0.0/8", "fd00:ec2::/32", "100.100.100.200/32", "10.0.0.0/33",
              "x", "", "10.0.0.0/08"]
HOSTS = ["pub.test", "git.internal", "b.test", "1.1.1.1", "10.1.2.3", "2606:4700::1", "127.0.0.1", "Pub.Test."]


def some(good, bad):
    out = [random.choice(good) for _ in range(random.randint(1, 4))]
    if random.random() < 0.06:
        out.insert(random.randrange(len(out) + 1), random.choice(bad))
    return random.choice((",", ",", ", ", " , ")).join(out)


def policy():
    p = {"enabled": random.choice(["true"] * 80 + ["false", "TRUE", None]),
         "mode": random.choice(["public_internet", "private_network", "host_allowlist"] * 12 + ["isolated", "open", None]),
         "hosts": some(HOSTS, ["*.test", "x.test:1", "127.1", "[::1]", ""]),
         "cidrs": some(RANGES, BAD_RANGES),
         "ports": some(["80", "443", "443", "8443", "65535"], ["0", "65536", "080", "x", ""]),
         "ttl": random.choice(["600"] * 80 + ["14401", "0", "x", None]),
         "deny": random.choice([None, None, some(["8.8.8.0/24", "10.1.1.0/24", "2606:4700::/32", "::/0"], ["x", "8.8.8.8", "1.1.1.1/0"])]),
         "own": random.random() < 0.7}
    for key in ("hosts", "cidrs", "ports"):
        if random.random() < 0.03:
            p[key] = None
    return p


def destination():
    name = random.choice(NAMES[:4] * 3 + NAMES + MILD * 2 + LITERALS + ODD)
    if ":" in name and random.random() < 0.95:
        name = "[" + name + "]"
    elif random.random() < 0.1:
        at = random.randrange(len(name) + 1)
        name = name[:at] + random.choice("0x.-_1a%:[") + name[at:]
    return name + random.choice([":443"] * 12 + [":80", ":8443", ":22", "", ":0443", ":65536", ":"])


def main():
    rules = Rules(sys.argv[1])
    random.seed(sys.argv[2])
    for _ in range(int(sys.argv[3])):
        p, authority = policy(), destination()
        pool = random.choice((LITERALS, MILD, ["1.1.1.1", "8.8.8.8", "2606:4700::1"], ["10.1.2.3", "fd12::1", "192.168.1.1"]))
        answers = random.choice((None, [random.choice(pool) for _ in range(random.randint(0, 3))]))
        said = "-" if answers is None else ",".join(answers) or "none"
        cells = ["~" if p[k] is None else p[k] for k in KEYS]
        print(*cells, int(p["own"]), authority.replace(" ", "\\x20"), said, verdict(rules, p, authority, answers), sep="\t")


main()
