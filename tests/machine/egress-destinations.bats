# Every spelling of every kind of destination through the real proxy, in each mode; and that nothing denied was even tried.
# weight 177
# shellcheck disable=SC2154 # run and eg_mint set the variables
# bats file_tags=case:root
bats_require_minimum_version 1.5.0
load ../kz
load ../egress

setup_file() {
	local mode
	eg_start SANDBOX_WARM_POOL_MIN=0 KZ_PROXY_CONNECT_SECONDS=12 || return 1
	for mode in isolated public_internet private_network host_allowlist; do
		case $mode in
		isolated) eg_mint isolated 'ports=[]' ;;
		public_internet) eg_mint public_internet ;;
		private_network) eg_mint private_network 'cidrs=["10.0.0.0/8","172.16.0.0/12","192.168.0.0/16","fc00::/7"]' ;;
		host_allowlist)
			eg_mint host_allowlist 'hosts=["web.pub.lab","pypi.pub.lab","pub.odd.lab","priv.odd.lab","priv2.odd.lab","mixedpriv.odd.lab","mixed.odd.lab","loop.odd.lab","meta.odd.lab","rebind.odd.lab","mapped.odd.lab","pub.test","93.184.216.34","2606:2800:220:1::1"]' 'cidrs=["10.0.0.0/8"]'
			;;
		esac
		echo "$mode $grant $execution"
	done | jq -Rn '[inputs | split(" ") | {(.[0]): [.[1], .[2]]}] | add' >"$EG/grants.json"
	eg_mint public_internet
}

teardown_file() {
	eg_stop
}

# Nothing was tried but what an allowed case has.
tried_only_allowed() {
	eg_tried >"$EG/tried"
	[ -s "$EG/tried" ] || {
		echo "nothing was tried at all" >&2
		return 1
	}
	if grep -v '^tcp ' "$EG/tried" >&2 || awk '{ print $2 }' "$EG/tried" | grep -vxFf "$EG/allowed" >&2; then
		echo "was tried" >&2
		return 1
	fi
}

# Shows what was not so, when something was not.
destinations() {
	run "$EG_PYTHON" "$EG_HERE/egress/destinations.py" "$@"
	[ "$status" -eq 0 ] || head -n 40 <<<"$output" >&2
	return "$status"
}

golden() {
	destinations golden "$EG_HERE/golden/egress-authority.tsv" "$KZ_STATE" "$@"
	echo "${lines[-1]}"
	[[ ${lines[-1]} =~ ^([0-9]+)\ destinations && ${BASH_REMATCH[1]} -ge 200 ]]
}

# EXECUTION REASON, of every denial.
reasons() { "$KZ_BIN/kz-audit" list -j -k denial | jq -r '"\(.egress[0].execution) \(.reason)"' | sort -u; }
has_all_reasons() {
	reasons >"$EG/reasons"
	[ -z "$(sort -u "$EG/expected" | comm -23 - "$EG/reasons" | head -n 5 | tee "$EG/lacking")" ]
}

@test "PROXY-8 POL-5 INV-33 the table of destinations, in four modes; only allowed addresses are tried" {
	eg_mark
	golden
	tried_only_allowed
}

@test "PROXY-13 the audit has the rule's own reason for each of them" {
	[ "$(wc -l <"$EG/expected")" -ge 200 ]
	kz_wait 20 has_all_reasons || {
		cat "$EG/lacking" >&2
		return 1
	}
	[ "$(eg_health | jq .audit.lost)" -eq 0 ]
}

@test "PROXY-3 POL-5 the same table by plain HTTP" {
	eg_mark
	golden plain
	tried_only_allowed
}

@test "PROXY-5 PROXY-7 INV-27 names with mixed, private, chained, empty, huge and broken answers, in four modes" {
	eg_mark
	destinations names "$EG_HERE/egress/names.tsv"
	printf '%s\n' 93.184.216.34 2606:2800:220:1::1 93.184.216.35 10.1.2.3 fd12:3456::3 fd12:3456::1 192.168.7.7 >"$EG/allowed"
	printf '93.184.0.%s\n' {1..64} >>"$EG/allowed"
	tried_only_allowed
}

@test "POL-1 in isolated mode nothing is asked of DNS" {
	eg_mark
	read -r EG_GRANT EG_EXECUTION < <(jq -r '.isolated | join(" ")' "$EG/grants.json")
	export EG_GRANT EG_EXECUTION
	run -0 eg_ask connect web.pub.lab:443 pub.odd.lab:80 93.184.216.34:80 priv.odd.lab:80
	[ "$(grep -c '^403 ' <<<"$output")" -eq 4 ]
	[ -z "$(eg_asked)" ]
	[ -z "$(eg_tried)" ]
}

@test "POL-1 a name that is not in the list, and a port that is not allowed, are not looked up" {
	eg_mark
	run -0 eg_ask connect web.pub.lab:22 pub.odd.lab:25 localhost:80 web:80 x.onion:80
	[ "$(grep -c '^403 ' <<<"$output")" -eq 5 ]
	read -r EG_GRANT EG_EXECUTION < <(jq -r '.host_allowlist | join(" ")' "$EG/grants.json")
	export EG_GRANT EG_EXECUTION
	run -0 eg_ask connect other.pub.lab:443 www.web.pub.lab:443 pub.lab:443 xweb.pub.lab:80 web.pub.lab.odd.lab:80
	[ "$(grep -c '^403 ' <<<"$output")" -eq 5 ]
	[ -z "$(eg_asked)" ]
	[ -z "$(eg_tried)" ]
}

# Each question is counted here: none is asked twice because the server was not run for a moment.
patiently() { eg_set KZ_PROXY_CONNECT_SECONDS=60; }
as_before() { eg_set KZ_PROXY_CONNECT_SECONDS=12; }

@test "PROXY-4 a name that changes to loopback is refused from then on, and loopback is never tried" {
	local n=0
	patiently
	eg_mark
	run -0 eg_ask connect rebind.odd.lab:8443 rebind.odd.lab:8443 rebind.odd.lab:8443 rebind.odd.lab:8443
	[ "${lines[0]}" = "200 rebind.odd.lab:8443" ]
	for n in 1 2 3; do
		[ "${lines[n]}" = "403 rebind.odd.lab:8443" ]
	done
	[ "$(eg_tried)" = "tcp 93.184.216.34 8443" ]
	# each connection asked anew: once a family
	[ "$(eg_asked | sort | uniq -c | awk '{ print $1 }' | sort -u)" = 4 ]
	as_before
}

@test "PROXY-4 a name that turns at each answer is judged at each connection" {
	patiently
	run -0 eg_ask connect turn.odd.lab:8443 turn.odd.lab:8443 turn.odd.lab:8443 turn.odd.lab:8443 turn.odd.lab:8443 turn.odd.lab:8443
	[ "$(cut -c1-3 <<<"$output" | tr '\n' ' ')" = "200 403 200 403 200 403 " ]
	as_before
}

@test "PROXY-6 a name costs one question a family, absolute, without the search list" {
	patiently
	eg_mark
	run -0 eg_ask connect four.pub.lab:8443
	[ "$(eg_asked | sort)" = "$(printf 'four.pub.lab 1\nfour.pub.lab 28')" ]
	eg_mark
	run -0 eg_ask connect nowhere.pub.lab:8443 nx.odd.lab:8443 web.priv.lab.:8443
	[ -z "$(eg_asked | grep -vE '^(nowhere\.pub\.lab|nx\.odd\.lab|web\.priv\.lab) (1|28)$')" ]
	as_before
}

@test "PROXY-20 an address that does not answer falls over to the next judged one" {
	eg_mark
	run -0 eg_ask connect fallover.odd.lab:8443
	[ "$output" = "200 fallover.odd.lab:8443" ]
	eg_tried | grep -qx 'tcp 93.184.216.34 8443'
	run eg_tried
	echo "$output"
	[ -z "$(grep -vE '^tcp 93\.184\.216\.(1|34) 8443$' <<<"$output")" ]
}

@test "PROXY-12 an address that does not answer, and a port that is shut, are refused by the same bytes" {
	eg_mint public_internet 'ports=[80,8081,8443]'
	eg_probe constant_refusal 127.0.0.1:80 93.184.216.34:8081 93.184.216.1:8443 dead.odd.lab:8443 nx.odd.lab:80 four.pub.lab:443
	kz_wait 5 eg_is_denied connect_failed 93.184.216.34 8081
	kz_wait 5 eg_is_denied connect_timeout 93.184.216.1 8443
	kz_wait 5 eval 'eg_is_denied dns_failed nx.odd.lab 80 || eg_is_denied dns_empty nx.odd.lab 80'
	eg_mint public_internet
}

@test "POL-4 KZ_EGRESS_DENY_CIDRS holds in every mode from the next connection on" {
	run -0 eg_ask connect web.pub.lab:8443 93.184.216.34:8443
	[ "$(grep -c '^200 ' <<<"$output")" -eq 2 ]
	eg_set KZ_EGRESS_DENY_CIDRS=93.184.216.0/24
	run -0 eg_ask connect web.pub.lab:8443 93.184.216.34:8443 '[2606:2800:220:1::1]:8443'
	[ "$(cut -c1-3 <<<"$output" | tr '\n' ' ')" = "403 403 200 " ]
	# nonsense closes, it does not open
	eg_set KZ_EGRESS_DENY_CIDRS=nonsense
	run -0 eg_ask connect web.pub.lab:8443 '[2606:2800:220:1::1]:8443'
	[ "$(grep -c '^403 ' <<<"$output")" -eq 2 ]
	eg_set KZ_EGRESS_DENY_CIDRS=169.254.169.254/32
	run -0 eg_ask connect web.pub.lab:8443
	[ "$output" = "200 web.pub.lab:8443" ]
}

@test "PROXY-8 KZ_EGRESS_FAMILIES limits the questions, not the check" {
	eg_set KZ_EGRESS_FAMILIES=ipv4
	eg_mark
	run -0 eg_ask connect servfail6.odd.lab:8443 pub.odd.lab:8443 mixed46.odd.lab:8443 pub6.odd.lab:8443 mixed.odd.lab:8443
	[ "$(cut -c1-3 <<<"$output" | tr '\n' ' ')" = "200 200 200 403 403 " ]
	[ -z "$(eg_asked | grep ' 28$')" ]
	eg_set KZ_EGRESS_FAMILIES=both
	run -0 eg_ask connect servfail6.odd.lab:8443
	[ "$output" = "403 servfail6.odd.lab:8443" ]
}

@test "PROXY-6 the real server alone, by IPv4 and IPv6, and one that does not answer" {
	eg_set KZ_EGRESS_RESOLVERS=198.51.100.54:53
	eg_mark
	run -0 eg_ask connect web.pub.lab:8443
	[ "$output" = "200 web.pub.lab:8443" ]
	[ -z "$(eg_asked)" ]
	eg_set 'KZ_EGRESS_RESOLVERS=[2001:db8:53::53]:53'
	run -0 eg_ask connect web.pub.lab:8443
	[ "$output" = "200 web.pub.lab:8443" ]
	eg_set KZ_EGRESS_RESOLVERS=198.51.100.77
	run -0 eg_ask connect web.pub.lab:8443 93.184.216.34:8443
	[ "$(cut -c1-3 <<<"$output" | tr '\n' ' ')" = "403 200 " ]
	eg_set KZ_EGRESS_RESOLVERS=198.51.100.53
	run -0 eg_ask connect web.pub.lab:8443
	[ "$output" = "200 web.pub.lab:8443" ]
}

@test "POL-3 an address that this machine gets later is its own from then on" {
	run -0 eg_ask connect 93.184.216.98:8443
	[ "$output" = "200 93.184.216.98:8443" ]
	eg_inside ip addr add 93.184.216.98/32 dev lo
	own() { [ "$(eg_ask connect 93.184.216.98:8443)" = "403 93.184.216.98:8443" ] && eg_is_denied address_self 93.184.216.98 8443; }
	kz_wait 10 own
	eg_inside ip addr del 93.184.216.98/32 dev lo
	other() { [ "$(eg_ask connect 93.184.216.98:8443)" = "200 93.184.216.98:8443" ]; }
	kz_wait 10 other
}

@test "PROXY-6 the servers of /etc/resolv.conf are asked, its search list is not" {
	eg_set KZ_EGRESS_RESOLVERS=
	eg_mark
	run -0 eg_ask connect web.pub.lab:8443 nowhere.pub.lab:8443 web.pub:8443 web:8443 pub:8443
	[ "$(cut -c1-3 <<<"$output" | tr '\n' ' ')" = "200 403 403 403 403 " ]
	[ "$(eg_asked | sort -u)" = "$(printf '%s\n' 'nowhere.pub.lab 1' 'nowhere.pub.lab 28' 'web.pub 1' 'web.pub 28' 'web.pub.lab 1' 'web.pub.lab 28')" ]
	[ -z "$(eg_tried | grep -vE '^tcp (93\.184\.216\.34|2606:2800:220:1::1) 8443$')" ]
	eg_set KZ_EGRESS_RESOLVERS=198.51.100.53
}

# what the broker answers an execution of its own for a package that its registry does not have
broker_says() {
	local execution token
	execution=$(printf '%08x%024x' "$RANDOM" "$(date +%s%N)")
	token=$("$EG_PYTHON" "$BATS_TEST_DIRNAME/../registry/token.py" "$KZ_STATE/keys/package.key" 00112233445566778899aabbccddeeff \
		"$execution" $(($(date +%s) + 200)))
	printf 'KZ-EXECUTION %s\nGET /pypi/simple/none/ HTTP/1.1\r\nHost: 127.0.0.1:8000\r\nAuthorization: Bearer %s\r\nConnection: close\r\n\r\n' \
		"$execution" "$token" |
		"$EG_PYTHON" -c 'import socket, sys
s = socket.socket(socket.AF_UNIX)
s.connect(sys.argv[1])
s.sendall(sys.stdin.buffer.read())
print(s.makefile("rb").read().decode().splitlines()[-1])' "$KZ_STATE/run/gateway/gateway.sock" | jq -r .reason
}
broker_is() { [ "$(broker_says)" = "$1" ]; }

@test "BRK-8 PROXY-6 the broker asks the servers that /etc/resolv.conf names now, as the proxy does" {
	local usual
	usual=$(cat "$EG/resolv.conf")
	# nobody answers there
	echo 'nameserver 93.184.216.1' >"$EG/resolv.conf"
	eg_set KZ_EGRESS_RESOLVERS= 'SANDBOX_PACKAGE_REGISTRIES={"pypi":{"index":"http://web.pub.lab/simple/"}}'
	kz_wait 20 broker_is registry_unreachable
	# the machine is in another network now; the cooldown ends, and the next one finds it
	echo "$usual" >"$EG/resolv.conf"
	kz_wait 60 broker_is package_unknown
	eg_set KZ_EGRESS_RESOLVERS=198.51.100.53 'SANDBOX_PACKAGE_REGISTRIES={}'
}

@test "BRK-8 POL-6 a registry's name that stands for this machine is refused, unless its address is named too" {
	local pid
	echo '{"mine.pub.lab": ["93.184.216.99"]}' >"$EG/answers.json"
	nsenter --net="/run/netns/$EG_NAME-in" "$EG_PYTHON" -m http.server -b 93.184.216.99 80 -d "$EG/www" >"$EG/mine.out" 2>&1 3>&- &
	pid=$!
	kz_wait 10 eg_inside curl -s -o /dev/null http://93.184.216.99/hello
	: >"$EG/mine.out"
	eg_set 'SANDBOX_PACKAGE_REGISTRIES={"pypi":{"index":"http://mine.pub.lab/simple/"}}'
	kz_wait 20 broker_is package_host_denied
	[ ! -s "$EG/mine.out" ]
	eg_set 'SANDBOX_PACKAGE_REGISTRIES={"pypi":{"index":"http://mine.pub.lab/simple/","addresses":["93.184.216.99/32"]}}'
	kz_wait 20 broker_is package_unknown
	eg_set 'SANDBOX_PACKAGE_REGISTRIES={}'
	rm "$EG/answers.json"
	kill "$pid"
}
