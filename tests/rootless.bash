# shellcheck shell=bash
# rootless.bash: a user of the tests' own, with ids and with cgroups that are that user's to divide.
#
# rootless_user NAME           make the user with a home below /tmp and ranges of subordinate ids
# rootless_cgroups NAME        make cgroups of that user, in every hierarchy that is mounted
# rootless_in NAME COMMAND...  run a command as that user inside those cgroups
# rootless_as NAME COMMAND...  run a command as that user where we are
# rootless_end NAME            remove all of it; fails when something is still there
#
# The programs are those of ROOTLESS_BIN, which every user can reach.

# Where each hierarchy has the place of this process, one line each: CONTROLLERS DIR.  Version 2 has "unified".
rootless_places() {
	local list path point
	while IFS=: read -r _ list path; do
		point=$(awk -v want="${list%%,*}" '{
			for (i = 7; $i != "-"; i++) continue
			n = split($(i + 3), o, ","); hit = (want == "" && $(i + 1) == "cgroup2")
			for (k = 1; k <= n && want != ""; k++) hit = hit || ($(i + 1) == "cgroup" && o[k] == want)
			if (hit) { print $5; exit }
		}' /proc/self/mountinfo)
		[ -z "$point" ] || echo "${list:-unified} $point${path%/}"
	done </proc/self/cgroup
}

# On version 2 a group with processes hands nothing down: go up to one that can.
rootless_dir() {
	local name=$1 list=$2 dir=$3
	if [ "$list" = unified ] && grep -qw memory "$dir/cgroup.controllers"; then
		until echo '+memory +pids +cpu' 2>/dev/null >"$dir/cgroup.subtree_control"; do
			dir=${dir%/*}
		done
	fi
	echo "$dir/rootless-$name"
}

rootless_user() {
	local name=$1 file
	useradd --create-home --home-dir "/tmp/$name" --shell /bin/sh "$name"
	for file in uid gid; do
		grep -q "^$name:" "/etc/sub$file" || usermod "--add-sub${file}s" 2000000000-2000065535 "$name"
	done
}

rootless_cgroups() {
	local name=$1 list dir file
	while read -r list dir; do
		dir=$(rootless_dir "$name" "$list" "$dir")
		mkdir "$dir"
		if [ "$list" = cpuset ]; then
			cat "$dir/../cpuset.cpus" >"$dir/cpuset.cpus"
			cat "$dir/../cpuset.mems" >"$dir/cpuset.mems"
		fi
		chown "$name" "$dir" "$dir/cgroup.procs"
		for file in tasks cgroup.subtree_control cgroup.threads; do
			[ ! -e "$dir/$file" ] || chown "$name" "$dir/$file"
		done
		mkdir "$dir/shell"
		if [ "$list" = cpuset ]; then
			cat "$dir/cpuset.cpus" >"$dir/shell/cpuset.cpus"
			cat "$dir/cpuset.mems" >"$dir/shell/cpuset.mems"
		fi
		chown "$name" "$dir/shell" "$dir/shell/cgroup.procs"
		[ ! -e "$dir/shell/cgroup.subtree_control" ] || chown "$name" "$dir/shell/cgroup.subtree_control"
	done < <(rootless_places)
}

rootless_as() {
	local name=$1
	shift
	setpriv --reuid "$name" --regid "$name" --clear-groups --inh-caps=-all \
		env -i HOME="/tmp/$name" USER="$name" PATH="$ROOTLESS_BIN:/usr/bin:/bin" "$@" 3>&- 4>&-
}

rootless_in() {
	local name=$1
	shift
	(
		while read -r list dir; do
			echo "$BASHPID" >"$(rootless_dir "$name" "$list" "$dir")/shell/cgroup.procs"
		done < <(rootless_places)
		rootless_as "$name" "$@"
	)
}

rootless_end() {
	local name=$1 rc=0 list dir pids
	! pgrep -u "$name" -l -r D,R,S,T || rc=1
	while read -r list dir; do
		dir=$(rootless_dir "$name" "$list" "$dir")
		[ -d "$dir" ] || continue
		# a worker here outlived its kz: that is a failure, and it goes all the same
		pids=$(find "$dir" -name cgroup.procs -exec cat {} + | sort -u)
		# shellcheck disable=SC2086 # a list of numbers
		[ -z "$pids" ] || { rc=1; kill -KILL $pids; sleep 0.5; }
		find "$dir" -depth -type d -exec rmdir {} + || rc=1
	done < <(rootless_places)
	userdel --remove "$name" 2>/dev/null || rc=1
	return $rc
}
