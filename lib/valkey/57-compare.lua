-- Is what this life knows what is stored?  Nobody but this library writes entries; should
-- somebody do it all the same, the keeper finds out and the life ends.
local COMPARED = 20 -- entries a keeper step

-- Where an entry of this state lies in the index.
local PLACES = { warm = "warm", leased = "owned", resetting = "owned" }

-- How one name that counts differs; nil when it does not.
local function difference(x, node, name)
	local e = x.life.cache[name]
	local text = call("GET", x.d .. ":w:" .. name) or nil
	if not e then -- not looked at yet in this life
		return not text and "missing" or nil
	end
	if e.text ~= text then
		return text and "changed" or "missing"
	end
	if x.life.where[name] ~= PLACES[e.state] or e.node ~= node then
		return "misplaced"
	end
	return nil
end

-- Some entries of the deployment, others each time.
local function compare_some(x)
	local life, left = x.life, COMPARED
	for _, node in ipairs(nodes_of(x)) do
		if life.indexed[node] == true and (not life.compared or life.compared.node == node) then
			local after = life.compared and life.compared.name
			local names = call("ZRANGEBYLEX", x.d .. ":all:" .. node, after and "(" .. after or "-", "+", "LIMIT", 0, left)
			for i = 1, #names do
				if difference(x, node, names[i]) then
					broken("entry " .. names[i])
				end
			end
			life.compared = nil
			left = left - #names
			if left == 0 then
				life.compared = { node = node, name = names[#names] }
				return
			end
		end
	end
	life.compared = nil
end

-- Sizes that the index keeps, against what it holds and what the entries it knows say.
local function count_differences(x, out)
	local life, owned, members = x.life, {}, {}
	for name, e in pairs(life.cache) do
		if PLACES[e.state] == "owned" then
			owned[e.node] = (owned[e.node] or 0) + 1
		end
		if e.state == "leased" then
			members[e.actor] = (members[e.actor] or 0) + 1
		end
		if life.where[name] ~= PLACES[e.state] then
			out[#out + 1] = name .. " misplaced"
		end
	end
	for node, s in pairs(life.shelves) do
		if s.owned_count ~= (owned[node] or 0) then
			out[#out + 1] = node .. " owned"
		end
	end
	for actor, m in pairs(life.members) do
		if m.count ~= (members[actor] or 0) then
			out[#out + 1] = actor .. " active"
		end
		members[actor] = nil
	end
	for actor in pairs(members) do
		out[#out + 1] = actor .. " active"
	end
end

-- differs NODE AFTER: where to go on, and what of a page of the node's entries and of the
-- whole index is not as it is stored.  For tests; nothing in a healthy deployment [INV-21].
local function differs(keys, args)
	local x = begin(keys, true)
	local out, names = {}, call("ZRANGEBYLEX", x.d .. ":all:" .. args[1], args[2] == "" and "-" or "(" .. args[2], "+",
		"LIMIT", 0, ITEMS)
	for i = 1, #names do
		local how = difference(x, args[1], names[i])
		if how then
			out[#out + 1] = names[i] .. " " .. how
		end
	end
	count_differences(x, out)
	return { names[ITEMS] or "", out }
end
