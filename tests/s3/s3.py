#!/usr/bin/env python3
"""An S3 server that knows If-None-Match, lists three names a page, and misbehaves on demand: s3.py DIR [CERT]

DIR/port is written when it listens.  DIR/mode says how the next requests are answered; "mode:N" only the next N, then
well; "mode@N" all but the next N, which are answered well.  DIR/log gets a line a request: METHOD PATH MODE.  With CERT (certificate and key) it speaks TLS.  Nothing is verified:
signatures are the real servers' task.
"""
import http.server
import os
import ssl
import sys
import time
import urllib.parse
from xml.sax.saxutils import escape

PLACE = sys.argv[1]
PAGE = 3
STORE = {}
LIST = '<?xml version="1.0"?>\n<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">'


def take_mode():
    path = os.path.join(PLACE, "mode")
    try:
        with open(path, encoding="ascii") as f:
            mode, _, left = f.read().strip().partition(":")
    except FileNotFoundError:
        return "well"
    if not left:
        mode, _, left = mode.partition("@")
        if not left or left == "0":
            return mode
        with open(path, "w", encoding="ascii") as f:
            f.write(f"{mode}@{int(left) - 1}")
        return "well"
    if left == "0":
        return "well"
    with open(path, "w", encoding="ascii") as f:
        f.write(f"{mode}:{int(left) - 1}")
    return mode


def item(key, size=1):
    return (f"<Contents><Key>{escape(key)}</Key><LastModified>2026-01-31T23:59:59.000Z</LastModified>"
            f"<Size>{size}</Size></Contents>")


class S3(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def say(self, status, body=b"", headers=(), length=None):
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        if status != 204 and length != -1:
            self.send_header("Content-Length", str(len(body) if length is None else length))
        self.end_headers()
        try:
            self.wfile.write(body)
        except OSError:
            self.close_connection = True

    def error(self, status, code):
        self.say(status, f"<?xml version='1.0'?><Error><Code>{code}</Code><Message>m</Message></Error>".encode())

    def cut(self):
        self.close_connection = True

    # -- answers that are wrong whatever was asked; True: answered --
    def misbehave(self, mode):
        errors = {"500": (500, "InternalError"), "503": (503, "SlowDown"), "403": (403, "AccessDenied"),
                  "507": (507, "InsufficientStorage"), "quota": (403, "QuotaExceeded"), "404b": (404, "NoSuchBucket"),
                  "501": (501, "NotImplemented"), "429": (429, "TooManyRequests"), "400": (400, "../../etc passwd\x1b")}
        if mode in errors:
            self.error(*errors[mode])
        elif mode == "redirect":
            self.say(307, b"", [("Location", f"http://127.0.0.1:{self.server.server_port}/elsewhere")])
        elif mode == "hang":
            time.sleep(60)
            self.cut()
        elif mode == "garbage":
            self.wfile.write(b"SSH-2.0-thing\r\n\r\n" + os.urandom(100))
            self.cut()
        elif mode == "drop":
            self.cut()
        elif mode == "bigerror":
            self.send_response(500)
            self.end_headers()
            self.pour(b"<Error><Code>Big" + b"g" * 65536)
        elif mode == "bighead":
            self.wfile.write(b"HTTP/1.1 200 OK\r\n")
            self.pour(b"X-A: " + b"a" * 1000 + b"\r\n")
        else:
            return False
        return True

    def pour(self, piece):
        try:
            while True:
                self.wfile.write(piece)
        except OSError:
            self.cut()

    def begin(self):
        mode = take_mode()
        with open(os.path.join(PLACE, "log"), "a", encoding="ascii") as f:
            f.write(f"{self.command} {self.path} {mode}\n")
        return mode

    def do_PUT(self):
        mode = self.begin()
        body = self.rfile.read(int(self.headers["Content-Length"]))
        is_there = self.path in STORE
        if mode == "taken-drop":  # somebody else was first, and the answer is lost
            STORE[self.path] = body + b"!"
            self.cut()
            return
        if mode == "put-drop":  # it took place, and the answer is lost
            STORE[self.path] = body
            self.cut()
            return
        if mode == "ignore":
            pass
        elif self.misbehave(mode):
            return
        elif self.headers.get("If-None-Match") == "*" and is_there:
            self.error(412, "PreconditionFailed")
            return
        STORE[self.path] = body
        self.say(200)

    def do_DELETE(self):
        if not self.misbehave(self.begin()):
            STORE.pop(self.path, None)
            self.say(204)

    def do_GET(self):
        mode = self.begin()
        path, _, query = self.path.partition("?")
        if "list-type=2" in query:
            if not self.list_wrong(mode) and not self.misbehave(mode):
                self.list_well(path, urllib.parse.parse_qs(query))
        elif self.misbehave(mode):
            pass
        elif path not in STORE:
            self.error(404, "NoSuchKey")
        else:
            self.give(mode, STORE[path])

    def give(self, mode, body):
        half = body[: len(body) // 2]
        if mode == "half":
            self.say(200, half, length=len(body))
            self.cut()
        elif mode == "nolength":
            self.say(200, half, length=-1)
            self.cut()
        elif mode == "chunked":
            self.say(200, b"%x\r\n%s\r\n0\r\n\r\n" % (len(body), body), [("Transfer-Encoding", "chunked")], -1)
        elif mode == "altered":
            self.say(200, bytes([body[0] ^ 1]) + body[1:])
        elif mode == "endless":
            self.send_response(200)
            self.send_header("Content-Length", str(1 << 50))
            self.end_headers()
            self.pour(b"a" * 65536)
        else:
            self.say(200, body)

    def list_well(self, path, query):
        start = path.lstrip("/").partition("/")[0]
        prefix = query.get("prefix", [""])[0]
        after = query.get("continuation-token", ["+/=&? :"])[0].removeprefix("+/=&? :")
        keys = sorted(k[len(start) + 2:] for k in STORE)
        keys = [k for k in keys if k.startswith(prefix) and k > after]
        out = LIST + f"<IsTruncated>{'true' if len(keys) > PAGE else 'false'}</IsTruncated>"
        if len(keys) > PAGE:
            out += f"<NextContinuationToken>{escape('+/=&? :' + keys[PAGE - 1])}</NextContinuationToken>"
        for k in keys[:PAGE]:
            out += item(k, len(STORE[f"/{start}/{k}"]))
        self.say(200, (out + "</ListBucketResult>").encode())

    def list_wrong(self, mode):
        n = f"{time.monotonic_ns():020d}"
        more = "<IsTruncated>true</IsTruncated><NextContinuationToken>t</NextContinuationToken>"
        wrong = {
            "l-cut": LIST + more + item("p/a"),
            "l-notxml": "a list",
            "l-html": "<html><body>sign in</body></html>",
            "l-circle": LIST + more + item("p/a") + item("p/b") + "</ListBucketResult>",
            "l-order": LIST + "<IsTruncated>false</IsTruncated>" + item("p/b") + item("p/a") + "</ListBucketResult>",
            "l-twice": LIST + "<IsTruncated>false</IsTruncated>" + item("p/a") + item("p/a") + "</ListBucketResult>",
            "l-notoken": LIST + "<IsTruncated>true</IsTruncated>" + item("p/a") + "</ListBucketResult>",
            "l-nothing": LIST + more + "</ListBucketResult>",
            "l-noflag": LIST + item("p/a") + "</ListBucketResult>",
            "l-foreign": LIST + "<IsTruncated>false</IsTruncated>" + item("etc/passwd") + "</ListBucketResult>",
            "l-size": LIST + "<IsTruncated>false</IsTruncated>" + item("p/a", "-1") + "</ListBucketResult>",
            "l-nosize": LIST + "<IsTruncated>false</IsTruncated><Contents><Key>p/a</Key></Contents></ListBucketResult>",
            "l-doctype": '<!DOCTYPE x [<!ENTITY a "p/a">]>' + LIST[22:] + "<IsTruncated>false</IsTruncated><Contents><Key>&a;"
                         "</Key><Size>1</Size></Contents></ListBucketResult>",
            "l-many": LIST + "<IsTruncated>false</IsTruncated>" + "".join(item(f"p/{i:05}") for i in range(1001))
                      + "</ListBucketResult>",
            "l-odd": LIST + "<IsTruncated>false</IsTruncated>" + item("p/../x") + item("p/.t-1") + item("p/A") + item("p/ok")
                     + item("p/\u00e9") + "</ListBucketResult>",
            "l-endless": LIST + more + item("p/" + n) + "</ListBucketResult>",
        }
        if mode in wrong:
            self.say(200, wrong[mode].encode())
        elif mode == "l-large":
            self.send_response(200)
            self.end_headers()
            self.pour(b"<ListBucketResult>" + b" " * 65536)
        else:
            return False
        return True


def main():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), S3)
    if len(sys.argv) > 2:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(sys.argv[2])
        server.socket = context.wrap_socket(server.socket, server_side=True)
    with open(PLACE + "/port.new", "w", encoding="ascii") as f:
        f.write(str(server.server_port))
    os.rename(PLACE + "/port.new", PLACE + "/port")
    server.serve_forever()


main()
