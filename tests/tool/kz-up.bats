#!/usr/bin/env bats
# One stack that stays up: what kz up makes, what kz status says, who may call
# (DEP-1, DEP-9, DEP-15, ADM-5, ADM-8, POOL-8).

# shellcheck disable=SC2154 # stderr comes from run --separate-stderr
bats_require_minimum_version 1.5.0
load ../kz

setup_file() {
	export CANARY=canary-in-the-environment
	kz_start SANDBOX_WARM_POOL_MIN=1 SANDBOX_POOL_TARGET_IDLE=0 SANDBOX_POOL_MAX_ALLOCATED=3
}

teardown_file() {
	kz_stop
}

is_open() {
	kz status >/dev/null 2>&1
}

# A test before may have killed something.
setup() {
	kz_wait 30 is_open
}

closed_as() {
	[ "$(kz status -j 2>/dev/null | jq -r .admission.reason)" = "$1" ]
}

mode_of() {
	stat -c '%a %U %G' "$KZ_STATE/$1"
}

@test "ADM-5 POOL-2: status is 0 when admission is open, and its lines fit the schema" {
	run kz status
	[ "$status" -eq 0 ]
	[[ "${lines[0]}" == admission*open ]]
	grep -qE '^workers .*warm' <<<"$output"
	grep -qE '^queue ' <<<"$output"
	kz status -j | python3 "$BATS_TEST_DIRNAME/../schema.py" --expect status
	# who decides, who runs code and who reaches out are three
	kz status -j | jq -e '[.services[].service] | contains(["kz-controller", "kz-proxy"])'
	is_made() { [ "$(kz status -j | jq '[.workers.warm, .workers.creating] | . == [1, 0]')" = true ]; }
	kz_wait 30 is_made
	for worker in "$KZ_STATE"/workers/*; do
		[ "$(cat "/proc/$(kz_process1 "${worker##*/}")/comm")" = kz-worker ]
	done
}

@test "ADM-8 RT-4: the posture shown is the driver's own, not a setting" {
	run kz status -j
	[ "$(jq -r '.posture.runtime | length > 0' <<<"$output")" = true ]
	[ "$(jq -r '.posture.posture | type' <<<"$output")" = object ]
	# the default is a hardened worker on the kernel of all, and is called that
	jq -e '.posture.posture | .kernel == "shared" and .single_use == false' <<<"$output"
	kz status | grep -q '^posture .*hardened, on the shared kernel of this machine$'
	kz config set KZ_NODE=local
	[ "$(kz status -j | jq -r '.posture.runtime')" != null ]
}

@test "LEASE-17: keys, sockets and folders have exactly the modes that the manual says" {
	[ "$(mode_of keys/field.key)" = "600 root root" ]
	local name
	for name in worker grant receipt identity; do
		[ "$(mode_of keys/$name.key)" = "640 root kz" ]
	done
	[ "$(mode_of .)" = "750 root kz" ]
	[ "$(mode_of env)" = "750 root kz" ]
	[ "$(mode_of run)" = "2750 root kz" ]
	[ "$(mode_of valkey)" = "700 root kz" ]
	[ "$(mode_of run/valkey.sock)" = "660 root kz" ]
	[ "$(mode_of env/SANDBOX_WARM_POOL_MIN)" = "640 root kz" ]
	[ "$(mode_of env/SANDBOX_EGRESS_MODE)" = "640 root kz" ]
	[ "$(stat -c '%a %U' "$KZ_STATE/public")" = "755 root" ]
	[ "$(stat -c '%a %U' "$KZ_STATE/public/keys.json")" = "644 root" ]
}

@test "POL-2 POL-22: a new installation has the packaged policy, value for value, and the vintage fresh" {
	local line name count=0
	while IFS= read -r line; do
		name=${line%%=*}
		kz config show -j "$name" | jq -e '.packaged != null' >/dev/null || continue
		count=$((count + 1))
		echo "$line"
		[ "$(cat "$KZ_STATE/env/$name")" = "${line#*=}" ]
	done < <(grep -v '^#' "$BATS_TEST_DIRNAME/../../policy/packaged.env")
	[ "$count" -eq 9 ]
	while read -r name line; do
		echo "$name"
		[ "$(cat "$KZ_STATE/env/$name")" = "$line" ]
	done <<-'DEFAULTS'
		SANDBOX_EGRESS_ENABLED true
		SANDBOX_EGRESS_MODE public_internet
		SANDBOX_EGRESS_HOST_ALLOWLIST
		SANDBOX_EGRESS_PRIVATE_CIDRS 10.0.0.0/8,172.16.0.0/12,192.168.0.0/16,fc00::/7
		SANDBOX_EGRESS_ALLOWED_PORTS 80,443
		SANDBOX_EGRESS_TOKEN_TTL_SECONDS 600
	DEFAULTS
	[ "$(cat "$KZ_STATE/env/KZ_INSTALL_VINTAGE")" = fresh ]
}

@test "POL-22: one that stood before there was a policy gets the vintage upgrade, and stays without network" {
	local saved=$BATS_TEST_TMPDIR/saved
	mkdir "$saved"
	mv "$KZ_STATE"/env/{SANDBOX_EGRESS_*,KZ_EGRESS_DENY_CIDRS,KZ_PROXY_URL,KZ_INSTALL_VINTAGE} "$saved"
	kz up
	[ "$(cat "$KZ_STATE/env/KZ_INSTALL_VINTAGE")" = upgrade ]
	run ls "$KZ_STATE/env"
	[[ "$output" != *SANDBOX_EGRESS_* ]]
	[[ "$output" != *KZ_PROXY_URL* ]]
	# and what an operator then saves is kept by the next one
	kz config set SANDBOX_EGRESS_ENABLED=true
	kz up
	[ "$(cat "$KZ_STATE/env/SANDBOX_EGRESS_ENABLED")" = true ]
	[ ! -e "$KZ_STATE/env/SANDBOX_EGRESS_MODE" ]
	cp -a "$saved"/* "$KZ_STATE/env"
}

@test "POL-19, ADM-4: a policy that changes, and one that holds nonsense, restarts nothing and closes nothing" {
	local before reads log=$KZ_STATE/log/kz-controller/current
	before=$(kz_service_pid kz-controller)
	reads=$(grep -c 'settings read' "$log") || true
	kz config set SANDBOX_EGRESS_MODE=nonsense "SANDBOX_EGRESS_ALLOWED_PORTS=80;443" KZ_PROXY_IDLE_SECONDS=200
	printf 'a\0b' >"$KZ_STATE/env/SANDBOX_EGRESS_PRIVATE_CIDRS"
	read_again() { [ "$(grep -c 'settings read' "$log")" -gt "$reads" ]; }
	kz_wait 20 read_again
	kz status
	[ "$(kz_service_pid kz-controller)" = "$before" ]
	kz_run -c 'print(6 * 7)'
	[ "$status" -eq 0 ]
	kz config set SANDBOX_EGRESS_MODE=public_internet SANDBOX_EGRESS_ALLOWED_PORTS=80,443 \
		SANDBOX_EGRESS_PRIVATE_CIDRS=10.0.0.0/8,172.16.0.0/12,192.168.0.0/16,fc00::/7 KZ_PROXY_IDLE_SECONDS=300
}

@test "DEP-9: the private Valkey evicts nothing, keeps every write, and listens on no port" {
	local socket=$KZ_STATE/run/valkey.sock pid
	[ "$(valkey-cli -s "$socket" config get maxmemory-policy | tail -n 1)" = noeviction ]
	[ "$(valkey-cli -s "$socket" config get appendonly | tail -n 1)" = yes ]
	[ "$(valkey-cli -s "$socket" config get port | tail -n 1)" = 0 ]
	pid=$(kz_service_pid valkey)
	[ "$(awk '/^CapEff/ { print $2 }' "/proc/$pid/status")" = 0000000000000000 ]
	[ "$(awk '/^NoNewPrivs/ { print $2 }' "/proc/$pid/status")" = 1 ]
}

@test "DEP-15: nothing of the caller's environment reaches a service" {
	local pid count=0
	for pid in $(kz_marked); do
		count=$((count + 1))
		run grep -qz "$CANARY" "/proc/$pid/environ"
		[ "$status" -ne 0 ]
	done
	[ "$count" -ge 5 ]
}

@test "DEP-1: a second up, and five at once, only wait; one supervisor serves" {
	local before pids i
	before=$(kz_service_pid kz-controller)
	run kz up
	[ "$status" -eq 0 ]
	pids=""
	for i in 1 2 3 4 5; do
		kz up 2>/dev/null 3>&- &
		pids+=" $!"
	done
	for i in $pids; do
		wait "$i"
	done
	[ "$(kz_service_pid kz-controller)" = "$before" ]
	[ "$(for i in $(kz_marked); do tr '\0' ' ' <"/proc/$i/cmdline"; echo; done | grep -c '^s6-svscan ')" -eq 1 ]
}

@test "DEP-1: up --foreground beside a running stack is refused" {
	run --separate-stderr kz up --foreground
	[ "$status" -eq 75 ]
	[[ "$stderr" == *"kz down"* ]]
}

@test "POOL-8: a running stack takes a setting up by itself" {
	kz config set SANDBOX_WARM_POOL_MIN=2
	two_warm() { [ "$(kz status -j | jq .workers.warm)" -ge 2 ]; }
	kz_wait 20 two_warm
	kz up --set SANDBOX_WARM_POOL_MIN=1
	[ "$(kz config show -j SANDBOX_WARM_POOL_MIN | jq -r .value)" = 1 ]
}

@test "POOL-8: a changed bound is the next worker's at once, not a minute of refused creates later" {
	local images log=$KZ_STATE/log/kz-controller/current
	images=$(grep -c 'image published' "$log")
	kz config set KZ_RUN_PIDS=100
	again() { [ "$(grep -c 'image published' "$log")" -gt "$images" ] && is_open; }
	kz_wait 25 again
	kz_run -c 'print(6 * 7)'
	[ "$status" -eq 0 ]
	images=$(grep -c 'image published' "$log")
	kz config set KZ_RUN_PIDS=128
	kz_wait 25 again
}

@test "POOL-8: a stored setting that makes no sense closes admission by name, and mending it opens it" {
	echo nonsense >"$KZ_STATE/env/SANDBOX_POOL_TARGET_IDLE"
	kz_wait 20 closed_as setting_invalid
	run kz status
	[ "$status" -eq 1 ] || [ "$status" -eq 78 ]
	run --separate-stderr kz config check
	[ "$status" -eq 78 ]
	[[ "$stderr" == *SANDBOX_POOL_TARGET_IDLE* ]]
	kz up --set SANDBOX_POOL_TARGET_IDLE=0
	is_open
}

@test "FENCE-10: Valkey killed: closed with the reason, then started again and opened by itself" {
	s6-svc -O "$KZ_STATE/service/valkey"
	s6-svc -k "$KZ_STATE/service/valkey"
	kz_wait 10 closed_as coordination_unavailable
	run --separate-stderr kz-lease list
	[ "$status" -eq 69 ]
	[[ "$stderr" == *coordination_unavailable*"see: kz status, kz logs" ]]
	run kz status
	[ "$status" -eq 1 ]
	[[ "${lines[0]}" == *CLOSED*coordination_unavailable* ]]
	s6-svc -u "$KZ_STATE/service/valkey"
	kz_wait 20 is_open
}

@test "DEP-1: a controller killed is started again and opens admission by itself" {
	local before
	before=$(kz_service_pid kz-controller)
	s6-svc -k "$KZ_STATE/service/kz-controller"
	is_anew() { local now && now=$(kz_service_pid kz-controller) && [ "$now" != "$before" ]; }
	kz_wait 20 is_anew
	kz_wait 20 is_open
}

@test "DEP-1: statuses that do not mend themselves keep a service down, others do not" {
	local status
	for status in 64 65 66 76 77 78; do
		run "$BATS_TEST_DIRNAME/../../supervise/common/finish" "$status" 0
		[ "$status" -eq 125 ]
	done
	for status in 0 1 69 70 71 74 75 256; do
		(cd "$KZ_STATE/service/kz-controller" && run ../.common/finish "$status" 9 && [ "$status" -eq 0 ])
	done
}

@test "LEASE-17: a member of group kz may look, and may neither start nor stop" {
	local who=(setpriv --reuid nobody --regid nogroup --groups "$(getent group kz | cut -d: -f3)" env
		"PATH=$PATH" "KZ_STATE=$KZ_STATE")
	"${who[@]}" test -x "$KZ_BIN/kz" || chmod o+x "$KZ_BIN"
	run "${who[@]}" kz status
	echo "$output"
	[ "$status" -eq 0 ]
	# the supervisor is root's; what a caller sees of the services is told all the same
	all_ready() { [ "$("${who[@]}" kz status -j | jq -r '.services | map(.service + " " + .state) | join(",")')" = "valkey ready,kz-controller ready,kz-proxy ready,kz-gateway ready" ]; }
	kz_wait 20 all_ready
	run "${who[@]}" kz logs kz-controller
	[ "$status" -eq 0 ]
	run "${who[@]}" cat "$KZ_STATE/keys/worker.key"
	[ "$status" -eq 0 ]
	run "${who[@]}" cat "$KZ_STATE/keys/field.key"
	[ "$status" -ne 0 ]
	run "${who[@]}" kz down
	[ "$status" -eq 77 ]
	run "${who[@]}" kz config set KZ_RUN_PIDS=5
	[ "$status" -eq 77 ]
}

@test "LEASE-17: anybody else gets 77 with the fix" {
	run --separate-stderr setpriv --reuid nobody --regid nogroup --clear-groups env "PATH=$PATH" \
		"KZ_STATE=$KZ_STATE" kz status
	[ "$status" -eq 77 ]
	[[ "$stderr" == *no_permission*"sudo usermod -aG kz USER"* ]]
	# the same words from each program
	local fix=${stderr##*; } tool
	for tool in "kz status" "kz config show" "kz-lease list" "kz-run -c 1"; do
		# shellcheck disable=SC2086 # words on purpose
		run --separate-stderr setpriv --reuid nobody --regid nogroup --clear-groups env "PATH=$PATH" \
			"KZ_STATE=$KZ_STATE" $tool
		echo "$tool: $stderr"
		[[ "$stderr" == *"$fix" ]]
	done
	run setpriv --reuid nobody --regid nogroup --clear-groups env "PATH=$PATH" "KZ_STATE=$KZ_STATE" kz doctor -j
	[ "$(grep '^{' <<<"$output" | jq -r 'select(.level == "fail" and .fix == "").check' | wc -l)" -eq 0 ]
}

@test "ADM-9: logs shows the service asked for, and names those there are" {
	run kz logs kz-controller
	[ "$status" -eq 0 ]
	grep -q 'admission open' <<<"$output"
	run --separate-stderr kz logs no-such
	[ "$status" -eq 66 ]
	[[ "$stderr" == *valkey* ]]
	run kz logs ../env
	[ "$status" -eq 66 ]
}

@test "ADM-9: status into a full disk is 74" {
	local status=0
	kz status >/dev/full 2>/dev/null || status=$?
	[ "$status" -eq 74 ]
}

@test "AUD-9: what happened so far is whole in the audit" {
	run kz audit verify
	[ "$status" -eq 0 ]
}
