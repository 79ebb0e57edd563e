#!/usr/bin/env python3
"""When tunnels end.  How long something took is told together with how long this process was kept from running meanwhile
(a thread that only sleeps measures it), since a machine may be busy: what is over a second by less than that is no fault.

usage: cut.py expiry STATE            a stream whose grant expires soon
       cut.py revoked STATE PROGRAM…  a stream whose grant PROGRAM… revokes: EXECUTION stands for its execution
       cut.py many STATE COUNT SLOW PID  so many idle tunnels, and clients that send their heads slowly; then one more; PID
                                         is the proxy's, whose memory is looked at
       cut.py unresolved STATE COUNT  so many lookups and dials without an answer; another grant is served meanwhile
       cut.py late STATE              a lookup and a dial without an answer, whose grant expires in 4 s
       cut.py names STATE EACH MOST PID  lookups that are never answered: EACH of a grant and no more, MOST in all; prints the
                                         health's count and the proxy's memory
       cut.py unread STATE COUNT PID  so many streams that nobody reads
       cut.py limit STATE MOST        so many tunnels of one grant, and not one more; another grant is served
       cut.py idle STATE SECONDS      a tunnel that says nothing
       cut.py first STATE SECONDS     a server that says nothing to a plain request
       cut.py hold                    a stream by EG_GRANT until it ends; prints the bytes
"""
import json
import os
import resource
import socket
import subprocess
import sys
import threading
import time

import mint
import proxy
from probes import MIB, seen

HOST = "four.pub.lab"


def waited(pid):
    """How long the threads of a process wanted to run and were not run, in seconds."""
    total = 0
    for task in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{task}/schedstat", encoding="ascii") as f:
            total += int(f.read().split()[1])
    return total / 1e9


class Lag:
    """The longest time that this process was not run when it wanted to be, and how long the proxy was not."""

    def __init__(self, state):
        self.pid = int(subprocess.run(["s6-svstat", "-o", "pid", state + "/service/kz-proxy"], check=True, stdout=subprocess.PIPE).stdout)
        self.before = waited(self.pid)
        self.most, self.on = 0.0, True
        self.t = threading.Thread(target=self.run, daemon=True)
        self.t.start()

    def run(self):
        last = time.monotonic()
        while self.on:
            time.sleep(0.01)
            now = time.monotonic()
            self.most, last = max(self.most, now - last - 0.01), now


def stream(token, execution, rate=50000000):
    c = proxy.Conn(execution)
    c.send(proxy.connect_head(f"{HOST}:9006", grant=token))
    assert proxy.status(c.head()) == 200
    c.send(b"rate %d\n" % rate)
    return c


def until_end(c):
    """Read until the end: bytes, time of the last one, time of the end."""
    got, last = len(c.left), time.time()
    while True:
        try:
            more = c.s.recv(1 << 20)
        except ConnectionResetError:
            more = b""
        if not more:
            return got, last, time.time()
        got, last = got + len(more), time.time()


def check(what, since, last, end, lag, got):
    proxys = waited(lag.pid) - lag.before
    print(f"{what}: {got} bytes, the last {last - since:.3f} s and the end {end - since:.3f} s after it, "
          f"this process was late by {lag.most:.3f} s at most, the proxy by {proxys:.3f} s")
    assert 0 < got < 1 << 30, "not cut in the middle"
    assert end - since <= 1 + 4 * lag.most + proxys, "later than one second"


def expiry(state):
    for life in (4, 12, 60):  # within which it had begun
        exp = int(time.time()) + life
        token, execution = mint.grant(state, "public_internet", exp=mint.stamp(exp))
        code, _ = proxy.ask(proxy.connect_head(f"{HOST}:9004", grant=token), execution=execution)
        if code == 200 and time.time() < exp - life / 4:
            break
    lag, c = Lag(state), stream(token, execution)
    got, last, end = until_end(c)
    assert end > exp - 1, f"cut {exp - end:.3f} s too early"
    check("expiry", exp, last, end, lag, got)
    # and the server knows: nobody fills a buffer for ever
    assert proxy.wait(10, lambda: seen("sent", 9006)), "the server still sends"


def revoked(state, *program):
    token, execution = mint.grant(state, "public_internet")
    other = mint.grant(state, "public_internet")
    lag, c, d = Lag(state), stream(token, execution), stream(*other, rate=1000000)
    times = []

    def revoke():
        time.sleep(1)
        subprocess.run([execution if x == "EXECUTION" else x for x in program], check=True, stdout=subprocess.DEVNULL)
        times.append(time.time())
    t = threading.Thread(target=revoke)
    t.start()
    got, last, end = until_end(c)
    t.join()
    check("revocation", times[0], last, end, lag, got)
    if "--before" not in program:
        assert d.exactly(500000), "a grant that was not revoked was cut too"
    code, _ = proxy.ask(proxy.connect_head(f"{HOST}:9001", grant=token), execution=execution)
    assert code == 403, f"the revoked grant gets {code}"


def unresolved(state, count):
    """So many lookups of one grant that are never answered, and dials that nobody takes; another grant does not wait for them."""
    one, other, held = mint.grant(state, "public_internet"), mint.grant(state, "public_internet"), []
    for i in range(int(count)):
        c = proxy.Conn(one[1])
        c.send(proxy.connect_head(("silent.odd.lab:80", "dead.odd.lab:8443")[i % 2], grant=one[0]))
        held.append(c)
    for _ in range(20):
        code, _ = proxy.ask(proxy.connect_head(f"{HOST}:9004", grant=other[0]), execution=other[1])
        assert code == 200, f"the other grant gets {code}"
    waiting = sum(c.is_open(0.001) for c in held)
    print(f"{waiting} of {count} still wait")
    assert waiting > int(count) / 2, "they ended first, so this shows nothing"
    for c in held:
        assert proxy.status(c.head()) == 403


def late(state):
    """The grant ends before the lookup or the dial does."""
    token, execution = mint.grant(state, "public_internet", exp=mint.stamp(int(time.time()) + 4))
    held = [proxy.Conn(execution).send(proxy.connect_head(name, grant=token)) for name in ("silent.odd.lab:443", "dead.odd.lab:8443")]
    for c in held:
        assert proxy.status(c.head()) == 403


def names(state, each, most, pid):
    """Lookups have a bound for each grant and one in all, and the refusal is the one of everything else."""
    each, most, held = int(each), int(most), []
    resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
    health = os.path.join(state, "run/proxy-health.sock")

    def asked():
        with proxy.Conn(sock=health, preamble=False) as c:
            text = c.send(b"GET /v1/health HTTP/1.1\r\nHost: kz\r\n\r\n").rest()
        return json.loads(text.partition(b"\r\n\r\n")[2])["names"]

    def resident():
        with open(f"/proc/{pid}/status", encoding="ascii") as f:
            return next(int(x.split()[1]) for x in f if x.startswith("VmRSS"))

    def fill(grant):
        for _ in range(each):
            held.append(proxy.Conn(grant[1]).send(proxy.connect_head("silent.odd.lab:443", grant=grant[0])))

    def answer(grant, where):
        return proxy.ask(proxy.connect_head(where, grant=grant[0]), execution=grant[1])

    one, other = (mint.grant(state, "public_internet") for _ in range(2))
    refusal = answer(one, f"{HOST}:9")
    assert refusal[0] == 403, refusal
    fill(one)
    assert proxy.wait(20, lambda: asked() == each), f"{asked()} lookups are under way"
    assert answer(one, f"{HOST}:9004") == refusal, "one lookup too many has another answer"
    assert answer(one, "93.184.216.34:9004")[0] == 200, "an address needs no lookup"
    for _ in range(20):
        assert answer(other, f"{HOST}:9004")[0] == 200, "another grant is not served"
    assert asked() == each, "they ended first, so this shows nothing"
    # nobody waits for one any more: its place is free
    held.pop().s.close()
    assert proxy.wait(20, lambda: answer(one, f"{HOST}:9004")[0] == 200), "the place of a lookup that nobody waits for is not free"
    held.append(proxy.Conn(one[1]).send(proxy.connect_head("silent.odd.lab:443", grant=one[0])))
    while len(held) < most:
        fill(mint.grant(state, "public_internet"))
    assert proxy.wait(20, lambda: asked() == most), f"{asked()} lookups are under way"
    assert answer(other, f"{HOST}:9004") == refusal, "one lookup too many in all has another answer"
    assert answer(other, "93.184.216.34:9004")[0] == 200, "an address needs no lookup"
    rss = resident()
    assert asked() == most, "they ended first, so this shows nothing"
    print(f"{most} lookups: {rss} KiB")
    assert rss < 32768 + most * 96, f"{rss} KiB"
    for c in held:
        c.s.close()
    assert proxy.wait(20, lambda: asked() == 0), "not all places are free"
    assert answer(other, f"{HOST}:9004")[0] == 200
    assert proxy.wait(20, lambda: resident() < 32768), f"{resident()} KiB stay when all is over"


def unread(state, count, pid):
    """Streams that nobody reads: the servers are held back, and nothing piles up in the proxy."""
    held = []
    for _ in range(int(count)):
        held.append(stream(*mint.grant(state, "public_internet"), 0))
    time.sleep(2)
    with open(f"/proc/{pid}/status", encoding="ascii") as f:
        rss = next(int(x.split()[1]) for x in f if x.startswith("VmRSS"))
    print(f"{count} streams that nobody reads: {rss} KiB")
    assert rss < 65536, f"{rss} KiB"
    assert held[0].exactly(1 << 23) == MIB[:262144] * 32, "what was held back is not what was sent"


def many(state, count, slow, pid):
    count, slow = int(count), int(slow)
    resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
    each, held, waiting = 250, [], []
    grants = [mint.grant(state, "public_internet") for _ in range(count // each + 2)]
    for i in range(slow):
        c = proxy.Conn(grants[0][1])
        c.send(b"CONNECT ")
        waiting.append(c)
    for i in range(count):
        token, execution = grants[1 + i // each]
        c = proxy.Conn(execution)
        c.send(proxy.connect_head(f"{HOST}:9007", grant=token))
        held.append(c)
        if i % 50 == 49:
            for c in held[-50:]:
                head = c.head()
                assert proxy.status(head) == 200, f"tunnel {len(held)}: {head!r}"
            for c in waiting:  # a byte now and then
                c.send(b"x")
    for c in held[-(count % 100):] if count % 100 else []:
        assert proxy.status(c.head()) == 200
    c = proxy.Conn(grants[-1][1])
    c.send(proxy.connect_head(f"{HOST}:9002", grant=grants[-1][0]))
    head = c.head()
    assert proxy.status(head) == 200, f"one more: {head!r}"
    assert c.exactly(3) == b"220"
    for i in (0, count // 2, count - 1):
        assert held[i].is_open(0.05), f"tunnel {i} is gone"
    with open(f"/proc/{pid}/status", encoding="ascii") as f:
        rss = next(int(x.split()[1]) for x in f if x.startswith("VmRSS"))
    print(f"{len(held)} tunnels and {len(waiting)} slow clients; one more was served; {rss} KiB")
    assert rss < 24576 + 4 * len(held), f"{rss} KiB for {len(held)} idle tunnels"


def limit(state, most):
    one, other, held = mint.grant(state, "public_internet"), mint.grant(state, "public_internet"), []
    for _ in range(int(most)):
        c = proxy.Conn(one[1])
        c.send(proxy.connect_head(f"{HOST}:9007", grant=one[0]))
        assert proxy.status(c.head()) == 200, f"tunnel {len(held)} of {most}"
        held.append(c)
    code, answer = proxy.ask(proxy.connect_head(f"{HOST}:9007", grant=one[0]), execution=one[1])
    assert code == 403, f"one too many gets {code}"
    code, _ = proxy.ask(proxy.connect_head(f"{HOST}:9004", grant=other[0]), execution=other[1])
    assert code == 200, f"another grant gets {code}"
    held.pop().s.close()

    def again():
        return proxy.ask(proxy.connect_head(f"{HOST}:9004", grant=one[0]), execution=one[1])[0] == 200
    assert proxy.wait(10, again), "the place of a tunnel that ended is not free"
    del answer


def idle(state, seconds):
    token, execution = mint.grant(state, "public_internet")
    with proxy.Conn(execution) as c:
        c.send(proxy.connect_head(f"{HOST}:9001", grant=token))
        assert proxy.status(c.head()) == 200
        for _ in range(6):  # what speaks stays, longer than that
            time.sleep(float(seconds) / 5)
            c.send(b"abc")
            assert c.exactly(3) == b"abc", "a tunnel that speaks was ended"
        start = time.monotonic()
        c.s.settimeout(float(seconds) + 60)
        assert c.rest() == b"" and time.monotonic() - start >= float(seconds) * 0.8


def first(state, seconds):
    token, execution = mint.grant(state, "public_internet")
    start = time.monotonic()
    with proxy.Conn(execution) as c:
        c.s.settimeout(float(seconds) + 60)
        c.send(proxy.get_head(f"http://{HOST}:9007/x", grant=token))
        head = c.head()
        assert proxy.status(head) in (0, 403), head
    assert time.monotonic() - start >= float(seconds) * 0.8


def hold():
    got, _, _ = until_end(stream(os.environ["EG_GRANT"], os.environ["EG_EXECUTION"], 1000000))
    print(got)


if __name__ == "__main__":
    try:
        globals()[sys.argv[1]](*sys.argv[2:])
    except AssertionError as e:
        sys.exit(f"not as it should be: {e}")
    except socket.timeout:
        sys.exit("no answer")
