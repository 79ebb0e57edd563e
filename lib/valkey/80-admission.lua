-- Settings, image, admission, status.

-- What makes no sense together stops admission by name [POOL-8].
local function nonsense(conf)
	if not conf then
		return "settings"
	end
	for _, name in ipairs(CONF) do
		if conf[name] ~= conf[name] or conf[name] < 0 or conf[name] ~= floor(conf[name]) then
			return name
		end
	end
	if conf.ceiling < 1 or conf.warm_min > conf.ceiling then
		return "SANDBOX_WARM_POOL_MIN"
	end
	if conf.target_idle > conf.ceiling then
		return "SANDBOX_POOL_TARGET_IDLE"
	end
	if conf.creates < 1 then
		return "SANDBOX_MAX_CONCURRENT_CREATES"
	end
	if conf.per_member < 1 then
		return "SANDBOX_MAX_CONCURRENT_PER_MEMBER"
	end
	if conf.lease_ms < 1 or conf.reset_ms < 1 or conf.create_ms < 1 or conf.delete_ms < 1 then
		return "SANDBOX_LEASE_TTL_SECONDS"
	end
	return nil
end

-- configure TEXT: from now on everybody decides by these, and by this library.
local function configure(keys, args)
	local x = begin(keys, false, true)
	local bad = nonsense(parse_conf(args[1]))
	if bad then
		x.life.why = "setting_invalid"
		return finish(x, { "setting_invalid", bad })
	end
	if x.life.why == "setting_invalid" then
		x.life.why = "not_reconciled"
	end
	set_terms(x, DIGEST, x.image or "", args[1])
	queue.wake(x)
	return finish(x, { "ok" })
end

local function image(keys, args)
	local x = begin(keys)
	set_terms(x, x.digest or "", args[1], x.life.conf_text or "")
	return finish(x, { "ok" })
end

-- open NODE SPAN ME
local function open(keys, args)
	local x = begin(keys)
	if is_taken(x.d, args[1], args[3]) then
		return finish(x, { "node_taken" })
	end
	local n = x.life.nodes[args[1]]
	if not n or not n.fresh or n.fresh <= x.now then
		return finish(x, { "not_reconciled" })
	end
	if not x.conf or x.digest ~= DIGEST then
		return finish(x, { "setting_invalid", "settings" })
	end
	if not x.image then
		return finish(x, { "image_unpublished" })
	end
	if close_if_evicting(x) then
		return finish(x, { "valkey_evicts" })
	end
	if not build_index(x) then -- the leases of other nodes count too
		return finish(x, { "ok", "again" })
	end
	n.fresh = n.fresh - (n.span or 10000) + tonumber(args[2])
	n.span = tonumber(args[2])
	n.open, n.why, x.life.why = true, nil, nil
	queue.wake(x)
	return finish(x, { "ok" })
end

-- close NODE REASON ME: one node, or all with NODE empty.  ME is "-" for an operator.
local function close(keys, args)
	local x = begin(keys)
	if args[3] ~= "-" and is_taken(x.d, args[1], args[3]) then
		return finish(x, { "node_taken" })
	end
	if args[1] == "" then
		x.life.why = args[2]
	end
	for name, n in pairs(x.life.nodes) do
		if args[1] == "" or args[1] == name then
			n.open, n.why = false, args[2]
		end
	end
	return finish(x, { "ok" })
end

-- How many transitions some node has not stored; the last line stays, as the mark of its life.
local function untold(d)
	local key, cursors = d .. ":o", call("HVALS", d .. ":oc")
	local length, base = call("LLEN", key), tonumber(call("GET", d .. ":ob") or 0)
	if not cursors[1] then
		return length - (length > 0 and is_birth(call("LINDEX", key, 0)) and 1 or 0)
	end
	local least = base + length
	for i = 1, #cursors do
		least = min(least, max(tonumber(string.match(cursors[i], "^%d+")), base))
	end
	return base + length - least
end

local function now(keys)
	return begin(keys, true).now
end

local function status(keys)
	local x = begin(keys, true)
	local why = closed(x)
	local out = { "open", why and 0 or 1, "reason", why or "", "now_ms", x.now, "image", x.image or "",
		"store", x.life.store or "", "fence", x.life.fence, "waiting", call("ZCARD", x.d .. ":deadlines"),
		"outbox", untold(x.d), "quarantined", call("SCARD", x.d .. ":quarantined") }
	local function add(key, value)
		out[#out + 1] = key
		out[#out + 1] = value
	end
	if not x.conf then
		return { "ok", out, {} }
	end
	for i = 1, #CONF do
		add(CONF[i], x.conf[CONF[i]])
	end
	local p = census(x)
	local nodes = {}
	add("allocated", p.allocated)
	add("desired", pool.desired(p))
	add("eligible", p.waiting)
	add("ambiguous", p.ambiguous)
	for name in pairs(p.of) do
		nodes[#nodes + 1] = { name, serves(x, name) and 1 or 0 }
	end
	return { "ok", out, nodes }
end

-- list NODE AFTER: a page of its workers.
local function list(keys, args)
	local x = begin(keys, true)
	local names = call("ZRANGEBYLEX", x.d .. ":all:" .. args[1], args[2] == "" and "-" or "(" .. args[2], "+", "LIMIT", 0, ITEMS)
	local out = {}
	for i = 1, #names do
		local e = load(x, names[i])
		if e then
			out[#out + 1] = { e.name, e.state, e.instance, e.lease, e.actor, e.conversation, e.fence, e["until"], e.since }
		end
	end
	return { "ok", names[ITEMS] or "", out }
end

-- show LEASE
local function show(keys, args)
	local x = begin(keys, true)
	local e = held(x, args[1], "-")
	if not e then
		return { "lease_lost" }
	end
	return { "ok", e.name, e.instance, e.node, e.fence, e["until"], e.ttl, e.lease, e.actor, e.conversation, e.state }
end

-- released LEASE TOKEN: how its release by this token stands or ended
local function released(keys, args)
	local x = begin(keys, true)
	local how = index.release_of(x, args[1], args[2])
	return how and { "ok", how } or { "lease_lost" }
end

-- In how many deployments did this library open admission that is still fresh?
local function in_use()
	if not call then
		bind()
	end
	local time = call("TIME")
	local count, ms = 0, time[1] * 1000
	for _, life in pairs(lives) do
		for _, n in pairs(life.nodes) do
			if n.fresh and n.fresh > ms then
				count = count + 1
			end
		end
	end
	return count
end

-- The tables as they run here, for the test that compares every pair.
local function machine(_, args)
	local sm = ({ worker = worker_sm, lease = lease_sm, ticket = ticket_sm })[args[1]]
	local row = sm and sm.next[args[2]]
	if not row then
		return { "unknown" }
	end
	local to = row[args[3]]
	return to and { "to", to.to } or { "refuse", sm.refuse[args[2]][args[3]] or "unknown" }
end
