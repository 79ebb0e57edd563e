# shellcheck shell=bash
# lock.bash: Python packages from a hash-pinned lock [IMG-2, IMG-4, IMG-12].

# Prints NAME VERSION of each pin, names in their normal form; dies on the first line that is anything else.
audit() {
	if [ ! -f "$1" ] || [ ! -r "$1" ]; then
		die 66 "there is no lock $1"
	fi
	awk '
		function bad(what) { printf "image: %s:%d: %s\n", FILENAME, at, what >"/dev/stderr"; failed = 1 }
		function less(a, b,   x, y, i) {
			split(a, x, "."); split(b, y, ".")
			for (i = 1; i <= 4; i++) if (x[i] + 0 != y[i] + 0) return x[i] + 0 < y[i] + 0
			return 0
		}
		function judge(text,   pin, name, version, n, i, word) {
			if (text ~ /^-/) return bad("an option; a lock holds pins only")
			if (text ~ /@|:\/\// && text !~ /--hash/) return bad("an address instead of a pin")
			n = split(text, word, /[ \t]+/)
			pin = word[1]
			sub(/;.*/, "", pin)
			if (pin !~ /^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?(\[[A-Za-z0-9,._-]+\])?==[A-Za-z0-9][A-Za-z0-9.!+_-]*$/)
				return bad("not an exact pin (name==version): " pin)
			name = tolower(pin); sub(/(\[.*)?==.*/, "", name); gsub(/[-_.]+/, "-", name)
			version = pin; sub(/.*==/, "", version)
			for (i = 2; i <= n; i++) if (word[i] ~ /^--/ && word[i] !~ /^--hash=sha(256:[0-9a-f]+|384:[0-9a-f]+|512:[0-9a-f]+)$/)
				return bad("no such option in a lock: " word[i])
			if (text !~ /--hash=sha256:[0-9a-f][0-9a-f]/) return bad(name " has no sha256")
			for (i = 2; i <= n; i++) if (word[i] ~ /^--hash=sha256:/ && length(word[i]) != 78) return bad(name ": a sha256 has 64 digits")
			if (name in seen) return bad(name " is pinned twice")
			seen[name] = 1
			if (name == "pyasn1" && less(version, "0.6.4")) return bad("pyasn1 " version " is older than 0.6.4")
			print name, version
		}
		{ sub(/\r$/, ""); sub(/(^|[ \t])#.*/, "") }
		held == "" { at = FNR }
		/\\$/ { sub(/\\$/, " "); held = held $0; next }
		{ line = held $0; held = ""; gsub(/^[ \t]+|[ \t]+$/, "", line); if (line != "") { count++; judge(line) } }
		END {
			if (held != "") bad("the last line goes on")
			if (!count && !failed) { at = FNR; bad("no pin") }
			exit failed
		}' "$1" || die 65 "$1 is no lock"
}

# Every pin has a wheel with one of its hashes: told before anything is built. pip compares again.
wheels_are_there() {
	local name version missed=0
	[ -d "$WHEELS" ] || die 66 "there is no directory $WHEELS"
	find "$WHEELS" -maxdepth 1 -name '*.whl' -type f -exec sha256sum {} + | sed 's/^\\//; s/ .*//' | sort -u >"$WORK/wheels"
	while read -r name version; do
		if ! pin_hashes "$name" | grep -qxFf "$WORK/wheels"; then
			say "$name $version: no wheel in $WHEELS has a hash of the lock"
			missed=1
		fi
	done <"$WORK/pins"
	[ $missed -eq 0 ] || die 1 "wheels are missing, or are not those of the lock"
}

# The SHA-256 digests that the lock has for a name.
pin_hashes() {
	sed -e :a -e '/\\$/N; s/\\\n/ /; ta' "$LOCK" | awk -v name="$1" '
		{ pin = tolower($1); sub(/(\[.*)?==.*/, "", pin); gsub(/[-_.]+/, "-", pin) }
		pin == name { for (i = 2; i <= NF; i++) if (sub(/^--hash=sha256:/, "", $i)) print $i }'
}

lock_install() {
	local root=$1
	local -a from=() pip=(python3 -I -m pip install --require-hashes --no-deps --only-binary :all: --ignore-installed --no-compile --no-cache-dir
		--disable-pip-version-check --no-input --quiet --root-user-action=ignore --break-system-packages)
	if [ -n "$WHEELS" ]; then
		from=(--ro-bind "$(realpath "$WHEELS")" /tmp/wheels)
		pip+=(--no-index --find-links /tmp/wheels)
	else
		rm -f "$root/etc/resolv.conf"
		: >"$root/etc/resolv.conf" # a place to mount it at; it does not stay
		from=(--share-net --ro-bind-try "$(realpath /etc/resolv.conf)" /etc/resolv.conf)
		pip+=(--index-url "$INDEX")
	fi
	within "$root" --bind "$root/usr/local" /usr/local "${from[@]}" --ro-bind "$(realpath "$LOCK")" /tmp/lock \
		-- "${pip[@]}" -r /tmp/lock >&2 || die 1 "pip could not install what the lock pins; its message is above"
}

# A lock of the full set pins all that is promised: told before anything is built [IMG-4].
promised_are_pinned() {
	local name missed=0
	while read -r name; do
		cut -d' ' -f1 "$WORK/pins" | grep -qxF "$name" && continue
		say "$name is promised, and the lock does not pin it"
		missed=1
	done < <(promised | cut -d'|' -f1 | tr 'A-Z_.' 'a-z--')
	[ $missed -eq 0 ] || die 1 "the lock is not one of the full set"
}

# Every pin is installed in its version, and is what an import finds; and nothing else came with them [IMG-4].
pins_are_there() {
	local name version found missed=0
	while read -r name; do
		cut -d' ' -f1 "$WORK/pins" | grep -qxF "$name" && continue
		say "$name is installed, and the lock does not pin it"
		missed=1
	done < <(jq -r '.[] | select(.debian == null).name | ascii_downcase | gsub("[-_.]+"; "-")' "$WORK/distributions.json")
	while read -r name version; do
		found=$(jq -r --arg n "$name" '.[] | select((.name | ascii_downcase | gsub("[-_.]+"; "-")) == $n) | .version' "$WORK/distributions.json")
		[ "$found" = "$version" ] && continue
		say "pinned $name $version: the image has ${found:-none}"
		missed=1
	done <"$WORK/pins"
	[ $missed -eq 0 ] || die 1 "the image is not what the lock says"
}
