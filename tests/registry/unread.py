"""Executions that ask for files and take next to nothing of them, so that no pause is long; says "held" once they all asked.

	unread.py SOCKET PATH OF-EACH (EXECUTION TOKEN)...
"""
import select, socket, sys, time

SOCKET, PATH, EACH = sys.argv[1], sys.argv[2], int(sys.argv[3])


def ask(execution, token, path, more=""):
    s = socket.socket(socket.AF_UNIX)
    s.settimeout(60)
    s.connect(SOCKET)
    s.sendall(("KZ-EXECUTION %s\nGET %s HTTP/1.1\r\nHost: 127.0.0.1:8000\r\nAuthorization: Bearer %s\r\n%s\r\n"
               % (execution, path, token, more)).encode())
    return s


held = []
for execution, token in zip(sys.argv[4::2], sys.argv[5::2]):
    with ask(execution, token, "/pypi/simple/bulk/", "Connection: close\r\n") as s:
        while s.recv(65536):
            pass
    held += [ask(execution, token, PATH) for _ in range(EACH)]
print("held", flush=True)
while held:
    time.sleep(1)
    for s in select.select(held, [], [], 0)[0]:
        try:
            if s.recv(4096):
                continue
        except OSError:
            pass
        held.remove(s)
