"""wheel.py DIR NAME VERSION [MODULE]: make a tiny wheel, the same bytes each time, and print its line of a lock."""

import hashlib
import pathlib
import sys
import zipfile

into, name, version = sys.argv[1:4]
module = sys.argv[4] if len(sys.argv) > 4 else name.replace("-", "_")
info = f"{name.replace('-', '_')}-{version}.dist-info"
files = {
    f"{module}.py": f'VERSION = "{version}"\n',
    f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n",
    f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: kz\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    f"{info}/LICENSE": "Do what you want with it.\n",
}
files[f"{info}/RECORD"] = "".join(f"{f},,\n" for f in [*files, f"{info}/RECORD"])
path = pathlib.Path(into, f"{name.replace('-', '_')}-{version}-py3-none-any.whl")
with zipfile.ZipFile(path, "w") as wheel:
    for file, text in files.items():
        wheel.writestr(zipfile.ZipInfo(file), text)
print(f"{name}=={version} \\\n    --hash=sha256:{hashlib.sha256(path.read_bytes()).hexdigest()}")
