#!/usr/bin/env bats
# weight 45
# The egress decision over its tables: every spelling in every mode, every edge of every block.

setup() {
	cd "$BATS_TEST_DIRNAME/../.."
	decide=$PWD/build/tests/tool/decide
	table=tests/golden/egress-authority.tsv
	cases=$(grep -vc '^#' $table)
}

# judged MODE: each case of the table has its verdict in this mode.
judged() {
	run "$decide" table $table "$1"
	echo "$output"
	[ "$status" = 0 ]
	[ "$output" = "$cases cases" ]
}

@test "POL-1 PROXY-8 the table holds at least 200 destinations and every kind of verdict" {
	[ "$cases" -ge 200 ]
	local verdict
	for verdict in allow lookup invalid_target numeric_host invalid_port port_not_allowed special_name dns_empty dns_too_many; do
		cut -f4 $table | grep -qx $verdict
	done
	# Each class that a row of addresses.tbl can have, but the one that is allowed here.
	for verdict in $(sed -n 's/^class \([a-z_]*\) .*/\1/p' policy/addresses.tbl); do
		cut -f4,5 $table | grep -qw "address_$verdict"
	done
}

@test "POL-1 PROXY-5 PROXY-7 PROXY-8 every destination in isolated" {
	judged isolated
	# Nothing but what is malformed gets as far as another reason.
	run bash -c "grep -v '^#' $table | cut -f3 | sort -u"
	[ "$output" = $'invalid_port\ninvalid_target\nmode_isolated\nnumeric_host' ]
}

@test "POL-1 POL-5 PROXY-5 PROXY-7 PROXY-8 every destination in public_internet" {
	judged public_internet
}

@test "POL-1 POL-3 POL-4 PROXY-5 every destination in private_network" {
	judged private_network
}

@test "POL-1 POL-14 POL-15 PROXY-5 every destination in host_allowlist, listed and not listed" {
	judged host_allowlist
}

@test "POL-3 a protected address is refused in every mode alike" {
	local protected
	protected=$(sed -n 's/^class \([a-z_]*\) | always .*/address_\1/p' policy/addresses.tbl | paste -sd'|')
	# What public_internet refuses for such a class, no mode allows.
	run bash -c "grep -v '^#' $table | cut -f4-6 | grep -E '^($protected)' | grep -cE 'allow|lookup'"
	[ "$output" = 0 ]
	run bash -c "grep -v '^#' $table | cut -f4-6 | grep -cE '^($protected)'"
	[ "$output" -ge 80 ]
}

@test "PROXY-8 a wrong verdict in the table is found" {
	sed '/^127.0.0.1:8443\t/s/address_loopback/allow/' $table >"$BATS_TEST_TMPDIR/wrong"
	run "$decide" table "$BATS_TEST_TMPDIR/wrong" public_internet
	[ "$status" = 1 ]
	[ "${lines[0]}" = "public_internet 127.0.0.1:8443: want allow, got address_loopback (loopback)" ]
}

@test "POL-7 POL-8 the resolver's inputs are settings and what this machine has, nothing of a member, a tool or a model" {
	run bash -c "sed -n '/^struct kz_scope_config {/,/^};/p' lib/rule/scope.h | sed 's,/\\*.*\\*/,,' | tr -c 'a-z_' '\n' |
		grep -xvE 'struct|kz_scope_config|const|char|bool|' | sort | paste -sd' '"
	[ "$output" = "cidrs deny_cidrs enabled has_field_key has_proxy hosts is_cidrs_own mode ports ttl" ]
	grep -q '^enum kz_reason kz_scope_resolve(const struct kz_scope_config \*c, struct kz_scope \*out);' lib/rule/scope.h
	# Nor does it look elsewhere: check-layers bans files, the environment and the clock in rules.
}

# Edges as an independent reading of the table finds them; SEED makes one run again.
edges() {
	local seed=${SEED:-$RANDOM}
	echo "SEED=$seed"
	python3 tests/tool/addresses.py "$1" "$seed" >"$BATS_TEST_TMPDIR/want"
	cut -f1 "$BATS_TEST_TMPDIR/want" | "$decide" classify >"$BATS_TEST_TMPDIR/got"
	cut -f2- "$BATS_TEST_TMPDIR/want" | tr '\t' ' ' | diff - "$BATS_TEST_TMPDIR/got" | head -20
	return "${PIPESTATUS[2]}"
}

@test "POL-3 POL-4 POL-5 the first, the last and their neighbours of every block, in every spelling" {
	edges policy/addresses.tbl
	[ "$(wc -l <"$BATS_TEST_TMPDIR/want")" -ge 4000 ]
	# Every row has its first address among them.
	[ "$(cut -f3 "$BATS_TEST_TMPDIR/want" | sort -u | wc -l)" = "$(grep -c '^class ' policy/addresses.tbl)" ]
}

@test "POL-5 a block that is one bit too long is found at its edge" {
	sed 's,^172.16.0.0/12 ,172.16.0.0/13 ,' policy/addresses.tbl >"$BATS_TEST_TMPDIR/wrong.tbl"
	run edges "$BATS_TEST_TMPDIR/wrong.tbl"
	[ "$status" != 0 ]
	[[ $output == *"< 172.24.0.0 public"* ]]
}

# explained MODE: kz-grant explain says of every case what the table says.
explained() {
	local -a alone=(unshare --net)
	[ "$(id -u)" = 0 ] || alone=(unshare --map-root-user --net)
	cd "$BATS_TEST_TMPDIR"
	KZ_BIN=${KZ_BIN:-$OLDPWD/build/bin} run "${alone[@]}" "$BATS_TEST_DIRNAME/explain-table.bash" "$1" "$BATS_TEST_DIRNAME/../golden/egress-authority.tsv"
	echo "$output"
	[ "$status" = 0 ]
	[[ $output =~ ^([0-9]+)\ cases$ ]]
	# All but the few that cannot be an argument, or are a URL.
	[ "${BASH_REMATCH[1]}" -ge $((cases - 10)) ]
}

@test "INV-32 ADM-3 kz-grant explain agrees in isolated" {
	explained isolated
}

@test "INV-32 ADM-3 kz-grant explain agrees in public_internet" {
	explained public_internet
}

@test "INV-32 ADM-3 kz-grant explain agrees in private_network" {
	explained private_network
}

@test "INV-32 ADM-3 POL-14 kz-grant explain agrees in host_allowlist" {
	explained host_allowlist
}

# modelled TABLE: 20000 random policies and destinations come to what the model says; SEED makes one run again.
modelled() {
	local seed=${SEED:-$RANDOM}
	echo "SEED=$seed"
	export PYTHONDONTWRITEBYTECODE=1
	python3 tests/tool/decide-model.py "$1" "$seed" 20000 >"$BATS_TEST_TMPDIR/want"
	cut -f1-10 "$BATS_TEST_TMPDIR/want" | "$decide" ask >"$BATS_TEST_TMPDIR/got"
	! paste "$BATS_TEST_TMPDIR/want" "$BATS_TEST_TMPDIR/got" | awk -F'\t' '$11 != $12 && n++ < 20' | grep .
}

@test "INV-28 INV-32 POL-7 random policies and destinations: a second reading of the rules agrees" {
	modelled policy/addresses.tbl
	[ "$(wc -l <"$BATS_TEST_TMPDIR/got")" = 20000 ]
	# Hardly a reason that none of them has, and enough that pass.
	[ "$(sort -u "$BATS_TEST_TMPDIR/got" | wc -l)" -ge 28 ]
	[ "$(grep -c '^allow$' "$BATS_TEST_TMPDIR/got")" -ge 200 ]
}

@test "INV-32 a model that differs in one block is found" {
	sed 's,^10.0.0.0/8 ,10.0.0.0/16 ,' policy/addresses.tbl >"$BATS_TEST_TMPDIR/wrong.tbl"
	run modelled "$BATS_TEST_TMPDIR/wrong.tbl"
	[ "$status" != 0 ]
}

@test "INV-32 ADM-3 random policies and destinations: kz-grant explain agrees" {
	local -a alone=(unshare --net)
	[ "$(id -u)" = 0 ] || alone=(unshare --map-root-user --net)
	modelled policy/addresses.tbl
	head -500 "$BATS_TEST_TMPDIR/want" >"$BATS_TEST_TMPDIR/few"
	cd "$BATS_TEST_TMPDIR"
	run "${alone[@]}" python3 "$BATS_TEST_DIRNAME/explain-model.py" "${KZ_BIN:-$OLDPWD/build/bin}/kz-grant" few
	echo "$output"
	[ "$status" = 0 ]
	[[ $output =~ ^([0-9]+)\ cases$ ]]
	[ "${BASH_REMATCH[1]}" -ge 150 ]
}
