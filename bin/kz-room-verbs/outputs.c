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

static enum kz_rc take(struct kz_cli *cli, struct kz_room *r, const char *turn, const char *dir,
		       struct kz_json **out)
{
	kz_auto_json struct kz_json *record = NULL;
	enum kz_rc rc = read_record(&record, &cli->err);

	return rc ? rc : kz_room_outputs(r, turn, record, dir, out, &cli->err);
}

int kz_verb_outputs(struct kz_cli *cli, int argc, char **argv)
{
	const char *db = NULL;
	struct kz_room *r = NULL;
	struct kz_json *out = NULL;
	int status;
	const char *dir = ".";
	bool is_accept = false, is_drop = false;
	const struct kz_opt opts[] = {
		{ 'd', "output-dir", KZ_OPT_TEXT, &dir, "OUTDIR",
		  "where the outputs lie (default: the current directory)", 0, 0 },
		{ 0, "accept", KZ_OPT_FLAG, &is_accept, NULL, "link what is held", 0, 0 },
		{ 0, "drop", KZ_OPT_FLAG, &is_drop, NULL,
		  "leave what is held in the member's library", 0, 0 },
		KZ_ROOM_OPT_DB(&db),
		KZ_OPT_END,
	};
	const struct kz_usage usage = {
		"kz-room", "outputs", KZ_OUTPUTS_SYNOPSIS, KZ_OUTPUTS_WHAT, opts, 1, 1
	};
	char **word;
	enum kz_rc rc;

	if (!kz_room_start(cli, &usage, argc, argv, &db, &r, &status))
		return status;
	word = cli->operands;
	if (is_accept && is_drop)
		rc = kz_refuse(&cli->err, KZ_R_USAGE, "--accept or --drop, not both");
	else
		rc = is_accept || is_drop ? kz_room_settle(r, word[0], is_accept, &out, &cli->err) :
					    take(cli, r, word[0], dir, &out);
	return kz_room_finish(cli, r, rc, out);
}
