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

/* Options and operands, and which database. out: false: there is nothing to do, c->rc says why */
static bool parse(struct kz_room_call *c, const struct kz_usage *u, int argc, char **argv)
{
	const struct kz_opt opts[] = { KZ_ROOM_OPT_DB(&c->db), KZ_OPT_END };
	struct kz_usage usage = *u;

	if (!usage.opts)
		usage.opts = opts;
	if (!kz_opt_parse(c->cli, &usage, argc, argv)) {
		c->rc = c->cli->err.rc;
		return false;
	}
	c->word = c->cli->operands;
	c->rc = database(c->cli, &c->db);
	return !c->rc;
}

bool kz_room_start(struct kz_room_call *c, const struct kz_usage *u, int argc, char **argv)
{
	if (parse(c, u, argc, argv))
		c->rc = kz_room_open(c->db, &c->room, &c->cli->err);
	return c->room && !c->rc;
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

int kz_room_finish(struct kz_room_call *c)
{
	struct kz_err err = c->cli->err;

	if (c->out && kz_out_json(c->cli, kz_take(c->out)) && !c->rc)
		c->rc = c->cli->err.rc;
	else if (c->rc)
		c->cli->err = err;
	kz_room_close(c->room);
	return kz_main_end(c->cli, c->rc);
}

int kz_verb_init(struct kz_cli *cli, int argc, char **argv)
{
	struct kz_room_call c = { .cli = cli };
	const struct kz_usage usage = { "kz-room", "init", KZ_INIT_SYNOPSIS, KZ_INIT_WHAT, NULL,
					0,         0 };

	if (parse(&c, &usage, argc, argv))
		c.rc = kz_room_init(c.db, &c.out, &cli->err);
	return kz_room_finish(&c);
}

int kz_verb_member(struct kz_cli *cli, int argc, char **argv)
{
	struct kz_room_call c = { .cli = cli };
	const struct kz_usage usage = {
		"kz-room", "member", KZ_MEMBER_SYNOPSIS, KZ_MEMBER_WHAT, NULL, 1, 1
	};

	if (kz_room_start(&c, &usage, argc, argv))
		c.rc = kz_room_member(c.room, c.word[0], &c.out, &cli->err);
	return kz_room_finish(&c);
}

int kz_verb_project(struct kz_cli *cli, int argc, char **argv)
{
	struct kz_room_call c = { .cli = cli };
	bool is_leave = false;
	const struct kz_opt opts[] = {
		{ 0, "leave", KZ_OPT_FLAG, &is_leave, NULL, "take the member out of it", 0, 0 },
		KZ_ROOM_OPT_DB(&c.db),
		KZ_OPT_END,
	};
	const struct kz_usage usage = {
		"kz-room", "project", KZ_PROJECT_SYNOPSIS, KZ_PROJECT_WHAT, opts, 2, 2
	};

	if (kz_room_start(&c, &usage, argc, argv)) {
		c.rc = kz_room_project(c.room, c.word[0], c.word[1], is_leave, &c.out, &cli->err);
		kz_room_warn(c.out);
	}
	return kz_room_finish(&c);
}
