-- Do not edit: made by kzgen from statemachines/ticket.sm.
local ticket_sm = {
	name = "ticket",
	initial = "none",
	states = { "none", "waiting", "served", "timed_out", "gone" },
	events = { "enqueue", "ask", "serve", "time_out", "leave" },
	guards = { "admission_open", "queue_has_room", "first_in_line", "wait_over" },
	final = { served = true, timed_out = true, gone = true, },
	next = {
		none = {
			enqueue = { to = "waiting", action = "take_number", guards = { "admission_open", "queue_has_room" } },
		},
		waiting = {
			ask = { to = "waiting", action = "note_life", guards = {} },
			serve = { to = "served", action = "drop_ticket", guards = { "first_in_line" } },
			time_out = { to = "timed_out", action = "drop_ticket", guards = { "wait_over" } },
			leave = { to = "gone", action = "drop_ticket", guards = {} },
		},
		served = {
		},
		timed_out = {
		},
		gone = {
		},
	},
	refuse = {
		none = {
			ask = "no",
			serve = "no",
			time_out = "no",
			leave = "no",
		},
		waiting = {
			enqueue = "bug",
		},
		served = {
			enqueue = "bug",
			ask = "no",
			serve = "bug",
			time_out = "no",
			leave = "no",
		},
		timed_out = {
			enqueue = "bug",
			ask = "no",
			serve = "no",
			time_out = "no",
			leave = "no",
		},
		gone = {
			enqueue = "bug",
			ask = "no",
			serve = "no",
			time_out = "no",
			leave = "no",
		},
	},
}
