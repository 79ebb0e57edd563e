#!/usr/bin/env python3
"""cells.py python|node SPACE [CONFIG]: run the cells of standard input, parted by lines of %%, each by a
fresh interpreter with the shim of a kernel, and print for each {"status","out","err",...report}.
An answer to calls of tools is {"echo": arguments}; a line "# kill" in a cell has it killed in between.
Environment: CELLS_UNDER, words of a command that the interpreters run under."""
import json
import os
import socket
import subprocess
import sys
import threading
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.path.dirname(os.environ.get("KZ_BIN") or f"{ROOT}/build/bin")
SHIM = {"python": ["/usr/bin/python3", "-IB", f"{BUILD}/shim/kernel.py"], "node": ["node", f"{BUILD}/shim/kernel.mjs"]}


def is_plain(o):
    """Would kz parse it? It takes no NUL, no half characters, no numbers beyond 64 bits and no NaN."""
    if isinstance(o, dict):
        return all(is_plain(k) and is_plain(v) for k, v in o.items())
    if isinstance(o, list):
        return all(map(is_plain, o))
    if isinstance(o, str):
        return not any(c == "\0" or "\ud800" <= c <= "\udfff" for c in o)
    return o in (None, True, False) or (isinstance(o, int) and abs(o) < 1 << 63) or (isinstance(o, float) and abs(o) < 1e308)


def answer(sock, lines):
    rest = b""
    while True:
        more = sock.recv(65536)
        if not more:
            return
        rest += more
        while b"\n" in rest:
            line, _, rest = rest.partition(b"\n")
            o = json.loads(line)
            assert is_plain(o) and len(line) < 512 << 10, line[:2000]
            if o["type"] == "call":
                reply = {"id": o["id"], "result": {"echo": o["arguments"]}}
                if o["tool"] == "refused":
                    reply = {"id": o["id"], "error": {"reason": "tool_writes", "text": "it writes"}}
                sock.sendall(json.dumps(reply).encode() + b"\n")
            elif o["type"] == "report":
                lines.append(o)


def run(language, space, config, text):
    path = f"{space}.cell" + {"python": ".py", "node": ".js"}[language]
    with open(path, "w", encoding="utf-8", errors="surrogateescape") as f:
        f.write(text)
    ours, theirs = socket.socketpair()
    lines = []
    reader = threading.Thread(target=answer, args=(ours, lines))
    reader.start()
    config = {"space": space, "channel": theirs.fileno(), **config}
    command = os.environ.get("CELLS_UNDER", "").split() + SHIM[language] + [json.dumps(config), path, "one", "two"]
    p = subprocess.Popen(command, cwd=space, pass_fds=[theirs.fileno()], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    theirs.close()
    if "# kill" in text:
        until = time.monotonic() + 60
        while not os.path.exists(f"{space}/ready") and time.monotonic() < until:
            time.sleep(0.01)
        p.kill()
    out, err = p.communicate()
    reader.join()
    ours.close()
    return {"status": p.returncode, "out": out, "err": err, "report": lines[-1] if lines else None}


def main():
    config = json.loads(sys.argv[3]) if len(sys.argv) > 3 else {}
    for text in sys.stdin.read().split("\n%%\n"):
        print(json.dumps(run(sys.argv[1], sys.argv[2], config, text)), flush=True)


if __name__ == "__main__":
    main()
