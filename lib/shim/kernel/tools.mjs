// The channel to the outside, and tools over it.

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
