// What runs npm inside the worker, in a step of its own before the program (docs/packages.md): the
// counterpart of install.py, with the same argument, the same last line and the same lock.
'use strict';
const fs = require('fs'), http = require('http'), { spawn } = require('child_process');

const top = '/work/packages', lockFile = top + '/kz-lock.json', scratch = top + '/.scratch';
const gateway = '127.0.0.1:8000', tail = 65536;
const ask = JSON.parse(process.argv[2]), token = process.env.KZ_PACKAGE_TOKEN;

const end = (what) => {
	fs.rmSync(scratch, { recursive: true, force: true });
	fs.writeSync(1, JSON.stringify(what) + '\n');
	process.exit(what.ok ? 0 : 1);
};

// What the broker says of its registries; null when it says nothing.
const brokerState = () => new Promise((done) => {
	const headers = { authorization: 'Bearer ' + token };
	const r = http.get(`http://${gateway}/broker/state`, { timeout: 10000, headers }, (answer) => {
		let text = '';
		answer.on('data', (d) => { if (text.length < 65536) text += d; });
		answer.on('end', () => { try { done(JSON.parse(text)); } catch { done(null); } });
	});
	r.on('timeout', () => r.destroy());
	r.on('error', () => done(null));
});

// How it ended, and whether it said that there was no room left.  What it left running may hold the pipe open, and
// is not waited for.
const run = (program, args, options) => new Promise((done) => {
	const child = spawn(program, args, { ...options, stdio: ['ignore', 2, 'pipe'] });
	let last = '', timer;
	const over = (status) => {
		clearTimeout(timer);
		done({ status, full: /\bENOSPC\b/.test(last) });
	};
	child.stderr.on('data', (d) => { last = (last + d.toString('latin1')).slice(-tail); });
	child.on('error', (error) => done({ error }));
	child.on('exit', (status) => { timer = setTimeout(over, 1000, status); });
	child.on('close', over);
});

const npmInstall = (what) => {
	fs.writeFileSync('npmrc', `//${gateway}/npm/:_authToken=${token}\n`, { mode: 0o600 });
	return run('/usr/bin/npm', ['install', '--prefix', top,
		'--userconfig', scratch + '/npmrc', '--globalconfig', '/dev/null', '--cache', scratch + '/cache',
		'--registry', `http://${gateway}/npm/`, '--omit-lockfile-registry-resolved',
		'--fetch-retries', '1', '--fetch-retry-mintimeout', '500', '--fetch-retry-maxtimeout', '2000',
		'--no-audit', '--no-fund', '--no-update-notifier', '--loglevel', 'error', '--'].concat(what), {
		env: { PATH: process.env.PATH, LANG: 'C.UTF-8', HOME: scratch, TMPDIR: scratch } });
};

// Entries of the lock, of the tree as npm left it.
const installed = () => {
	const tree = JSON.parse(fs.readFileSync(top + '/package-lock.json', 'utf8')).packages;
	const mark = 'node_modules/';
	return Object.keys(tree).sort().filter((at) => at && !tree[at].link).map((at) => ({
		name: at.slice(at.lastIndexOf(mark) + mark.length),
		version: tree[at].version,
		digest: tree[at].integrity || 'unknown',
	}));
};

const writeLock = () => {
	const nameOf = (r) => r.slice(0, (r + '@').indexOf('@', 1));
	let lock = { v: 1 }, requests = [];
	try {
		lock = JSON.parse(fs.readFileSync(lockFile, 'utf8'));
		requests = (lock.node || { requests: [] }).requests;
	} catch {}
	requests = requests.filter((r) => !ask.keys.includes(nameOf(r))).concat(ask.requests);
	lock.node = { requests: [...new Set(requests)].sort(), packages: installed() };
	fs.writeFileSync(lockFile, JSON.stringify(lock));
	return lock;
};

const main = async () => {
	fs.rmSync(scratch, { recursive: true, force: true });
	fs.mkdirSync(scratch, { recursive: true, mode: 0o700 });
	process.chdir(scratch);
	const npm = await npmInstall(ask.requests.concat(ask.imports.map((pair) => pair[1])));
	if (npm.error && npm.error.code === 'ENOENT')
		end({ v: 1, ok: false, missing: 'npm', full: false, state: null });
	if (npm.status !== 0)
		end({ v: 1, ok: false, missing: null, full: npm.full, state: await brokerState() });
	end({ v: 1, ok: true, lock: writeLock() });
};
main().catch((e) => {
	if (e.code !== 'ENOSPC')
		throw e;
	// nor was there any for what is written here
	end({ v: 1, ok: false, missing: null, full: true, state: null });
});
