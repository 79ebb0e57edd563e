#!/usr/bin/env python3
"""Scope documents for tests, signed by the specification and openssl (v4public.py), not by kz.

usage: scope.py SEEDFILE DOCUMENTS <SPEC >SCOPE       SPEC is JSON: members of the document over the defaults
       scope.py --live SEEDFILE DOCUMENTS <SPEC       the live audience of that document, over "live" of SPEC
Files are "NAME=CONTENT" or objects with "content"; their bytes go to DOCUMENTS.  "claims" of SPEC changes claims of the
token (null removes one), "implicit" its assertion, "token" replaces it.
"""
import hashlib
import json
import os
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import v4public  # noqa: E402


def canonical(x):
    return json.dumps(x, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def sha(b):
    return hashlib.sha256(b).hexdigest()


def entry(x, documents):
    if isinstance(x, str):
        name, content = x.split("=", 1)
        x = {"filename": name, "content": content}
    x = dict(x)
    if "content" in x:
        content = x.pop("content").encode()
        digest = sha(content)
        path = os.path.join(documents, digest)
        if not os.path.exists(path):
            with open(path, "wb") as f:
                f.write(content)
        name = x.get("filename", "file")
        for key, value in (("id", "d-" + name), ("kind", "upload"), ("version", "1"), ("root", "r-" + name),
                           ("sha256", digest), ("media_type", "text/plain"), ("size", len(content)), ("state", "ready")):
            x.setdefault(key, value)
    return x


def rfc(t):
    return time.strftime("%Y-%m-%dT%H:%M:%S+00:00", time.gmtime(t))


def document(spec, documents):
    doc = {"v": 1, "type": "scope_document", "actor": "ann", "conversation": "chat", "kind": "room", "turn": "t1",
           "admission_position": 10, "audience_version": "a1", "roster": ["ann"], "manifest": []}
    doc.update({k: v for k, v in spec.items() if k not in ("claims", "implicit", "token", "live", "drop")})
    for key in ("manifest", "selection", "retrieved"):
        if isinstance(doc.get(key), list):
            doc[key] = [entry(x, documents) if isinstance(x, (str, dict)) else x for x in doc[key]]
    doc.setdefault("manifest_sha256", sha(canonical(doc["manifest"])))
    return doc


def signed(spec, documents, seed):
    doc = document(spec, documents)
    now = int(time.time())
    claims = {"v": 1, "actor": doc["actor"], "conversation": doc["conversation"], "turn": doc["turn"],
              "position": doc["admission_position"], "audience_version": doc["audience_version"],
              "manifest_sha256": doc["manifest_sha256"], "document_sha256": sha(canonical(doc)), "iat": rfc(now),
              "exp": rfc(now + 600)}
    for key, value in spec.get("claims", {}).items():
        if value is None:
            del claims[key]
        elif key in ("iat", "exp") and isinstance(value, int):
            claims[key] = rfc(now + value)
        else:
            claims[key] = value
    payload = json.dumps(claims, separators=(",", ":"), ensure_ascii=False).encode()
    doc["capability"] = spec.get("token") or v4public.sign(seed, spec.get("implicit", "kz scope 1"), payload)
    for key in spec.get("drop", []):
        del doc[key]
    return doc


def live(spec, documents):
    doc = document(spec, documents)
    out = {"v": 1, "type": "audience", "version": doc["audience_version"], "roster": doc["roster"],
           "manifest": doc["manifest"], "links": []}
    now = dict(spec.get("live") or {})
    if now.get("manifest"):
        now["manifest"] = [entry(x, documents) for x in now["manifest"]]
    if "add" in now:
        now["manifest"] = out["manifest"] + [entry(x, documents) for x in now.pop("add")]
    out.update(now)
    return {k: v for k, v in out.items() if v is not None}


def main():
    args = sys.argv[1:]
    is_live = args[0] == "--live"
    seed, documents = args[-2:]
    spec = json.load(sys.stdin)
    print(json.dumps(live(spec, documents) if is_live else signed(spec, documents, seed), ensure_ascii=False))


if __name__ == "__main__":
    main()
