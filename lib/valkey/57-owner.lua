-- One controller speaks for a node.  Its mark is "INSTANCE UNTIL HOLDER": a random number of
-- the controller's life, how long its word is fresh, and who it is where it runs.  The mark of
-- a dead one stays, so that a successor can prove the death.
local OWN_MS = 10000

local function owner_of(d, node)
	return string.match(call("GET", d .. ":own:" .. node) or "", "^(%S+) (%d+) (%S+)$")
end

-- Does another one speak for this node?  A stale mark counts too: it must be taken first.
local function is_taken(d, node, me)
	local id = owner_of(d, node)
	return id and id ~= me
end

local function mark_owner(d, node, me, holder, at_ms)
	call("SET", d .. ":own:" .. node, me .. " " .. text_of(at_ms + OWN_MS) .. " " .. holder)
end

-- The step of a controller keeps its mark fresh.
local function stay_owner(x, node, me)
	local id, _, holder = owner_of(x.d, node)
	if id == me then
		mark_owner(x.d, node, me, holder, x.now)
	end
end

local function now_ms()
	if not call then
		bind()
	end
	local time = call("TIME")
	return tonumber(time[1] .. sub("00000" .. time[2], -6, -4))
end

-- own NODE ME HOLDER DEAD: answers how (new, same, dead, stale) and who had it before.  DEAD
-- names the one that the caller knows to be dead.  It touches no life of the store: a
-- controller that is refused here must not have changed anything.
local function own(keys, args)
	local d, node, me, at_ms = keys[1], args[1], args[2], now_ms()
	local id, till, holder = owner_of(d, node)
	local how = not id and "new" or id == me and "same" or id == args[4] and "dead" or tonumber(till) <= at_ms and "stale"
	if not how then
		return { "node_taken", id, holder }
	end
	mark_owner(d, node, me, args[3], at_ms)
	return { "ok", how, holder or "" }
end

-- disown NODE ME: an orderly end.
local function disown_node(keys, args)
	now_ms()
	if not is_taken(keys[1], args[1], args[2]) then
		call("DEL", keys[1] .. ":own:" .. args[1])
	end
	return { "ok" }
end
