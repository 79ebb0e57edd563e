#!/usr/bin/env python3
"""Make egress grants, sound and unsound ones, by the grant key of a stack: a second implementation of PASETO v4.public.

usage: mint.py STATE MODE [NAME=JSON]... [+NAME=JSON]... [-NAME]... [--WHAT[=VALUE]]...

Prints the token and the execution it is for.  The grant reaches the ports of the laboratory's servers, for the
caller's own uid, for an hour.  NAME=JSON sets a claim, +NAME=JSON adds it a second time, -NAME leaves it out.  What else
can be wrong: --key=HEX (sign with another seed), --kid=TEXT, --footer=TEXT, --implicit=TEXT, --version=v3.public (the
header of the token, signed so), --flip=N (change bit N of the token's body), --cut=N (leave out the last N characters),
--sort (claims in another order), --blanks (JSON with white space), --payload=TEXT (instead of claims), --past=SECONDS
(move all times), --strip (no signature), --pad (base64 padding).
"""
import base64
import datetime
import hashlib
import json
import os
import secrets
import sys
import time

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

PORTS = [80, 443, 8080, 8443, 9001, 9002, 9003, 9004, 9005, 9006, 9007, 9009, 9010]


def b64(x):
    return base64.urlsafe_b64encode(x).rstrip(b"=").decode()


def pae(*parts):
    out = len(parts).to_bytes(8, "little")
    for p in parts:
        out += len(p).to_bytes(8, "little") + p
    return out


def stamp(t):
    return datetime.datetime.fromtimestamp(int(t), datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%S+00:00")


def paserk(public):
    """The key as k4.public, and its id as k4.pid."""
    text = "k4.public." + b64(public)
    return text, "k4.pid." + b64(hashlib.blake2b(b"k4.pid." + text.encode(), digest_size=33).digest())


def public_of(key):
    return key.public_key().public_bytes(serialization.Encoding.Raw, serialization.PublicFormat.Raw)


def claims_of(state, mode, past):
    with open(state + "/env/KZ_DEPLOYMENT_ID", encoding="ascii") as f:
        deployment = f.read().strip()
    now = time.time() - past
    return {
        "iss": "kz", "aud": "kz-proxy:" + deployment, "iat": stamp(now), "nbf": stamp(now), "exp": stamp(now + 3600),
        "jti": secrets.token_hex(16), "run": secrets.token_hex(16), "actor": secrets.token_hex(16), "worker": "w-test",
        "uid_base": os.getuid(), "uid_count": 1, "mode": mode, "hosts": [], "cidrs": [], "ports": PORTS,
        "rev": "0" * 64,
    }


def sign(seed, payload, footer, implicit, version="v4.public"):
    header = (version + ".").encode()
    sig = Ed25519PrivateKey.from_private_bytes(seed).sign(pae(header, payload, footer, implicit))
    return header, payload, sig, footer


def seed_of(state):
    with open(state + "/keys/grant.key", encoding="ascii") as f:
        return bytes.fromhex(f.read().strip())


def footer_of(seed):
    kid = paserk(public_of(Ed25519PrivateKey.from_private_bytes(seed)))[1]
    return json.dumps({"kid": kid}, separators=(",", ":")).encode()


def join(header, body, footer):
    return header.decode() + b64(body) + ("." + b64(footer) if footer else "")


def grant(state, mode, **claims):
    """A sound grant and its execution."""
    all_claims, seed = {**claims_of(state, mode, 0), **claims}, seed_of(state)
    payload = json.dumps(all_claims, separators=(",", ":")).encode()
    header, payload, sig, footer = sign(seed, payload, footer_of(seed), b"kz grant 1")
    return join(header, payload + sig, footer), all_claims["jti"]


def make(state, mode, *args):
    """A grant by options, as on the command line: the token and the execution."""
    opt = {x[2:].partition("=")[0]: x.partition("=")[2] for x in args if x.startswith("--")}
    claims = claims_of(state, mode, int(opt.get("past", 0)))
    pairs = []
    for x in args:
        name, _, value = x.partition("=")
        if x.startswith("--"):
            continue
        if x.startswith("+"):
            pairs.append((name[1:], json.loads(value)))
        elif x.startswith("-"):
            del claims[name[1:]]
        else:
            claims[name] = json.loads(value)
    items = list(claims.items()) + pairs
    if "sort" in opt:
        items.sort(reverse=True)
    gap = " " if "blanks" in opt else ""
    payload = "{" + ("," + gap).join(json.dumps(k) + ":" + gap + json.dumps(v, separators=("," + gap, ":" + gap)) for k, v in items) + "}"
    payload = opt.get("payload", payload).encode()
    seed = bytes.fromhex(opt["key"]) if "key" in opt else seed_of(state)
    footer = footer_of(seed)
    if "kid" in opt:
        footer = json.dumps({"kid": opt["kid"]}, separators=(",", ":")).encode()
    if "footer" in opt:
        footer = opt["footer"].encode()
    header, payload, sig, footer = sign(seed, payload, footer, opt.get("implicit", "kz grant 1").encode(),
                                        opt.get("version", "v4.public"))
    body = bytearray(payload + (b"" if "strip" in opt else sig))
    if "flip" in opt:
        n = int(opt["flip"]) % (8 * len(body))
        body[n // 8] ^= 1 << n % 8
    token = header.decode() + b64(bytes(body)) + ("=" if "pad" in opt else "") + ("." + b64(footer) if footer else "")
    if "cut" in opt:
        token = token[:-int(opt["cut"])]
    return token, claims.get("jti", "0" * 32)


if __name__ == "__main__":
    print(*make(*sys.argv[1:]))
