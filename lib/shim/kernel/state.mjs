// Reading, choosing and writing the state.

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

// What a cell that was killed may have left.
function remove(name) {
	try { unlinkSync(name); } catch (_) { /* it is not there */ }
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
		remove(fresh);
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
				else remove(file + '.new');
				report.status = 'saved';
				report.generation = generation + isNew;
			}
		}
	} catch (e) {
		push(report.notes, short(`the state was not saved: ${e.message}`));
	}
	send(report);
}
