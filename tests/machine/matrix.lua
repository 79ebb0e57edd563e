-- Appended to gen/*.lua: what Lua inside Valkey has for every state and event, in the form of gen/NAME.tsv.
-- The test puts "local machines = { lease_sm, ... }" before this.
local function put_pair(m, s, e)
	local t = m.next[s] and m.next[s][e]
	local class = m.refuse[s] and m.refuse[s][e]
	if (t and class) or not (t or class) then
		return m.name .. "\t" .. s .. "\t" .. e .. "\tin both or neither"
	end
	local guards = t and #t.guards > 0 and table.concat(t.guards, ",") or "-"
	return table.concat({ m.name, s, e, t and t.to or "-", class or "-", guards, t and t.action or "-" }, "\t")
end

server.register_function("KZMATRIX", function()
	local lines = {}
	for _, m in ipairs(machines) do
		for _, s in ipairs(m.states) do
			for _, e in ipairs(m.events) do
				lines[#lines + 1] = put_pair(m, s, e)
			end
		end
	end
	return lines
end)
