-- Worker entries: the one setter of their state, and the sets that count them.

local FIELDS = { "state", "node", "instance", "image", "token", "until", "since", "settle", "lease", "spent", "actor",
	"conversation", "holder", "fence", "ttl", "quarantine", "ready" }

local function load(x, name)
	local v = call("HMGET", x.d .. ":w:" .. name, unpack(FIELDS))
	if not v[1] then
		return nil
	end
	local e = { name = name }
	for i = 1, #FIELDS do
		e[FIELDS[i]] = v[i] or ""
	end
	e["until"] = tonumber(e["until"]) or 0
	e.since = tonumber(e.since) or 0
	e.settle = tonumber(e.settle) or 0
	return e
end

-- Move a worker by an event: table, guards, sets, log.  Every change of a worker's
-- state passes here.  score orders it in the set of its new state.
local function move(x, e, event, score, cause)
	local from = e.state
	local to, why = edge(x, worker_sm, from, event, e)
	if not to then
		return nil, why
	end
	local key = x.d .. ":s:"
	if from ~= "absent" and not e.is_popped and from ~= to then
		call("ZREM", key .. from .. ":" .. e.node, e.name)
	end
	if to ~= "absent" then
		call("ZADD", key .. to .. ":" .. e.node, score, e.name)
	end
	e.is_popped = nil
	e.state = to
	note(x, "worker", from, event, to, e.name, e.name, e.lease ~= "" and e.lease or nil, nil, cause)
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
	call("SREM", x.d .. ":a:" .. e.actor, e.lease)
	call("HDEL", x.d .. ":x", "c:" .. e.conversation)
	note(x, "lease", "held", event, to, e.lease, e.name, e.lease, e.actor, cause)
	queue.freed(x, e.actor, e.conversation)
	return to
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
	if e.lease ~= "" then
		call("HDEL", x.d .. ":x", "l:" .. e.lease)
	end
	call("HSET", x.d .. ":w:" .. e.name, "state", e.state, "token", "", "spent", "", "lease", "", "holder", "",
		"until", 0, "since", x.now, "tries", 0)
	if event == "quarantine" then
		call("HSET", x.d .. ":w:" .. e.name, "quarantine", 1)
		call("SADD", x.d .. ":quarantined", e.name)
	end
	poke(x, e.node)
	return e.state
end

-- Proved absent: the only thing that frees capacity [POOL-20, INV-9].
local function forget(x, e, event)
	if not move(x, e, event, 0) then
		return nil
	end
	call("DEL", x.d .. ":w:" .. e.name)
	call("ZREM", x.d .. ":all:" .. e.node, e.name)
	call("ZREM", x.d .. ":unsure:" .. e.node, e.name)
	call("SREM", x.d .. ":quarantined", e.name)
	poke(x, e.node)
	return true
end

-- A new entry of a worker, counted from now on.
local function enter(x, e, event, score, cause)
	e.state = "absent"
	e.lease = ""
	if not move(x, e, event, score, cause) then
		return nil
	end
	call("ZADD", x.d .. ":all:" .. e.node, 0, e.name)
	call("HSET", x.d .. ":w:" .. e.name, "state", e.state, "node", e.node, "instance", e.instance, "image", e.image or "",
		"token", e.token, "until", e["until"], "since", x.now, "settle", e.settle)
	return e
end
