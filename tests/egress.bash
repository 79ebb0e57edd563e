# shellcheck shell=bash
# egress.bash: an internet of its own for a bats test, and a kz whose proxy has that one only.
#
#	load ../kz
#	load ../egress
#	setup_file()    { eg_start SANDBOX_WARM_POOL_MIN=1; }
#	teardown_file() { eg_stop; }
#
# Two network namespaces joined by a cable. In the outer one, "the internet", every address there is belongs to
# this machine (public ones, 10/8, 169.254.169.254, multicast aside), so that a dial to the wrong place connects
# and is seen. There run a real DNS server (nsd, 198.51.100.54), a scripted one (tests/egress/dns.py,
# 198.51.100.53: names below odd.lab get odd answers, all others are passed to nsd, every question is logged),
# nginx with HTTP on 80, 8080 and 8443 and TLS on 443 of every address, and raw servers (tests/egress/origin.py)
# on 9001 to 9010. In the inner one run Valkey, kz-controller and kz-proxy of a stack that kz_start made; its
# default route is the cable, and its /etc/resolv.conf names the scripted server and a search list. What leaves
# it, or goes over its loopback, is logged by tests/egress/sniff.py.
# The programs of a test run in neither: they reach kz by its sockets, and the workers have namespaces of their own.
#
# A name of a function in the background is a shell of its own: start what is to be ended later with nsenter itself.
#
# Root only. Needs iproute2, nsd, nginx, openssl, python3 and its cryptography, git, fcgiwrap (scripts/install-deps --check).
#
# eg_start [NAME=VALUE]...  make all of it and start a stack with these settings; exports EG, the directory of the
#                           laboratory: EG/ca.pem (the authority of its TLS servers), EG/www (what nginx serves),
#                           EG/dns.log, EG/origin.log, EG/net.log, EG/web.log
# eg_stop                   end and remove all of it, and fail when something is left
# eg_set NAME=VALUE...      kz config set, and wait until the proxy can have seen it
# eg_inside CMD...          run a command in the inner namespace (the proxy's);  eg_outside: in the internet's
# eg_mark                   forget what was seen so far
# eg_asked                  names and types asked of the scripted DNS server since eg_mark, one a line
# eg_tried                  connections tried since eg_mark: "tcp|udp ADDRESS PORT", DNS questions left out
# eg_mint MODE [OPTION]...  a grant for the test's own connections, made by tests/egress/mint.py with these options;
#                           sets grant and execution, and EG_SOCK, EG_GRANT and EG_EXECUTION for eg_ask
# eg_ask ...                tests/egress/ask.py, with that grant
# eg_denials                the denials in the audit: "REASON HOST PORT", oldest first; eg_is_denied REASON HOST PORT
# eg_health                 the proxy's health answer
# eg_probe NAME [ARG]...    a function of tests/egress/probes.py
#
# Names: web.pub.lab (93.184.216.34 and 2606:2800:220:1::1), pypi, npm, git, files (the same), four.pub.lab,
# six.pub.lab, other.pub.lab, web.priv.lab (10.1.2.3), six.priv.lab (fd12:3456::3), and the script's.

EG_HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
EG_PORTS=80,443,8080,8443,9001,9002,9003,9004,9005,9006,9007,9009,9010
EG_PYTHON=/usr/bin/python3

eg_inside() { nsenter --net="/run/netns/$EG_NAME-in" "$@"; }
eg_outside() { nsenter --net="/run/netns/$EG_NAME-out" "$@"; }

# eg_spawn NAME CMD...: start in the background, wait until it says it is ready, keep its number.
eg_spawn() {
	local name=$1
	shift
	"$@" </dev/null >"$EG/$name.out" 2>"$EG/$name.err" 3>&- &
	echo $! >"$EG/$name.pid"
}

eg_is_ready() { grep -q ready "$EG/$1.out"; }

eg_net() {
	local inner=/run/netns/$EG_NAME-in outer=/run/netns/$EG_NAME-out ns
	ip netns add "$EG_NAME-in" && ip netns add "$EG_NAME-out" || return 1
	for ns in "$inner" "$outer"; do
		nsenter --net="$ns" sysctl -qw net.ipv6.conf.all.disable_ipv6=0 net.ipv6.conf.default.disable_ipv6=0 \
			net.ipv6.conf.all.accept_dad=0 net.ipv6.conf.default.accept_dad=0 \
			net.ipv4.conf.all.rp_filter=0 net.ipv4.conf.default.rp_filter=0 || return 1
		nsenter --net="$ns" ip link set lo up || return 1
	done
	nsenter --net="$inner" ip link add cable type veth peer name cable netns "$EG_NAME-out" || return 1
	eg_inside ip addr add 198.18.0.1/30 dev cable
	eg_outside ip addr add 198.18.0.2/30 dev cable
	eg_inside ip addr add fd4b:5a::1/64 dev cable nodad
	eg_outside ip addr add fd4b:5a::2/64 dev cable nodad
	# a public address of the proxy's own machine
	eg_inside ip addr add 93.184.216.99/32 dev lo
	eg_inside ip link set cable up
	eg_outside ip link set cable up
	eg_inside ip route add default via 198.18.0.2 dev cable
	eg_inside ip -6 route add default via fd4b:5a::2 dev cable
	# every address is here; those of DNS servers are bound by name
	eg_outside ip addr add 198.51.100.53/32 dev lo
	eg_outside ip addr add 198.51.100.54/32 dev lo
	eg_outside ip addr add 2001:db8:53::53/128 dev lo nodad
	eg_outside ip route add local default dev lo table main
	eg_outside ip -6 route add local default dev lo table main
	eg_outside sysctl -qw net.ipv4.tcp_max_syn_backlog=16384 net.core.somaxconn=16384
	# nobody answers there
	eg_outside ip route add blackhole 93.184.216.1/32
}

eg_ca() {
	local names='DNS:*.pub.lab,DNS:*.priv.lab,DNS:*.odd.lab,IP:93.184.216.34,IP:10.1.2.3,IP:2606:2800:220:1::1'
	{
		openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj "/CN=laboratory" \
			-addext keyUsage=critical,keyCertSign -keyout "$EG/ca.key" -out "$EG/ca.pem" &&
			openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj "/CN=web.pub.lab" \
				-keyout "$EG/web.key" -out "$EG/web.csr" &&
			printf 'subjectAltName=%s\nextendedKeyUsage=serverAuth\n' "$names" >"$EG/web.ext" &&
			openssl x509 -req -in "$EG/web.csr" -CA "$EG/ca.pem" -CAkey "$EG/ca.key" -set_serial 2 -days 2 \
				-extfile "$EG/web.ext" -out "$EG/web.pem"
	} 2>"$EG/openssl.err"
}

eg_dns() {
	cat >"$EG/lab.zone" <<-'END'
		$ORIGIN lab.
		$TTL 60
		@ SOA ns root 1 3600 600 86400 60
		@ NS ns
		ns A 198.51.100.54
		$ORIGIN pub.lab.
		web A 93.184.216.34
		web AAAA 2606:2800:220:1::1
		pypi CNAME web
		npm CNAME web
		git CNAME web
		files CNAME web
		four A 93.184.216.34
		six AAAA 2606:2800:220:1::1
		other A 93.184.216.35
		xn--bcher-kva A 93.184.216.34
		a_b A 93.184.216.34
		$ORIGIN priv.lab.
		web A 10.1.2.3
		pypi CNAME web
		npm CNAME web
		git CNAME web
		six AAAA fd12:3456::3
	END
	# what a search list would find: nobody may ask for it
	cat >"$EG/corp.zone" <<-'END'
		$ORIGIN corp.internal.
		$TTL 60
		@ SOA ns root 1 3600 600 86400 60
		@ NS ns
		ns A 198.51.100.54
		* A 93.184.216.34
		* AAAA 2606:2800:220:1::1
	END
	cat >"$EG/nsd.conf" <<-END
		server:
			ip-address: 198.51.100.54
			username: ""
			chroot: ""
			zonesdir: "$EG"
			database: ""
			pidfile: "$EG/nsd.real.pid"
			xfrdfile: "$EG/nsd.xfrd"
			zonelistfile: "$EG/nsd.list"
			server-count: 1
			rrl-ratelimit: 0
		remote-control:
			control-enable: no
		zone:
			name: lab
			zonefile: lab.zone
		zone:
			name: corp.internal
			zonefile: corp.zone
	END
	eg_spawn nsd nsenter --net="/run/netns/$EG_NAME-out" nsd -d -c "$EG/nsd.conf"
	eg_spawn dns nsenter --net="/run/netns/$EG_NAME-out" "$EG_PYTHON" "$EG_HERE/egress/dns.py" "$EG/dns.log" 198.51.100.54 \
		198.51.100.53 2001:db8:53::53
	kz_wait 10 eg_is_ready dns
}

eg_web() {
	mkdir -p "$EG/www" "$EG/nginx"
	echo "the internet says hello" >"$EG/www/hello"
	"$EG_PYTHON" "$EG_HERE/egress/fixtures.py" "$EG/www" || return 1
	truncate -s 1G "$EG/www/big"
	cat >"$EG/nginx.conf" <<-END
		user root;
		worker_processes 1;
		daemon off;
		pid $EG/nginx.real.pid;
		error_log $EG/nginx.log;
		worker_rlimit_nofile 20000;
		events { worker_connections 9000; }
		http {
			client_body_temp_path $EG/nginx/a;
			proxy_temp_path $EG/nginx/b;
			fastcgi_temp_path $EG/nginx/c;
			uwsgi_temp_path $EG/nginx/d;
			scgi_temp_path $EG/nginx/e;
			types { text/html html; application/json json; }
			default_type application/octet-stream;
			log_format lab '\$server_addr \$server_port \$host \$status "\$request" "\$http_proxy_authorization" "\$http_via"';
			access_log $EG/web.log lab;
			ssl_certificate $EG/web.pem;
			ssl_certificate_key $EG/web.key;
			server {
				listen 80 backlog=8192;
				listen [::]:80 backlog=8192 ipv6only=on;
				listen 8080 backlog=8192;
				listen [::]:8080 backlog=8192 ipv6only=on;
				listen 8443 backlog=8192;
				listen [::]:8443 backlog=8192 ipv6only=on;
				listen 443 ssl backlog=8192;
				listen [::]:443 ssl backlog=8192 ipv6only=on;
				root $EG/www;
				index index.html;
				location /redirect/metadata { return 302 http://169.254.169.254/latest/meta-data/; }
				location /redirect/private { return 302 http://10.1.2.3/hello; }
				location /redirect/loopback { return 302 http://127.0.0.1:80/hello; }
				location /redirect/name { return 302 http://priv.odd.lab/hello; }
				location /redirect/port { return 302 http://web.pub.lab:22/hello; }
				location /redirect/good { return 302 http://four.pub.lab/hello; }
				location /post { if (\$request_method = POST) { return 200 "posted\n"; } return 405; }
				location ~ ^/smart(/.*)\$ {
					client_max_body_size 0;
					fastcgi_pass unix:$EG/git.sock;
					fastcgi_param SCRIPT_FILENAME /usr/lib/git-core/git-http-backend;
					fastcgi_param GIT_PROJECT_ROOT $EG/www;
					fastcgi_param GIT_HTTP_EXPORT_ALL "";
					fastcgi_param PATH_INFO \$1;
					fastcgi_param QUERY_STRING \$query_string;
					fastcgi_param REQUEST_METHOD \$request_method;
					fastcgi_param CONTENT_TYPE \$content_type;
					fastcgi_param CONTENT_LENGTH \$content_length;
				}
				location = /kzdemo { alias $EG/www/kzdemo.\$scheme.\$host.json; default_type application/json; }
			}
		}
	END
	nginx -t -q -c "$EG/nginx.conf" 2>>"$EG/nginx.log" || :
	git -C "$EG/www/demo.git" config http.receivepack true || return 1
	eg_spawn git env HOME="$EG" GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=safe.directory GIT_CONFIG_VALUE_0='*' fcgiwrap -s "unix:$EG/git.sock"
	eg_spawn nginx nsenter --net="/run/netns/$EG_NAME-out" nginx -c "$EG/nginx.conf" -e "$EG/nginx.log"
	eg_spawn origin nsenter --net="/run/netns/$EG_NAME-out" "$EG_PYTHON" "$EG_HERE/egress/origin.py" "$EG/origin.log"
	eg_spawn sniff nsenter --net="/run/netns/$EG_NAME-in" "$EG_PYTHON" "$EG_HERE/egress/sniff.py" "$EG/net.log"
	kz_wait 10 eg_is_ready origin && kz_wait 10 eg_is_ready sniff && kz_wait 10 eg_is_served
}

eg_is_served() {
	eg_inside curl -s -m 2 -o /dev/null http://93.184.216.34/hello &&
		eg_inside curl -s -m 2 -o /dev/null --cacert "$EG/ca.pem" 'https://[2606:2800:220:1::1]/hello' &&
		eg_inside "$EG_PYTHON" "$EG_HERE/egress/ask.py" resolve 198.51.100.53 web.pub.lab
}

# The laboratory alone, without a kz.
eg_lab() {
	[ "$(id -u)" -eq 0 ] || {
		echo "eg_start: network namespaces need root" >&2
		return 77
	}
	EG=$(mktemp -d /tmp/kz-eg.XXXXXX)
	kz_own "$EG"
	EG_NAME=$(basename "$EG" | tr . -)
	export EG EG_NAME
	chmod 755 "$EG"
	: >"$EG/dns.log"
	: >"$EG/net.log"
	: >"$EG/origin.log"
	: >"$EG/web.log"
	if ! { eg_net && eg_ca && eg_dns && eg_web; }; then
		tail -n 20 "$EG"/*.err "$EG"/nginx.log >&2
		return 1
	fi
}

eg_start() {
	eg_lab || return 1
	printf 'search corp.internal lab\noptions ndots:5 timeout:1\nnameserver 198.51.100.53\n' >"$EG/resolv.conf"
	# what kz up starts lives in the inner namespace, and has a resolv.conf of its own
	# shellcheck disable=SC2016,SC2317 # kz_start calls it; the words are those of sh
	kz() { eg_inside unshare -m sh -c 'mount --bind "$EG/resolv.conf" /etc/resolv.conf && exec "$KZ_BIN/kz" "$@"' kz "$@"; }
	# 15: what answers does so within that on any machine
	kz_start SANDBOX_ACQUIRE_WAIT_SECONDS=120 KZ_PROXY_CONNECT_SECONDS=15 KZ_EGRESS_RESOLVERS=198.51.100.53 SANDBOX_EGRESS_ALLOWED_PORTS=$EG_PORTS "$@"
}

eg_stop() {
	local rc=0 pid file
	if declare -F kz >/dev/null || [ -n "${KZ_STATE:-}" ]; then
		kz_stop || rc=1
	fi
	unset -f kz
	[ -n "${EG:-}" ] && [ -d "$EG" ] || return $rc
	for file in "$EG"/{nsd,dns,nginx,origin,sniff,git}.pid; do
		[ -f "$file" ] || continue
		pid=$(cat "$file")
		[ -z "$pid" ] || kill "$pid" 2>/dev/null || :
	done
	kz_wait 10 eg_is_empty || rc=1
	ip netns del "$EG_NAME-in" || rc=1
	ip netns del "$EG_NAME-out" || rc=1
	[ $rc -ne 0 ] || { rm -rf "$EG" && kz_disown "$EG"; }
	return $rc
}

# Nobody lives in the namespaces any more.
eg_is_empty() { [ -z "$(ip netns pids "$EG_NAME-in" 2>/dev/null)$(ip netns pids "$EG_NAME-out" 2>/dev/null)" ]; }

# The proxy goes by what the files of its settings, keys and revocations are now. It counts how often it read them; a look that
# had begun before may not have seen all, the one after it has.
eg_taken() {
	local count
	for _ in 1 2; do
		count=$(eg_health | jq .settings)
		touch "$KZ_STATE/env/KZ_DEPLOYMENT_ID"
		kz_wait 10 eg_is_past "$count" || return 1
	done
}
eg_is_past() { [ "$(eg_health | jq .settings)" -gt "$1" ]; }

eg_set() { "$KZ_BIN/kz" config set "$@" && eg_taken; }

eg_mark() {
	: >"$EG/dns.log"
	: >"$EG/net.log"
	: >"$EG/origin.log"
	: >"$EG/web.log"
}

eg_asked() { jq -r '"\(.name) \(.type)"' "$EG/dns.log"; }

# The log is behind the network by a moment: a dial of our own marks its end.
eg_tried() {
	local port=$((20000 + RANDOM % 20000))
	eg_inside "$EG_PYTHON" -c "import socket; socket.socket().connect_ex(('198.18.0.2', $port))"
	kz_wait 10 grep -q " 198.18.0.2 $port " "$EG/net.log" || {
		echo "the log does not end" # nobody takes this for nothing
		return 1
	}
	grep -vE "^(udp 198.51.100.5[34] 53|udp 2001:db8:53::53 53|tcp 198.51.100.53 53) |^tcp 198\.18\.0\.2 " "$EG/net.log" |
		awk '!seen[$0]++ { print $1, $2, $3 }'
}

# The grant is for connections of the test itself, which come from its own uid.
# shellcheck disable=SC2034 # for the test
eg_mint() {
	read -r grant execution < <("$EG_PYTHON" "$EG_HERE/egress/mint.py" "$KZ_STATE" "$@")
	export EG_SOCK=$KZ_STATE/run/proxy/proxy.sock EG_GRANT=$grant EG_EXECUTION=$execution
	[ -n "$grant" ]
}

# The proxy writes them behind its answers.
eg_denials() {
	"$KZ_BIN/kz-audit" list -j -k denial | jq -r '"\(.reason) \(.egress[0].host) \(.egress[0].port)"'
}
eg_is_denied() { eg_denials | grep -qxF "$*"; }

# What the proxy says of itself.
eg_health() { curl -s -m 60 --unix-socket "$KZ_STATE/run/proxy-health.sock" http://proxy/v1/health; }

eg_ask() { "$EG_PYTHON" "$EG_HERE/egress/ask.py" "$@"; }
eg_probe() { eg_ask probe "$@"; }

# Is there a denial of this reason?
eg_has_reason() { eg_denials | grep -q "^$1 "; }
