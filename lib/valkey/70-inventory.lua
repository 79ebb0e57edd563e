-- What really runs on a node, compared with what is believed [FENCE-4..7, FENCE-10].

-- Does the word of a worker contradict a warm entry that is older than that word?
local function contradicts(e, taken, is_bound, fence)
	return e.state == "warm" and e.since < taken and (is_bound or fence > e.fence)
end

-- One worker that was seen.
local function seen_one(x, node, taken, name, instance, fence, is_bound)
	raise_fence(x, fence)
	local e = load(x, name)
	if not e then
		return enter(x, { name = name, node = node, instance = instance, token = "-", ["until"] = 0, settle = 0 },
			"orphan_found", x.now)
	end
	if e.node ~= node then
		return nil
	end
	call("ZADD", x.d .. ":all:" .. node, "NX", 0, name) -- it counts, whatever was done to the set
	if e.instance ~= instance and e.state ~= "creating" and e.since < taken then
		-- Another one under this name: whatever has it must go.
		if retire(x, e, "lost") then
			e.instance = "-"
			save(x, e)
		end
	elseif contradicts(e, taken, is_bound, fence) then
		retire(x, e, "lost")
	end
	return nil
end

-- seen NODE TAKEN ID ME (WORKER INSTANCE FENCE BOUND)...
local function seen(keys, args)
	local x = begin(keys)
	local node, taken, key = args[1], tonumber(args[2]), x.d .. ":seen:" .. args[1] .. ":" .. args[3]
	if is_taken(x.d, node, args[4]) then
		return finish(x, { "node_taken" })
	end
	if not x.conf or x.digest ~= DIGEST then
		return finish(x, { "setting_invalid" })
	end
	if call("HEXISTS", x.d .. ":n", node) == 0 then
		if call("HLEN", x.d .. ":n") >= NODES then
			return finish(x, { "node_limit" })
		end
		call("HSET", x.d .. ":n", node, 1)
	end
	for i = 5, #args - 3, 4 do
		call("SADD", key, args[i])
		seen_one(x, node, taken, args[i], args[i + 1], tonumber(args[i + 2]), args[i + 3] == "1")
	end
	if #args >= 8 then
		call("PEXPIRE", key, 60000)
	end
	return settle(x, { "ok" })
end

-- One entry whose worker was not seen: gone, unless it came or could come later.
local function unseen_one(x, name, taken)
	local e = load(x, name)
	if not e or e.since >= taken then
		return
	end
	if e.state == "creating" then
		return -- its deadline will end it; only then its absence is a proof
	end
	if e.state ~= "retiring" then
		retire(x, e, "lost")
	end
	if e.state == "retiring" then
		e.taken = taken
		forget(x, e, "absent_confirmed")
	end
end

-- unseen NODE TAKEN ID AFTER ME: compare a page of entries; answers where to go on, "" at the end.
local function unseen(keys, args)
	local x = begin(keys)
	local node, taken, key = args[1], tonumber(args[2]), x.d .. ":seen:" .. args[1] .. ":" .. args[3]
	if is_taken(x.d, node, args[5]) then
		return finish(x, { "node_taken" })
	end
	local names = call("ZRANGEBYLEX", x.d .. ":all:" .. node, args[4] == "" and "-" or "(" .. args[4], "+", "LIMIT", 0, ITEMS)
	local there = names[1] and call("SMISMEMBER", key, unpack(names)) or {}
	for i = 1, #names do
		if there[i] == 0 then
			unseen_one(x, names[i], taken)
		end
	end
	if #names == ITEMS then
		return settle(x, { "ok", names[#names] })
	end
	call("DEL", key)
	call("HSETNX", x.d .. ":n", node, 1)
	if close_if_evicting(x) then
		return settle(x, { "valkey_evicts" })
	end
	local n = x.life.nodes[node] or {}
	x.life.nodes[node] = n
	n.fresh = taken + (n.span or 10000)
	return settle(x, { "ok", "" })
end
