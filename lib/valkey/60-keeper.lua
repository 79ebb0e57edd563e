-- What the controller calls each second: the keeper step.

-- Everything counted, by state: allocated and in flight over all nodes, the rest over
-- those whose controller is alive, for a dead node's workers serve nobody.
local function census(x)
	local conf = x.conf
	local p = { warm_min = conf.warm_min, target_idle = conf.target_idle, ceiling = conf.ceiling, create_bound = conf.creates,
		creating = 0, warm = 0, owned = 0, allocated = 0, in_flight = 0, ambiguous = 0, fresh = 0, of = {} }
	for _, node in ipairs(nodes_of(x)) do
		local n = { all = call("ZCARD", x.d .. ":all:" .. node), unsure = 0, creating = 0, warm = 0, owned = 0 }
		if n.all > 0 then
			n.creating = call("ZCARD", x.d .. ":creating:" .. node)
			local s = shelf(x, node)
			n.warm, n.owned = #s.warm, s.owned_count
			n.unsure = call("ZCOUNT", x.d .. ":unsure:" .. node, "(" .. format("%.0f", x.now), "+inf")
			p.ambiguous = p.ambiguous + call("ZCARD", x.d .. ":unsure:" .. node)
		end
		p.allocated = p.allocated + n.all
		p.in_flight = p.in_flight + n.creating + n.unsure
		if x.life.nodes[node] and x.life.nodes[node].fresh > x.now then
			p.fresh = p.fresh + 1
			p.creating, p.warm, p.owned = p.creating + n.creating, p.warm + n.warm, p.owned + n.owned
		end
		p.of[node] = n
	end
	p.waiting = call("ZCARD", x.d .. ":q")
	return p
end

-- Owners whose deadline passed lose what they hold [FENCE-2, FENCE-15].
local function expire_owned(x, s)
	local due = {}
	for name, till in pairs(s.owned) do
		if till <= x.now and #due < x.left then
			due[#due + 1] = name
		end
	end
	for i = 1, #due do
		x.left = x.left - 1
		local e = load(x, due[i])
		if not e then
			broken("entry " .. due[i])
		end
		retire(x, e, "expire")
	end
end

local function expire_creates(x, node)
	local key = x.d .. ":creating:" .. node
	local due = call("ZRANGEBYSCORE", key, "-inf", x.now, "LIMIT", 0, max(x.left, 0))
	for i = 1, #due do
		x.left = x.left - 1
		local e = load(x, due[i])
		if not e or e.state ~= "creating" then
			call("ZREM", key, due[i])
		elseif retire(x, e, "expire") then
			call("ZADD", x.d .. ":unsure:" .. node, e.settle, e.name)
		end
	end
end

local function sweep_expired(x)
	for _, node in ipairs(nodes_of(x)) do
		expire_owned(x, shelf(x, node))
		expire_creates(x, node)
	end
end

-- Warm workers of an older image are retired [POOL-15].
local function sweep_images(x, node)
	if x.life.nodes[node].swept == x.image then
		return
	end
	local old = {}
	for _, w in ipairs(shelf(x, node).warm) do
		local e = #old < x.left and load(x, w.name)
		if e and e.image ~= x.image then
			old[#old + 1] = e
		end
	end
	for i = 1, #old do
		x.left = x.left - 1
		retire(x, old[i], "image_changed", "image_mismatch")
	end
	if x.left > 0 then
		x.life.nodes[node].swept = x.image
	end
end

-- Warm workers above the wanted number go after the burst's idle time [POOL-7].
local function sweep_idle(x, node, p)
	local idle = {}
	for _, w in ipairs(shelf(x, node).warm) do
		if w.since > x.now - x.conf.burst_ms or #idle >= x.left then
			break
		end
		idle[#idle + 1] = w.name
	end
	p.idle_long = #idle
	x.excess = pool.retires(p)
	for i = 1, x.excess do
		x.left = x.left - 1
		local e = load(x, idle[i])
		if e then
			retire(x, e, "idle_retire")
		end
	end
end

local function task(tasks, kind, worker, instance, token, image, holder)
	tasks[#tasks + 1] = { kind, worker, instance, token, image, holder }
end

-- Workers of this node to delete; each is handed out once in a while until it is absent.
local function hand_out_deletes(x, node, tasks, most)
	local due = call("ZRANGEBYSCORE", x.d .. ":retiring:" .. node, "-inf", x.now, "LIMIT", 0,
		max(min(most - #tasks, x.left), 0))
	for i = 1, #due do
		x.left = x.left - 1
		local e = load(x, due[i])
		if not e or e.state ~= "retiring" then
			call("ZREM", x.d .. ":retiring:" .. node, due[i])
		else
			local again = x.now + x.conf.delete_ms
			-- Whoever took it before did not finish in time [FENCE-15].
			local is_again = e.tries > 0 and move(x, e, "expire", again)
			if not is_again then
				call("ZADD", x.d .. ":retiring:" .. node, again, e.name)
			end
			e.tries, e["until"] = e.tries + 1, again
			save(x, e)
			task(tasks, "delete", e.name, e.instance ~= "-" and e.instance or "", "", "", "")
		end
	end
end

-- Start creates up to what is wanted, the ceiling, the create bound and this node's
-- share: an even part of the wanted workers for each node that is alive.
local function hand_out_creates(x, node, tasks, most, args, p)
	local count, n, i = pool.creates(p), p.of[node], 4
	local share = ceil((pool.there(p) + count) / max(p.fresh, 1))
	local mine = n and n.creating + n.warm + n.owned or 0
	x.room = p.ceiling - p.allocated
	x.creates = p.create_bound - p.in_flight
	while args[i + 1] and #tasks < most and count > 0 and mine < share and x.left > 0 do
		local due = x.now + x.conf.create_ms
		local e = { name = "w" .. sub(args[i], 1, 20), node = node, instance = args[i + 1], image = x.image,
			token = args[i], ["until"] = due, settle = due }
		if not enter(x, e, "create", due) then
			return
		end
		task(tasks, "create", e.name, e.instance, e.token, x.image, "")
		count, mine, i = count - 1, mine + 1, i + 2
		x.room, x.creates, x.left = x.room - 1, x.creates - 1, x.left - 1
	end
end

-- Local holders to look after, those first that were not looked after for longest.
local function hand_out_checks(x, node, tasks, most)
	local cache = x.life.cache
	for name in pairs(shelf(x, node).owned) do
		local e = cache[name]
		if #tasks >= most or x.left <= 0 then
			return
		end
		if e and e.holder ~= "-" and (e.checked or 0) <= x.now - 900 then
			e.checked = x.now
			x.left = x.left - 1
			task(tasks, "check", e.name, e.instance, e.lease, "", e.holder)
		end
	end
end

local function retry_parked(x)
	if not line_is_empty(x) then
		sweep_tickets(x)
		queue.wake(x)
	end
end

-- Another node's name goes when nothing of it is left and nobody speaks for it.
local function forget_nodes(x, node)
	for _, name in ipairs(nodes_of(x)) do
		local n = x.life.nodes[name]
		if name ~= node and not (n and n.fresh > x.now) and call("EXISTS", x.d .. ":all:" .. name) == 0 then
			call("HDEL", x.d .. ":n", name)
			x.life.nodes[name] = nil
		end
	end
end

-- step NODE MOST ME (TOKEN INSTANCE)...
local function step(keys, args)
	local x = begin(keys)
	local node, most, tasks = args[1], tonumber(args[2]), {}
	if is_taken(x.d, node, args[3]) then
		return finish(x, { "node_taken" })
	end
	if x.digest ~= DIGEST or not x.conf then
		return finish(x, { "setting_invalid" })
	end
	stay_owner(x, node, args[3])
	local is_whole = build_index(x)
	compare_some(x)
	sweep_expired(x)
	retry_parked(x)
	hand_out_deletes(x, node, tasks, most)
	if x.life.nodes[node] then -- it reported its inventory to this life [FENCE-10]
		if x.image and is_whole then
			sweep_images(x, node)
			local p = census(x)
			sweep_idle(x, node, p)
			if x.life.nodes[node].why ~= "deployment_closed" then -- a node on its way down makes no workers
				hand_out_creates(x, node, tasks, most, args, p)
			end
		end
		hand_out_checks(x, node, tasks, most)
		forget_nodes(x, node)
	end
	return settle(x, { "ok", tasks })
end
