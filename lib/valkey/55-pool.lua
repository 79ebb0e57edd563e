-- How many workers are wanted: the rule of lib/rule/pool.c, held to the same table
-- (tests/golden/pool.tsv).  allocated counts every entry of the deployment; the other
-- counts are of the nodes whose controllers are alive.  owned is leased and resetting.
local pool = {}

function pool.there(p)
	return p.creating + p.warm + p.owned
end

function pool.desired(p)
	return min(p.ceiling, max(p.warm_min, p.owned + p.target_idle))
end

function pool.creates(p)
	local want = pool.desired(p) - pool.there(p)
	if p.waiting > 0 and p.warm == 0 then
		want = max(want, p.waiting - p.creating)
	end
	return max(0, min(want, p.create_bound - p.in_flight, p.ceiling - p.allocated))
end

function pool.retires(p)
	if p.waiting > 0 then
		return 0
	end
	return max(0, min(pool.there(p) - pool.desired(p), p.idle_long, p.warm))
end

-- pool WARM_MIN TARGET_IDLE CEILING BOUND CREATING WARM LEASED RESETTING RETIRING WAITING IDLE_LONG
function pool.ask(_, args)
	if not call then
		bind()
	end
	local n = {}
	for i = 1, 11 do
		n[i] = tonumber(args[i])
	end
	local p = { warm_min = n[1], target_idle = n[2], ceiling = n[3], create_bound = n[4], creating = n[5], warm = n[6],
		owned = n[7] + n[8], waiting = n[10], idle_long = n[11], in_flight = n[5] }
	p.allocated = pool.there(p) + n[9]
	return { pool.desired(p), pool.creates(p), pool.retires(p) }
end
