/* The effective scope and what it lacks. */
#include "core/egress/view.h"

#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "core/conf/keys.h"
#include "core/egress/health.h"
#include "port/seal-sign.h"

/* The proxy can verify what would be signed, or nothing is signed. [GRANT-8] */
static enum kz_rc ask_proxy(const struct kz_conf *c, const struct kz_secret *key,
			    struct kz_deadline until, struct kz_err *err)
{
	struct kz_proxy_health health;
	char kid[KZ_PASERK_PID_TEXT];
	struct kz_public own;

	kz_sign_public(key, &own);
	kz_paserk_pid(&own, kid);
	return kz_proxy_health(c->state, kid, until, &health, err);
}

enum kz_rc kz_egress_ready(const struct kz_conf *c, const struct kz_policy *p,
			   struct kz_deadline until, struct kz_scope *scope, struct kz_secret *key,
			   enum kz_reason *reason, struct kz_err *err)
{
	struct kz_err why = KZ_ERR_INIT;

	*reason = kz_policy_resolve(p, scope);
	if (*reason == KZ_R_NONE && scope->mode == KZ_SCOPE_ISOLATED)
		*reason = KZ_R_MODE_ISOLATED;
	if (*reason != KZ_R_NONE)
		return KZ_OK;
	if (!kz_keys_read(c->state, KZ_KEY_GRANT, key, &why) && !ask_proxy(c, key, until, &why))
		return KZ_OK;
	*scope = (struct kz_scope){ .mode = KZ_SCOPE_ISOLATED };
	/* A refusal is an answer; memory that is out is none. */
	if (why.rc != KZ_E_OS && kz_reason_find(why.reason, reason))
		return KZ_OK;
	if (err)
		*err = why;
	return why.rc;
}

/* Off, or not yet on: somebody's choice. "True" or "yes" is not: whoever wrote that meant something else. */
static bool is_chosen(const struct kz_policy *p, enum kz_reason reason)
{
	const char *enabled = p->config.enabled;

	if (reason == KZ_R_EGRESS_DISABLED)
		return !enabled || !*enabled || kz_str_eq(enabled, "false");
	return reason == KZ_R_NONE || reason == KZ_R_MODE_ISOLATED;
}

enum kz_rc kz_egress_look(const struct kz_conf *c, struct kz_deadline until,
			  struct kz_egress_view *out, struct kz_err *err)
{
	kz_auto(kz_secret_release) struct kz_secret key = { .is_set = false };
	enum kz_rc rc;

	memset(out, 0, sizeof(*out));
	rc = kz_policy_load(c, &out->policy, err);
	if (!rc)
		rc = kz_egress_ready(c, &out->policy, until, &out->scope, &key, &out->reason, err);
	out->is_attention = !is_chosen(&out->policy, out->reason);
	return rc;
}

void kz_egress_view_release(struct kz_egress_view *v)
{
	kz_policy_release(&v->policy);
}

static struct kz_json *ports_of(const struct kz_scope *s)
{
	struct kz_json *list = kz_json_array();

	for (size_t i = 0; i < s->port_count; i++)
		kz_json_append(list, kz_json_int(s->ports[i]));
	return list;
}

void kz_egress_view_brief(const struct kz_egress_view *v, struct kz_json *o)
{
	const char *effective = kz_scope_mode_name(v->scope.mode);
	char text[200];

	snprintf(text, sizeof(text), "%s%s%s", effective, v->reason == KZ_R_NONE ? "" : ": ",
		 v->reason == KZ_R_NONE ? "" : kz_reason_text(v->reason));
	kz_json_set_str(o, "configured", kz_policy_mode(&v->policy));
	kz_json_set_str(o, "effective", effective);
	kz_json_set_str(o, "reason", v->reason == KZ_R_NONE ? NULL : kz_reason_code(v->reason));
	kz_json_set_str(o, "text", text);
	kz_json_set_str(o, "fix", v->is_attention ? kz_policy_fix(v->reason) : NULL);
	kz_json_set_bool(o, "attention", v->is_attention);
	kz_json_set(o, "ports", ports_of(&v->scope));
}

static struct kz_json *hosts_of(const struct kz_scope *s)
{
	struct kz_json *list = kz_json_array();

	for (size_t i = 0; i < s->host_count; i++)
		kz_json_append(list, kz_json_string(s->hosts[i].host));
	return list;
}

static struct kz_json *cidrs_of(const struct kz_cidr *cidrs, size_t count)
{
	struct kz_json *list = kz_json_array();
	char text[KZ_CIDR_TEXT];

	for (size_t i = 0; i < count; i++) {
		kz_cidr_print(&cidrs[i], text);
		kz_json_append(list, kz_json_string(text));
	}
	return list;
}

/* The classes that every mode refuses. */
static struct kz_json *never(void)
{
	struct kz_json *list = kz_json_array();

	for (int c = 0; c < KZ_ADDR_CLASS_COUNT; c++)
		if (kz_addr_class_is_protected((enum kz_addr_class)c))
			kz_json_append(list,
				       kz_json_string(kz_addr_class_name((enum kz_addr_class)c)));
	return list;
}

void kz_egress_view_whole(const struct kz_egress_view *v, struct kz_json *o)
{
	struct kz_cidr deny[KZ_SCOPE_CIDRS];
	size_t count = 0;

	kz_json_set(o, "hosts", hosts_of(&v->scope));
	kz_json_set(o, "cidrs", cidrs_of(v->scope.cidrs, v->scope.cidr_count));
	kz_json_set(o, "ttl_s",
		    v->reason == KZ_R_NONE ? kz_json_int(v->scope.ttl_s) : kz_json_null());
	if (!kz_scope_deny_parse(v->policy.config.deny_cidrs, deny, &count))
		count = 0;
	kz_json_set(o, "deny_cidrs", cidrs_of(deny, count));
	kz_json_set(o, "never", never());
	kz_json_set_str(o, "proxy", v->policy.proxy_url);
	kz_json_set_str(o, "vintage", v->policy.vintage);
	kz_json_set_str(o, "revision", v->policy.revision);
}
