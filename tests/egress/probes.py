"""Probes of kz-proxy's HTTP, one function each: what it must answer, to the byte where bytes matter.

The grant at hand (EG_GRANT) reaches public addresses on the ports of tests/egress/origin.py.  What the servers saw is
read from EG/origin.log.
"""
import hashlib
import json
import os
import random
import socket
import struct
import time

import proxy
from proxy import Conn, Reset, ask, connect_head, get_head, status, tunnel, wait

HOST = os.environ.get("EG_HOST", "four.pub.lab")
MIB = bytes(range(256)) * 4096


def seen(what=None, port=None):
    """What the servers logged."""
    with open(os.environ["EG"] + "/origin.log", encoding="ascii") as f:
        rows = [json.loads(x) for x in f]
    return [x for x in rows if what in (None, x["what"]) and port in (None, x["port"])]


def same(got, want, what):
    assert got == want, f"{what}: {len(got)} bytes, {got[:60]!r}, instead of {len(want)}, {want[:60]!r}"


def mirrored(answer):
    """The request as it came to the server that answers with what it got."""
    code, (first, _, body) = status(answer), answer.partition(b"\r\n\r\n")
    assert code == 200, f"{answer[:200]!r}"
    del first
    return bytes.fromhex(body.decode())


def refused(data, code, closes=True):
    """Bytes that get this answer, one answer, and the end of the connection; no server hears of them."""
    before = len(seen("open"))
    with Conn() as c:
        c.send(data)
        try:
            got = c.head()
            assert status(got) == code, f"{data[:90]!r}: {got[:90]!r}, not {code}"
            rest = c.rest() if closes else b""
        except Reset:
            raise AssertionError(f"{data[:90]!r}: reset instead of {code}") from None
    assert b"connection: close" in got.lower(), f"{got!r} does not say that it closes"
    assert b"HTTP/" not in rest, f"{data[:90]!r}: a second answer, {rest[:90]!r}"
    assert len(seen("open")) == before, f"{data[:90]!r}: a server was reached"
    return got + rest


def bad(*requests, code=400):
    for r in requests:
        refused(r, code)


def plain(fields=b"", path="/x", port=9005, method=b"GET", **more):
    return get_head(f"http://{HOST}:{port}{path}", fields, method=method, **more)


# --- tunnels: bytes and ends -------------------------------------------------------------------------------------


def early_data():
    for size in (1, 100, 4000, 16000, 16384, 65536, 300000):
        data = os.urandom(size)
        with Conn() as c:
            c.s.settimeout(proxy.WAIT)
            # in one write with the head; what does not fit into the socket follows
            whole = connect_head(f"{HOST}:9003") + data
            c.send(whole)
            c.s.shutdown(socket.SHUT_WR)
            assert status(c.head()) == 200, f"early data of {size} bytes"
            same(c.rest(), MIB, "the answer")
        ends = [x["bytes"] for x in seen("end", 9003)]
        assert ends[-1] == size, f"{size} bytes of early data, {ends[-1]} came"


def early_data_content():
    data = os.urandom(16384)
    with Conn() as c:
        c.send(connect_head(f"{HOST}:9001") + data)
        assert status(c.head()) == 200
        same(c.exactly(len(data)), data, "early data echoed")
        more = os.urandom(200000)
        c.send(more)
        same(c.exactly(len(more)), more, "later data echoed")


def byte_by_byte():
    with Conn() as c:
        for x in connect_head(f"{HOST}:9001"):
            c.send(bytes([x]))
        assert status(c.head()) == 200
        c.send(b"abc")
        same(c.exactly(3), b"abc", "echo")


def half_close():
    with tunnel(f"{HOST}:9003") as c:
        c.send(b"question")
        c.s.shutdown(socket.SHUT_WR)
        same(c.rest(), MIB, "the answer after the client's end")
    assert seen("end", 9003)[-1]["bytes"] == 8


def half_close_at_once():
    """The client ends its side in the same breath as the head."""
    with Conn() as c:
        c.send(connect_head(f"{HOST}:9003") + b"question")
        c.s.shutdown(socket.SHUT_WR)
        assert status(c.head()) == 200
        same(c.rest(), MIB, "the answer")


def server_first():
    with tunnel(f"{HOST}:9002") as c:
        same(c.exactly(18), b"220 speaks first\r\n", "banner")
        c.send(b"x")
        same(c.exactly(1), b"x", "echo")


def server_closes():
    with tunnel(f"{HOST}:9004") as c:
        same(c.rest(), MIB, "what the server sent before its end")


def server_closes_slow_reader():
    """The client reads when the server is gone: nothing is lost."""
    with tunnel(f"{HOST}:9004") as c:
        wait(10, lambda: seen("closed", 9004))
        time.sleep(0.3)
        same(c.rest(), MIB, "what the server sent before its end")


def both_ways():
    """8 MiB each way at once, through a server that is slow to read."""
    data = os.urandom(1 << 20) * 8
    with tunnel(f"{HOST}:9001") as c:
        import threading
        t = threading.Thread(target=lambda: (c.s.sendall(data), c.s.shutdown(socket.SHUT_WR)))
        t.start()
        got = c.rest()
        t.join()
    assert hashlib.sha256(got).digest() == hashlib.sha256(data).digest(), f"{len(got)} of {len(data)} bytes"


def server_end_reaches_client_only():
    """The server ends its side; the client may still send (half-close the other way)."""
    with tunnel(f"{HOST}:9004") as c:
        same(c.rest(), MIB, "all of it")


def client_reset():
    """A reset by the client reaches the server, within a second and what this machine was late by."""
    from cut import Lag, waited
    c = tunnel(f"{HOST}:9007")
    c.send(b"abc")
    wait(10, lambda: seen("open", 9007))
    before, lag, start = len(seen("reset", 9007) + seen("end", 9007)), Lag(os.environ["KZ_STATE"]), time.time()
    c.s.close()  # a Unix socket with unread input, or none: either way the far side ends
    assert wait(10, lambda: len(seen("reset", 9007) + seen("end", 9007)) > before), "the server still waits"
    took = max(x["t"] for x in seen("reset", 9007) + seen("end", 9007)) - start
    proxys = waited(lag.pid) - lag.before
    assert took <= 1 + 4 * lag.most + proxys, f"{took:.3f} s, late were this process by {lag.most:.3f} s at most, the proxy by {proxys:.3f} s"


def client_abort():
    """A client that goes in the middle of a stream ends it at the server."""
    c = tunnel(f"{HOST}:9006")
    c.send(b"rate 0\n")
    c.exactly(1 << 20)
    c.s.close()
    assert wait(10, lambda: seen("sent", 9006)), "the server still sends"
    assert seen("sent", 9006)[-1]["bytes"] < 1 << 30


def answer_of_connect():
    """Nothing of a length in the answer to CONNECT."""
    with Conn() as c:
        c.send(connect_head(f"{HOST}:9001"))
        head = c.head()
        assert status(head) == 200
        assert head.startswith(b"HTTP/1.1 200"), head
        names = [n for n, _ in proxy.fields(head)]
        assert b"content-length" not in names and b"transfer-encoding" not in names, head


def connect_1_0():
    """A CONNECT of HTTP/1.0, as older clients send it: without Host too."""
    head = connect_head(f"{HOST}:9001", version=b"HTTP/1.0")
    no_host = b"\r\n".join(x for x in head.split(b"\r\n") if not x.startswith(b"Host:"))
    for data in (head, no_host):
        with Conn() as c:
            c.send(data)
            got = c.head()
            assert status(got) == 200, got
            c.send(b"abc")
            same(c.exactly(3), b"abc", "echo")


# --- CONNECT: heads ----------------------------------------------------------------------------------------------


def refused_then_pipelined():
    """After a refusal no second request is read."""
    get = plain()
    for first, code in ((connect_head("127.0.0.1:80"), 403), (connect_head(f"{HOST}:9999"), 403),
                        (connect_head(f"{HOST}:9001", creds=b""), 407), (connect_head("bad host:80"), 400)):
        refused(first + get, code)


def connect_with_length():
    bad(connect_head(f"{HOST}:9001", b"Content-Length: 5\r\n") + b"hello",
        connect_head(f"{HOST}:9001", b"Content-Length: 5\r\n"))


def connect_with_length_zero():
    """A CONNECT has no content: also none of zero bytes is declared."""
    bad(connect_head(f"{HOST}:9001", b"Content-Length: 0\r\n"))


def connect_with_coding():
    bad(connect_head(f"{HOST}:9001", b"Transfer-Encoding: chunked\r\n") + b"5\r\nhello\r\n0\r\n\r\n",
        connect_head(f"{HOST}:9001", b"Transfer-Encoding: identity\r\n"))


def host_differs_connect():
    """The Host field of a CONNECT is ignored: the authority counts."""
    with Conn() as c:
        c.send(connect_head(f"{HOST}:9002", host=b"127.0.0.1:80"))
        assert status(c.head()) == 200
        same(c.exactly(3), b"220", "banner")
    refused(connect_head("127.0.0.1:9002", host=HOST.encode() + b":9002"), 403)


def host_differs_plain():
    for host in (b"other.pub.lab", b"other.pub.lab:9005", f"{HOST}".encode(), f"{HOST}:9006".encode(),
                 f"x{HOST}:9005".encode(), b"127.0.0.1:9005"):
        bad(plain(host=b"Host: " + host + b"\r\n"))


def host_same_plain():
    """What is the same but for letter case, and the default port, is the same."""
    for url, host in ((f"http://{HOST}:9005/", HOST.upper() + ":9005"), (f"http://{HOST}/", HOST),
                      (f"http://{HOST}/", HOST + ":80"), (f"http://{HOST}:80/", HOST)):
        code, got = ask(get_head(url, host=b"Host: " + host.encode() + b"\r\n"))
        assert code in (200, 403, 404) and b"nginx" in got or b"X-Origin" in got, f"{url} {host}: {got[:80]!r}"


def two_hosts():
    h = f"Host: {HOST}:9005\r\n".encode()
    bad(plain(h), connect_head(f"{HOST}:9001", f"Host: {HOST}:9001\r\n".encode()), plain(b"host: x\r\n"))


def no_host():
    bad(plain(host=b""), connect_head(f"{HOST}:9001").replace(f"Host: {HOST}:9001\r\n".encode(), b""))


def invalid_host():
    for h in (b"Host: a b\r\n", b"Host: \x00\r\n", b"Host:\r\n", b"Host: a,b\r\n", b"Host: http://x/\r\n"):
        bad(plain(host=h))


def space_before_colon():
    bad(plain(b"X-A : b\r\n"), plain(b"Content-Length : 5\r\n") + b"hello", plain(b"X-A\t: b\r\n"),
        connect_head(f"{HOST}:9001", b"X-A : b\r\n"), plain(b" X-A: b\r\n", host=b""))


def obs_fold():
    bad(plain(b"X-A: b\r\n c\r\n"), plain(b"X-A: b\r\n\tc\r\n"), connect_head(f"{HOST}:9001", b"X-A: b\r\n c\r\n"),
        plain(b"X-A:\r\n b\r\n"))


def fold_before_first():
    """White space before the first field line."""
    head = plain()
    line, _, rest = head.partition(b"\r\n")
    bad(line + b"\r\n " + rest, line + b"\r\n\t" + rest)


def bare_lf():
    bad(plain().replace(b"\r\n", b"\n"), plain(b"X-A: b\nX-B: c\r\n"), connect_head(f"{HOST}:9001").replace(b"\r\n", b"\n"),
        plain()[:-2] + b"\n", connect_head(f"{HOST}:9001", b"X-A: b\n"))


def bare_cr():
    bad(plain(b"X-A: b\rX-B: c\r\n"), plain(b"X-A: b\r\r\n"), connect_head(f"{HOST}:9001", b"X-A: b\rc\r\n"))


def nul_in_value():
    bad(plain(b"X-A: b\x00c\r\n"), connect_head(f"{HOST}:9001", b"X-A: b\x00c\r\n"), plain(b"X\x00A: b\r\n"))


def controls_in_value():
    bad(*(plain(b"X-A: b" + bytes([x]) + b"c\r\n") for x in (1, 8, 11, 12, 27, 127)))


def names_of_fields():
    """A field name is a token, and not empty."""
    bad(*(plain(x + b": b\r\n") for x in (b"", b"X A", b"X(A", b"X\xc3\xa4", b"X{", b"X/A", b'X"', b"X@A")))
    bad(plain(b"no colon at all\r\n"))


def header_too_large():
    bad(plain(b"X-A: " + b"a" * 65536 + b"\r\n"), connect_head(f"{HOST}:9001", b"X-A: " + b"a" * 65536 + b"\r\n"),
        plain(b"".join(b"X-%d: %s\r\n" % (i, b"a" * 60) for i in range(1000))), code=431)


def header_without_end():
    """A head that never ends is refused by its size, not kept."""
    with Conn() as c:
        c.send(plain()[:-2])
        for _ in range(64):
            c.send(b"X-A: " + b"a" * 1017 + b"\r\n")
        got = c.head()
        assert status(got) == 431, got


def header_that_fits():
    """What clients really send, some KiB of cookies and credentials, passes."""
    got = mirrored(ask(plain(b"Cookie: " + b"a" * 2000 + b"\r\n"))[1])
    assert b"a" * 2000 in got


def bad_request_lines():
    c = proxy.credentials()
    h = f"Host: {HOST}:9001\r\n".encode()
    tail = h + c + b"\r\n"
    bad(f"CONNECT {HOST}:9001\r\n".encode() + tail, f"CONNECT  {HOST}:9001 HTTP/1.1\r\n".encode() + tail,
        f"CONNECT {HOST}:9001 HTTP/1.1 \r\n".encode() + tail, f"CONNECT {HOST}:9001  HTTP/1.1\r\n".encode() + tail,
        f"CONNECT\t{HOST}:9001 HTTP/1.1\r\n".encode() + tail, f" CONNECT {HOST}:9001 HTTP/1.1\r\n".encode() + tail,
        f"CONNECT {HOST}:9001 HTTP/1\r\n".encode() + tail, f"CONNECT {HOST}:9001 http/1.1\r\n".encode() + tail,
        f"CONNECT {HOST}:9001 HTTP/1.1x\r\n".encode() + tail, f"CONNECT {HOST}:9001 HTTP/11\r\n".encode() + tail,
        b"CONNECT  HTTP/1.1\r\n" + tail, b"HTTP/1.1 200 OK\r\n" + tail, b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n")


def empty_line_first():
    """One empty line before the request may be skipped or refused; it may not shift what is read."""
    code, got = ask(b"\r\n" + plain())
    assert code in (200, 400), got
    code, got = ask(b"\r\n\r\n\r\n" + plain())
    assert code in (200, 400), got


def versions():
    for version in (b"HTTP/0.9", b"HTTP/2.0", b"HTTP/3.0", b"HTTP/9.9"):
        code, got = ask(plain(version=version))
        assert code in (400, 501), f"{version}: {got[:80]!r}"
    code, got = ask(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
    assert code in (400, 501), got
    code, got = ask(b"GET http://%s/\r\n\r\n" % HOST.encode())
    assert code in (0, 400), got


def connect_form():
    """CONNECT takes HOST:PORT and nothing else."""
    bad(*(connect_head(x) for x in (
        HOST, f"{HOST}:", f"{HOST}:0", f"{HOST}:65536", f"{HOST}:99999999999", f"{HOST}:-1", f"{HOST}:+443", f"{HOST}:0443",
        f"{HOST}:443x", f"{HOST}:0x1bb", f"{HOST}:443/", f"{HOST}/:443", f"http://{HOST}:443", f"http://{HOST}:443/", "/", "*",
        f"user@{HOST}:443", f"user:pw@{HOST}:443", f"{HOST}:443#x", f"{HOST}:443?x", f"{HOST}:443:443", ":443", ":",
        f"{HOST};x:443", f"{HOST},x:443", f"{HOST}\\:443")))


def plain_form():
    """Without CONNECT only http://HOST[:PORT]/… is taken; no origin form, no asterisk, no user-info, no other scheme."""
    for url in ("/", "*", f"{HOST}:9005", f"//{HOST}:9005/", f"http:/{HOST}:9005/", f"http:{HOST}/", "http:///x", "http://",
                f"http://user@{HOST}:9005/", f"http://user:pw@{HOST}:9005/", f"http://@{HOST}:9005/", f"http://{HOST}:9005@10.1.2.3/",
                f"http://10.1.2.3#@{HOST}:9005/", f"http://{HOST}:9005\\@10.1.2.3/", f"http://{HOST}:/", f"http://{HOST}:0/",
                f"http://{HOST}:09005/", f"http://{HOST}:9005#frag", f"http://{HOST}%2f:9005/", f"http://%34.pub.lab:9005/"):
        data = get_head(url, host=f"Host: {HOST}:9005\r\n".encode())
        code, got = ask(data)
        if url == f"http://{HOST}:/":  # an empty port is the default one; refused is as good
            assert code in (400, 403, 200, 404), f"{url}: {got[:80]!r}"
            continue
        assert code in (400, 501), f"{url}: {got[:80]!r}"


def other_schemes():
    for url in (f"https://{HOST}:9005/", f"ftp://{HOST}:9005/", f"ws://{HOST}:9005/", "file:///etc/passwd", f"gopher://{HOST}:9005/"):
        code, got = ask(get_head(url, host=f"Host: {HOST}:9005\r\n".encode()))
        assert code in (400, 501), f"{url}: {got[:80]!r}"


# --- plain HTTP: what goes on -------------------------------------------------------------------------------------


def lines(request):
    return request.split(b"\r\n\r\n")[0].split(b"\r\n")


def credentials_stripped():
    got = mirrored(ask(plain())[1])
    assert b"proxy-auth" not in got.lower() and os.environ["EG_GRANT"].encode() not in got, got
    import base64
    assert base64.b64encode(b"grant:" + os.environ["EG_GRANT"].encode())[:40] not in got
    got = mirrored(ask(plain(creds=b"Proxy-Authorization: Bearer " + os.environ["EG_GRANT"].encode() + b"\r\n"))[1])
    assert os.environ["EG_GRANT"].encode() not in got, got


def own_credentials_kept():
    """Authorization belongs to the server and passes."""
    got = mirrored(ask(plain(b"Authorization: Basic dTpw\r\n"))[1])
    assert b"Authorization: Basic dTpw" in lines(got), got


def hop_by_hop_stripped():
    got = mirrored(ask(plain(b"Connection: X-Hop, X-Hop2 , close\r\nX-Hop: a\r\nx-hop2: b\r\nX-End: c\r\nKeep-Alive: timeout=5\r\n"
                             b"Proxy-Connection: keep-alive\r\nTE: trailers\r\nTrailer: X-T\r\nUpgrade: h2c\r\n"))[1]).lower()
    names = [x.split(b":")[0] for x in lines(got)[1:]]
    for name in (b"x-hop", b"x-hop2", b"keep-alive", b"proxy-connection", b"te", b"trailer", b"upgrade"):
        assert name not in names, f"{name} went on: {got!r}"
    assert b"x-end: c" in got


def connection_names_what_matters():
    """A Connection field cannot take away Host or the length."""
    data = plain(b"Connection: Host, Content-Length\r\nContent-Length: 5\r\n", method=b"POST") + b"hello"
    code, got = ask(data)
    if code == 400:
        return
    got = mirrored(got).lower()
    assert b"host: " in got and b"content-length: 5" in got and got.endswith(b"\r\n\r\nhello"), got


def target_rewritten():
    """To the server goes the origin form, with the Host of the authority."""
    got = mirrored(ask(plain(path="/a/b?c=d&e=%2f"))[1])
    assert lines(got)[0] == b"GET /a/b?c=d&e=%2f HTTP/1.1", got
    assert [x for x in lines(got) if x.lower().startswith(b"host:")] == [f"Host: {HOST}:9005".encode()], got
    got = mirrored(ask(get_head(f"http://{HOST}:9005"))[1])
    assert lines(got)[0] == b"GET / HTTP/1.1", got
    got = mirrored(ask(get_head(f"http://{HOST}:9005?q=1", host=f"Host: {HOST}:9005\r\n".encode()))[1])
    assert lines(got)[0] == b"GET /?q=1 HTTP/1.1", got


def via():
    got = mirrored(ask(plain())[1])
    assert any(x.lower().startswith(b"via: 1.1 ") for x in lines(got)), got
    assert socket.gethostname().encode() not in got, "Via tells the name of the machine"


def methods():
    for method in (b"GET", b"POST", b"PUT", b"DELETE", b"PATCH", b"OPTIONS", b"PROPFIND", b"REPORT"):
        body = b"" if method in (b"GET", b"DELETE", b"OPTIONS") else b"hello"
        length = b"Content-Length: 5\r\n" if body else b""
        got = mirrored(ask(plain(length, method=method) + body)[1])
        assert got.startswith(method + b" /x HTTP/1.1\r\n") and got.endswith(b"\r\n\r\n" + body), got


def head_method():
    code, got = ask(get_head(f"http://{HOST}/hello", method=b"HEAD"))
    assert code == 200 and b"Content-Length: 24" in got and got.endswith(b"\r\n\r\n"), got


def body_by_length():
    body = os.urandom(300000)
    got = mirrored(ask(plain(b"Content-Length: 300000\r\n", method=b"POST") + body)[1])
    same(got.partition(b"\r\n\r\n")[2], body, "the body")


def body_chunked():
    body = b"".join(b"%x\r\n" % n + b"z" * n + b"\r\n" for n in (1, 15, 16, 1000, 70000)) + b"0\r\n\r\n"
    code, got = ask(plain(b"Transfer-Encoding: chunked\r\n", method=b"POST") + body)
    got = mirrored(got)
    assert got.count(b"POST") == 1 and got.count(b"z") >= 71032, got[:200]


def expect_continue():
    """A client that waits for 100 gets it, or its request passes after a moment; it does not hang."""
    with Conn() as c:
        c.send(plain(b"Expect: 100-continue\r\nContent-Length: 5\r\n", method=b"POST"))
        c.s.settimeout(2)
        try:
            first = c.head()
        except socket.timeout:
            first = b""
        c.s.settimeout(proxy.WAIT)
        assert status(first) in (0, 100, 417), first
        if status(first) == 417:
            return
        c.send(b"hello")
        got = c.head()
        while status(got) == 100:
            got = c.head()
        got = mirrored(got + c.rest())
        assert got.endswith(b"hello"), got


def answer_closes():
    """One request a connection, and the client is told so."""
    code, got = ask(plain())
    assert code == 200
    assert (b"connection", b"close") in [(n, v.lower()) for n, v in proxy.fields(got.partition(b"\r\n\r\n")[0])], got[:300]


def half_close_plain():
    """A client that ends its side behind its request gets the whole answer."""
    with Conn() as c:
        c.send(plain(b"Content-Length: 5\r\n", method=b"POST") + b"hello")
        c.s.shutdown(socket.SHUT_WR)
        assert mirrored(c.rest()).endswith(b"hello")
    with Conn() as c:
        c.send(get_head(f"http://{HOST}/hello"))
        c.s.shutdown(socket.SHUT_WR)
        got = c.rest()
        assert got.endswith(b"the internet says hello\n"), got


def second_request_not_run():
    before = len(seen("request"))
    code, got = ask(plain(path="/first") + plain(path="/second"))
    assert code in (200, 400), got
    time.sleep(0.5)
    reqs = [bytes.fromhex(x["hex"]) for x in seen("request")[before:]]
    assert not any(b"/second" in x for x in reqs), reqs
    assert got.count(b"HTTP/1.1 ") == 1, got


def answer_hop_by_hop():
    code, got = ask(plain(path="/hop", port=9009))
    assert code == 200
    low = got.lower()
    for name in (b"x-hop:", b"keep-alive:", b"proxy-authenticate:", b"upgrade:"):
        assert name not in low, f"{name} came through: {got!r}"
    assert b"x-end: here" in low and got.endswith(b"\r\n\r\nok")


def answers_pass():
    """Each framing of an answer reaches the client as it was."""
    for name in ("plain", "chunked", "close", "continue", "early"):
        code, got = ask(plain(path="/" + name, port=9009))
        assert code in (100, 103, 200), f"{name}: {got!r}"
        assert b"ok" in got.partition(b"200 OK")[2], f"{name}: {got!r}"


def answers_odd():
    """An answer with two lengths, or length and coding, or without HTTP, is not passed as it is."""
    for name in ("clte", "cl2", "garbage", "huge", "barelf"):
        code, got = ask(plain(path="/" + name, port=9009))
        head = got.partition(b"\r\n\r\n")[0].lower()
        lengths = head.count(b"content-length:") + head.count(b"transfer-encoding:")
        assert code != 200 or lengths <= 1, f"{name}: {got[:200]!r}"
        assert len(got) < 150000, name


def answer_cut():
    """A server that goes in the middle of its answer ends the client's connection; the rest is not made up."""
    for name in ("nothing", "half", "short"):
        _, got = ask(plain(path="/" + name, port=9009))
        assert len(got) < 2000, name


def answer_ends():
    """The client was told that the connection ends with the answer: it does, also when the server keeps its own open."""
    for name, method, body in (("stay", b"GET", b"ok"), ("stay0", b"GET", b""), ("stay204", b"DELETE", b""), ("stay304", b"GET", b""),
                               ("stay", b"HEAD", b""), ("stay0", b"POST", b""), ("staybig", b"GET", MIB)):
        sent = b"Content-Length: 5\r\n" if method == b"POST" else b""
        before = len(seen("end", 9009) + seen("closed", 9009) + seen("reset", 9009))
        try:
            code, got = ask(plain(sent, path="/" + name, port=9009, method=method) + (b"hello" if sent else b""))
        except TimeoutError:
            raise AssertionError(f"{method} {name}: the connection stays open") from None
        assert code in (200, 204, 304), f"{name}: {got[:200]!r}"
        head, _, rest = got.partition(b"\r\n\r\n")
        assert b"connection: close" in head.lower() and (method == b"HEAD" or rest == body), f"{method} {name}: {len(rest)} bytes"
        assert wait(10, lambda b=before: len(seen("end", 9009) + seen("closed", 9009) + seen("reset", 9009)) > b), f"{name}: the server waits"
    # what a server says behind its answer is no reason to stay
    code, got = ask(plain(path="/staymore", port=9009))
    assert code == 200 and got.partition(b"\r\n\r\n")[2].startswith(b"ok"), got[:200]


def answer_before_body():
    """An answer that is whole before the request is ends neither: the rest of the body goes on to the server."""
    with Conn() as c:
        c.send(plain(b"Content-Length: 100000\r\n", path="/before", port=9009, method=b"POST"))
        same(c.head().split(b"\r\n")[0], b"HTTP/1.1 202 Accepted", "the answer")
        for _ in range(10):
            time.sleep(0.02)
            c.send(b"x" * 10000)
        c.rest()
    assert wait(10, lambda: any(x["bytes"] == 100000 for x in seen("body", 9009))), seen("body", 9009)


def answers_without_content():
    """A switch of protocols is none; a server's 407 asks no client for the proxy's credentials; nothing follows a 204."""
    code, got = ask(plain(path="/switch", port=9009))
    assert code == 403 and b"raw" not in got, got
    code, got = ask(plain(path="/proxy407", port=9009))
    assert code == 407 and b"proxy-authenticate" not in got.lower() and b"steal" not in got, got
    before = len(seen("request", 9009))
    code, got = ask(plain(path="/empty204", port=9009) + plain(path="/plain", port=9009))
    assert code == 204 and b"connection: close" in got.partition(b"\r\n\r\n")[0].lower(), got
    assert len(seen("request", 9009)) == before + 1


def answer_split():
    """What stands behind an answer's end is not read as a second answer to a second request."""
    before = len(seen("request", 9009))
    code, got = ask(plain(path="/split", port=9009) + plain(path="/plain", port=9009))
    assert code in (200, 400), got
    assert len(seen("request", 9009)) <= before + 1


def redirect_is_the_clients():
    """A redirect is handed on, and not followed; what the client asks next is judged anew."""
    code, got = ask(plain(path="/redirect", port=9009))
    assert code == 302 and b"169.254.169.254" in got, got
    refused(get_head("http://169.254.169.254/latest"), 403)


# --- smuggling ----------------------------------------------------------------------------------------------------


def _posts(shapes, body=b"0\r\n\r\n"):
    for s in shapes:
        data = plain(s, method=b"POST") + body
        before = len(seen("open"))
        code, got = ask(data)
        assert code in (400, 501), f"{s!r}: {got[:80]!r}"
        assert got.count(b"HTTP/1.1") == 1, got
        assert len(seen("open")) == before, f"{s!r} reached the server"


def length_and_coding():
    _posts((b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n", b"Transfer-Encoding: chunked\r\nContent-Length: 5\r\n",
            b"Content-Length: 0\r\nTransfer-Encoding: chunked\r\n", b"transfer-encoding: chunked\r\ncontent-length: 4\r\n"))
    bad(plain(b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n") + b"0\r\n\r\n")


def two_lengths():
    _posts((b"Content-Length: 5\r\nContent-Length: 6\r\n", b"Content-Length: 5, 6\r\n", b"Content-Length: 5\r\ncontent-length: 0\r\n"),
           b"hello")


def two_lengths_alike():
    """Repeated alike may be taken once, or refused; never handed on twice."""
    for s in (b"Content-Length: 5\r\nContent-Length: 5\r\n", b"Content-Length: 5, 5\r\n"):
        code, got = ask(plain(s, method=b"POST") + b"hello")
        if code != 400:
            got = mirrored(got).lower()
            assert got.count(b"content-length") == 1 and b"5, 5" not in got, got


def odd_lengths():
    _posts(tuple(b"Content-Length: " + x + b"\r\n" for x in (
        b"+5", b"-5", b"0x5", b"5 5", b"5;", b"5.0", b"5e0", b"", b"\t5\x0b", b"18446744073709551621", b"99999999999999999999999",
        b"05_", b"\xb5", b"'5'")), b"hello")


def odd_codings():
    _posts(tuple(b"Transfer-Encoding: " + x + b"\r\n" for x in (
        b"chunked, chunked", b"identity", b"identity, chunked", b"chunked, identity", b"xchunked", b"chunked;q=1", b"gzip", b"\x0bchunked",
        b"chunked\x00", b"'chunked'", b'"chunked"', b"", b",", b"chunked,x", b"cow, chunked", b"chunke\xc4\x8f")))
    _posts((b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", b"Transfer-Encoding: identity\r\nTransfer-Encoding: chunked\r\n",
            b"Transfer-Encoding : chunked\r\n", b"Transfer-Encoding:\r\n chunked\r\n", b"Transfer\xad-Encoding: chunked\r\n"))


def coding_variants():
    """Other spellings of chunked are taken for what they are, or refused; the server never sees two framings."""
    for s in (b"Transfer-Encoding: Chunked\r\n", b"Transfer-Encoding: CHUNKED\r\n", b"Transfer-Encoding:chunked\r\n",
              b"Transfer-Encoding:\tchunked\r\n", b"Transfer-Encoding: chunked \r\n", b"Transfer-Encoding: chunked,\r\n"):
        code, got = ask(plain(s, method=b"POST") + b"5\r\nhello\r\n0\r\n\r\n")
        if code in (400, 501):
            continue
        got = mirrored(got)
        assert got.count(b"POST") == 1 and b"hello" in got, got


def unknown_coding():
    refused(plain(b"Transfer-Encoding: cow\r\n", method=b"POST") + b"0\r\n\r\n", 501)
    refused(plain(b"Transfer-Encoding: gzip, chunked\r\n", method=b"POST") + b"0\r\n\r\n", 501)


def coding_in_1_0():
    bad(plain(b"Transfer-Encoding: chunked\r\n", method=b"POST", version=b"HTTP/1.0") + b"0\r\n\r\n")


def odd_chunks():
    """A chunked body that is malformed ends there: no server takes what follows for a request."""
    smuggled = b"GET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n"
    for chunk in (b"5;ext=1\r\nhello\r\n0\r\n\r\n", b'5;a="\r\n0\r\n\r\n"\r\nhello\r\n0\r\n\r\n', b"5;\nhello\r\n0\r\n\r\n",
                  b"5\nhello\n0\n\n", b"5\r\nhello0\r\n\r\n", b"0x5\r\nhello\r\n0\r\n\r\n", b"+5\r\nhello\r\n0\r\n\r\n",
                  b"-1\r\nhello\r\n0\r\n\r\n", b" 5\r\nhello\r\n0\r\n\r\n", b"5 \r\nhello\r\n0\r\n\r\n", b"00000000000000005\r\nhello\r\n0\r\n\r\n",
                  b"10000000000000005\r\nhello\r\n0\r\n\r\n", b"ffffffffffffffff\r\nhello\r\n0\r\n\r\n", b"g\r\nhello\r\n0\r\n\r\n",
                  b"\r\nhello\r\n0\r\n\r\n", b"5\r\nhello\r\n0\r\nX-Trailer: a\r\n\r\n", b"5\r\nhello\r\n0\r\nHost: evil\r\n\r\n",
                  b"5\r\nhelloXX0\r\n\r\n", b"5\rhello\r\n0\r\n\r\n", b"5\r\r\nhello\r\n0\r\n\r\n"):
        before = len(seen("request"))
        code, got = ask(plain(b"Transfer-Encoding: chunked\r\n", method=b"POST") + chunk + smuggled)
        assert got.count(b"HTTP/1.1 ") <= 1, f"{chunk!r}: {got!r}"
        for r in seen("request")[before:]:
            r = bytes.fromhex(r["hex"])
            assert b"/smuggled" not in r, f"{chunk!r}: {code} {r!r}"


def body_beyond_length():
    """Bytes behind the declared body do not reach the server."""
    before = len(seen("request"))
    code, got = ask(plain(b"Content-Length: 5\r\n", method=b"POST") + b"hello" + b"GET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n")
    assert code in (200, 400), got
    for r in seen("request")[before:]:
        assert b"/smuggled" not in bytes.fromhex(r["hex"]), r


def get_with_body_undeclared():
    """A GET without a length has no body: what follows is not handed on."""
    before = len(seen("request"))
    ask(plain() + b"GET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n")
    for r in seen("request")[before:]:
        assert b"/smuggled" not in bytes.fromhex(r["hex"]), r


# --- credentials --------------------------------------------------------------------------------------------------


def without_credentials():
    for data in (connect_head(f"{HOST}:9001", creds=b""), plain(creds=b"")):
        got = refused(data, 407)
        assert b'proxy-authenticate: basic realm="kz"' in got.lower(), got


def bearer():
    creds = b"Proxy-Authorization: Bearer " + os.environ["EG_GRANT"].encode() + b"\r\n"
    with Conn() as c:
        c.send(connect_head(f"{HOST}:9001", creds=creds))
        assert status(c.head()) == 200


def malformed_before_grant():
    """A malformed head is told as that, whatever the grant is."""
    for creds in (b"", b"Proxy-Authorization: Basic !!!!\r\n", proxy.credentials("v4.public.nonsense")):
        refused(connect_head("bad host:443", creds=creds), 400)
        refused(connect_head(f"{HOST}:9001", b"X : y\r\n", creds=creds), 400)


def two_credentials():
    """Which of two counts would be a guess."""
    got = ask(connect_head(f"{HOST}:9001", proxy.credentials("v4.public.nonsense")))
    assert got[0] in (400, 403), got
    got = ask(connect_head(f"{HOST}:9001", proxy.credentials()))
    assert got[0] in (400, 403), got


def odd_credentials():
    import base64
    token = os.environ["EG_GRANT"].encode()

    def basic(x):
        return b"Proxy-Authorization: Basic " + base64.b64encode(x) + b"\r\n"
    one = None
    for creds in (basic(b""), basic(b":"), basic(b"grant"), basic(b"grant:"), basic(token), basic(b"grant:" + token + b"x"),
                  basic(b"grant:" + token[:-1]), basic(b"grant:\x00" + token), basic(b"grant: " + token), basic(b"grant:" + token.upper()),
                  b"Proxy-Authorization: Basic\r\n", b"Proxy-Authorization: Basic ====\r\n", b"Proxy-Authorization: Basic \xff\r\n",
                  b"Proxy-Authorization: Digest username=\"a\"\r\n", b"Proxy-Authorization: Negotiate abcd\r\n", b"Proxy-Authorization: \r\n",
                  b"Proxy-Authorization: Bearer\r\n", b"Proxy-Authorization: Bearer x y\r\n"):
        code, got = ask(connect_head(f"{HOST}:9001", creds=creds))
        assert code in (400, 403, 407), f"{creds!r}: {got!r}"
        if code == 403:
            one = one or got
            assert got == one, f"{creds!r}: another answer"


def without_preamble():
    """Who does not say which execution it is of gets nothing."""
    for first in (b"", b"KZ-EXECUTION \n", b"KZ-EXECUTION zz\n", b"KZ-EXECUTION " + b"0" * 33 + b"\n", b"kz-execution " + b"0" * 32 + b"\n",
                  b"KZ-EXECUTION " + b"0" * 32 + b"\r\n", b"KZ-EXECUTION " + b"0" * 5000):
        with Conn(preamble=False) as c:
            c.send(first + connect_head(f"{HOST}:9001"))
            try:
                got = c.head()
            except Reset:
                got = b""
            assert status(got) in (0, 400, 403), f"{first[:40]!r}: {got!r}"


def constant_refusal(*authorities):
    """Everything denied is denied by the same bytes."""
    one = None
    for a in authorities:
        code, got = ask(connect_head(a))
        assert code == 403, f"{a}: {got!r}"
        one = one or got
        assert got == one, f"{a}: {got!r} is another answer than {one!r}"
    assert one
    return one


# --- limits -------------------------------------------------------------------------------------------------------


def slow_head(seconds):
    """A head that does not come in its time ends the connection, however often a byte comes."""
    with Conn() as c:
        start = time.monotonic()
        data = connect_head(f"{HOST}:9001")
        c.s.settimeout(0.1)
        got = b""
        for x in data:
            try:
                c.s.send(bytes([x]))
                got = c.s.recv(4096)
                break
            except socket.timeout:
                continue
            except OSError:
                break
            finally:
                assert time.monotonic() - start < float(seconds) + 60
        assert time.monotonic() - start >= float(seconds) * 0.8, "too early"
        assert status(got) in (0, 400, 403), got


def vanish(count):
    """Clients that go at any moment: in the preamble, the head, the lookup, the dial, the tunnel, the answer."""
    whole = [connect_head(f"{HOST}:9001") + b"x" * 500, connect_head("silent.odd.lab:80"), connect_head("dead.odd.lab:8443"),
             connect_head(f"{HOST}:9006") + b"rate 0\n", plain(path="/x"), plain(b"Content-Length: 90000\r\n", method=b"POST") + b"x" * 9000,
             get_head(f"http://{HOST}/big")]
    r = random.Random(1)
    for i in range(int(count)):
        data = b"KZ-EXECUTION %s\n" % os.environ["EG_EXECUTION"].encode() + whole[i % len(whole)]
        with Conn(preamble=False) as c:
            c.send(data[:r.choice((len(data), r.randrange(len(data))))])
            if r.random() < 0.3:
                c.s.settimeout(r.random() / 20)
                try:
                    c.s.recv(r.choice((1, 100, 65536)))
                except (socket.timeout, ConnectionResetError):
                    pass
            if r.random() < 0.3:
                c.s.shutdown(r.choice((socket.SHUT_WR, socket.SHUT_RD, socket.SHUT_RDWR)))


def mutations(count):
    """Heads with bytes changed, doubled, moved and left out: each gets an answer of the proxy's, or a server's that is allowed."""
    seeds = [connect_head(f"{HOST}:9004"), plain(path="/a?b=c"), plain(b"Content-Length: 5\r\nX-A: b\r\n", method=b"POST") + b"hello",
             plain(b"Transfer-Encoding: chunked\r\n", method=b"POST") + b"5\r\nhello\r\n0\r\n\r\n"]
    r, codes = random.Random(2), {}
    pieces = [b"\r\n", b"\n", b"\r", b"\0", b" ", b":", b"\t", b"@", b"%00", b"//", b"Host: x\r\n", b"Content-Length: 1\r\n", b",", b"\xff",
              b"Transfer-Encoding: chunked\r\n", b"HTTP/1.1", b"127.0.0.1", b"[::1]", b"#", b"0" * 70]
    for _ in range(int(count)):
        data = bytearray(r.choice(seeds))
        for _ in range(r.randrange(1, 4)):
            # mostly where the request line and the first fields are
            at = r.randrange(min(len(data), 120) if r.random() < 0.7 else len(data))
            what = r.randrange(4)
            if what == 0:
                data[at] = r.randrange(256)
            elif what == 1:
                del data[at:at + r.randrange(1, 9)]
            elif what == 2:
                data[at:at] = r.choice(pieces)
            else:
                data[at:at] = data[at:at + r.randrange(1, 40)]
        with Conn() as c:
            c.send(bytes(data))
            try:
                c.s.shutdown(socket.SHUT_WR)
                got = c.rest()
            except (Reset, OSError):
                got = b""
        codes[status(got)] = codes.get(status(got), 0) + 1
    print(codes)
    assert set(codes) <= {0, 200, 400, 403, 404, 405, 407, 431, 501}, codes
    assert codes.get(400, 0) > int(count) // 10 and codes.get(200, 0) > 0, codes


def reset_of_server():
    """A server's reset is the client's end."""
    with tunnel(f"{HOST}:9005") as c:
        c.send(b"\r\n\r\n")
        c.rest()


def linger(sock):
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
