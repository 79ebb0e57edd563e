/* kz-workspace: the files that a member keeps between the runs of one conversation. */
#include "kz-workspace-verbs/lines.h"
#include "kz-workspace-verbs/verbs.h"

int main(int argc, char **argv)
{
	static const struct kz_verb verbs[] = {
		{ "list", KZ_LIST_SYNOPSIS, KZ_LIST_WHAT, kz_verb_list },
		{ "get", KZ_GET_SYNOPSIS, KZ_GET_WHAT, kz_verb_get },
		{ "put", KZ_PUT_SYNOPSIS, KZ_PUT_WHAT, kz_verb_put },
		{ "rm", KZ_RM_SYNOPSIS, KZ_RM_WHAT, kz_verb_rm },
		{ "export", KZ_EXPORT_SYNOPSIS, KZ_EXPORT_WHAT, kz_verb_export },
		{ "import", KZ_IMPORT_SYNOPSIS, KZ_IMPORT_WHAT, kz_verb_import },
		{ "read", KZ_READ_SYNOPSIS, KZ_READ_WHAT, kz_verb_read },
		{ "edit", KZ_EDIT_SYNOPSIS, KZ_EDIT_WHAT, kz_verb_edit },
		{ "prune", KZ_PRUNE_SYNOPSIS, KZ_PRUNE_WHAT, kz_verb_prune },
		{ NULL, NULL, NULL, NULL },
	};
	struct kz_cli cli;

	kz_main_start(&cli, "kz-workspace");
	return kz_main_verbs(&cli, "files that stay from run to run", verbs, argc, argv);
}
