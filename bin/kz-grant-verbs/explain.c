/* kz-grant explain. */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "verbs.h"
#include "base/str.h"
#include "core/egress/policy.h"
#include "core/egress/self.h"
#include "rule/decide.h"
#include "rule/reason.h"

#define SELF_MOST 1024

/* What is asked, and what is known. */
struct question {
	struct kz_scope scope;
	struct kz_decide_env env;
	struct kz_cidr deny[KZ_SCOPE_CIDRS];
	struct kz_addr self[SELF_MOST];
	struct kz_target target;
	struct kz_addr answers[KZ_ANSWERS_MAX + 1]; /* one more than a name may have */
	size_t answer_count;
	bool has_answers;
};

/* The authority of a URL, and the port that its scheme stands for. */
static const char *authority(const char *url, size_t *n, uint16_t *port)
{
	*port = 0;
	if (strncasecmp(url, "http://", 7) == 0) {
		*port = 80;
		url += 7;
	} else if (strncasecmp(url, "https://", 8) == 0) {
		*port = 443;
		url += 8;
	}
	*n = strcspn(url, "/?#");
	return url;
}

/* "ADDRESS,ADDRESS..."; "" is an answer without addresses. */
static enum kz_rc take_answers(const char *list, struct question *q, struct kz_err *err)
{
	q->has_answers = true;
	while (*list) {
		size_t n = strcspn(list, ",");

		if (q->answer_count > KZ_ANSWERS_MAX)
			return kz_refuse(err, KZ_R_USAGE, "more than %d answers",
					 KZ_ANSWERS_MAX + 1);
		if (!kz_addr_parse(list, n, &q->answers[q->answer_count++]))
			return kz_refuse(err, KZ_R_USAGE, "this is no address: %.*s",
					 (int)(n < 60 ? n : 60), list);
		list += n + (list[n] == ',');
	}
	return KZ_OK;
}

/* The decision. out: is_lookup: it depends on answers that are not known */
static enum kz_reason decide(const struct question *q, bool *is_lookup)
{
	enum kz_reason reason = kz_decide_target(&q->scope, &q->env, &q->target);

	*is_lookup = false;
	if (reason != KZ_R_NONE || q->target.is_literal)
		return reason;
	*is_lookup = !q->has_answers;
	return q->has_answers ? kz_decide_answers(&q->scope, &q->env, &q->target, q->answers,
						  q->answer_count) :
				KZ_R_NONE;
}

static struct kz_json *answers_of(const struct question *q)
{
	struct kz_json *list = kz_json_array();
	size_t count = q->target.is_literal ? 1 : q->answer_count;
	const struct kz_addr *a = q->target.is_literal ? &q->target.addr : q->answers;
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

static void print_text(struct kz_cli *cli, const struct kz_json *o)
{
	const struct kz_json *answers = kz_json_get(o, "answers");

	kz_out_text(cli, "%s: %s\n", kz_json_str(o, "target", ""), kz_json_str(o, "text", ""));
	for (size_t i = 0; i < kz_json_count(answers); i++)
		kz_out_text(cli, "%s %s\n", kz_json_str(kz_json_at(answers, i), "address", ""),
			    kz_json_str(kz_json_at(answers, i), "class", ""));
}

static enum kz_rc print(struct kz_cli *cli, const struct question *q, const char *asked,
			enum kz_reason reason, bool is_lookup)
{
	kz_auto_json struct kz_json *o = kz_out_object("explain");
	bool is_refused = reason != KZ_R_NONE;
	const char *verdict = is_refused ? "refused" : is_lookup ? "lookup" : "allowed";
	char target[KZ_AUTHORITY_TEXT], text[300];

	if (q->target.port)
		kz_target_print(&q->target, target);
	else
		snprintf(target, sizeof(target), "%.200s", asked);
	if (is_refused)
		snprintf(text, sizeof(text), "refused: %s: %s", kz_reason_code(reason),
			 kz_reason_text(reason));
	else
		snprintf(text, sizeof(text), "%s",
			 is_lookup ?
				 "would be looked up, and every answer judged (-r ADDRESS,...)" :
				 "allowed");
	kz_json_set_str(o, "target", target);
	kz_json_set_str(o, "mode", kz_scope_mode_name(q->scope.mode));
	kz_json_set_str(o, "verdict", verdict);
	kz_json_set_str(o, "reason", is_refused ? kz_reason_code(reason) : NULL);
	kz_json_set_str(o, "text", text);
	kz_json_set(o, "answers", answers_of(q));
	if (cli->json)
		return kz_out_json(cli, kz_json_ref(o));
	print_text(cli, o);
	return KZ_OK;
}

/* The policy, and what holds on this machine. out: why nothing may be reached at all */
static enum kz_rc prepare(struct kz_cli *cli, struct question *q, enum kz_reason *reason)
{
	kz_auto_policy struct kz_policy p = { .proxy_url = NULL };
	struct kz_conf c;
	enum kz_rc rc = kz_conf_load(&c, NULL, &cli->err);

	if (!rc)
		rc = kz_policy_load(&c, &p, &cli->err);
	if (rc)
		return rc;
	*reason = kz_policy_resolve(&p, &q->scope);
	q->env.deny = q->deny;
	q->env.self = q->self;
	q->env.is_deny_unusable =
		!kz_scope_deny_parse(p.config.deny_cidrs, q->deny, &q->env.deny_count) ||
		!kz_self_addresses(q->self, SELF_MOST, &q->env.self_count);
	return KZ_OK;
}

static enum kz_rc explain(struct kz_cli *cli, const char *answers, bool *is_refused)
{
	struct question q = { .answer_count = 0 };
	enum kz_reason reason = KZ_R_NONE;
	bool is_lookup = false;
	uint16_t port;
	size_t n;
	const char *at = authority(cli->operands[0], &n, &port);
	enum kz_rc rc = answers ? take_answers(answers, &q, &cli->err) : KZ_OK;

	if (rc || (rc = prepare(cli, &q, &reason)))
		return rc;
	if (reason == KZ_R_NONE)
		reason = kz_target_parse(at, n, port, &q.target);
	if (reason == KZ_R_NONE)
		reason = decide(&q, &is_lookup);
	*is_refused = reason != KZ_R_NONE;
	return print(cli, &q, cli->operands[0], reason, is_lookup);
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
