/* kz-room: turns, scope documents, audience, journal. */
#include "verbs.h"

int kz_verb_turn(struct kz_cli *cli, int argc, char **argv)
{
	const char *db = NULL;
	struct kz_room *r = NULL;
	struct kz_json *out = NULL;
	int status;
	kz_auto_opt_list struct kz_opt_list ids = { 0 }, retrieved = { 0 };
	const struct kz_opt opts[] = {
		{ 0, "request", KZ_OPT_LIST, &ids, "ID", "an id that the request names", 0, 0 },
		{ 0, "retrieved", KZ_OPT_LIST, &retrieved, "DOCUMENT",
		  "a document of a retrieval result, in a private chat", 0, 0 },
		KZ_ROOM_OPT_DB(&db),
		KZ_OPT_END,
	};
	const struct kz_usage usage = { "kz-room", "turn", KZ_TURN_SYNOPSIS, KZ_TURN_WHAT, opts,
					2,         2 };
	char **word;
	enum kz_rc rc;

	if (!kz_room_start(cli, &usage, argc, argv, &db, &r, &status))
		return status;
	word = cli->operands;
	rc = kz_room_turn(r, word[0], word[1], (struct kz_room_ids){ ids.items, ids.count },
			  (struct kz_room_ids){ retrieved.items, retrieved.count }, &out,
			  &cli->err);
	return kz_room_finish(cli, r, rc, out);
}

int kz_verb_scope(struct kz_cli *cli, int argc, char **argv)
{
	const char *db = NULL;
	struct kz_room *r = NULL;
	struct kz_json *out = NULL;
	int status;
	int64_t life = 3600;
	const struct kz_opt opts[] = {
		{ 0, "life", KZ_OPT_INT, &life, "SECONDS",
		  "how long the capability is valid (default: 3600)", 1, 86400 },
		KZ_ROOM_OPT_DB(&db),
		KZ_OPT_END,
	};
	const struct kz_usage usage = { "kz-room", "scope", KZ_SCOPE_SYNOPSIS, KZ_SCOPE_WHAT, opts,
					1,         1 };
	char **word;
	enum kz_rc rc;

	if (!kz_room_start(cli, &usage, argc, argv, &db, &r, &status))
		return status;
	word = cli->operands;
	rc = kz_room_scope(r, word[0], life, &out, &cli->err);
	return kz_room_finish(cli, r, rc, out);
}

int kz_verb_audience(struct kz_cli *cli, int argc, char **argv)
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
		"kz-room", "audience", KZ_AUDIENCE_SYNOPSIS, KZ_AUDIENCE_WHAT, opts, 1, 1
	};
	char **word;
	enum kz_rc rc;

	if (!kz_room_start(cli, &usage, argc, argv, &db, &r, &status))
		return status;
	word = cli->operands;
	rc = kz_room_audience(r, word[0], &out, &cli->err);
	return kz_room_finish(cli, r, rc, out);
}

int kz_verb_journal(struct kz_cli *cli, int argc, char **argv)
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
		"kz-room", "journal", KZ_JOURNAL_SYNOPSIS, KZ_JOURNAL_WHAT, opts, 1, 1
	};
	char **word;
	enum kz_rc rc;

	if (!kz_room_start(cli, &usage, argc, argv, &db, &r, &status))
		return status;
	word = cli->operands;
	rc = kz_room_journal(r, word[0], &out, &cli->err);
	for (size_t i = 0; !rc && i < kz_json_count(out); i++)
		rc = kz_out_json(cli, kz_json_ref(kz_json_at(out, i)));
	kz_json_free(out);
	return kz_room_finish(cli, r, rc, NULL);
}
