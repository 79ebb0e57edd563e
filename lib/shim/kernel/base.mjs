// One cell of a persistent Node kernel (docs/kernels.md).
//
//   node kernel.mjs CONFIG CELL [ARG...]
//
// The parts of this folder are put together into one module, in the order of scripts/make/driver.mk; imports stand here.
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
