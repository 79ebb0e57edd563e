#!/usr/bin/env bash
# explain-table MODE TABLE: ask kz-grant explain for each line of the table, in a network namespace of
# its own (unshare --net, so that no address of this machine is among those of the table).  Says each line that is judged otherwise than
# the column of the mode says; ends with "N cases".  Needs KZ_BIN; works in the current directory.
set -euo pipefail
mode=$1
table=$2
column=$(($(printf '%s\n' isolated public_internet private_network host_allowlist | grep -nx "$mode" | cut -d: -f1) + 2))
export KZ_STATE=$PWD/state
mkdir -p state/env
put() { printf '%s\n' "$2" >"state/env/$1"; }
put SANDBOX_EGRESS_ENABLED true
put SANDBOX_EGRESS_MODE "$mode"
put SANDBOX_EGRESS_ALLOWED_PORTS 80,443,8443
put SANDBOX_EGRESS_TOKEN_TTL_SECONDS 600
put SANDBOX_EGRESS_PRIVATE_CIDRS 10.0.0.0/8,172.16.0.0/12,192.168.0.0/16,fc00::/7,100.64.0.0/10
[ "$mode" != host_allowlist ] || put SANDBOX_EGRESS_PRIVATE_CIDRS 10.0.0.0/8,fd00::/8,fc00::/8
# That a key is there is all that explain asks; nothing is signed.
mkdir -p state/keys
touch state/keys/field.key state/keys/grant.key
put KZ_PROXY_URL unix:run/proxy/proxy.sock

# A target's host as an entry of a list: without port, brackets and case.
entry() {
	local host=${1%:*}
	host=${host#[}
	printf '%s' "${host%]}"
}

cases=0
while IFS=$'\037' read -r authority answers a b c d what; do
	[[ $authority != \#* ]] || continue
	verdicts=("" "" "" "$a" "$b" "$c" "$d")
	want=${verdicts[column]}
	# A NUL cannot be an argument; a path or a scheme makes a URL of it, of which another part is the authority.
	[[ $authority != *'\x00'* && $authority != *[/?#]* ]] || continue
	printf -v target '%b' "$authority"
	options=()
	case $answers in
	-) ;;
	none) options=(-r '') ;;
	count:*) options=(-r "$(seq -s, -f '8.8.8.%g' 1 "${answers#count:}")") ;;
	*) options=(-r "$answers") ;;
	esac
	case $want in
	invalid_* | numeric_host) host=pub.test ;;
	*) host=$(entry "$target") ;;
	esac
	put SANDBOX_EGRESS_HOST_ALLOWLIST "$host"
	status=0
	got=$("$KZ_BIN/kz-grant" explain "${options[@]}" -- "$target" 2>&1) || status=$?
	cases=$((cases + 1))
	case $want in
	allow) [ "$status" = 0 ] && [[ $got == *": allowed"* ]] ;;
	lookup) [ "$status" = 0 ] && [[ $got == *": would be looked up"* ]] ;;
	*) [ "$status" = 1 ] && [[ $got == *": refused: $want: "* ]] ;;
	esac || echo "$mode $authority ($what): want $want, got $status ${got%%$'\n'*}"
done < <(tr '\t' '\037' <"$table")
echo "$cases cases"
