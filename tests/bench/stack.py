#!/usr/bin/env python3
"""What a whole stack costs, as ratios measured side by side on the stack that KZ_STATE names (see scripts/bench).

usage: stack.py [ROUNDS [WARM]]

Prints JSON lines {"v":1,"type":"bench","row":...}:
  run.over_bare      p50 of kz-run of an empty Python program, until it has exited, minus p50 of python3 running it (ms)
  run.over_bwrap     p50 of kz-run / p50 of bwrap --unshare-all python3, same program
  run.approved       p50 of the same with an approval (policy, proxy's health, grant, forwarder) minus p50 without (ms)
  reset.over_create  p50 of release until published / p50 of create until ready, by Valkey's clock, from the audit store;
                     each tenant leaves 1,000 files, and 20 processes.  The end of the run kills the processes, the
                     reset wipes the files, so the next row counts both
  reset.with_end     p50 of all of kz-run but the program itself (its exit minus the record's wall time) / p50 of create
  snapshot.over_tar  (p50 of kz-run -C that restores 1,000 files, 8 MiB as they are stored, changes one and saves them all,
                     minus p50 of the same program in an empty workspace that is not kept) / p50 of tar to a pipe and from one
  projection.over_cp p50 of kz-run --scope with 20 files, 8 MiB, minus p50 of the same program without (ms) / p50 of cp of
                     the same files into an empty directory
  kernel.empty_cell  p50 of kz-run -k of an empty cell (its state restored and saved) minus p50 of kz-run -C of an empty program (ms)
  kernel.restore_N   the same of a cell that uses N variables of 100 bytes each: kernel.restore_10, _1000; and
  kernel.restore_mib one variable of 1 MiB
  burst.wait         100 runs at once: p99 of waiting for a worker, from enqueue to serve by Valkey's clock, from the
                     audit store / (mean run time / pool size)
  memory.services    resident memory of the services that hold no data (kz-controller, kz-proxy, kz-gateway), together (MiB)
  memory.worker      memory of an idle warm worker's cgroup (MiB)
  memory.host        memory of the machine per worker with WARM warm ones (MiB)
Nothing is asserted, except that what was to be measured happened: every run succeeds.
"""
import glob
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

ROUNDS = int(sys.argv[1]) if len(sys.argv) > 1 else 40
WARM = int(sys.argv[2]) if len(sys.argv) > 2 else 500
STATE = os.environ["KZ_STATE"]
DEVNULL = subprocess.DEVNULL


def say(row, **fields):
    print(json.dumps({"v": 1, "type": "bench", "row": row, **fields}), flush=True)


def timed(argv):
    begin = time.perf_counter()
    done = subprocess.run(argv, stdin=DEVNULL, stdout=DEVNULL, stderr=subprocess.PIPE)
    if done.returncode != 0:
        sys.exit(f"stack.py: {' '.join(argv)} ended with {done.returncode}: {done.stderr.decode()[-300:]}")
    return (time.perf_counter() - begin) * 1000


def status():
    out = subprocess.run(["kz", "status", "-j"], stdout=subprocess.PIPE, stderr=DEVNULL)
    return json.loads(out.stdout)


def wait_for(what, seconds=90):
    end = time.monotonic() + seconds
    while not what():
        if time.monotonic() > end:
            sys.exit("stack.py: the pool does not settle: " + json.dumps(status()))
        time.sleep(0.1)


def warm(n):
    return lambda: status()["workers"]["warm"] >= n and status()["workers"]["creating"] == 0


def configure(**settings):
    subprocess.run(["kz", "config", "set"] + [f"{k}={v}" for k, v in settings.items()], check=True, stderr=DEVNULL)


def bench_run(program):
    # one of each in turn, so that the machine's mood hits all alike
    bare, wrapped, leased, approved = [], [], [], []
    root = ["bwrap", "--unshare-all", "--ro-bind", "/usr", "/usr", "--symlink", "usr/lib", "/lib", "--symlink", "usr/lib64",
            "/lib64", "--symlink", "usr/bin", "/bin", "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp",
            "--ro-bind", program, "/program.py"]
    for _ in range(ROUNDS + 3):
        bare.append(timed(["/usr/bin/python3", program]))
        wrapped.append(timed(root + ["/usr/bin/python3", "/program.py"]))
        leased.append(timed(["kz-run", program]))
        approved.append(timed(["kz-run", "--approve", "bench", program]))
    b, w, k, a = (statistics.median(x[3:]) for x in (bare, wrapped, leased, approved))
    say("run.over_bare", bare_ms=round(b, 2), kz_ms=round(k, 2), value=round(k - b, 2), unit="ms", goal=10)
    say("run.over_bwrap", bwrap_ms=round(w, 2), ratio=round(k / w, 2), goal=1.3)
    say("run.approved", kz_ms=round(k, 2), approved_ms=round(a, 2), value=round(a - k, 2), unit="ms", goal=None)


LITTER = r"""
import os, time
for i in range(1000):
    open(f"f{i}", "w").write("x")
for i in range(20):
    if os.fork() == 0:
        os.setsid()
        time.sleep(60)
        os._exit(0)
"""


def spans(begin, end, machine="worker"):
    """Durations between two events of one worker (or ticket), by Valkey's clock."""
    out = subprocess.run(["kz-audit", "list", "-j", "-k", "transition"], stdout=subprocess.PIPE, check=True)
    open_at, found = {}, []
    for line in out.stdout.splitlines():
        t = json.loads(line)
        if t.get("machine") != machine:
            continue
        if t["event"] == begin:
            open_at[t["subject"]] = t["valkey_ms"]
        elif t["event"] == end and t["subject"] in open_at:
            found.append(t["valkey_ms"] - open_at.pop(t["subject"]))
    return found


def around_program(code):
    """All of a run but its program, in milliseconds."""
    with tempfile.TemporaryFile() as f:
        begin = time.perf_counter()
        subprocess.run(["kz-run", "--record", str(f.fileno()), "-c", code], stdin=DEVNULL, stdout=DEVNULL, check=True,
                       pass_fds=[f.fileno()])
        all_ms = (time.perf_counter() - begin) * 1000
        f.seek(0)
        record = json.loads(f.read())
    if record["killed_count"] != 20:
        sys.exit(f"stack.py: {record['killed_count']} processes were left, not 20")
    return all_ms - record["wall_ms"]


def bench_reset():
    before = len(spans("release", "publish"))
    ends = []
    for _ in range(max(ROUNDS // 2, 10)):
        ends.append(around_program(LITTER))
        wait_for(warm(1))
    wait_for(lambda: status()["outbox"] == 0)
    resets, creates = spans("release", "publish")[before:], spans("create", "ready")
    if not resets or not creates:
        sys.exit("stack.py: no reset was published")
    r, c = statistics.median(resets), statistics.median(creates)
    say("reset.over_create", reset_ms=r, create_ms=c, resets=len(resets), creates=len(creates), ratio=round(r / c, 3), goal=0.2)
    e = statistics.median(ends)
    say("reset.with_end", end_and_reset_ms=round(e, 1), create_ms=c, files=1000, processes=20, ratio=round(e / c, 3), goal=None)


def bench_burst():
    size = 4
    configure(SANDBOX_POOL_MAX_ALLOCATED=size, SANDBOX_WARM_POOL_MIN=size, SANDBOX_ACQUIRE_WAIT_SECONDS=120)
    wait_for(warm(size))
    code = "import time; time.sleep(0.2)"
    wait_for(lambda: status()["outbox"] == 0)
    before = len(spans("enqueue", "serve", "ticket"))
    alone = statistics.median(timed(["kz-run", "-c", code]) for _ in range(5))
    begin = time.perf_counter()
    jobs = [subprocess.Popen(["kz-run", "-A", f"actor-{i % 50}", "-c", code], stdin=DEVNULL, stdout=DEVNULL,
                             stderr=subprocess.PIPE) for i in range(100)]
    ends, failed = {}, 0
    while len(ends) < len(jobs):
        for i, j in enumerate(jobs):
            if i not in ends and j.poll() is not None:
                ends[i] = (time.perf_counter() - begin) * 1000
                failed += j.returncode != 0
        time.sleep(0.005)
    if failed:
        sys.exit(f"stack.py: {failed} of 100 runs failed: {[j.stderr.read().decode()[-200:] for j in jobs if j.returncode][:2]}")
    wait_for(lambda: status()["outbox"] == 0)
    queued = sorted(spans("enqueue", "serve", "ticket")[before:])
    # who found a worker free never had a ticket
    waits = [0] * (100 - len(queued)) + queued
    p99 = waits[98]
    say("burst.wait", runs=100, queued=len(queued), failed=0, pool=size, mean_run_ms=round(alone, 1), p99_wait_ms=round(p99, 1),
        ratio=round(p99 / alone * size, 1), goal=None)


def meminfo():
    """Memory that is free for others: the median of two seconds, because others come and go."""
    seen = []
    for _ in range(20):
        with open("/proc/meminfo") as f:
            seen.append(next(int(x.split()[1]) for x in f if x.startswith("MemAvailable")) / 1024)
        time.sleep(0.1)
    return statistics.median(seen)


def bench_memory():
    configure(SANDBOX_WARM_POOL_MIN=1, SANDBOX_POOL_TARGET_IDLE=0, SANDBOX_BURST_IDLE_TTL_SECONDS=1,
              SANDBOX_POOL_MAX_ALLOCATED=WARM + 1, SANDBOX_MAX_CONCURRENT_CREATES=8)
    wait_for(lambda: status()["workers"] == {"creating": 0, "warm": 1, "leased": 0, "resetting": 0, "retiring": 0})
    rss = {}
    for service in status()["services"]:
        if service["service"] in ("kz-controller", "kz-proxy", "kz-gateway"):
            # the lock's keeper and the service are one process: s6-setlock becomes it
            with open(f"/proc/{service['pid']}/status") as f:
                rss[service["service"]] = next(int(x.split()[1]) for x in f if x.startswith("VmRSS")) / 1024
    say("memory.services", value=round(sum(rss.values()), 1), unit="MiB", goal=30,
        **{name.replace("-", "_") + "_mib": round(x, 1) for name, x in rss.items()})
    before = meminfo()
    configure(SANDBOX_WARM_POOL_MIN=WARM, SANDBOX_BURST_IDLE_TTL_SECONDS=300)
    wait_for(warm(WARM), 300)
    after = meminfo()
    digest = subprocess.run(["sha256sum"], input=STATE.encode(), stdout=subprocess.PIPE, check=True).stdout.decode()[:8]
    used = {}
    for path in glob.glob("/sys/fs/cgroup/**/memory.usage_in_bytes", recursive=True) + \
            glob.glob("/sys/fs/cgroup/**/memory.current", recursive=True):
        unit = next((p for p in path.split("/") if p.startswith(f"kz-{digest}.")), None)
        if unit and path.split("/")[-2] == unit:
            with open(path) as f:
                used[unit] = int(f.read()) / 2**20
    if not used:
        sys.exit("stack.py: no worker's cgroup was found")
    say("memory.worker", workers=len(used), value=round(statistics.median(used.values()), 2), unit="MiB", goal=4)
    each = (before - after) / (WARM - 1)
    # less than nothing means that others gave memory back meanwhile: no figure is better than that one
    say("memory.host", workers=WARM, value=round(each, 2) if each > 0 else None, unit="MiB", goal=8,
        note=None if each > 0 else "others freed memory meanwhile: measure on a quiet machine")


FILES = 1000
FILE_BYTES = 6656  # 8 MiB with the heads that a tar gives each


def bench_snapshot():
    fill = f"import os\nfor i in range({FILES}): open('f%d' % i, 'wb').write(os.urandom({FILE_BYTES}))"
    touch = "open('f0', 'a+b').truncate(0); open('f0', 'wb').write(__import__('os').urandom(64))"
    timed(["kz-run", "-A", "bench", "-C", "snapshot", "-c", fill])
    kept, bare, tar = [], [], []
    with tempfile.TemporaryDirectory() as d:
        src, dst = os.path.join(d, "src"), os.path.join(d, "dst")
        os.mkdir(src)
        for i in range(FILES):
            with open(os.path.join(src, f"f{i}"), "wb") as f:
                f.write(os.urandom(FILE_BYTES))
        both = f"mkdir {dst} && tar -C {src} -cf - . | cat >{d}/all.tar && cat {d}/all.tar | tar -C {dst} -xpf -"
        for _ in range(max(ROUNDS // 2, 10) + 3):
            kept.append(timed(["kz-run", "-A", "bench", "-C", "snapshot", "-c", touch]))
            bare.append(timed(["kz-run", "-A", "bench", "-c", touch]))
            tar.append(timed(["sh", "-c", both]))
            subprocess.run(["rm", "-rf", dst, f"{d}/all.tar"], check=True)
    k, b, t = (statistics.median(x[3:]) for x in (kept, bare, tar))
    say("snapshot.over_tar", kept_ms=round(k, 2), bare_ms=round(b, 2), tar_ms=round(t, 2), ratio=round((k - b) / t, 2), goal=1.5)


PROJECTED = 20  # files, 8 MiB together: both bounds of a projection


def bench_projection():
    tools = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tool")
    with tempfile.TemporaryDirectory() as d:
        seed, keys, docs, to = (os.path.join(d, x) for x in ("seed", "keys", "documents", "to"))
        os.mkdir(docs)
        with open(seed, "w") as f:
            f.write(os.urandom(32).hex())
        with open(keys, "wb") as f:
            f.write(subprocess.run([sys.executable, f"{tools}/v4public.py", "public", seed], stdout=subprocess.PIPE, check=True).stdout)
        size, more = divmod(8 << 20, PROJECTED)
        spec = json.dumps({"actor": "bench", "conversation": "projection", "roster": ["bench"], "manifest": [
            {"filename": f"f{i}", "content": chr(97 + i) * (size + (i < more))} for i in range(PROJECTED)]}).encode()
        scope, live = (os.path.join(d, x) for x in ("scope.json", "live.json"))
        for path, option in ((live, ["--live"]), (scope, [])):
            with open(path, "wb") as f:
                subprocess.run([sys.executable, f"{tools}/scope.py", *option, seed, docs], input=spec, stdout=f, check=True)
        configure(KZ_APP_KEYS_FILE=keys)
        run = ["kz-run", "-A", "bench", "-C", "projection"]
        code = ["-c", "pass"]
        scoped = ["--scope", scope, "--documents", docs, "--audience", f"file:{live}"]
        seen = "import os; assert sum(os.stat('/work/shared/' + f).st_size for f in os.listdir('/work/shared')) == 8 << 20"
        timed(run + scoped + ["-c", seen])
        projected, bare, copied = [], [], []
        for _ in range(max(ROUNDS // 2, 10) + 3):
            projected.append(timed(run + scoped + code))
            bare.append(timed(run + code))
            copied.append(timed(["cp", "-r", docs, to]))
            subprocess.run(["rm", "-rf", to], check=True)
    configure(KZ_APP_KEYS_FILE="")
    p, b, c = (statistics.median(x[3:]) for x in (projected, bare, copied))
    say("projection.over_cp", projected_ms=round(p, 2), bare_ms=round(b, 2), cp_ms=round(c, 2), files=PROJECTED,
        value=round(p - b, 2), unit="ms", ratio=round((p - b) / c, 2), goal=None)


def bench_kernel(program):
    """Each cell has its own conversation, so that the state of one is not carried by another."""
    cells = {"empty_cell": ("", "pass"), "restore_10": ("v = {}\nfor i in range(10): globals()[f'v{i}'] = 'x' * 100", "sum(len(globals()[f'v{i}']) for i in range(10))"),
             "restore_1000": ("for i in range(1000): globals()[f'v{i}'] = 'x' * 100", "sum(len(globals()[f'v{i}']) for i in range(1000))"),
             "restore_mib": ("import os\nblob = os.urandom(1 << 20)", "len(blob)")}
    bare, took = [], {name: [] for name in cells}
    for name, (before, _) in cells.items():
        timed(["kz-run", "-k", "-A", "bench", "-C", f"kernel-{name}", "-l", "python", "-c", before])
    for _ in range(max(ROUNDS // 4, 5) + 2):
        bare.append(timed(["kz-run", "-A", "bench", "-C", "kernel-none", program]))
        for name, (_, code) in cells.items():
            took[name].append(timed(["kz-run", "-k", "-A", "bench", "-C", f"kernel-{name}", "-l", "python", "-c", code]))
    b = statistics.median(bare[2:])
    for name in cells:
        k = statistics.median(took[name][2:])
        say(f"kernel.{name}", bare_ms=round(b, 2), cell_ms=round(k, 2), value=round(k - b, 2), unit="ms", goal=None)


def main():
    with tempfile.TemporaryDirectory() as d:
        program = os.path.join(d, "empty.py")
        open(program, "w").close()
        os.chmod(d, 0o755)
        wait_for(warm(2))
        bench_run(program)
        bench_reset()
        bench_snapshot()
        bench_projection()
        bench_kernel(program)
        bench_burst()
        bench_memory()


main()
