/* Rooms: create, join, leave. */
#include "verbs.h"

int kz_verb_create(struct kz_cli *cli, int argc, char **argv)
{
	const char *db = NULL;
	struct kz_room *r = NULL;
	struct kz_json *out = NULL;
	int status;
	const char *project = NULL;
	bool is_private = false;
	const struct kz_opt opts[] = {
		{ 0, "private", KZ_OPT_FLAG, &is_private, NULL, "a private chat", 0, 0 },
		{ 0, "project", KZ_OPT_TEXT, &project, "PROJECT",
		  "the Project it is filed in, whose members see it", 0, 0 },
		KZ_ROOM_OPT_DB(&db),
		KZ_OPT_END,
	};
	const struct kz_usage usage = {
		"kz-room", "create", KZ_CREATE_SYNOPSIS, KZ_CREATE_WHAT, opts, 2, 2
	};
	char **word;
	enum kz_rc rc;

	if (!kz_room_start(cli, &usage, argc, argv, &db, &r, &status))
		return status;
	word = cli->operands;
	rc = kz_room_create(r, word[0], word[1], project, is_private, &out, &cli->err);
	return kz_room_finish(cli, r, rc, out);
}

int kz_verb_join(struct kz_cli *cli, int argc, char **argv)
{
	const char *db = NULL;
	struct kz_room *r = NULL;
	struct kz_json *out = NULL;
	int status;
	bool is_dry = false;
	const struct kz_opt opts[] = {
		{ 'n', "dry-run", KZ_OPT_FLAG, &is_dry, NULL, "only say what would be shared", 0,
		  0 },
		KZ_ROOM_OPT_DB(&db),
		KZ_OPT_END,
	};
	const struct kz_usage usage = { "kz-room", "join", KZ_JOIN_SYNOPSIS, KZ_JOIN_WHAT, opts,
					2,         2 };
	char **word;
	enum kz_rc rc;

	if (!kz_room_start(cli, &usage, argc, argv, &db, &r, &status))
		return status;
	word = cli->operands;
	rc = kz_room_join(r, word[0], word[1], is_dry ? KZ_ROOM_WOULD_JOIN : KZ_ROOM_JOIN, &out,
			  &cli->err);
	kz_room_warn(out);
	return kz_room_finish(cli, r, rc, out);
}

int kz_verb_leave(struct kz_cli *cli, int argc, char **argv)
{
	const char *db = NULL;
	struct kz_room *r = NULL;
	struct kz_json *out = NULL;
	int status;
	const struct kz_opt opts[] = {
		KZ_ROOM_OPT_DB(&db),
		KZ_OPT_END,
	};
	const struct kz_usage usage = { "kz-room", "leave", KZ_LEAVE_SYNOPSIS, KZ_LEAVE_WHAT, opts,
					2,         2 };
	char **word;
	enum kz_rc rc;

	if (!kz_room_start(cli, &usage, argc, argv, &db, &r, &status))
		return status;
	word = cli->operands;
	rc = kz_room_join(r, word[0], word[1], KZ_ROOM_LEAVE, &out, &cli->err);
	return kz_room_finish(cli, r, rc, out);
}
