// One cell of a persistent Node kernel (docs/kernels.md).
//
//   node kernel.mjs CONFIG CELL [ARG...]
//
// globalThis.state is an object that lasts from cell to cell; nothing else does.  A key of
// it is kept when JSON keeps its value exactly, and is told by its path when not.
// CONFIG is JSON: "space", "channel" (descriptor or null), "value_bytes", "total_bytes", "tools".
// The state is .kz-kernel-node.json; the rename is the commit.
import fs from 'node:fs';
import path from 'node:path';
import vm from 'node:vm';
import crypto from 'node:crypto';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import util from 'node:util';

// Before a cell can change them.
const { stringify, parse } = JSON;
const { openSync, writeSync, readSync, fsyncSync, closeSync, renameSync, unlinkSync, readFileSync, writeFileSync, fstatSync } = fs;
const { isProxy } = util.types;
const { getPrototypeOf, getOwnPropertyDescriptor, setPrototypeOf, defineProperty, entries } = Object;
const { ownKeys } = Reflect;
const { isArray } = Array;
const setTimer = setTimeout, exit = process.exit.bind(process);

const LIST_MAX = 200, TEXT_MAX = 200, DEPTH_MAX = 1000, DRAIN_MS = 250;
const config = parse(process.argv[2]);
const cellPath = process.argv[3];
const space = config.space || '/work/space';
const file = path.join(space, '.kz-kernel-node.json');
const valueBytes = config.value_bytes || 4194304, totalBytes = config.total_bytes || 8388608;
const report = { v: 1, type: 'report', status: 'kept_previous', generation: 0, bytes: 0, restored: 0, lost: [], restore_lost: [], notes: [] };
// What is told is one line of text that any parser of JSON takes: no controls, no half characters.
const short = (s) => {
	const all = String(s).slice(0, 4 * TEXT_MAX).replace(/[\p{C}\s]+/gu, ' '), characters = [...all];
	return characters.length > TEXT_MAX ? characters.slice(0, TEXT_MAX - 1).join('') + '\u2026' : all;
};
const push = (list, x) => { if (list.length < LIST_MAX) list.push(x); };
let hasChannel = config.channel !== null && config.channel !== undefined;
const whatChannelIs = () => { const s = fstatSync(config.channel); return `${s.dev} ${s.ino}`; };
const channelIs = hasChannel ? whatChannelIs() : '';
let reset = false, done = false, status = 0, generation = 0, stored = '{}', isCell = false;

const plainEnv = new Set(['PATH', 'HOME', 'LANG', 'PYTHONPATH', 'NODE_PATH', 'LC_ALL', 'TZ', 'TERM']);
const environment = new Set(), credentials = [];
for (const [k, v] of entries(process.env)) {
	if (plainEnv.has(k)) continue;
	if (v.length >= 8) environment.add(v);
	if (v.length >= 6 && /KEY|TOKEN|SECRET|PASS|CRED|AUTH/i.test(k)) credentials.push(v, ...forms(Buffer.from(v)));
}
const isSecret = (s) => environment.has(s) || credentials.some((c) => s.includes(c));

// A credential as hex, and within base64 at each of its three places.
function forms(value) {
	const all = [value.toString('hex')];
	for (let before = 0; before < 3; before++) {
		const n = Math.floor((before + value.length) / 3) * 3 - before; // that fill whole groups
		const text = Buffer.concat([Buffer.alloc(before, '?'), value.subarray(0, n)]).toString('base64').slice(before ? 4 : 0);
		if (text.length >= 8) all.push(text, text.replaceAll('+', '-').replaceAll('/', '_'));
	}
	return all;
}

// What JSON does not keep exactly is named by its path; out: the reason, or undefined.
function fault(v, at, above) {
	const say = (why) => ({ path: at, why });
	switch (typeof v) {
	case 'string':
		if (isSecret(v)) return say('a value of the environment');
		return undefined;
	case 'boolean': return undefined;
	case 'number':
		if (!Number.isFinite(v)) return say(String(v));
		return Object.is(v, -0) ? say('-0') : undefined;
	case 'object': break;
	default: return say(typeof v);
	}
	if (v === null) return undefined;
	if (isProxy(v)) return say('a Proxy');
	if (above.includes(v)) return say('a cycle');
	if (above.length > DEPTH_MAX) return say('nested too deeply');
	const proto = getPrototypeOf(v);
	if (isArray(v)) {
		if (proto !== Array.prototype) return say('an array of another class');
	} else if (proto !== Object.prototype && proto !== null) {
		return say(`an object of class ${className(v) || '?'}`);
	} else if (proto === null) {
		return say('an object without a prototype');
	}
	if (!Object.isExtensible(v)) return say('a frozen object');
	return members(v, at, [...above, v], say);
}

function members(v, at, above, say) {
	let length = isArray(v) ? v.length : 0;
	for (const key of ownKeys(v)) {
		if (typeof key === 'symbol') return say('a symbol as key');
		if (isArray(v) && key === 'length') continue;
		const p = getOwnPropertyDescriptor(v, key);
		const inner = isArray(v) && /^\d+$/.test(key) ? `${at}[${key}]` : `${at}.${key}`;
		if (!('value' in p)) return { path: inner, why: 'a getter' };
		if (!p.enumerable || !p.writable || !p.configurable) return { path: inner, why: 'a hidden or read-only property' };
		if (isArray(v) && !/^\d+$/.test(key)) return { path: inner, why: 'a named property of an array' };
		if (key === '__proto__') return { path: inner, why: 'the key __proto__' };
		if (isSecret(key)) return { path: `${at}[...]`, why: 'a value of the environment as key' };
		if (key === 'toJSON') return { path: inner, why: 'the key toJSON' };
		if (isArray(v)) length--;
		const f = fault(p.value, inner, above);
		if (f) return f;
	}
	return length ? say('an array with holes') : undefined;
}

// Two keys that share an object would hold two copies after the next restore.
function shared(value, key, owner) {
	if (typeof value !== 'object' || value === null) return undefined;
	const before = owner.get(value);
	if (before !== undefined) return before;
	owner.set(value, key);
	for (const k of ownKeys(value)) {
		const p = getOwnPropertyDescriptor(value, k);
		const r = 'value' in p ? shared(p.value, key, owner) : undefined;
		if (r !== undefined) return r;
	}
	return undefined;
}

function restore() {
	globalThis.state = {};
	let text;
	try {
		text = readFileSync(file, 'utf8');
	} catch (e) {
		if (e.code !== 'ENOENT') damaged(e.message);
		return;
	}
	try {
		const o = parse(text);
		const body = stringify(o.state);
		if (o.v !== 1 || o.language !== 'node' || typeof o.generation !== 'number' || typeof o.state !== 'object' || o.state === null || isArray(o.state) ||
		    crypto.createHash('sha256').update(body).digest('hex') !== o.sha256) throw new Error('it is altered');
		globalThis.state = o.state;
		generation = report.generation = o.generation;
		stored = body;
		report.restored = Object.keys(o.state).length;
	} catch (e) {
		damaged(e.message);
	}
}

function damaged(why) {
	report.damaged = true;
	stored = undefined;
	report.restore_lost.push({ name: '*', type: '', reason: short(`the saved state is damaged: ${why}`) });
}

function collect() {
	const s = reset ? {} : globalThis.state, out = {}, owner = new Map();
	let more = 0;
	if (typeof s !== 'object' || s === null || isArray(s) || isProxy(s) ||
	    (getPrototypeOf(s) !== Object.prototype && getPrototypeOf(s) !== null)) return undefined;
	for (const key of ownKeys(s)) {
		const p = getOwnPropertyDescriptor(s, key);
		const name = typeof key === 'symbol' ? String(key) : `state.${key}`;
		let f;
		if (typeof key === 'symbol') f = { path: name, why: 'a symbol as key' };
		else if (isSecret(key)) f = { path: 'state[...]', why: 'a value of the environment as key' };
		else if (!('value' in p)) f = { path: name, why: 'a getter' };
		else if (key === '__proto__' || key === 'toJSON') f = { path: name, why: `the key ${key}` };
		else f = fault(p.value, name, [s]);
		let text = f ? '' : json(p.value);
		if (!f && Buffer.byteLength(text) > valueBytes) f = { path: name, why: `it has more than ${valueBytes} bytes (KZ_KERNEL_VALUE_BYTES); keep it in a file instead` };
		if (f) {
			if (report.lost.length === LIST_MAX) more++;
			push(report.lost, { name: short(f.path), type: p && 'value' in p ? short(kind(p.value)) : '', reason: short(f.why) });
			continue;
		}
		const other = shared(p.value, key, owner);
		if (other !== undefined) push(report.notes, short(other === key ? `state.${key} holds one object twice: they are copies in the next cell` : `state.${key} and state.${other} share an object: they are copies in the next cell`));
		out[key] = p.value;
	}
	if (more) report.notes.unshift(`${more} more keys of state were not kept`);
	return out;
}

// The name of an object's class, for which nothing of the cell runs.
function className(v) {
	for (let o = v, depth = 0; o !== null && depth < 100 && !isProxy(o); o = getPrototypeOf(o), depth++) {
		const p = getOwnPropertyDescriptor(o, 'constructor');
		if (!p) continue;
		const name = typeof p.value === 'function' && !isProxy(p.value) && getOwnPropertyDescriptor(p.value, 'name');
		return name && typeof name.value === 'string' ? name.value : undefined;
	}
	return undefined;
}

function kind(v) {
	return v === null ? 'null' : typeof v === 'object' ? (isProxy(v) ? 'Proxy' : className(v) || 'object') : typeof v;
}

// Plain data as JSON: a cell may have given all objects a toJSON, which is not asked.
const json = (o) => stringify(bare(o));
function bare(o) {
	if (typeof o !== 'object' || o === null) return o;
	const copy = setPrototypeOf(isArray(o) ? [] : {}, null), keys = ownKeys(o);
	for (let i = 0; i < keys.length; i++)
		if (!isArray(o) || keys[i] !== 'length') defineProperty(copy, keys[i], { value: bare(o[keys[i]]), enumerable: true, configurable: true, writable: true });
	return copy;
}

function store(text) {
	const fresh = file + '.new';
	try {
		const fd = openSync(fresh, 'w', 0o600);
		try {
			writeFileSync(fd, text);
			fsyncSync(fd);
		} finally {
			closeSync(fd);
		}
		renameSync(fresh, file);
	} catch (e) {
		try { unlinkSync(fresh); } catch (_) { /* it was not made */ }
		throw e;
	}
}

// A cell may have closed the descriptor, or put a file of its own in its place.
function isHeard() {
	if (!hasChannel) return true;
	try {
		if (whatChannelIs() === channelIs && send({ v: 1, type: 'state', generation })) return true;
	} catch (_) { /* it is closed */ }
	hasChannel = false;
	return false;
}

function save() {
	if (done) return;
	done = true;
	if (!isHeard()) {
		// that a state was not saved is what is said of a cell without a report
		console.error('kernel: the cell closed descriptor 3: its state is not saved');
		return;
	}
	if (!isCell) { // a text that is no program changed nothing
		send(report);
		return;
	}
	try {
		const out = collect();
		if (out === undefined) {
			report.status = 'refused';
			push(report.lost, { name: 'state', type: short(kind(globalThis.state)), reason: 'state is no plain object any more' });
		} else {
			const body = json(out), isNew = body !== stored;
			const text = json({ v: 1, language: 'node', generation: generation + isNew, sha256: crypto.createHash('sha256').update(body).digest('hex'), state: out });
			report.bytes = Buffer.byteLength(text);
			if (report.bytes > totalBytes) {
				report.status = 'refused';
				report.reason = 'kernel_state_over_bound';
			} else {
				if (isNew) store(text);
				report.status = 'saved';
				report.generation = generation + isNew;
			}
		}
	} catch (e) {
		push(report.notes, short(`the state was not saved: ${e.message}`));
	}
	send(report);
}

function send(o) {
	if (!hasChannel) return false;
	const data = Buffer.from(json(o) + '\n');
	for (let at = 0; at < data.length;) {
		try {
			at += writeSync(config.channel, data, at);
		} catch (e) {
			if (e.code !== 'EAGAIN') return false;
		}
	}
	return true;
}

class ToolError extends Error {
	constructor(reason, text) {
		super(`${reason}: ${text}`);
		this.name = 'ToolError';
		this.reason = reason;
	}
}

// Calls wait for their answer without the loop: the channel is read to the next line.
let last = 0, rest = Buffer.alloc(0);
function answer(id) {
	const piece = Buffer.alloc(65536);
	for (;;) {
		const cut = rest.indexOf(10);
		if (cut >= 0) {
			const o = parse(rest.subarray(0, cut).toString());
			rest = rest.subarray(cut + 1);
			if (o.id === id || o.id === 0) return o; // 0: what was said could not be read
			continue;
		}
		let n = 0;
		try {
			n = readSync(config.channel, piece, 0, piece.length, null);
		} catch (e) {
			if (e.code === 'EAGAIN') continue;
			throw e;
		}
		if (n === 0) throw new ToolError('tool_failed', 'nobody answers');
		rest = Buffer.concat([rest, piece.subarray(0, n)]);
	}
}

async function call(tool, args) {
	if (!hasChannel) throw new ToolError('tool_unknown', 'this cell has no tools');
	if (args === undefined) args = {};
	if (typeof args !== 'object' || args === null || isArray(args)) throw new TypeError('a tool takes one object of named arguments');
	const id = ++last;
	send({ v: 1, type: 'call', id, tool: String(tool), arguments: parse(stringify(args)) });
	const o = answer(id);
	if (o.error) throw new ToolError(o.error.reason, o.error.text);
	return o.result;
}

const tools = new Proxy({}, {
	get: (_, name) => (typeof name === 'symbol' || name === 'then' ? undefined : (args) => call(name, args)),
	ownKeys: () => config.tools || [],
	getOwnPropertyDescriptor: () => ({ enumerable: true, configurable: true }),
});

function show(value) {
	if (value !== undefined) console.log(typeof value === 'string' ? util.inspect(value) : value);
}

// The body of an async function whose last expression is returned: told by trying to compile it so.
const PARAMETERS = ['require', 'module', 'exports', '__filename', '__dirname', '__kz_show__', '__kz_import__'];

function compiles(body) {
	try {
		new vm.Script(`(async function (${PARAMETERS.join()}) {${body}\n})`);
		return true;
	} catch (_) {
		return false;
	}
}

// Where the last statement may begin: after a line end, ';' or '}', at the top level. Found by trying, latest first.
function withLast(text) {
	const trimmed = text.replace(/[\s;]+$/, '');
	if (/;\s*$/.test(text) && /;\s*;\s*$/.test(text)) return undefined;
	const starts = [0];
	for (let i = 0; i < trimmed.length; i++) if (trimmed[i] === '\n' || trimmed[i] === ';' || trimmed[i] === '}') starts.push(i + 1);
	let tried = 0;
	for (let i = starts.length - 1; i >= 0 && tried < 200; i--) {
		const tail = trimmed.slice(starts[i]);
		if (!tail.trim() || /^\s*(\/\/|\/\*)/.test(tail)) continue;
		tried++;
		// what stands before must be whole statements, and the rest one expression
		if (/^\s*(function|class|async\s+function|\{)/.test(tail)) { if (compiles(trimmed)) return undefined; continue; }
		const head = trimmed.slice(0, starts[i]);
		if (compiles(`__kz_show__(await (${tail}\n))`) && compiles(head) && compiles(`${head}\n;(${tail}\n)`) && !/^\s*[.,?:+\-*/%&|^<>=()\[\]]/.test(tail))
			return `${head};__kz_show__(await (${tail}\n))`;
	}
	return undefined;
}

const isModule = (text) => !compiles(text) && /^\s*import\s*[\w{*'"]/m.test(text);

async function runCell(text) {
	const require = createRequire(path.join(space, 'cell.js'));
	if (isModule(text)) {
		isCell = true;
		const at = path.join(space, `.kz-cell-${process.pid}.mjs`);
		writeFileSync(at, text);
		try {
			await import(pathToFileURL(at).href);
		} finally {
			try { unlinkSync(at); } catch (_) { /* the cell removed it */ }
		}
		return;
	}
	const f = compile(withLast(text) ?? text);
	isCell = true;
	const module = { exports: {} };
	const dynamic = (name) => import(importable(require, String(name)));
	await f(require, module, module.exports, path.join(space, 'cell.js'), space, show, dynamic);
}

// import() of a cell looks in the workspace.  Older releases of node can say so only by another name for it.
function compile(body) {
	const loader = vm.constants?.USE_MAIN_CONTEXT_DEFAULT_LOADER;
	const text = loader ? body : body.replace(/(?<![\w.$])import\s*\(/g, '__kz_import__(');
	const warn = process.emitWarning;
	process.emitWarning = () => {};
	try {
		return vm.compileFunction(`return (async () => {${text}\n})()`, PARAMETERS, {
			filename: '<cell>', columnOffset: -'return (async () => {'.length,
			...(loader && { importModuleDynamically: loader }),
		});
	} finally {
		process.emitWarning = warn;
	}
}

function importable(require, name) {
	if (/^(node|file|data):/.test(name)) return name;
	const found = require.resolve(name);
	return path.isAbsolute(found) ? pathToFileURL(found).href : found;
}

function fail(e) {
	if (status === 0) status = 1;
	process.exitCode = status;
	console.error(e instanceof Error && e.stack ? e.stack.split('\n').filter((l) => !l.includes('kernel.mjs') && !l.includes('node:internal')).join('\n') : `Uncaught ${util.inspect(e)}`);
}

restore();
globalThis.kz = { tools, ToolError, reset: () => { reset = true; } };
process.argv.splice(1, 2);
send({ v: 1, type: 'state', generation });
process.on('exit', save);
process.on('uncaughtException', fail);
process.on('unhandledRejection', fail);

const text = readFileSync(cellPath, 'utf8').replace(/^#!.*/, '');
try {
	await runCell(text);
} catch (e) {
	fail(e);
}
// The loop may drain; what still runs then is ended, and the state is kept.
setTimer(() => {
	push(report.notes, 'pending_handles: timers, sockets or servers of the cell were still open; they are ended');
	exit(process.exitCode ?? status);
}, DRAIN_MS).unref();
