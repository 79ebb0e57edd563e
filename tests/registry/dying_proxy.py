"""A forward proxy for tests whose way out breaks: dying_proxy.py FOLDER BYTES [alter]

Listens on a free loopback port and writes FOLDER/port. After BYTES of answers it cuts every connection, in the
middle of what it carries, and takes no connection any more; with "alter" it goes on and changes a byte of every large piece.
It writes FOLDER/dead when that begins. It passes bytes on and reads no more of a request than its first line and its headers.
"""
import os
import socket
import sys
import threading
import urllib.parse

FOLDER, LEFT = sys.argv[1], int(sys.argv[2])
ALTERS = sys.argv[3:] == ["alter"]
lock = threading.Lock()


def pump(source, sink, counts):
    global LEFT
    try:
        while data := source.recv(65536):
            if counts:
                with lock:
                    LEFT -= len(data)
                    if LEFT < 0 and ALTERS and len(data) > 4096:
                        open(FOLDER + "/dead", "w").close()
                        data = data[:4000] + bytes([data[4000] ^ 1]) + data[4001:]
                    elif LEFT < 0 and not ALTERS:
                        sink.sendall(data[: len(data) // 2])
                        open(FOLDER + "/dead", "w").close()
                        os._exit(0)
            sink.sendall(data)
    except OSError:
        pass
    for end in (source, sink):
        try:
            end.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass


def serve(client):
    head = b""
    while b"\r\n\r\n" not in head:
        data = client.recv(65536)
        if not data:
            return
        head += data
    line, _, rest = head.partition(b"\r\n")
    verb, target, _ = line.decode("latin-1").split(" ")
    url = urllib.parse.urlsplit(("//" if verb == "CONNECT" else "") + target)
    server = socket.create_connection((url.hostname, url.port or 80), 60)
    if verb == "CONNECT":
        client.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
        server.sendall(head.partition(b"\r\n\r\n")[2])
    else:
        server.sendall(line + b"\r\n" + rest)  # a server takes the whole address too
    threading.Thread(target=pump, args=(client, server, False), daemon=True).start()
    pump(server, client, True)


listener = socket.create_server(("127.0.0.1", 0))
with open(FOLDER + "/port.new", "w") as f:
    f.write("%d\n" % listener.getsockname()[1])
os.rename(FOLDER + "/port.new", FOLDER + "/port")
while True:
    threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()
