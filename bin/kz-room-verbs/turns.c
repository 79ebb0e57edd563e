/* kz-room: turns, scope documents, audience, journal. */
#include "verbs.h"

int kz_verb_turn(struct kz_cli *cli, int argc, char **argv)
{
	struct kz_room_call c = { .cli = cli };
	kz_auto_opt_list struct kz_opt_list ids = { 0 }, retrieved = { 0 };
	const struct kz_opt opts[] = {
		{ 0, "request", KZ_OPT_LIST, &ids, "ID", "an id that the request names", 0, 0 },
		{ 0, "retrieved", KZ_OPT_LIST, &retrieved, "DOCUMENT",
		  "a document of a retrieval result, in a private chat", 0, 0 },
		KZ_ROOM_OPT_DB(&c.db),
		KZ_OPT_END,
	};
	const struct kz_usage usage = { "kz-room", "turn", KZ_TURN_SYNOPSIS, KZ_TURN_WHAT, opts,
					2,         2 };

	if (kz_room_start(&c, &usage, argc, argv))
		c.rc = kz_room_turn(c.room, c.word[0], c.word[1],
				    (struct kz_room_ids){ ids.items, ids.count },
				    (struct kz_room_ids){ retrieved.items, retrieved.count },
				    &c.out, &cli->err);
	return kz_room_finish(&c);
}

int kz_verb_scope(struct kz_cli *cli, int argc, char **argv)
{
	struct kz_room_call c = { .cli = cli };
	int64_t life = 3600;
	const struct kz_opt opts[] = {
		{ 0, "life", KZ_OPT_INT, &life, "SECONDS",
		  "how long the capability is valid (default: 3600)", 1, 86400 },
		KZ_ROOM_OPT_DB(&c.db),
		KZ_OPT_END,
	};
	const struct kz_usage usage = { "kz-room", "scope", KZ_SCOPE_SYNOPSIS, KZ_SCOPE_WHAT, opts,
					1,         1 };

	if (kz_room_start(&c, &usage, argc, argv))
		c.rc = kz_room_scope(c.room, c.word[0], life, &c.out, &cli->err);
	return kz_room_finish(&c);
}

int kz_verb_audience(struct kz_cli *cli, int argc, char **argv)
{
	struct kz_room_call c = { .cli = cli };
	const struct kz_usage usage = {
		"kz-room", "audience", KZ_AUDIENCE_SYNOPSIS, KZ_AUDIENCE_WHAT, NULL, 1, 1
	};

	if (kz_room_start(&c, &usage, argc, argv))
		c.rc = kz_room_audience(c.room, c.word[0], &c.out, &cli->err);
	return kz_room_finish(&c);
}

int kz_verb_journal(struct kz_cli *cli, int argc, char **argv)
{
	struct kz_room_call c = { .cli = cli };
	kz_auto_json struct kz_json *lines = NULL;
	const struct kz_usage usage = {
		"kz-room", "journal", KZ_JOURNAL_SYNOPSIS, KZ_JOURNAL_WHAT, NULL, 1, 1
	};

	if (kz_room_start(&c, &usage, argc, argv)) {
		c.rc = kz_room_journal(c.room, c.word[0], &lines, &cli->err);
		for (size_t i = 0; !c.rc && i < kz_json_count(lines); i++)
			c.rc = kz_out_json(cli, kz_json_ref(kz_json_at(lines, i)));
	}
	return kz_room_finish(&c);
}
