/* kz-lease: acquire, renew, release, show and list leases; hold one around a program. */
#include "kz-lease-verbs/verbs.h"

int main(int argc, char **argv)
{
	static const struct kz_verb verbs[] = {
		{ "acquire", KZ_ACQUIRE_SYNOPSIS, KZ_ACQUIRE_WHAT, kz_verb_acquire },
		{ "renew", KZ_RENEW_SYNOPSIS, KZ_RENEW_WHAT, kz_verb_renew },
		{ "release", KZ_RELEASE_SYNOPSIS, KZ_RELEASE_WHAT, kz_verb_release },
		{ "show", KZ_SHOW_SYNOPSIS, KZ_SHOW_WHAT, kz_verb_show },
		{ "list", KZ_LIST_SYNOPSIS, KZ_LIST_WHAT, kz_verb_list },
		{ "with", KZ_WITH_SYNOPSIS, KZ_WITH_WHAT, kz_verb_with },
		{ NULL, NULL, NULL, NULL },
	};
	struct kz_cli cli;

	kz_main_start(&cli, "kz-lease");
	return kz_main_verbs(&cli, "leases of workers", verbs, argc, argv);
}
