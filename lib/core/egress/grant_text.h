/*
 * The claims of a grant as text: one spelling each way.  Layer 3, for core/egress only.
 */
#ifndef KZ_CORE_EGRESS_GRANT_TEXT_H
#define KZ_CORE_EGRESS_GRANT_TEXT_H

#include "core/egress/grant.h"

/* Append the canonical payload. err: KZ_E_DATA when it does not fit, KZ_E_OS */
enum kz_rc kz_grant_write(const char *audience, const struct kz_grant *g, struct kz_buf *out,
			  struct kz_err *err);
/*
 * Read a payload that kz_grant_write could have written: every claim, none other, none twice,
 * in this order and spelling.
 * out: g; audience[0..KZ_AUDIENCE_TEXT). err: grant_claims
 */
enum kz_rc kz_grant_read(const char *p, size_t n, struct kz_grant *g,
			 char audience[KZ_AUDIENCE_TEXT], struct kz_err *err);
/* Are the claims such that a verifier takes them: ids, names, a sound scope, a life of 1 to KZ_GRANT_TTL_MOST seconds? */
bool kz_grant_is_sound(const struct kz_grant *g);

#endif
