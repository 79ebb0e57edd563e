/* kz-room: documents, links, selections. */
#include "verbs.h"

int kz_verb_upload(struct kz_cli *cli, int argc, char **argv)
{
	const char *db = NULL;
	struct kz_room *r = NULL;
	struct kz_json *out = NULL;
	int status;
	struct kz_room_upload u = { .owner = NULL };
	const struct kz_opt opts[] = {
		{ 0, "name", KZ_OPT_TEXT, &u.name, "NAME",
		  "what it is called (default: the last name of FILE)", 0, 0 },
		{ 0, "of", KZ_OPT_TEXT, &u.of, "DOCUMENT", "it is a new version of this one", 0,
		  0 },
		{ 0, "kind", KZ_OPT_TEXT, &u.kind, "KIND", "upload (default), artifact or native",
		  0, 0 },
		{ 0, "state", KZ_OPT_TEXT, &u.state, "STATE",
		  "ready (default), processing, failed or unreadable", 0, 0 },
		KZ_ROOM_OPT_DB(&db),
		KZ_OPT_END,
	};
	const struct kz_usage usage = {
		"kz-room", "upload", KZ_UPLOAD_SYNOPSIS, KZ_UPLOAD_WHAT, opts, 2, 2
	};
	char **word;
	enum kz_rc rc;

	if (!kz_room_start(cli, &usage, argc, argv, &db, &r, &status))
		return status;
	word = cli->operands;
	u.owner = word[0];
	u.file = word[1];
	rc = kz_room_upload(r, &u, &out, &cli->err);
	return kz_room_finish(cli, r, rc, out);
}

int kz_verb_state(struct kz_cli *cli, int argc, char **argv)
{
	const char *db = NULL;
	struct kz_room *r = NULL;
	struct kz_json *out = NULL;
	int status;
	const struct kz_opt opts[] = {
		KZ_ROOM_OPT_DB(&db),
		KZ_OPT_END,
	};
	const struct kz_usage usage = { "kz-room", "state", KZ_STATE_SYNOPSIS, KZ_STATE_WHAT, opts,
					2,         2 };
	char **word;
	enum kz_rc rc;

	if (!kz_room_start(cli, &usage, argc, argv, &db, &r, &status))
		return status;
	word = cli->operands;
	rc = kz_room_state(r, word[0], word[1], &out, &cli->err);
	return kz_room_finish(cli, r, rc, out);
}

int kz_verb_link(struct kz_cli *cli, int argc, char **argv)
{
	const char *db = NULL;
	struct kz_room *r = NULL;
	struct kz_json *out = NULL;
	int status;
	const struct kz_opt opts[] = {
		KZ_ROOM_OPT_DB(&db),
		KZ_OPT_END,
	};
	const struct kz_usage usage = { "kz-room", "link", KZ_LINK_SYNOPSIS, KZ_LINK_WHAT, opts,
					3,         3 };
	char **word;
	enum kz_rc rc;

	if (!kz_room_start(cli, &usage, argc, argv, &db, &r, &status))
		return status;
	word = cli->operands;
	rc = kz_room_link(r, word[0], word[1], word[2], false, &out, &cli->err);
	return kz_room_finish(cli, r, rc, out);
}

int kz_verb_unlink(struct kz_cli *cli, int argc, char **argv)
{
	const char *db = NULL;
	struct kz_room *r = NULL;
	struct kz_json *out = NULL;
	int status;
	const struct kz_opt opts[] = {
		KZ_ROOM_OPT_DB(&db),
		KZ_OPT_END,
	};
	const struct kz_usage usage = { "kz-room", "unlink", KZ_LINK_SYNOPSIS, KZ_UNLINK_WHAT, opts,
					3,         3 };
	char **word;
	enum kz_rc rc;

	if (!kz_room_start(cli, &usage, argc, argv, &db, &r, &status))
		return status;
	word = cli->operands;
	rc = kz_room_link(r, word[0], word[1], word[2], true, &out, &cli->err);
	return kz_room_finish(cli, r, rc, out);
}

int kz_verb_select(struct kz_cli *cli, int argc, char **argv)
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
		"kz-room", "select", KZ_SELECT_SYNOPSIS, KZ_SELECT_WHAT, opts, 2, -1
	};
	char **word;
	enum kz_rc rc;

	if (!kz_room_start(cli, &usage, argc, argv, &db, &r, &status))
		return status;
	word = cli->operands;
	rc = kz_room_select(r, word[0], word[1], (const char *const *)word + 2,
			    (size_t)cli->operand_count - 2, &out, &cli->err);
	return kz_room_finish(cli, r, rc, out);
}
