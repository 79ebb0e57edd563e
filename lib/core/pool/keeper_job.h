/*
 * Verbs of the driver as the keeper uses them: in line, under way, finished; for
 * the files of core/pool only.  How many creates run is Valkey's decision; deletes
 * are bounded here.  Layer 3.
 */
#ifndef KZ_CORE_POOL_KEEPER_JOB_H
#define KZ_CORE_POOL_KEEPER_JOB_H

#include <stdbool.h>

#include "core/driver/driver.h"
#include "core/pool/authority_keeper.h"

struct kz_keeper;

enum kz_job_kind { KZ_JOB_PROBE, KZ_JOB_IMAGE, KZ_JOB_LIST, KZ_JOB_CREATE, KZ_JOB_DELETE };

/* One verb of the driver: waiting for its turn (driver NULL) or under way. */
struct kz_job {
	struct kz_job *next;
	enum kz_job_kind kind;
	struct kz_task task; /* CREATE and DELETE */
	int64_t taken_ms;    /* LIST: Valkey's clock before it was asked */
	struct kz_driver_job *driver;
	struct kz_deadline not_before; /* a delete that is tried again */
	struct kz_deadline give_up;
	int tries;
};

/* Put a verb in line unless the same one is there. */
void kz_job_add(struct kz_keeper *k, enum kz_job_kind kind, const struct kz_task *task);
bool kz_job_has(const struct kz_keeper *k, enum kz_job_kind kind);
size_t kz_job_count(const struct kz_keeper *k, enum kz_job_kind kind);
/* Start what may start, look after what runs, hand finished ones on. */
void kz_job_tend(struct kz_keeper *k);
/* Forget all jobs; their driver processes are killed. */
void kz_job_free_all(struct kz_keeper *k);

#endif
