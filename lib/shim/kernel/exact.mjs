// What JSON keeps exactly, and what it does not.

const tooLarge = (name) => ({ path: name, why: `it has more than ${valueBytes} bytes (KZ_KERNEL_VALUE_BYTES); keep it in a file instead` });

// What JSON does not keep exactly is named by its path; out: the reason, or undefined.
// in: room: { left }, bytes that it may take at least; what takes more is not looked at any further
function fault(v, at, above, room) {
	const say = (why) => ({ path: at, why });
	room.left -= typeof v === 'string' ? v.length + 2 : isArray(v) ? v.length + 2 : 1;
	if (room.left < 0) return tooLarge(room.name);
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
	return members(v, at, [...above, v], room, say);
}

function members(v, at, above, room, say) {
	let length = isArray(v) ? v.length : 0;
	for (let i = 0, keys = ownKeys(v); i < keys.length; i++) { // a cell may have its own way to go through an array
		const key = keys[i];
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
		else room.left -= key.length + 3;
		const f = fault(p.value, inner, above, room);
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
	for (let i = 0, keys = ownKeys(value); i < keys.length; i++) {
		const p = getOwnPropertyDescriptor(value, keys[i]);
		const r = 'value' in p ? shared(p.value, key, owner) : undefined;
		if (r !== undefined) return r;
	}
	return undefined;
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
