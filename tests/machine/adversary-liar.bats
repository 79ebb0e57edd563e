# A worker that stops telling the truth, or anything at all, while its output is half sent.
# shellcheck disable=SC2154,SC2030,SC2031 # kz_run sets the variables
# bats file_tags=case:root
bats_require_minimum_version 1.5.0
load ../kz

setup_file() {
	kz_start SANDBOX_WARM_POOL_MIN=1 SANDBOX_POOL_TARGET_IDLE=0 SANDBOX_POOL_MAX_ALLOCATED=2 SANDBOX_MAX_WALL_SECONDS=5
}

teardown_file() {
	kz_stop
}

setup() {
	cd "$BATS_TEST_TMPDIR"
}

# cgroup_pid KIND: the first process of that cgroup (worker or tenant) of the worker that is leased now.
cgroup_pid() {
	local name
	name=$(kz-lease list -j | jq -r .worker | head -n 1)
	[ -n "$name" ]
	find /sys/fs/cgroup -path "*.$name/$1/cgroup.procs" -exec cat {} + | sort -nu | head -n 1
}

# half_sent SIGNAL KIND: a run whose output has begun, and then the signal; out, err, rec, rc
half_sent() {
	local pid
	rc=0
	timeout -k 1 60 kz-run --record 7 -t 2000 -l shell -c 'echo begun; i=0; while [ $i -lt 100 ]; do echo more; i=$((i + 1)); sleep 0.01; done; exit 0' >out 2>err 7>rec &
	pid=$!
	kz_wait 20 test -s out
	kill "-$1" "$(cgroup_pid "$2")"
	wait $pid || rc=$?
	echo "status $rc; $(cat rec err)"
}

unknown() {
	[ "$rc" -eq 125 ]
	[ "$(jq -r .outcome rec)" = outcome_unknown ]
	grep -q '^kz-run: outcome_unknown: ' err
	kz_run -c 'print(1)'
	[ "$status" -eq 0 ]
}

@test "EXEC-5 EXEC-8 process 1 frozen with output half sent: outcome_unknown in bounded time, and the pool heals" {
	half_sent STOP worker
	unknown
	# frozen, it could not say that it is clean
	[ "$(kz-audit list -j -k evidence | jq -s 'map(select(.clean == false)) | length')" -ge 1 ]
}

@test "EXEC-5 the tenant's first process killed from outside: outcome_unknown" {
	half_sent KILL tenant
	unknown
}

@test "EXEC-5 BOUND-1 the tenant's first process frozen: its program ends at its bound, and nobody calls that success" {
	half_sent STOP tenant
	[ "$rc" -eq 124 ]
	[ "$(jq -r .outcome rec)" = bounded ]
	kz_run -c 'print(1)'
	[ "$status" -eq 0 ]
}

@test "EXEC-5 EXEC-8 a run that ends before the worker hears of its start is never said not to have run" {
	for _ in 1 2 3 4 5 6 7 8; do
		kz_run -t 1 -l shell -c 'echo ran; sleep 4'
		echo "$status $record"
		[ "$status" -eq 124 ]
		kz_record_is outcome bounded
		kz_record_is cause wall
	done
}
