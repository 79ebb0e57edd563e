"""Drives a real headless Chromium over its debugging pipe: gateway-page.py URL < commands, one JSON a line.

{"do":"open","url":U,"width":W,"dark":bool}   a new document in a window of that width
{"do":"eval","js":TEXT}                       the value of an expression in the page, awaited
{"do":"shot","path":P}                        a picture of the whole page
{"do":"wait","js":TEXT}                       until the expression is true (110 s at most)
Each answers one JSON line. What the console said, what failed to load and what was asked over the network is kept:
{"do":"log"}.
"""
import base64
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time


class Browser:
    def __init__(self):
        self.home = tempfile.mkdtemp(prefix="kz-page.")
        to_r, self.to_w = os.pipe()
        self.from_r, from_w = os.pipe()

        def hand_over():
            # 3: what it reads, 4: what it writes
            r, w = os.dup(to_r), os.dup(from_w)
            os.dup2(r, 3)
            os.dup2(w, 4)

        self.process = subprocess.Popen(
            ["chromium", "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
             "--disable-background-networking", "--disable-component-update", "--disable-sync", "--no-proxy-server",
             "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE 127.0.0.1",
             "--hide-scrollbars", f"--user-data-dir={self.home}", "--remote-debugging-pipe", "about:blank"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, preexec_fn=hand_over,
            close_fds=False, env={**os.environ, "HOME": self.home})
        os.close(to_r)
        os.close(from_w)
        self.number, self.rest, self.log, self.session = 0, b"", [], None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(domain + ".enable")

    def next(self):
        while b"\0" not in self.rest:
            part = os.read(self.from_r, 1 << 20)
            if not part:
                sys.exit("gateway-page.py: chromium ended")
            self.rest += part
        line, self.rest = self.rest.split(b"\0", 1)
        return json.loads(line)

    def note(self, m):
        p, what = m.get("params", {}), m.get("method")
        if what == "Runtime.consoleAPICalled":
            self.log.append({"console": p["type"], "text": str([a.get("value") for a in p["args"]])})
        elif what == "Runtime.exceptionThrown":
            self.log.append({"exception": p["exceptionDetails"].get("text")})
        elif what == "Log.entryAdded":
            self.log.append({"console": p["entry"]["level"], "text": p["entry"]["text"], "url": p["entry"].get("url")})
        elif what == "Network.requestWillBeSent":
            self.log.append({"request": p["request"]["method"], "url": p["request"]["url"]})
        elif what == "Network.loadingFailed":
            self.log.append({"failed": p["errorText"]})

    def call(self, method, **params):
        self.number += 1
        m = {"id": self.number, "method": method, "params": params}
        if self.session:
            m["sessionId"] = self.session
        os.write(self.to_w, json.dumps(m).encode() + b"\0")
        while True:
            got = self.next()
            if got.get("id") == self.number:
                if "error" in got:
                    sys.exit(f"gateway-page.py: {method}: {got['error']}")
                return got["result"]
            self.note(got)

    def evaluate(self, js):
        got = self.call("Runtime.evaluate", expression=js, awaitPromise=True, returnByValue=True)
        return got["result"].get("value") if "exceptionDetails" not in got else {"thrown": got["exceptionDetails"]["text"]}

    def do(self, c):
        if c["do"] == "open":
            self.call("Emulation.setDeviceMetricsOverride", width=c.get("width", 360), height=c.get("height", 740),
                      deviceScaleFactor=c.get("scale", 1), mobile=c.get("width", 360) < 600)
            self.call("Emulation.setEmulatedMedia",
                      features=[{"name": "prefers-color-scheme", "value": "dark" if c.get("dark") else "light"}])
            return self.call("Page.navigate", url=c["url"]).get("errorText", "")
        if c["do"] == "eval":
            return self.evaluate(c["js"])
        if c["do"] == "wait":
            until = time.monotonic() + 110
            while time.monotonic() < until:
                if self.evaluate(c["js"]) is True:
                    return True
                time.sleep(0.05)
            return False
        if c["do"] == "shot":
            size = self.call("Page.getLayoutMetrics")["cssContentSize"]
            shot = self.call("Page.captureScreenshot", captureBeyondViewport=True,
                             clip={"x": 0, "y": 0, "width": size["width"], "height": size["height"], "scale": 1})
            with open(c["path"], "wb") as f:
                f.write(base64.b64decode(shot["data"]))
            return True
        if c["do"] == "log":
            kept, self.log = self.log, []
            return kept
        sys.exit(f"gateway-page.py: {c}")

    def end(self):
        self.session = None
        try:
            self.call("Browser.close")
        except SystemExit:
            pass
        self.process.wait()
        shutil.rmtree(self.home, ignore_errors=True)


browser = Browser()
try:
    for line in sys.stdin:
        print(json.dumps(browser.do(json.loads(line))), flush=True)
finally:
    browser.end()
