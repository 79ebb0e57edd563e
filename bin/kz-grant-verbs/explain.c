/* kz-grant explain. */
#include <stdio.h>

#include "verbs.h"
#include "core/egress/explain.h"
#include "rule/reason.h"

static struct kz_json *answers_of(const struct kz_explain *e)
{
	struct kz_json *list = kz_json_array();
	size_t count = e->target.is_literal ? 1 : e->answer_count;
	const struct kz_addr *a = e->target.is_literal ? &e->target.addr : e->answers;
	char text[KZ_ADDR_TEXT];

	for (size_t i = 0; i < count; i++) {
		struct kz_json *o = kz_json_object();

		kz_addr_print(&a[i], text);
		kz_json_set_str(o, "address", text);
		kz_json_set_str(o, "class", kz_addr_class_name(kz_addr_classify(&a[i])));
		kz_json_append(list, o);
	}
	return list;
}

/* own: new */
static struct kz_json *object_of(const struct kz_explain *e)
{
	struct kz_json *o = kz_out_object("explain");
	bool is_refused = e->reason != KZ_R_NONE;
	char target[KZ_AUTHORITY_TEXT] = "invalid", text[300];

	if (e->target.port)
		kz_target_print(&e->target, target);
	if (is_refused)
		snprintf(text, sizeof(text), "refused: %s: %s", kz_reason_code(e->reason),
			 kz_reason_text(e->reason));
	else
		snprintf(text, sizeof(text), "%s",
			 e->is_lookup ?
				 "would be looked up, and every answer judged (-r ADDRESS,...)" :
				 "allowed");
	kz_json_set_str(o, "target", target);
	kz_json_set_str(o, "mode", kz_scope_mode_name(e->scope.mode));
	kz_json_set_str(o, "verdict", is_refused ? "refused" : e->is_lookup ? "lookup" : "allowed");
	kz_json_set_str(o, "reason", is_refused ? kz_reason_code(e->reason) : NULL);
	kz_json_set_str(o, "text", text);
	kz_json_set(o, "answers", answers_of(e));
	return o;
}

/* A destination that is none is shown as it was given, unless it would do something to a terminal. */
static const char *shown(const struct kz_cli *cli, const struct kz_explain *e,
			 const struct kz_json *o)
{
	const char *given = cli->operands[0];

	if (e->target.port || !*given)
		return kz_json_str(o, "target", "");
	for (const char *p = given; *p; p++)
		if (*p < 0x20 || *p > 0x7e)
			return kz_json_str(o, "target", "");
	return given;
}

static void print_text(struct kz_cli *cli, const struct kz_explain *e, const struct kz_json *o)
{
	const struct kz_json *answers = kz_json_get(o, "answers");

	kz_out_text(cli, "%s: %s%s\n", shown(cli, e, o), kz_json_str(o, "text", ""),
		    e->target.port ? "" : "; give http://HOST, https://HOST or HOST:PORT");
	for (size_t i = 0; i < kz_json_count(answers); i++)
		kz_out_text(cli, "%s %s\n", kz_json_str(kz_json_at(answers, i), "address", ""),
			    kz_json_str(kz_json_at(answers, i), "class", ""));
}

static enum kz_rc explain(struct kz_cli *cli, const char *answers, bool *is_refused)
{
	kz_auto_json struct kz_json *o = NULL;
	struct kz_explain e;
	struct kz_conf c;
	enum kz_rc rc = kz_conf_load(&c, NULL, &cli->err);

	if (!rc)
		rc = kz_egress_explain(&c, cli->operands[0], answers, &e, &cli->err);
	if (rc)
		return rc;
	*is_refused = e.reason != KZ_R_NONE;
	o = object_of(&e);
	if (cli->json)
		return kz_out_json(cli, kz_json_ref(o));
	print_text(cli, &e, o);
	return KZ_OK;
}

int kz_verb_explain(struct kz_cli *cli, int argc, char **argv)
{
	const char *answers = NULL;
	bool is_refused = false;
	const struct kz_opt opts[] = {
		{ 'r', "resolved", KZ_OPT_TEXT, &answers, "ADDRESS,...",
		  "what the name resolves to; nothing is looked up", 0, 0 },
		KZ_OPT_JSON(cli),
		KZ_OPT_END,
	};
	const struct kz_usage usage = {
		"kz-grant", "explain", KZ_EXPLAIN_SYNOPSIS, KZ_EXPLAIN_WHAT, opts, 1, 1
	};
	enum kz_rc rc;

	if (!kz_opt_parse(cli, &usage, argc, argv))
		return kz_main_end(cli, cli->err.rc);
	rc = explain(cli, answers, &is_refused);
	return rc ? kz_main_end(cli, rc) : kz_main_end_as(cli, KZ_OK, is_refused ? 1 : 0);
}
