/* Lease, fence and deadline of a worker. */
#include "worker/tenure.h"

#include "base/str.h"
#include "rule/reason.h"

const char *kz_tenure_name(enum kz_tenure_state s)
{
	static const char *const names[] = { "clean",   "bound",     "ended",
					     "expired", "resetting", "broken" };

	return names[s];
}

static bool is_lease(const char *s)
{
	size_t n = 0;

	for (; s && s[n]; n++)
		if (!((s[n] >= '0' && s[n] <= '9') || (s[n] >= 'a' && s[n] <= 'f')))
			return false;
	return n >= 16 && n < KZ_TENURE_LEASE;
}

static bool is_ttl(struct kz_ms ttl)
{
	return ttl.ms > 0 && ttl.ms <= KZ_TENURE_TTL_MOST;
}

enum kz_rc kz_tenure_bind(struct kz_tenure *h, const char *lease, int64_t fence, struct kz_ms ttl,
			  struct kz_deadline now, bool *is_again, struct kz_err *err)
{
	*is_again = false;
	if (!is_lease(lease) || !is_ttl(ttl) || fence < 1)
		return kz_refuse(err, KZ_R_MALFORMED_INPUT, "a bind needs lease, fence and ttl_ms");
	if (h->state == KZ_TENURE_BOUND && kz_str_eq(h->lease, lease) && h->fence == fence &&
	    now.boot_ms < h->until.boot_ms) {
		*is_again = true;
		return KZ_OK;
	}
	if (h->state != KZ_TENURE_CLEAN)
		return kz_refuse(err, KZ_R_WORKER_REFUSED_BIND, "the worker is %s",
				 kz_tenure_name(h->state));
	if (fence <= h->fence)
		return kz_refuse(err, KZ_R_WORKER_REFUSED_BIND,
				 "the fence is not higher than the last one");
	if (kz_str_copy(h->lease, sizeof h->lease, lease, err) != KZ_OK)
		return KZ_E_DATA;
	h->fence = fence;
	h->until.boot_ms = now.boot_ms + ttl.ms;
	h->state = KZ_TENURE_BOUND;
	return KZ_OK;
}

enum kz_rc kz_tenure_check(const struct kz_tenure *h, const char *lease, struct kz_deadline now,
			   struct kz_err *err)
{
	if (h->state != KZ_TENURE_BOUND)
		return kz_refuse(err, KZ_R_WORKER_REFUSED, "the worker is %s",
				 kz_tenure_name(h->state));
	if (!lease || !kz_str_eq(lease, h->lease))
		return kz_refuse(err, KZ_R_WORKER_REFUSED, "another lease holds the worker");
	/* the timer may be late; the clock is not */
	if (now.boot_ms >= h->until.boot_ms)
		return kz_refuse(err, KZ_R_WORKER_REFUSED, "the lease is past its deadline");
	return KZ_OK;
}

enum kz_rc kz_tenure_extend(struct kz_tenure *h, const char *lease, int64_t clock_ms,
			    struct kz_ms ttl, struct kz_deadline now, struct kz_err *err)
{
	enum kz_rc rc = kz_tenure_check(h, lease, now, err);

	if (rc != KZ_OK)
		return rc;
	if (!is_ttl(ttl) || clock_ms < 0 || clock_ms > now.boot_ms)
		return kz_refuse(err, KZ_R_WORKER_REFUSED, "the clock given is not this worker's");
	/* never shorter: answers of two renewals may arrive in the other order */
	if (clock_ms + ttl.ms > h->until.boot_ms)
		h->until.boot_ms = clock_ms + ttl.ms;
	return KZ_OK;
}

enum kz_rc kz_tenure_reset(struct kz_tenure *h, const char *lease, struct kz_err *err)
{
	if (h->state != KZ_TENURE_BOUND && h->state != KZ_TENURE_ENDED)
		return kz_refuse(err, KZ_R_WORKER_REFUSED, "the worker is %s",
				 kz_tenure_name(h->state));
	if (!lease || !kz_str_eq(lease, h->lease))
		return kz_refuse(err, KZ_R_WORKER_REFUSED, "another lease holds the worker");
	h->state = KZ_TENURE_RESETTING;
	return KZ_OK;
}

void kz_tenure_clean(struct kz_tenure *h)
{
	h->state = KZ_TENURE_CLEAN;
	h->lease[0] = 0;
	h->label[0] = 0;
	h->is_private = false;
	h->until = KZ_NEVER;
}
