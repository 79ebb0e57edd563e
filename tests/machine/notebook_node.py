#!/usr/bin/env python3
"""notebook_node.py: cells of Node by kz-run -k, against one process of node that lives all along.

Before each cell both print the whole of `state`: what JSON keeps exactly is the same in both (docs/kernels.md), and what it
does not is told by its path after the cell that made it, when the long-lived process loses that key as well.  Every second
cell runs while another lease is held, so that it gets another worker.  Prints one line for each difference.
Environment: KZ_BIN, KZ_STATE.  Exit: 0 none, 1 some."""
import json
import subprocess
import sys

from notebook import cell

# (text, paths that are lost after it, mark): mark "killed": a bound ends it; "refused": its state is no state; of neither
# does the other process see anything
CELLS = [
    ("state.n = 0.1 + 0.2; state.most = Number.MAX_VALUE; state.least = 5e-324; state.whole = -9007199254740991; state.none = null; state.yes = true", [], ""),
    ("state.text = 'quote \" back \\\\ line\\n\\u2028 \\u0000 \\u{1f600} \\u00e9'; state.empty = ''; state.long = 'x'.repeat(5000)", [], ""),
    ("const size = 3; state.grid = Array.from({ length: size }, (_, i) => Array.from({ length: size }, (_, j) => i * size + j)); console.log(state.grid)", [], ""),
    ("const size = 4; state.grid[1][1] = 'changed'; console.log(state.grid.push([size]))", [], ""),
    ("state.tree = { name: 'root', kids: [{ name: 'leaf', kids: [], '': 'no name', 'a.b': { 7: 'seven' } }] }; state['odd key'] = { constructor: 1, hasOwnProperty: 2 }", [], ""),
    ("state.tree.kids[0].kids.push({ name: 'twig' }); console.log(state.tree.kids[0].kids.length, Object.keys(state.tree))", [], ""),
    ("state.when = new Date(0); state.seen = new Set([1]); state.by = new Map([['a', 1]]); state.kept = 1", ["state.when", "state.seen", "state.by"], ""),
    ("state.deep = { list: [1, { at: new Date(0) }], kept: 1 }", ["state.deep.list[1].at"], ""),
    ("class Point { constructor() { this.x = 1 } }; state.point = new Point(); state.points = [new Point()]; state.plain = { ...new Point() }; console.log(state.point.x)", ["state.point", "state.points[0]"], ""),
    ("state.twice = (x) => x * 2; state.tools = { run() { return 1 } }; console.log(state.twice(2))", ["state.twice", "state.tools.run"], ""),
    ("state.gone = undefined; state.inner = { gone: undefined }; state.nan = NaN; state.far = [1, -Infinity]; state.minus = -0", ["state.gone", "state.inner.gone", "state.nan", "state.far[1]", "state.minus"], ""),
    ("state.big = 10n; state.wallet = { coins: [1n] }; state.sign = Symbol('s'); state.bytes = Buffer.from('x')", ["state.big", "state.wallet.coins[0]", "state.sign", "state.bytes"], ""),
    ("const ring = { name: 'ring' }; ring.next = { back: ring }; state.ring = ring; console.log(state.ring.next.back.name)", ["state.ring.next.back"], ""),
    ("state.lazy = { get value() { return 1 } }; state.holes = [1, , 3]; Object.defineProperty(state, 'own', { get: () => 2, enumerable: true, configurable: true })", ["state.lazy.value", "state.holes", "state.own"], ""),
    ("state.n = ['now', 'a', 'list']; state.text = { now: 'an object' }", [], ""),
    ("delete state.long; delete state.tree.kids[0]['']; state.grid.length = 2; state.grid.splice(0, 1); console.log('long' in state)", [], ""),
    ("state.half = 1; state.grid.push('half'); throw new RangeError('half way'); state.half = 2", [], ""),
    ("console.log(state.half)", [], ""),
    ("state.half = 3; state.grid.push('never'); delete state.kept; for (;;) {}", None, "killed"),
    ("console.log(state.half + state.grid.length)", [], ""),
    ("state.left = 1; state = [1, 2]", ["state"], "refused"),
    ("state.half += await new Promise((done) => setTimeout(done, 5, 10)); console.log(state.half)", [], ""),
    ("await Promise.all([1, 2, 3].map(async (i) => { state['p' + i] = i })); null.field", [], ""),
    ("state = { fresh: Object.keys(state).sort() }; console.log(state.fresh.length)", [], ""),
    ("console.log(state.fresh.pop())", [], ""),
]
SHOW = "console.log(require('node:util').inspect(state, { depth: 50, maxStringLength: 100, maxArrayLength: 500 }));"

# One line of JSON a cell in, one out.
ALONE = r"""
const vm = require('node:vm'), say = process.stdout.write.bind(process.stdout);
globalThis.state = {}, globalThis.require = require;
async function run({ text, lost }) {
	let out = '', error = '';
	process.stdout.write = (t) => { out += t; return true };
	try {
		await vm.runInThisContext(`(async () => { ${text} })()`);
	} catch (e) {
		error = `${e.name}: ${e.message}`;
	}
	process.stdout.write = say;
	for (const path of lost) delete globalThis.state[path.split(/[.[]/)[1]];
	say(JSON.stringify([out, error, JSON.stringify(globalThis.state)]) + '\n');
}
let before = Promise.resolve();
require('node:readline').createInterface({ input: process.stdin }).on('line', (l) => { before = before.then(() => run(JSON.parse(l))) });
"""


def main():
    alone = subprocess.Popen(["/usr/bin/node", "-e", ALONE], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    bad, before, state_before = 0, 0, "{}"
    for i, (text, lost, mark) in enumerate(CELLS, 1):
        out, err, record = cell(f"{SHOW}{text};;", mark == "killed", i % 2 == 0, "node")
        kernel = record["kernel"] or {}
        got = [x["name"] for x in kernel.get("lost", [])]
        alone.stdin.write(json.dumps({"text": SHOW + ("" if mark else text), "lost": [] if mark else lost}) + "\n")
        alone.stdin.flush()
        want, error, state = json.loads(alone.stdout.readline())
        if mark == "killed":
            same = record["outcome"] == "bounded" and kernel.get("status") == "kept_previous" and kernel.get("generation") == before
        elif mark == "refused":
            same = kernel.get("status") == "refused" and kernel.get("generation") == before and got == lost
        else:
            same = kernel.get("status") == "saved" and kernel.get("generation") == before + (state != state_before) and got == lost
            same = same and (err.splitlines() or [""])[0] == error and all(x["reason"] for x in kernel["lost"])
        if out != want or not same:
            bad = 1
            print(f"cell {i}: {text!r}\n got {out!r}\nwant {want!r} {error}\nlost {got}, want {lost}\n{err}\n{json.dumps(record)[:1500]}")
        before, state_before = kernel.get("generation"), state
    alone.stdin.close()
    alone.wait()
    sys.exit(bad)


if __name__ == "__main__":
    main()
