#!/usr/bin/env bats
# The load generator of scripts/bench counts what happened, and fails loudly when something else did.

bats_require_minimum_version 1.5.0

setup() {
	bench=$BATS_TEST_DIRNAME/../../build/tests/bench
	counts=$BATS_TEST_TMPDIR/counts
	: >"$counts"
	coproc origin { exec "$bench/origin" -l 127.0.0.1 0; }
	origin_pid=$origin_PID
	read -r _ port <&"${origin[0]}"
	exec {origin_out}<&"${origin[0]}"
}

teardown() {
	[ -z "${proxy_pid:-}" ] || kill "$proxy_pid" 2>/dev/null || :
	kill "$origin_pid" 2>/dev/null || :
	wait
}

# The counts of the origin, after it ended: what came before is all read then.
origin_says() {
	kill "$origin_pid"
	jq -r ".$1" <&"$origin_out"
}

# proxy [STATUS | close]
proxy() {
	mkfifo "$BATS_TEST_TMPDIR/port"
	"$BATS_TEST_DIRNAME/tiny-proxy.py" "$counts" "$@" >"$BATS_TEST_TMPDIR/port" 2>/dev/null 3>&- &
	proxy_pid=$!
	read -r proxy_port <"$BATS_TEST_TMPDIR/port"
}

tunnel() {
	run --separate-stderr "$bench/tunnel" "$@" "127.0.0.1:$port"
	echo "$output $stderr"
}

is() {
	local value
	value=$(jq -r ".$1" <<<"$output")
	[ "$value" = "$2" ] || { echo "$1 is $value and not $2"; false; }
}

@test "a rate counts connections that carried a byte there and back" {
	tunnel -c 8 -t 4000 -w 0 rate
	[ "$status" -eq 0 ]
	is direct true
	is failed 0
	done=$(jq .done <<<"$output")
	[ "$done" -gt 0 ]
	# those under way at the end are accepted and not counted
	accepted=$(origin_says accepted)
	[ "$accepted" -ge "$done" ]
	[ "$accepted" -le $((done + 8)) ]
	jq -e '.echo_us | .p50 <= .p90 and .p90 <= .p99 and .p99 <= .most and .p50 > 0' <<<"$output"
}

@test "through a proxy each connection asks it once" {
	proxy
	tunnel -p "127.0.0.1:$proxy_port" -P "$proxy_pid" -c 4 -t 4000 -w 0 rate
	[ "$status" -eq 0 ]
	is direct false
	done=$(jq .done <<<"$output")
	[ "$done" -gt 0 ]
	asked=$(wc -l <"$counts")
	[ "$asked" -ge "$done" ]
	[ "$asked" -le $((done + 4)) ]
	[ "$(sort -u "$counts")" = "127.0.0.1:$port -" ]
	jq -e '.cpu_us_each > 0' <<<"$output"
}

@test "credentials are taken in turn" {
	proxy
	printf 'Basic one\nBearer two\n' >"$BATS_TEST_TMPDIR/credentials"
	tunnel -p "127.0.0.1:$proxy_port" -a "$BATS_TEST_TMPDIR/credentials" -c 1 -t 4000 -w 0 rate
	[ "$status" -eq 0 ]
	[ "$(head -3 "$counts" | cut -d' ' -f2- | paste -sd,)" = "Basic one,Bearer two,Basic one" ]
}

@test "bulk counts every byte in both directions" {
	tunnel -u -c 3 -t 4000 -w 0 bulk
	[ "$status" -eq 0 ]
	bytes=$(jq .bytes <<<"$output")
	[ "$bytes" -gt 0 ]
	# the last bytes may still be under way
	for _ in {1..100}; do
		taken=$(exec 4<>"/dev/tcp/127.0.0.1/$port" && printf Q >&4 && jq .taken_bytes <&4)
		[ "$taken" -lt $((bytes + 3)) ] || break
		sleep 0.1
	done
	# and the first byte of each connection, which says what it is for
	[ "$taken" -eq $((bytes + 3)) ]
	proxy
	tunnel -p "127.0.0.1:$proxy_port" -P "$proxy_pid" -c 3 -t 4000 bulk
	[ "$status" -eq 0 ]
	jq -e '.bytes > 0 and .cpu_s_each_gb > 0' <<<"$output"
	[ "$(wc -l <"$counts")" -eq 3 ]
}

@test "idle holds as many tunnels as it was told, and each still works" {
	proxy
	tunnel -p "127.0.0.1:$proxy_port" -P "$proxy_pid" -c 100 -t 100 idle
	[ "$status" -eq 0 ]
	is 'done' 100
	jq -e '.held_rss_kib >= .held_private_kib and .held_private_kib > .private_kib and .private_kib > 0 and .processes == 1' <<<"$output"
	[ "$(origin_says accepted)" -eq 100 ]
}

@test "a refusal ends it with 1 and the status that came" {
	proxy 403
	for mode in rate bulk idle; do
		tunnel -p "127.0.0.1:$proxy_port" -c 2 -t 2000 "$mode"
		[ "$status" -eq 1 ]
		[ -z "$output" ]
		[[ $stderr == "tunnel: the proxy answered 403 and not 200"* ]]
	done
	[ "$(origin_says accepted)" -eq 0 ]
}

@test "a refusal that is expected is counted" {
	proxy 403
	tunnel -p "127.0.0.1:$proxy_port" -e 403 -c 2 -t 4000 -w 0 rate
	[ "$status" -eq 0 ]
	done=$(jq .done <<<"$output")
	[ "$done" -gt 0 ]
	[ "$(wc -l <"$counts")" -ge "$done" ]
}

@test "a tunnel where a refusal was expected fails" {
	proxy
	tunnel -p "127.0.0.1:$proxy_port" -e 403 -c 2 -t 2000 rate
	[ "$status" -eq 1 ]
	[[ $stderr == "tunnel: the proxy answered 200 and not 403"* ]]
}

@test "a proxy that closes, and one that is not there, fail" {
	proxy close
	tunnel -p "127.0.0.1:$proxy_port" -c 2 -t 2000 rate
	[ "$status" -eq 1 ]
	[[ $stderr == "tunnel: the proxy closed without an answer"* ]]
	tunnel -p 127.0.0.1:1 -c 2 -t 2000 rate
	[ "$status" -eq 1 ]
	[[ $stderr == "tunnel: connect: "* ]]
	tunnel -p "unix:$BATS_TEST_TMPDIR/none" -c 2 -t 2000 rate
	[ "$status" -eq 1 ]
	[[ $stderr == "tunnel: connect: "* ]]
}

@test "failures that are tolerated are counted" {
	proxy close
	tunnel -p "127.0.0.1:$proxy_port" -f 1000000 -c 2 -t 4000 rate
	[ "$status" -eq 0 ]
	is 'done' 0
	jq -e '.failed > 0' <<<"$output"
}

@test "a measured process that is gone fails" {
	true 3>&- &
	gone=$!
	wait $gone
	tunnel -P $gone -c 1 -t 100 rate
	[ "$status" -eq 1 ]
	[[ $stderr == "tunnel: the measured process is gone" ]]
}

@test "names of the origin: numbered hosts have an address, others do not exist" {
	kill "$origin_pid"
	coproc origin { exec "$bench/origin" -l 127.0.0.1 -n "127.0.0.1:$port" -b 11.22.0.0 0; }
	origin_pid=$origin_PID
	read -r _ _ <&"${origin[0]}"
	run python3 - "$port" <<-'END'
		import socket, struct, sys
		s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
		s.settimeout(10)
		s.connect(("127.0.0.1", int(sys.argv[1])))
		for name, kind in (("h0.a.example", 1), ("h300.a.example", 1), ("h7.a.example", 28), ("x.a.example", 1)):
		    q = b"".join(bytes([len(x)]) + x.encode() for x in name.split(".")) + b"\0"
		    s.send(struct.pack(">6H", 77, 0x100, 1, 0, 0, 0) + q + struct.pack(">2H", kind, 1))
		    a = s.recv(512)
		    number, flags, _, answers = struct.unpack(">4H", a[:8])
		    assert number == 77
		    print(flags & 15, ".".join(str(b) for b in a[-4:]) if answers else "-")
	END
	echo "$output"
	[ "$output" = "$(printf '0 11.22.0.0\n0 11.22.1.44\n0 -\n3 -')" ]
}

@test "a wrong command line is 64" {
	for line in "" "rate" "walk 127.0.0.1:1" "rate 127.0.0.1" "rate 127.0.0.1:0" "-c 0 rate 127.0.0.1:1" "-c x rate 127.0.0.1:1" \
		"-p 127.0.0.1 rate 127.0.0.1:1" "-z rate 127.0.0.1:1" "rate name.example:1"; do
		# shellcheck disable=SC2086 # several words
		run "$bench/tunnel" $line
		echo "$line: $output"
		[ "$status" -eq 64 ]
	done
}
