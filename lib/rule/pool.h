/*
 * The pool: how many workers are wanted, and what to do next.  Pure.
 *
 *   in use  = leased + resetting
 *   desired = min(ceiling, max(warm_min, in use + target_idle))        [POOL-3, POOL-4]
 *
 * Every worker in any state counts against the ceiling [POOL-5]; a retiring one
 * serves nobody and is not counted as a worker that is there.  The deciding copy
 * runs inside Valkey (lib/valkey); both are held to tests/golden/pool.tsv.
 * Layer 2.
 */
#ifndef KZ_RULE_POOL_H
#define KZ_RULE_POOL_H

#include <stdint.h>

struct kz_pool {
	/* settings */
	int64_t warm_min, target_idle, ceiling, create_bound;
	/* entries by state */
	int64_t creating, warm, leased, resetting, retiring;
	/* tickets that could be served now (member below its limit, waiter alive) */
	int64_t waiting;
	/* warm workers that were idle for the burst idle time */
	int64_t idle_long;
};

/* The number of workers wanted. wait: never. src: POOL-4 */
int64_t kz_pool_desired(const struct kz_pool *p);
/* Everything that counts against the ceiling. src: POOL-5 */
int64_t kz_pool_allocated(const struct kz_pool *p);
/*
 * How many creates to start now: up to the desired number, or, when tickets wait
 * and nothing is warm, one for each ticket that no create under way will serve;
 * never over the create bound or the ceiling.  src: POOL-6, POOL-21, POOL-26
 */
int64_t kz_pool_creates(const struct kz_pool *p);
/* How many long-idle warm workers to retire now: what is over the desired number, none while anybody waits. src: POOL-7 */
int64_t kz_pool_retires(const struct kz_pool *p);

#endif
