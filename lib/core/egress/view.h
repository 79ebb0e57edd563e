/*
 * What an approved run would get, told and not handed out: kz-grant scope and kz status
 * show it, and kz_egress_issue goes the same way.  Layer 3.
 * src: ADM-1 to ADM-3, POL-7, POL-20, GRANT-7, GRANT-8
 */
#ifndef KZ_CORE_EGRESS_VIEW_H
#define KZ_CORE_EGRESS_VIEW_H

#include "base/auto.h"
#include "base/time.h"
#include "core/egress/policy.h"
#include "port/json.h"

/*
 * Resolve a policy and try its prerequisites: the key may be read, and the proxy answers
 * and holds its public half.
 * out: reason KZ_R_NONE and scope and key; else why not, and *scope is isolated:
 * what kz_policy_resolve gives, mode_isolated, proxy_unreachable, proxy_keyless,
 * key_missing, key_invalid, no_permission. own: the caller releases key
 * err: KZ_E_OS. wait: until the deadline, for the proxy
 */
enum kz_rc kz_egress_ready(const struct kz_conf *c, const struct kz_policy *p,
			   struct kz_deadline until, struct kz_scope *scope, struct kz_secret *key,
			   enum kz_reason *reason, struct kz_err *err);

/* How long a run waits for the proxy's word, and so whoever shows what a run would get. */
#define KZ_EGRESS_PATIENCE KZ_SECONDS(5)

struct kz_egress_view {
	struct kz_policy policy;
	struct kz_scope scope; /* the effective one */
	enum kz_reason reason; /* why it is isolated; KZ_R_NONE when it is not */
	bool is_attention;     /* what is configured is not held, and nobody chose that [ADM-2] */
};

/* Load the policy and look. err: as kz_policy_load. own: kz_egress_view_release in any case. wait: until the deadline */
enum kz_rc kz_egress_look(const struct kz_conf *c, struct kz_deadline until,
			  struct kz_egress_view *out, struct kz_err *err);
void kz_egress_view_release(struct kz_egress_view *v);
#define kz_auto_egress_view kz_auto(kz_egress_view_release)

/* Set configured, effective, reason, text, fix, attention and ports in o: the part that kz status shows too. */
void kz_egress_view_brief(const struct kz_egress_view *v, struct kz_json *o);
/* And what else is enforced: hosts, cidrs, ttl_s, deny_cidrs, never (classes that no mode reaches), proxy, vintage, revision. */
void kz_egress_view_whole(const struct kz_egress_view *v, struct kz_json *o);

#endif
