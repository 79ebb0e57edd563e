// Running the text of a cell.

function show(value) {
	if (value !== undefined) console.log(typeof value === 'string' ? util.inspect(value) : value);
}

// The body of an async function whose last expression is returned: told by trying to compile it so.
const PARAMETERS = ['require', 'module', 'exports', '__filename', '__dirname', '__kz_show__', '__kz_import__'];

const BEFORE = 'return (async () => {';

function compiles(body) {
	try {
		new vm.Script(`(async function (${PARAMETERS.join()}) {${body}\n})`);
		return true;
	} catch (_) {
		return false;
	}
}

// Does a statement end where head does? Not within a comment, where anything may follow; and not before what would go on with
// an expression, unless there is none or a ';' stands between them.
function isEnded(head, tail) {
	if (compiles(`${head}#`)) return false;
	const before = head.replace(/^\s*\/\/.*$/gm, '').trim();
	return !before || before.endsWith(';') || !/^\s*[.,?:+\-*/%&|^<>=()\[\]`]/.test(tail);
}

// Where the last statement may begin: after a line end, ';' or '}', at the top level. Found by trying, latest first.
// masked: the text with blanks for what is no script.
function withLast(text, masked = text) {
	const trimmed = masked.replace(/[\s;]+$/, '');
	if (/;\s*$/.test(text) && /;\s*;\s*$/.test(text)) return undefined;
	const starts = [0];
	for (let i = 0; i < trimmed.length; i++) if (text[i] === '\n' || text[i] === ';' || text[i] === '}') starts.push(i + 1);
	let tried = 0;
	for (let i = starts.length - 1; i >= 0 && tried < 200; i--) {
		const tail = trimmed.slice(starts[i]);
		if (!tail.trim() || /^\s*(\/\/|\/\*)/.test(tail)) continue;
		tried++;
		// what stands before must be whole statements, and the rest one expression
		if (/^\s*(function|class|async\s+function|\{)/.test(tail)) { if (compiles(trimmed)) return undefined; continue; }
		const head = trimmed.slice(0, starts[i]);
		if (compiles(`__kz_show__(await (${tail}\n))`) && compiles(head) && compiles(`${head}\n;(${tail}\n)`) && isEnded(head, tail))
			return text.startsWith(tail, starts[i]) ? `${text.slice(0, starts[i])};__kz_show__(await (${tail}\n))` : undefined;
	}
	return undefined;
}

// A module with blanks for its imports.
const withoutImports = (text) => text.replace(/^[ \t]*import\b(?!\s*\()(?:[^;'"]*?\bfrom)?\s*(['"])[^'"\n]*\1[ \t]*;?/gm, (s) => s.replace(/[^\n]/g, ' '));

const isModule = (text) => !compiles(text) && /^\s*import\s*[\w{*'"]/m.test(text);

async function runCell(text) {
	const require = createRequire(path.join(space, 'cell.js'));
	if (isModule(text)) {
		isCell = true;
		const at = path.join(space, `.kz-cell-${process.pid}.mjs`);
		process.on('exit', () => remove(at)); // also where the cell ends the process
		defineProperty(globalThis, '__kz_show__', { value: show, configurable: true });
		writeFileSync(at, withLast(text, withoutImports(text)) ?? text);
		await import(pathToFileURL(at).href);
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
		return vm.compileFunction(`${BEFORE}${text}\n})()`, PARAMETERS, {
			filename: '<cell>', columnOffset: -BEFORE.length,
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
	console.error(e instanceof Error && e.stack ? lines(e.stack).join('\n') : `Uncaught ${util.inspect(e)}`);
}

// Of a stack what is the cell's own; a line of it that is shown, and the marks below, without what stands around the cell.
function lines(stack) {
	const all = stack.split('\n').filter((l) => !l.includes('kernel.mjs') && !/node:(internal|vm)/.test(l));
	const i = all.findIndex((l) => l.startsWith(BEFORE));
	if (i >= 0) for (const k of [i, i + 1]) all[k] = all[k]?.slice(BEFORE.length);
	return all;
}

// A state that a cell declares is another one than that which is kept.
function noteShadow(text) {
	if (isModule(text) ? /^\s*(?:let|const|var)\s+state\b/m.test(text) : compiles(text) && !compiles(`${text}\n;let state`))
		push(report.notes, 'the cell declares a state of its own: what is kept is the object state, without let, const or var before it');
}

restore();
globalThis.kz = { tools, ToolError, reset: () => { reset = true; } };
process.argv.splice(1, 2);
send({ v: 1, type: 'state', generation });
process.on('exit', save);
process.on('uncaughtException', fail);
process.on('unhandledRejection', fail);

const text = readFileSync(cellPath, 'utf8').replace(/^#!.*/, '');
noteShadow(text);
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
