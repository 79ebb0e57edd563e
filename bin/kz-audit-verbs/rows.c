/* kz-audit list, show and export. */
#include <string.h>

#include "base/str.h"
#include "cli/opt.h"
#include "cli/out.h"
#include "rule/reason.h"
#include "core/audit/read.h"
#include "verbs.h"

static const struct kz_column columns[] = {
	{ "id", "ID", NULL },     { "at_ms", "TIME (UTC)", kz_out_format_time },
	{ "kind", "KIND", NULL }, { "detail", "WHAT", NULL },
	{ NULL, NULL, NULL },
};

static enum kz_rc print_row(void *arg, struct kz_json *row, struct kz_err *err)
{
	struct kz_table *t = arg;

	if (!row)
		return kz_err_set(err, KZ_E_OS, "out of memory");
	if (!t->cli->json)
		kz_row_detail(row);
	return kz_table_row(t, row);
}

static enum kz_rc print_line(void *arg, struct kz_json *row, struct kz_err *err)
{
	(void)err;
	return kz_out_json(arg, row);
}

/* Identifiers are digests, and a name in the place of one would find nothing. */
static bool is_id(const char *text)
{
	unsigned char id[16];

	return !text || (strlen(text) == 32 && kz_hex_decode(text, id, sizeof(id), NULL) == KZ_OK);
}

int kz_verb_list(struct kz_cli *cli, int argc, char **argv)
{
	kz_auto_table struct kz_table t = { 0 };
	struct kz_audit_filter f = { 0 };
	const struct kz_opt opts[] = {
		{ 'k', "kind", KZ_OPT_TEXT, &f.kind, "KIND",
		  "only this kind: transition, dispatch, record ...", 0, 0 },
		{ 'r', "run", KZ_OPT_TEXT, &f.run, "RUN", "only of this run", 0, 0 },
		{ 'w', "worker", KZ_OPT_TEXT, &f.worker, "WORKER", "only of this worker", 0, 0 },
		{ 'L', "lease", KZ_OPT_TEXT, &f.lease, "LEASE", "only of this lease", 0, 0 },
		{ 'a', "actor-id", KZ_OPT_TEXT, &f.actor, "ID", "only of this hashed actor", 0, 0 },
		{ 'R', "reason", KZ_OPT_TEXT, &f.reason, "CODE", "only with this reason or cause",
		  0, 0 },
		{ 's', "since", KZ_OPT_INT, &f.since_ms, "MS",
		  "only since then, milliseconds since the epoch", 0, INT64_MAX },
		{ 'l', "last", KZ_OPT_INT, &f.last, "N", "only the newest N of them", 1,
		  INT64_MAX },
		KZ_OPT_JSON(cli),
		KZ_OPT_END,
	};
	const struct kz_usage usage = { .program = "kz-audit",
					.verb = "list",
					.opts = opts,
					.synopsis = KZ_LIST_SYNOPSIS,
					.what = KZ_LIST_WHAT };
	struct kz_audit_place p;
	enum kz_rc rc;

	if (!kz_opt_parse(cli, &usage, argc, argv))
		return kz_main_end(cli, cli->err.rc);
	if (!is_id(f.run) || !is_id(f.actor))
		return kz_main_end(cli,
				   kz_refuse(&cli->err, KZ_R_USAGE,
					     "%s is named by 32 hex digits, as the rows show it",
					     is_id(f.run) ? "an actor" : "a run"));
	kz_table_start(&t, cli, columns);
	rc = kz_audit_place(cli, &p);
	if (rc == KZ_OK)
		rc = kz_audit_each(p.path, &f, print_row, &t, &cli->err);
	return kz_main_end(cli, rc == KZ_OK ? kz_table_end(&t, "no rows") : rc);
}

int kz_verb_show(struct kz_cli *cli, int argc, char **argv)
{
	kz_auto_table struct kz_table t = { 0 };
	const struct kz_opt opts[] = { KZ_OPT_JSON(cli), KZ_OPT_END };
	const struct kz_usage usage = { .program = "kz-audit",
					.verb = "show",
					.synopsis = KZ_SHOW_SYNOPSIS,
					.opts = opts,
					.what = KZ_SHOW_WHAT,
					.least = 1,
					.most = 1 };
	struct kz_audit_place p;
	int64_t count = 0;
	enum kz_rc rc;

	if (!kz_opt_parse(cli, &usage, argc, argv))
		return kz_main_end(cli, cli->err.rc);
	if (!is_id(cli->operands[0]))
		return kz_main_end(
			cli, kz_refuse(&cli->err, KZ_R_USAGE, "a run is named by 32 hex digits"));
	kz_table_start(&t, cli, columns);
	rc = kz_audit_place(cli, &p);
	if (rc == KZ_OK)
		rc = kz_audit_show(p.path, cli->operands[0], print_row, &t, &count, &cli->err);
	if (rc == KZ_OK)
		rc = kz_table_end(&t, NULL);
	if (rc == KZ_OK && count == 0)
		rc = kz_err_set(&cli->err, KZ_E_NO, "there is no row of this run");
	return kz_main_end(cli, rc);
}

int kz_verb_export(struct kz_cli *cli, int argc, char **argv)
{
	const struct kz_audit_filter all = { 0 };
	const struct kz_opt opts[] = { KZ_OPT_JSON(cli), KZ_OPT_END };
	const struct kz_usage usage = { .program = "kz-audit",
					.verb = "export",
					.synopsis = KZ_EXPORT_SYNOPSIS,
					.opts = opts,
					.what = KZ_EXPORT_WHAT };
	struct kz_audit_place p;
	enum kz_rc rc;

	if (!kz_opt_parse(cli, &usage, argc, argv))
		return kz_main_end(cli, cli->err.rc);
	rc = kz_audit_place(cli, &p);
	return kz_main_end(
		cli, rc == KZ_OK ? kz_audit_each(p.path, &all, print_line, cli, &cli->err) : rc);
}
