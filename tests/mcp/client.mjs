// One scenario with an official client: node client.mjs REVISION SCENARIO.  In the environment: CLIENTS (where they are), KZ_STATE and
// ARGS (of kz-mcp, one a line).  Ends with 0 when all of it is so.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const [revision, scenario] = process.argv.slice(2);
const PATIENCE = 300000; // of a machine that is busy
const load = (name) => import(pathToFileURL(`${process.env.CLIENTS}/${name}`));

async function connect() {
	const server = {
		command: 'kz-mcp',
		args: process.env.ARGS.split('\n'),
		env: { PATH: process.env.PATH, TMPDIR: process.env.TMPDIR ?? '/tmp', KZ_STATE: process.env.KZ_STATE, KZ_LEASE: 'never', KZ_ACTOR: 'mallory' },
		stderr: 'inherit',
	};
	const info = { name: 'kz-test', version: '1' };
	if (revision === '2026-07-28') {
		const { Client } = await load('client/dist/index.mjs');
		const { StdioClientTransport } = await load('client/dist/stdio.mjs');
		const client = new Client(info, { versionNegotiation: { mode: { pin: revision } } });
		await client.connect(new StdioClientTransport(server), { timeout: PATIENCE });
		client.call = (name, args, options) => client.callTool({ name, arguments: args }, { timeout: PATIENCE, ...options });
		return client;
	}
	const { Client } = await load('sdk/dist/esm/client/index.js');
	const { StdioClientTransport } = await load('sdk/dist/esm/client/stdio.js');
	const client = new Client(info);
	await client.connect(new StdioClientTransport(server), { timeout: PATIENCE });
	client.call = (name, args, options) => client.callTool({ name, arguments: args }, undefined, { timeout: PATIENCE, ...options });
	return client;
}

const running = (what) => {
	try {
		execFileSync('pgrep', ['-f', `^${what}`]);
		return true;
	} catch {
		return false;
	}
};

const scenarios = {
	async list(client) {
		assert.equal(client.getServerVersion().name, 'kz-mcp');
		assert.match(client.getInstructions(), /isolated/);
		const { tools } = await client.listTools();
		assert.deepEqual(tools.map((t) => t.name), ['run_code', 'reset_kernel', 'read_file', 'edit_file', 'write_file', 'list_files', 'network_scope']);
		for (const t of tools) {
			assert.equal(t.inputSchema.additionalProperties, false);
			assert.ok(t.outputSchema.properties.reason);
			assert.ok(!('actor' in t.inputSchema.properties) && !('conversation' in t.inputSchema.properties));
		}
	},

	async run(client) {
		const r = await client.call('run_code', {
			code: 'import os\nopen("a b.txt", "w").write("data")\nprint("out", sorted(k for k in os.environ if k.startswith("KZ")))\nos.write(2, b"err")',
			outputs: ['a b.txt'],
		});
		assert.equal(r.isError, false);
		const s = r.structuredContent;
		assert.deepEqual([s.outcome, s.reason, s.exit, s.truncated, s.not_run], ['completed', null, 0, false, null]);
		assert.equal(s.stdout.head, 'out []\n');
		assert.equal(s.stderr.head, 'err');
		assert.match(r.content[0].text, /^out \[\]\n\[standard error\]\nerr\n\[handed out: a b.txt, 4 bytes: file:\/\/\/.*\/a%20b.txt\]/);
		const link = r.content.find((c) => c.type === 'resource_link');
		assert.deepEqual([link.name, link.size, link.mimeType], ['a b.txt', 4, 'text/plain']);
		const bytes = readFileSync(fileURLToPath(link.uri));
		assert.equal(bytes.toString(), 'data');
		assert.equal(s.outputs[0].sha256, createHash('sha256').update(bytes).digest('hex'));
		// another status than 0 is a result, not an error
		const bad = await client.call('run_code', { language: 'shell', code: 'echo no >&2; exit 3' });
		assert.deepEqual([bad.isError, bad.structuredContent.outcome, bad.structuredContent.exit], [false, 'failed', 3]);
		const js = await client.call('run_code', { language: 'node', code: 'console.log("x".repeat(1 << 20))' });
		assert.equal(js.structuredContent.truncated, true);
		assert.ok(JSON.stringify(js).length < 100000);
	},

	async outputs(client) {
		const r = await client.call('run_code', {
			code: 'import os, struct, zlib\nchunk = lambda t, d: struct.pack(">I", len(d)) + t + d + struct.pack(">I", zlib.crc32(t + d))\n' +
				'open("p.png", "wb").write(b"\\x89PNG\\r\\n\\x1a\\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0)) + chunk(b"IDAT", zlib.compress(b"\\0\\0")) + chunk(b"IEND", b""))\n' +
				'os.mkdir("sub")\nopen("sub/a b.txt", "w").write("grüße\\n")\nopen("z.bin", "wb").write(bytes(range(256)) * 4)\nopen("long.txt", "w").write("x" * 20000)',
			outputs: ['p.png', 'sub/a b.txt', 'z.bin', 'long.txt'],
		});
		assert.equal(r.isError, false, r.content[0].text);
		assert.deepEqual(r.content.map((c) => c.type), ['text', 'resource_link', 'image', 'resource_link', 'resource', 'resource_link', 'resource_link']);
		const png = Buffer.from(r.content[2].data, 'base64');
		assert.deepEqual([r.content[2].mimeType, createHash('sha256').update(png).digest('hex')], ['image/png', r.structuredContent.outputs[0].sha256]);
		assert.deepEqual([r.content[4].resource.text, r.content[4].annotations.audience], ['grüße\n', ['user']]);
		assert.match(r.content[0].text, /\[handed out: z.bin, 1024 bytes: kz:\/\/outputs\/.*\/z.bin\]/);
		// the list has the links, and each of them is read
		const links = r.content.filter((c) => c.type === 'resource_link');
		const { resources } = await client.listResources();
		assert.deepEqual(resources, links.map(({ type, ...l }) => l));
		for (const [i, l] of links.entries()) {
			const { contents } = await client.readResource({ uri: l.uri });
			assert.deepEqual([contents.length, contents[0].uri, contents[0].mimeType], [1, l.uri, l.mimeType]);
			const bytes = 'text' in contents[0] ? Buffer.from(contents[0].text) : Buffer.from(contents[0].blob, 'base64');
			assert.equal(createHash('sha256').update(bytes).digest('hex'), r.structuredContent.outputs[i].sha256);
			assert.equal('text' in contents[0], l.name.endsWith('.txt'));
		}
		assert.deepEqual((await client.listResourceTemplates()).resourceTemplates, []);
		for (const uri of ['file:///etc/passwd', links[0].uri + '/..', '', 'kz://outputs'])
			await assert.rejects(client.readResource({ uri }), (e) => e.code === (revision === '2026-07-28' ? -32602 : -32002) && /no such resource/.test(e.message));
		// more than may be inlined is a link only
		const big = await client.call('run_code', { code: 'open("big.png", "wb").write(b"\\x89PNG\\r\\n\\x1a\\n" + bytes(2 << 20))', outputs: ['big.png'] });
		assert.deepEqual(big.content.map((c) => c.type), ['text', 'resource_link']);
		const { contents } = await client.readResource({ uri: big.content[1].uri });
		assert.equal(Buffer.from(contents[0].blob, 'base64').length, (2 << 20) + 8);
		// many that are asked for at once all come
		const many = await Promise.all([...Array(60)].map(() => client.readResource({ uri: big.content[1].uri })));
		assert.ok(many.every((m) => m.contents[0].blob.length === contents[0].blob.length));
		// an output that was not written costs only itself
		const some = await client.call('run_code', { code: 'open("there", "w").write("x")', outputs: ['there', 'gone'] });
		assert.deepEqual([some.isError, some.structuredContent.reason, some.content.filter((c) => c.type === 'resource_link').map((c) => c.name)], [true, 'output_missing', ['there']]);
	},

	async kept(client) {
		const paths = [];
		for (let i = 0; i < 5; i++) {
			const r = await client.call('run_code', { code: `open("f${i}.txt", "w").write("x")`, outputs: [`f${i}.txt`] });
			paths.push(fileURLToPath(r.content.find((c) => c.type === 'resource_link').uri));
			if (i === 1) renameSync(paths[1], `${dirname(paths[1])}/kept.txt`);
		}
		assert.deepEqual(paths.map(existsSync), [false, false, false, true, true]);
		assert.ok(existsSync(`${dirname(paths[1])}/kept.txt`) && !existsSync(dirname(paths[0])));
	},

	async replaced(client) {
		const hand = async () =>
			(await client.call('run_code', { code: 'open("f.txt", "w").write("mine")', outputs: ['f.txt'] })).content.find((c) => c.type === 'resource_link').uri;
		const [gone, link] = [await hand(), await hand()];
		rmSync(fileURLToPath(gone));
		rmSync(fileURLToPath(link));
		symlinkSync('/etc/passwd', fileURLToPath(link));
		for (const uri of [gone, link]) assert.equal((await client.readResource({ uri })).contents[0].text, 'mine');
	},

	async kernel(client) {
		const one = await client.call('run_code', { kernel: true, code: 'x = [1, 2]\ny = x\nf = open("/dev/null")\nprint(len(x))' });
		assert.deepEqual([one.isError, one.structuredContent.kernel.status], [false, 'saved']);
		assert.match(one.content[0].text, /\[not kept: f: /);
		const two = await client.call('run_code', { kernel: true, code: 'y.append(3); x' });
		assert.match(two.structuredContent.stdout.head, /\[1, 2, 3\]/);
		const three = await client.call('run_code', { code: 'print("x" in globals())' });
		assert.deepEqual([three.structuredContent.stdout.head, three.structuredContent.kernel], ['False\n', null]);
		const forget = await client.call('reset_kernel', {});
		assert.deepEqual([forget.isError, forget.structuredContent.kernel.status, forget.content[0].text], [false, 'saved', '[variables are forgotten]\n']);
		const four = await client.call('run_code', { kernel: true, code: 'x' });
		assert.match(four.structuredContent.stderr.head, /NameError/);
		await client.call('run_code', { kernel: true, language: 'node', code: 'state.a = 1' });
		assert.equal((await client.call('reset_kernel', { language: 'node' })).content[0].text, '[variables are forgotten]\n');
		const five = await client.call('run_code', { kernel: true, language: 'node', code: 'console.log(Object.keys(state).length)' });
		assert.match(five.structuredContent.stdout.head, /^0\n/);
		const shell = await client.call('run_code', { kernel: true, language: 'shell', code: 'true' });
		assert.deepEqual([shell.isError, shell.structuredContent.reason], [true, 'kernel_language']);
	},

	// what lasts and what does not is in the text, which is all that many models see
	async lasting(client) {
		const cell = async (code, more = {}) => (await client.call('run_code', { kernel: true, code, ...more })).content[0].text;
		await cell('import mod\nt = mod.T()', { files: [{ path: 'mod.py', text: 'class T: pass\n' }] });
		assert.match(await cell('"t" in globals()', { files: [{ path: 'mod.py', text: 'x = 1\n' }] }), /^False\n\[kept, but not restored now: t: AttributeError: .*\]\n$/);
		const over = await cell('a, b, c = [bytes([i]) * (3 << 20) for i in range(3)]');
		assert.match(over, /^\[variables stay as they were before this cell: the state of the kernel is over its bound and was not kept\]\n$/);
		assert.match(await cell('import os; os._exit(0)'), /^\[variables stay as they were before this cell: the cell ended without a report/);
		assert.match(await cell('x = 1\nif x', {}), /SyntaxError[^]*\[variables stay as they were before this cell\]\n$/);
		const node = (code) => cell(code, { language: 'node' });
		assert.match(await node('state.a = {}; state.b = state.a; 1'), /^1\n\[note: state.b and state.a share an object: they are copies in the next cell\]\n$/);
		assert.match(await node('setInterval(() => {}, 1000); 2'), /^2\n\[note: pending_handles: /);
		const many = await cell('for i in range(120): globals()[f"g{i}"] = (x for x in [])');
		assert.equal(many.split('[not kept: g').length, 51);
		assert.match(many, /\n\[not kept: 70 more\]\n/);
		// a bound ends more than the program: files that it wrote are gone
		const bounded = await cell('open("gone", "w").write("x")\nwhile True: pass', { timeout_ms: 1500 });
		assert.match(bounded, /wall_exceeded.*\n\[variables stay as they were before this cell\]\n\[files of the workspace stay as they were before this run\]\n$/);
		const run = async (code, more = {}) => (await client.call('run_code', { code, ...more })).content[0].text;
		assert.match(await run('open("gone", "w").write("x")\nwhile True: pass', { timeout_ms: 1500 }), /\[files of the workspace stay as they were before this run\]\n$/);
		assert.match(await run('open("gone", "wb").write(bytes(9 << 20))'), /workspace_over_bound: .*\n\[files of the workspace stay as they were before this run\]\n$/);
		assert.equal(await run('import os; print(os.path.exists("gone")); open("there", "w").write("x"); raise SystemExit(3)'), 'False\n[exit status 3]\n');
		assert.equal(await run('import os; print(os.path.exists("there"))'), 'True\n');
	},

	async files(client) {
		// before the first file there are none, which is no error
		const fresh = await client.call('list_files', {});
		assert.deepEqual([fresh.isError, fresh.structuredContent.files, fresh.content[0].text], [false, [], '[no files]\n']);
		await client.call('run_code', { code: 'open("f.txt", "w").write("one\\ntwo\\nthree\\n")' });
		const r = await client.call('read_file', { path: 'f.txt', ranges: ['1-3'] });
		const tag = r.structuredContent.tag;
		assert.equal(r.content[0].text, `[f.txt#${tag}]\n1:one\n2:two\n3:three\n`);
		const e = await client.call('edit_file', { edit: `[f.txt#${tag}]\nPUT 2.=2:\n+TWO\n` });
		assert.equal(e.isError, false);
		assert.equal(e.structuredContent.sections[0].path, 'f.txt');
		const l = await client.call('list_files', {});
		assert.ok(l.structuredContent.files.some((f) => f.name === 'f.txt' && f.bytes === 14));
		const after = await client.call('run_code', { code: 'print(open("f.txt").read(), end="")' });
		assert.equal(after.structuredContent.stdout.head, 'one\nTWO\nthree\n');
		const stale = await client.call('edit_file', { edit: '[f.txt#0000]\nPUT 1.=1:\n+x\n' });
		assert.deepEqual([stale.isError, stale.structuredContent.reason], [true, 'unknown_tag']);
		// what is not shown as it is says so, and a name is one line
		await client.call('run_code', { code: 'open(b"odd\\xff\\nname", "w").write("a\\x1b[1m\\nb")' });
		await client.call('write_file', { path: 'odd.txt', text: 'a\u001b[1m\nb' });
		assert.match((await client.call('read_file', { path: 'odd.txt' })).content[0].text,
			/^\[odd.txt#....\]\n1:a\\x1b\[1m\n2:b\n\.\.\. lines 1 to 1 are not shown exactly .*edit_file cannot name them\n\.\.\. the last line has no line end\n$/);
		assert.equal((await client.call('list_files', {})).content[0].text, 'f.txt 14\nodd.txt 7\nodd\\xff\\x0aname 7\n');
	},

	async inputs(client) {
		const bytes = Buffer.from([0, 255, 10, 128]);
		const w = await client.call('write_file', { path: 'a/b c.bin', base64: bytes.toString('base64') });
		assert.deepEqual([w.isError, w.structuredContent.entries], [false, 2]);
		assert.match(w.content[0].text, /^\[written; the workspace has 2 entries/);
		const same = await client.call('write_file', { path: '/work/space/a/b c.bin', base64: bytes.toString('base64') });
		assert.deepEqual([same.isError, same.structuredContent.entries], [false, 2]);
		const r = await client.call('run_code', {
			code: 'import os, sys\nprint(list(open("a/b c.bin", "rb").read()), open("data/x.csv").read(), os.path.getsize("empty"), oct(os.stat("empty").st_mode), len(open("big").read()))\n' +
				'print([f for f in os.listdir("/proc/self/fd") if int(f) > 3])',
			files: [
				{ path: 'data/x.csv', text: 'ä,1' },
				{ path: '/work/space/empty', text: '' },
				{ path: 'big', text: 'y'.repeat(1 << 20) },
			],
		});
		assert.deepEqual([r.isError, r.structuredContent.stdout.head], [false, '[0, 255, 10, 128] ä,1 0 0o100644 1048576\n[]\n']);
		// as many as may be, and in their order
		const many = [...Array(32)].map((_, i) => ({ path: `n${i}`, text: `${i}` }));
		const m = await client.call('run_code', { code: 'print(all(open(f"n{i}").read() == str(i) for i in range(32)))', files: many });
		assert.equal(m.structuredContent.stdout.head, 'True\n');
		const refused = async (name, args, reason) => {
			const x = await client.call(name, args);
			assert.deepEqual([x.isError, x.structuredContent.reason], [true, reason], x.content[0].text);
		};
		await refused('run_code', { code: '1', files: [...many, { path: 'one more', text: '' }] }, 'usage');
		await refused('run_code', { code: '1', files: [{ path: '../x', text: '' }] }, 'input_name_invalid');
		await refused('run_code', { code: '1', files: [{ path: 'x', text: '' }, { path: './x', text: '' }] }, 'usage');
		await refused('write_file', { path: '/etc/x', text: '' }, 'path_rejected');
		await refused('write_file', { path: 'a', text: 'a directory has this name' }, 'file_not_regular');
		await refused('write_file', { path: 'huge', text: 'z'.repeat(3 << 20), base64: '' }, 'usage');
		const l = await client.call('list_files', { path: 'a' });
		assert.deepEqual(l.structuredContent.files.map((f) => f.name), ['a', 'a/b c.bin'].slice(-l.structuredContent.files.length));
	},

	async scope(client) {
		const r = await client.call('network_scope', {});
		assert.deepEqual([r.isError, r.structuredContent.run.effective, r.structuredContent.run.reason], [false, 'none', 'not_approved']);
		assert.match(r.content[0].text, /^programs of this server have no network/);
		assert.deepEqual([r.structuredContent.configured, r.structuredContent.effective], ['isolated', 'isolated']);
		// no argument changes that
		for (const more of [{ approve: 'x' }, { approval: 'x' }, { network: true }, { egress: 'public_internet' }]) {
			const run = await client.call('run_code', { code: '1', ...more });
			assert.deepEqual([run.isError, run.structuredContent.reason], [true, 'usage']);
			const scope = await client.call('network_scope', more);
			assert.deepEqual([scope.isError, scope.structuredContent.reason], [true, 'usage']);
		}
	},

	async progress(client) {
		const seen = [];
		await client.call(
			'run_code',
			{ code: 'import time\nfor i in range(10):\n    print(i, flush=True)\n    time.sleep(0.3)' },
			{ onprogress: (p) => seen.push(p) },
		);
		assert.ok(seen.length >= 3, JSON.stringify(seen));
		for (let i = 1; i < seen.length; i++) assert.ok(seen[i].progress > seen[i - 1].progress);
		assert.equal(seen[0].message, 'started');
		assert.match(seen.at(-1).message, /^\d+ bytes of output$/);
	},

	async cancel(client) {
		const mark = `sleep 9${process.pid}`;
		const stop = new AbortController();
		let begun;
		const up = new Promise((resolve) => (begun = resolve));
		const call = client.call(
			'run_code',
			{ language: 'shell', code: `echo up; ${mark}` },
			{ signal: stop.signal, onprogress: (p) => p.progress > 0 && begun() },
		);
		const ended = assert.rejects(call);
		await up;
		while (!running(mark)) await new Promise((r) => setTimeout(r, 50));
		// calls run beside each other
		assert.equal((await client.call('list_files', {})).isError !== undefined, true);
		stop.abort('enough');
		await ended;
		// the conversation is free only when the worker was given back
		const next = await client.call('run_code', { code: 'print("next")' });
		assert.equal(next.structuredContent.stdout.head, 'next\n');
		assert.equal(running(mark), false);
	},

	async packages(client) {
		const one = await client.call('run_code', { packages: ['pure==1.0'], code: 'import pure; print(pure.VERSION)' });
		assert.deepEqual([one.isError, one.structuredContent.stdout.head], [false, '1.0+local\n']);
		assert.deepEqual(one.structuredContent.packages.map((p) => [p.for, p.name, p.version]), [['python', 'pure', '1.0+local']]);
		// it stays with the conversation, and the program has no way to the broker
		const two = await client.call('run_code', {
			code: 'import pure, socket\nprint(pure.VERSION)\ntry: socket.create_connection(("127.0.0.1", 8000))\nexcept OSError as e: print(e.errno)',
		});
		assert.equal(two.structuredContent.stdout.head, '1.0+local\n111\n');
		// a module that the program writes itself is no package, which only its author can know
		const written = 'open("nosuchmodule.py", "w").write("N = 7")\nimport nosuchmodule\nprint(nosuchmodule.N)';
		const looked = await client.call('run_code', { code: written });
		assert.deepEqual([looked.isError, looked.structuredContent.reason], [true, 'dependency_install_failed']);
		assert.match(looked.content[0].text, /nosuchmodule: .*; the program imports it: .*infer_packages false/);
		const own = await client.call('run_code', { code: written, infer_packages: false });
		assert.deepEqual([own.isError, own.structuredContent.stdout.head], [false, '7\n']);
		const none = await client.call('run_code', { packages: ['nosuchpackage'], code: 'print("ran")' });
		assert.deepEqual([none.isError, none.structuredContent.outcome, none.structuredContent.reason], [true, 'not_run', 'dependency_install_failed']);
		assert.deepEqual(none.structuredContent.not_run.packages, ['nosuchpackage']);
		assert.match(none.content[0].text, /nosuchpackage: (?!.*imports it)/);
		const version = await client.call('run_code', { packages: ['pure==5.0'], code: 'print("ran")' });
		assert.match(version.content[0].text, /pure: the installer failed: no version fits/);
	},

	async refusals(client) {
		const refused = async (name, args, reason, words) => {
			const r = await client.call(name, args);
			assert.deepEqual([r.isError, r.structuredContent.reason], [true, reason]);
			assert.match(r.content[0].text, words);
			return r.structuredContent;
		};
		const admin = await refused('run_code', { language: 'shell', code: 'sudo id' }, 'host_administration', /administers a host/);
		assert.deepEqual([admin.outcome, admin.not_run.reason], ['refused', 'host_administration']);
		const wall = await refused('run_code', { code: 'while True: pass', timeout_ms: 400 }, 'wall_exceeded', /bounded/);
		assert.equal(wall.outcome, 'bounded');
		await refused('run_code', { code: '1', outputs: ['gone'] }, 'output_missing', /gone/);
		await refused('run_code', { code: '1', actor: 'mallory' }, 'usage', /configuration/);
		await refused('run_code', { code: '1', conversation: 'other' }, 'usage', /configuration/);
		await refused('run_code', { code: '1', root: true }, 'usage', /no argument root/);
		await refused('run_code', { code: '1', language: 'cobol' }, 'usage', /language/);
		await refused('run_code', { code: 7 }, 'usage', /string/);
		await refused('run_code', {}, 'usage', /code is missing/);
		await refused('read_file', { path: '../../etc/passwd' }, 'path_rejected', /parent/);
		await refused('read_file', { path: 'none' }, 'file_missing', /./);
		await refused('run_code', { code: '1', packages: ['--index-url=x'] }, 'dependency_request_invalid', /./);
		await assert.rejects(client.call('no_such_tool', {}));
	},
};

const client = await connect();
if (revision === '2026-07-28') assert.equal(client.getNegotiatedProtocolVersion(), revision);
await scenarios[scenario](client);
await client.close();
