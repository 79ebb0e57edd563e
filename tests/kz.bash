# shellcheck shell=bash
# kz.bash: a private kz for a bats test.
#
#	load /usr/local/share/kz/kz.bash      (or: load ../kz, inside this repository)
#
#	setup_file()    { kz_start SANDBOX_WARM_POOL_MIN=1; }
#	teardown_file() { kz_stop; }
#
#	@test "the answer is 42" {
#		kz_run -c 'print(6 * 7)'
#		[ "$status" -eq 0 ]
#		[ "$output" = 42 ]
#		kz_record_is outcome completed
#	}
#
# kz_start [NAME=VALUE]...   start a stack of its own in a temporary directory, with the settings given;
#                            exports KZ_STATE, so that every program of kz finds it. Root only, as kz up is.
# kz_run [OPTION]... PROGRAM kz-run with the record kept; sets status, output (stdout), error (stderr) and record
# kz_record [FIELD]          print the last record, or a field of it as jq names it (outcome, stdout.sha256)
# kz_record_is FIELD VALUE   compare, and say both when they differ
# kz_stop                    stop the stack, prove that nothing of it is left, remove the directory
# kz_left                    what is left of the stack now, one line each: processes, cgroups, mounts, workers,
#                            sockets; returns 1 when there is something
# kz_service_pid NAME        the process of a service that is up; fails when there is none (s6 says -1 then, and a signal
#                            to -1 goes to everybody)
# kz_wait SECONDS COMMAND... try until it succeeds. SECONDS are those of a machine that is not busy; where N processes want
#                            each processor they count N times; and half a minute counts as none, for a machine may stand
#                            still. What must be quick is measured, with kz_within.
# kz_within SECONDS START    have no more such seconds passed since SECONDS (of bash) was START? Five more, in which the machine
#                            may have stood still, count as none.
# kz_late                    by how many ms a process may be late here that would be on time on a machine of its own
# kz_nowhere GREP_ARG...     no file has it that this grep -r looks for; files that go meanwhile are none
# kz_load                    how many processes want each processor, 1 to 20
# kz_process1 WORKER         process 1 of a worker, as this machine numbers it
# kz_marked                  the processes that carry the stack's mark: its services, not its workers
# kz_own DIR                 this process answers for DIR, a directory of mktemp's: once it is gone, scripts/sweep-tests removes
#                            DIR and what is named after it;  kz_disown DIR when DIR was removed
#
# Needs bash, jq and kz; the programs are taken from KZ_BIN, else from the tree that this file is
# part of (built or installed), else from PATH.

kz_bin_dir() {
	local here
	here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
	if [ -n "${KZ_BIN:-}" ]; then
		echo "$KZ_BIN"
	elif [ -x "$here/../build/bin/kz" ]; then
		(cd "$here/../build/bin" && pwd)
	elif [ -x "$here/../../bin/kz" ]; then
		(cd "$here/../../bin" && pwd)
	else
		dirname "$(command -v kz)"
	fi
}

kz_own() {
	echo "$$ $(sed 's/.*) //' "/proc/$$/stat" | cut -d' ' -f20)" >"$1.owner"
	export "KZ_OWNED_${1##*.}=$1"
}
kz_disown() {
	rm -f "$1.owner"
	unset "KZ_OWNED_${1##*.}"
}

kz_start() {
	local -a sets=()
	local setting
	[ "$(id -u)" -eq 0 ] || {
		echo "kz_start: kz up needs root" >&2
		return 77
	}
	KZ_BIN=$(kz_bin_dir)
	PATH=$KZ_BIN:$PATH
	# short: the path of a Unix socket below it has 107 bytes at most
	KZ_STATE=$(mktemp -d /tmp/kz.XXXXXX)
	kz_own "$KZ_STATE"
	KZ_TEST_RECORD=$KZ_STATE.record
	export KZ_BIN PATH KZ_STATE KZ_TEST_RECORD
	for setting in "$@"; do
		sets+=(--set "$setting")
	done
	# stacks beside each other have one port 8000 between them, and no package comes from anywhere
	if ! kz up --state "$KZ_STATE" --set KZ_GATEWAY_LISTEN= --set SANDBOX_PACKAGE_REGISTRIES={} "${sets[@]}"; then
		kz_say_logs
		return 1
	fi
	KZ_STACK_ID=$(cat "$KZ_STATE/stack")
	export KZ_STACK_ID
}

# The ends of the logs, where a failed test shows them.
kz_say_logs() {
	local log
	for log in "$KZ_STATE"/log/*/current; do
		[ -f "$log" ] || continue
		echo "--- $log" >&2
		tail -n 15 "$log" >&2
	done
}

# shellcheck disable=SC2034 # status, output, error and record are for the test
kz_run() {
	local out=$KZ_STATE.out err=$KZ_STATE.err
	status=0
	: >"$KZ_TEST_RECORD"
	kz-run --record 9 "$@" >"$out" 2>"$err" 9>"$KZ_TEST_RECORD" || status=$?
	output=$(cat "$out")
	error=$(cat "$err")
	record=$(cat "$KZ_TEST_RECORD")
	rm -f "$out" "$err"
	return 0
}

kz_record() {
	if [ $# -eq 0 ]; then
		cat "$KZ_TEST_RECORD"
	else
		jq -r ".$1" <"$KZ_TEST_RECORD"
	fi
}

kz_record_is() {
	local is
	is=$(kz_record "$1")
	[ "$is" = "$2" ] && return 0
	echo "record: $1 is '$is', not '$2'; stderr was: ${error:-}" >&2
	cat "$KZ_TEST_RECORD" >&2
	return 1
}

kz_load() {
	awk -v processors="$(nproc)" '{
		split($4, running, "/")
		n = ($1 > running[1] ? $1 : running[1]) / processors
		print (n <= 1 ? 1 : (n >= 20 ? 20 : int(n + 0.99)))
	}' /proc/loadavg
}

kz_within() {
	[ $((SECONDS - $2)) -le $(($1 + 5)) ] || [ $((SECONDS - $2)) -le $(($1 * $(kz_load) + 5)) ]
}

kz_late() { echo $((5000 + 1000 * $(kz_load))); }

# grep's status says of a file that went meanwhile that it failed, whether or not it found something in another.
kz_nowhere() {
	local found
	found=$(grep -rlas "$@" || :)
	[ -z "$found" ] || {
		echo "found in: $found"
		return 1
	}
}

kz_wait() {
	local seconds=$(($1 > 30 ? $1 : 30)) start=$SECONDS
	shift
	until "$@"; do
		kz_within "$seconds" "$start" || {
			echo "kz_wait: after $((SECONDS - start)) s still not: $*" >&2
			return 1
		}
		sleep 0.1
	done
}

kz_service_pid() {
	local pid
	pid=$(s6-svstat -o pid "$KZ_STATE/service/$1") && [ "$pid" -gt 1 ] && echo "$pid"
}

# kz_unread COMMAND...: with a pipe for its standard output whose only reader closed it before the command began.
# Of a shell's own pipe the shell itself may hold the reading end a little longer.
kz_unread() {
	local pipe
	pipe=$(mktemp -u "$BATS_TEST_TMPDIR/pipe.XXXXXX")
	mkfifo "$pipe"
	bash -c 'exec 3<>"$1" 4>"$1" 3<&-; rm "$1"; shift; exec "$@" >&4 4>&-' _ "$pipe" "$@"
}

# One process looks at all of them: one for each would be most of the time that a test takes to end.
kz_marked() {
	local pid
	grep -lszxF "KZ_STACK=$KZ_STACK_ID" /proc/[0-9]*/environ | while IFS=/ read -r _ _ pid _; do
		[ "$pid" = "$$" ] || [ "$pid" = "$BASHPID" ] || echo "$pid"
	done
}

kz_left_processes() {
	local pid
	for pid in $(kz_marked); do
		[ ! -d "/proc/$pid" ] || echo "process $pid $(tr '\0' ' ' 2>/dev/null <"/proc/$pid/cmdline")"
	done
}

# Workers have no environment; they live in cgroups named after the state directory. A network namespace
# stands as long as a process or a mount holds it, so none is left when none of those is.
kz_left_cgroups() {
	local digest dir
	digest=$(printf %s "$KZ_STATE" | sha256sum | cut -c1-8)
	find /sys/fs/cgroup -type d -name "kz-$digest.*" 2>/dev/null | while read -r dir; do
		echo "cgroup $dir with $(find "$dir" -name cgroup.procs -exec cat {} + 2>/dev/null | wc -l) processes"
	done
}

# The one in the worker's cgroups that its own namespace calls 1 and that lies in one namespace below ours: the next tenant's
# first process lies in two. Numbers wrap, so the lowest is not the oldest.
kz_process1() {
	local pid digest
	digest=$(printf %s "$KZ_STATE" | sha256sum | cut -c1-8)
	find /sys/fs/cgroup -path "*/kz-$digest.$1/*cgroup.procs" -exec cat {} + 2>/dev/null | sort -u | while read -r pid; do
		[ "$(awk '/^NSpid:/ { print NF, $NF }' "/proc/$pid/status" 2>/dev/null)" != "3 1" ] || echo "$pid"
	done
}

kz_left() {
	local left
	left=$(
		kz_left_processes
		kz_left_cgroups
		grep -F " $KZ_STATE/" /proc/self/mountinfo | sed 's/^/mount /'
		[ ! -d "$KZ_STATE/workers" ] || find "$KZ_STATE/workers" -mindepth 1 -maxdepth 1 -not -name '.*' -printf 'worker %p\n'
		[ ! -d "$KZ_STATE" ] || find "$KZ_STATE" -xdev -type s -printf 'socket %p\n'
		grep -F "$KZ_STATE/" /proc/net/unix | sed 's/^/socket /'
	)
	[ -z "$left" ] && return 0
	printf '%s\n' "$left"
	return 1
}

kz_stop() {
	local rc=0
	[ -n "${KZ_STATE:-}" ] && [ -d "$KZ_STATE" ] || return 0
	kz down -f || rc=$?
	if ! kz_wait 5 kz_left >"$KZ_STATE.left"; then
		echo "kz_stop: this is left:" >&2
		kz_left >&2
		kz_say_logs
		# the state directory is the only way to what is left of it
		return 1
	fi
	[ $rc -eq 0 ] || kz_say_logs
	kz down --purge --yes || rc=1
	if [ -e "$KZ_STATE" ]; then
		echo "kz_stop: $KZ_STATE is left" >&2
		rc=1
	else
		kz_disown "$KZ_STATE"
	fi
	rm -f "$KZ_STATE.left" "$KZ_STATE.record"
	return $rc
}
