# shellcheck shell=bash
# driver.bash: a private state directory and a copy of the oci driver with a process 1 of the
# tests' own, so that the driver is tested without kz-worker.
#
# driver_setup_file [BUILD]   compile process1.c once, copy the driver of BUILD (default build)
# driver_setup                a fresh state directory in KZ_STATE, with worker.key
# driver_teardown             delete what is left, prove that nothing of it stays
# ask JSON                    one request; sets reply
# field PATH                  a field of reply
# create NAME [INSTANCE]      create with the image as published; sets reply
# inside NAME COMMAND         run a shell command in the worker

# kz_own
# shellcheck source=/dev/null
source "$(dirname "${BASH_SOURCE[0]}")/kz.bash"

driver_setup_file() {
	local build=${1:-build} mode
	ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
	DRIVER_DIR=$(mktemp -d /tmp/kzd.XXXXXX)
	kz_own "$DRIVER_DIR"
	export ROOT DRIVER_DIR
	for mode in 0 1 2 3; do
		mkdir -p "$DRIVER_DIR/bin$mode"
		cc -static -O1 -DMODE=$mode -o "$DRIVER_DIR/bin$mode/kz-worker" "$ROOT/tests/tool/process1.c"
		cp "$ROOT/$build/bin/kz-driver-oci" "$DRIVER_DIR/bin$mode/"
	done
}

# A state directory is the only way to its workers: it stays as long as one of them does.
driver_teardown_file() {
	local state unit left=""
	for state in "$DRIVER_DIR"/s.*; do
		[ -d "$state" ] || continue
		unit=kz-$(printf %s "$state" | sha256sum | cut -c1-8)
		[ -z "$(find /sys/fs/cgroup -type d -name "$unit.*")" ] ||
			KZ_STATE=$state UNIT=$unit driver_teardown || left+=" $state"
	done
	[ -z "$left" ] || {
		echo "workers are left in$left" >&2
		return 1
	}
	rm -rf "$DRIVER_DIR"
	kz_disown "$DRIVER_DIR"
}

driver_setup() {
	KZ_STATE=$(mktemp -d "$DRIVER_DIR/s.XXXXXX")
	export KZ_STATE
	MODE=0
	mkdir "$KZ_STATE/env" "$KZ_STATE/keys"
	: >"$KZ_STATE/env/KZ_GROUP"
	echo runc >"$KZ_STATE/env/KZ_RUNTIME"
	echo 60 >"$KZ_STATE/env/KZ_CREATE_TIMEOUT_SECONDS"
	printf '%064x\n' 7 >"$KZ_STATE/keys/worker.key"
	chmod 640 "$KZ_STATE/keys/worker.key"
	UNIT=kz-$(printf %s "$KZ_STATE" | sha256sum | cut -c1-8)
	export MODE UNIT
}

driver_teardown() {
	local name
	[ -d "$KZ_STATE/workers" ] || return 0
	for name in "$KZ_STATE"/workers/*; do
		[ -d "$name" ] || continue
		MODE=0 ask '{"v":1,"verb":"delete","worker":"'"${name##*/}"'","instance":""}'
	done
	nothing_left
}

driver() {
	"$DRIVER_DIR/bin${MODE:-0}/kz-driver-oci"
}

ask() {
	reply=$(printf '%s\n' "$1" | driver)
}

field() {
	jq -r "$1" <<<"$reply"
}

instance_of() {
	printf '%032x' "$1"
}

image() {
	printf '{"v":1,"verb":"image"}\n' | MODE=0 driver | jq -r .identity
}

create() {
	ask '{"v":1,"verb":"create","worker":"'"$1"'","instance":"'"${2:-$(instance_of 1)}"'","image":"'"${3:-$(image)}"'"}'
}

delete() {
	ask '{"v":1,"verb":"delete","worker":"'"$1"'","instance":"'"${2-}"'"}'
}

get() {
	ask '{"v":1,"verb":"get","worker":"'"$1"'"}'
}

listed() {
	printf '{"v":1,"verb":"list"}\n' | driver | jq -r '.workers | sort_by(.worker) | map(.worker) | join(" ")'
}

inside() {
	# shellcheck disable=SC2317
	python3 - "$KZ_STATE/workers/$1/ctl/control.sock" "$2" <<-'E'
		import socket, sys
		s = socket.socket(socket.AF_UNIX)
		s.connect(sys.argv[1])
		s.sendall(sys.argv[2].encode())
		s.shutdown(socket.SHUT_WR)
		while True:
		    b = s.recv(65536)
		    if not b:
		        break
		    sys.stdout.buffer.write(b)
	E
}

cgroups() {
	find /sys/fs/cgroup -type d -name "$UNIT.*"
}

# Processes whose cgroup carries this test's name; a dead one that nobody has waited for yet is none.
processes() {
	local file pid
	grep -ls "$UNIT\\." /proc/[0-9]*/cgroup | while read -r file; do
		pid=${file#/proc/}
		pid=${pid%/cgroup}
		grep -qs '^State:.[^ZX]' "/proc/$pid/status" && echo "$pid"
	done
	return 0
}

# Claims that hold: one whose file is gone is free for the next create.
uids() {
	find /run/kz/uid -lname "$KZ_STATE/*" ! -xtype l 2>/dev/null
}

nothing_left() {
	local bad=0
	[ -z "$(cgroups)" ] || { cgroups; bad=1; }
	[ -z "$(processes)" ] || { processes; bad=1; }
	[ -z "$(uids)" ] || { uids; bad=1; }
	[ -z "$(ls -A "$KZ_STATE/workers" 2>/dev/null)" ] || { ls -A "$KZ_STATE/workers"; bad=1; }
	[ -z "$(ls -A "$KZ_STATE/run/oci/runc" 2>/dev/null)" ] || { ls -A "$KZ_STATE/run/oci/runc"; bad=1; }
	if grep -F "$KZ_STATE" /proc/self/mountinfo; then bad=1; fi
	return "$bad"
}
