"""What a hostile server, run or neighbour does to kz-proxy; one function a manner (see tests/machine/adversary-egress.bats)."""
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


def flood(count):
    """Many destinations, each refused."""
    for i in range(int(count)):
        with Conn() as c:
            assert status(c.send(connect_head(f"h{i}.four.pub.lab:22")).head()) == 403
