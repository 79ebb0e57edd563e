-- The outbox and its readers.  Every node's audit store gets every transition, so each node
-- reads at a pace of its own: its cursor counts the lines it has stored, of all that ever
-- were; what every cursor has passed is dropped [AUD-9].
local AWAY_MS = 3600000     -- a node that did not ask for so long is not waited for
local PRESSED_MS = 60000    -- nor for so long, when the outbox is half full
local CURSOR_FRESH_MS = 5000

local function cursor_of(d, node, base)
	local pos, asked, new = string.match(call("HGET", d .. ":oc", node) or "", "^(%d+) (%d+) (%d)$")
	pos = tonumber(pos)
	if not pos or pos < base then
		return { pos = base, asked = 0, new = "1" }
	end
	return { pos = pos, asked = tonumber(asked), new = new }
end

local function save_cursor(d, node, c, at_ms)
	call("HSET", d .. ":oc", node, text_of(c.pos) .. " " .. text_of(at_ms) .. " " .. c.new)
end

-- Drop the cursors of nodes that are away, then the lines that every other cursor has passed.
local function trim(d, node, base, at_ms)
	local key, cursors = d .. ":o", call("HGETALL", d .. ":oc")
	local length = call("LLEN", key)
	local patience = length > OUTBOX_MOST / 2 and PRESSED_MS or AWAY_MS
	local least = base + length
	for i = 1, #cursors, 2 do
		local pos, asked = string.match(cursors[i + 1], "^(%d+) (%d+) ")
		if cursors[i] ~= node and tonumber(asked) < at_ms - patience then
			call("HDEL", d .. ":oc", cursors[i])
		else
			least = min(least, tonumber(pos))
		end
	end
	least = min(least, base + length - 1) -- the last line stays: it is the mark of its life
	if least > base then
		call("LTRIM", key, least - base, -1)
		call("SET", d .. ":ob", text_of(least))
		local life = lives[d]
		if life and life.backlog then
			life.backlog = length - (least - base)
		end
	end
end

-- outbox NODE MOST ME: what this node has not stored yet, and 1 when it has no cursor to say
-- where it was: what came before is not for it.
local function outbox(keys, args)
	local d, node, at_ms = keys[1], args[1], now_ms()
	if is_taken(d, node, args[3]) then
		return { "node_taken" }
	end
	local base = tonumber(call("GET", d .. ":ob") or 0)
	local c = cursor_of(d, node, base)
	if c.asked == 0 and call("HLEN", d .. ":oc") >= NODES then
		return { "node_limit" }
	end
	if c.asked < at_ms - CURSOR_FRESH_MS then
		save_cursor(d, node, c, at_ms)
	end
	local most, out = min(tonumber(args[2]), ITEMS), {}
	local lines = call("LRANGE", d .. ":o", c.pos - base, c.pos - base + most) -- of any two one is a transition
	for i = 1, #lines do
		if #out < most and not is_birth(lines[i]) then
			out[#out + 1] = lines[i]
		end
	end
	if lines[1] and not out[1] then -- the beginning of a life in which nothing happened yet
		c.pos = c.pos + #lines
		save_cursor(d, node, c, at_ms)
	end
	if not out[1] and call("LLEN", d .. ":o") > 1 then
		trim(d, node, base, at_ms) -- others are behind: are they there at all?
	end
	return { "ok", out, c.new == "1" and 1 or 0 }
end

-- ack NODE STORE SEQ ME: everything up to this transition is in this node's audit store.
local function ack(keys, args)
	local d, node, at_ms = keys[1], args[1], now_ms()
	if is_taken(d, node, args[4]) then
		return { "node_taken" }
	end
	local head_of = args[2] .. " " .. args[3] .. " "
	local base = tonumber(call("GET", d .. ":ob") or 0)
	local c = cursor_of(d, node, base)
	local lines = call("LRANGE", d .. ":o", c.pos - base, c.pos - base + ITEMS)
	for i = 1, #lines do
		if sub(lines[i], 1, #head_of) == head_of then
			c.pos, c.new = c.pos + i, "0"
			save_cursor(d, node, c, at_ms)
			trim(d, node, base, at_ms)
			return { "ok", i }
		end
	end
	return { "ok", 0 }
end
