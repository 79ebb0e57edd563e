-- The library runs inside Valkey: Lua 5.1 with the server's own table and little else.
-- What is checked is the assembled text (make check-lua).
std = "lua51"
read_globals = { "server" }
max_line_length = 120
-- The library's own names may be those of Lua functions that a server does not have.
ignore = { "431/load" }

-- The generated tables list their events on one line, and the run machine is C's alone.
files["**/kz.lua"] = { max_line_length = false }
