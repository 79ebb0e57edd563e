/*
 * Revocations: one signed file that the operator writes and the proxy reads.  Its serial
 * only grows; a file that does not verify, or is older than one seen before, fails closed.
 * Layer 3.
 * src: GRANT-13, PROXY-11; the payload is {"serial":N,"before":"TIME","executions":[{"jti","exp"}]}
 */
#ifndef KZ_CORE_EGRESS_REVOKE_H
#define KZ_CORE_EGRESS_REVOKE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/auto.h"
#include "base/err.h"
#include "core/egress/grant.h"

#define KZ_REVOKED_MOST 4096             /* executions; a revocation of more is one by time */
#define KZ_REVOKED_FILE "public/revoked" /* below STATE; kz up makes it */

struct kz_revoked; /* what is revoked */

/*
 * Read and verify STATE/public/revoked.
 * in: serial: of the newest one that the caller has seen, 0 for none
 * own: kz_revoked_free. err: revocation_invalid: absent, malformed, not signed by a
 * grant key of the ring, or of a smaller serial
 */
enum kz_rc kz_revoked_read(const char *path, const struct kz_keyring *keys, int64_t serial,
			   struct kz_revoked **out, struct kz_err *err);
void kz_revoked_free(struct kz_revoked *r);
KZ_AUTO(kz_auto_revoked_, struct kz_revoked *, kz_revoked_free)
#define kz_auto_revoked kz_auto(kz_auto_revoked_)

/* What it says: its serial; how many executions it lists; the time before which all grants are revoked. */
int64_t kz_revoked_serial(const struct kz_revoked *r);
size_t kz_revoked_count(const struct kz_revoked *r);   /* executions */
int64_t kz_revoked_before(const struct kz_revoked *r); /* Unix time; 0: none */
/* Is a grant revoked: its execution is listed, or it was issued before the time? in: r NULL: nothing was read, so everything is. wait: never; safe: any thread */
bool kz_revoked_has(const struct kz_revoked *r, const struct kz_grant *g);

/*
 * Add to the file of a state directory: an execution (32 hex digits), or every grant
 * issued before a Unix time (it never moves back), or nothing: then the file is only made
 * or signed anew where it is missing or of a former key.  Entries whose grants cannot be
 * valid any more are dropped.  Atomic; one writer at a time.
 * in: key is grant.key; execution NULL and before_s 0: nothing to add; now_ms: Unix time in milliseconds
 * out: serial (NULL: not wanted)
 * err: malformed_input (no execution id); revocations_full; no_permission; KZ_E_CANTCREAT, KZ_E_IO: the old file stays
 */
enum kz_rc kz_revoke(const char *state, const struct kz_secret *key, const char *execution,
		     int64_t before_s, int64_t now_ms, int64_t *serial, struct kz_err *err);

#endif
