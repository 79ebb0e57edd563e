#!/usr/bin/env python3
"""One capability of a scope document changed in one place: what an attacker, or a broken application, would send.

usage: resign.py SEEDFILE <SCOPE      prints a line for each change: REASON, NAME and the document, parted by tabs
Those of "claims" are signed again with the application's own key (SEEDFILE, 32 bytes in hex), by v4public.py and not by kz; those of
"bytes" are not. The first line is signed again without a change, and has the reason "none".
"""
import json
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import v4public  # noqa: E402

MISSING, INVALID, MALFORMED = "capability_missing", "capability_invalid", "scope_malformed"
OTHER = {"v": 2, "actor": "ben", "conversation": "secret", "turn": "turn-1", "position": 1, "audience_version": "1",
         "manifest_sha256": "0" * 64, "document_sha256": "0" * 64, "iat": "2999-01-01T00:00:00+00:00",
         "exp": "2020-01-01T00:00:00+00:00"}


def text(claims):
    return json.dumps(claims, separators=(",", ":"), ensure_ascii=False)


def claim_changes(claims):
    assert set(claims) == set(OTHER), claims
    yield "none", "unchanged", text(claims)
    for key, other in OTHER.items():
        assert claims[key] != other
        yield MISSING, key + " is gone", text({k: v for k, v in claims.items() if k != key})
        yield INVALID, key + " is another", text({**claims, key: other})
        yield INVALID, key + " is null", text({**claims, key: None})
        yield INVALID, key + " is there twice", text(claims)[:-1] + ',"%s":%s}' % (key, json.dumps(claims[key]))
    yield INVALID, "one more claim", text({**claims, "admin": True})
    yield INVALID, "another order", text(dict(reversed(claims.items())))
    yield INVALID, "a blank", text(claims).replace(",", ", ", 1)
    yield INVALID, "lives two days", text({**claims, "exp": claims["exp"].replace(claims["exp"][:4], "2999")})


def byte_changes(token):
    version, purpose, body, footer = token.split(".")
    raw = bytearray(v4public.unb64(body))
    yield MALFORMED, "an empty token", ""
    yield INVALID, "another version", ".".join(["v3", purpose, body, footer])
    yield INVALID, "another purpose", ".".join([version, "local", body, footer])
    yield INVALID, "no footer", ".".join([version, purpose, body])
    yield INVALID, "another footer", ".".join([version, purpose, body, v4public.b64(b'{"kid":"k4.pid.x"}')])
    yield INVALID, "a byte more", token + "A"
    yield INVALID, "no signature", ".".join([version, purpose, v4public.b64(bytes(raw[:-64])), footer])
    for name, at in (("first", 0), ("middle", len(raw) // 2), ("last of the claims", len(raw) - 65),
                     ("first of the signature", len(raw) - 64), ("last", len(raw) - 1)):
        changed = bytearray(raw)
        changed[at] ^= 1
        yield INVALID, "a bit of the byte " + name, ".".join([version, purpose, v4public.b64(bytes(changed)), footer])


def main():
    seed, document = sys.argv[1], json.load(sys.stdin)
    token = document["capability"]
    claims = json.loads(v4public.unb64(token.split(".")[2])[:-64])
    lines = [(r, n, v4public.sign(seed, "kz scope 1", p.encode())) for r, n, p in claim_changes(claims)]
    lines += [(INVALID, "another assertion", v4public.sign(seed, "kz grant 1", text(claims).encode()))]
    lines += list(byte_changes(token))
    for reason, name, changed in lines:
        print(reason, name, text({**document, "capability": changed}), sep="\t")
    print(MISSING, "no capability", text({k: v for k, v in document.items() if k != "capability"}), sep="\t")


if __name__ == "__main__":
    main()
