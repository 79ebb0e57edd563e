/* Do not edit: made by kzgen from statemachines/worker.sm. */
#ifndef KZ_GEN_WORKER_SM_H
#define KZ_GEN_WORKER_SM_H

#include "gen/machine.h"

enum kz_worker_state {
	KZ_WORKER_S_ABSENT, /* no entry; the name may be used */
	KZ_WORKER_S_CREATING, /* a create was asked of the driver, with the published image and this entry's token */
	KZ_WORKER_S_WARM, /* proved clean or fresh, nobody's, may be leased */
	KZ_WORKER_S_LEASED, /* one lease is in force, single-tenant */
	KZ_WORKER_S_RESETTING, /* the lease ended, the holder of the token cleans and proves */
	KZ_WORKER_S_RETIRING, /* never used again; counted until its absence is proved */
	KZ_WORKER_S_COUNT
};

enum kz_worker_event {
	KZ_WORKER_E_CREATE, /* the pool wants one more worker */
	KZ_WORKER_E_READY, /* the driver says present and the worker says ready */
	KZ_WORKER_E_CREATE_FAILED, /* the driver is certain that nothing was made */
	KZ_WORKER_E_CREATE_UNKNOWN, /* nobody knows whether it was made (timeout, lost answer, creator dead) */
	KZ_WORKER_E_ASSIGN, /* the first ticket in line gets this worker */
	KZ_WORKER_E_RELEASE, /* the holder ends its lease and begins the reset */
	KZ_WORKER_E_EXPIRE, /* the owner's deadline passed, or its local holder is dead */
	KZ_WORKER_E_PUBLISH, /* the reset was judged clean */
	KZ_WORKER_E_RESET_FAILED, /* the reset was judged not clean, or the worker is single-use */
	KZ_WORKER_E_ABANDON, /* the holder gives the worker up (bind refused, connection lost) */
	KZ_WORKER_E_QUARANTINE, /* something about the worker could not be confirmed */
	KZ_WORKER_E_IDLE_RETIRE, /* warm, above the wanted number and idle too long */
	KZ_WORKER_E_IMAGE_CHANGED, /* the worker's image is not the published one */
	KZ_WORKER_E_LOST, /* dead, unhealthy, or missing in a complete inventory */
	KZ_WORKER_E_ABSENT_CONFIRMED, /* the driver says absent, at a time when that is a proof */
	KZ_WORKER_E_ORPHAN_FOUND, /* in the inventory, with no entry here */
	KZ_WORKER_E_COUNT
};

enum kz_worker_action {
	KZ_WORKER_A_START_CREATE, /* count it in and hand the create to the controller of its node */
	KZ_WORKER_A_START_LEASE, /* fresh token, next fence, deadline; the idle clock ends */
	KZ_WORKER_A_START_RESET, /* the lease ends, fresh token, deadline of the reset */
	KZ_WORKER_A_START_DELETE, /* fresh token; ask the controller of its node for deletion */
	KZ_WORKER_A_MARK_QUARANTINE, /* as start_delete, and mark the entry */
	KZ_WORKER_A_WAKE_WAITERS, /* fresh token, idle clock starts; serve the line */
	KZ_WORKER_A_FREE_CAPACITY, /* drop the entry; serve the line */
	KZ_WORKER_A_COUNT
};

extern const struct kz_sm kz_worker_sm;

#endif
