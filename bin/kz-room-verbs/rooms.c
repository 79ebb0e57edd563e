/* Rooms: create, join, leave. */
#include "verbs.h"

int kz_verb_create(struct kz_cli *cli, int argc, char **argv)
{
	struct kz_room_call c = { .cli = cli };
	const char *project = NULL;
	bool is_private = false;
	const struct kz_opt opts[] = {
		{ 0, "private", KZ_OPT_FLAG, &is_private, NULL, "a private chat", 0, 0 },
		{ 0, "project", KZ_OPT_TEXT, &project, "PROJECT",
		  "the Project it is filed in, whose members see it", 0, 0 },
		KZ_ROOM_OPT_DB(&c.db),
		KZ_OPT_END,
	};
	const struct kz_usage usage = {
		"kz-room", "create", KZ_CREATE_SYNOPSIS, KZ_CREATE_WHAT, opts, 2, 2
	};

	if (kz_room_start(&c, &usage, argc, argv))
		c.rc = kz_room_create(c.room, c.word[0], c.word[1], project, is_private, &c.out,
				      &cli->err);
	return kz_room_finish(&c);
}

int kz_verb_join(struct kz_cli *cli, int argc, char **argv)
{
	struct kz_room_call c = { .cli = cli };
	bool is_dry = false;
	const struct kz_opt opts[] = {
		{ 'n', "dry-run", KZ_OPT_FLAG, &is_dry, NULL, "only say what would be shared", 0,
		  0 },
		KZ_ROOM_OPT_DB(&c.db),
		KZ_OPT_END,
	};
	const struct kz_usage usage = { "kz-room", "join", KZ_JOIN_SYNOPSIS, KZ_JOIN_WHAT, opts,
					2,         2 };

	if (kz_room_start(&c, &usage, argc, argv)) {
		c.rc = kz_room_join(c.room, c.word[0], c.word[1],
				    is_dry ? KZ_ROOM_WOULD_JOIN : KZ_ROOM_JOIN, &c.out, &cli->err);
		kz_room_warn(c.out);
	}
	return kz_room_finish(&c);
}

int kz_verb_leave(struct kz_cli *cli, int argc, char **argv)
{
	struct kz_room_call c = { .cli = cli };
	const struct kz_usage usage = { "kz-room", "leave", KZ_LEAVE_SYNOPSIS, KZ_LEAVE_WHAT, NULL,
					2,         2 };

	if (kz_room_start(&c, &usage, argc, argv))
		c.rc = kz_room_join(c.room, c.word[0], c.word[1], KZ_ROOM_LEAVE, &c.out, &cli->err);
	return kz_room_finish(&c);
}
