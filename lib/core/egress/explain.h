/*
 * What would be decided of a destination under the policy, without asking or dialling
 * anybody: the same rules and the same order as in the proxy.  Layer 3.
 * src: POL-7, INV-32
 */
#ifndef KZ_CORE_EGRESS_EXPLAIN_H
#define KZ_CORE_EGRESS_EXPLAIN_H

#include "core/conf/conf.h"
#include "rule/decide.h"

#define KZ_EXPLAIN_SELF 1024

struct kz_explain {
	struct kz_scope scope; /* the policy's, whatever the proxy and the keys are like */
	enum kz_reason reason; /* KZ_R_NONE: allowed, or a question of what the name resolves to */
	bool is_lookup;        /* that question */
	struct kz_target target;                    /* port 0: the destination is none */
	struct kz_addr answers[KZ_ANSWERS_MAX + 1]; /* one more than a name may have */
	size_t answer_count;
	/* below: what holds on this machine */
	struct kz_decide_env env;
	struct kz_cidr deny[KZ_SCOPE_CIDRS];
	struct kz_addr self[KZ_EXPLAIN_SELF];
};

/*
 * Decide. in: url: http, https or HOST:PORT; answers: "ADDRESS,...", "" for a name
 * without addresses, NULL when nothing is known of it
 * out: *e, which points into itself: it is not copied
 * err: usage (answers that are none); as kz_policy_load
 */
enum kz_rc kz_egress_explain(const struct kz_conf *c, const char *url, const char *answers,
			     struct kz_explain *e, struct kz_err *err);

#endif
