#!/usr/bin/env python3
"""Grants that are not good, each shown to kz-proxy for a host of its own, so that its denial can be told apart.

usage: refusals.py STATE

Prints what is not so, and how many cases there were; every one must be refused by the same bytes.  Writes the denials
that the audit must have to EG/expected, "REASON HOST PORT".
"""
import base64
import datetime
import json
import os
import re
import secrets
import sys
import time

import mint
import proxy

EG = os.environ["EG"]
MALFORMED, CLAIMS, SIGNATURE, UNKNOWN = "grant_malformed", "grant_claims", "grant_signature", "grant_key_unknown"


def at(seconds):
    return json.dumps(mint.stamp(time.time() + seconds))


def life(iat, nbf, exp):
    return [f"iat={at(iat)}", f"nbf={at(nbf)}", f"exp={at(exp)}"]


def other_zone():
    t = datetime.datetime.now() + datetime.timedelta(minutes=10)
    return json.dumps(t.strftime("%Y-%m-%dT%H:%M:%S+02:00"))


# what is wrong, the reason, the options of mint.py
CASES = [
    ("expired", "grant_expired", life(-4000, -4000, -400)),
    ("expired beyond the tolerance", "grant_expired", life(-100, -100, -35)),
    ("expired a second ago", "grant_expired", life(-100, -100, -1)),
    ("not yet valid", "grant_early", life(400, 400, 800)),
    ("valid later than issued", CLAIMS, life(0, 400, 800)),
    ("claims in another order", CLAIMS, ["--sort"]),
    ("claims with blanks", CLAIMS, ["--blanks"]),
    ("of another audience", "grant_audience", ['aud="kz-proxy:other"']),
    ("for no proxy", "grant_audience", ['aud="kz"']),
    ("without an audience", CLAIMS, ["-aud"]),
    ("of another issuer", CLAIMS, ['iss="other"']),
    ("without an issuer", CLAIMS, ["-iss"]),
    ("a bit of the claims changed", SIGNATURE, ["--flip=100"]),
    ("a bit of the first byte changed", SIGNATURE, ["--flip=0"]),
    ("a bit of the signature changed", SIGNATURE, ["--flip=-1"]),
    ("without the last characters", None, ["--cut=1"]),
    ("without its footer's end", None, ["--cut=20"]),
    ("without a signature", None, ["--strip"]),
    ("signed with another key, known id", SIGNATURE, ["--key=" + "11" * 32, "--kid=KNOWN"]),
    ("signed with another key, its own id", UNKNOWN, ["--key=" + "11" * 32]),
    ("signed with a key of zeros", UNKNOWN, ["--key=" + "00" * 32]),
    ("signed with the field key", UNKNOWN, ["--key=FIELD"]),
    ("signed with the worker key", UNKNOWN, ["--key=WORKER"]),
    ("of an unknown key id", UNKNOWN, ["--kid=k4.pid." + "A" * 44]),
    ("of a key id that is none", None, ["--kid=x"]),
    ("of a secret key's id", None, ["--kid=k4.sid." + "A" * 44]),
    ("without a footer", None, ["--footer="]),
    ("of a footer that is no JSON", None, ["--footer=kid"]),
    ("of a footer with more in it", None, ["--footer=MORE"]),
    ("of a footer with the id twice", None, ["--footer=TWICE"]),
    ("meant for receipts", SIGNATURE, ["--implicit=kz receipt 1"]),
    ("meant for revocations", SIGNATURE, ["--implicit=kz revocation 1"]),
    ("without a meaning", SIGNATURE, ["--implicit="]),
    ("of version 3", MALFORMED, ["--version=v3.public"]),
    ("of version 2", MALFORMED, ["--version=v2.public"]),
    ("of version 1", MALFORMED, ["--version=v1.public"]),
    ("encrypted, it says", MALFORMED, ["--version=v4.local"]),
    ("of version 4 in capitals", MALFORMED, ["--version=V4.public"]),
    ("with padding", MALFORMED, ["--pad"]),
    ("an unknown claim", CLAIMS, ['more="x"']),
    ("an unknown claim of null", CLAIMS, ["more=null"]),
    ("mode twice", CLAIMS, ['+mode="public_internet"']),
    ("ports twice", CLAIMS, ["+ports=[22]"]),
    ("expiry twice", CLAIMS, ["+exp=" + at(7200)]),
    ("an unknown mode", CLAIMS, ['mode="everything"']),
    ("a mode in capitals", CLAIMS, ['mode="PUBLIC_INTERNET"']),
    ("a mode of another type", CLAIMS, ["mode=1"]),
    ("a mode of null", CLAIMS, ["mode=null"]),
    ("a life of more than four hours", CLAIMS, life(0, 0, 14401)),
    ("a life of a day", CLAIMS, life(0, 0, 86400)),
    ("a life of nothing", None, life(0, 0, 0)),
    ("an end before its begin", None, life(60, 60, 10)),
    ("an end that is a number", CLAIMS, ["exp=9999999999"]),
    ("an end that is no time", CLAIMS, ['exp="tomorrow"']),
    ("an end of another spelling", CLAIMS, ["exp=" + at(600).replace("+00:00", "Z")]),
    ("an end on the 31st of February", CLAIMS, ['exp="2099-02-31T00:00:00+00:00"']),
    ("an end with an offset that hides its past", None, ["exp=" + other_zone()]),
    ("port 0", CLAIMS, ["ports=[0]"]),
    ("port 65536", CLAIMS, ["ports=[8443,65536]"]),
    ("port -1", CLAIMS, ["ports=[-1]"]),
    ("a port that is text", CLAIMS, ['ports=["8443"]']),
    ("a port that is a fraction", CLAIMS, ["ports=[8443.5]"]),
    ("ports that are no list", CLAIMS, ["ports=8443"]),
    ("no ports", CLAIMS, ["ports=[]"]),
    ("a range with bits behind it", CLAIMS, ['mode="private_network"', 'cidrs=["10.0.0.1/8"]']),
    ("a range that is no range", CLAIMS, ['mode="private_network"', 'cidrs=["10.0.0.0"]']),
    ("a public range", CLAIMS, ['mode="private_network"', 'cidrs=["0.0.0.0/0"]']),
    ("a range over loopback", CLAIMS, ['mode="private_network"', 'cidrs=["127.0.0.0/8"]']),
    ("a range over link-local", CLAIMS, ['mode="private_network"', 'cidrs=["169.254.0.0/16"]']),
    ("no range", CLAIMS, ['mode="private_network"', "cidrs=[]"]),
    ("a host with a wildcard", CLAIMS, ['mode="host_allowlist"', 'hosts=["*.odd.lab"]']),
    ("a host that is a suffix", CLAIMS, ['mode="host_allowlist"', 'hosts=[".odd.lab"]']),
    ("a host with a port", CLAIMS, ['mode="host_allowlist"', 'hosts=["pub.odd.lab:8443"]']),
    ("an empty host", CLAIMS, ['mode="host_allowlist"', 'hosts=[""]']),
    ("no host", CLAIMS, ['mode="host_allowlist"', "hosts=[]"]),
    ("an execution that is none", None, ['jti="x"']),
    ("an execution in capitals", None, ['jti="' + "A" * 32 + '"']),
    ("uids that run over", None, ["uid_base=4294967295", "uid_count=2"]),
    ("uids below zero", CLAIMS, ["uid_base=-1"]),
    ("claims that are no object", None, ["--payload=[]"]),
    ("claims that are no JSON", None, ["--payload={"]),
    ("claims with text behind them", None, ["--payload=TRAIL"]),
    ("claims of nothing", None, ["--payload="]),
    ("claims of depth", None, ["--payload=" + "[" * 1000]),
    ("of another worker's uids", "grant_foreign", ["uid_base=70000", "uid_count=3"]),
    ("of uids behind this one", "grant_foreign", ["uid_base=1", "uid_count=65536"]),
    ("of another execution", "grant_foreign", []),
    ("of an isolated scope", CLAIMS, ['mode="isolated"', "ports=[]"]),
] + [("without " + c, CLAIMS, ["-" + c]) for c in ("iat", "nbf", "exp", "jti", "run", "actor", "worker", "uid_base", "uid_count", "mode",
                                                    "hosts", "cidrs", "ports", "rev")]

RAW = [
    ("a JWT without algorithm", "eyJhbGciOiJub25lIn0.eyJtb2RlIjoicHVibGljX2ludGVybmV0In0."),
    ("a JWT", "eyJhbGciOiJIUzI1NiJ9.eyJtb2RlIjoicHVibGljX2ludGVybmV0In0.AAAA"),
    ("a word", "x"), ("a header alone", "v4.public."), ("a header and a dot", "v4.public.."), ("dots", "...."),
    ("5000 letters", "v4.public." + "A" * 5000), ("another alphabet", "v4.public.+/+/" + "A" * 200),
]


def token_of(state, options):
    kid = mint.footer_of(mint.seed_of(state)).decode()
    swaps = {"KNOWN": json.loads(kid)["kid"], "MORE": kid[:-1] + ',"x":1}', "TWICE": kid[:-1] + "," + kid[1:], "TRAIL": "{} {}"}
    for name in ("field", "worker"):
        with open(f"{state}/keys/{name}.key", encoding="ascii") as f:
            swaps[name.upper()] = f.read().strip()
    options = [o.partition("=")[0] + "=" + swaps[o.partition("=")[2]] if o.partition("=")[2] in swaps else o for o in options]
    return mint.make(state, "public_internet", *options)


def main(state):
    wrong, answers, expected = 0, {}, []
    good = mint.grant(state, "public_internet")
    code, _ = proxy.ask(proxy.connect_head("four.pub.lab:9004", grant=good[0]), execution=good[1])
    if code != 200:
        sys.exit(f"a good grant gets {code}")
    cases = [(what, reason, *token_of(state, options)) for what, reason, options in CASES]
    cases += [(what, MALFORMED, token, secrets.token_hex(16)) for what, token in RAW]
    # an algorithm that somebody else would take for a key
    cases.append(("signed by HMAC with the public key", None, "v4.public." + base64.urlsafe_b64encode(os.urandom(300)).decode().rstrip("="),
                  secrets.token_hex(16)))
    for n, (what, reason, token, execution) in enumerate(cases):
        host = f"case{n}.pub.lab"
        if what == "of another execution" or not re.fullmatch("[0-9a-f]{32}", execution):
            execution = secrets.token_hex(16)
        code, answer = proxy.ask(proxy.connect_head(f"{host}:8443", grant=token), execution=execution)
        answers.setdefault(answer, []).append(what)
        if code != 403:
            wrong += 1
            print(f"{what}: {code}, {answer[:80]!r}")
        if reason:
            expected.append(f"{reason} {host} 8443\n")
    if len(answers) != 1:
        wrong += 1
        print(f"{len(answers)} different answers: {[(a[:60], w[:3]) for a, w in answers.items()]}")
    with open(EG + "/expected", "w", encoding="ascii") as f:
        f.writelines(expected)
    with open(EG + "/cases", "w", encoding="ascii") as f:
        f.writelines(f"case{n}.pub.lab {c[0]}\n" for n, c in enumerate(cases))
    print(f"{len(cases)} grants, {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
