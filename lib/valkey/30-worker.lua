-- Worker entries: the one setter of their state, and the sets that count them.

-- An entry is one value, its words in this order, "-" for nothing.  What this life wrote
-- last it knows; writing answers what was there, and that must be it.
local function save(x, e)
	if e.fence_of ~= e.fence then
		e.fence_of, e.fence_text = e.fence, text_of(e.fence)
	end
	local text = e.state .. " " .. e.node .. " " .. e.instance .. " " .. e.image .. " " .. text_of(e.settle) .. " " ..
		text_of(e.since) .. " " .. text_of(e["until"]) .. " " .. e.token .. " " .. e.spent .. " " ..
		e.ask .. " " .. e.actor .. " " .. e.conversation .. " " .. e.holder .. " " .. e.fence_text .. " " ..
		text_of(e.ttl) .. " " .. text_of(e.tries) .. " " .. e.mark
	local key = x.d .. ":w:" .. e.name
	local was = call("SET", key, text, "GET")
	if was ~= (e.text or false) then
		if was then
			call("SET", key, was)
		else
			call("DEL", key)
		end
		broken("entry " .. e.name)
	end
	e.text = text
	x.life.cache[e.name] = e
end

-- A lease's id names its worker, so that nothing has to be looked up by it.
local function lease_id(worker, ask)
	return sub(worker, 2, 21) .. sub(ask, 1, 12)
end

local WORDS = { "state", "node", "instance", "image", "settle", "since", "until", "token", "spent", "ask", "actor",
	"conversation", "holder", "fence", "ttl", "tries", "mark" }
local NUMBERS = { "settle", "since", "until", "fence", "ttl", "tries" }

local function parse_entry(name, text)
	local e, i = { name = name }, 0
	for word in gmatch(text, "%S+") do
		i = i + 1
		e[WORDS[i] or "more"] = word
	end
	for n = 1, #NUMBERS do
		e[NUMBERS[n]] = tonumber(e[NUMBERS[n]]) or 0
	end
	e.lease = e.ask ~= "-" and lease_id(name, e.ask) or "-"
	return e
end

-- What is stored; readers always look there.
local function read(x, name)
	local text = call("GET", x.d .. ":w:" .. name)
	if not text then
		return nil
	end
	local e = parse_entry(name, text)
	e.text = text
	return e
end

local function load(x, name)
	if x.is_reader then
		return read(x, name)
	end
	local e = x.life.cache[name]
	if not e then
		e = read(x, name)
		x.life.cache[name] = e
		return e
	end
	e.given, e.gone, e.certain, e.taken = nil, nil, nil, nil
	return e
end

-- The stored sets: workers that wait for their controller, by the time it must act.
local SETS = { creating = ":creating:", retiring = ":retiring:" }

-- Move a worker by an event: table, guards, sets, log.  Every change of a worker's
-- state passes here.  score orders it in the set of its new state.
local function move(x, e, event, score, cause)
	local from = e.state
	local to, why = edge(x, worker_sm, from, event, e)
	if not to then
		return nil, why
	end
	local old, new = SETS[from], SETS[to]
	if old and old ~= new then
		call("ZREM", x.d .. old .. e.node, e.name)
	end
	if new then
		call("ZADD", x.d .. new .. e.node, score, e.name)
	end
	e.state = to
	if from == "resetting" and to ~= from then
		index.released(x, e.lease, e.spent .. (to == "warm" and " clean" or " retired"))
	end
	index.put(x, e, score)
	note(x, "worker", from, event, to, e.name, ".", e.lease, nil, cause)
	return to
end

-- Serving the line; defined in 40-queue.lua and needed here.
local queue = {}

-- The lease of a worker ends by an event; what it counted for counts no more [LEASE-21].
local function end_lease(x, e, event, cause)
	local to = edge(x, lease_sm, "held", event, e)
	if not to then
		return nil
	end
	index.end_lease(x, e.actor, e.conversation)
	note(x, "lease", "held", event, to, e.lease, e.name, ".", e.actor, cause)
	queue.freed(x, e.actor, e.conversation)
	return to
end

-- Nobody owns it any more.
local function disown(e)
	e.token, e.spent, e.lease, e.ask, e.holder, e["until"] = "-", "-", "-", "-", "-", 0
end

-- Which end a lease has when its worker leaves by an event.
local ends = { expire = "expire", abandon = "lose", quarantine = "lose", lost = "lose" }

-- Never used again: counted, tokenless, to be deleted and proved absent.
local function retire(x, e, event, cause)
	local from = e.state
	local score = max(x.now, e.settle)
	if not move(x, e, event, score, cause) then
		return nil
	end
	if from == "leased" then
		end_lease(x, e, ends[event], cause)
	end
	disown(e)
	e.since, e.tries = x.now, 0
	if event == "quarantine" then
		e.mark = "quarantined"
		call("SADD", x.d .. ":quarantined", e.name)
	end
	save(x, e)
	poke(x, e.node)
	return e.state
end

-- Proved absent: the only thing that frees capacity [POOL-20, INV-9].
local function forget(x, e, event)
	if not move(x, e, event, 0) then
		return nil
	end
	if call("DEL", x.d .. ":w:" .. e.name) == 0 then
		broken("entry " .. e.name)
	end
	x.life.cache[e.name] = nil
	call("ZREM", x.d .. ":unsure:" .. e.node, e.name)
	call("SREM", x.d .. ":quarantined", e.name)
	call("ZREM", x.d .. ":all:" .. e.node, e.name) -- last: by this name the rest can be found again
	poke(x, e.node)
	return true
end

-- A new entry of a worker, counted from now on.
local function enter(x, e, event, score, cause)
	e.state, e.since, e.image, e.actor, e.conversation, e.fence, e.ttl, e.tries, e.mark = "absent", x.now, e.image or "-",
		"-", "-", 0, 0, 0, "-"
	local token, till = e.token, e["until"]
	disown(e)
	e.token, e["until"] = token, till
	if not edge(x, worker_sm, "absent", event, e) then
		return nil
	end
	-- First, so that whatever else is written can be found by it.  The node's name may have
	-- been forgotten while it had nothing to its name.
	call("HSETNX", x.d .. ":n", e.node, 1)
	call("ZADD", x.d .. ":all:" .. e.node, 0, e.name)
	move(x, e, event, score, cause)
	save(x, e)
	return e
end

-- Times that this clock has not told yet are of one that went back since: the spans stay,
-- a lease ends no later than its time to live from now [LEASE-11, LEASE-13].
local function turn_back(x, e)
	local ahead = max(e.since - x.now, 0)
	local till = e["until"] - min(ahead, e["until"])
	if e.state == "leased" then
		till = min(till, x.now + e.ttl)
	end
	if ahead > 0 or till ~= e["until"] then
		e.since, e["until"], e.settle = e.since - ahead, till, e.settle - min(ahead, e.settle)
		save(x, e)
	end
end

-- Sets follow from the entries too; a call that ended half-way may have left them behind.
local function mend(x, e)
	for state, set in pairs(SETS) do
		local key = x.d .. set .. e.node
		local score = tonumber(call("ZSCORE", key, e.name) or nil)
		if state ~= e.state then
			if score then
				call("ZREM", key, e.name)
			end
		elseif state == "creating" then
			call("ZADD", key, e["until"], e.name)
		elseif not score or score > max(x.now + x.conf.delete_ms, e.settle) then
			call("ZADD", key, max(x.now, e.settle), e.name)
		end
	end
	if e.state == "retiring" and e.settle > x.now then
		call("ZADD", x.d .. ":unsure:" .. e.node, e.settle, e.name)
	end
	if e.mark == "quarantined" then
		call("SADD", x.d .. ":quarantined", e.name)
	end
end

-- One name that counts, in a new life of the library.
local function index_one(x, node, name)
	local e = load(x, name)
	if not e then -- no create of it was ever handed out, or it was proved absent
		call("ZREM", x.d .. ":all:" .. node, name)
		call("ZREM", x.d .. ":creating:" .. node, name)
		call("ZREM", x.d .. ":retiring:" .. node, name)
		call("ZREM", x.d .. ":unsure:" .. node, name)
		call("SREM", x.d .. ":quarantined", name)
		return
	end
	turn_back(x, e)
	mend(x, e)
	index.put(x, e, e.state == "warm" and e.since or e["until"])
	if e.state == "leased" then
		index.begin_lease(x, e.actor, e.conversation, e.lease)
	end
end

-- Entries of an earlier life are put into the index, a page a call; true when all are.
local function build_index(x)
	for _, node in ipairs(call("HKEYS", x.d .. ":n")) do
		local after = x.life.indexed[node] or ""
		if after ~= true then
			if x.left <= 0 then
				return false
			end
			local names = call("ZRANGEBYLEX", x.d .. ":all:" .. node, after == "" and "-" or "(" .. after, "+", "LIMIT", 0, x.left)
			for i = 1, #names do
				index_one(x, node, names[i])
			end
			x.life.indexed[node] = #names < x.left and true or names[#names]
			x.left = x.left - #names
			if x.life.indexed[node] ~= true then
				return false
			end
		end
	end
	return true
end
