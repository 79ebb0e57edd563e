"""What hostile installers do to the broker, many at once; fails when it stops serving others, or holds more than it may.

	flood.py SOCKET EXECUTION TOKEN GATEWAY_PID
"""
import base64, socket, sys, time

PATH, EXECUTION, TOKEN, PID = sys.argv[1:]
CLOSE = "Connection: close\r\n"
AUTH = "Authorization: Basic %s\r\n" % base64.b64encode(("kz:" + TOKEN).encode()).decode()


def rss():
    for line in open("/proc/%s/status" % PID):
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) >> 10
    sys.exit("the gateway is gone")


def connect():
    s = socket.socket(socket.AF_UNIX)
    s.settimeout(60)
    s.connect(PATH)
    s.sendall(b"KZ-EXECUTION %s\n" % EXECUTION.encode())
    return s


def ask(path, version="1.1", more=""):
    return ("GET %s HTTP/%s\r\nHost: 127.0.0.1:8000\r\n%s%s\r\n" % (path, version, AUTH, more)).encode()


def to_end(s):
    out = b""
    try:
        while part := s.recv(65536):
            out += part
    except ConnectionResetError:
        pass
    return out


def status(data):
    s = connect()
    try:
        s.sendall(data)
    except OSError:
        pass
    return int((to_end(s).split(b" ", 2) + [b"0", b"0"])[1] or 0)


def served():
    assert status(ask(STATE, more=CLOSE)) == 200


# When what was held is free again.
def again():
    for _ in range(300):
        try:
            return served()
        except (AssertionError, OSError):
            time.sleep(0.2)
    served()


STATE, INDEX, FILE = "/broker/state", "/pypi/simple/bulk/", "/pypi/files/bulk/bulk-1.0-py3-none-any.whl"
assert status(ask(INDEX, more=CLOSE)) == 200
before = rss()

# many files each, of which nobody reads a byte
held = []
for _ in range(50):
    s = connect()
    s.sendall(ask(FILE) * 20 + ask(INDEX) * 20)
    held.append(s)
most = 0
for _ in range(10):
    served()
    most = max(most, rss())
    time.sleep(0.5)
assert most - before < 192, (before, most)
for s in held:
    s.close()
again()

# gone as soon as they asked, a thousand times
for _ in range(1000):
    try:
        s = connect()
        s.sendall(ask(FILE))
        s.close()
    except OSError:
        pass  # turned away
again()

# a thousand at once: who is too many is told, or turned away
held, told = [], 0
for _ in range(1000):
    try:
        held.append(connect())
    except OSError:
        told += 1
for s in held[64:]:
    try:
        s.settimeout(5)
        told += s.recv(64).startswith(b"HTTP/1.1 503 ")
    except OSError:
        told += 1
assert told > 500, told
for s in held:
    s.close()
again()

# a head in single bytes, and two hundred requests in one piece
s = connect()
for b in ask(STATE, more=CLOSE):
    s.sendall(bytes([b]))
assert to_end(s).startswith(b"HTTP/1.1 200 ")
s = connect()
s.sendall(ask(STATE) * 200 + ask(STATE, more=CLOSE))
assert to_end(s).count(b"HTTP/1.1 200 ") == 201

# heads that are none
assert status(ask(STATE, more="X: %s\r\n" % ("x" * (1 << 20)))) == 431
assert status(ask(STATE, more="".join("X%d: y\r\n" % i for i in range(1000)))) == 431
assert status(b"\0" * 65536) in (400, 431)
# a whole answer and its end for the older protocol
assert status(ask(INDEX, "1.0")) == 200
print(before, most, rss())
