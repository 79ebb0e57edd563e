/* Do not edit: made by kzgen from statemachines/lease.sm. */
#include "gen/lease_sm.h"

#include <stddef.h>

static const char *const states[] = {
	[KZ_LEASE_S_NONE] = "none",
	[KZ_LEASE_S_HELD] = "held",
	[KZ_LEASE_S_RELEASED] = "released",
	[KZ_LEASE_S_EXPIRED] = "expired",
	[KZ_LEASE_S_LOST] = "lost",
};

static const char *const events[] = {
	[KZ_LEASE_E_GRANT] = "grant",
	[KZ_LEASE_E_RENEW] = "renew",
	[KZ_LEASE_E_RELEASE] = "release",
	[KZ_LEASE_E_EXPIRE] = "expire",
	[KZ_LEASE_E_LOSE] = "lose",
};

static const char *const actions[] = {
	[KZ_LEASE_A_BIND_WORKER] = "bind_worker",
	[KZ_LEASE_A_MOVE_DEADLINE] = "move_deadline",
	[KZ_LEASE_A_END_LEASE] = "end_lease",
};

static const struct kz_sm_cell cells[KZ_LEASE_S_COUNT][KZ_LEASE_E_COUNT] = {
	[KZ_LEASE_S_NONE][KZ_LEASE_E_GRANT] = { .to = KZ_LEASE_S_HELD, .action = KZ_LEASE_A_BIND_WORKER, 
		.guards = KZ_GUARD_BIT(KZ_GUARD_ADMISSION_OPEN) | KZ_GUARD_BIT(KZ_GUARD_MEMBER_BELOW_LIMIT) | KZ_GUARD_BIT(KZ_GUARD_CONVERSATION_FREE) },
	[KZ_LEASE_S_NONE][KZ_LEASE_E_RENEW] = { .to = -1, .action = -1, .refusal = KZ_SM_NO },
	[KZ_LEASE_S_NONE][KZ_LEASE_E_RELEASE] = { .to = -1, .action = -1, .refusal = KZ_SM_NO },
	[KZ_LEASE_S_NONE][KZ_LEASE_E_EXPIRE] = { .to = -1, .action = -1, .refusal = KZ_SM_NO },
	[KZ_LEASE_S_NONE][KZ_LEASE_E_LOSE] = { .to = -1, .action = -1, .refusal = KZ_SM_NO },
	[KZ_LEASE_S_HELD][KZ_LEASE_E_GRANT] = { .to = -1, .action = -1, .refusal = KZ_SM_BUG },
	[KZ_LEASE_S_HELD][KZ_LEASE_E_RENEW] = { .to = KZ_LEASE_S_HELD, .action = KZ_LEASE_A_MOVE_DEADLINE, 
		.guards = KZ_GUARD_BIT(KZ_GUARD_TOKEN_MATCHES) | KZ_GUARD_BIT(KZ_GUARD_IN_FORCE) },
	[KZ_LEASE_S_HELD][KZ_LEASE_E_RELEASE] = { .to = KZ_LEASE_S_RELEASED, .action = KZ_LEASE_A_END_LEASE, 
		.guards = KZ_GUARD_BIT(KZ_GUARD_TOKEN_MATCHES) | KZ_GUARD_BIT(KZ_GUARD_IN_FORCE) },
	[KZ_LEASE_S_HELD][KZ_LEASE_E_EXPIRE] = { .to = KZ_LEASE_S_EXPIRED, .action = KZ_LEASE_A_END_LEASE, 
		.guards = KZ_GUARD_BIT(KZ_GUARD_EXPIRED) },
	[KZ_LEASE_S_HELD][KZ_LEASE_E_LOSE] = { .to = KZ_LEASE_S_LOST, .action = KZ_LEASE_A_END_LEASE, },
	[KZ_LEASE_S_RELEASED][KZ_LEASE_E_GRANT] = { .to = -1, .action = -1, .refusal = KZ_SM_BUG },
	[KZ_LEASE_S_RELEASED][KZ_LEASE_E_RENEW] = { .to = -1, .action = -1, .refusal = KZ_SM_NO },
	[KZ_LEASE_S_RELEASED][KZ_LEASE_E_RELEASE] = { .to = KZ_LEASE_S_RELEASED, .action = -1, 
		.guards = KZ_GUARD_BIT(KZ_GUARD_TOKEN_MATCHES) },
	[KZ_LEASE_S_RELEASED][KZ_LEASE_E_EXPIRE] = { .to = -1, .action = -1, .refusal = KZ_SM_NO },
	[KZ_LEASE_S_RELEASED][KZ_LEASE_E_LOSE] = { .to = -1, .action = -1, .refusal = KZ_SM_NO },
	[KZ_LEASE_S_EXPIRED][KZ_LEASE_E_GRANT] = { .to = -1, .action = -1, .refusal = KZ_SM_BUG },
	[KZ_LEASE_S_EXPIRED][KZ_LEASE_E_RENEW] = { .to = -1, .action = -1, .refusal = KZ_SM_NO },
	[KZ_LEASE_S_EXPIRED][KZ_LEASE_E_RELEASE] = { .to = -1, .action = -1, .refusal = KZ_SM_NO },
	[KZ_LEASE_S_EXPIRED][KZ_LEASE_E_EXPIRE] = { .to = -1, .action = -1, .refusal = KZ_SM_NO },
	[KZ_LEASE_S_EXPIRED][KZ_LEASE_E_LOSE] = { .to = -1, .action = -1, .refusal = KZ_SM_NO },
	[KZ_LEASE_S_LOST][KZ_LEASE_E_GRANT] = { .to = -1, .action = -1, .refusal = KZ_SM_BUG },
	[KZ_LEASE_S_LOST][KZ_LEASE_E_RENEW] = { .to = -1, .action = -1, .refusal = KZ_SM_NO },
	[KZ_LEASE_S_LOST][KZ_LEASE_E_RELEASE] = { .to = -1, .action = -1, .refusal = KZ_SM_NO },
	[KZ_LEASE_S_LOST][KZ_LEASE_E_EXPIRE] = { .to = -1, .action = -1, .refusal = KZ_SM_NO },
	[KZ_LEASE_S_LOST][KZ_LEASE_E_LOSE] = { .to = -1, .action = -1, .refusal = KZ_SM_NO },
};

const struct kz_sm kz_lease_sm = {
	.name = "lease", .states = states, .events = events, .actions = actions,
	.cells = &cells[0][0], .state_count = KZ_LEASE_S_COUNT, .event_count = KZ_LEASE_E_COUNT,
	.action_count = KZ_LEASE_A_COUNT, .initial = KZ_LEASE_S_NONE,
	.finals = 0 | UINT32_C(1) << KZ_LEASE_S_RELEASED | UINT32_C(1) << KZ_LEASE_S_EXPIRED | UINT32_C(1) << KZ_LEASE_S_LOST,
};
