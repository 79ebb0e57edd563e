/* kz-audit verify and rotate. */
#include "cli/caller.h"
#include "cli/opt.h"
#include "cli/out.h"
#include "core/audit/rotate.h"
#include "core/audit/verify.h"
#include "verbs.h"
#include "rule/reason.h"

enum kz_rc kz_audit_place(struct kz_cli *cli, struct kz_audit_place *p)
{
	enum kz_rc rc = kz_conf_load(&p->conf, NULL, &cli->err);

	if (rc == KZ_OK)
		rc = kz_caller_check(p->conf.state, p->conf.set.kz_group, &cli->err);
	return rc == KZ_OK ? kz_conf_path(&p->conf, "audit/audit.db", p->path, sizeof(p->path),
					  &cli->err) :
			     rc;
}

static void print_problems(struct kz_cli *cli, const struct kz_json *report)
{
	const struct kz_json *list = kz_json_get(report, "problems");

	for (size_t i = 0; i < kz_json_count(list); i++) {
		const struct kz_json *o = kz_json_at(list, i);

		kz_out_text(cli, "%s at row %lld (expected %lld): %s\n", kz_json_str(o, "code", ""),
			    (long long)kz_json_num(o, "id", 0),
			    (long long)kz_json_num(o, "expected", 0), kz_json_str(o, "text", ""));
	}
}

/* Not a problem, but not here either. */
static void print_joined(struct kz_cli *cli, const struct kz_json *report)
{
	const struct kz_json *list = kz_json_get(report, "joined");

	for (size_t i = 0; i < kz_json_count(list); i++) {
		const struct kz_json *o = kz_json_at(list, i);

		if (kz_json_num(o, "to", 0) < kz_json_num(o, "from", 0))
			continue;
		kz_out_text(
			cli,
			"note at row %lld: transitions %lld to %lld of %s are only in the stores of "
			"other nodes\n",
			(long long)kz_json_num(o, "id", 0), (long long)kz_json_num(o, "from", 0),
			(long long)kz_json_num(o, "to", 0), kz_json_str(o, "store", ""));
	}
}

int kz_verb_verify(struct kz_cli *cli, int argc, char **argv)
{
	kz_auto_json struct kz_json *report = NULL;
	const struct kz_opt opts[] = { KZ_OPT_JSON(cli), KZ_OPT_END };
	const struct kz_usage usage = { .program = "kz-audit",
					.verb = "verify",
					.synopsis = KZ_VERIFY_SYNOPSIS,
					.opts = opts,
					.what = KZ_VERIFY_WHAT };
	struct kz_audit_place p;
	enum kz_rc rc;

	if (!kz_opt_parse(cli, &usage, argc, argv))
		return kz_main_end(cli, cli->err.rc);
	rc = kz_audit_place(cli, &p);
	if (rc == KZ_OK)
		rc = kz_audit_verify(p.path, &report, &cli->err);
	if (rc != KZ_OK)
		return kz_main_end(cli, rc);
	if (cli->json)
		kz_out_json(cli, kz_json_ref(report));
	else
		print_joined(cli, report);
	if (!cli->json)
		print_problems(cli, report);
	if (!kz_json_flag(report, "ok", false)) {
		rc = kz_refuse(&cli->err, KZ_R_AUDIT_BROKEN, NULL);
		cli->json = false; /* the report is the answer; it says why */
		return kz_main_end(cli, rc);
	}
	if (!cli->json)
		kz_out_text(cli, "whole: %lld rows in %lld segments\n",
			    (long long)kz_json_num(report, "rows", 0),
			    (long long)kz_json_num(report, "segments", 0));
	return kz_main_end(cli, KZ_OK);
}

int kz_verb_rotate(struct kz_cli *cli, int argc, char **argv)
{
	bool is_forced = false;
	const struct kz_opt opts[] = {
		{ 'f', "force", KZ_OPT_FLAG, &is_forced, NULL,
		  "close the open segment also when it is small and young", 0, 0 },
		KZ_OPT_JSON(cli),
		KZ_OPT_END,
	};
	const struct kz_usage usage = { .program = "kz-audit",
					.verb = "rotate",
					.synopsis = KZ_ROTATE_SYNOPSIS,
					.opts = opts,
					.what = KZ_ROTATE_WHAT };
	struct kz_audit_rotated done;
	struct kz_audit_keep keep;
	struct kz_audit_place p;
	struct kz_json *o;
	enum kz_rc rc;

	if (!kz_opt_parse(cli, &usage, argc, argv))
		return kz_main_end(cli, cli->err.rc);
	rc = kz_audit_place(cli, &p);
	if (rc != KZ_OK)
		return kz_main_end(cli, rc);
	keep = kz_audit_keep_default(p.conf.set.kz_audit_keep_days);
	keep.is_forced = is_forced;
	rc = kz_audit_rotate(p.path, &keep, &done, &cli->err);
	if (rc == KZ_OK && done.is_busy)
		rc = kz_err_set(&cli->err, KZ_E_TEMPFAIL,
				"the store is being read or rotated; try again");
	if (rc != KZ_OK)
		return kz_main_end(cli, rc);
	o = kz_out_object("audit_rotate");
	kz_json_set_bool(o, "closed", done.is_closed);
	kz_json_set_int(o, "first", done.first);
	kz_json_set_int(o, "last", done.last);
	kz_json_set_int(o, "removed", done.removed_count);
	if (cli->json)
		return kz_main_end(cli, kz_out_json(cli, o));
	kz_json_free(o);
	kz_out_text(cli, "%s, %lld removed\n",
		    done.is_closed ? "closed a segment" : "nothing to close",
		    (long long)done.removed_count);
	return kz_main_end(cli, KZ_OK);
}
