"use strict";
(() => {
	const EVERY_MS = 2000, LATEST_MS = 30000;
	const STATES = ["warm", "leased", "resetting", "creating", "retiring"];
	const at = (id) => document.getElementById(id);
	let told = 0; // when the last answer came

	// A row is made once; afterwards only its text changes, so that nothing jumps and a selection stays.
	const row = (list, key, name, text, tone) => {
		let div = list.querySelector(`div[data-key="${CSS.escape(key)}"]`);
		if (text === null || text === undefined || text === "") {
			if (div) div.remove();
			return null;
		}
		if (!div) {
			div = document.createElement("div");
			div.dataset.key = key;
			div.append(document.createElement("dt"), document.createElement("dd"));
			list.append(div);
		}
		const [dt, dd] = div.children;
		if (dt.textContent !== name) dt.textContent = name;
		if (dd.textContent !== String(text)) dd.textContent = String(text);
		dd.className = tone ? "t-" + tone : "";
		return div;
	};
	const show = (el, text) => {
		el.hidden = !text;
		if (el.textContent !== (text || "")) el.textContent = text || "";
	};
	const list = (values) => (values && values.length ? values.join(", ") : "");
	const span = (ms) => {
		const s = Math.floor(ms / 1000), m = Math.floor(s / 60), h = Math.floor(m / 60);
		return h >= 48 ? `${Math.floor(h / 24)} days` : h ? `${h} h ${m % 60} min` : m ? `${m} min` : `${s} s`;
	};

	const admission = (status) => {
		const a = (status || {}).admission || {}, pill = at("admission");
		show(pill, !status ? "status not known" : a.open ? "admission open" : `admission closed: ${a.reason || "unknown"}`);
		pill.className = "pill " + (status && a.open ? "good" : "bad");
		show(at("trouble"), status && !a.open ? a.text || "" : "");
		document.title = status && a.open ? "kz" : "kz: closed";
	};

	const pool = (s) => {
		const workers = s.workers;
		for (const state of STATES) {
			const n = workers ? workers[state] : undefined;
			const tile = row(at("counts"), state, state, workers ? n : "–");
			if (tile) tile.className = "s-" + state;
			let part = at("bar").querySelector(".s-" + state);
			if (!part) {
				part = document.createElement("i");
				part.className = "s-" + state;
				at("bar").append(part);
			}
			// the style attribute is refused by the page's policy; the property is not
			part.style.flexGrow = n || 0;
			part.style.display = n ? "" : "none";
		}
		at("bar").setAttribute("aria-label", workers ? STATES.map((k) => `${workers[k]} ${k}`).join(", ") : "not known");
		const known = s.allocated !== undefined, list = at("pool");
		row(list, "allocated", "workers", known ? `${s.allocated} of at most ${s.ceiling}` : null);
		row(list, "desired", "wanted", known ? s.desired : null);
		row(list, "waiting", "queue", known ? `${s.waiting} waiting of at most ${s.queue_max}` : null);
		row(list, "quarantined", "quarantined", known ? s.quarantined : null, s.quarantined ? "bad" : "");
		row(list, "ambiguous", "ambiguous creates", known ? s.ambiguous : null, s.ambiguous ? "warn" : "");
	};

	const network = (scope, brief) => {
		const o = scope || brief || {}, net = at("network"), known = scope || brief;
		const text = !known ? "not known" : o.text || "isolated";
		show(at("scope"), text);
		show(at("fix"), o.attention ? "Attention: what is configured is not held." + (o.fix ? ` Fix: ${o.fix}` : "") : "");
		row(net, "effective", "in force", o.effective === text ? null : o.effective, o.attention ? "warn" : "");
		row(net, "configured", "configured", known ? o.configured || "unset" : null);
		row(net, "ports", "ports", list(o.ports));
		row(net, "hosts", "hosts", list(o.hosts));
		row(net, "cidrs", "ranges", list(o.cidrs));
		row(net, "ttl", "grant life", o.ttl_s ? `${o.ttl_s} s` : null);
		row(net, "run", "a run now", o.run && o.run.text);
		row(net, "never", "denied in every mode", list(o.never).replaceAll("_", " "));
		row(net, "deny", "denied by settings", list(o.deny_cidrs));
		row(net, "proxy", "proxy", o.proxy);
		row(net, "vintage", "vintage", o.vintage);
		row(net, "revision", "revision", o.revision && o.revision.slice(0, 16));
	};

	const services = (s, gateway) => {
		const all = at("services"), tones = { ready: "good", up: "warn", down: "bad" };
		for (const one of s.services || [])
			row(all, one.service, one.service, one.state + (one.state_ms === undefined ? "" : `, ${span(one.state_ms)}`),
				tones[one.state]);
		row(all, "-listen", "this address", !gateway ? null : gateway.listening ? gateway.listen :
			gateway.listen ? `${gateway.listen}: ${gateway.text || gateway.reason}` : "none",
			gateway && gateway.reason ? "bad" : "");
	};

	const posture = (s) => {
		const p = s.posture, inner = (p || {}).posture || {}, all = at("posture");
		row(all, "runtime", "runtime", p ? p.version || p.runtime : "not observed yet", p ? "" : "warn");
		row(all, "reuse", "reuse", p ? (p.single_use ? "each worker used once" : "reused after a proved reset") : null);
		row(all, "kernel", "kernel", inner.kernel);
		row(all, "net", "own network", inner.network);
		row(all, "root", "root", inner.root_readonly === undefined ? null : inner.root_readonly ? "read-only" : "WRITABLE",
			inner.root_readonly === false ? "bad" : "");
		row(all, "nnp", "new privileges", inner.no_new_privs === undefined ? null : inner.no_new_privs ? "none" : "POSSIBLE",
			inner.no_new_privs === false ? "bad" : "");
	};

	const nodes = (s) => {
		const all = s.nodes || [];
		at("machines").hidden = all.length < 2;
		for (const n of all)
			row(at("nodes"), n.node, n.node, (n.open ? "open" : "closed") + ": " +
				STATES.map((k) => `${n.workers[k]} ${k}`).join(", "), n.open ? "" : "warn");
	};

	const about = (s) => {
		row(at("about"), "state", "state", s.state_dir);
		row(at("about"), "image", "image", s.image && s.image.slice(0, 23));
		row(at("about"), "outbox", "not yet in the audit", s.outbox);
	};

	const draw = (all) => {
		const s = all.status || {};
		admission(all.status);
		pool(s);
		network(all.scope, s.egress);
		services(s, all.gateway);
		posture(s);
		nodes(s);
		about(s);
	};

	const age = () => {
		const ms = Date.now() - told, is_stale = !told || ms > 3 * EVERY_MS;
		at("age").textContent = !told ? "no answer yet" : is_stale ? `no answer for ${span(ms)}` : "live";
		document.body.classList.toggle("stale", Boolean(told) && is_stale);
	};

	const look = async () => {
		try {
			const answer = await fetch("/status.json", { cache: "no-store", signal: AbortSignal.timeout(LATEST_MS) });
			if (answer.ok) {
				draw(await answer.json());
				told = Date.now();
			}
		} catch {
			// told by its age
		}
		age();
		// a page that nobody sees asks nothing
		if (document.hidden) document.addEventListener("visibilitychange", look, { once: true });
		else setTimeout(look, EVERY_MS);
	};
	setInterval(age, 1000);
	look();
})();
