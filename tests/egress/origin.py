#!/usr/bin/env python3
"""Raw TCP servers for tests, one manner a port, on every address of this network namespace:

	9001 echoes             9002 speaks first, then echoes       9003 waits for the end of input, then sends 1 MiB
	9004 sends 1 MiB, ends  9005 answers a request with its own bytes in hex, and ends
	9006 sends without end (at most RATE bytes/s when the client's first line is "rate N")
	9007 takes what comes and says nothing        9009 answers with the raw response that the path names (RAW; /before: it
	answers, and then takes the body)
	9010 echoes, and is slow to read

Each connection's start and end is a line of JSON in LOG: {"t","port","address","what","bytes"}; what is open, end
(the peer shut its side), reset, or request (with the bytes in hex).

usage: origin.py LOG
"""
import asyncio
import json
import socket
import sys
import time

MIB = bytes(range(256)) * 4096
log = None

RAW = {
    "plain": b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
    "hop": b"HTTP/1.1 200 OK\r\nConnection: X-Hop, keep-alive\r\nX-Hop: secret\r\nKeep-Alive: timeout=5\r\n"
           b"Proxy-Authenticate: Basic realm=\"origin\"\r\nTrailer: X\r\nUpgrade: h2c\r\nX-End: here\r\nContent-Length: 2\r\n\r\nok",
    "chunked": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n",
    "close": b"HTTP/1.1 200 OK\r\n\r\nok",
    "clte": b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n",
    "cl2": b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 7\r\n\r\nok",
    "continue": b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
    "early": b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
    "hints": b"HTTP/1.1 103 Early Hints\r\n\r\n" * 16 + b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
    "hinting": b"HTTP/1.1 103 Early Hints\r\n\r\n" * 50000,
    "switch": b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\nraw",
    "empty204": b"HTTP/1.1 204 No Content\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nsmugg",
    "split": b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nsmugg",
    "barelf": b"HTTP/1.1 200 OK\nContent-Length: 2\n\nok",
    "garbage": b"\x16\x03\x01 this is no HTTP\r\n\r\n",
    "huge": b"HTTP/1.1 200 OK\r\nX-Big: " + b"a" * 200000 + b"\r\nContent-Length: 2\r\n\r\nok",
    "nothing": b"",
    "half": b"HTTP/1.1 200 OK\r\nContent-",
    "short": b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nok",
    # and then the connection stays open, whatever the request said
    "stay": b"HTTP/1.1 200 OK\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\nok",
    "stay0": b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
    "stay204": b"HTTP/1.1 204 No Content\r\n\r\n",
    "stay304": b"HTTP/1.1 304 Not Modified\r\nContent-Length: 500\r\n\r\n",
    "staybig": b"HTTP/1.1 200 OK\r\nContent-Length: 1048576\r\n\r\n" + MIB,
    "staymore": b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok" + b"x" * 300000,
    "redirect": b"HTTP/1.1 302 Found\r\nLocation: http://169.254.169.254/latest\r\nContent-Length: 0\r\n\r\n",
    "proxy407": b"HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic realm=\"steal\"\r\nContent-Length: 0\r\n\r\n",
}


def say(writer, what, **more):
    at = writer.get_extra_info("sockname")
    print(json.dumps({"t": time.time(), "port": at[1], "address": at[0], "what": what, **more}), file=log, flush=True)


async def head(r, w):
    """The head of a request, and its body when a length says so."""
    out = b""
    while b"\r\n\r\n" not in out:
        more = await r.read(65536)
        if not more:
            return out
        out += more
    first, _, body = out.partition(b"\r\n\r\n")
    lower = first.lower()
    if b"/before " in first.split(b"\r\n")[0]:
        return first + b"\r\n\r\n" + body
    if b"\r\nexpect: 100-continue" in lower:
        w.write(b"HTTP/1.1 100 Continue\r\n\r\n")
    if b"\r\ncontent-length:" in lower:
        want = int(lower.split(b"\r\ncontent-length:")[1].split(b"\r\n")[0])
        while len(body) < want:
            more = await r.read(65536)
            if not more:
                break
            body += more
    elif b"\r\ntransfer-encoding:" in lower:
        while not body.endswith(b"0\r\n\r\n"):
            more = await r.read(65536)
            if not more:
                break
            body += more
    try:  # whatever else came with it
        body += await asyncio.wait_for(r.read(65536), 0.15)
    except asyncio.TimeoutError:
        pass
    return first + b"\r\n\r\n" + body


async def echo(r, w):
    while data := await r.read(65536):
        w.write(data)
        await w.drain()


async def banner(r, w):
    w.write(b"220 speaks first\r\n")
    await w.drain()
    await echo(r, w)


async def after_end(r, w):
    seen = 0
    while data := await r.read(65536):
        seen += len(data)
    say(w, "end", bytes=seen)
    w.write(MIB)
    await w.drain()


async def at_once(r, w):
    w.write(MIB)
    await w.drain()


async def mirror(r, w):
    got = await head(r, w)
    say(w, "request", hex=got.hex())
    body = got.hex().encode()
    w.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\nX-Origin: mirror\r\n\r\n" % len(body) + body)
    await w.drain()


async def stream(r, w):
    rate, sent, start = 0, 0, time.monotonic()
    try:
        line = await asyncio.wait_for(r.readline(), 0.5)
        if line.startswith(b"rate "):
            rate = int(line[5:])
        elif line.startswith((b"GET ", b"HEAD ")):
            path = line.split()[1].decode()
            rate = int(path.rsplit("/", 1)[1] or 0)
            w.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1073741824\r\n\r\n")
    except asyncio.TimeoutError:
        pass
    try:
        while sent < 1 << 30:
            w.write(MIB[:262144])
            await w.drain()
            sent += 262144
            if rate:
                await asyncio.sleep(max(0, start + sent / rate - time.monotonic()))
    finally:
        say(w, "sent", bytes=sent)


async def silent(r, w):
    seen = 0
    while data := await r.read(65536):
        seen += len(data)
    say(w, "end", bytes=seen)


async def raw(r, w):
    got = await head(r, w)
    say(w, "request", hex=got.hex())
    if b"/before " in got.split(b"\r\n")[0]:  # the answer first, then the body
        w.write(b"HTTP/1.1 202 Accepted\r\nContent-Length: 2\r\n\r\nok")
        body = len(got.partition(b"\r\n\r\n")[2])
        while data := await r.read(65536):
            body += len(data)
        say(w, "body", bytes=body)
        return
    name = got.split(b" ")[1].rsplit(b"/", 1)[-1].split(b"?")[0].decode("latin-1")
    w.write(RAW.get(name, RAW["plain"]))
    await w.drain()
    if name == "switch" or name.startswith("stay"):
        await echo(r, w)


async def slow(r, w):
    while data := await r.read(1024):
        await asyncio.sleep(0.001)
        w.write(data)
        await w.drain()


SERVERS = {9001: echo, 9002: banner, 9003: after_end, 9004: at_once, 9005: mirror, 9006: stream, 9007: silent,
           9009: raw, 9010: slow}


def served(act):
    async def one(r, w):
        sock = w.get_extra_info("socket")
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        say(w, "open")
        try:
            await act(r, w)
            say(w, "closed")
            w.close()
        except (ConnectionError, OSError) as e:
            say(w, "reset", error=type(e).__name__)
            w.transport.abort()
        except asyncio.CancelledError:
            raise
        except Exception as e:  # a fault of the test is to be seen
            say(w, "fault", error=repr(e))
            w.transport.abort()
    return one


async def main():
    for port, act in SERVERS.items():
        await asyncio.start_server(served(act), ["0.0.0.0", "::"], port, backlog=8192, limit=1 << 20)
    print("ready", flush=True)
    await asyncio.Event().wait()


if __name__ == "__main__":
    log = open(sys.argv[1], "a", buffering=1)
    try:
        import resource
        resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
        asyncio.run(main())
    except KeyboardInterrupt:
        pass
