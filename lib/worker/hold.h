/*
 * Whose worker this is: bound lease, fence and deadline.  The worker's own refusal
 * of a second or stale owner, whatever the authority lost [FENCE-12, EXEC-4].
 * Pure: the caller brings the time.
 */
#ifndef KZ_WORKER_HOLD_H
#define KZ_WORKER_HOLD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/time.h"

#define KZ_HOLD_LEASE 65
#define KZ_HOLD_TTL_MOST (86400LL * 1000) /* as SANDBOX_LEASE_TTL_SECONDS at most */

enum kz_hold_state {
	KZ_HOLD_CLEAN,     /* proved clean, nobody's */
	KZ_HOLD_BOUND,     /* one lease's */
	KZ_HOLD_ENDED,     /* the holder's connection dropped: only a reset or deletion is left */
	KZ_HOLD_EXPIRED,   /* its deadline passed: only deletion is left [FENCE-1] */
	KZ_HOLD_RESETTING,
	KZ_HOLD_BROKEN,    /* something could not be ended or made: only deletion is left */
};

struct kz_hold {
	enum kz_hold_state state;
	char lease[KZ_HOLD_LEASE];
	int64_t fence;          /* highest ever seen */
	struct kz_deadline until;
};

const char *kz_hold_name(enum kz_hold_state s);
/* Bind. out: is_again when it is the same lease and fence once more. err: worker_refused_bind */
enum kz_rc kz_hold_bind(struct kz_hold *h, const char *lease, int64_t fence, struct kz_ms ttl, struct kz_deadline now, bool *is_again, struct kz_err *err);
/* Move the deadline to clock_ms + ttl; never past ttl from now. err: worker_refused */
enum kz_rc kz_hold_extend(struct kz_hold *h, const char *lease, int64_t clock_ms, struct kz_ms ttl, struct kz_deadline now, struct kz_err *err);
/* May this lease use the worker now? err: worker_refused */
enum kz_rc kz_hold_check(const struct kz_hold *h, const char *lease, struct kz_deadline now, struct kz_err *err);
/* May this lease be reset now? Marks it resetting. err: worker_refused */
enum kz_rc kz_hold_reset(struct kz_hold *h, const char *lease, struct kz_err *err);
/* The reset's measurements were taken: nobody's again. */
void kz_hold_clean(struct kz_hold *h);

#endif
