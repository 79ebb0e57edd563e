/* The decision of a destination, told. */
#include "core/egress/explain.h"

#include <string.h>
#include <strings.h>

#include "core/egress/policy.h"
#include "core/egress/self.h"

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

static enum kz_rc take_answers(const char *list, struct kz_explain *e, struct kz_err *err)
{
	while (list && *list) {
		size_t n = strcspn(list, ",");

		if (e->answer_count > KZ_ANSWERS_MAX)
			return kz_refuse(err, KZ_R_USAGE, "more than %d answers",
					 KZ_ANSWERS_MAX + 1);
		if (!kz_addr_parse(list, n, &e->answers[e->answer_count++]))
			return kz_refuse(err, KZ_R_USAGE, "this is no address: %.*s",
					 (int)(n < 60 ? n : 60), list);
		list += n + (list[n] == ',');
	}
	return KZ_OK;
}

/* The policy, and what holds on this machine. */
static enum kz_rc prepare(const struct kz_conf *c, struct kz_explain *e, struct kz_err *err)
{
	kz_auto_policy struct kz_policy p = { .proxy_url = NULL };
	enum kz_rc rc = kz_policy_load(c, &p, err);

	if (rc)
		return rc;
	e->reason = kz_policy_resolve(&p, &e->scope);
	e->env.deny = e->deny;
	e->env.self = e->self;
	e->env.is_deny_unusable =
		!kz_scope_deny_parse(p.config.deny_cidrs, e->deny, &e->env.deny_count) ||
		!kz_self_addresses(e->self, KZ_EXPLAIN_SELF, &e->env.self_count);
	return KZ_OK;
}

enum kz_rc kz_egress_explain(const struct kz_conf *c, const char *url, const char *answers,
			     struct kz_explain *e, struct kz_err *err)
{
	uint16_t port;
	size_t n;
	const char *at = authority(url, &n, &port);
	enum kz_reason form;
	enum kz_rc rc;

	memset(e, 0, sizeof(*e));
	if ((rc = take_answers(answers, e, err)) || (rc = prepare(c, e, err)))
		return rc;
	/* read in any case, so that what is told names it */
	form = kz_target_parse(at, n, port, &e->target);
	if (e->reason == KZ_R_NONE)
		e->reason = form;
	if (e->reason == KZ_R_NONE)
		e->reason = kz_decide_target(&e->scope, &e->env, &e->target);
	if (e->reason != KZ_R_NONE || e->target.is_literal)
		return KZ_OK;
	e->is_lookup = !answers;
	if (answers)
		e->reason = kz_decide_answers(&e->scope, &e->env, &e->target, e->answers,
					      e->answer_count);
	return KZ_OK;
}
