-- Worker entries: the one setter of their state, and the sets that count them.

-- An entry is one value, its words in this order, "-" for nothing.  A call that reads
-- what this library wrote last compares it whole and need not take it apart.
local function save(x, e)
	local text = e.state .. " " .. e.node .. " " .. e.instance .. " " .. e.image .. " " .. text_of(e.settle) .. " " ..
		text_of(e.since) .. " " .. text_of(e["until"]) .. " " .. e.token .. " " .. e.spent .. " " ..
		e.ask .. " " .. e.actor .. " " .. e.conversation .. " " .. e.holder .. " " .. text_of(e.fence) .. " " ..
		text_of(e.ttl) .. " " .. text_of(e.tries) .. " " .. e.mark
	e.text = text
	x.life.cache[e.name] = e
	call("SET", x.d .. ":w:" .. e.name, text)
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

local function load(x, name)
	local text = call("GET", x.d .. ":w:" .. name)
	if not text then
		x.life.cache[name] = nil
		return nil
	end
	local e = x.life.cache[name]
	if not e or e.text ~= text then
		e = parse_entry(name, text)
		e.text = text
		x.life.cache[name] = e
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
	e.text = nil -- until it is saved
	e.state = to
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
	call("DEL", x.d .. ":w:" .. e.name)
	x.life.cache[e.name] = nil
	call("ZREM", x.d .. ":all:" .. e.node, e.name)
	call("ZREM", x.d .. ":unsure:" .. e.node, e.name)
	call("SREM", x.d .. ":quarantined", e.name)
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
	if not move(x, e, event, score, cause) then
		return nil
	end
	-- The node's name may have been forgotten while it had nothing to its name.
	call("HSETNX", x.d .. ":n", e.node, 1)
	call("ZADD", x.d .. ":all:" .. e.node, 0, e.name)
	save(x, e)
	return e
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
				local e = load(x, names[i])
				if e then
					index.put(x, e, e.state == "warm" and e.since or e["until"])
					if e.state == "leased" then
						index.begin_lease(x, e.actor, e.conversation, e.lease)
					end
				end
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
