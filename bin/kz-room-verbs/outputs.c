/* The outputs of a run come into the room of its turn. */
#include <string.h>

#include "base/fd.h"
#include "rule/reason.h"
#include "verbs.h"

#define INPUT_MAX (16 << 20)

/* The record of a run: a line of that type among the others of kz-run -j. */
static enum kz_rc read_record(struct kz_json **record, struct kz_err *err)
{
	kz_auto_buf struct kz_buf text = KZ_BUF_INIT(INPUT_MAX);
	char *save = NULL;
	enum kz_rc rc = kz_fd_read_all(0, &text, err);

	if (rc || !text.data)
		return rc ? rc : kz_err_set(err, KZ_E_DATA, "standard input is empty");
	for (char *line = strtok_r(text.data, "\n", &save); line;
	     line = strtok_r(NULL, "\n", &save)) {
		kz_auto_json struct kz_json *j = NULL;

		rc = kz_json_parse(line, strlen(line), &j, err);
		if (rc)
			return rc;
		if (strcmp(kz_json_str(j, "type", ""), "record") == 0) {
			*record = kz_take(j);
			return KZ_OK;
		}
	}
	return kz_err_set(err, KZ_E_DATA, "standard input has no record of kz-run");
}

static enum kz_rc take(struct kz_room_call *c, const char *dir)
{
	kz_auto_json struct kz_json *record = NULL;
	enum kz_rc rc = read_record(&record, &c->cli->err);

	return rc ? rc : kz_room_outputs(c->room, c->word[0], record, dir, &c->out, &c->cli->err);
}

int kz_verb_outputs(struct kz_cli *cli, int argc, char **argv)
{
	struct kz_room_call c = { .cli = cli };
	const char *dir = ".";
	bool is_accept = false, is_drop = false;
	const struct kz_opt opts[] = {
		{ 'd', "output-dir", KZ_OPT_TEXT, &dir, "OUTDIR",
		  "where the outputs lie (default: the current directory)", 0, 0 },
		{ 0, "accept", KZ_OPT_FLAG, &is_accept, NULL, "link what is held", 0, 0 },
		{ 0, "drop", KZ_OPT_FLAG, &is_drop, NULL,
		  "leave what is held in the member's library", 0, 0 },
		KZ_ROOM_OPT_DB(&c.db),
		KZ_OPT_END,
	};
	const struct kz_usage usage = {
		"kz-room", "outputs", KZ_OUTPUTS_SYNOPSIS, KZ_OUTPUTS_WHAT, opts, 1, 1
	};

	if (kz_room_start(&c, &usage, argc, argv)) {
		if (is_accept && is_drop)
			c.rc = kz_refuse(&cli->err, KZ_R_USAGE, "--accept or --drop, not both");
		else
			c.rc = is_accept || is_drop ? kz_room_settle(c.room, c.word[0], is_accept,
								     &c.out, &cli->err) :
						      take(&c, dir);
	}
	return kz_room_finish(&c);
}
