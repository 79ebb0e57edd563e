# shellcheck shell=bash
# gates.bash: what an image has to do before it is published [IMG-5, IMG-6], on its own base and on a FIPS base.

# What is promised as imports of this image: the table's, less what it says is not baked; of a lock with the minimal set its own.
gate_names() {
	local dir=$1
	if [ "$(jq -r .set "$dir/manifest.json")" = full ]; then
		promised | awk -F'|' -v lock="$(jq -r '.lock_sha256 // ""' "$dir/manifest.json")" 'lock != "" || $3 != "-" { print $2 }'
	elif [ "$(jq -r '.lock_sha256 // ""' "$dir/manifest.json")" != "" ]; then
		jq -r '.distributions[] | select(.debian == null).imports[]' "$dir/manifest.json"
	fi
}

# The gates in the image; what they print goes to FILE. gates_in DIR FILE [OPTION_OF_WITHIN]... -- ARGUMENT...
gates_in() {
	local root=$1/root file=$2
	local -a options=()
	shift 2
	while [ "$1" != -- ]; do
		options+=("$1") && shift
	done
	shift
	within "$root" --ro-bind "$HERE/image-steps/gates.py" /tmp/gates.py --setenv MPLCONFIGDIR /tmp/home "${options[@]}" -- \
		python3 -I /tmp/gates.py "$@" >"$file"
}

# What they printed as one object.
gates_of() {
	jq -s --arg fips "$(cat /proc/sys/crypto/fips_enabled 2>/dev/null || echo 0)" '{gates: map(select(.gate)),
		base: ((map(select(.base))[0].base // {}) + {kernel_fips: ($fips == "1")})}' "$1"
}

# What failed, what was not run, and on which base, for a person. gates_tell OBJECT SET
gates_tell() {
	jq -r --arg set "$2" '.gates[] | select(.ok == false or (.ok == null and $set == "full")) | "image: \(if .ok == null then "not run" else "FAILED" end): \(.gate): \(.text)"' <<<"$1" >&2
	say "$(jq -r '"\(.gates | map(select(.ok)) | length) gates passed on \(.base.os), \(.base.machine), \(.base.openssl), FIPS: OpenSSL \(.base.openssl_fips), kernel \(.base.kernel_fips)"' <<<"$1")"
}

# OpenSSL's configuration with a FIPS provider: whatever is asked for to protect something comes from it or is refused; the default
# provider stays for what is asked for otherwise (usedforsecurity=False). The module's digest is what OpenSSL compares it with before it
# tests itself: HMAC-SHA256 under a key that is no secret, as "openssl fipsinstall" writes it.
fips_conf() {
	local mac
	# shellcheck disable=SC2016 # Python's
	mac=$(within "$1/root" --ro-bind "$FIPS" /tmp/fips.so -- python3 -I -c 'import hmac
key = bytes.fromhex("f4556650ac31d35461610bac4ed81b1a181b2d8a43ea2854cbae22ca74560813")
print(hmac.digest(key, open("/tmp/fips.so", "rb").read(), "sha256").hex(":").upper())') || die 1 "the digest of $FIPS cannot be made"
	cat <<-END
		openssl_conf = kz
		[kz]
		providers = providers
		alg_section = algorithms
		[providers]
		fips = fips
		base = active
		default = active
		[fips]
		module = /tmp/fips.so
		activate = 1
		conditional-errors = 1
		security-checks = 1
		module-mac = $mac
		[active]
		activate = 1
		[algorithms]
		default_properties = fips=yes
	END
}

# The same gates with OpenSSL held to FIPS; the first one is that it is. fips_gates DIR FILE NAME...
fips_gates() {
	local dir=$1 file=$2 status=0
	shift 2
	fips_conf "$dir" >"$file.conf"
	gates_in "$dir" "$file" --ro-bind "$FIPS" /tmp/fips.so --ro-bind "$file.conf" /tmp/openssl.cnf --setenv OPENSSL_CONF /tmp/openssl.cnf -- --fips "$@" ||
		status=$?
	rm "$file.conf"
	return $status
}

gates() {
	local dir=$1 status=0 arch set own fips=null
	local -a names
	arch=$(jq -r .architecture "$dir/manifest.json")
	set=$(jq -r .set "$dir/manifest.json")
	can_run "$arch"
	[ -z "$FIPS" ] || [ -r "$FIPS" ] || die 66 "there is no module $FIPS"
	mapfile -t names < <(gate_names "$dir")
	gates_in "$dir" "$dir/gates.new" -- "${names[@]}" || status=$?
	own=$(gates_of "$dir/gates.new")
	gates_tell "$own" "$set"
	case $arch:$(jq -r .base.machine <<<"$own") in
	amd64:x86_64 | arm64:aarch64) ;;
	*) say "programs of this image are not for $arch" && status=1 ;;
	esac
	if [ -n "$FIPS" ]; then
		fips_gates "$dir" "$dir/gates.new" "${names[@]}" || status=$?
		fips=$(gates_of "$dir/gates.new" | jq --arg sum "$(sha256sum <"$FIPS" | cut -d' ' -f1)" '. + {module_sha256: $sum}')
		gates_tell "$fips" "$set"
	fi
	rm "$dir/gates.new"
	jq -n --argjson own "$own" --argjson fips "$fips" '{v: 1} + $own + if $fips then {fips: $fips} else {} end' >"$dir/gates.json"
	chmod 644 "$dir/gates.json"
	[ $status -eq 0 ] || die 1 "a gate failed (status $status)"
	[ ! -e "$dir/root/usr/bin/npm" ] || within "$dir/root" -- npm --version >/dev/null || die 1 "npm does not start"
}
