/*
 * A grant by hand, for who holds grant.key: within the policy, narrower if asked.  It
 * needs no approval id, since it is the operator's own act, and no proxy that answers.  Layer 3.
 * src: GRANT-2 to GRANT-4, GRANT-9, INV-29, INV-31
 */
#ifndef KZ_CORE_EGRESS_MANUAL_H
#define KZ_CORE_EGRESS_MANUAL_H

#include "core/audit/audit.h"
#include "core/conf/conf.h"
#include "core/egress/grant.h"

struct kz_manual {
	const char *run, *execution; /* 32 hex digits; NULL: random ones */
	const char *actor;           /* hashed */
	const char *worker;
	uint32_t uid_base, uid_count;
	int64_t at_s;  /* when it begins, Unix time */
	int64_t ttl_s; /* 1 to KZ_GRANT_TTL_MOST; 0: as the policy says */
	const char *const *hosts, *const *cidrs,
					  *const *ports; /* narrower lists; count 0: the policy's */
	size_t host_count, cidr_count, port_count;
};

/*
 * Mint it and write its audit row.
 * out: g, and the token appended
 * err: what kz_policy_resolve gives, mode_isolated; not_allowed: wider than the policy;
 * malformed_input: an entry or an id that is none; as kz_keys_read, kz_grant_mint and the audit;
 * nothing is handed out then
 */
enum kz_rc kz_egress_mint(const struct kz_conf *c, const struct kz_manual *m,
			  struct kz_audit *audit, struct kz_grant *g, struct kz_buf *token,
			  struct kz_err *err);

#endif
