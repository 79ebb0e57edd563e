# A worker that stops telling the truth, or anything at all, while its output is half sent.
# shellcheck disable=SC2154,SC2030,SC2031 # kz_run sets the variables
# bats file_tags=case:root
bats_require_minimum_version 1.5.0
load ../kz

setup_file() {
	kz_start SANDBOX_WARM_POOL_MIN=1 SANDBOX_POOL_TARGET_IDLE=0 SANDBOX_POOL_MAX_ALLOCATED=2 SANDBOX_MAX_WALL_SECONDS=60
}

teardown_file() {
	kz_stop
}

setup() {
	cd "$BATS_TEST_TMPDIR"
}

# first_of KIND: process 1 of the worker that is leased now, or the first process of its tenant, which is called 1 there.
first_of() {
	local name pid
	name=$(kz-lease list -j | jq -r .worker | head -n 1)
	[ -n "$name" ]
	echo "$name" >worker
	if [ "$1" = worker ]; then
		kz_process1 "$name"
	else
		find /sys/fs/cgroup -path "*.$name/tenant/cgroup.procs" -exec cat {} + | sort -u | while read -r pid; do
			[ "$(awk '/^NSpid:/ { print $NF }' "/proc/$pid/status" 2>/dev/null)" != 1 ] || echo "$pid"
		done
	fi
}

none_leased() { [ "$(kz-lease list -j | wc -l)" -eq 0 ]; }

# half_sent MS SIGNAL KIND: a run of at most MS whose output has begun, and then the signal; out, err, rec, rc
half_sent() {
	local pid
	rc=0
	# of a lease that was lost before this one nothing is left
	kz_wait 60 none_leased
	# it ends by no other thing: the signal comes in time however busy the machine is
	kz-run --record 7 -t "$1" -l shell -c 'echo begun; while :; do echo more; sleep 0.01; done' >out 2>err 7>rec &
	pid=$!
	kz_wait 20 test -s out
	kill "-$2" "$(first_of "$3")"
	wait $pid || rc=$?
	echo "status $rc; $(cat rec err)"
}

is_replaced() {
	[ "$(kz-audit list -j -k transition -w "$1" | jq -rs 'map(select(.machine == "worker").to_state) | last')" = absent ]
}

unknown() {
	[ "$rc" -eq 125 ]
	[ "$(jq -r .outcome rec)" = outcome_unknown ]
	grep -q '^kz-run: outcome_unknown: ' err
	kz_run -c 'print(1)'
	[ "$status" -eq 0 ]
}

@test "EXEC-5 EXEC-8 process 1 frozen with output half sent: outcome_unknown in bounded time, and the pool heals" {
	half_sent 20000 STOP worker
	unknown
	# frozen, it could not say that it is clean, neither to the run nor to the controller, whoever found it first
	kz_wait 20 is_replaced "$(cat worker)"
	[ "$(kz-audit list -j -w "$(cat worker)" | jq -s 'map(select(.event == "publish" or .clean == true)) | length')" -eq 0 ]
}

@test "EXEC-5 the tenant's first process killed from outside: outcome_unknown" {
	half_sent 60000 KILL tenant
	unknown
}

@test "EXEC-5 BOUND-1 the tenant's first process frozen: its program ends at its bound, and nobody calls that success" {
	half_sent 20000 STOP tenant
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
