/* The pool rule: one formula and its bounds. */
#include "rule/pool.h"

static int64_t least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static int64_t most(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

static int64_t in_use(const struct kz_pool *p)
{
	return p->leased + p->resetting;
}

/* Workers that serve, or will. */
static int64_t there(const struct kz_pool *p)
{
	return p->creating + p->warm + in_use(p);
}

int64_t kz_pool_desired(const struct kz_pool *p)
{
	return least(p->ceiling, most(p->warm_min, in_use(p) + p->target_idle));
}

int64_t kz_pool_allocated(const struct kz_pool *p)
{
	return there(p) + p->retiring;
}

int64_t kz_pool_creates(const struct kz_pool *p)
{
	int64_t want = kz_pool_desired(p) - there(p);

	if (p->waiting > 0 && p->warm == 0)
		want = most(want, p->waiting - p->creating);
	want = least(want, p->create_bound - p->creating);
	want = least(want, p->ceiling - kz_pool_allocated(p));
	return most(want, 0);
}

int64_t kz_pool_retires(const struct kz_pool *p)
{
	int64_t surplus = there(p) - kz_pool_desired(p);

	if (p->waiting > 0)
		return 0;
	return most(0, least(surplus, least(p->idle_long, p->warm)));
}
