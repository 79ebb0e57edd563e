# shellcheck shell=bash
# manifest.bash: what an image holds: its list of files, packages and distributions, licences, gates, digest, table.

# Python distributions as a JSON list: name, version, imports, debian (the package that it comes from, or null).
inventory() {
	within "$1" --ro-bind "$HERE/image-steps/inventory.py" /tmp/inventory.py -- python3 -I /tmp/inventory.py | jq . ||
		die 1 "the image cannot tell which Python distributions it has"
}

# Debian's packages as a JSON list, and what was left out.
packages() {
	dpkg-query "--admindir=$1/var/lib/dpkg" -W -f '${db:Status-Status}\t${Package}\t${Version}\n' | awk -F'\t' '$1 == "installed"' | sort -u |
		jq -Rn '[inputs | split("\t") | {name: .[1], version: .[2]}]'
}

# The licence texts of every distribution at one place [IMG-8].
licences() {
	local root=$1 name debian place missed=0 into
	place=$root/usr/share/licenses/kaizen-sandbox-python
	while IFS=$'\t' read -r name debian; do
		into=$place/$name
		mkdir -p "$into"
		if [ "$debian" != - ]; then
			cp -L "$root/usr/share/doc/$debian/copyright" "$into/copyright" 2>/dev/null || missed=1
		else
			find "$root"/usr/local/lib/python3*/dist-packages -path "*.dist-info/*" \
				\( -iname '*licen[cs]e*' -o -iname 'copying*' -o -iname 'notice*' -o -path '*.dist-info/licenses/*' \) -type f -print0 |
				while IFS= read -r -d '' file; do
					[ "$(sed -n 's/^Name: *//p;/^$/q' "${file%%.dist-info/*}.dist-info/METADATA")" != "$name" ] ||
						cp "$file" "$into/$(basename "$file")"
				done
		fi
		if [ -z "$(ls -A "$into")" ]; then
			say "no licence text of $name"
			missed=1
		fi
	done < <(jq -r '.[] | [.name, .debian // "-"] | @tsv' "$WORK/distributions.json")
	[ $missed -eq 0 ] || die 1 "licence texts are missing"
}

# One line an entry, by name: type, mode, size, SHA-256 or target, name. Directories have size 0.
list_files() {
	local root=$1
	{
		(cd "$root" && find . -xdev -type f -print0 | sort -z | xargs -0 -r sha256sum -z) | tr '\0' '\n' |
			sed -E 's/^([0-9a-f]{64})  \.\/(.*)$/h\t\1\t\2/'
		find "$root" -xdev -mindepth 1 -printf '%y\t%#m\t%s\t%l\t%P\n'
	} | awk -F'\t' -v OFS='\t' '
		$1 == "h" { hash[$3] = $2; next }
		$1 == "f" { print $1, $2, $3, hash[$5], $5 }
		$1 == "d" { print $1, $2, 0, "-", $5 }
		$1 == "l" { print $1, "0777", length($4), $4, $5 }' | sort -t $'\t' -k 5,5
}

write_manifest() {
	local dir=$1
	list_files "$dir/root" >"$dir/files.tsv"
	jq -nS --arg suite "$SUITE" --arg arch "$ARCH" --arg set "$SET" --arg epoch "$SOURCE_DATE_EPOCH" \
		--arg lock "$([ -z "$LOCK" ] || sha256sum <"$LOCK" | cut -d' ' -f1)" \
		--arg sum "$(sha256sum <"$dir/files.tsv" | cut -d' ' -f1)" \
		--argjson count "$(wc -l <"$dir/files.tsv")" --argjson bytes "$(awk -F'\t' '$1 == "f" { n += $3 } END { printf "%d", n }' "$dir/files.tsv")" \
		--slurpfile packages "$WORK/packages.json" --slurpfile distributions "$WORK/distributions.json" '
		{v: 1, type: "image", suite: $suite, architecture: $arch, set: $set, epoch: ($epoch | tonumber),
		 lock_sha256: (if $lock == "" then null else $lock end),
		 packages: ($packages[0] | map(select(.version != "9999"))), left_out: ($packages[0] | map(select(.version == "9999").name)),
		 distributions: $distributions[0], files: {name: "files.tsv", sha256: $sum, count: $count, bytes: $bytes}}' >"$dir/manifest.json"
	chmod 644 "$dir/files.tsv" "$dir/manifest.json"
}

# The digest of an image is that of its manifest, which names that of the list, which names that of every file.
digest() {
	echo "sha256:$(sha256sum <"$1/manifest.json" | cut -d' ' -f1)"
}

verify() {
	local dir=$1 sum now status=0
	sum=$(sha256sum <"$dir/files.tsv" | cut -d' ' -f1)
	[ "$sum" = "$(jq -r .files.sha256 "$dir/manifest.json")" ] || die 1 "the list of files is not the manifest's"
	now=$(mktemp -d)
	list_files "$dir/root" >"$now/files" || status=2
	[ $status -ne 0 ] || diff "$dir/files.tsv" "$now/files" >"$now/diff" || status=$?
	[ $status -ne 1 ] || sum=$(sed -n 's/^[<>] //p' "$now/diff" | cut -f5 | sort -u | sed -n '1,20p' | tr '\n' ' ')
	rm -r "$now"
	[ $status -ne 1 ] || die 1 "altered, gone or new: $sum"
	[ $status -eq 0 ] || die 1 "the files cannot be listed and compared"
	say "every file is as the manifest says"
	digest "$dir"
}

# policy/bundled_python.json [IMG-9]: what is promised, then what else the image has. Versions are the image's own to tell.
table() {
	promised | jq -Rnr --slurpfile m "$1/manifest.json" '
		def key: ascii_downcase | gsub("[-_.]+"; "-");
		$m[0] as $i | [inputs | split("|") | {name: .[0], imports: (.[1] | split(",")), debian: (if .[2] == "-" then null else .[2] end), why: .[3]}] as $p
		| ($p | map(.name | key)) as $known
		| [($p[] | (.name | key) as $k | ([$i.distributions[] | select((.name | key) == $k)] | first) as $d
			| {name, version: null, imports, debian, baked: ($d != null), promised: true} + (if $d then {} else {why} end)),
			($i.distributions[] | select(.name | key | IN($known[]) | not) | {name, version: null, imports, debian, baked: true, promised: false})]
		| "{\"v\":1,\"suite\":\($i.suite | tojson),\"distributions\":[", (map(tojson) | join(",\n")), "]}"'
}
