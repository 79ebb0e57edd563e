"""What a hostile server, run or neighbour does to kz-proxy; one function a manner (see tests/machine/adversary-egress.bats)."""
import collections
import contextlib
import os
import socket
import subprocess
import time

import proxy
from proxy import Conn, connect_head, get_head, status


def hints():
    """A server may hint sixteen times before its answer, and not without end."""
    with Conn() as c:
        got = c.send(get_head("http://four.pub.lab:9009/hints")).rest()
    assert got.count(b"HTTP/1.1 103") == 16 and got.endswith(b"\r\n\r\nok"), got[-200:]
    seen = b""
    with Conn() as c:
        c.send(get_head("http://four.pub.lab:9009/hinting"))
        try:
            while more := c.recv():
                seen += more
        except proxy.Reset:
            pass
    assert seen.count(b"HTTP/1.1 103") <= 16, f"{len(seen)} bytes of hints"


def resolver(kz):
    """Settings of the resolver change twice while names are asked for: each question gets its answer."""
    asking = [Conn().send(connect_head("silent.odd.lab:443")) for _ in range(20)]
    for families in ("ipv4", "both", "ipv4", "both"):
        subprocess.run([kz, "config", "set", "KZ_EGRESS_FAMILIES=" + families], check=True, stdout=subprocess.DEVNULL)
        time.sleep(1.1)
        asking += [Conn().send(connect_head("silent.odd.lab:443")) for _ in range(5)]
    for c in asking:
        assert status(c.head()) == 403
        c.s.close()
    with Conn() as c:
        assert status(c.send(connect_head("four.pub.lab:9001")).head()) == 200


def patient():
    """A connection; the queue of the proxy's socket may be full for a moment, and a worker's forwarder comes again too."""
    for _ in range(6000):
        try:
            return Conn()
        except BlockingIOError:
            time.sleep(0.01)
    raise AssertionError("the queue stays full")


def crowd():
    """A neighbour without a grant opens as many connections as there may be, and stays when it is told no."""
    child = os.fork()
    if child == 0:
        try:
            # it has the directory of the socket only, as a worker does
            os.chdir(os.path.dirname(os.environ["EG_SOCK"]))
            os.setuid(54321)
            kept = collections.deque(maxlen=1200)
            while True:
                s = socket.socket(socket.AF_UNIX)
                s.connect("proxy.sock")
                with contextlib.suppress(ConnectionError):
                    s.send(b"no preamble")
                kept.append(s)
                time.sleep(0.0005)
        except BaseException as e:
            print("the neighbour:", repr(e), flush=True)
        finally:
            os._exit(1)
    try:
        time.sleep(1)
        for _ in range(40):
            with patient() as c:
                got = c.send(connect_head("four.pub.lab:9001")).head()
                assert status(got) == 200, got
            time.sleep(0.05)
        assert os.waitpid(child, os.WNOHANG) == (0, 0), "the neighbour gave up"
    finally:
        with contextlib.suppress(ProcessLookupError, ChildProcessError):
            os.kill(child, 9)
            os.waitpid(child, 0)


def flood(count):
    """Many destinations, each refused."""
    for i in range(int(count)):
        with Conn() as c:
            assert status(c.send(connect_head(f"h{i}.four.pub.lab:22")).head()) == 403
