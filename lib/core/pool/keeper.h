/*
 * The keeper: what kz-controller does.  One process, one loop.
 *
 * It makes and deletes workers through the driver as Valkey decides, keeps the
 * warm pool, recovers what was left behind by anybody's crash, reports what
 * really runs, and moves transitions from Valkey's outbox to the audit store.
 * Admission is open only while all of that works: settings make sense, Valkey
 * answers and evicts nothing, the driver lists its workers, the image is
 * published, the audit store takes rows [POOL-3..7, POOL-14, LEASE-18, LEASE-19,
 * FENCE-1..15, AUD-10].  It decides nothing about allocation.  Layer 3.
 */
#ifndef KZ_CORE_POOL_KEEPER_H
#define KZ_CORE_POOL_KEEPER_H

#include "base/err.h"

struct kz_keeper_options {
	const char *state; /* state directory, NULL: as kz_conf_load finds it */
	int ready_fd;      /* gets a newline once admission is open; -1: none */
};

/*
 * Run until told to end.  SIGTERM: take nobody new, wait for leases (while Valkey cannot
 * be asked, for workers that say they are held) up to the wall bound and a reset, delete
 * every worker of this node, return KZ_OK.  A second SIGTERM, or SIGINT: do not wait.
 * err: what keeps it from running at all (no state directory, no keys, no rights);
 * everything else is waited out with admission closed.
 */
enum kz_rc kz_keeper_run(const struct kz_keeper_options *o, struct kz_err *err);

/* Remove libraries of other versions that no deployment uses. out: how many */
enum kz_rc kz_keeper_prune(const char *state, int *removed, struct kz_err *err);

#endif
