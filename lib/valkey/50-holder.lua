-- What holders call: acquire, leave, renew, release, publish, retire, abandon.

local function granted(e)
	return { "ok", e.name, e.instance, e.node, e.fence, e["until"], e.ttl, e.lease }
end

-- A warm worker of a node that serves; outdated ones on the way are retired [POOL-15].
local function pick(x)
	for node in pairs(x.life.nodes) do
		while serves(x, node) and x.left > 0 do
			local name = index.pop_warm(x, node)
			if not name then
				break
			end
			x.left = x.left - 1
			local e = load(x, name)
			if not e or e.state ~= "warm" then
				broken("entry " .. name)
			end
			if e.image == x.image then
				return e
			end
			retire(x, e, "image_changed", "image_mismatch")
		end
	end
	return nil
end

-- Bind a worker: from here on it is single-tenant [LEASE-7].
local function grant(x, e, ask)
	e.active, e.busy = ask.active, ask.busy
	x.is_open = true
	local to = edge(x, lease_sm, "none", "grant", e)
	local till = x.now + ask.ttl
	e.lease = lease_id(e.name, ask.id)
	if not to or not move(x, e, "assign", till) then
		e.lease = "-"
		index.put(x, e, e.since)
		return nil
	end
	e["until"], e.since, e.token, e.ask, e.actor, e.conversation, e.holder, e.ttl = till, x.now, ask.token, ask.id, ask.actor,
		ask.conversation, ask.holder, ask.ttl
	e.fence = next_fence(x)
	save(x, e)
	index.begin_lease(x, ask.actor, ask.conversation, e.lease)
	note(x, "lease", "none", "grant", to, e.lease, e.name, ".", ask.actor)
	return granted(e)
end

-- Why this member or conversation must wait; nil when it need not.
local function held_back(x, ask)
	ask.active = index.active(x, ask.actor)
	if ask.busy then
		return "workspace_busy"
	end
	if ask.active >= x.conf.per_member then
		return "member_limit"
	end
	return nil
end

local function refuse(x, reason, ask)
	return settle(x, { reason, ask and ask.active or 0, x.conf and x.conf.per_member or 0 })
end

local function enqueue(x, ask)
	x.waiting = call("ZCARD", x.d .. ":deadlines")
	if x.waiting >= x.conf.queue_max then
		sweep_tickets(x)
		x.waiting = call("ZCARD", x.d .. ":deadlines")
	end
	x.is_open = true
	local to = edge(x, ticket_sm, "none", "enqueue", ask)
	if not to then
		return nil
	end
	local t = { id = ask.id, no = call("INCR", x.d .. ":tickets"), actor = ask.actor,
		conversation = ask.conversation, seen = x.now, till = x.now + min(ask.wait, x.conf.wait_ms) }
	local key = x.d .. ":t:" .. t.id
	x.life.has_line = true
	call("HSET", key, "no", t.no, "actor", t.actor, "conversation", t.conversation, "seen", t.seen, "till", t.till)
	call("PEXPIREAT", key, t.till + TICKET_GRACE_MS)
	call("ZADD", x.d .. ":deadlines", t.till, t.id)
	note(x, "ticket", "none", "enqueue", to, t.no, nil, t.id, t.actor)
	place(x, t)
	poke_all(x)
	return t
end

-- The ticket asked for is looked at in line: served, or told to go on waiting.
local function in_line(x, t, ask)
	local first = head(x)
	if first and first.id == t.id then
		local e = pick(x)
		local reply = e and grant(x, e, ask)
		if reply then
			t.first = true
			drop(x, t, "serve")
			queue.wake(x)
			return settle(x, reply)
		end
	elseif first and has_warm(x) then
		ring(x, first.id)
	end
	return settle(x, { "wait", t.no, max(t.till - x.now, 0), ask.why or "" })
end

-- Ask again, the sign of life; or ask for the first time while others wait.
local function ask_in_line(x, ask, is_first)
	local t = ticket_of(x, ask.id)
	if not t then
		if not is_first then -- somebody else's sweep found it past its time
			return refuse(x, ask.why == "workspace_busy" and ask.why or "wait_timeout", ask)
		end
		if ask.wait <= 0 then
			local e = not ask.why and not head(x) and pick(x)
			local reply = e and grant(x, e, ask)
			return reply and settle(x, reply) or refuse(x, ask.why or "wait_timeout", ask)
		end
		t = enqueue(x, ask)
		return t and in_line(x, t, ask) or refuse(x, "queue_full", ask)
	end
	if t.till <= x.now then
		drop(x, t, "time_out")
		return refuse(x, ask.why == "workspace_busy" and ask.why or "wait_timeout", ask)
	end
	call("HSET", x.d .. ":t:" .. t.id, "seen", x.now)
	t.seen = x.now
	if t.where ~= "q" or call("ZSCORE", x.d .. ":q", t.id) == false then
		unplace(x, t)
		place(x, t)
	end
	return in_line(x, t, ask)
end

local function backlog(x)
	local life = x.life
	if not life.backlog or life.backlog >= OUTBOX_MOST then
		life.backlog = call("LLEN", x.d .. ":o")
	end
	return life.backlog
end

-- The entry of a lease by its id; nil when that is not what it says now.
local function held(x, lease, token)
	local e = load(x, "w" .. sub(lease, 1, 20))
	if not e or e.lease ~= lease then
		return nil
	end
	e.given = token
	return e
end

-- A controller that begins closes admission until it knows its workers.
local COMING_UP = { not_reconciled = true, image_unpublished = true }

-- Admission is closed: who is in line keeps his place while it is only coming up; everybody else is refused.
local function shut(x, ask, why)
	local t = x.conf and ticket_of(x, ask.id)
	if t and COMING_UP[why] and t.till > x.now then
		call("HSET", x.d .. ":t:" .. t.id, "seen", x.now)
		return settle(x, { "wait", t.no, t.till - x.now, "" })
	end
	if t then
		drop(x, t, "leave")
	end
	return refuse(x, why)
end

-- acquire ASK TOKEN ACTOR CONVERSATION HOLDER WAIT TTL FIRST
local function acquire(keys, args)
	local x = begin(keys)
	local ask = { id = args[1], token = args[2], actor = args[3], conversation = args[4],
		holder = args[5] ~= "" and args[5] or "-", wait = tonumber(args[6]), ttl = tonumber(args[7]) }
	ask.busy = index.lease_of(x, ask.actor, ask.conversation)
	if ask.busy then
		local e = held(x, ask.busy, ask.token)
		if e and e.state == "leased" and e.ask == ask.id and e.token == ask.token then
			return finish(x, granted(e)) -- the answer to an earlier ask was lost
		end
	end
	local why = closed(x) or (backlog(x) >= OUTBOX_MOST and "outbox_full")
	if why then
		return shut(x, ask, why)
	end
	ask.ttl = min(ask.ttl, x.conf.lease_ms)
	ask.why = held_back(x, ask)
	if not ask.why and args[8] == "1" and line_is_empty(x) then
		local e = pick(x)
		local reply = e and grant(x, e, ask)
		if reply then
			return finish(x, reply)
		end
	end
	return ask_in_line(x, ask, args[8] == "1")
end

-- leave ASK TOKEN ACTOR CONVERSATION: the waiter gives up, and what it may have got unheard.
local function leave(keys, args)
	local x = begin(keys)
	local t = x.conf and ticket_of(x, args[1])
	if t then
		drop(x, t, "leave")
		queue.wake(x)
	end
	local lease = index.lease_of(x, args[3], args[4])
	local e = lease and held(x, lease, args[2])
	if e and e.state == "leased" and e.ask == args[1] then
		retire(x, e, "abandon", "cancelled")
	end
	return settle(x, { "ok" })
end

-- renew LEASE TOKEN [1]: 1 when it stands from now on without a local process that holds it
local function renew(keys, args)
	local x = begin(keys)
	local e = held(x, args[1], args[2])
	if not e or e.state ~= "leased" or not edge(x, lease_sm, "held", "renew", e) then
		return finish(x, { "lease_lost" })
	end
	e["until"] = x.now + e.ttl
	if args[3] == "1" then
		e.holder = "-"
	end
	save(x, e)
	index.put(x, e, e["until"])
	return finish(x, granted(e))
end

-- release LEASE TOKEN NEWTOKEN TTL HOLDER: the lease ends, the reset begins; who resets holds it now.  Asked again
-- by the same one it answers as before; of two others with the token one resets, and the other hears that it was released.
local function release(keys, args)
	local x = begin(keys)
	local e = held(x, args[1], args[2])
	if e and e.state == "resetting" and e.spent == e.given and e.given ~= "-" and e["until"] > x.now and
		(args[5] == "" or args[5] == e.holder) then
		return finish(x, { "ok", e.token, e["until"], e.name })
	end
	if not e or e.state ~= "leased" or e["until"] <= x.now or not x.conf then
		return finish(x, { index.release_of(x, args[1], args[2]) and "lease_released" or "lease_lost" })
	end
	local till = x.now + min(tonumber(args[4]), x.conf.reset_ms)
	if not move(x, e, "release", till) then
		return finish(x, { "lease_lost" })
	end
	end_lease(x, e, "release")
	e.spent, e.token, e["until"], e.since = args[2], args[3], till, x.now
	index.released(x, e.lease, args[2])
	if args[5] ~= "" then
		e.holder = args[5]
	end
	save(x, e)
	return settle(x, { "ok", args[3], till, e.name })
end

-- publish LEASE TOKEN: the reset was proved, by the holder of its token [RESET-7].
local function publish(keys, args)
	local x = begin(keys)
	local e = held(x, args[1], args[2])
	if not e or e.state ~= "resetting" or e["until"] <= x.now then
		return finish(x, { "token_superseded" })
	end
	local to, why = move(x, e, "publish", x.now)
	if not to then
		if why == "image_matches" then -- clean, but of an image that is not wanted any more
			retire(x, e, "image_changed", "image_mismatch")
			return settle(x, { "ok", "retired" })
		end
		return finish(x, { "token_superseded" })
	end
	disown(e)
	e.since = x.now
	save(x, e)
	queue.wake(x)
	return settle(x, { "ok", "warm" })
end

-- give_up LEASE TOKEN EVENT CAUSE: reset_failed, quarantine or abandon by the token's holder.
local function give_up(keys, args)
	local x = begin(keys)
	local e = held(x, args[1], args[2])
	if not e or e["until"] <= x.now or not retire(x, e, args[3], args[4] ~= "" and args[4] or nil) then
		return finish(x, { "token_superseded" })
	end
	return settle(x, { "ok" })
end
