/* kz-workspace prune. */
#include <string.h>

#include "base/auto.h"
#include "base/str.h"
#include "core/files/prune.h"
#include "verbs.h"

#define PRUNE_HOURS 24

static const struct kz_column columns[] = {
	{ "workspaces", "workspaces removed", NULL },
	{ "objects", "objects removed", NULL },
	{ "bytes", "bytes", kz_out_format_bytes },
	{ "temporaries", "left by killed writers", NULL },
	{ "left", "workspaces that stay", NULL },
	{ NULL, NULL, NULL },
};

/* "30d", "12h", "90m", "3600s". */
static enum kz_rc take_age(struct kz_cli *cli, const char *text, int64_t *seconds)
{
	static const struct {
		char unit;
		int64_t seconds;
	} units[] = { { 's', 1 }, { 'm', 60 }, { 'h', 3600 }, { 'd', 86400 } };
	char digits[16];
	size_t n = text ? strlen(text) : 0;
	int64_t value = 0;

	*seconds = 0;
	if (!text)
		return kz_refuse(&cli->err, KZ_R_USAGE, "how old? give --older-than AGE, as 30d");
	for (size_t i = 0; n > 1 && n < sizeof(digits) && i < sizeof(units) / sizeof(*units); i++) {
		memcpy(digits, text, n - 1);
		digits[n - 1] = 0;
		if (text[n - 1] == units[i].unit &&
		    !kz_str_int(digits, 1, 1000000000, &value, NULL))
			*seconds = value * units[i].seconds;
	}
	if (!*seconds)
		return kz_refuse(&cli->err, KZ_R_USAGE,
				 "%.40s is no age: a number and s, m, h or d, as 30d", text);
	if (*seconds < KZ_PRUNE_LEAST_S)
		return kz_refuse(
			&cli->err, KZ_R_USAGE,
			"--older-than: at least 1h, so that nothing that is being written is removed");
	return KZ_OK;
}

int kz_verb_prune(struct kz_cli *cli, int argc, char **argv)
{
	kz_auto_objects struct kz_objects *o = NULL;
	struct kz_pruned done = { 0 };
	struct kz_conf conf;
	struct kz_json *j;
	const char *age = NULL;
	bool is_dry = false;
	int64_t older_s = 0;
	const struct kz_opt opts[] = {
		{ 0, "older-than", KZ_OPT_TEXT, &age, "AGE",
		  "workspaces that were not changed for so long: 30d, 12h", 0, 0 },
		{ 'n', "dry-run", KZ_OPT_FLAG, &is_dry, NULL, "only tell what would be removed", 0,
		  0 },
		KZ_OPT_JSON(cli),
		KZ_OPT_END,
	};
	const struct kz_usage usage = {
		"kz-workspace", "prune", KZ_PRUNE_SYNOPSIS, KZ_PRUNE_WHAT, opts, 0, 0
	};
	enum kz_rc rc;

	if (!kz_opt_parse(cli, &usage, argc, argv))
		return kz_main_end(cli, cli->err.rc);
	rc = take_age(cli, age, &older_s);
	if (!rc)
		rc = kz_seal_init(&cli->err);
	if (!rc)
		rc = kz_conf_load(&conf, NULL, &cli->err);
	if (!rc)
		rc = kz_objects_open(&conf, &o, &cli->err);
	if (!rc)
		rc = kz_workspace_prune(o, older_s, is_dry, &done,
					kz_deadline_in(KZ_SECONDS(PRUNE_HOURS * 3600)), &cli->err);
	if (rc)
		return kz_main_end(cli, rc);
	j = kz_out_object("pruned");
	kz_json_set_int(j, "workspaces", done.workspaces);
	kz_json_set_int(j, "objects", done.objects);
	kz_json_set_int(j, "bytes", done.bytes);
	kz_json_set_int(j, "temporaries", done.temporaries);
	kz_json_set_int(j, "left", done.left);
	kz_json_set_bool(j, "dry_run", is_dry);
	return kz_main_end(cli, kz_out_record(cli, columns, j));
}
