#!/usr/bin/env bats
# Completion in bash offers what the programs' own help names (ADM-9).
bats_require_minimum_version 1.5.0

setup() {
	cd "$BATS_TEST_DIRNAME/../.." || return 1
	PATH=$PWD/build/bin:$PATH
	export PATH KZ_STATE=$BATS_TEST_TMPDIR/none
	# shellcheck source=/dev/null
	. scripts/completion/kz
	compopt() { :; } # bash has it only while it completes
}

# offered WORD...: what is offered for the last word, which may be empty, one a line
offered() {
	# shellcheck disable=SC2034 # bash's names of these things
	COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
	COMPREPLY=()
	_kz
	printf '%s\n' "${COMPREPLY[@]}"
}

# The verbs, and the long options, that a help tells.
verbs() { "$1" -h | sed -n '/^verbs:/,/^$/s/^  \([a-z-]*\) .*/\1/p' | sort; }
options() { "$@" -h | grep -o -- '--[a-z][a-z-]*' | sort -u; }

@test "ADM-9: verbs are offered alike for kz-X and kz X, all of them" {
	local x
	for x in lease grant audit native project workspace room; do
		[ -n "$(verbs kz-$x)" ]
		diff <(verbs kz-$x) <(offered kz-$x '' | sort)
		diff <(verbs kz-$x) <(offered kz $x '' | sort)
	done
	diff <(verbs kz) <(offered kz '' | grep -vx -e run -e lease -e reset -e grant -e audit -e native -e project -e workspace -e mcp -e room | sort)
}

@test "ADM-9: options are offered alike for kz-X and kz X, all of them" {
	diff <(options kz-run) <(offered kz-run -- | sort)
	diff <(options kz-run) <(offered kz run -- | sort)
	diff <(options kz-grant mint) <(offered kz-grant mint -- | sort)
	diff <(options kz-grant mint) <(offered kz grant mint -- | sort)
	diff <(options kz down) <(offered kz down -- | sort)
	diff <(options kz-mcp) <(offered kz mcp -- | sort)
}

@test "ADM-9: bash finds the completion of each program that a user calls, by its name" {
	local page x
	for page in docs/man/*.1; do
		x=$(basename "$page" .1)
		# shellcheck source=/dev/null
		(complete -r; . "scripts/completion/$x" && complete -p "$x") || { echo "$x has none"; false; }
		[ "$x" = kz ] || offered kz '' | grep -qx "${x#kz-}"
	done
}

@test "ADM-2: settings and the modes of the network are offered" {
	offered kz config set SANDBOX_EGRESS_M | grep -qx SANDBOX_EGRESS_MODE=
	# bash makes words of NAME, = and VALUE
	offered kz config set KZ_RUN_PIDS = 9 SANDBOX_EGRESS_M | grep -qx SANDBOX_EGRESS_MODE=
	[ "$(offered kz config set SANDBOX_EGRESS_MODE = p)" = $'public_internet\nprivate_network' ]
	[ "$(offered kz config set SANDBOX_EGRESS_MODE = | wc -l)" = 4 ]
}
