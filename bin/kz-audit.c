/* kz-audit: list, show, verify, export and rotate the audit store; receipts of runs. */
#include <stddef.h>

#include "kz-audit-verbs/verbs.h"

int main(int argc, char **argv)
{
	static const struct kz_verb verbs[] = {
		{ "list", KZ_LIST_SYNOPSIS, KZ_LIST_WHAT, kz_verb_list },
		{ "show", KZ_SHOW_SYNOPSIS, KZ_SHOW_WHAT, kz_verb_show },
		{ "verify", KZ_VERIFY_SYNOPSIS, KZ_VERIFY_WHAT, kz_verb_verify },
		{ "export", KZ_EXPORT_SYNOPSIS, KZ_EXPORT_WHAT, kz_verb_export },
		{ "receipt", KZ_RECEIPT_SYNOPSIS, KZ_RECEIPT_WHAT, kz_verb_receipt },
		{ "check-receipt", KZ_CHECK_RECEIPT_SYNOPSIS, KZ_CHECK_RECEIPT_WHAT,
		  kz_verb_check_receipt },
		{ "rotate", KZ_ROTATE_SYNOPSIS, KZ_ROTATE_WHAT, kz_verb_rotate },
		{ NULL, NULL, NULL, NULL },
	};
	struct kz_cli cli;

	kz_main_start(&cli, "kz-audit");
	return kz_main_verbs(&cli, "read and check the audit store", verbs, argc, argv);
}
