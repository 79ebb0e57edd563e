# shellcheck shell=bash
# settle.bash: from an installed system to a worker's root that is the same each time.

# What apt, dpkg and maintainer scripts leave behind, accounts, names, secrets: none of it belongs to a worker.
settle() {
	local root=$1 file
	mv -f "$root/usr/bin/py3compile.later" "$root/usr/bin/py3compile"
	find "$root" -xdev -name __pycache__ -prune -exec rm -rf {} +
	# tests of packages, with the data that they compare with, are a fifth of the Python stack; numpy.testing uses its own
	find "$root/usr/lib/python3/dist-packages" -xdev -type d -path '*/*/tests' ! -path '*/numpy/*' -prune -exec rm -rf {} +
	rm -rf "$root"/var/lib/{apt,dpkg/info,dpkg/triggers,dpkg/updates,dpkg/alternatives,dpkg/parts,systemd,pam,ucf,dbus,python,fontconfig,xml-core,sgml-base} \
		"$root"/var/cache "$root"/var/log "$root"/var/backups "$root"/var/mail "$root"/var/spool "$root"/var/local "$root"/var/opt \
		"$root"/etc/apt "$root"/etc/systemd "$root"/etc/pam.d "$root"/etc/skel "$root"/etc/default "$root"/etc/security "$root"/etc/rc?.d \
		"${root:?}"/{boot,home,media,mnt,opt,srv,root} "$root"/etc/{shadow,gshadow,subuid,subgid}{,-} "$root"/etc/{passwd,group}- \
		"$root"/etc/{machine-id,resolv.conf,fstab,mtab,.pwd.lock,motd,issue,issue.net,mailname,adjtime} \
		"$root"/var/lib/dpkg/{*-old,lock*,available,cmethopt,arch,diversions,statoverride}
	for file in dev proc sys run tmp var/tmp; do
		rm -rf --one-file-system "${root:?}/$file"
		mkdir -m 755 "$root/$file"
	done
	mkdir -m 755 "$root/work" "$root/.kz"
	printf 'root:x:0:0:root:/:/usr/sbin/nologin\nkz:x:1000:1000:kz:/work/space:/bin/sh\nnobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n' \
		>"$root/etc/passwd"
	printf 'root:x:0:\nkz:x:1000:\nnogroup:x:65534:\n' >"$root/etc/group"
	printf '127.0.0.1\tlocalhost kz\n::1\tlocalhost ip6-localhost ip6-loopback\n' >"$root/etc/hosts"
	echo kz >"$root/etc/hostname"
	printf '%s: files\n' passwd group shadow hosts protocols services >"$root/etc/nsswitch.conf"
	echo Etc/UTC >"$root/etc/timezone"
	ln -sfn /usr/share/zoneinfo/Etc/UTC "$root/etc/localtime"
	file=$(find "$root" -xdev ! -type f ! -type d ! -type l -print -quit)
	[ -z "$file" ] || die 70 "${file#"$root"} is neither file, directory nor link"
	file=$(find "$root" -xdev -name '*[[:cntrl:]]*' -print -quit)
	[ -z "$file" ] || die 70 "the name of a file holds a control character: ${file#"$root"}"
	chown -hR 0:0 "$root"
	find "$root" -xdev ! -type l -perm /7000 -exec chmod ug-s,-t {} +
	chmod -R a+rX,go-w "$root"
}

# Compiled modules are checked against nothing: their sources are read-only, and times are not kept.
compile() {
	local root=$1 dir
	local -a dirs=()
	for dir in "$root"/usr/lib/python3* "$root"/usr/local/lib/python3*; do
		[ ! -d "$dir" ] || dirs+=("${dir#"$root"}")
	done
	# a few templates of packages are no Python; what cannot be compiled is left as it is
	within "$root" --setenv PYTHONHASHSEED 0 --bind "$root/usr" /usr -- \
		python3 -I -m compileall -q -q --invalidation-mode unchecked-hash "${dirs[@]}" >/dev/null || true
	find "$root/usr" -xdev -name __pycache__ -exec chmod -R a+rX,go-w {} +
}

touch_all() {
	find "$1" -xdev -print0 | xargs -0 touch -h -d "@$SOURCE_DATE_EPOCH"
}
