#!/usr/bin/env python3
"""notebook.py: forty cells of a data analysis, each by kz-run -k, against one interpreter that lives all along.

Where the rules promise it (docs/kernels.md) both print the same; what they do not promise is lost by name.  Every
second cell runs while another lease is held, so that it gets another worker.  Prints one line for each difference.
Environment: KZ_BIN, KZ_STATE.  Exit: 0 none, 1 some."""
import ast
import contextlib
import io
import json
import os
import subprocess
import sys
import tempfile

# (text, names that are lost after it, mark): mark "killed": a bound ends it, so the other interpreter never sees it;
# "differs": what is printed is not promised
CELLS = [
    ("import math, os, sys, json, re\nimport xml.etree.ElementTree as ET\nfrom collections import Counter, defaultdict, namedtuple, deque\nfrom datetime import date, timedelta\nfrom pathlib import Path", [], ""),
    ("import numpy as np\nimport pandas as pd\nimport matplotlib\nmatplotlib.use('Agg')\nimport matplotlib.pyplot as plt\nnp.__name__, pd.__name__", [], ""),
    ("frame = pd.DataFrame({'day': pd.date_range('2024-01-01', periods=200), 'city': ['a', 'b', 'c', 'd'] * 50, 'sold': np.arange(200) % 17})\nframe.shape", [], ""),
    ("frame.groupby('city').sold.sum()", [], ""),
    ("def share(column, of=100):\n    'part of all'\n    return (column / column.sum() * of).round(2)\nshare(frame.groupby('city').sold.sum())", [], ""),
    ("totals = frame.groupby('city', as_index=False).agg(sold=('sold', 'sum'))\nbest = totals.loc[totals.sold.idxmax(), 'city']\nbest", [], ""),
    ("RATE = 1.5\ndef priced(n):\n    return n * RATE\npriced(10)", [], ""),
    ("RATE = 2\npriced(10)", [], ""),
    ("from dataclasses import dataclass, field\n@dataclass(order=True)\nclass Order:\n    city: str\n    count: int = 0\n    tags: list = field(default_factory=list)\norders = [Order('a', 3), Order('b', 1, ['x'])]\norders", [], ""),
    ("orders[0].tags.append('y')\nsorted(orders, key=lambda o: o.count), Order('c') == Order('c')", [], ""),
    ("class Shop:\n    opened = 0\n    def __init__(self, name):\n        self.name, self.stock = name, {}\n        Shop.opened += 1\n    def put(self, what, n=1):\n        self.stock[what] = self.stock.get(what, 0) + n\n        return self\nclass Chain(Shop):\n    def put(self, what, n=1):\n        return super().put(what.upper(), n)\nshop = Chain('x').put('tea', 2)\nshop.stock", [], ""),
    ("Chain('y'); shop.put('tea')\nShop.opened, shop.stock, isinstance(shop, Shop)", [], ""),
    ("from enum import Enum\nclass Size(Enum):\n    S = 1\n    L = 2\nsizes = {Size.S: 'small'}\nsizes[Size.S], Size(2) is Size.L", [], ""),
    ("sizes[Size.L] = 'large'\nsizes, list(Size)", [], ""),
    ("square = lambda v: v * v\ntable = {'sq': square, 'inc': lambda v: v + 1}\n[f(3) for f in table.values()]", [], ""),
    ("table['sq'](5), table['sq'] is square", [], ""),
    ("def counter(step):\n    n = 0\n    def up():\n        nonlocal n\n        n += step\n        return n\n    return up, lambda: n\nup, now = counter(5)\nup(), now()", [], ""),
    ("up(), up(), now()", [], ""),
    ("a = [1, 2, 3]\nb = a\nheld = {'a': a, 'more': [a, a]}\nb.append(4)\na", [], ""),
    ("held['more'][0].append(5)\na, b is a, held['more'][1] is b", [], ""),
    ("tree = {'name': 'root', 'kids': []}\ntree['kids'].append({'name': 'leaf', 'up': tree})\ntree['kids'][0]['up'] is tree", [], ""),
    ("tree['kids'][0]['up']['name'], tree", [], ""),
    ("grid = np.arange(12).reshape(3, 4)\nmask = grid % 2 == 0\ngrid[mask].sum(), grid.dtype", [], ""),
    ("grid = grid.astype('float32') / 3\ngrid.mean(axis=0), mask.sum()", [], ""),
    ("figure, axes = plt.subplots()\nline, = axes.plot([1, 2, 3], [2, 4, 9], label='x')\nlen(axes.lines)", [], ""),
    ("figure.axes[0].set_title('kept')\nfigure.axes[0].get_title(), len(figure.axes[0].lines)", [], ""),
    ("figure.savefig('plot.png')\nPath('plot.png').read_bytes()[:4]", [], ""),
    ("numbers = (n * n for n in range(5))\nnext(numbers)", ["numbers"], ""),
    ("log = open('log.txt', 'w')\nlog.write('line')", ["log"], ""),
    ("import threading\nlock = threading.Lock()\nworker = threading.Thread(target=lambda: None)\nworker.start(); worker.join()\nqueue = deque([1, 2], maxlen=3)\nqueue", ["lock", "worker"], ""),
    ("queue.append(3); queue.append(4)\nqueue, Counter('banana').most_common(1)", [], ""),
    ("Pair = namedtuple('Pair', 'left right')\npair = Pair(1, [2])\npair._replace(left=9), isinstance(pair, Pair)", [], ""),
    ("Shop = 'redefined'\ntype(shop).__name__, type(shop).__mro__[1].__name__, pair.right", [], ""),
    ("del RATE\ntry:\n    priced(1)\nexcept NameError as e:\n    print(e)\n'RATE' in globals()", [], ""),
    ("half = 1\nstill = [half]\n1 / 0\nhalf = 2", [], ""),
    ("half, still", [], ""),
    ("half = 3\nstill.append('never')\nwhile True:\n    pass", None, "killed"),
    ("half, still, sorted(set(frame.city))", [], ""),
    ("when = date(2024, 2, 28)\nsteps = [when + timedelta(days=d) for d in range(3)]\nwords = defaultdict(list)\nfor w in 'one two three'.split():\n    words[len(w)].append(w)\nsteps, dict(words)", [], ""),
    ("words[3].append('six')\nsteps[-1].isoformat(), words, frame.sold.sum(), share(totals.sold).tolist(), square(7), next(iter(held)), [o.city for o in orders]", [], ""),
]


class Alone:
    """The interpreter that lives all along."""

    def __init__(self):
        import types

        self.main = types.ModuleType("__main__")
        sys.modules["__main__"] = self.main

    def run(self, text):
        tree = ast.parse(text)
        last = None
        if isinstance(tree.body[-1], ast.Expr):
            last = ast.Expression(tree.body.pop().value)
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            try:
                exec(compile(tree, "<cell>", "exec", dont_inherit=True), self.main.__dict__)
                value = last and eval(compile(last, "<cell>", "eval", dont_inherit=True), self.main.__dict__)
                if value is not None:
                    print(repr(value))
            except Exception as e:
                print(type(e).__name__)
        return out.getvalue()


def cell(text, is_killed, is_held, language="python"):
    kz = os.environ["KZ_BIN"]
    command = [f"{kz}/kz-run", "-j", "-k", "-A", "a", "-C", "notebook", "-l", language]
    command += ["-t", "4000"] if is_killed else []
    command += ["-c", text]
    env = {k: v for k, v in os.environ.items() if not k.startswith("KZ_LEASE") and k != "KZ_FENCE"}
    lease = None
    if is_held:
        p = subprocess.run([f"{kz}/kz-lease", "acquire", "-A", "other", "-C", "other", "-j"], stdout=subprocess.PIPE, check=True, env=env)
        lease = json.loads(p.stdout)
    try:
        p = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, env=env)
    finally:
        if lease:
            subprocess.run([f"{kz}/kz-lease", "release", lease["lease"]], env={**env, "KZ_LEASE_TOKEN": lease["token"]}, check=True, stdout=subprocess.DEVNULL)
    lines = [json.loads(x) for x in p.stdout.split("\n") if x]
    out = "".join(x.get("text", "") for x in lines if x["type"] == "output" and x["stream"] == "stdout")
    err = "".join(x.get("text", "") for x in lines if x["type"] == "output" and x["stream"] == "stderr")
    return out, err, lines[-1]


def main():
    os.chdir(tempfile.mkdtemp())
    alone, bad, before = Alone(), 0, None
    for i, (text, lost, mark) in enumerate(CELLS, 1):
        out, err, record = cell(text, mark == "killed", i % 2 == 0)
        kernel = record["kernel"] or {}
        got = [x["name"] for x in kernel.get("lost", [])]
        if mark == "killed":
            same = record["outcome"] == "bounded" and kernel.get("status") == "kept_previous" and kernel.get("generation") == before
            want = ""
        else:
            want = alone.run(text)
            if "ZeroDivisionError" in want:
                out += err.strip().splitlines()[-1].split(":")[0] + "\n"
            same = out == want and got == lost and kernel.get("status") == "saved"
            before = kernel.get("generation")
        if not same:
            bad = 1
            print(f"cell {i}: {text!r}\n got {out!r}\nwant {want!r}\nlost {got}, want {lost}\n{err}\n{json.dumps(record)[:1500]}")
    sys.exit(bad)


if __name__ == "__main__":
    main()
