-- The guards of the machines.  x is the call, e the entry it is about.

function guard.token_matches(_, e)
	return e.given == e.token and e.given ~= "-"
end

function guard.image_matches(x, e)
	return e.image == x.image
end

function guard.image_published(x)
	return x.image and x.image ~= ""
end

function guard.under_ceiling(x)
	return x.room > 0
end

function guard.under_create_bound(x)
	return x.creates > 0
end

function guard.admission_open(x)
	return x.is_open
end

function guard.member_below_limit(x, e)
	return e.active < x.conf.per_member
end

function guard.conversation_free(_, e)
	return not e.busy
end

function guard.expired(x, e)
	return e.gone or e["until"] <= x.now
end

function guard.in_force(x, e)
	return e["until"] > x.now
end

function guard.absent_proved(x, e)
	return e.certain or e.settle <= (e.taken or x.now)
end

function guard.idle_too_long(x, e)
	return e.since <= x.now - x.conf.burst_ms
end

function guard.over_desired(x)
	return x.excess > 0
end

function guard.queue_has_room(x)
	return x.waiting < x.conf.queue_max
end

function guard.first_in_line(_, e)
	return e.first
end

function guard.wait_over(x, e)
	return e.till <= x.now
end

-- Decided on the trusted side before the call, never here.
local elsewhere = { evidence_ok = true, audit_written = true }

local function guards_missing(sm)
	for i = 1, #sm.guards do
		if not guard[sm.guards[i]] and not elsewhere[sm.guards[i]] then
			return sm.guards[i]
		end
	end
	return nil
end

-- A guard that nobody implements would always hold: such a library does not load.
local missing_guard = guards_missing(worker_sm) or guards_missing(lease_sm) or guards_missing(ticket_sm)
