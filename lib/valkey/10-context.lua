-- The context of one call: time, the life of the store, settings, the log.

local CONF = { "warm_min", "target_idle", "ceiling", "creates", "burst_ms", "wait_ms", "queue_max", "per_member",
	"lease_ms", "reset_ms", "create_ms", "delete_ms" }

local function parse_conf(text)
	local conf, i = {}, 0
	for word in gmatch(text or "", "%S+") do
		i = i + 1
		if CONF[i] then
			conf[CONF[i]] = tonumber(word)
		end
	end
	return i == #CONF and conf or nil
end

-- What a deployment is run by, in one value: STORE|DIGEST|IMAGE|SETTINGS.  A life knows
-- it by heart; whoever writes it begins or has a life.
local function take_terms(life, text)
	life.terms = text
	local digest, image, conf = string.match(text, "^%x+|([^|]*)|([^|]*)|([^|]*)$")
	life.digest = digest
	life.image = image ~= "" and image or nil
	life.conf_text = conf or ""
	life.conf = parse_conf(conf)
end

local function set_terms(x, digest, image, conf)
	local life = x.life
	local text = life.store .. "|" .. digest .. "|" .. image .. "|" .. conf
	call("SET", x.d .. ":terms", text)
	take_terms(life, text)
	x.conf, x.image, x.digest = life.conf, life.image, life.digest
end

-- The line that begins a life; it is no transition and is told to nobody.
local function is_birth(line)
	return sub(line, 34, 35) == "0 "
end

-- What a life knows is the sum of the transitions it wrote, and the last of them is
-- always in the outbox.  As long as that line stands there, the store is the one that
-- the life knows; after a loss, a rollback or another's change it is not.
local function put_mark(x, line, last)
	local key = x.d .. ":o"
	if not last then -- what counted the lines of an outbox that is gone counts nothing
		call("DEL", x.d .. ":oc", x.d .. ":ob")
	end
	if last and is_birth(last) then -- lives in which nothing happened leave one line
		call("LSET", key, -1, line)
	else
		call("RPUSH", key, line)
	end
	x.life.mark = line
end

-- A life of the store begins when this library meets it for the first time, finds it
-- emptied or changed by others, or a call of its own ended half-way: nothing that was
-- remembered holds, transitions are numbered anew under a new name [FENCE-10].
local function new_life(d, time, old, why, last)
	local run = string.match(call("INFO", "server"), "run_id:(%x+)") or ""
	local life = { seq = 0, nodes = {}, cache = {}, shelves = {}, where = {}, members = {}, indexed = {}, fence = 0,
		last = 0, why = why or "not_reconciled", has_line = true, births = (old and old.births or 0) + 1 }
	life.store = sub(server.sha1hex(run .. d .. time[1] .. "." .. time[2] .. "." .. life.births), 1, 32)
	life.stamp = life.store .. " "
	-- No fence of an earlier life may come back, whatever the clock says.
	life.fence_top = tonumber(call("GET", d .. ":fence") or 0)
	life.fence = max(life.fence_top, old and old.fence or 0)
	lives[d] = life
	local before = call("GET", d .. ":terms") or ""
	local digest, image, conf = string.match(before, "^%x+|([^|]*)|([^|]*)|([^|]*)$")
	local x = { d = d, life = life }
	life.is_busy = true -- like any other call that is not over
	set_terms(x, digest or "", image or "", conf or "")
	put_mark(x, life.stamp .. "0 " .. time[1] .. sub("00000" .. time[2], -6, -4) .. " life none begin on " .. life.store ..
		" - - - " .. (why or "-"), last)
	return life
end

-- Do these terms belong to another version's library?  It must not be disturbed; only a
-- controller that configures takes a deployment over.
local function is_foreign(terms)
	local digest = terms and string.match(terms, "^%x+|([^|]*)|")
	return digest and digest ~= "" and digest ~= DIGEST
end

-- What a reader is told when no life knows this store as it is.
local function no_life(terms, why)
	local life = { nodes = {}, cache = {}, shelves = {}, where = {}, members = {}, indexed = {}, why = why or "not_reconciled",
		seq = 0, fence = 0, store = "", last = 0, has_line = true }
	take_terms(life, terms or "")
	return life
end

-- The life of a store that is not the one this library knew.
local function meet(d, time, old, is_reader, takes_over, why, last)
	local terms = call("GET", d .. ":terms")
	if is_reader then
		return no_life(terms, why)
	end
	if not takes_over and is_foreign(terms) then
		error({ err = "KZSUPERSEDED another version of kz runs this deployment" })
	end
	return new_life(d, time, old, why, last)
end

-- One call is made at a time, so one table serves them all: a new one each time is half of what the collector
-- has to clear away.
local context = { out = {} }

-- Begin a call.  Each one that is no reader ends in finish, or the life ends with it: what
-- it changed in memory may then differ from what it wrote [LEASE-21].
local function begin(keys, is_reader, takes_over)
	if not call then
		bind()
	end
	local d = keys[1]
	local time = call("TIME")
	local stamp = time[1] .. sub("00000" .. time[2], -6, -4) -- milliseconds
	local now = tonumber(stamp)
	local life = lives[d]
	local mark = call("LINDEX", d .. ":o", -1)
	if not life or mark ~= life.mark or life.is_busy then
		life = meet(d, time, life, is_reader, takes_over, nil, mark)
	elseif now < life.last - CLOCK_BACK_MS then -- what was remembered of time would stretch every lease
		life = meet(d, time, life, is_reader, takes_over, "coordination_clock", mark)
	end
	if not is_reader then
		life.last = now
		life.is_busy = true
	end
	now_number, now_text = now, stamp
	local x = context
	x.d, x.now, x.stamp, x.life, x.conf, x.image, x.digest = d, now, stamp, life, life.conf, life.image, life.digest
	x.is_reader, x.left, x.lines = is_reader, ITEMS, 0
	x.names, x.is_open, x.is_freed, x.room, x.creates, x.excess, x.waiting = nil, nil, nil, nil, nil, nil, nil
	return x
end

-- The last three digits of a number that is written in two parts.
local thousandths = {}

local function thousandth(n)
	local t = thousandths[n]
	if not t then
		t = format("%03d", n)
		thousandths[n] = t
	end
	return t
end

-- The outbox: what happened, numbered, in the same operation as the change itself.
-- "-" stands for nothing, "." for the subject once more.
local function note(x, machine, from, event, to, subject, worker, lease, actor, cause)
	local life, lines = x.life, x.lines + 1
	local seq = life.seq + 1
	life.seq = seq
	if seq % 1000 == 0 then
		life.stamp = life.store .. " " .. text_of(seq / 1000)
	end
	local line = life.stamp .. (seq < 1000 and seq or thousandth(seq % 1000)) .. " " .. x.stamp .. " " .. machine .. " " ..
		from .. " " .. event .. " " .. to .. " " ..
		subject .. " " .. (worker or "-") .. " " .. (lease or "-") .. " " .. (actor or "-") .. " " .. (cause or "-")
	x.lines = lines
	x.out[lines] = line
end

local function finish(x, reply)
	local lines, out = x.lines, x.out
	if lines > 0 then
		if lines == 2 then -- what nearly every call says
			x.life.backlog = call("RPUSH", x.d .. ":o", out[1], out[2])
		else
			x.life.backlog = call("RPUSH", x.d .. ":o", unpack(out, 1, lines))
		end
		x.life.mark = out[lines]
	end
	x.life.is_busy = nil
	return reply
end

-- The store is not what this life wrote: nothing it remembers can be trusted.  The call
-- ends here and the life with it, so admission is closed until it is reconciled.
local function broken(what)
	error({ err = "KZALTERED " .. what .. " was changed by somebody else" })
end

-- The state that event leads to; nil when the table has no such transition or a
-- guard does not hold, and then which [POOL-10].
local function edge(x, sm, from, event, e)
	local row = sm.next[from]
	local to = row and row[event]
	if not to then
		if not row or sm.refuse[from][event] == "bug" then
			server.log(server.LOG_WARNING, "kz: impossible transition " .. sm.name .. " " .. from .. " " .. event)
		end
		return nil, "no_edge"
	end
	local guards = to.guards
	for i = 1, #guards do
		local holds = guard[guards[i]]
		if holds and not holds(x, e) then
			return nil, guards[i]
		end
	end
	return to.to
end

-- Both bounds of a fence: higher than every earlier one, and no smaller than the clock.
local function next_fence(x)
	local life = x.life
	life.fence = max(life.fence + 1, x.now)
	if life.fence > life.fence_top then
		life.fence_top = life.fence + 60000
		call("SET", x.d .. ":fence", life.fence_top)
	end
	return life.fence
end

local function raise_fence(x, fence)
	local life = x.life
	if fence and fence > life.fence then
		life.fence = fence
		if fence > life.fence_top then
			life.fence_top = fence
			call("SET", x.d .. ":fence", fence)
		end
	end
end

-- Is this node's word on its workers fresh, and is it open?
local function serves(x, node)
	local n = x.life.nodes[node]
	return n and n.open and n.fresh > x.now
end

-- Why admission is closed; nil when it is open.
local function closed(x)
	local why = x.life.why
	if why then
		return why
	end
	if x.digest ~= DIGEST then
		return "not_reconciled"
	end
	if not x.conf then
		return "setting_invalid"
	end
	if not x.image then
		return "image_unpublished"
	end
	for _, n in pairs(x.life.nodes) do
		if n.open and n.fresh > x.now then
			return nil
		end
		why = n.why or (n.open and "inventory_unavailable") or why
	end
	return why or "not_reconciled"
end

-- A server that may drop keys cannot decide anything [DEP-9]; asked with each inventory.
local function close_if_evicting(x)
	if string.match(call("INFO", "memory"), "maxmemory_policy:(%a+)") == "noeviction" then
		return false
	end
	x.life.nodes = {}
	x.life.why = "valkey_evicts"
	return true
end

local function nodes_of(x)
	if not x.names then
		x.names = call("HKEYS", x.d .. ":n")
	end
	return x.names
end

-- Tell a node's controller that there may be work; it wakes by itself each second too.
local function poke(x, node)
	local key = x.d .. ":work:" .. node
	if call("LLEN", key) == 0 then
		call("RPUSH", key, "1")
		call("PEXPIRE", key, 10000)
	end
end

local function poke_all(x)
	for node in pairs(x.life.nodes) do
		poke(x, node)
	end
end
