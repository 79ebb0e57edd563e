# shellcheck shell=bash
# draft.bash: an image is made beside its place and takes it when it is whole; what fails or is ended leaves nothing.

# With less than this many MiB a step that fails has most likely failed for it.
ROOM=256

is_image() { [ -f "$1/manifest.json" ] && [ -d "$1/root" ]; }
is_empty() { [ -d "$1" ] && [ -z "$(ls -A "$1")" ]; }

# DIR is free, empty, or an image that is to be replaced. What this script makes beside it has a file "work".
check_target() {
	local place
	[ ! -L "$1" ] || die 73 "$1 is a link"
	[ ! -e "$1" ] || [ -d "$1" ] || die 73 "$1 is not a directory"
	[ ! -e "$1" ] || is_empty "$1" || is_image "$1" || die 73 "$1 is neither empty nor an image; it is left alone"
	for place in "$1.new" "$1.old"; do
		[ ! -L "$place" ] || die 73 "$place is a link"
		[ ! -e "$place" ] || is_empty "$place" || [ -f "$place/work" ] || die 73 "$place is in the way, and not of this script; it is left alone"
	done
}

# What a build left that was killed while its image took its place.
recover() {
	[ ! -d "$1" ] || rm -f "$1/work"
	[ -f "$1.old/work" ] || return 0
	if [ ! -e "$1" ]; then
		mv -T "$1.old" "$1"
		rm "$1/work"
	else
		old_remove "$1.old"
	fi
}

# The file "work" goes last.
old_remove() {
	rm -rf --one-file-system "$1/root"
	rm -rf --one-file-system "$1"
}

# The directory for this build's own files. A build that was killed left its name in the draft.
begin_work() {
	local former
	former=$(cat "$NEW/work" 2>/dev/null || true)
	if [[ $former == /*/kz-image.?????? ]] && [ -d "$former" ] && [ ! -L "$former" ] && [ -O "$former" ]; then
		rm -rf --one-file-system "$former"
	fi
	WORK=$(mktemp -d "$(realpath "${TMPDIR:-/tmp}")/kz-image.XXXXXX")
	# apt and mmdebstrap keep files of their own where TMPDIR is: below this one they go with it
	mkdir -m 1777 "$WORK/tmp"
	chmod 755 "$WORK"
	export TMPDIR=$WORK/tmp
}

# The draft of this build; what an interrupted one left is removed, another one's that is under way is not.
begin_draft() {
	NEW=$1.new
	mkdir -p "$NEW" || die 73 "$NEW cannot be made"
	exec {LOCK_FD}<"$NEW"
	flock -n "$LOCK_FD" || die 75 "another build of $1 is under way"
	trap 'end_draft' EXIT
	trap 'exit 129' HUP
	trap 'exit 130' INT
	trap 'exit 143' TERM
	recover "$1"
	begin_work
	find "$NEW" -xdev -mindepth 1 -delete
	echo "$WORK" >"$NEW/work"
	mkdir "$NEW/root"
}

# MiB that are left where a directory is; 0 where inodes are the lack.
room_of() {
	df -k --output=avail,itotal,iavail "$1" | awk 'END { print ($2 > 0 && $3 < 1000) ? 0 : int($1 / 1024) }'
}

# Dies when there is no room to go on, as not every tool tells that it could not write.
has_room() {
	[ "$(room_of "$NEW")" -ge 1 ] || die 74 "no room is left where $NEW is"
}

# What a step that failed without a word of ours ends with: for lack of room, or for a reason that only its message tells.
unexpected() {
	local place left
	for place in "$NEW" "${WORK:-$NEW}"; do
		left=$(room_of "$place")
		if [ "$left" -lt "$ROOM" ]; then
			say "there is too little room: $left MiB are left where $place is"
			return 74
		fi
	done
	return "$1"
}

end_draft() {
	local status=$?
	trap - EXIT
	trap '' HUP INT TERM
	if [ -n "${CHILD:-}" ]; then
		kill -KILL "$CHILD" 2>/dev/null || true
		wait "$CHILD" 2>/dev/null || true
	fi
	case $status:${DIED:-} in
	0: | 129: | 130: | 143: | *:1) ;;
	*)
		say "a step failed (status $status); its message is above"
		status=0
		unexpected 70 || status=$?
		;;
	esac
	[ "$status" -eq 0 ] || say "nothing was made"
	# the last of what was killed may still be on its way out
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		if rm -rf --one-file-system "$NEW" "${WORK:-$NEW}" 2>/dev/null; then
			break
		fi
		sleep 0.2
	done
	exit "$status"
}

# The draft takes its place. A signal waits until it has; the image before it goes last, or comes back.
publish() {
	local dir=$1
	trap '' HUP INT TERM
	rm "$NEW/work"
	chmod 755 "$NEW"
	if is_image "$dir"; then
		: >"$dir/work"
		mv -T "$dir" "$dir.old"
	fi
	if ! mv -T "$NEW" "$dir"; then
		recover "$dir"
		die 73 "$dir cannot be put in place"
	fi
	[ ! -f "$dir.old/work" ] || old_remove "$dir.old"
}
