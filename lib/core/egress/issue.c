/* From an approved run to its grant. */
#include "core/egress/issue.h"

#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "core/audit/grants.h"
#include "core/egress/policy.h"
#include "core/egress/view.h"

#define auto_secret kz_auto(kz_secret_release)

bool kz_approval_valid(const char *id)
{
	size_t n = strlen(id);

	for (size_t i = 0; i < n; i++)
		if (id[i] < 0x21 || id[i] > 0x7e)
			return false;
	return n >= 1 && n <= KZ_APPROVAL_MAX;
}

/* There is no grant, for this reason. */
static enum kz_rc miss(struct kz_egress *e, enum kz_reason reason)
{
	e->reason = reason;
	snprintf(e->text, sizeof(e->text), "none: %s",
		 reason == KZ_R_NOT_APPROVED ? KZ_NOT_APPROVED : kz_reason_text(reason));
	return KZ_OK;
}

/* A refusal that is an answer; memory that is out is none. */
static enum kz_rc miss_for(struct kz_egress *e, const struct kz_err *why, struct kz_err *err)
{
	enum kz_reason reason;

	if (why->rc != KZ_E_OS && kz_reason_find(why->reason, &reason))
		return miss(e, reason);
	if (err)
		*err = *why;
	return why->rc;
}

static enum kz_rc fill(const struct kz_egress_ask *ask, const struct kz_scope *scope,
		       const char *revision, struct kz_grant *g, struct kz_err *err)
{
	enum kz_rc rc = KZ_OK;

	*g = (struct kz_grant){ .scope = *scope,
				.uid_base = ask->uid_base,
				.uid_count = ask->uid_count,
				.issued_s = kz_time_wall_ms() / 1000 };
	g->expires_s = g->issued_s + scope->ttl_s;
	kz_random_id(g->execution);
	if ((rc = kz_str_copy(g->run, sizeof(g->run), ask->run, err)) ||
	    (rc = kz_str_copy(g->actor, sizeof(g->actor), ask->actor, err)) ||
	    (rc = kz_str_copy(g->worker, sizeof(g->worker), ask->worker, err)))
		return rc;
	return kz_str_copy(g->revision, sizeof(g->revision), revision, err);
}

/* The grant, its row first: what is not on record is not handed out. [AUD-10] */
static enum kz_rc hand_out(const struct kz_conf *c, const struct kz_egress_ask *ask,
			   const struct kz_secret *key, const struct kz_grant *g,
			   struct kz_egress *e, struct kz_err *err)
{
	char audience[KZ_AUDIENCE_TEXT];
	struct kz_err why = KZ_ERR_INIT;
	enum kz_rc rc;

	kz_grant_audience(c->set.kz_deployment_id, audience);
	if (kz_grant_mint(key, audience, g, &e->token, &why))
		return miss_for(e, &why, err);
	rc = kz_audit_grant(ask->audit, g->run, g->execution, g->revision, err);
	if (rc) {
		explicit_bzero(e->token.data, e->token.cap);
		kz_buf_clear(&e->token);
		return rc;
	}
	e->reason = KZ_R_NONE;
	e->effective = kz_scope_mode_name(g->scope.mode);
	e->issued_s = g->issued_s;
	e->expires_s = g->expires_s;
	memcpy(e->execution, g->execution, sizeof(e->execution));
	snprintf(e->text, sizeof(e->text), "%s", e->effective);
	return KZ_OK;
}

static enum kz_rc issue(const struct kz_conf *c, const struct kz_egress_ask *ask,
			const struct kz_policy *p, struct kz_egress *e, struct kz_err *err)
{
	auto_secret struct kz_secret key = { .is_set = false };
	enum kz_reason reason = KZ_R_NONE;
	struct kz_scope scope;
	struct kz_grant g;
	enum kz_rc rc;

	if (!ask->approval || !kz_approval_valid(ask->approval))
		return miss(e, KZ_R_NOT_APPROVED);
	rc = kz_egress_ready(c, p, ask->until, &scope, &key, &reason, err);
	if (rc || reason != KZ_R_NONE)
		return rc ? rc : miss(e, reason);
	kz_scope_narrow(&scope, ask->hint, ask->hint_count);
	if (scope.mode == KZ_SCOPE_ISOLATED)
		return miss(e, KZ_R_HOSTS_UNUSABLE);
	rc = fill(ask, &scope, p->revision, &g, err);
	return rc ? rc : hand_out(c, ask, &key, &g, e, err);
}

enum kz_rc kz_egress_issue(const struct kz_conf *c, const struct kz_egress_ask *ask,
			   struct kz_egress *out, struct kz_err *err)
{
	kz_auto_policy struct kz_policy p = { .proxy_url = NULL };
	enum kz_rc rc;

	memset(out, 0, sizeof(*out));
	kz_buf_init(&out->token, KZ_GRANT_MAX);
	out->configured = "unset";
	out->effective = "none";
	miss(out, KZ_R_INTERNAL);
	rc = kz_policy_load(c, &p, err);
	if (rc)
		return rc;
	out->configured = kz_policy_mode(&p);
	memcpy(out->revision, p.revision, sizeof(out->revision));
	return issue(c, ask, &p, out, err);
}

void kz_egress_release(struct kz_egress *e)
{
	if (e->token.data)
		explicit_bzero(e->token.data, e->token.cap);
	kz_buf_release(&e->token);
}
