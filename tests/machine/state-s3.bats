#!/usr/bin/env bats
# Workspaces, packages and kernels kept in S3 (a real Swift, which checks every signature): what one worker left is there on
# another, without a registry and with nothing of it on this machine's disk; and a store that is gone.
# shellcheck disable=SC2154,SC2030,SC2031,SC2089,SC2090 # kz_run sets the variables; JSON is quoted
# bats file_tags=case:root
bats_require_minimum_version 1.5.0
load ../kz
load ../s3

setup_file() {
	local registry tests=$BATS_TEST_DIRNAME/..
	export FIX=$BATS_FILE_TMPDIR
	s3_start swift /usr/bin/python3 "$tests/s3/swift-server.py" "$FIX/swift" "$FIX/swift/port" kz-test
	s3_start odd python3 "$tests/s3/s3.py" "$FIX/odd"
	s3_start registry python3 "$tests/registry/registry.py" "$FIX/registry"
	kz_wait 20 test -s "$FIX/registry/port"
	registry=http://127.0.0.1:$(cat "$FIX/registry/port")
	export REGISTRIES="{\"pypi\":{\"index\":\"$registry/simple/\"},\"npm\":{\"registry\":\"$registry/npm/\"}}"
	kz_start SANDBOX_WARM_POOL_MIN=2 SANDBOX_POOL_TARGET_IDLE=0 SANDBOX_POOL_MAX_ALLOCATED=4 SANDBOX_ACQUIRE_WAIT_SECONDS=60 \
		SANDBOX_PACKAGE_REGISTRIES="$REGISTRIES"
}

teardown_file() {
	kz_stop
	s3_stop
}

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	unset KZ_LEASE KZ_LEASE_TOKEN KZ_FENCE
	C=c$BATS_TEST_NUMBER
	s3_serve swift kz:tests kz-secret
	kz config set SANDBOX_PACKAGE_REGISTRIES "$REGISTRIES" >/dev/null
	: >"$FIX/registry/log"
}

# The last run's worker.
worker() { kz-audit list -j -k dispatch | jq -rs 'last | .worker'; }

# elsewhere OPTION...: the next run of this conversation, on another worker than the last one, with no registry to ask
elsewhere() {
	local last
	last=$(worker)
	kz config set SANDBOX_PACKAGE_REGISTRIES '{}' >/dev/null
	# whichever worker that is: it is held until the run is over
	hold "$last"
	kz_run -A a -C "$C" "$@" </dev/null
	let_go
	echo "status $status: $output $error"
	[ "$(worker)" != "$last" ]
	# and from nowhere but the store
	[ -z "$(find "$KZ_STATE/objects" -type f 2>/dev/null)" ]
	[ ! -s "$FIX/registry/log" ]
}

# hold WORKER: take leases until this worker is one of them
hold() {
	local n
	for n in 1 2 3; do
		kz-lease acquire -A "other$n" -C other -j >"lease.$n"
		[ "$(jq -r .worker "lease.$n")" != "$1" ] || return 0
	done
	return 1
}
let_go() {
	local file
	for file in lease.*; do
		KZ_LEASE_TOKEN=$(jq -r .token "$file") kz-lease release "$(jq -r .lease "$file")"
		rm "$file"
	done
}

here() {
	kz_run -A a -C "$C" "$@" </dev/null
	echo "status $status: $output $error"
	: >"$FIX/registry/log"
}

@test "WS-7 BRK-26: packages and files of a run are there on another worker, out of S3 alone" {
	here -r pure==1.0 -c 'import pure; open("mine", "w").write(pure.VERSION)'
	[ "$status" -eq 0 ]
	kz_record_is snapshot saved
	elsewhere -r pure==1.0 -c 'import pure; print(pure.VERSION, open("mine").read())'
	[ "$output" = "1.0+local 1.0+local" ]
	kz_record_is 'packages[0].name' pure
	# of another conversation nothing is there, and nothing may be asked
	kz_run -A a -C "$C-other" --no-infer -c 'import pure' </dev/null
	[ "$status" -eq 1 ]
}

@test "BRK-1 BRK-26: so are packages of npm" {
	here -l node -r @scope/three -c 'console.log(require("@scope/three"))'
	[ "$output" = 3.0.0 ]
	elsewhere -l node -r @scope/three -c 'console.log(require("@scope/three"), require("two"))'
	[ "$output" = "3.0.0 2.0.0" ]
}

@test "KRN-1 KRN-4 KRN-18: so are the variables of kernels, with the packages of their cells" {
	here -k -r pure -c 'import pure; found = [pure.VERSION]'
	[ "$status" -eq 0 ]
	kz_record_is kernel.status saved
	elsewhere -k -c 'import pure; found.append(pure.VERSION); print(found)'
	[ "$output" = "['1.0+local', '1.0+local']" ]
	kz_record_is kernel.restored 2
	elsewhere -k -c 'print(len(found))'
	[ "$output" = 2 ]
	kz config set SANDBOX_PACKAGE_REGISTRIES "$REGISTRIES" >/dev/null
	here -k -l node -c 'state.list = [1]; 0'
	[ "$status" -eq 0 ]
	elsewhere -k -l node -c 'state.list.push(2); state.list'
	[ "$output" = "[ 1, 2 ]" ]
	# and the other language's are as they were
	elsewhere -k -c 'print(len(found))'
	[ "$output" = 2 ]
}

@test "WS-12 KRN-15 INV-37: a store that is gone starts nothing, and what was kept is there when it is back" {
	echo well >"$FIX/odd/mode"
	s3_serve odd any thing
	here -k -r pure -c 'import pure; x = pure.VERSION'
	kz_record_is kernel.status saved
	echo drop >"$FIX/odd/mode"
	kz_run -A a -C "$C" -k -c 'print("ran", x)' </dev/null
	echo "status $status: $output $error"
	[ "$status" -ne 0 ]
	[ -z "$output" ]
	kz_record_is outcome not_run
	kz_record_is not_run.reason store_unavailable
	echo well >"$FIX/odd/mode"
	elsewhere -k -c 'import pure; print(x, pure.VERSION)'
	[ "$output" = "1.0+local 1.0+local" ]
}
