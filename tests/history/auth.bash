# shellcheck shell=bash
# auth.bash: a private Valkey and the driver of the authority, for bats tests.
#
# auth_up               a server of its own in a short directory; sets url, dir
# auth_down             end it and every program a test started with auth_bg, remove the directory
# auth_bg NAME ARG...   drive ARG... in the background, output in dir/NAME.out
# drive VERB DEP ARG... one operation
# auth_wait SECONDS COMMAND...  try until it succeeds; seconds as kz_wait counts them, 30 at least
# auth_tcp              the server listens on loopback too, on a port that was free; sets port
# auth_judge DIR [awk -v ...]   judge the outboxes of a history

root=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
drive_bin=$root/build/tests/history/drive
# shellcheck source=/dev/null
source "$root/tests/kz.bash" # kz_within

auth_server() {
	valkey-server --port 0 --unixsocket "$dir/s" --dir "$dir" --appendonly yes --save '' \
		--maxmemory-policy noeviction >>"$dir/valkey.log" 2>&1 &
	server=$!
	echo "$server" >"$dir/pid"
	auth_wait 10 valkey_ok
}

valkey_ok() {
	valkey-cli -s "$dir/s" ping 2>/dev/null | grep -q PONG
}

cli() {
	valkey-cli -s "$dir/s" "$@"
}

auth_up() {
	dir=$(mktemp -d /tmp/kza.XXXXXX)
	kz_own "$dir"
	mkdir "$dir/w" "$dir/t"
	url=unix:$dir/s
	started=()
	auth_server
}

auth_down() {
	local pid
	touch "$dir/stop"
	for pid in "${started[@]}"; do
		kill -KILL "$pid" 2>/dev/null || true
		wait "$pid" 2>/dev/null || true
	done
	kill -CONT "$(cat "$dir/pid")" 2>/dev/null || true
	kill -KILL "$(cat "$dir/pid")" 2>/dev/null || true
	wait "$(cat "$dir/pid")" 2>/dev/null || true
	rm -rf "$dir"
	kz_disown "$dir"
}

# Takes over the process, so that the pid in bg is the driver's own.
auth_bg() {
	local name=$1
	shift
	"$drive_bin" "$1" "$url" "${@:2}" >"$dir/$name.out" 2>"$dir/$name.err" &
	bg=$!
	started+=("$bg")
}

drive() {
	"$drive_bin" "$1" "$url" "${@:2}"
}

auth_wait() {
	local seconds=$(($1 > 30 ? $1 : 30)) start=$SECONDS
	shift
	until "$@"; do
		kz_within "$seconds" "$start" || return 1
		sleep 0.1
	done
}

is_open() {
	drive status "${1:-d}" | jq -e '.admission.open' >/dev/null
}

warm_is() {
	[ "$(drive status d | jq '.workers.warm')" = "$1" ]
}

# End the controllers in order, so that the outbox is complete, then judge.
auth_judge() {
	awk '!/^#/ && $4 != "-" { print $1, $2, $3, $4 }' "$root"/statemachines/gen/{worker,lease,ticket}.tsv >"$dir/edges"
	# Lives of the store in the order in which they began; each by its own numbers.
	sort -u "$dir"/outbox.* >"$dir/lines"
	awk 'NR == FNR { if (!($1 in first) || $3 < first[$1]) first[$1] = $3; next } { print first[$1], $0 }' \
		"$dir/lines" "$dir/lines" | sort -k1,1n -k2,2 -k3,3n | cut -d ' ' -f 2- >"$dir/history"
	awk -v ceiling=8 -v creates=3 -v member=2 -v queue=256 -v wait=30000 -v edges="$dir/edges" "$@" \
		-f "$root/tests/history/judge.awk" "$dir/history"
}

# auth_tcp [CLI ARG...]: below the ports that the kernel gives out, and not one of another test's
auth_tcp() {
	local -a to=("${@:-cli}")
	for _ in $(seq 100); do
		port=$((10000 + RANDOM % 20000))
		[ "$("${to[@]}" config set bind 127.0.0.1)" = OK ] && [ "$("${to[@]}" config set port "$port" 2>&1)" = OK ] && return
	done
	return 1
}

# What every key holds, to compare two moments; but for the bells of the controllers, which go by themselves after 10 s.
auth_dump() {
	cli --no-raw eval 'local k = redis.call("KEYS", "*") table.sort(k) local o = {} for i = 1, #k do
		if not k[i]:find(":work:", 1, true) then o[#o + 1] = k[i] .. redis.sha1hex(redis.call("DUMP", k[i])) end end return o' 0
}

# Every entry of deployment d as an inventory tells it.
auth_entries() {
	local key
	cli --raw keys '{kz:d}:w:*' | sort | while read -r key; do
		[ -n "$key" ] || continue # an empty list is an empty line
		echo "${key##*:}:$(cli get "$key" | cut -d' ' -f3):0:0"
	done
}

# What of deployment d is not as it must be: sets against entries, and the index of the library against both.
auth_faults() {
	local library node after
	cli --raw eval '
		local d, out, seen = "{kz:d}", {}, {}
		local function fault(...) out[#out + 1] = table.concat({...}, " ") end
		for _, key in ipairs(redis.call("KEYS", "{kz:d}:w:*")) do
			local name, w = key:match("([^:]+)$"), {}
			for word in redis.call("GET", key):gmatch("%S+") do w[#w + 1] = word end
			seen[name] = w
			if not redis.call("ZSCORE", d .. ":all:" .. w[2], name) then fault(name, "is not counted") end
			for _, state in ipairs({ "creating", "retiring" }) do
				if (redis.call("ZSCORE", d .. ":" .. state .. ":" .. w[2], name) and true or false) ~= (w[1] == state) then
					fault(name, "is", w[1], "and set", state, "differs")
				end
			end
			if (redis.call("SISMEMBER", d .. ":quarantined", name) == 1) ~= (w[17] == "quarantined") then
				fault(name, "quarantine differs")
			end
		end
		for _, set in ipairs({ "all", "creating", "retiring", "unsure" }) do
			for _, key in ipairs(redis.call("KEYS", d .. ":" .. set .. ":*")) do
				for _, name in ipairs(redis.call("ZRANGE", key, 0, -1)) do
					if not seen[name] then fault(key, "has", name, "that is not there") end
				end
			end
		end
		for _, ask in ipairs(redis.call("ZRANGE", d .. ":q", 0, -1)) do
			if not redis.call("ZSCORE", d .. ":deadlines", ask) then fault("ticket", ask, "without a deadline") end
		end
		return out' 0
	library=$(sed -n '1s/.*name=//p' "$root/build/kz.lua")
	for node in $(cli --raw hkeys '{kz:d}:n'); do
		after=
		while :; do
			cli --json fcall_ro "${library}_differs" 1 '{kz:d}' "$node" "$after" >"$dir/differs"
			jq -r '.[1][]' "$dir/differs"
			after=$(jq -r '.[0]' "$dir/differs")
			[ -n "$after" ] || break
		done
	done
}

# Nothing is wrong; what is is shown.
auth_whole() {
	auth_faults | sed '/^$/d' >"$dir/faults"
	cat "$dir/faults"
	[ ! -s "$dir/faults" ]
}

# Tell the inventory of what is there and open again.
auth_reconcile() {
	# shellcheck disable=SC2046 # words
	drive inventory d n1 $(auth_entries) && drive open d n1
}
