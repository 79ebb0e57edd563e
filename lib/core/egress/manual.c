/* A grant by hand. */
#include "core/egress/manual.h"

#include <string.h>

#include "base/str.h"
#include "core/audit/grants.h"
#include "core/conf/keys.h"
#include "core/egress/policy.h"

static enum kz_rc bad_entry(struct kz_err *err, const char *what, const char *entry)
{
	return kz_refuse(err, KZ_R_MALFORMED_INPUT, "this is no %s: %.80s", what, entry);
}

static enum kz_rc narrow_hosts(const struct kz_manual *m, struct kz_scope *s, struct kz_err *err)
{
	s->host_count = 0;
	for (size_t i = 0; i < m->host_count; i++)
		if (i >= KZ_SCOPE_HOSTS || kz_host_parse(m->hosts[i], strlen(m->hosts[i]),
							 &s->hosts[s->host_count++]) != KZ_R_NONE)
			return bad_entry(err, "host", m->hosts[i]);
	return KZ_OK;
}

static enum kz_rc narrow_cidrs(const struct kz_manual *m, struct kz_scope *s, struct kz_err *err)
{
	s->cidr_count = 0;
	for (size_t i = 0; i < m->cidr_count; i++)
		if (i >= KZ_SCOPE_CIDRS ||
		    !kz_cidr_parse(m->cidrs[i], strlen(m->cidrs[i]), &s->cidrs[s->cidr_count++]))
			return bad_entry(err, "range", m->cidrs[i]);
	return KZ_OK;
}

static enum kz_rc narrow_ports(const struct kz_manual *m, struct kz_scope *s, struct kz_err *err)
{
	size_t count = 0;

	/* In the policy's order, which is sorted. */
	for (size_t i = 0; i < m->port_count; i++) {
		int64_t n;

		if (kz_str_int(m->ports[i], 1, 65535, &n, NULL))
			return bad_entry(err, "port", m->ports[i]);
		if (!kz_scope_has_port(s, (uint16_t)n))
			return kz_refuse(err, KZ_R_NOT_ALLOWED,
					 "port %s is not one that the policy allows", m->ports[i]);
	}
	for (size_t i = 0; i < s->port_count; i++) {
		bool is_asked = false;

		for (size_t k = 0; k < m->port_count && !is_asked; k++) {
			int64_t n = 0;

			is_asked = !kz_str_int(m->ports[k], 1, 65535, &n, NULL) && n == s->ports[i];
		}
		if (is_asked)
			s->ports[count++] = s->ports[i];
	}
	s->port_count = count;
	return KZ_OK;
}

/* What is asked, which must lie within what is allowed. */
static enum kz_rc narrow(const struct kz_manual *m, struct kz_scope *s, struct kz_err *err)
{
	struct kz_scope asked = *s;
	enum kz_rc rc = KZ_OK;

	if (m->host_count > 0)
		rc = narrow_hosts(m, &asked, err);
	if (!rc && m->cidr_count > 0)
		rc = narrow_cidrs(m, &asked, err);
	if (!rc && m->port_count > 0)
		rc = narrow_ports(m, &asked, err);
	if (rc)
		return rc;
	if (!kz_scope_is_sound(&asked) || !kz_scope_is_within(&asked, s))
		return kz_refuse(err, KZ_R_NOT_ALLOWED,
				 "that is not within the policy, whose mode is %s",
				 kz_scope_mode_name(s->mode));
	*s = asked;
	return KZ_OK;
}

static enum kz_rc scope_of(const struct kz_manual *m, const struct kz_policy *p, struct kz_scope *s,
			   struct kz_err *err)
{
	enum kz_reason reason = kz_policy_resolve(p, s);

	if (reason == KZ_R_NONE && s->mode == KZ_SCOPE_ISOLATED)
		reason = KZ_R_MODE_ISOLATED;
	if (reason != KZ_R_NONE) {
		const char *fix = kz_policy_fix(reason);

		return kz_refuse(err, reason, "%s%s%s", kz_reason_text(reason),
				 *fix ? "; fix: " : "", fix);
	}
	return narrow(m, s, err);
}

/* An id that was given, or a new one. */
static enum kz_rc take_id(const char *what, const char *given, char out[KZ_ID_HEX],
			  struct kz_err *err)
{
	if (!given) {
		kz_random_id(out);
		return KZ_OK;
	}
	if (strlen(given) != KZ_ID_HEX - 1 || strspn(given, "0123456789abcdef") != KZ_ID_HEX - 1)
		return bad_entry(err, what, given);
	return kz_str_copy(out, KZ_ID_HEX, given, err);
}

static enum kz_rc fill(const struct kz_manual *m, const struct kz_policy *p, struct kz_grant *g,
		       struct kz_err *err)
{
	enum kz_rc rc;

	if (!kz_str_is_name(m->worker))
		return bad_entry(err, "name of a worker", m->worker);
	if ((uint64_t)m->uid_base + m->uid_count > (uint64_t)UINT32_MAX)
		return kz_refuse(err, KZ_R_MALFORMED_INPUT, "the range of user ids is too long");
	g->uid_base = m->uid_base;
	g->uid_count = m->uid_count;
	g->issued_s = m->at_s;
	g->expires_s = m->at_s + (m->ttl_s > 0 ? m->ttl_s : g->scope.ttl_s);
	memcpy(g->revision, p->revision, sizeof(g->revision));
	if ((rc = take_id("id of an execution", m->execution, g->execution, err)) ||
	    (rc = take_id("id of a run", m->run, g->run, err)) ||
	    (rc = kz_str_copy(g->actor, sizeof(g->actor), m->actor, err)))
		return rc;
	return kz_str_copy(g->worker, sizeof(g->worker), m->worker, err);
}

enum kz_rc kz_egress_mint(const struct kz_conf *c, const struct kz_manual *m,
			  struct kz_audit *audit, struct kz_grant *g, struct kz_buf *token,
			  struct kz_err *err)
{
	kz_auto(kz_secret_release) struct kz_secret key = { .is_set = false };
	kz_auto_policy struct kz_policy p = { .proxy_url = NULL };
	char audience[KZ_AUDIENCE_TEXT];
	size_t before = token->len;
	enum kz_rc rc;

	memset(g, 0, sizeof(*g));
	if ((rc = kz_keys_read(c->state, KZ_KEY_GRANT, &key, err)) ||
	    (rc = kz_policy_load(c, &p, err)) || (rc = scope_of(m, &p, &g->scope, err)) ||
	    (rc = fill(m, &p, g, err)))
		return rc;
	kz_grant_audience(c->set.kz_deployment_id, audience);
	rc = kz_grant_mint(&key, audience, g, token, err);
	if (!rc)
		rc = kz_audit_grant(audit, g->run, g->execution, g->revision, err);
	if (rc && token->len > before) {
		explicit_bzero(token->data + before, token->len - before);
		token->len = before;
	}
	return rc;
}
