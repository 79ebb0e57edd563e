"""Print the Python distributions that this interpreter finds, as JSON: name, version, imports, debian, sorted.

Runs inside an image, isolated (python3 -I).  Debian's own metadata may lack top_level.txt or RECORD:
what a distribution without either is imported as is a module or package of its own name.  debian is the package that
the metadata belongs to, or null.
"""

import glob
import importlib.metadata
import importlib.util
import json
import os
import re


def imports_of(dist):
    text = dist.read_text("top_level.txt")
    names = set((text or "").split())
    if not names:
        for file in dist.files or []:
            first = file.parts[0]
            stem = first.removesuffix(".py")
            if first.endswith((".dist-info", ".egg-info")) or first == ".." or stem == "__pycache__":
                continue
            names.add(re.sub(r"\.(cpython|abi3)[^/]*\.so$", "", stem))
    if not names:
        guess = re.sub(r"[-.]+", "_", dist.metadata["Name"]).lower()
        names = {guess}
    return sorted(n for n in names if n.isidentifier() and n not in ("tests", "test") and importlib.util.find_spec(n))


owner = {}
for name in glob.glob("/var/lib/dpkg/info/*.list"):
    package = os.path.basename(name)[: -len(".list")].partition(":")[0]
    with open(name, encoding="utf-8") as lines:
        for line in lines:
            head, mark, _ = line.rstrip("\n").partition("-info/")
            path = head + "-info" if mark else head
            if path.endswith("-info"):
                owner.setdefault(path, package)
found = {}
for dist in importlib.metadata.distributions():
    name = dist.metadata["Name"]
    key = re.sub(r"[-_.]+", "-", name or "").lower()
    # the first one on the path is the one that is imported
    if key and key not in found:
        found[key] = {"name": name, "version": dist.version, "imports": imports_of(dist),
                      "debian": owner.get(str(dist._path))}
print(json.dumps([found[key] for key in sorted(found)], ensure_ascii=True))
