#!/usr/bin/env python3
"""What kz-proxy costs beside no proxy at all and beside other proxies, measured in turn in one run.

usage: proxy.py [ROUNDS]

Makes a network, mount and process namespace, in which 11.22.0.0/16 are addresses of the loopback interface that no
interface owns (so that a proxy which refuses loopback, private and its own addresses dials them), a name server
answers h0.bench.example.com and so on, and an origin accepts, echoes and streams.  Nothing leaves it, and all that
runs in it ends with it.  A peer that is not installed is told on stderr and left out (scripts/install-deps --bench).

Rounds go through all proxies in turn (A B C A B C); a ratio is taken within a round, and the row is the median of
the rounds.  A rate counts tunnels that carried a byte there and back.  See docs/benchmarks.md for the rows.
"""
import base64
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import peers  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
BUILD = os.environ.get("KZ_BENCH_BUILD", os.path.join(HERE, "../../build"))
TUNNEL, ORIGIN, GRANT = (os.path.join(BUILD, "tests/bench", x) for x in ("tunnel", "origin", "grant"))
HOSTS, PORT = 64, 443
NAME, ADDRESS = "h%d.bench.example.com", "11.22.0.%d"
CLIENTS, TUNNELS, IDLE, MANY = 32, (1, 64, 512), 1000, 8192
RATE_MS, BULK_MS = 1200, 800


def say(row, **fields):
    print(json.dumps({"v": 1, "type": "bench", "row": row, **fields}), flush=True)


def note(text):
    print(f"proxy.py: {text}", file=sys.stderr, flush=True)


def enter():
    """Once more, in namespaces of its own."""
    os.environ["KZ_BENCH_INSIDE"] = "1"
    os.execvp("unshare", ["unshare", "--net", "--mount", "--ipc", "--pid", "--fork", "--kill-child", "--mount-proc", "--propagation",
                          "private", sys.executable, os.path.abspath(__file__)] + sys.argv[1:])


def prepare(directory):
    def run(*argv):
        subprocess.run(argv, check=True, stdin=subprocess.DEVNULL)

    run("ip", "link", "set", "lo", "up")
    run("ip", "route", "add", "local", "11.22.0.0/16", "dev", "lo")
    # connections that are over do not use up the ports of those that come, and no pacing by timers, which a machine's
    # choice of congestion control may bring; the namespace alone is changed
    for name, value in (("ip_local_port_range", "1024 65535"), ("tcp_tw_reuse", "1"),
                        ("tcp_congestion_control", os.environ.get("KZ_BENCH_CC", "reno"))):
        with open(f"/proc/sys/net/ipv4/{name}", "w") as f:
            f.write(value)
    for name, text in (("resolv.conf", "nameserver 127.0.0.1\n"), ("nsswitch.conf", "hosts: dns\npasswd: files\ngroup: files\n")):
        path = os.path.join(directory, name)
        with open(path, "w") as f:
            f.write(text)
        if os.path.exists(os.path.join("/etc", name)):
            run("mount", "--bind", path, os.path.realpath(os.path.join("/etc", name)))


class Side:
    """What the load generator is pointed at.  destination: with one %d where there are many."""

    def __init__(self, name, destination, pid=None, options=()):
        self.name, self.destination, self.pid = name, destination, pid
        self.options = (["-P", str(pid)] if pid else []) + list(options)


def tunnel(side, mode, *options):
    """One run of the load generator; None when it failed, with a note."""
    argv = [TUNNEL, "-n", str(HOSTS)] + side.options + list(options) + [mode, side.destination]
    done = subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120)
    if done.returncode != 0:
        note(f"{side.name}: {' '.join(list(options) + [mode])}: {done.stderr.decode().strip()}")
        return None
    return json.loads(done.stdout)


def start_kz(directory):
    """kz-proxy on a state directory of its own: by TCP with one grant; with many; by its Unix socket; refused."""
    state = os.path.join(directory, "kz")
    settings = {"KZ_DEPLOYMENT_ID": "bench", "KZ_EGRESS_RESOLVERS": "127.0.0.1:53", "KZ_PROXY_TUNNELS_PER_GRANT": "4096"}
    os.makedirs(os.path.join(state, "env"))
    for name, value in settings.items():
        with open(os.path.join(state, "env", name), "w") as f:
            f.write(value + "\n")
    for sub in ("run", "run/proxy", "log", "audit"):
        os.makedirs(os.path.join(state, sub))
    for name, count in (("one", 1), ("many", MANY)):
        with open(os.path.join(directory, name), "w") as f:
            subprocess.run([GRANT, "-m", str(count), state], stdout=f, check=True)
    out = open(os.path.join(directory, "kz.output"), "wb")
    process = subprocess.Popen([os.environ.get("KZ_BENCH_PROXY", os.path.join(BUILD, "bin/kz-proxy")), "-l", "127.0.0.1:3100"], stdin=subprocess.DEVNULL, stdout=out,
                               stderr=out, env={**os.environ, "KZ_STATE": state})
    with open(os.path.join(directory, "one")) as f:
        token = base64.b64decode(f.read().split()[1]).decode().split(":", 1)[1]
    body = token.split(".")[2]
    execution = json.loads(base64.urlsafe_b64decode(body + "=" * (-len(body) % 4))[:-64])["jti"]
    one, many = (["-a", os.path.join(directory, x)] for x in ("one", "many"))
    tcp = ["-p", "127.0.0.1:3100"]
    unix = ["-p", f"unix:{state}/run/proxy/proxy.sock", "-x", execution]
    kz = Side("kz", f"{NAME}:{PORT}", process.pid, tcp + one)
    if not wait_for(kz):
        with open(os.path.join(directory, "kz.output"), errors="replace") as f:
            sys.exit(f"proxy.py: kz-proxy carries no tunnel: {f.read()[-500:]}")
    return kz, [Side("kz.uncached", f"{NAME}:{PORT}", process.pid, tcp + many),
                Side("kz.unix", f"{NAME}:{PORT}", process.pid, unix + one),
                Side("kz.refused", f"{NAME}:25", process.pid, tcp + one + ["-e", "403"])]


def start_peers(directory):
    """Those that are installed and carry a tunnel."""
    sides, connecting = [], []
    for i, kind in enumerate(peers.ALL):
        peer = kind(directory, 3200 + i, (ADDRESS % 1, PORT))
        if not peer.program_path():
            note(f"{peer.name}: not installed")
            say(f"proxy.side.{peer.name}", value=None, goal=None, note="not installed")
            continue
        peer.start()
        here = f"127.0.0.1:{peer.port}"
        side = Side(peer.name, f"{NAME}:{PORT}", peer.process.pid, ["-p", here]) if peer.connects else \
            Side(peer.name, here, peer.process.pid)
        if wait_for(side):
            sides.append(side)
            connecting += [side] if peer.connects else []
        else:
            note(f"{peer.name}: carries no tunnel: {peer.complaint()}")
            say(f"proxy.side.{peer.name}", value=None, goal=None, note="does not start here")
    return sides, connecting


def wait_for(side, seconds=20):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        argv = [TUNNEL] + side.options + ["-c", "1", "-t", "20", "-w", "0", "rate", side.destination.replace("%d", "1")]
        if subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0:
            return True
        time.sleep(0.2)
    return False


class Figures:
    """What the rounds gave: of a side, a list of figures by name, None where a run failed."""

    def __init__(self):
        self.all = {}

    def add(self, side, what, value):
        self.all.setdefault((side, what), []).append(value)

    def median(self, side, what):
        values = [x for x in self.all.get((side, what), []) if x is not None]
        return statistics.median(values) if values else None

    def ratio(self, side, other, what):
        """The median of the ratios within rounds."""
        pairs = zip(self.all.get((side, what), []), self.all.get((other, what), []))
        ratios = [a / b for a, b in pairs if a is not None and b]
        return round(statistics.median(ratios), 3) if ratios else None

    def best(self, sides, what):
        found = [(self.median(s.name, what), s.name) for s in sides if self.median(s.name, what) is not None]
        return max(found)[1] if found else None


def measure(sides, variants, rounds):
    f = Figures()
    for side in sides:  # what a hundred tunnels took at first, caches and all, is not growth
        if side.pid:
            few, many = (tunnel(side, "idle", "-c", str(n), "-t", "300") for n in (IDLE // 10, IDLE))
            f.add(side.name, "rss_kib", few and few["held_rss_kib"])
            f.add(side.name, "idle_bytes", few and many and
                  (many["held_private_kib"] - few["held_private_kib"]) * 1024 / (IDLE - IDLE // 10))
    for _ in range(rounds):
        for side in sides + variants:
            r = tunnel(side, "rate", "-c", str(CLIENTS), "-t", str(RATE_MS))
            f.add(side.name, "rate", r and r["per_second"])
            f.add(side.name, "cpu_us", r and r.get("cpu_us_each"))
            f.add(side.name, "p99_us", r and r["echo_us"]["p99"])
        for side in sides:
            r = tunnel(side, "rate", "-c", "1", "-t", "500")
            f.add(side.name, "one_us", r and r["echo_us"]["p50"])
        for count in TUNNELS:
            for side in sides:
                r = tunnel(side, "bulk", "-c", str(count), "-t", str(BULK_MS))
                f.add(side.name, f"gbit_{count}", r and r["gbit_per_second"])
                f.add(side.name, f"gb_s_{count}", r and r.get("cpu_s_each_gb"))
    return f


def shown(x, digits=2):
    return None if x is None else round(x, digits)


def report_kz(f, connecting):
    best = f.best(connecting, "rate")
    us, squid_us = f.median("kz", "cpu_us"), f.median("squid", "cpu_us")
    say("proxy.rate", ratio=f.ratio("kz", "direct", "rate"), goal=0.6, better="more", kz_per_s=shown(f.median("kz", "rate"), 0),
        direct_per_s=shown(f.median("direct", "rate"), 0))
    say("proxy.rate_of_best", ratio=best and f.ratio("kz", best, "rate"), goal=1.5, better="more", best=best,
        best_per_s=best and shown(f.median(best, "rate"), 0))
    say("proxy.connect_cpu", ratio=f.ratio("kz", "squid", "cpu_us"), goal=0.5, kz_us=shown(us, 1), squid_us=shown(squid_us, 1))
    say("proxy.connect_us", value=shown(us, 1), unit="us", goal=90)
    say("proxy.connect_p99", ratio=f.ratio("kz", "direct", "p99_us"), goal=3, kz_us=f.median("kz", "p99_us"),
        direct_us=f.median("direct", "p99_us"))
    for count in TUNNELS:
        goal = None if count == 512 else 0.35
        say(f"proxy.gb_cpu_{count}", ratio=f.ratio("kz", "squid", f"gb_s_{count}"), goal=goal,
            kz_s=shown(f.median("kz", f"gb_s_{count}"), 3), squid_s=shown(f.median("squid", f"gb_s_{count}"), 3))
    say("proxy.gb_s", value=shown(f.median("kz", "gb_s_1"), 3), unit="s a GB", goal=0.18)
    for count, goal in zip(TUNNELS, (0.8, 0.75, None)):
        say(f"proxy.bulk_{count}", ratio=f.ratio("kz", "direct", f"gbit_{count}"), goal=goal, better="more",
            kz_gbit=shown(f.median("kz", f"gbit_{count}")), direct_gbit=shown(f.median("direct", f"gbit_{count}")))
    rss, each = f.median("kz", "rss_kib"), f.median("kz", "idle_bytes")
    say("proxy.memory", value=rss and shown(rss / 1024, 1), unit="MiB", goal=16)
    say("proxy.idle", value=each and shown(each / 1024, 2), unit="KiB a tunnel", goal=3, tunnels=IDLE)
    uncached, refused = f.median("kz.uncached", "cpu_us"), f.median("kz.refused", "cpu_us")
    say("proxy.uncached", value=us and uncached and shown(uncached - us, 1), unit="us more", goal=None, grants=MANY,
        per_s=shown(f.median("kz.uncached", "rate"), 0))
    say("proxy.refused", value=shown(refused, 1), unit="us", goal=None, per_s=shown(f.median("kz.refused", "rate"), 0))
    say("proxy.unix", ratio=f.ratio("kz.unix", "kz", "rate"), goal=None, cpu_us=shown(f.median("kz.unix", "cpu_us"), 1))


def report_sides(f, sides):
    for s in sides:
        fields = {name: shown(f.median(s.name, name), 3) for name in
                  ["cpu_us", "p99_us", "one_us"] + [f"gbit_{n}" for n in TUNNELS] + [f"gb_s_{n}" for n in TUNNELS] +
                  ["rss_kib", "idle_bytes"]}
        say(f"proxy.side.{s.name}", value=shown(f.median(s.name, "rate"), 0), unit="a second", goal=None,
            **{k: v for k, v in fields.items() if v is not None})


def main():
    if "KZ_BENCH_INSIDE" not in os.environ:
        enter()
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    with tempfile.TemporaryDirectory(prefix="kzb.", dir="/tmp") as directory:
        os.chmod(directory, 0o755)
        prepare(directory)
        origin = subprocess.Popen([ORIGIN, "-n", "127.0.0.1:53", "-b", ADDRESS % 0, str(PORT)], stdout=subprocess.PIPE)
        origin.stdout.readline()
        kz, variants = start_kz(directory)
        others, connecting = start_peers(directory)
        sides = [Side("direct", f"{ADDRESS}:{PORT}"), kz] + others
        f = measure(sides, variants, rounds)
        report_kz(f, connecting)
        report_sides(f, sides)


if __name__ == "__main__":
    main()
