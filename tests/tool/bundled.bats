#!/usr/bin/env bats
# The tables of what a worker image has, held to each other and to docs/image.md; no image is needed.

bats_require_minimum_version 1.5.0

TOP=$BATS_TEST_DIRNAME/../..

# Names in one form, of rows whose second field is one of those given.
rest() { awk -F ' *[|] *' -v want="$1" '!/^#/ && index(want, $2) { print tolower($1) }' "$TOP/policy/bundled_rest.tbl" | tr '_.' '--' | sort; }
promised() { awk -F ' *[|] *' '!/^#/ { print tolower($1) }' "$TOP/policy/bundled_python.tbl" | tr '_.' '--' | sort; }

@test "IMG-1 the promised 16 and what they require upstream are 31 distributions" {
	[ "$(promised | uniq | wc -l)" -eq 16 ]
	[ "$({ promised && rest "both upstream"; } | sort -u | wc -l)" -eq 31 ]
	[ -z "$({ promised && rest "both upstream debian"; } | sort | uniq -d)" ]
}

@test "IMG-1 IMG-9 Debian's set is those 31, less what it lacks, with what its packages bring: each one is in the table" {
	local baked
	baked=$(jq -r '.distributions[] | select(.baked).name | ascii_downcase | gsub("[_.]+"; "-")' "$TOP/policy/bundled_python.json" | sort)
	[ "$(wc -l <<<"$baked")" -eq 43 ]
	diff <({ promised | grep -vxF python-pptx && rest "both debian"; } | sort) - <<<"$baked"
}

@test "IMG-1 docs/image.md tells of each distribution in which the two differ, and of no other" {
	diff <(awk -F ' *[|] *' '/^\| distribution \| only in/ { on = 1; next } !/^\|/ { on = 0 } on && !/---/ { print $2 "|" $3 "|" $4 }' "$TOP/docs/image.md" | tr -d '`' | sort) \
		<({ echo "python-pptx|upstream|-" && awk -F ' *[|] *' '!/^#/ && $2 != "both" { print $1 "|" $2 "|" $3 }' "$TOP/policy/bundled_rest.tbl"; } | sort)
}

@test "IMG-7 humanize and folium are in neither" {
	run ! grep -qxE "humanize|folium" <({ promised && rest "both upstream debian"; })
}

@test "IMG-13 nothing is fetched but by apt, which checks signatures, and by pip, which checks the lock's digests" {
	local files=("$TOP/scripts/image" "$TOP"/scripts/image-steps/*)
	run ! grep -nE '\b(curl|wget|git (clone|fetch)|rsync|scp|urlopen|urlretrieve|http\.client|allow-unauthenticated|allow-insecure|trusted-host)\b' "${files[@]}"
	# one step has a network of its own, and it requires the digests
	[ "$(grep -l -- '--share-net' "${files[@]}")" = "$TOP/scripts/image-steps/lock.bash" ]
	[ "$(grep -c -- '--share-net' "$TOP/scripts/image-steps/lock.bash")" -eq 1 ]
	grep -q -- 'pip install --require-hashes --no-deps --only-binary :all:' "$TOP/scripts/image-steps/lock.bash"
	# what needs no signature is what the build has just made itself
	# shellcheck disable=SC2016 # as it stands there
	[ "$(grep -ho 'trusted=yes[^"]*' "${files[@]}")" = 'trusted=yes] copy://$WORK/left-out ./' ]
}
