-- The functions, under names that carry the digest.

local function register(name, fn, flags)
	server.register_function({ function_name = "kz_" .. DIGEST .. "_" .. name, callback = fn, flags = flags })
end

if missing_guard then
	server.register_function("guard not implemented: " .. missing_guard) -- refused, with this text
end

-- Under memory pressure nothing new is granted, but everything can be ended.
register("acquire", acquire, {})

local ends_things = { "allow-oom" }
register("leave", leave, ends_things)
register("renew", renew, ends_things)
register("release", release, ends_things)
register("publish", publish, ends_things)
register("give_up", give_up, ends_things)
register("step", step, ends_things)
register("ready", ready, ends_things)
register("not_created", not_created, ends_things)
register("predecessor_over", predecessor_over, ends_things)
register("absent", absent, ends_things)
register("lost", lost, ends_things)
register("holder_gone", holder_gone, ends_things)
register("seen", seen, ends_things)
register("unseen", unseen, ends_things)
register("configure", configure, ends_things)
register("image", image, ends_things)
register("open", open, ends_things)
register("close", close, ends_things)
register("ack", ack, ends_things)
register("outbox", outbox, ends_things)
register("own", own, ends_things)
register("disown", disown_node, ends_things)

local reads = { "no-writes" }
register("now", now, reads)
register("status", status, reads)
register("list", list, reads)
register("show", show, reads)
register("released", released, reads)
register("in_use", in_use, reads)
register("differs", differs, reads)
register("machine", machine, reads)
register("pool", pool.ask, reads)
register("noop", function()
	return 1
end, reads)
