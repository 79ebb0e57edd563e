#!/usr/bin/env bats
# bats file_tags=case:root
# kz of a user who is not root: what it needs, that it says so, and that it works where that is there.
bats_require_minimum_version 1.5.0
load ../kz
load ../rootless

setup_file() {
	local bin
	bin=$(kz_bin_dir)
	ALL=$(mktemp -d /tmp/kzr.XXXXXX)
	NAME=kzt$$
	ROOTLESS_BIN=$ALL/bin
	export ALL NAME ROOTLESS_BIN
	chmod 755 "$ALL"
	mkdir -p "$ALL/bin" "$ALL/libexec/kz" "$ALL/share/kz"
	cp "$bin"/kz "$bin"/kz-{audit,controller,gateway,grant,lease,proxy,reset,run} "$BATS_TEST_DIRNAME/without-landlock.py" "$ALL/bin/"
	cp "$bin"/kz-{archive,driver-oci,worker} "$ALL/libexec/kz/"
	cp -r "$BATS_TEST_DIRNAME/../../supervise" "$ALL/share/kz/"
	useradd --create-home --home-dir "/tmp/$NAME" --shell /bin/sh "$NAME"
}

teardown_file() {
	rootless_end "$NAME"
	rm -rf "$ALL"
}

# A test that failed in the middle leaves others their keys.
teardown() {
	keys_back
}

STATE_OF() { echo "/tmp/$NAME/.local/state/kz"; }

# The driver's workers, cgroups and ids of that state.
nothing_of_it() {
	local unit
	unit=kz-$(printf %s "$(STATE_OF)" | sha256sum | cut -c1-8)
	[ -z "$(find /sys/fs/cgroup -type d -name "$unit.*" 2>/dev/null)" ] &&
		[ -z "$(find "/tmp/$NAME/.local/state/kz-ids" -type l 2>/dev/null)" ] &&
		! pgrep -u "$NAME" -r D,R,S,T -l
}

# Does a program with this text in its command line run as one of the user's subordinate ids?
program_runs() {
	local first count uid pid
	IFS=: read -r _ first count < <(grep "^$NAME:" /etc/subuid)
	for pid in $(pgrep -f "$1"); do
		uid=$(stat -c %u "/proc/$pid" 2>/dev/null) || continue
		[ "$uid" -gt "$first" ] && [ "$uid" -lt $((first + count)) ] && return 0
	done
	return 1
}

# Everything of the user but the workers.
kill_all() {
	local pids
	pids=$(pgrep -u "$NAME" -r D,R,S,T) || return 0
	# shellcheck disable=SC2086 # a list of numbers
	kill -KILL $pids 2>/dev/null || return 0
}

# The first ids of all workers of all deployments of the user, sorted; are there as many or more?
bases_are() {
	find "/tmp/$NAME" -path '*/workers/w*/worker.json' -exec jq .uid_base {} + 2>/dev/null | sort >"$ALL/ids" &&
		[ "$(wc -l <"$ALL/ids")" -ge "$1" ]
}

up() {
	rootless_in "$NAME" kz up --set SANDBOX_WARM_POOL_MIN=1 --set KZ_RUNTIME=runc --set KZ_GATEWAY_LISTEN= \
		--set SANDBOX_PACKAGE_REGISTRIES={}
}

down() {
	rootless_as "$NAME" kz down -f
	kz_wait 5 nothing_of_it
}

@test "RT-6: without subordinate ids up is refused as userns_unavailable with the command that helps" {
	usermod --del-subuids 1-4294967294 "$NAME"
	run --separate-stderr rootless_as "$NAME" kz up
	echo "$status $stderr"
	[ "$status" -eq 69 ]
	[[ "$stderr" == *"userns_unavailable: user $NAME has no range"*"/etc/subuid"*"usermod --add-subuids "*"$NAME"* ]]
	run rootless_as "$NAME" kz doctor
	echo "$output"
	[ "$status" -eq 1 ]
	[[ "$output" == *"fail  userns "*"/etc/subuid"*"usermod --add-subuids"* ]]
}

@test "RT-6: doctor names each file that lacks ids with a range of its own, and offers nobody's range twice" {
	local first taken
	usermod --del-subgids 1-4294967294 "$NAME"
	run rootless_as "$NAME" kz doctor -j
	jq -r 'select(.check == "userns") | .fix' <<<"$output" | tee "$ALL/fixes"
	[ "$(wc -l <"$ALL/fixes")" -eq 2 ]
	grep -q 'add-subuids' "$ALL/fixes"
	grep -q 'add-subgids' "$ALL/fixes"
	first=$(sed -n 's/.*--add-subuids \([0-9]*\)-.*/\1/p' "$ALL/fixes")
	taken=$(awk -F: -v f="$first" 'f + 65536 > $2 && f < $2 + $3' /etc/subuid)
	[ -z "$taken" ]
	# the commands do what they promise
	while read -r _ fix; do $fix; done <"$ALL/fixes"
	run rootless_as "$NAME" kz doctor -j
	[ "$(jq -r 'select(.check == "userns") | .level' <<<"$output")" = ok ]
}

@test "RT-6: without a cgroup of the user's up is refused as cgroup_unavailable and leaves nothing running" {
	run --separate-stderr rootless_as "$NAME" kz up
	echo "$status $stderr"
	[ "$status" -eq 69 ]
	[[ "$stderr" == *"cgroup_unavailable: "*"not yours to divide"*"try: "* ]]
	nothing_of_it
	run rootless_as "$NAME" kz doctor
	[ "$status" -eq 1 ]
	[[ "$output" == *"fail  cgroups "*"; fix: "* ]]
	[[ "$output" == *"warn  runtime "*"not tried"* ]]
}

# bats test_tags=case:rootless
@test "DEP-2 RT-6: with ids and cgroups of the user's doctor is content, up opens admission, a program runs" {
	rootless_cgroups "$NAME"
	run rootless_in "$NAME" kz doctor
	echo "$output"
	[[ "$output" != *"fail  userns"* && "$output" != *"fail  cgroups"* && "$output" != *"fail  runtime"* ]]
	up
	[ "$(stat -c %U "$(STATE_OF)")" = "$NAME" ]
	[ "$(rootless_as "$NAME" kz run -c 'print(6 * 7)')" = 42 ]
}

# bats test_tags=case:rootless
@test "RT-6: program and process 1 have ids of the user's range alone, and none of a privilege outside" {
	local map
	map=$(rootless_as "$NAME" kz run -l shell -c 'cat /proc/self/uid_map')
	echo "$map"
	[ "$(wc -l <<<"$map")" -eq 3 ]
	rootless_as "$NAME" kz-lease with -A a -C c -- kz-run -A a -C c -c 'import time; time.sleep(20)' 3>&- &
	kz_wait 10 program_runs '^/usr/bin/python3 -B -c import time; time.sleep[(]20[)]'
	wait $!
	run rootless_as "$NAME" kz run -l shell -c 'ls -A /usr/local; id -u; mount -t tmpfs x /tmp'
	echo "$output"
	[[ "$output" != *bin* && "$output" == *1000* && "$output" == *mount:* ]]
	[ "$status" -ne 0 ]
}

has_landlock() { rootless_as "$NAME" kz doctor -j | jq -se 'any(.[]; .check == "landlock" and .level == "ok")' >/dev/null; }
ask_proxy() { rootless_as "$NAME" curl -s -m 20 --unix-socket "$(STATE_OF)/run/proxy-health.sock" http://kz/v1/health; }
proxy_is() { [ "$(ask_proxy | jq .ready)" = "$1" ]; }
gateway_gives() {
	[ "$(rootless_as "$NAME" curl -s -m 20 -o /dev/null -w '%{http_code}' --unix-socket "$(STATE_OF)/run/gateway-admin.sock" http://localhost/keys)" = "$1" ]
}
logs_say() { rootless_as "$NAME" kz logs kz-proxy | grep -q "$1"; }
# keys_at FILE: the public keys of that kz are a link to a copy of them, FILE as seen from their folder
keys_at() {
	local public
	public=$(STATE_OF)/public
	[ -e "$ALL/keys.json" ] || cp -a "$public/keys.json" "$ALL/keys.json"
	cp -a "$ALL/keys.json" "$public/$1"
	ln -sfn "$1" "$public/keys.json"
}
keys_back() {
	[ ! -L "$(STATE_OF)/public/keys.json" ] || cp -a --remove-destination "$ALL/keys.json" "$(STATE_OF)/public/keys.json"
}

# bats test_tags=case:rootless
@test "PROXY-9 INV-30 BRK-5: kz-proxy and kz-gateway of such a kz open nothing of their user's but what they need" {
	local service
	kz_wait 10 proxy_is true
	kz_wait 10 gateway_gives 200
	# where they may read a link is followed
	keys_at other.json
	kz_wait 10 proxy_is true
	kz_wait 10 gateway_gives 200
	# and into the folder of the keys it is not, though it is their user's
	keys_at ../keys/other.json
	if has_landlock; then
		kz_wait 10 proxy_is false
		kz_wait 10 gateway_gives 503
		kz_wait 10 logs_say "no public keys.*keys_missing"
	fi
	keys_back
	kz_wait 10 proxy_is true
	kz_wait 10 gateway_gives 200
	# neither has a call left that makes a Unix socket
	for service in kz-proxy kz-gateway; do
		[ "$(awk '$1 == "Seccomp:" { print $2 }' "/proc/$(s6-svstat -o pid "$(STATE_OF)/service/$service")/status")" = 2 ]
	done
}

# bats test_tags=case:rootless
@test "PROXY-9: without Landlock kz-proxy of such a kz serves, its log and kz doctor say what it can read" {
	local state
	state=$(STATE_OF)
	run rootless_as "$NAME" without-landlock.py kz doctor
	echo "$output"
	[[ $output == *"warn  landlock "*"kz-proxy and kz-gateway can read all files of yours"* ]]
	run "$ROOTLESS_BIN/without-landlock.py" "$ROOTLESS_BIN/kz" doctor
	[[ $output == *"warn  landlock "* && $output != *"of yours"* ]]
	rootless_as "$NAME" s6-svc -wD -d "$state/service/kz-proxy"
	rootless_as "$NAME" without-landlock.py kz-proxy -s "$state" >"$ALL/proxy.log" 2>&1 3>&- &
	kz_wait 10 proxy_is true
	keys_at ../keys/other.json
	sleep 2
	proxy_is true
	grep "no Landlock" "$ALL/proxy.log"
	keys_back
	# what runs is a child of the one that waits
	kill "$(pgrep -u "$NAME" -x kz-proxy)"
	wait $! || true
	rootless_as "$NAME" s6-svc -wU -u "$state/service/kz-proxy"
	kz_wait 10 proxy_is true
}

denied() { rootless_as "$NAME" kz-audit list -j -k denial | jq -r .reason | grep -qx "$1"; }

# bats test_tags=case:rootless
@test "PROXY-1 GRANT-2: an approved run of such a kz comes to its proxy with ids of the user's range" {
	run rootless_as "$NAME" kz-run --approve a-1 -c 'import base64, os, socket, urllib.parse
u = urllib.parse.urlsplit(os.environ["HTTP_PROXY"])
who = base64.b64encode(f"{u.username}:{u.password}".encode()).decode()
s = socket.create_connection((u.hostname, u.port), 20)
s.sendall(f"CONNECT 127.0.0.1:443 HTTP/1.1\r\nHost: 127.0.0.1:443\r\nProxy-Authorization: Basic {who}\r\n\r\n".encode())
print(s.recv(100).split(b"\r\n")[0].decode())'
	echo "$output"
	[[ "$output" == *" 403 "* ]]
	# of the grant nothing was amiss: it is the address
	kz_wait 10 denied address_loopback
	run ! denied grant_foreign
}

# bats test_tags=case:rootless
@test "BRK-5 BRK-26 KRN-1: packages from a registry come through the gateway of such a kz, are kept, and a cell has them" {
	local registry
	mkdir "$ALL/registry"
	python3 "$BATS_TEST_DIRNAME/../registry/registry.py" "$ALL/registry" </dev/null >/dev/null 2>&1 3>&- &
	kz_wait 20 test -s "$ALL/registry/port"
	registry=http://127.0.0.1:$(cat "$ALL/registry/port")
	rootless_as "$NAME" kz config set "SANDBOX_PACKAGE_REGISTRIES={\"pypi\":{\"index\":\"$registry/simple/\"}}"
	run rootless_as "$NAME" kz-run -A a -C p -r pure==1.0 -c 'import pure; print(pure.VERSION)' </dev/null
	kill $!
	rootless_as "$NAME" kz config set 'SANDBOX_PACKAGE_REGISTRIES={}'
	echo "$output"
	[ "$output" = 1.0+local ]
	run rootless_as "$NAME" kz-run -A a -C p -k -c 'import pure; x = pure.VERSION; x' </dev/null
	[ "$output" = "'1.0+local'" ]
	run rootless_as "$NAME" kz-run -A a -C p -k -c 'x + "!"' </dev/null
	[ "$output" = "'1.0+local!'" ]
}

# bats test_tags=case:rootless
@test "BOUND-1 EXEC-8: the bounds of memory, processes and time end a program of such a kz too" {
	local cause program
	local -a limit=()
	for cause in memory pids wall; do
		case $cause in
		memory) program='a=[]
while True: a.append(bytearray(1 << 20))' ;;
		pids) program='import os
while True:
  try: os.fork()
  except OSError: pass' ;;
		wall) program='while True: pass' limit=(-t 2000) ;;
		esac
		run rootless_as "$NAME" kz-run -j "${limit[@]}" -c "$program"
		echo "$cause: ${lines[-1]}"
		[ "$(jq -r .cause <<<"${lines[-1]}")" = "$cause" ]
	done
	[ "$(rootless_as "$NAME" kz run -c 'print(1)')" = 1 ]
}

# bats test_tags=case:rootless
@test "POOL-5 RESET-1: 20 runs at once, then the pool is back" {
	local i
	rm -f "$ALL"/out.*
	for i in $(seq 20); do
		rootless_as "$NAME" kz run -c "print($i * 2)" >"$ALL/out.$i" 3>&- &
	done
	wait
	for i in $(seq 20); do [ "$(cat "$ALL/out.$i")" = $((i * 2)) ]; done
	rootless_as "$NAME" kz status
}

# bats test_tags=case:rootless
@test "RT-6: two deployments of one user never have ids in common" {
	rootless_in "$NAME" kz up --state "/tmp/$NAME/second" --set SANDBOX_WARM_POOL_MIN=2 --set KZ_RUNTIME=runc
	kz_wait 15 bases_are 3
	cat "$ALL/ids"
	[ -z "$(uniq -d "$ALL/ids")" ]
	rootless_as "$NAME" env KZ_STATE="/tmp/$NAME/second" kz down -f
	rootless_as "$NAME" env KZ_STATE="/tmp/$NAME/second" kz down --purge --yes
}

# bats test_tags=case:rootless
@test "FENCE-7 DEP-1: the whole tree killed under a running program: down leaves no process, cgroup or claim" {
	rootless_as "$NAME" kz-run -c 'import time; time.sleep(60)' >/dev/null 2>&1 3>&- &
	kz_wait 10 program_runs '^/usr/bin/python3 -B -c import time; time.sleep[(]60[)]'
	kill_all
	wait || true
	down
}

# bats test_tags=case:rootless
@test "FENCE-4: a driver killed in the middle of a create: the next up finds and removes what it left" {
	local i
	for i in 1 2 3 4 5; do
		rootless_in "$NAME" kz up --set SANDBOX_WARM_POOL_MIN=2 >/dev/null 2>&1 3>&- &
		sleep "0.$((i * 2))"
		kill_all
		wait
	done
	up
	[ "$(rootless_as "$NAME" kz run -c 'print(3)')" = 3 ]
	down
}

# bats test_tags=case:rootless
@test "RT-5 RT-6: runsc is root's: with it up is refused as runtime_unavailable, and nothing is left running" {
	run --separate-stderr rootless_in "$NAME" kz up --set KZ_RUNTIME=runsc
	echo "$status $stderr"
	[ "$status" -eq 69 ]
	[[ "$stderr" == *"runtime_unavailable: "*"runsc is used by root only"* ]]
	nothing_of_it
}

# bats test_tags=case:rootless
@test "DEP-1: purge from any place removes the state directory" {
	rootless_as "$NAME" kz down --purge --yes
	[ ! -e "$(STATE_OF)" ]
}
