/*
 * The file of revocations as text: one spelling each way.  Layer 3, for core/egress only.
 */
#ifndef KZ_CORE_EGRESS_REVOKED_H
#define KZ_CORE_EGRESS_REVOKED_H

#include "core/egress/revoke.h"

#define KZ_REVOKED_BYTES (1 << 20) /* no file is longer */

struct kz_revoked_one {
	char execution[KZ_ID_HEX];
	int64_t expires_s; /* when no grant of it can be valid any more */
};

struct kz_revoked {
	int64_t serial, before_s;
	size_t count;
	struct kz_revoked_one list[KZ_REVOKED_MOST]; /* sorted, each once */
};

/* Append the canonical payload. err: KZ_E_DATA when it does not fit, KZ_E_OS */
enum kz_rc kz_revoked_write(const struct kz_revoked *r, struct kz_buf *out, struct kz_err *err);
/* Verify the text of a file with a key and take what it says. out: false for any other text, or no memory */
bool kz_revoked_take(const struct kz_public *key, const char *p, size_t n, struct kz_revoked *out);

#endif
