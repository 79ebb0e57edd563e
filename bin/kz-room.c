/* kz-room: a small chat application, the counterpart of scope documents. */
#include "kz-room-verbs/verbs.h"

int main(int argc, char **argv)
{
	static const struct kz_verb verbs[] = {
		{ "init", KZ_INIT_SYNOPSIS, KZ_INIT_WHAT, kz_verb_init },
		{ "member", KZ_MEMBER_SYNOPSIS, KZ_MEMBER_WHAT, kz_verb_member },
		{ "project", KZ_PROJECT_SYNOPSIS, KZ_PROJECT_WHAT, kz_verb_project },
		{ "create", KZ_CREATE_SYNOPSIS, KZ_CREATE_WHAT, kz_verb_create },
		{ "join", KZ_JOIN_SYNOPSIS, KZ_JOIN_WHAT, kz_verb_join },
		{ "leave", KZ_LEAVE_SYNOPSIS, KZ_LEAVE_WHAT, kz_verb_leave },
		{ "upload", KZ_UPLOAD_SYNOPSIS, KZ_UPLOAD_WHAT, kz_verb_upload },
		{ "state", KZ_STATE_SYNOPSIS, KZ_STATE_WHAT, kz_verb_state },
		{ "link", KZ_LINK_SYNOPSIS, KZ_LINK_WHAT, kz_verb_link },
		{ "unlink", KZ_LINK_SYNOPSIS, KZ_UNLINK_WHAT, kz_verb_unlink },
		{ "select", KZ_SELECT_SYNOPSIS, KZ_SELECT_WHAT, kz_verb_select },
		{ "file", KZ_FILE_SYNOPSIS, KZ_FILE_WHAT, kz_verb_file },
		{ "withdraw", KZ_WITHDRAW_SYNOPSIS, KZ_WITHDRAW_WHAT, kz_verb_withdraw },
		{ "grant", KZ_GRANT_SYNOPSIS, KZ_GRANT_WHAT, kz_verb_grant },
		{ "turn", KZ_TURN_SYNOPSIS, KZ_TURN_WHAT, kz_verb_turn },
		{ "scope", KZ_SCOPE_SYNOPSIS, KZ_SCOPE_WHAT, kz_verb_scope },
		{ "audience", KZ_AUDIENCE_SYNOPSIS, KZ_AUDIENCE_WHAT, kz_verb_audience },
		{ "outputs", KZ_OUTPUTS_SYNOPSIS, KZ_OUTPUTS_WHAT, kz_verb_outputs },
		{ "journal", KZ_JOURNAL_SYNOPSIS, KZ_JOURNAL_WHAT, kz_verb_journal },
		{ NULL, NULL, NULL, NULL },
	};
	struct kz_cli cli;

	kz_main_start(&cli, "kz-room");
	return kz_main_verbs(&cli, "a small chat application, for tests and as an example", verbs,
			     argc, argv);
}
