-- What the entries say, in the order in which it is asked for: warm workers, owned ones
-- and the leases of each member.  Nothing here is stored: it follows from the entries,
-- changes in the same call as they do, and is built from them anew in each life of the
-- library, before admission can open [LEASE-21].  So counts cannot drift from what
-- they count, and a lease costs two writes.
local index = {}

local function shelf(x, node)
	local s = x.life.shelves[node]
	if not s then
		s = { warm = {}, owned = {}, owned_count = 0 }
		x.life.shelves[node] = s
	end
	return s
end

-- Warm workers lie in the order of their idle time: the last one is leased first, so that
-- the first one grows old in a pool that is too big [POOL-7].
local function shelve_warm(s, e)
	local list, at = s.warm, #s.warm + 1
	while at > 1 and list[at - 1].since > e.since do
		list[at] = list[at - 1]
		at = at - 1
	end
	list[at] = { name = e.name, since = e.since }
end

local function unshelve_warm(s, name)
	for i = 1, #s.warm do
		if s.warm[i].name == name then
			table.remove(s.warm, i)
			return
		end
	end
end

function index.remove(x, e)
	local where = x.life.where[e.name]
	if where == "warm" then
		unshelve_warm(shelf(x, e.node), e.name)
	elseif where == "owned" then
		local s = shelf(x, e.node)
		s.owned[e.name] = nil
		s.owned_count = s.owned_count - 1
	end
	x.life.where[e.name] = nil
end

-- Releases of this life by lease: "TOKEN", and how it ended behind it once it did.  Two
-- tables, the older of which is forgotten, so that about the last thousand are known [LEASE-20].
local RELEASES = 1000

function index.released(x, lease, text)
	local r = x.life.releases
	if not r or r.count >= RELEASES then
		r = { now = {}, before = r and r.now or {}, count = 0 }
		x.life.releases = r
	end
	if not r.now[lease] then
		r.count = r.count + 1
	end
	r.now[lease] = text
end

-- How the release of a lease by this token ended: resetting, clean or retired; nil when
-- there was none that is remembered.
function index.release_of(x, lease, token)
	local r = x.life.releases
	local text = r and (r.now[lease] or r.before[lease])
	if not text or sub(text, 1, #token) ~= token or #token < 32 then
		return nil
	end
	return #text > #token and sub(text, #token + 2) or "resetting"
end

-- Put a worker where its state belongs.
function index.put(x, e, since)
	local s, where = shelf(x, e.node), x.life.where[e.name]
	if e.state == "leased" or e.state == "resetting" then
		if where ~= "owned" then
			index.remove(x, e)
			s.owned_count = s.owned_count + 1
			x.life.where[e.name] = "owned"
		end
		s.owned[e.name] = since
	elseif e.state == "warm" then
		if where ~= "warm" then
			index.remove(x, e)
			shelve_warm(s, { name = e.name, since = since })
			x.life.where[e.name] = "warm"
		end
	elseif where then
		index.remove(x, e)
	end
end

-- The most recent warm worker of a node, taken off.
function index.pop_warm(x, node)
	local s = x.life.shelves[node]
	local last = s and table.remove(s.warm)
	if last then
		x.life.where[last.name] = nil
		return last.name
	end
	return nil
end

function index.active(x, actor)
	local m = x.life.members[actor]
	return m and m.count or 0
end

-- The lease of a member's conversation, if one is in force.
function index.lease_of(x, actor, conversation)
	local m = x.life.members[actor]
	return m and m.of[conversation]
end

function index.begin_lease(x, actor, conversation, lease)
	local m = x.life.members[actor]
	if not m then
		m = { count = 0, of = {} }
		x.life.members[actor] = m
	end
	if not m.of[conversation] then
		m.count = m.count + 1
	end
	m.of[conversation] = lease
end

function index.end_lease(x, actor, conversation)
	local m = x.life.members[actor]
	if m and m.of[conversation] then
		m.of[conversation] = nil
		m.count = m.count - 1
		if m.count == 0 then
			x.life.members[actor] = nil
		end
	end
end
