// Node before 22.21 and 24.5 ignores HTTP_PROXY: this preload lets http, https and fetch ask the proxy for a
// tunnel (CONNECT), for every host that NO_PROXY does not name.  Agents that make their own sockets, a
// dispatcher that the program sets, and plain sockets are left alone; so is a node that can by itself.
'use strict';
const http = require('http'), https = require('https'), net = require('net'), tls = require('tls');

const env = (name) => process.env[name.toLowerCase()] || process.env[name] || '';
const [major, minor] = process.versions.node.split('.').map(Number);
const isAble = process.env.NODE_USE_ENV_PROXY === '1' &&
	(major > 24 || (major === 24 && minor >= 5) || (major === 22 && minor >= 21));

const parse = (text) => {
	try { return text ? new URL(text) : null; } catch (_) { return null; }
};
const proxies = { 'http:': parse(env('HTTP_PROXY')), 'https:': parse(env('HTTPS_PROXY')) };

// NO_PROXY: names, that stand for what is below them too, each with a port perhaps; * is everything
const direct = env('NO_PROXY').split(/[\s,]+/).filter(Boolean).map((entry) => {
	const m = /^(.*[^:]):(\d+)$/.exec(entry) || [entry, entry, ''];
	return { name: m[1].toLowerCase().replace(/^\*?\./, '').replace(/^\[|\]$/g, ''), port: m[2] };
});
const bare = (host) => String(host).toLowerCase().replace(/^\[|\]$/g, '');
const isDirect = (host, port) => direct.some((d) => (!d.port || d.port === String(port)) &&
	(d.name === '*' || host === d.name || host.endsWith('.' + d.name)));

const proxyFor = (protocol, host, port) => isDirect(bare(host), port) ? null : proxies[protocol];

const refused = (text) => Object.assign(new Error('proxy: ' + text), { code: 'ECONNREFUSED' });

// A tunnel to host:port. done(error, socket) is called once.
function tunnel(proxy, host, port, done) {
	const name = bare(host), at = (name.includes(':') ? `[${name}]` : name) + ':' + port;
	const headers = { Host: at };
	let isOver = false;
	const end = (error, socket) => {
		if (!isOver) done(error, socket);
		isOver = true;
	};
	if (proxy.username || proxy.password) {
		const who = decodeURIComponent(proxy.username) + ':' + decodeURIComponent(proxy.password);
		headers['Proxy-Authorization'] = 'Basic ' + Buffer.from(who).toString('base64');
	}
	const request = http.request({
		method: 'CONNECT', path: at, headers, setHost: false,
		createConnection: () => net.connect(Number(proxy.port || 80), bare(proxy.hostname)),
	});
	request.once('connect', (answer, socket, head) => {
		if (answer.statusCode < 200 || answer.statusCode > 299) {
			socket.destroy();
			end(refused(`${at}: ${answer.statusCode} ${answer.statusMessage}`));
			return;
		}
		if (head.length) socket.unshift(head);
		end(null, socket);
	});
	request.once('response', (answer) => {
		answer.resume();
		request.destroy();
		end(refused(`${at}: ${answer.statusCode} ${answer.statusMessage}`));
	});
	request.once('error', (error) => end(error));
	request.end();
	return request;
}

// Every agent that leaves making connections to node comes by here.
function patch(agent, protocol, secure) {
	const old = agent.prototype.createConnection;
	agent.prototype.createConnection = function createConnection(...args) {
		const options = args[0], done = args[1];
		if (!options || typeof options !== 'object' || typeof done !== 'function' || options.socketPath || options.socket)
			return old.apply(this, args);
		const host = options.host || options.hostname || 'localhost', port = options.port || (secure ? 443 : 80);
		const proxy = proxyFor(protocol, host, port);
		if (!proxy) return old.apply(this, args);
		tunnel(proxy, host, port, (error, socket) => {
			if (error) done(error);
			else if (secure) done(null, old.call(this, { ...options, socket }));
			else done(null, socket);
		});
	};
}

// How a connection of fetch is made: by the proxy, or by what fetch had.
function connector(options, done) {
	const isSecure = options.protocol === 'https:';
	const port = Number(options.port || (isSecure ? 443 : 80)), host = bare(options.hostname);
	const proxy = proxyFor(options.protocol, host, port);
	const name = options.servername || (net.isIP(host) ? undefined : host);
	const more = { servername: name, ALPNProtocols: ['http/1.1'] };
	const whole = (socket, event) => {
		const fail = (error) => done(error);
		socket.once('error', fail);
		socket.once(event, () => {
			socket.removeListener('error', fail);
			socket.setNoDelay(true);
			done(null, socket);
		});
	};
	if (!proxy) {
		whole(isSecure ? tls.connect({ host, port, ...more }) : net.connect({ host, port }),
			isSecure ? 'secureConnect' : 'connect');
		return;
	}
	tunnel(proxy, host, port, (error, socket) => {
		if (error) done(error);
		else if (isSecure) whole(tls.connect({ socket, ...more }), 'secureConnect');
		else done(null, socket);
	});
}

function patchFetch() {
	const key = Symbol.for('undici.globalDispatcher.1'), old = globalThis.fetch;
	let isTried = false;
	const install = () => {
		isTried = true;
		void globalThis.Response; // loads what fetch is made of, and its dispatcher with it
		const has = globalThis[key];
		// the default; a program that chose a dispatcher for itself keeps it
		if (has && has.constructor.name === 'Agent')
			Object.defineProperty(globalThis, key, {
				value: new has.constructor({ connect: connector }),
				writable: true, enumerable: false, configurable: false,
			});
	};
	const fetch = function fetch(...args) {
		if (!isTried) install();
		return old.apply(this, args);
	};
	Object.defineProperty(globalThis, 'fetch', { value: fetch, writable: true, enumerable: true, configurable: true });
}

if (!isAble && (proxies['http:'] || proxies['https:'])) {
	patch(http.Agent, 'http:', false);
	patch(https.Agent, 'https:', true);
	if (typeof globalThis.fetch === 'function') patchFetch();
}
