#!/usr/bin/env bats
# Each surface of evidence alone dirty: the readings show that surface and no other.

load ../tool/worker

setup_file() { worker_start build-fault; }
teardown_file() { worker_stop; }

# Every test has a worker of its own: a dirty one is never used again.
only_dirty() {
	worker_new
	KZ_FAULT_DIRTY=$1 wk bind "$LEASE" "$(fence)" 600000 + exec "$LEASE" 60000 1000 /bin/true + reset "$LEASE" t
	[ "$status" -eq 0 ] || {
		cat "$WORKER_STATE/err" >&2
		return 1
	}
	[ "$(dirty)" = "$1" ] || {
		echo "dirty: '$(dirty)', not '$1'" >&2
		return 1
	}
}

@test "RESET-5: the same steps without a dirty surface leave none" {
	wk bind "$LEASE" "$(fence)" 600000 + exec "$LEASE" 60000 1000 /bin/true + reset "$LEASE" t
	[ "$status" -eq 0 ]
	[ -z "$(dirty)" ]
}

@test "RESET-5: the list below is the list of surfaces" {
	local there here
	there=$(sed -nE 's/^X\([A-Z_]+, "([a-z_]+)".*/\1/p' "$WORKER_ROOT/lib/rule/surfaces.tbl" | sort)
	here=$(sed -nE 's/^.*\{ only_dirty ([a-z_]+); \}$/\1/p' "$BATS_TEST_FILENAME" | sort)
	[ "$there" = "$here" ]
}

@test "RESET-1: a process beside the worker's own" { only_dirty processes; }
@test "RESET-1: a process in the tenant's cgroup" { only_dirty cgroup; }
@test "RESET-2: a hidden file in the workspace" { only_dirty workspace; }
@test "RESET-3 BRK-26: a file among the packages" { only_dirty packages; }
@test "RESET-3: a file in /var/tmp" { only_dirty tmp; }
@test "RESET-3: a file in /dev/shm" { only_dirty shm_files; }
@test "RESET-2: an open file without a name" { only_dirty disk; }
@test "RESET-3: a System V segment" { only_dirty sysv_shm; }
@test "RESET-3: a System V queue" { only_dirty sysv_msg; }
@test "RESET-3: a System V semaphore set" { only_dirty sysv_sem; }
@test "RESET-3: a POSIX message queue" { only_dirty mqueue; }
@test "RESET-5: a bound socket" { only_dirty sockets; }
@test "RESET-5: a mount" { only_dirty mounts; }
@test "RESET-5: a kernel key" { only_dirty keys; }
@test "RESET-5: a changed mode" { only_dirty modes; }
@test "RESET-5: the readings say which place's mode changed" {
	only_dirty modes
	run jq -rs 'map(select(.type == "readings")) | last | .surfaces.modes.changed' "$WORKER_STATE/said"
	echo "$output"
	[ "$output" = "/dev/shm was 1777 0:0, is 777 0:0" ]
}
@test "RESET-5: a changed hostname" { only_dirty limits; }
@test "RESET-3: a staged directory" { only_dirty projection; }
@test "RESET-5: a descriptor of process 1" { only_dirty descriptors; }
