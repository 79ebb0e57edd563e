-- The line: FIFO tickets, passed over when not eligible, never losing their number.
--
--   :q             tickets that may be served, by number      (where = q)
--   :qa:ACTOR      the same ones of one member
--   :pa:ACTOR      parked: the member has no room              (where = a)
--   :pc:CONV       parked: the conversation is in use          (where = c)
--                  silent waiters are in none of these         (where = s)
--   :deadlines     every waiting ticket, by the end of its wait; its size is the queue

local function ticket_of(x, id)
	local v = call("HMGET", x.d .. ":t:" .. id, "no", "actor", "conversation", "seen", "till", "where")
	if not v[1] then
		return nil
	end
	return { id = id, no = tonumber(v[1]), actor = v[2], conversation = v[3], seen = tonumber(v[4]),
		till = tonumber(v[5]), where = v[6] }
end

local function unplace(x, t)
	if t.where == "q" then
		call("ZREM", x.d .. ":q", t.id)
		call("ZREM", x.d .. ":qa:" .. t.actor, t.id)
	elseif t.where == "a" then
		call("ZREM", x.d .. ":pa:" .. t.actor, t.id)
	elseif t.where == "c" then
		call("ZREM", x.d .. ":pc:" .. t.conversation, t.id)
	end
end

local function put(x, t, where, key)
	t.where = where
	call("HSET", x.d .. ":t:" .. t.id, "where", where)
	if where == "q" then
		call("ZADD", x.d .. ":q", t.no, t.id)
	end
	if key then
		call("ZADD", key, t.no, t.id)
		call("PEXPIRE", key, x.conf.wait_ms + TICKET_GRACE_MS)
	end
end

-- Does nobody wait?  Tickets come by enqueue only, so a life that saw none need not look.
local function line_is_empty(x)
	local life = x.life
	if life.has_line and call("EXISTS", x.d .. ":deadlines") == 0 then
		life.has_line = false
	end
	return not life.has_line
end

-- Room of a member beyond its leases and its tickets that are up already.
local function member_room(x, actor)
	local key = x.d .. ":qa:" .. actor
	local room = x.conf.per_member - index.active(x, actor)
	local up = room > 0 and call("ZCARD", key) or 0
	if up > 0 and up >= room then
		-- Before anybody is held back: is each of them there?  A lost one would take a place.
		for _, id in ipairs(call("ZRANGE", key, 0, x.conf.per_member)) do
			if call("ZSCORE", x.d .. ":q", id) == false then
				call("ZREM", key, id)
				up = up - 1
			end
		end
	end
	return room - up
end

-- Put a ticket where it belongs now.
local function place(x, t)
	if index.lease_of(x, t.actor, t.conversation) then
		put(x, t, "c", x.d .. ":pc:" .. t.conversation)
	elseif member_room(x, t.actor) <= 0 then
		put(x, t, "a", x.d .. ":pa:" .. t.actor)
	else
		put(x, t, "q", x.d .. ":qa:" .. t.actor)
	end
end

-- The member's next tickets move up while it has room.
local function fill(x, actor)
	local key = x.d .. ":pa:" .. actor
	local room = call("EXISTS", key) == 1 and min(member_room(x, actor), 10) or 0
	while room > 0 and x.left > 0 do
		local popped = call("ZPOPMIN", key)
		if not popped[1] then
			return
		end
		x.left = x.left - 1
		local t = ticket_of(x, popped[1])
		if t then
			place(x, t)
			if t.where == "q" then
				room = room - 1
			end
		end
	end
end

-- A ticket leaves for good.
local function drop(x, t, event)
	local to, why = edge(x, ticket_sm, "waiting", event, t)
	if not to then
		return nil, why
	end
	unplace(x, t)
	call("ZREM", x.d .. ":deadlines", t.id)
	call("DEL", x.d .. ":t:" .. t.id, x.d .. ":wake:" .. t.id)
	note(x, "ticket", "waiting", event, to, t.no, nil, t.id, t.actor)
	if event ~= "serve" then
		fill(x, t.actor)
	end
	return to
end

-- Tickets whose wait is over go, whether their waiters live or not [LEASE-6].
local function sweep_tickets(x)
	local due = call("ZRANGEBYSCORE", x.d .. ":deadlines", "-inf", x.now, "LIMIT", 0, max(x.left, 0))
	for i = 1, #due do
		local t = ticket_of(x, due[i])
		x.left = x.left - 1
		if t then
			drop(x, t, "time_out")
		else
			call("ZREM", x.d .. ":deadlines", due[i])
			call("ZREM", x.d .. ":q", due[i])
		end
	end
	-- Ends that are further off than any wait were written before the clock went back.
	local most = format("%.0f", x.now + x.conf.wait_ms)
	local far = call("ZRANGEBYSCORE", x.d .. ":deadlines", "(" .. most, "+inf", "LIMIT", 0, max(x.left, 0))
	for i = 1, #far do
		x.left = x.left - 1
		call("ZADD", x.d .. ":deadlines", most, far[i])
		if call("EXISTS", x.d .. ":t:" .. far[i]) == 1 then
			call("HSET", x.d .. ":t:" .. far[i], "till", most)
		end
	end
end

-- The lowest live, eligible ticket.  Those before it that are not are put aside, so
-- that no one looks at them twice.
local function head(x)
	while x.left > 0 do
		local id = call("ZRANGE", x.d .. ":q", 0, 0)[1]
		if not id then
			return nil
		end
		x.left = x.left - 1
		local t = ticket_of(x, id)
		if not t then
			call("ZREM", x.d .. ":q", id)
		elseif t.till <= x.now then
			drop(x, t, "time_out")
		elseif t.seen < x.now - SILENT_MS or t.seen > x.now + CLOCK_BACK_MS then
			unplace(x, t)
			put(x, t, "s")
			fill(x, t.actor)
		elseif index.active(x, t.actor) >= x.conf.per_member then
			unplace(x, t)
			put(x, t, "a", x.d .. ":pa:" .. t.actor)
		elseif index.lease_of(x, t.actor, t.conversation) then
			unplace(x, t)
			put(x, t, "c", x.d .. ":pc:" .. t.conversation)
			fill(x, t.actor)
		else
			return t
		end
	end
	return nil
end

local function has_warm(x)
	for node in pairs(x.life.nodes) do
		local s = x.life.shelves[node]
		if s and s.warm[1] and serves(x, node) then
			return true
		end
	end
	return false
end

local function ring(x, id)
	local key = x.d .. ":wake:" .. id
	if call("EXISTS", key) == 0 then
		call("RPUSH", key, "1")
		call("PEXPIRE", key, 5000)
	end
end

-- The one wake routine: everything that frees something ends here.
function queue.wake(x)
	if not x.conf or line_is_empty(x) or closed(x) or not has_warm(x) then
		return
	end
	local t = head(x)
	if t then
		ring(x, t.id)
	end
end

-- A lease of a member and conversation ended.
function queue.freed(x, actor, conversation)
	if not x.conf or line_is_empty(x) then
		return
	end
	local next_one = call("ZPOPMIN", x.d .. ":pc:" .. conversation)[1]
	local t = next_one and ticket_of(x, next_one)
	if t then
		place(x, t)
	end
	fill(x, actor)
	x.is_freed = true
end

-- Before the call ends: the line is looked at once, however much was freed.
local function settle(x, reply)
	if x.is_freed then
		queue.wake(x)
	end
	return finish(x, reply)
end
