"""The far end of a worker's forwarder: listens on the one socket of DIR (DIR/proxy.sock, DIR/gateway.sock), tells of each connection on
standard output, and does what the first line after the preamble asks for.

    far_end.py DIR [BACKLOG [SECONDS]]      SECONDS: wait that long before the first connection is taken

echo      read to the end, send the same back, close
give N    send N bytes, end
answer    send "no" and close at once, whatever else is being sent
hold      read nothing, stay open
greet     send "h", then the same
pour      send for ever
"""
import json
import os
import select
import socket
import struct
import sys
import threading
import time


held, lock = set(), threading.Lock()


def tell(**what):
    sys.stdout.write(json.dumps(what) + "\n")
    sys.stdout.flush()


def line(conn):
    got = b""
    while not got.endswith(b"\n"):
        byte = conn.recv(1)
        if not byte:
            return None
        got += byte
    return got.decode("latin-1").rstrip("\n")


def do(conn, ask):
    verb, _, rest = ask.partition(" ")
    if verb == "echo":
        got = bytearray()
        while True:
            piece = conn.recv(65536)
            if not piece:
                break
            got += piece
        conn.sendall(got)
        tell(done="echo", bytes=len(got))
    elif verb == "give":
        conn.sendall(b"x" * int(rest))
        conn.shutdown(socket.SHUT_WR)
        conn.recv(1)
    elif verb == "answer":
        conn.sendall(b"no")
    elif verb in ("hold", "greet"):
        if verb == "greet":
            conn.sendall(b"h")
        # readable at its end only, because nothing more is sent
        conn.recv(1)
        tell(done=verb)
    elif verb == "pour":
        while True:
            conn.sendall(b"y" * 65536)


def open_now():
    """Whose other side has not ended, be that seen by its thread or not."""
    with lock:
        poll = select.poll()
        for conn in held:
            poll.register(conn, select.POLLRDHUP)
        return len(held) - len(poll.poll(0))


def drop(conn):
    with lock:
        held.discard(conn)
        conn.close()


def serve(conn):
    _, uid, _ = struct.unpack("3i", conn.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
    try:
        preamble = line(conn)
        ask = line(conn)
        tell(preamble=preamble, uid=uid, ask=ask)
        do(conn, ask or "")
    except OSError as e:
        tell(failed=e.strerror)
    finally:
        drop(conn)


def main():
    path = os.path.join(sys.argv[1], os.path.basename(sys.argv[1].rstrip("/")) + ".sock")
    if os.path.exists(path):
        os.unlink(path)
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(path)
    os.chmod(path, 0o666)
    listener.listen(int(sys.argv[2]) if len(sys.argv) > 2 else 128)
    tell(up=True)
    if len(sys.argv) > 3:
        time.sleep(float(sys.argv[3]))
    while True:
        conn, _ = listener.accept()
        with lock:
            held.add(conn)
        tell(open=open_now())
        threading.Thread(target=serve, args=(conn,), daemon=True).start()


main()
