# shellcheck shell=bash
# One real worker for a test file, without a controller: a private state directory, the
# oci driver, and wk (tests/tool/wk.c) as the caller.
#
# worker_start [BUILD]   make the state and worker w-1; BUILD is build (when not given) or build-fault
# worker_new             delete w-1 and make it anew, with another instance
# worker_stop            delete it, prove that nothing of it is left
# wk CALL... [+ CALL...] calls on one connection; answers in $WORKER_STATE/said, output in out and err; sets status
# said FILTER            jq over the last line of said
# fence                  a fence higher than any before

# kz_wait
# shellcheck source=/dev/null
source "$(dirname "${BASH_SOURCE[0]}")/../kz.bash"

worker_start() {
	WORKER_ROOT=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
	WORKER_BUILD=$WORKER_ROOT/${1:-build}
	WORKER_STATE=$(mktemp -d /tmp/kzw.XXXXXX)
	kz_own "$WORKER_STATE"
	LEASE=0123456789abcdef0123456789abcdef
	export WORKER_ROOT WORKER_BUILD WORKER_STATE LEASE
	# the programs of that build and wk; a fault build is made by FAULT=1
	make -s -C "$WORKER_ROOT" -j2 ${1:+FAULT=1} all "${1:-build}/tests/tool/wk" >&2 || return 1
	chmod 755 "$WORKER_STATE"
	mkdir -p "$WORKER_STATE/keys" "$WORKER_STATE/env"
	# less than the defaults, so that filling up is quick
	echo 33554432 >"$WORKER_STATE/env/KZ_RUN_DISK_BYTES"
	echo 1000 >"$WORKER_STATE/env/KZ_RUN_INODES"
	echo 134217728 >"$WORKER_STATE/env/KZ_RUN_MEMORY_BYTES"
	echo 50331648 >"$WORKER_STATE/env/KZ_PACKAGES_MAX_BYTES"
	echo 1500 >"$WORKER_STATE/env/KZ_PACKAGES_INODES"
	echo 40 >"$WORKER_STATE/env/KZ_RUN_PIDS"
	head -c 32 /dev/urandom | od -An -tx1 | tr -d ' \n' >"$WORKER_STATE/keys/worker.key"
	chmod 640 "$WORKER_STATE/keys/worker.key"
	echo 1 >"$WORKER_STATE/fence"
	worker_new
}

worker_driver() {
	KZ_STATE=$WORKER_STATE "$WORKER_BUILD/bin/kz-driver-oci"
}

worker_new() {
	local image answer instance
	worker_delete || return 1
	instance=$(head -c 16 /dev/urandom | od -An -tx1 | tr -d ' \n')
	echo "$instance" >"$WORKER_STATE/instance"
	image=$(echo '{"v":1,"verb":"image"}' | worker_driver | jq -r .identity)
	answer=$(jq -nc --arg i "$instance" --arg m "$image" \
		'{v:1,verb:"create",worker:"w-1",instance:$i,image:$m}' | worker_driver)
	[ "$(jq -r .answer <<<"$answer")" = present ] || {
		echo "create: $answer" >&2
		return 1
	}
}

worker_delete() {
	local answer
	answer=$(echo '{"v":1,"verb":"delete","worker":"w-1","instance":""}' | worker_driver)
	[ "$(jq -r .answer <<<"$answer")" = absent ] || {
		echo "delete: $answer" >&2
		return 1
	}
}

worker_stop() {
	local dir left=0
	local -a dirs=()
	mapfile -t dirs < <(jq -r '.cgroups.trees[].dir' "$WORKER_STATE/workers/w-1/worker.json")
	worker_delete || return 1
	for dir in "${dirs[@]}" "$WORKER_STATE/workers/w-1"; do
		[ ! -e "$dir" ] || {
			echo "left: $dir" >&2
			left=1
		}
	done
	rm -rf "$WORKER_STATE"
	kz_disown "$WORKER_STATE"
	return $left
}

# shellcheck disable=SC2034 # status is for the test
wk() {
	status=0
	"$WORKER_BUILD/tests/tool/wk" "$WORKER_STATE" w-1 "$(cat "$WORKER_STATE/instance")" "$@" \
		3>"$WORKER_STATE/said" >"$WORKER_STATE/out" 2>"$WORKER_STATE/err" || status=$?
	return 0
}

said() {
	tail -n 1 "$WORKER_STATE/said" | jq -r "$1"
}

# the record of the last run in said
record() {
	jq -rs "map(select(.cause)) | last | $1" <"$WORKER_STATE/said"
}

# surfaces of the last readings that differ from the baseline
dirty() {
	jq -rs 'map(select(.type == "readings")) | last | [.surfaces | to_entries[] | select((.value.now == null)
		or .value.now != .value.baseline or .value.digest != .value.baseline_digest) | .key] | join(" ")' \
		<"$WORKER_STATE/said"
}

fence() {
	local n
	n=$(($(cat "$WORKER_STATE/fence") + 1))
	echo "$n" >"$WORKER_STATE/fence"
	echo "$n"
}

# Run ARG... as a tenant of its own and reset; WALL and OUTPUT bound it.
tenant() {
	wk bind "$LEASE" "$(fence)" 600000 + exec "$LEASE" "${WALL:-120000}" "${OUTPUT:-1048576}" "$@" + reset "$LEASE" t
	[ "$status" -eq 0 ] || {
		cat "$WORKER_STATE/err" >&2
		return 1
	}
}

# The next tenant of that worker finds nothing: no entry, no process beside its own, no System V object.
finds_nothing() {
	[ -z "$(dirty)" ] || {
		echo "dirty: $(dirty)" >&2
		return 1
	}
	tenant /bin/sh -c 'find /work/space /tmp /var/tmp /dev/shm /dev/mqueue -mindepth 1; set -- /proc/[0-9]*; echo $#; cat /proc/sysvipc/* | grep -c -v key'
	[ "$(cat "$WORKER_STATE/out")" = "$(printf '1\n0')" ] || {
		echo "the next tenant found:" >&2
		cat "$WORKER_STATE/out" >&2
		return 1
	}
}
