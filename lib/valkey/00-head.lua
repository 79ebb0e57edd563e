-- The allocation authority of kz: one function library, every decision one call.
-- Assembled by scripts/make/valkey.mk: this file, the generated machines, then
-- the others in name order.  docs/authority.md has keys, functions and rules.
-- A library is loaded with no other names than server's, so these are found when a
-- function is called for the first time.
local call, floor, max, min, ceil, sub, gmatch, format

local function bind()
	call, floor, max, min, ceil = server.call, math.floor, math.max, math.min, math.ceil
	sub, gmatch, format = string.sub, string.gmatch, string.format
end

local ITEMS = 100          -- no call handles more
local NODES = 64           -- nodes of one deployment
local SILENT_MS = 2000     -- a waiter that did not ask for so long is passed over
local OUTBOX_MOST = 100000 -- transitions nobody has stored yet; then acquire is refused
local CLOCK_BACK_MS = 1000
local TICKET_GRACE_MS = 600000

-- What this loaded library knows of each deployment, by key tag.  Admission lives
-- here and not in a key, so that a restart, a failover or a reload closes it.
local lives = {}

-- Implementations of the guards that statemachines/guards.tbl names.
local guard = {}

-- Numbers as text.  Writing a number is the dearest thing that Lua does here.  Small ones, which are spans and counts, are
-- few and are remembered; of times the one that is written most often is now, whose text came with it.
local SMALL = 100000000
local texts, texts_count = {}, 0
local now_number, now_text

local function text_of(n)
	if n == now_number then
		return now_text
	end
	local t = texts[n]
	if not t then
		t = format("%.0f", n)
		if n < SMALL then
			if texts_count >= 1000 then
				texts, texts_count = {}, 0
			end
			texts[n] = t
			texts_count = texts_count + 1
		end
	end
	return t
end
