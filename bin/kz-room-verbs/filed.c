/* What is filed in a Project: file, withdraw, grant. */
#include "verbs.h"

int kz_verb_file(struct kz_cli *cli, int argc, char **argv)
{
	const char *db = NULL;
	struct kz_room *r = NULL;
	struct kz_json *out = NULL;
	int status;
	bool is_private = false;
	const struct kz_opt opts[] = {
		{ 0, "private", KZ_OPT_FLAG, &is_private, NULL, "a pointer that grants nothing", 0,
		  0 },
		KZ_ROOM_OPT_DB(&db),
		KZ_OPT_END,
	};
	const struct kz_usage usage = { "kz-room", "file", KZ_FILE_SYNOPSIS, KZ_FILE_WHAT, opts,
					3,         3 };
	char **word;
	enum kz_rc rc;

	if (!kz_room_start(cli, &usage, argc, argv, &db, &r, &status))
		return status;
	word = cli->operands;
	rc = kz_room_file(r, word[0], word[1], word[2], !is_private, &out, &cli->err);
	return kz_room_finish(cli, r, rc, out);
}

int kz_verb_withdraw(struct kz_cli *cli, int argc, char **argv)
{
	const char *db = NULL;
	struct kz_room *r = NULL;
	struct kz_json *out = NULL;
	int status;
	const struct kz_opt opts[] = {
		KZ_ROOM_OPT_DB(&db),
		KZ_OPT_END,
	};
	const struct kz_usage usage = {
		"kz-room", "withdraw", KZ_WITHDRAW_SYNOPSIS, KZ_WITHDRAW_WHAT, opts, 3, 3
	};
	char **word;
	enum kz_rc rc;

	if (!kz_room_start(cli, &usage, argc, argv, &db, &r, &status))
		return status;
	word = cli->operands;
	rc = kz_room_withdraw(r, word[0], word[1], word[2], &out, &cli->err);
	return kz_room_finish(cli, r, rc, out);
}

int kz_verb_grant(struct kz_cli *cli, int argc, char **argv)
{
	const char *db = NULL;
	struct kz_room *r = NULL;
	struct kz_json *out = NULL;
	int status;
	const char *right = "read";
	const struct kz_opt opts[] = {
		{ 0, "right", KZ_OPT_TEXT, &right, "RIGHT",
		  "read (default), write, rename, publish, delete, fork, reshare", 0, 0 },
		KZ_ROOM_OPT_DB(&db),
		KZ_OPT_END,
	};
	const struct kz_usage usage = { "kz-room", "grant", KZ_GRANT_SYNOPSIS, KZ_GRANT_WHAT, opts,
					3,         3 };
	char **word;
	enum kz_rc rc;

	if (!kz_room_start(cli, &usage, argc, argv, &db, &r, &status))
		return status;
	word = cli->operands;
	rc = kz_room_grant(r, word[0], word[1], word[2], right, &out, &cli->err);
	return kz_room_finish(cli, r, rc, out);
}
