"""A client of kz-proxy for tests: bytes in, bytes out, nothing helpful in between.

EG_SOCK names the proxy's socket (or HOST:PORT), EG_GRANT and EG_EXECUTION the grant and what it is for.
"""
import base64
import os
import socket
import time

WAIT = 40  # s, for an answer; long, since the machine may be busy


class Reset(Exception):
    pass


class Conn:
    """One connection to the proxy, past its preamble."""

    def __init__(self, execution=None, sock=None, preamble=True):
        where = sock or os.environ["EG_SOCK"]
        if where.startswith("/"):
            self.s = socket.socket(socket.AF_UNIX)
            self.s.settimeout(WAIT)
            self.s.connect(where)
            if preamble:
                self.s.sendall(b"KZ-EXECUTION %s\n" % (execution or os.environ["EG_EXECUTION"]).encode())
        else:
            host, port = where.rsplit(":", 1)
            self.s = socket.create_connection((host, int(port)), WAIT)
        self.left = b""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.s.close()

    def send(self, data):
        """Send; a peer that has closed already is seen by what it answered."""
        try:
            self.s.sendall(data)
        except (BrokenPipeError, ConnectionResetError):
            pass
        return self

    def recv(self, n=65536):
        try:
            return self.s.recv(n)
        except ConnectionResetError:
            raise Reset from None

    def head(self):
        """The head of an answer, b"" when the connection ended before one; what follows is kept."""
        got = self.left
        while b"\r\n\r\n" not in got:
            more = self.recv()
            if not more:
                break
            got += more
        first, sep, self.left = got.partition(b"\r\n\r\n")
        return first + sep

    def exactly(self, n):
        got = self.left
        while len(got) < n:
            more = self.recv(1 << 20)
            if not more:
                break
            got += more
        self.left = got[n:]
        return got[:n]

    def rest(self):
        """Everything until the end of input."""
        parts = [self.left]
        self.left = b""
        while more := self.recv(1 << 20):
            parts.append(more)
        return b"".join(parts)

    def is_open(self, seconds=0.3):
        """Is the connection open, and silent, for this long?"""
        self.s.settimeout(seconds)
        try:
            return self.s.recv(1, socket.MSG_PEEK) != b""
        except socket.timeout:
            return True
        except ConnectionResetError:
            return False
        finally:
            self.s.settimeout(WAIT)


def credentials(grant=None):
    token = os.environ["EG_GRANT"] if grant is None else grant
    return b"Proxy-Authorization: Basic " + base64.b64encode(b"grant:" + token.encode()) + b"\r\n"


def connect_head(authority, fields=b"", grant=None, host=None, version=b"HTTP/1.1", creds=None):
    """A CONNECT; authority as bytes or text."""
    if isinstance(authority, str):
        authority = authority.encode("latin-1")
    return b"CONNECT " + authority + b" " + version + b"\r\nHost: " + (authority if host is None else host) + b"\r\n" + \
        (credentials(grant) if creds is None else creds) + fields + b"\r\n"


def get_head(url, fields=b"", grant=None, host=None, method=b"GET", version=b"HTTP/1.1", creds=None):
    if isinstance(url, str):
        url = url.encode("latin-1")
    if host is None:
        host = b"Host: " + url.split(b"//", 1)[-1].split(b"/", 1)[0] + b"\r\n"
    return method + b" " + url + b" " + version + b"\r\n" + host + (credentials(grant) if creds is None else creds) + \
        fields + b"\r\n"


def status(head):
    """The code of an answer, 0 for none."""
    parts = head.split(b" ", 2)
    return int(parts[1]) if len(parts) > 1 and parts[0].startswith(b"HTTP/") and parts[1].isdigit() else 0


def fields(head):
    """The fields of a head as a list of (lower-case name, value)."""
    out = []
    for line in head.split(b"\r\n")[1:]:
        name, sep, value = line.partition(b":")
        if sep:
            out.append((name.lower(), value.strip()))
    return out


def ask(data, **conn):
    """Send bytes on a new connection and take all that comes back until its end: (status, all bytes)."""
    with Conn(**conn) as c:
        c.send(data)
        try:
            got = c.rest()
        except Reset:
            got = b"reset"
        return status(got), got


def try_connect(authority, **more):
    """A CONNECT: (status, bytes of the answer); the tunnel, if any, is ended at once."""
    with Conn() as c:
        c.send(connect_head(authority, **more))
        head = c.head()
        if status(head) == 200:
            return 200, head
        return status(head), head + c.rest()


def tunnel(authority, **more):
    """An open tunnel, or AssertionError."""
    c = Conn()
    c.send(connect_head(authority, **more))
    head = c.head()
    assert status(head) == 200, f"CONNECT {authority}: {head!r}"
    return c


def wait(seconds, what):
    """Until what() is true; returns it. Half a minute counts as none, as with kz_wait."""
    end = time.monotonic() + max(seconds, 30)
    while True:
        got = what()
        if got or time.monotonic() > end:
            return got
        time.sleep(0.02)
