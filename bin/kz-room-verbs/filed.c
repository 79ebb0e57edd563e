/* What is filed in a Project: file, withdraw, grant. */
#include "verbs.h"

int kz_verb_file(struct kz_cli *cli, int argc, char **argv)
{
	struct kz_room_call c = { .cli = cli };
	bool is_private = false;
	const struct kz_opt opts[] = {
		{ 0, "private", KZ_OPT_FLAG, &is_private, NULL, "a pointer that grants nothing", 0,
		  0 },
		KZ_ROOM_OPT_DB(&c.db),
		KZ_OPT_END,
	};
	const struct kz_usage usage = { "kz-room", "file", KZ_FILE_SYNOPSIS, KZ_FILE_WHAT, opts,
					3,         3 };

	if (kz_room_start(&c, &usage, argc, argv))
		c.rc = kz_room_file(c.room, c.word[0], c.word[1], c.word[2], !is_private, &c.out,
				    &cli->err);
	return kz_room_finish(&c);
}

int kz_verb_withdraw(struct kz_cli *cli, int argc, char **argv)
{
	struct kz_room_call c = { .cli = cli };
	const struct kz_usage usage = {
		"kz-room", "withdraw", KZ_WITHDRAW_SYNOPSIS, KZ_WITHDRAW_WHAT, NULL, 3, 3
	};

	if (kz_room_start(&c, &usage, argc, argv))
		c.rc = kz_room_withdraw(c.room, c.word[0], c.word[1], c.word[2], &c.out, &cli->err);
	return kz_room_finish(&c);
}

int kz_verb_grant(struct kz_cli *cli, int argc, char **argv)
{
	struct kz_room_call c = { .cli = cli };
	const char *right = "read";
	const struct kz_opt opts[] = {
		{ 0, "right", KZ_OPT_TEXT, &right, "RIGHT",
		  "read (default), write, rename, publish, delete, fork, reshare", 0, 0 },
		KZ_ROOM_OPT_DB(&c.db),
		KZ_OPT_END,
	};
	const struct kz_usage usage = { "kz-room", "grant", KZ_GRANT_SYNOPSIS, KZ_GRANT_WHAT, opts,
					3,         3 };

	if (kz_room_start(&c, &usage, argc, argv))
		c.rc = kz_room_grant(c.room, c.word[0], c.word[1], c.word[2], right, &c.out,
				     &cli->err);
	return kz_room_finish(&c);
}
