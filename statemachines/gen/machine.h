/* Do not edit: made by kzgen from statemachines/guards.tbl. */
#ifndef KZ_GEN_MACHINE_H
#define KZ_GEN_MACHINE_H

#include <stdint.h>

/* Every guard; a transition names the ones that must hold. */
enum kz_guard {
	KZ_GUARD_TOKEN_MATCHES, /* the call's token is the entry's current one */
	KZ_GUARD_EVIDENCE_OK, /* every surface was read and is clean */
	KZ_GUARD_IMAGE_MATCHES, /* the worker's image is the published one */
	KZ_GUARD_IMAGE_PUBLISHED, /* there is a published image */
	KZ_GUARD_UNDER_CEILING, /* fewer workers in any state than the ceiling, and fewer than wanted */
	KZ_GUARD_UNDER_CREATE_BOUND, /* fewer creates in flight than allowed */
	KZ_GUARD_ADMISSION_OPEN, /* reconciled, fresh inventory, not closed by the operator */
	KZ_GUARD_MEMBER_BELOW_LIMIT, /* the member holds fewer leases than allowed */
	KZ_GUARD_CONVERSATION_FREE, /* no lease of this conversation is in force */
	KZ_GUARD_EXPIRED, /* the owner's deadline passed by Valkey's clock, or its local holder is dead */
	KZ_GUARD_IN_FORCE, /* the deadline has not passed by Valkey's clock */
	KZ_GUARD_ABSENT_PROVED, /* the driver's absent was taken when a create or delete could no longer change it */
	KZ_GUARD_IDLE_TOO_LONG, /* warm without a break for the burst idle time */
	KZ_GUARD_OVER_DESIRED, /* more workers than wanted */
	KZ_GUARD_QUEUE_HAS_ROOM, /* fewer tickets wait than allowed */
	KZ_GUARD_FIRST_IN_LINE, /* no lower ticket is alive and eligible */
	KZ_GUARD_WAIT_OVER, /* the ticket's deadline passed by Valkey's clock */
	KZ_GUARD_AUDIT_WRITTEN, /* the audit store took the row */
	KZ_GUARD_COUNT
};
#define KZ_GUARD_BIT(g) (UINT32_C(1) << (g))

/* One row: its name and the reason (enum kz_reason) told when it does not hold. */
struct kz_guard_row {
	const char *name;
	int reason;
};
extern const struct kz_guard_row kz_guard_rows[KZ_GUARD_COUNT];

/* Why a pair is refused: ask again, the answer is no, it cannot happen. */
enum kz_sm_refusal { KZ_SM_NONE, KZ_SM_LATER, KZ_SM_NO, KZ_SM_BUG };

/* What a state does with an event. */
struct kz_sm_cell {
	int to;     /* state, -1: refused */
	int action; /* -1: none */
	uint32_t guards; /* bits of enum kz_guard that must all hold */
	enum kz_sm_refusal refusal;
};

/* A machine: cells[state * event_count + event] is complete. */
struct kz_sm {
	const char *name;
	const char *const *states;
	const char *const *events;
	const char *const *actions;
	const struct kz_sm_cell *cells;
	int state_count;
	int event_count;
	int action_count;
	int initial;
	uint32_t finals; /* bits by state */
};

/* All machines, by number. */
#define KZ_MACHINE_COUNT 4
extern const struct kz_sm *const kz_machines[KZ_MACHINE_COUNT];

#endif
