/* kz-project: which files of a chat a run may see, and the files themselves. */
#include "kz-project-verbs/verbs.h"

int main(int argc, char **argv)
{
	static const struct kz_verb verbs[] = {
		{ "resolve", KZ_RESOLVE_SYNOPSIS, KZ_RESOLVE_WHAT, kz_verb_resolve },
		{ "stage", KZ_STAGE_SYNOPSIS, KZ_STAGE_WHAT, kz_verb_stage },
		{ "verify", KZ_VERIFY_SYNOPSIS, KZ_VERIFY_WHAT, kz_verb_verify },
		{ "grant", KZ_GRANT_SYNOPSIS, KZ_GRANT_WHAT, kz_verb_grant },
		{ NULL, NULL, NULL, NULL },
	};
	struct kz_cli cli;

	kz_main_start(&cli, "kz-project");
	return kz_main_verbs(&cli, "read-only files of a chat: decide, stage, verify", verbs, argc,
			     argv);
}
