-- Do not edit: made by kzgen from statemachines/lease.sm.
local lease_sm = {
	name = "lease",
	initial = "none",
	states = { "none", "held", "released", "expired", "lost" },
	events = { "grant", "renew", "release", "expire", "lose" },
	guards = { "token_matches", "admission_open", "member_below_limit", "conversation_free", "expired", "in_force" },
	final = { released = true, expired = true, lost = true, },
	next = {
		none = {
			grant = { to = "held", action = "bind_worker", guards = { "admission_open", "member_below_limit", "conversation_free" } },
		},
		held = {
			renew = { to = "held", action = "move_deadline", guards = { "token_matches", "in_force" } },
			release = { to = "released", action = "end_lease", guards = { "token_matches", "in_force" } },
			expire = { to = "expired", action = "end_lease", guards = { "expired" } },
			lose = { to = "lost", action = "end_lease", guards = {} },
		},
		released = {
			release = { to = "released", guards = { "token_matches" } },
		},
		expired = {
		},
		lost = {
		},
	},
	refuse = {
		none = {
			renew = "no",
			release = "no",
			expire = "no",
			lose = "no",
		},
		held = {
			grant = "bug",
		},
		released = {
			grant = "bug",
			renew = "no",
			expire = "no",
			lose = "no",
		},
		expired = {
			grant = "bug",
			renew = "no",
			release = "no",
			expire = "no",
			lose = "no",
		},
		lost = {
			grant = "bug",
			renew = "no",
			release = "no",
			expire = "no",
			lose = "no",
		},
	},
}
