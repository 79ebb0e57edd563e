# shellcheck shell=bash
# A private controller for bats: Valkey on a socket, a driver of sleeping processes, no supervisor.
#
# c_new NAME [SETTING=VALUE]...  a state directory in $BATS_TEST_TMPDIR/NAME; exports nothing
# c_valkey DIR                   start Valkey for it;     c_valkey_stop DIR [SIGNAL]
# c_start DIR [ENV=VALUE]...     start its controller;    c_stop DIR [SIGNAL]
# c_status DIR FIELD             a field of run/controller.json
# c_has DIR STATE COUNT          are there COUNT workers in that state, by the audit store?
# c_wait SECONDS COMMAND...      until it succeeds; seconds as kz_wait counts them, 30 at least
# c_end                          for teardown: everything that was started ends, by its number

HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
BIN=${KZ_BIN:-$HERE/../../build/bin}
# shellcheck source=/dev/null
source "$HERE/../kz.bash" # kz_within

c_new() {
	local dir=$BATS_TEST_TMPDIR/$1 set key
	shift
	mkdir -p "$dir"/{env,run,keys,workers,audit,valkey,driver.do,driver.workers}
	umask 027
	for key in field worker grant identity; do
		head -c 32 /dev/urandom | od -An -tx1 | tr -d ' \n' >"$dir/keys/$key.key"
		echo >>"$dir/keys/$key.key"
	done
	echo "sha256:$(printf 'a%.0s' {1..64})" >"$dir/driver.image"
	for set in "KZ_DRIVER=$HERE/driver" KZ_DEPLOYMENT_ID=test KZ_NODE=n1 KZ_INVENTORY_SECONDS=1 KZ_GROUP= \
		SANDBOX_BURST_IDLE_TTL_SECONDS=2 "$@"; do
		c_set "$dir" "${set%%=*}" "${set#*=}"
	done
	echo "$dir"
}

c_set() {
	printf '%s\n' "$3" >"$1/env/.new"
	mv "$1/env/.new" "$1/env/$2"
}

c_valkey() {
	(cd "$1/valkey" && exec valkey-server --port 0 --unixsocket "$1/run/valkey.sock" --save '' --appendonly yes \
		--maxmemory-policy "${2:-noeviction}" --dir "$1/valkey" >"$1/valkey/log" 2>&1 3>&-) &
	echo $! >"$1/valkey.pid"
	c_wait 10 valkey-cli -s "$1/run/valkey.sock" ping
}

c_valkey_stop() {
	kill "-${2:-TERM}" "$(cat "$1/valkey.pid")"
	[ "${2:-TERM}" = STOP ] || [ "${2:-TERM}" = CONT ] || wait "$(cat "$1/valkey.pid")" || true
}

c_start() {
	local dir=$1
	shift
	env -i PATH="$PATH" "$@" "${C_BIN:-$BIN}/kz-controller" --state "$dir" </dev/null >"$dir/out" 2>>"$dir/err" 3>&- &
	echo $! >"$dir/controller.pid"
}

c_stop() {
	local pid rc=0
	pid=$(cat "$1/controller.pid")
	kill "-${2:-TERM}" "$pid" 2>/dev/null || true
	wait "$pid" || rc=$?
	return $rc
}

c_status() { jq -r ".$2" "$1/run/controller.json" 2>/dev/null; }
# Is what is told told by the controller that was started last?
c_speaks() { [ "$(c_status "$1" pid)" = "$(cat "$1/controller.pid")" ]; }
c_is_open() { jq -e '.admission.open' "$1/run/controller.json" >/dev/null 2>&1; }
c_is_closed() {
	jq -e --arg reason "$2" '.admission | .open == false and .reason == $reason' "$1/run/controller.json" >/dev/null 2>&1
}

# Every worker's last state as the store has it: the controller moves transitions there at its own pace, so what was just
# done is waited for.
# shellcheck disable=SC2016 # jq's
C_LAST='reduce (inputs | select(.machine == "worker")) as $r ({}; .[$r.subject] = $r.to_state)'
c_states() { KZ_STATE=$1 "$BIN/kz-audit" list -j -k transition | jq -rn "$C_LAST | .[]"; }
c_has() {
	KZ_STATE=$1 "$BIN/kz-audit" list -j -k transition |
		jq -en --arg state "$2" --argjson count "$3" "[$C_LAST | .[] | select(. == \$state)] | length == \$count" >/dev/null
}
# What the driver really has.
c_real() {
	local -a files=("$1"/driver.workers/*)
	[ -e "${files[0]}" ] && echo "${#files[@]}" || echo 0
}
c_has_real() { [ "$(c_real "$1")" -eq "$2" ]; }
# In the order of what asking costs: a test asks ten times a second.
c_settled() { c_has_real "$1" "$2" && c_is_open "$1" && c_has "$1" warm "$2"; }
# c_happened DIR EVENT [WORKER]
c_happened() {
	KZ_STATE=$1 "$BIN/kz-audit" list -j -k transition | jq -es --arg e "$2" --arg w "${3:-}" \
		'any(.event == $e and ($w == "" or .subject == $w))'
}
# c_gone DIR WORKER...: the driver has none of them
c_gone() {
	local dir=$1 w
	shift
	for w in "$@"; do [ ! -e "$dir/driver.workers/$w" ] || return 1; done
}
c_verifies() { KZ_STATE=$1 "$BIN/kz-audit" verify; }

c_wait() {
	local seconds=$(($1 > 30 ? $1 : 30)) start=$SECONDS
	shift
	until "$@" >/dev/null 2>&1; do
		kz_within "$seconds" "$start" || {
			echo "still not: $*"
			return 1
		}
		sleep 0.1
	done
}

c_end() {
	local f pid
	for f in "$BATS_TEST_TMPDIR"/*/controller.pid "$BATS_TEST_TMPDIR"/*/valkey.pid; do
		[ -f "$f" ] || continue
		kill -CONT "$(cat "$f")" 2>/dev/null
		kill -9 "$(cat "$f")" 2>/dev/null
	done
	# Workers too, those of a driver killed before it wrote one down among them: each inherits the driver's KZ_STATE.
	while IFS=/ read -r _ _ pid _; do
		kill -9 "$pid" 2>/dev/null
	done < <(grep -lsz "^KZ_STATE=$BATS_TEST_TMPDIR/" /proc/[0-9]*/environ)
	for f in "$BATS_TEST_TMPDIR"/*/err; do
		[ -f "$f" ] || continue
		echo "--- $f"
		tail -n 30 "$f"
		c_states "${f%/err}" | sort | uniq -c
		ls "${f%/err}/driver.workers"
	done
	return 0
}
