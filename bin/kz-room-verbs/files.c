/* kz-room: documents, links, selections. */
#include "verbs.h"

int kz_verb_upload(struct kz_cli *cli, int argc, char **argv)
{
	struct kz_room_call c = { .cli = cli };
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
		KZ_ROOM_OPT_DB(&c.db),
		KZ_OPT_END,
	};
	const struct kz_usage usage = {
		"kz-room", "upload", KZ_UPLOAD_SYNOPSIS, KZ_UPLOAD_WHAT, opts, 2, 2
	};

	if (kz_room_start(&c, &usage, argc, argv)) {
		u.owner = c.word[0];
		u.file = c.word[1];
		c.rc = kz_room_upload(c.room, &u, &c.out, &cli->err);
	}
	return kz_room_finish(&c);
}

int kz_verb_state(struct kz_cli *cli, int argc, char **argv)
{
	struct kz_room_call c = { .cli = cli };
	const struct kz_usage usage = { "kz-room", "state", KZ_STATE_SYNOPSIS, KZ_STATE_WHAT, NULL,
					2,         2 };

	if (kz_room_start(&c, &usage, argc, argv))
		c.rc = kz_room_state(c.room, c.word[0], c.word[1], &c.out, &cli->err);
	return kz_room_finish(&c);
}

int kz_verb_link(struct kz_cli *cli, int argc, char **argv)
{
	struct kz_room_call c = { .cli = cli };
	const struct kz_usage usage = { "kz-room", "link", KZ_LINK_SYNOPSIS, KZ_LINK_WHAT, NULL,
					3,         3 };

	if (kz_room_start(&c, &usage, argc, argv))
		c.rc = kz_room_link(c.room, c.word[0], c.word[1], c.word[2], false, &c.out,
				    &cli->err);
	return kz_room_finish(&c);
}

int kz_verb_unlink(struct kz_cli *cli, int argc, char **argv)
{
	struct kz_room_call c = { .cli = cli };
	const struct kz_usage usage = { "kz-room", "unlink", KZ_LINK_SYNOPSIS, KZ_UNLINK_WHAT, NULL,
					3,         3 };

	if (kz_room_start(&c, &usage, argc, argv))
		c.rc = kz_room_link(c.room, c.word[0], c.word[1], c.word[2], true, &c.out,
				    &cli->err);
	return kz_room_finish(&c);
}

int kz_verb_select(struct kz_cli *cli, int argc, char **argv)
{
	struct kz_room_call c = { .cli = cli };
	const struct kz_usage usage = {
		"kz-room", "select", KZ_SELECT_SYNOPSIS, KZ_SELECT_WHAT, NULL, 2, -1
	};

	if (kz_room_start(&c, &usage, argc, argv))
		c.rc = kz_room_select(c.room, c.word[0], c.word[1], (const char *const *)c.word + 2,
				      (size_t)cli->operand_count - 2, &c.out, &cli->err);
	return kz_room_finish(&c);
}
