#!/usr/bin/env python3
"""What the laboratory's servers hand out: a wheel with its simple index, an npm package, a git repository.

usage: fixtures.py WWW
"""
import base64
import hashlib
import io
import json
import os
import subprocess
import sys
import tarfile
import zipfile

HOSTS = ("web.pub.lab", "npm.pub.lab", "web.priv.lab", "npm.priv.lab", "other.pub.lab")


def wheel(www):
    d = os.path.join(www, "simple", "kzdemo")
    os.makedirs(d)
    name = "kzdemo-1.0-py3-none-any.whl"
    with zipfile.ZipFile(os.path.join(d, name), "w") as z:
        z.writestr("kzdemo.py", "answer = 42\n")
        z.writestr("kzdemo-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: kzdemo\nVersion: 1.0\n")
        z.writestr("kzdemo-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        z.writestr("kzdemo-1.0.dist-info/RECORD", "kzdemo.py,,\nkzdemo-1.0.dist-info/METADATA,,\nkzdemo-1.0.dist-info/WHEEL,,\n"
                   "kzdemo-1.0.dist-info/RECORD,,\n")
    with open(os.path.join(d, name), "rb") as f:
        digest = hashlib.sha256(f.read()).hexdigest()
    with open(os.path.join(d, "index.html"), "w", encoding="ascii") as f:
        f.write(f'<!DOCTYPE html><html><body><a href="{name}#sha256={digest}">{name}</a></body></html>\n')


def package(www):
    out = io.BytesIO()
    manifest = {"name": "kzdemo", "version": "1.0.0", "main": "index.js"}
    with tarfile.open(fileobj=out, mode="w:gz") as t:
        for name, text in (("package/package.json", json.dumps(manifest)), ("package/index.js", "module.exports = 42\n")):
            info = tarfile.TarInfo(name)
            info.size, info.mode = len(text), 0o644
            t.addfile(info, io.BytesIO(text.encode()))
    with open(os.path.join(www, "kzdemo-1.0.0.tgz"), "wb") as f:
        f.write(out.getvalue())
    integrity = "sha512-" + base64.b64encode(hashlib.sha512(out.getvalue()).digest()).decode()
    for scheme in ("http", "https"):
        for host in HOSTS:
            dist = {"tarball": f"{scheme}://{host}/kzdemo-1.0.0.tgz", "integrity": integrity}
            body = {"name": "kzdemo", "dist-tags": {"latest": "1.0.0"}, "versions": {"1.0.0": {**manifest, "dist": dist}}}
            with open(os.path.join(www, f"kzdemo.{scheme}.{host}.json"), "w", encoding="ascii") as f:
                json.dump(body, f)


def repository(www):
    bare, tree = os.path.join(www, "demo.git"), os.path.join(www, ".tree")
    env = {"PATH": "/usr/bin:/bin", "HOME": www, "GIT_AUTHOR_NAME": "t", "GIT_AUTHOR_EMAIL": "t@web.pub.lab", "GIT_COMMITTER_NAME": "t",
           "GIT_COMMITTER_EMAIL": "t@web.pub.lab", "GIT_CONFIG_NOSYSTEM": "1"}

    def git(*args):
        subprocess.run(["git", *args], check=True, env=env, stdout=subprocess.DEVNULL)
    git("-c", "init.defaultBranch=main", "init", "-q", tree)
    with open(os.path.join(tree, "file"), "w", encoding="ascii") as f:
        f.write("from git\n")
    git("-C", tree, "add", "file")
    git("-C", tree, "commit", "-q", "-m", "first")
    git("clone", "-q", "--bare", tree, bare)
    git("-C", bare, "update-server-info")


if __name__ == "__main__":
    wheel(sys.argv[1])
    package(sys.argv[1])
    repository(sys.argv[1])
