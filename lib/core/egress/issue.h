/*
 * What a run gets to reach the network with: the policy is read, the scope resolved, the
 * proxy asked, and a grant minted; or no grant at all and the reason.  There is no weaker
 * second try.  Layer 3.
 * src: GRANT-1, GRANT-2, GRANT-7 to GRANT-9, EXEC-17, POL-7, POL-8, POL-19, INV-29
 */
#ifndef KZ_CORE_EGRESS_ISSUE_H
#define KZ_CORE_EGRESS_ISSUE_H

#include <stdint.h>

#include "base/auto.h"
#include "base/buf.h"
#include "base/time.h"
#include "core/audit/audit.h"
#include "core/conf/conf.h"
#include "core/egress/grant.h"
#include "rule/reason.h"
#include "rule/scope.h"

#define KZ_APPROVAL_MAX 128

#define KZ_NOT_APPROVED                                                                            \
	"not approved (--approve ID)" /* what a run, its record and kz-grant scope say alike */

/* Is this an approval id: 1 to KZ_APPROVAL_MAX characters of printable ASCII without blanks? */
bool kz_approval_valid(const char *id);

/* For whom. */
struct kz_egress_ask {
	const char *run, *actor; /* 32 hex digits each; the actor hashed */
	const char *worker;      /* its name */
	uint32_t uid_base, uid_count;
	const char *approval; /* NULL: none was given */
	const char *const *hint;
	size_t hint_count; /* hosts that a provider hint stands for; hint NULL: no hint [POL-16] */
	struct kz_deadline until; /* for the proxy's answer */
	struct kz_audit *audit;   /* the grant's row is written before the grant is handed out */
};

/* What came of it. */
struct kz_egress {
	const char *configured; /* a mode's name, "unknown" or "unset"; static */
	const char *effective;  /* the mode that the grant holds, or "none"; static */
	enum kz_reason reason;  /* KZ_R_NONE with a grant; else why there is none */
	char text[200]; /* one line: "public_internet", or "none: not approved (--approve ID)" */
	char execution[KZ_ID_HEX]; /* "" without a grant */
	char revision[KZ_REVISION_TEXT];
	int64_t issued_s, expires_s; /* 0 without a grant */
	struct kz_buf token; /* empty without a grant; a credential: never log or store it */
};

/*
 * Ask for a grant.
 * out: KZ_OK also without a grant; then out->reason says why: not_approved, what
 * kz_policy_resolve gives, mode_isolated, hosts_unusable (a hint left none),
 * proxy_unreachable, proxy_keyless, key_missing, key_invalid, no_permission (the key may
 * not be read), grant_too_large.
 * own: kz_egress_release in any case, which wipes the token.
 * err: audit_unavailable, KZ_E_OS; nothing was handed out then
 * wait: until ask->until for the proxy; a disk flush for the audit
 */
enum kz_rc kz_egress_issue(const struct kz_conf *c, const struct kz_egress_ask *ask,
			   struct kz_egress *out, struct kz_err *err);
void kz_egress_release(struct kz_egress *e);
#define kz_auto_egress kz_auto(kz_egress_release)

#endif
