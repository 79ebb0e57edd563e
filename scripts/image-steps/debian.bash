# shellcheck shell=bash
# debian.bash: the packages of an image, from the mirror that this machine's own apt names.

# Packages that only serve to compile or to look pretty in a tool that nobody runs here; with them an image is twice
# as large. Each is replaced while the image is built by an empty package of its name, and the manifest lists it under left_out.
LEFT_OUT=(
	python3-pythran # scipy was compiled with it: brings g++, boost and headers
	node-gyp        # npm compiles C++ with it: brings headers; scripts of packages do not run in a worker
	webpack         # of a package that npm takes one module of: brings Babel and two hundred others
	unicode-data    # fonttools names it, and has what it needs itself
	python3-sympy   # fonttools uses it to make code of its own
)

MINIMAL=(python3 python3-pip ca-certificates)
FULL=(python3 python3-pip ca-certificates nodejs npm fonts-dejavu-core fonts-liberation)

# Of what a package has, these are for people at a terminal or for compilers.
EXCLUDED=(
	'/usr/share/man/*' '/usr/share/info/*' '/usr/share/locale/*' '/usr/share/lintian/*' '/usr/share/bug/*' '/usr/share/bash-completion/*'
	'/usr/share/zsh/*' '/usr/share/doc-base/*' '/usr/share/pixmaps/*' '/usr/share/applications/*' '/usr/share/menu/*' '/usr/share/icons/*'
	'/usr/share/doc/*' '/usr/include/*' '/usr/lib/*/*.a' '/usr/lib/*/pkgconfig/*' '/etc/cron.*' '/etc/logrotate.d/*' '/etc/init.d/*'
	'/usr/lib/systemd/*' '/lib/systemd/*'
)

# shellcheck disable=SC2016 # $(X) are apt's own fields
# Lines of sources.list for a suite: the mirrors of this machine, with updates and security where it has them; none where it has none.
# A suite that this machine does not use itself comes from the same places.
debian_sources() {
	local own
	own=$(apt-get indextargets --format '$(ORIGIN)|$(SITE)|$(RELEASE)|$(COMPONENT)|$(CODENAME)' 'Identifier: Packages' 2>/dev/null |
		awk -F'|' '$1 == "Debian" && $4 == "main" { print $2, $3 }' | sort -u)
	# shellcheck disable=SC1091
	own=$(awk -v from="$(. /etc/os-release && echo "${VERSION_CODENAME:-}")" -v to="$1" '
		$2 == from || $2 == from "-updates" || $2 == from "-security" { sub(from, to, $2); print "deb", $1, $2, "main" }' <<<"$own")
	[ -z "$own" ] || printf '%s\n' "$own"
}

# An empty package of a name, so that nothing brings the real one.
empty_package() {
	local name=$1 into=$2 tree=$WORK/empty/$1
	mkdir -p "$tree/DEBIAN"
	printf 'Package: %s\nVersion: 9999\nArchitecture: all\nMaintainer: kz\nDescription: left out of a worker image\n' "$name" \
		>"$tree/DEBIAN/control"
	if [ "$name" = node-gyp ]; then
		# npm looks for this file before it runs any script of a package
		mkdir -p "$tree/usr/share/nodejs/node-gyp/bin"
		echo '{"name":"node-gyp","version":"0.0.0"}' >"$tree/usr/share/nodejs/node-gyp/package.json"
		printf '#!/usr/bin/node\nconsole.error("node-gyp: a worker image has no compiler");\nprocess.exit(1);\n' \
			>"$tree/usr/share/nodejs/node-gyp/bin/node-gyp.js"
		chmod 755 "$tree/usr/share/nodejs/node-gyp/bin/node-gyp.js"
	fi
	dpkg-deb --root-owner-group -Zgzip --build "$tree" "$into/$name.deb" >/dev/null
	{
		cat "$tree/DEBIAN/control"
		printf 'Filename: ./%s.deb\nSize: %s\nSHA256: %s\n\n' "$name" "$(stat -c %s "$into/$name.deb")" \
			"$(sha256sum <"$into/$name.deb" | cut -d' ' -f1)"
	} >>"$into/Packages"
}

# The names to install, a,b,c.
debian_names() {
	local -a names=("${MINIMAL[@]}")
	[ "$SET" = minimal ] || names=("${FULL[@]}")
	if [ "$SET" = full ] && [ -z "$LOCK" ]; then
		mapfile -t -O ${#names[@]} names < <(promised | awk -F'|' '$3 != "-" { print $3 }')
	fi
	(IFS=, && echo "${names[*]}")
}

# Dies unless this machine runs programs of an architecture, by itself or by an emulator that the kernel calls.
can_run() {
	[ "$1" != "$(dpkg --print-architecture)" ] || return 0
	need arch-test
	arch-test "$1" >/dev/null 2>&1 ||
		die 69 "this machine cannot run $1 programs, which its images need; run: sudo scripts/install-deps --cross"
}

root_failed() {
	local status=0
	unexpected 69 || status=$?
	die "$status" "mmdebstrap could not make the root; its message is above"
}

debian_build() {
	local root=$1 name pattern
	local -a options=(--variant=essential --format=directory --mode=root --hook-dir=/usr/share/mmdebstrap/hooks/maybe-merged-usr "--architectures=$ARCH" "--include=$(debian_names)"
		'--aptopt=APT::Install-Recommends "false"' '--aptopt=Acquire::Languages "none"')
	local -a sources
	mkdir "$WORK/left-out"
	: >"$WORK/left-out/Packages"
	for name in "${LEFT_OUT[@]}"; do
		empty_package "$name" "$WORK/left-out"
	done
	for pattern in "${EXCLUDED[@]}"; do
		options+=("--dpkgopt=path-exclude=$pattern")
	done
	# modules are compiled once, at the end, in a way that does not depend on times
	# shellcheck disable=SC2016 # $1 is the hook's
	options+=(--dpkgopt=force-unsafe-io '--essential-hook=chroot "$1" dpkg-divert --quiet --local --rename --divert /usr/bin/py3compile.later /usr/bin/py3compile
		ln -s true "$1/usr/bin/py3compile"')
	options+=('--dpkgopt=path-include=/usr/share/doc/*/copyright')
	mapfile -t sources < <(debian_sources "$SUITE")
	[ ${#sources[@]} -gt 0 ] || die 69 "apt of this machine names no Debian mirror"
	# in namespaces of its own: with its first process all others and all mounts are gone
	plain long unshare --mount --propagation private --pid --fork --kill-child --mount-proc -- mmdebstrap "${options[@]}" "$SUITE" "$root" "${sources[@]}" "deb [trusted=yes] copy://$WORK/left-out ./" ||
		root_failed
}
