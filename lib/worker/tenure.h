/*
 * Whose worker this is: bound lease, fence and deadline.  The worker's own refusal
 * of a second or stale owner, whatever the authority lost [FENCE-12, EXEC-4].
 * Pure: the caller brings the time.
 */
#ifndef KZ_WORKER_TENURE_H
#define KZ_WORKER_TENURE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/time.h"

#define KZ_TENURE_LEASE 65
#define KZ_TENURE_LABEL 128
#define KZ_TENURE_TTL_MOST (86400LL * 1000) /* as SANDBOX_LEASE_TTL_SECONDS at most */

enum kz_tenure_state {
	KZ_TENURE_CLEAN,   /* proved clean, nobody's */
	KZ_TENURE_BOUND,   /* one lease's */
	KZ_TENURE_ENDED,   /* the holder's connection dropped: only a reset or deletion is left */
	KZ_TENURE_EXPIRED, /* its deadline passed: only deletion is left [FENCE-1] */
	KZ_TENURE_RESETTING,
	KZ_TENURE_BROKEN, /* something could not be ended or made: only deletion is left */
};

struct kz_tenure {
	enum kz_tenure_state state;
	char lease[KZ_TENURE_LEASE];
	int64_t fence; /* highest ever seen */
	struct kz_deadline until;
	char label[KZ_TENURE_LABEL]; /* what the workspace holds; "" when that is not known */
	bool is_private; /* a program of this lease had some of a private selection before it [PRJ-52] */
};

/* "clean", "bound", ... as health tells it; static. */
const char *kz_tenure_name(enum kz_tenure_state s);
/* Bind. out: is_again when it is the same lease and fence once more. err: worker_refused_bind */
enum kz_rc kz_tenure_bind(struct kz_tenure *h, const char *lease, int64_t fence, struct kz_ms ttl,
			  struct kz_deadline now, bool *is_again, struct kz_err *err);
/* Move the deadline to clock_ms + ttl; never past ttl from now. err: worker_refused */
enum kz_rc kz_tenure_extend(struct kz_tenure *h, const char *lease, int64_t clock_ms,
			    struct kz_ms ttl, struct kz_deadline now, struct kz_err *err);
/* May this lease use the worker now? err: worker_refused */
enum kz_rc kz_tenure_check(const struct kz_tenure *h, const char *lease, struct kz_deadline now,
			   struct kz_err *err);
/* May this lease be reset now? Marks it resetting. err: worker_refused */
enum kz_rc kz_tenure_reset(struct kz_tenure *h, const char *lease, struct kz_err *err);
/* The reset's measurements were taken: nobody's again. */
void kz_tenure_clean(struct kz_tenure *h);

#endif
