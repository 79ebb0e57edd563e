/* Do not edit: made by kzgen from statemachines/lease.sm. */
#ifndef KZ_GEN_LEASE_SM_H
#define KZ_GEN_LEASE_SM_H

#include "gen/machine.h"

enum kz_lease_state {
	KZ_LEASE_S_NONE, /* not granted yet */
	KZ_LEASE_S_HELD, /* in force: one holder, one worker, a deadline by Valkey's clock */
	KZ_LEASE_S_RELEASED, /* the holder ended it; the worker is being reset */
	KZ_LEASE_S_EXPIRED, /* its deadline passed or its local holder died; the worker is deleted */
	KZ_LEASE_S_LOST, /* its worker died, was given up or could not be confirmed */
	KZ_LEASE_S_COUNT
};

enum kz_lease_event {
	KZ_LEASE_E_GRANT, /* a worker was assigned */
	KZ_LEASE_E_RENEW, /* the holder is alive and wants more time */
	KZ_LEASE_E_RELEASE, /* the holder is done */
	KZ_LEASE_E_EXPIRE, /* the deadline passed, or the local holder is dead */
	KZ_LEASE_E_LOSE, /* the worker left under the lease */
	KZ_LEASE_E_COUNT
};

enum kz_lease_action {
	KZ_LEASE_A_BIND_WORKER, /* counts for the member and the conversation */
	KZ_LEASE_A_MOVE_DEADLINE, /* deadline = now + TTL, by Valkey's clock */
	KZ_LEASE_A_END_LEASE, /* counts no longer; the token is spent */
	KZ_LEASE_A_COUNT
};

extern const struct kz_sm kz_lease_sm;

#endif
