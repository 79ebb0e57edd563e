#!/usr/bin/env python3
"""v4.public tokens by openssl and the specification, to hold kz's own against.

usage: v4public.py verify PUBLIC IMPLICIT <TOKEN      prints the payload, fails when it does not verify
       v4public.py sign SEEDFILE IMPLICIT <PAYLOAD    prints a token with the footer {"kid":...}
       v4public.py public SEEDFILE                    prints the k4.public text
SEEDFILE holds 32 bytes in hex.
"""
import base64
import hashlib
import subprocess
import sys
import tempfile


def b64(b):
    return base64.urlsafe_b64encode(b).decode().rstrip("=")


def unb64(s):
    return base64.urlsafe_b64decode(s + "=" * (-len(s) % 4))


def pae(parts):
    out = len(parts).to_bytes(8, "little")
    for p in parts:
        out += len(p).to_bytes(8, "little") + p
    return out


def openssl(*args, data=b""):
    return subprocess.run(["openssl", *args], input=data, stdout=subprocess.PIPE, check=True).stdout


def private(path):
    seed = bytes.fromhex(open(path).read().strip())
    return bytes.fromhex("302e020100300506032b657004220420") + seed


def public(path):
    der = openssl("pkey", "-inform", "DER", "-pubout", "-outform", "DER", data=private(path))
    return "k4.public." + b64(der[-32:])


def kid(text):
    head = "k4.pid."
    return head + b64(hashlib.blake2b((head + text).encode(), digest_size=33).digest())


def signature(command, key, message, *more):
    with tempfile.NamedTemporaryFile() as k, tempfile.NamedTemporaryFile() as m:
        k.write(key)
        k.flush()
        m.write(message)
        m.flush()
        return openssl("pkeyutl", command, "-rawin", "-keyform", "DER", "-inkey", k.name, "-in", m.name, *more)


def verify(text, implicit, token):
    version, purpose, body, footer = token.split(".")
    assert (version, purpose) == ("v4", "public") and text.startswith("k4.public.")
    der = bytes.fromhex("302a300506032b6570032100") + unb64(text.split(".")[2])
    body = unb64(body)
    message = pae([b"v4.public.", body[:-64], unb64(footer), implicit.encode()])
    assert unb64(footer).decode() == '{"kid":"%s"}' % kid(text)
    with tempfile.NamedTemporaryFile() as s:
        s.write(body[-64:])
        s.flush()
        signature("-verify", der, message, "-pubin", "-sigfile", s.name)
    return body[:-64]


def sign(path, implicit, payload):
    footer = ('{"kid":"%s"}' % kid(public(path))).encode()
    s = signature("-sign", private(path), pae([b"v4.public.", payload, footer, implicit.encode()]))
    return "v4.public." + b64(payload + s) + "." + b64(footer)


if __name__ == "__main__":
    verb, args = sys.argv[1], sys.argv[2:]
    if verb == "verify":
        sys.stdout.buffer.write(verify(args[0], args[1], sys.stdin.read().strip()))
    elif verb == "sign":
        print(sign(args[0], args[1], sys.stdin.buffer.read()))
    else:
        print(public(args[0]))
