/* kz-grant scope. */
#include <stdio.h>

#include "verbs.h"
#include "core/egress/issue.h"
#include "core/egress/view.h"
#include "rule/reason.h"

/* What a run would get, with the approval that was given or without one. own: new */
static struct kz_json *run_object(const struct kz_egress_view *v, const char *approval)
{
	enum kz_reason reason = approval ? v->reason : KZ_R_NOT_APPROVED;
	const char *mode = kz_scope_mode_name(v->scope.mode);
	struct kz_json *o = kz_json_object();
	char text[200];

	if (reason == KZ_R_NONE)
		snprintf(text, sizeof(text), "%s", mode);
	else
		snprintf(text, sizeof(text), "none: %s",
			 reason == KZ_R_NOT_APPROVED ? KZ_NOT_APPROVED : kz_reason_text(reason));
	kz_json_set_str(o, "effective", reason == KZ_R_NONE ? mode : "none");
	kz_json_set_str(o, "reason", reason == KZ_R_NONE ? NULL : kz_reason_code(reason));
	kz_json_set_str(o, "text", text);
	return o;
}

static void print_list(struct kz_cli *cli, const char *title, const struct kz_json *list)
{
	kz_out_text(cli, "%-12s", title);
	for (size_t i = 0; i < kz_json_count(list); i++) {
		const struct kz_json *v = kz_json_at(list, i);

		if (kz_json_is_int(v))
			kz_out_text(cli, "%s%lld", i ? ", " : "", (long long)kz_json_int_value(v));
		else
			kz_out_text(cli, "%s%s", i ? ", " : "", kz_json_str_value(v));
	}
	kz_out_text(cli, "%s\n", kz_json_count(list) ? "" : "-");
}

static void print_text(struct kz_cli *cli, const struct kz_json *o)
{
	const char *fix = kz_json_str(o, "fix", NULL);

	kz_out_text(cli, "configured  %s\n", kz_json_str(o, "configured", "unset"));
	kz_out_text(cli, "effective   %s%s\n",
		    kz_json_flag(o, "attention", false) ? "ATTENTION: " : "",
		    kz_json_str(o, "text", "isolated"));
	if (fix)
		kz_out_text(cli, "fix         %s\n", fix);
	kz_out_text(cli, "a run       %s\n", kz_json_str(kz_json_get(o, "run"), "text", "none"));
	print_list(cli, "ports", kz_json_get(o, "ports"));
	print_list(cli, "hosts", kz_json_get(o, "hosts"));
	print_list(cli, "ranges", kz_json_get(o, "cidrs"));
	if (kz_json_is_int(kz_json_get(o, "ttl_s")))
		kz_out_text(cli, "grant life  %lld s\n", (long long)kz_json_num(o, "ttl_s", 0));
	print_list(cli, "never", kz_json_get(o, "never"));
	print_list(cli, "denied", kz_json_get(o, "deny_cidrs"));
	kz_out_text(cli, "proxy       %s\n", kz_json_str(o, "proxy", "-"));
	kz_out_text(cli, "vintage     %s\n", kz_json_str(o, "vintage", "-"));
	kz_out_text(cli, "revision    %s\n", kz_json_str(o, "revision", "-"));
}

static enum kz_rc show(struct kz_cli *cli, const char *approval, bool *is_attention)
{
	kz_auto_egress_view struct kz_egress_view v = { .reason = KZ_R_NONE };
	kz_auto_json struct kz_json *o = NULL;
	struct kz_conf c;
	enum kz_rc rc = kz_conf_load(&c, NULL, &cli->err);

	if (!rc)
		rc = kz_egress_look(&c, kz_deadline_in(KZ_EGRESS_PATIENCE), &v, &cli->err);
	if (rc)
		return rc;
	o = kz_out_object("scope");
	kz_egress_view_brief(&v, o);
	kz_egress_view_whole(&v, o);
	kz_json_set(o, "run", run_object(&v, approval));
	*is_attention = v.is_attention;
	if (cli->json)
		return kz_out_json(cli, kz_json_ref(o));
	print_text(cli, o);
	return KZ_OK;
}

int kz_verb_scope(struct kz_cli *cli, int argc, char **argv)
{
	const char *approval = NULL;
	bool is_attention = false;
	const struct kz_opt opts[] = {
		{ 'a', "approve", KZ_OPT_TEXT, &approval, "ID",
		  "show what a run with this approval would get", 0, 0 },
		KZ_OPT_JSON(cli),
		KZ_OPT_END,
	};
	const struct kz_usage usage = { "kz-grant", "scope", KZ_SCOPE_SYNOPSIS, KZ_SCOPE_WHAT, opts,
					0,          0 };
	enum kz_rc rc;

	if (!kz_opt_parse(cli, &usage, argc, argv))
		return kz_main_end(cli, cli->err.rc);
	if (approval && !kz_approval_valid(approval))
		return kz_main_end(cli, kz_refuse(&cli->err, KZ_R_USAGE,
						  "an approval is 1 to %d printable characters",
						  KZ_APPROVAL_MAX));
	rc = show(cli, approval, &is_attention);
	/* what is lacking is an answer (1), not a failure of kz-grant */
	return rc ? kz_main_end(cli, rc) : kz_main_end_as(cli, KZ_OK, is_attention ? 1 : 0);
}
