/* kz-room: init, members, Projects. */
#include <stdio.h>
#include <stdlib.h>

#include "base/log.h"
#include "verbs.h"

static enum kz_rc database(struct kz_cli *cli, const char **db)
{
	if (!*db)
		*db = getenv("KZ_ROOM_DB");
	return *db && **db ?
		       KZ_OK :
		       kz_err_set(&cli->err, KZ_E_USAGE, "no database: give --db or KZ_ROOM_DB");
}

bool kz_room_start(struct kz_cli *cli, const struct kz_usage *u, int argc, char **argv,
		   const char **db, struct kz_room **r, int *status)
{
	enum kz_rc rc;

	if (!kz_opt_parse(cli, u, argc, argv)) {
		*status = kz_main_end(cli, cli->err.rc);
		return false;
	}
	rc = database(cli, db);
	if (!rc)
		rc = kz_room_open(*db, r, &cli->err);
	if (rc)
		*status = kz_main_end(cli, rc);
	return rc == KZ_OK;
}

void kz_room_warn(const struct kz_json *change)
{
	char count[24];

	if (!kz_json_count(kz_json_get(change, "derived_private")))
		return;
	snprintf(count, sizeof(count), "%zu",
		 kz_json_count(kz_json_get(change, "derived_private")));
	kz_log(KZ_LOG_WARNING,
	       "files that may hold some of a private selection can be seen by who joins", "files",
	       count, NULL);
}

int kz_room_finish(struct kz_cli *cli, struct kz_room *r, enum kz_rc rc, struct kz_json *out)
{
	struct kz_err err = cli->err;

	if (out && kz_out_json(cli, out) && !rc)
		rc = cli->err.rc;
	else if (rc)
		cli->err = err;
	kz_room_close(r);
	return kz_main_end(cli, rc);
}

int kz_verb_init(struct kz_cli *cli, int argc, char **argv)
{
	const char *db = NULL;
	struct kz_json *out = NULL;
	const struct kz_opt opts[] = { KZ_ROOM_OPT_DB(&db), KZ_OPT_END };
	const struct kz_usage usage = { "kz-room", "init", KZ_INIT_SYNOPSIS, KZ_INIT_WHAT, opts,
					0,         0 };
	enum kz_rc rc;

	if (!kz_opt_parse(cli, &usage, argc, argv))
		return kz_main_end(cli, cli->err.rc);
	rc = database(cli, &db);
	if (!rc)
		rc = kz_room_init(db, &out, &cli->err);
	return kz_room_finish(cli, NULL, rc, out);
}

int kz_verb_member(struct kz_cli *cli, int argc, char **argv)
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
		"kz-room", "member", KZ_MEMBER_SYNOPSIS, KZ_MEMBER_WHAT, opts, 1, 1
	};
	char **word;
	enum kz_rc rc;

	if (!kz_room_start(cli, &usage, argc, argv, &db, &r, &status))
		return status;
	word = cli->operands;
	rc = kz_room_member(r, word[0], &out, &cli->err);
	return kz_room_finish(cli, r, rc, out);
}

int kz_verb_project(struct kz_cli *cli, int argc, char **argv)
{
	const char *db = NULL;
	struct kz_room *r = NULL;
	struct kz_json *out = NULL;
	int status;
	bool is_leave = false;
	const struct kz_opt opts[] = {
		{ 0, "leave", KZ_OPT_FLAG, &is_leave, NULL, "take the member out of it", 0, 0 },
		KZ_ROOM_OPT_DB(&db),
		KZ_OPT_END,
	};
	const struct kz_usage usage = {
		"kz-room", "project", KZ_PROJECT_SYNOPSIS, KZ_PROJECT_WHAT, opts, 2, 2
	};
	char **word;
	enum kz_rc rc;

	if (!kz_room_start(cli, &usage, argc, argv, &db, &r, &status))
		return status;
	word = cli->operands;
	rc = kz_room_project(r, word[0], word[1], is_leave, &out, &cli->err);
	kz_room_warn(out);
	return kz_room_finish(cli, r, rc, out);
}
