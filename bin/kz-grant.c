/* kz-grant: what may be reached, and the signed grants that say so. */
#include "kz-grant-verbs/verbs.h"

int main(int argc, char **argv)
{
	static const struct kz_verb verbs[] = {
		{ "scope", KZ_SCOPE_SYNOPSIS, KZ_SCOPE_WHAT, kz_verb_scope },
		{ "explain", KZ_EXPLAIN_SYNOPSIS, KZ_EXPLAIN_WHAT, kz_verb_explain },
		{ "mint", KZ_MINT_SYNOPSIS, KZ_MINT_WHAT, kz_verb_mint },
		{ "verify", KZ_VERIFY_SYNOPSIS, KZ_VERIFY_WHAT, kz_verb_verify },
		{ "revoke", KZ_REVOKE_SYNOPSIS, KZ_REVOKE_WHAT, kz_verb_revoke },
		{ "keys", KZ_KEYS_SYNOPSIS, KZ_KEYS_WHAT, kz_verb_keys },
		{ NULL, NULL, NULL, NULL },
	};
	struct kz_cli cli;

	kz_main_start(&cli, "kz-grant");
	return kz_main_verbs(&cli, "egress: the scope in force, and grants", verbs, argc, argv);
}
