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

// Why a value is not kept, or undefined; one that nobody can look at is lost alone.
function judge(value, name, above, size) {
	try {
		const f = fault(value, name, [above], { left: valueBytes, name });
		if (!f) size.bytes = Buffer.byteLength(json(value));
		return f || (size.bytes > valueBytes ? tooLarge(name) : undefined);
	} catch (e) {
		return { path: name, why: `it cannot be looked at: ${e instanceof Error ? e.message : typeof e}` };
	}
}

// out: what is kept, and at least how many bytes it takes; undefined: state is no object that lasts
function collect() {
	const s = reset ? {} : globalThis.state, out = {}, owner = new Map();
	const size = {};
	let more = 0, bytes = 0;
	if (typeof s !== 'object' || s === null || isArray(s) || isProxy(s) ||
	    (getPrototypeOf(s) !== Object.prototype && getPrototypeOf(s) !== null)) return undefined;
	for (let i = 0, keys = ownKeys(s); i < keys.length; i++) {
		const key = keys[i];
		const p = getOwnPropertyDescriptor(s, key);
		const name = typeof key === 'symbol' ? String(key) : `state.${key}`;
		let f;
		if (typeof key === 'symbol') f = { path: name, why: 'a symbol as key' };
		else if (isSecret(key)) f = { path: 'state[...]', why: 'a value of the environment as key' };
		else if (!('value' in p)) f = { path: name, why: 'a getter' };
		else if (key === '__proto__' || key === 'toJSON') f = { path: name, why: `the key ${key}` };
		else f = judge(p.value, name, s, size);
		if (f) {
			if (report.lost.length === LIST_MAX) more++;
			push(report.lost, { name: short(f.path), type: p && 'value' in p ? short(kind(p.value)) : '', reason: short(f.why) });
			continue;
		}
		const other = shared(p.value, key, owner);
		if (other !== undefined) push(report.notes, short(other === key ? `state.${key} holds one object twice: they are copies in the next cell` : `state.${key} and state.${other} share an object: they are copies in the next cell`));
		bytes += Buffer.byteLength(key) + size.bytes;
		if (bytes <= totalBytes) out[key] = p.value;
	}
	if (more) report.notes.unshift(`${more} more keys of state were not kept`);
	return { out, bytes };
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
		const { out, bytes } = collect() ?? {};
		if (out === undefined) {
			report.status = 'refused';
			push(report.lost, { name: 'state', type: short(kind(globalThis.state)), reason: 'state is no plain object any more' });
		} else if (bytes > totalBytes) {
			Object.assign(report, { status: 'refused', reason: 'kernel_state_over_bound', bytes });
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
