# shellcheck shell=bash
# common.bash: what the steps of scripts/image share.

say() { printf 'image: %s\n' "$*" >&2; }
die() {
	local status=$1
	shift
	say "$*"
	# shellcheck disable=SC2034 # the end of a draft asks for it
	DIED=1
	exit "$status"
}

# A numbered step with the time so far. A terminal and a file get the same plain line.
step() {
	STEP=$((${STEP:-0} + 1))
	say "[$STEP] $* ($((SECONDS - BEGIN)) s)"
}

need() {
	local tool
	for tool in "$@"; do
		command -v "$tool" >/dev/null || die 69 "$tool is missing; run: sudo scripts/install-deps --image"
	done
}

# A command that takes minutes, so that a signal to this script ends it at once; it does not outlive the script either.
long() {
	local status=0
	setpriv --pdeathsig KILL -- "$@" &
	CHILD=$!
	wait "$CHILD" || status=$?
	CHILD=''
	return "$status"
}

# What a command prints goes to standard error; bars that redraw their line become plain lines where no terminal is.
plain() {
	if [ -t 2 ]; then
		"$@" >&2
	else
		"$@" > >(stdbuf -oL tr '\r' '\n' >&2) 2>&1
	fi
}

# One program of the image, in namespaces of its own, without network, with nothing of this machine's environment.
# within ROOT [BWRAP_OPTION]... -- COMMAND...
within() {
	local root=$1
	shift
	bwrap --unshare-all --die-with-parent --new-session --clearenv --setenv PATH /usr/bin:/bin --setenv LC_ALL C.UTF-8 \
		--setenv HOME /tmp/home --ro-bind "$root" / --proc /proc --dev /dev --tmpfs /tmp --dir /tmp/home "$@"
}

# The rows of the table, one field each: distribution, import, Debian's package, why not.
promised() {
	sed -n 's/[[:space:]]*|[[:space:]]*/|/g; /^[^#]/p' "$POLICY/bundled_python.tbl"
}
