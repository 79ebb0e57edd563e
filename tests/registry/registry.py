"""A registry of packages for tests: Python and npm, well-behaved and not.

	registry.py FOLDER [--tls CERT KEY]

Makes its own wheels, source archives and tarballs, listens on a free loopback port, writes
FOLDER/port and logs each request as a line of FOLDER/log. What it does wrong is
part of the name that is asked for, so that one process serves every case.
"""
import base64, gzip, hashlib, http.server, io, json, os, socketserver, ssl, sys, tarfile, threading, time, zipfile

FOLDER = sys.argv[1]
HOST = "127.0.0.1"


def sha256(b):
    return hashlib.sha256(b).hexdigest()


def tar(files):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as t:
        for name, text in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(text)
            t.addfile(info, io.BytesIO(text))
    return out.getvalue()


def metadata(name, version, needs=()):
    lines = ["Metadata-Version: 2.1", "Name: " + name, "Version: " + version]
    return "\n".join(lines + ["Requires-Dist: " + n for n in needs] + [""]).encode()


def wheel(name, version, needs=(), more=None, packed=False):
    flat = name.replace("-", "_")
    info = "%s-%s.dist-info/" % (flat, version)
    files = {flat + ".py": b"VERSION = %r\n" % version, info + "METADATA": metadata(name, version, needs),
             info + "WHEEL": b"Wheel-Version: 1.0\nGenerator: t\nRoot-Is-Purelib: true\nTag: py3-none-any\n"}
    files.update(more or {})
    files[info + "RECORD"] = "".join("%s,,\n" % f for f in [*files, info + "RECORD"]).encode()
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as z:
        for path, text in files.items():
            z.writestr(zipfile.ZipInfo(path), text, zipfile.ZIP_DEFLATED if packed else None)  # the same bytes whenever it is made
    return out.getvalue()


# A build backend of its own: no other package is needed to build it.
BACKEND = b"""
import zipfile
def build_wheel(folder, settings=None, metadata=None):
    name = "source-1.0-py3-none-any.whl"
    files = {"source.py": "VERSION = '1.0'", "source-1.0.dist-info/METADATA": "Metadata-Version: 2.1\\nName: source\\nVersion: 1.0\\n",
             "source-1.0.dist-info/WHEEL": "Wheel-Version: 1.0\\nGenerator: t\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n"}
    files["source-1.0.dist-info/RECORD"] = "".join(f + ",,\\n" for f in files) + "source-1.0.dist-info/RECORD,,\\n"
    with zipfile.ZipFile(folder + "/" + name, "w") as z:
        for path, text in files.items():
            z.writestr(path, text)
    return name
"""


def sdist(name, version):
    top = "%s-%s/" % (name, version)
    project = b'[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n'
    return tar({top + "PKG-INFO": metadata(name, version), top + "pyproject.toml": project, top + "backend.py": BACKEND})


PYPI = {}  # project: [(file, bytes, more of its entry)]
META = {}  # file: bytes of its companion


def add_wheel(name, version, needs=(), companion=None, **more):
    file = "%s-%s-py3-none-any.whl" % (name.replace("-", "_"), version)
    if companion:
        META[file] = metadata(name, version, needs)
        more["core-metadata"] = {"sha256": sha256(META[file] if companion == "right" else b"another")}
    PYPI.setdefault(name, []).append((file, wheel(name, version, needs), more))


add_wheel("pure", "1.0")
add_wheel("pure", "1.1", yanked="broken")
add_wheel("pure", "9.0", **{"requires-python": ">=99"})
add_wheel("pure", "1.0+local")
add_wheel("companion", "1.0", needs=["pure==1.0"], companion="right")
add_wheel("companion-wrong", "1.0", companion="wrong")
PYPI["source"] = [("source-1.0.tar.gz", sdist("source", "1.0"), {})]
add_wheel("tree", "1.0", needs=["leaf-%d" % i for i in range(9)] + ["companion"])
for i in range(9):
    add_wheel("leaf-%d" % i, "1.0", companion="right" if i % 2 else None)
for name in ["wrong-hash", "large-length", "large-chunked", "away-listed", "away-denied", "dies", "gone", "no-hash",
             "slow", "elsewhere", "loop", "downgrade", "gzipped"]:
    add_wheel(name, "1.0")

# what an image has, in the image's version and in another
if "BAKED" in os.environ:
    add_wheel("requests", os.environ["BAKED"])
add_wheel("requests", "99.0")
add_wheel("over-requests", "1.0", needs=["requests"])
add_wheel("requests-old", "1.0", needs=["requests==0.1"])
add_wheel("PyYAML", "99.0")
add_wheel("fat", "1.0")
PYPI["fat"] = [("fat-1.0-py3-none-any.whl", wheel("fat", "1.0", more={"fat.bin": os.urandom(3 << 20)}), {})]
PYPI["bulk"] = [("bulk-1.0-py3-none-any.whl", wheel("bulk", "1.0", more={"bulk.bin": os.urandom(5 << 19)}), {})]
PYPI["pyyaml"] = PYPI.pop("PyYAML")
# 120 MiB that are little on their way; and many files
HUGE = {"huge": lambda: {"huge-%d.bin" % i: bytes(40 << 20) for i in range(3)},
        "many": lambda: {"many_files/%d.txt" % i: b"x" for i in range(2500)}}
PYPI["stuck"] = [("stuck-1.0.tar.gz", tar({"stuck-1.0/PKG-INFO": metadata("stuck", "1.0"), "stuck-1.0/setup.py": b"""
import os, subprocess, sys, time
subprocess.Popen([sys.executable, "-c", "import time; time.sleep(1000)"], start_new_session=True)
open("/work/space/half", "w").write("x")
time.sleep(1000)
"""}), {})]
PYPI["dies-large"] = [("dies_large-1.0-py3-none-any.whl", b"x" * 1000000, {})]
PYPI["wrong-large"] = [("wrong_large-1.0-py3-none-any.whl", b"x" * 1000000, {})]
# it says in the installer's place that all went well, and ends it
PYPI["liar"] = [("liar-1.0.tar.gz", tar({"liar-1.0/PKG-INFO": metadata("liar", "1.0"), "liar-1.0/setup.py": b"""
import glob, json, os, signal
lock = {"v": 1, "python": {"requests": ["liar"], "packages": [{"name": "liar", "version": "1.0", "digest": "sha256:0"}]}}
for p in glob.glob("/proc/[0-9]*"):
    try:
        words = open(p + "/cmdline", "rb").read().split(b"\\0")
        if any(w.endswith(b"/.kz-install") for w in words):
            with open(p + "/fd/1", "w") as f:
                f.write(json.dumps({"v": 1, "ok": True, "lock": lock}) + "\\n")
            os.makedirs("/work/packages/python", exist_ok=True)
            open("/work/packages/python/liar.py", "w").write("VERSION = 666")
            os.kill(int(p[6:]), signal.SIGKILL)
    except OSError:
        pass
"""}), {})]

# wheels of a folder, under the names that they have
for file in sorted(os.listdir(os.environ["WHEELS"])) if "WHEELS" in os.environ else []:
    with open(os.path.join(os.environ["WHEELS"], file), "rb") as f:
        PYPI.setdefault(file.split("-")[0].lower().replace("_", "-").replace(".", "-"), []).append((file, f.read(), {}))

NPM = {}  # name: {version: (manifest, bytes)}


def add_npm(name, version, needs=None, files=None, **more):
    manifest = {"name": name, "version": version, "dependencies": needs or {}, **more}
    text = json.dumps(manifest).encode()
    body = tar({"package/package.json": text, "package/index.js": b"module.exports = %s;\n" % json.dumps(version).encode(), **(files or {})})
    NPM.setdefault(name, {})[version] = (manifest, body)


add_npm("one", "1.0.0")
add_npm("one", "1.1.0", deprecated="use another")
add_npm("two", "2.0.0", {"one": "^1.0.0"})
add_npm("@scope/three", "3.0.0", {"two": "2.0.0", "one": "1.0.0"}, readme="secret of the registry " * 100)
for name in ["bad-integrity", "bad-shasum", "other-host", "relative", "shasum-only", "npm-dies", "scripted"]:
    add_npm(name, "1.0.0")
add_npm("fat", "1.0.0", files={"package/fat.bin": os.urandom(3 << 20)})
NPM["scripted"]["1.0.0"][0]["scripts"] = {"postinstall": "node -e 1"}


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def send(self, status, type_, body, **headers):
        self.send_response(status)
        if type_:
            self.send_header("Content-Type", type_)
        for k, v in headers.items():
            self.send_header(k.replace("_", "-"), v)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def chunked(self, pieces, **headers):
        self.send_response(200)
        for k, v in headers.items():
            self.send_header(k.replace("_", "-"), v)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for p in pieces:
            self.wfile.write(b"%x\r\n%s\r\n" % (len(p), p))
        self.wfile.write(b"0\r\n\r\n")

    def do_GET(self):
        with open(FOLDER + "/log", "a") as f:
            f.write("%s %s %s\n" % (self.path, self.headers.get("Authorization", "-"), self.headers.get("Accept", "-")))
        self.close_connection = False
        parts = self.path.split("/")
        try:
            if parts[1] == "simple":
                self.index(parts[2])
            elif parts[1] == "f":
                self.file(parts[2], parts[3])
            elif parts[1] == "npm":
                self.npm(parts[2:])
            else:
                self.send(404, "text/plain", b"no")
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    # -- Python --

    def index(self, name):
        odd = {
            "odd-json": lambda: self.send(200, "application/vnd.pypi.simple.v1+json", b"<html>"),
            "odd-type": lambda: self.send(200, "text/plain", b"<a href='x'>x</a>"),
            "odd-empty": lambda: self.send(200, "text/html", b""),
            "odd-204": lambda: self.send(204, None, b""),
            "odd-charset": lambda: self.send(200, "text/html; charset=utf-16", b"<html></html>"),
            "odd-gzip": lambda: self.send(200, "text/html", b"no gzip at all", Content_Encoding="gzip"),
            "odd-version": lambda: self.send(200, "application/vnd.pypi.simple.v1+json",
                                             b'{"meta":{"api-version":"2.0"},"name":"odd-version","files":[]}'),
            "odd-name": lambda: self.send(200, "application/vnd.pypi.simple.v1+json",
                                          b'{"meta":{"api-version":"1.0"},"name":"other","files":[]}'),
            "odd-deep": lambda: self.send(200, "application/vnd.pypi.simple.v1+json",
                                          b'{"meta":{"api-version":"1.0"},"name":"odd-deep","files":[],"more":' + b"[" * 100000 + b"]" * 100000 + b"}"),
            "odd-twice": lambda: self.send(200, "application/vnd.pypi.simple.v1+json",
                                           b'{"meta":{"api-version":"1.0"},"name":"odd-twice","files":[],"files":[]}'),
            "odd-types": lambda: self.send(200, "application/vnd.pypi.simple.v1+json",
                                           b'{"meta":{"api-version":"1.0"},"name":"odd-types","files":{"a":[]}}'),
            "odd-number": lambda: self.send(200, "application/vnd.pypi.simple.v1+json",
                                            b'{"meta":{"api-version":1.0},"name":"odd-number","files":[]}'),
            "odd-tail": lambda: self.send(200, "application/vnd.pypi.simple.v1+json",
                                          b'{"meta":{"api-version":"1.0"},"name":"odd-tail","files":[]}{}'),
            "odd-500": lambda: self.send(500, "text/plain", b"sorry", Retry_After="9"),
            "odd-403": lambda: self.send(403, "text/plain", b"no"),
            "odd-300": lambda: self.send(300, "text/plain", b"choose"),
            "index-denied": lambda: self.send(302, None, b"", Location="http://127.0.0.2:9/simple/x/"),
            "index-metadata": lambda: self.send(302, None, b"", Location="http://169.254.169.254/latest/"),
            "index-file": lambda: self.send(302, None, b"", Location="file:///etc/passwd"),
            "index-moved": lambda: self.send(301, None, b"", Location="/simple/pure-moved/"),
            "bomb": lambda: self.send(200, "text/html", gzip.compress(b"<html>" + b" " * (40 << 20)), Content_Encoding="gzip"),
        }
        if name == "loop":
            return self.send(302, None, b"", Location="/simple/loop/")
        if name == "silent":
            time.sleep(60)
            return
        if name.startswith("chunk-"):
            size = {"chunk-negative": b"-1", "chunk-huge": b"f" * 40, "chunk-short": b"5", "chunk-long": b"ffff"}[name]
            self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\n%s\r\n<html></html>\r\n0\r\n\r\n" % size)
            self.close_connection = True
            return
        if name in ("hangs-up", "babbles"):
            self.wfile.write(b"220 this is another protocol\r\n" if name == "babbles" else b"")
            self.close_connection = True
            return
        if name == "slow":
            time.sleep(6)
        if name in odd:
            return odd[name]()
        if name == "large":
            return self.large()
        if name == "pure-moved":
            name = "pure"
        if name in HUGE and name not in PYPI:
            PYPI[name] = [(name + "-1.0-py3-none-any.whl", wheel(name, "1.0", more=HUGE[name](), packed=True), {})]
        if name not in PYPI:
            return self.send(404, "text/plain", b"no such project")
        base = "" if name != "away-listed" else "http://%s:%s" % (HOST, open(FOLDER + "/away").read().strip())
        if name == "elsewhere":
            base = "http://127.0.0.3:9"
        if "json" not in self.headers.get("Accept", "") or os.path.exists(FOLDER + "/html"):
            return self.html(name, base)
        files = []
        for file, body, more in PYPI[name]:
            entry = {"filename": file, "url": base + "/f/%s/%s" % (name, file.replace("+", "%2B")),
                     "hashes": {"sha256": sha256(b"x" if name.startswith("wrong") else body)}, "size": len(body),
                     "provenance": "http://hidden.test/provenance", "yanked": False, **more}
            if name == "no-hash":
                entry["hashes"] = {}
            if "core-metadata" in entry:
                entry["dist-info-metadata"] = entry["data-dist-info-metadata"] = entry["core-metadata"]
            files.append(entry)
        page = {"meta": {"api-version": "1.4", "_last-serial": 1}, "name": name.upper(), "versions": ["1.0"],
                "alternate-locations": ["http://hidden.test/"], "files": files}
        if name == "pure":
            page["project-status"] = {"status": "archived", "reason": "no time"}
        text = json.dumps(page).encode()
        if name == "gzipped":
            return self.send(200, "application/vnd.pypi.simple.v1+json", gzip.compress(text), Content_Encoding="gzip")
        self.send(200, "application/vnd.pypi.simple.v1+json", text)

    def large(self):
        entry = b'{"filename":"large-1.%d-py3-none-any.whl","url":"/f/large/x","hashes":{"sha256":"' + b"0" * 64 + b'"}}'
        head = b'{"meta":{"api-version":"1.0"},"name":"large","files":['
        self.chunked([head] + [b",".join(entry % (i * 100 + k) for k in range(100)) + b"," for i in range(5000)],
                     Content_Type="application/vnd.pypi.simple.v1+json")

    def html(self, name, base):
        out = ["<!DOCTYPE html><html><head><meta name='pypi:repository-version' content='1.3'>"
               "<meta name='pypi:project-status' content='archived'><!-- <a href='hidden-1.0.zip'>x</a> -->"
               "<script>document.write(\"<a href='hidden-1.0.zip'>\")</script></head><body>"]
        for file, body, more in PYPI[name]:
            a = " data-requires-python='%s'" % more["requires-python"].replace(">", "&gt;") if "requires-python" in more else ""
            a += " data-yanked='%s'" % more["yanked"] if more.get("yanked") else ""
            a += " data-core-metadata='sha256=%s'" % more["core-metadata"]["sha256"] if "core-metadata" in more else ""
            out.append("<A\n HREF='%s../../f/%s/%s#sha256=%s'%s>%s</A>" % (base, name, file.replace("+", "%2B"), sha256(body), a, file))
        self.send(200, "text/html; charset=UTF-8", "\n".join(out).encode())

    def file(self, name, file):
        if name == "away-denied":
            return self.send(302, None, b"", Location="http://127.0.0.3:9/x")
        if name == "downgrade":
            return self.send(302, None, b"", Location="http://%s:1/x" % HOST)
        if name == "gone":
            return self.send(404, "text/plain", b"gone")
        if file.endswith(".metadata"):
            return self.send(200, "application/octet-stream", META[file[:-9]])
        body = next(b for f, b, _ in PYPI[name] if f == file.replace("%2B", "+"))
        if name == "large-length":
            self.send_response(200)
            self.send_header("Content-Length", str(1 << 40))
            self.end_headers()
            self.wfile.write(b"x" * 1000)
            self.close_connection = True
        elif name == "large-chunked":
            self.chunked([b"x" * 65536] * 64)
        elif name.startswith("dies"):
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body[:len(body) // 2])
            self.close_connection = True
        else:
            self.send(200, "application/zip", body)

    # -- npm --

    def npm(self, parts):
        if "-" in parts:
            name = "/".join(parts[:parts.index("-")])
            version = parts[-1][:-4].rsplit("-", 1)[1]
            body = NPM[name][version][1]
            if name == "npm-dies":
                self.send_response(200)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body[:50])
                self.close_connection = True
                return
            return self.send(200, "application/octet-stream", body)
        name = "/".join(parts).replace("%2f", "/")
        if name == "npm-html":
            return self.send(200, "text/html", b"<html>sign in</html>")
        if name == "npm-large":
            return self.chunked(self.large_packument(64), Content_Type="application/json")
        if name == "npm-wide":
            return self.chunked(self.large_packument(40), Content_Type="application/json")
        if name not in NPM:
            return self.send(404, "application/json", b'{"error":"Not found"}')
        versions = {}
        here = "http://%s:%d/npm" % (HOST, self.server.server_port)
        for version, (manifest, body) in NPM[name].items():
            base = name.split("/")[-1]
            dist = {"tarball": "%s/%s/-/%s-%s.tgz" % (here, name, base, version), "shasum": hashlib.sha1(body).hexdigest(),
                    "integrity": "sha512-" + base64.b64encode(hashlib.sha512(body).digest()).decode(),
                    "signatures": [{"keyid": "hidden", "sig": "hidden"}], "attestations": {"url": "http://hidden.test/"}}
            if name == "bad-integrity":
                dist["integrity"] = "sha512-" + base64.b64encode(hashlib.sha512(b"x").digest()).decode()
            if name in ("shasum-only", "bad-shasum"):
                del dist["integrity"]
            if name == "bad-shasum":
                dist["shasum"] = hashlib.sha1(b"x").hexdigest()
            if name == "relative":
                dist["tarball"] = "/npm/relative/-/relative-1.0.0.tgz"
            if name == "other-host":
                dist["tarball"] = "http://127.0.0.3:9/other-host-1.0.0.tgz"
            versions[version] = {**manifest, "dist": dist, "_npmUser": {"name": "hidden", "email": "hidden@hidden.test"}}
        page = {"_id": name, "name": name, "dist-tags": {"latest": list(versions)[-1]}, "versions": versions,
                "time": {"1.0.0": "2020-01-01T00:00:00Z"}, "readme": "hidden", "maintainers": [{"name": "hidden"}]}
        self.send(200, "application/json", json.dumps(page).encode())

    def large_packument(self, mib):
        # what is dropped is large, what is handed out is small
        yield b'{"name":"%s","dist-tags":{"latest":"1.0.0"},"versions":{"1.0.0":{"name":"x","version":"1.0.0","readme":"' % (
            b"npm-large" if mib == 64 else b"npm-wide")
        for _ in range(mib * 16 + 16 if mib == 64 else mib * 16):
            yield b"r" * 65536
        yield b'","dist":{"tarball":"/npm/x.tgz"}}}}'

    do_HEAD = do_GET


class Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
    daemon_threads = True
    request_queue_size = 64


server = Server((HOST, 0), Handler)
if "--tls" in sys.argv:
    at = sys.argv.index("--tls")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(sys.argv[at + 1], sys.argv[at + 2])
    server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
with open(FOLDER + "/port.new", "w") as f:
    f.write("%d\n" % server.server_port)
os.rename(FOLDER + "/port.new", FOLDER + "/port")
server.serve_forever()
