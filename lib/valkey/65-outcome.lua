-- What the controller tells: how a create or a delete ended, who is lost, which holder is gone.

-- ready WORKER TOKEN INSTANCE IMAGE
local function ready(keys, args)
	local x = begin(keys)
	local e = load(x, args[1])
	if not e or e.state ~= "creating" or e["until"] <= x.now then
		return finish(x, { "token_superseded" })
	end
	e.given = args[2]
	if not guard.token_matches(x, e) or e.instance ~= args[3] then
		return finish(x, { "token_superseded" })
	end
	e.image = args[4]
	e.settle = 0 -- it was answered: there it is, and it can be deleted
	if not move(x, e, "ready", x.now) then
		retire(x, e, "image_changed", "image_mismatch")
		return settle(x, { "image_mismatch" })
	end
	disown(e)
	e.since = x.now
	save(x, e)
	queue.wake(x)
	return settle(x, { "ok" })
end

-- created WORKER TOKEN create_failed|create_unknown
local function not_created(keys, args)
	local x = begin(keys)
	local e = load(x, args[1])
	if not e or e.state ~= "creating" then
		return finish(x, { "token_superseded" })
	end
	e.given = args[2]
	local done
	if args[3] == "create_failed" then
		e.certain = true
		done = forget(x, e, "create_failed")
	else
		done = retire(x, e, "create_unknown")
		if done and e.settle > x.now then
			call("ZADD", x.d .. ":unsure:" .. e.node, e.settle, e.name)
		end
	end
	return settle(x, { done and "ok" or "token_superseded" })
end

-- predecessor_over NODE ME: the controller that asked for these creates is dead and its drivers
-- died with it; a successor says so before it asks for any.  Nobody finishes them: they are
-- deleted like the rest, and the driver's absent is then a proof [FENCE-4, FENCE-14].
local function predecessor_over(keys, args)
	local x = begin(keys)
	if is_taken(x.d, args[1], args[2]) then
		return finish(x, { "node_taken" })
	end
	local names = call("ZRANGE", x.d .. ":creating:" .. args[1], 0, ITEMS - 1)
	for i = 1, #names do
		local e = load(x, names[i])
		if e then
			e.settle, e.given = x.now, e.token
			retire(x, e, "create_unknown")
		end
	end
	-- Its deletes are over as well: whoever comes next need not wait for their time.
	names = call("ZRANGEBYSCORE", x.d .. ":retiring:" .. args[1], "(" .. format("%.0f", x.now), "+inf", "LIMIT", 0, ITEMS)
	for i = 1, #names do
		local e = load(x, names[i])
		if e and e.settle <= x.now then
			call("ZADD", x.d .. ":retiring:" .. args[1], x.now, e.name)
		end
	end
	return settle(x, { "ok" })
end

-- absent WORKER INSTANCE: the driver's word, taken now.
local function absent(keys, args)
	local x = begin(keys)
	local e = load(x, args[1])
	if not e then
		return finish(x, { "ok" })
	end
	if e.state ~= "retiring" or (e.instance ~= "-" and e.instance ~= args[2]) then
		return finish(x, { "token_superseded" })
	end
	if not forget(x, e, "absent_confirmed") then
		return finish(x, { "create_unsettled" })
	end
	return settle(x, { "ok" })
end

-- lost WORKER INSTANCE: dead or unhealthy.
local function lost(keys, args)
	local x = begin(keys)
	local e = load(x, args[1])
	if not e or e.instance ~= args[2] or not retire(x, e, "lost") then
		return finish(x, { "token_superseded" })
	end
	return settle(x, { "ok" })
end

-- holder_gone LEASE: its local holder is dead; what it held is lost at once.
local function holder_gone(keys, args)
	local x = begin(keys)
	local e = held(x, args[1], "-")
	-- handed over while its holder was looked for: it stands without one
	if not e or e.holder == "-" then
		return finish(x, { "ok" })
	end
	e.gone = true
	return settle(x, { retire(x, e, "expire", "holder_gone") and "ok" or "token_superseded" })
end
