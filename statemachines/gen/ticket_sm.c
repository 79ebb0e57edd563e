/* Do not edit: made by kzgen from statemachines/ticket.sm. */
#include "gen/ticket_sm.h"

#include <stddef.h>

static const char *const states[] = {
	[KZ_TICKET_S_NONE] = "none",
	[KZ_TICKET_S_WAITING] = "waiting",
	[KZ_TICKET_S_SERVED] = "served",
	[KZ_TICKET_S_TIMED_OUT] = "timed_out",
	[KZ_TICKET_S_GONE] = "gone",
};

static const char *const events[] = {
	[KZ_TICKET_E_ENQUEUE] = "enqueue",
	[KZ_TICKET_E_ASK] = "ask",
	[KZ_TICKET_E_SERVE] = "serve",
	[KZ_TICKET_E_TIME_OUT] = "time_out",
	[KZ_TICKET_E_LEAVE] = "leave",
};

static const char *const actions[] = {
	[KZ_TICKET_A_TAKE_NUMBER] = "take_number",
	[KZ_TICKET_A_NOTE_LIFE] = "note_life",
	[KZ_TICKET_A_DROP_TICKET] = "drop_ticket",
};

static const struct kz_sm_cell cells[KZ_TICKET_S_COUNT][KZ_TICKET_E_COUNT] = {
	[KZ_TICKET_S_NONE][KZ_TICKET_E_ENQUEUE] = { .to = KZ_TICKET_S_WAITING, .action = KZ_TICKET_A_TAKE_NUMBER, 
		.guards = KZ_GUARD_BIT(KZ_GUARD_ADMISSION_OPEN) | KZ_GUARD_BIT(KZ_GUARD_QUEUE_HAS_ROOM) },
	[KZ_TICKET_S_NONE][KZ_TICKET_E_ASK] = { .to = -1, .action = -1, .refusal = KZ_SM_NO },
	[KZ_TICKET_S_NONE][KZ_TICKET_E_SERVE] = { .to = -1, .action = -1, .refusal = KZ_SM_NO },
	[KZ_TICKET_S_NONE][KZ_TICKET_E_TIME_OUT] = { .to = -1, .action = -1, .refusal = KZ_SM_NO },
	[KZ_TICKET_S_NONE][KZ_TICKET_E_LEAVE] = { .to = -1, .action = -1, .refusal = KZ_SM_NO },
	[KZ_TICKET_S_WAITING][KZ_TICKET_E_ENQUEUE] = { .to = -1, .action = -1, .refusal = KZ_SM_BUG },
	[KZ_TICKET_S_WAITING][KZ_TICKET_E_ASK] = { .to = KZ_TICKET_S_WAITING, .action = KZ_TICKET_A_NOTE_LIFE, },
	[KZ_TICKET_S_WAITING][KZ_TICKET_E_SERVE] = { .to = KZ_TICKET_S_SERVED, .action = KZ_TICKET_A_DROP_TICKET, 
		.guards = KZ_GUARD_BIT(KZ_GUARD_FIRST_IN_LINE) },
	[KZ_TICKET_S_WAITING][KZ_TICKET_E_TIME_OUT] = { .to = KZ_TICKET_S_TIMED_OUT, .action = KZ_TICKET_A_DROP_TICKET, 
		.guards = KZ_GUARD_BIT(KZ_GUARD_WAIT_OVER) },
	[KZ_TICKET_S_WAITING][KZ_TICKET_E_LEAVE] = { .to = KZ_TICKET_S_GONE, .action = KZ_TICKET_A_DROP_TICKET, },
	[KZ_TICKET_S_SERVED][KZ_TICKET_E_ENQUEUE] = { .to = -1, .action = -1, .refusal = KZ_SM_BUG },
	[KZ_TICKET_S_SERVED][KZ_TICKET_E_ASK] = { .to = -1, .action = -1, .refusal = KZ_SM_NO },
	[KZ_TICKET_S_SERVED][KZ_TICKET_E_SERVE] = { .to = -1, .action = -1, .refusal = KZ_SM_BUG },
	[KZ_TICKET_S_SERVED][KZ_TICKET_E_TIME_OUT] = { .to = -1, .action = -1, .refusal = KZ_SM_NO },
	[KZ_TICKET_S_SERVED][KZ_TICKET_E_LEAVE] = { .to = -1, .action = -1, .refusal = KZ_SM_NO },
	[KZ_TICKET_S_TIMED_OUT][KZ_TICKET_E_ENQUEUE] = { .to = -1, .action = -1, .refusal = KZ_SM_BUG },
	[KZ_TICKET_S_TIMED_OUT][KZ_TICKET_E_ASK] = { .to = -1, .action = -1, .refusal = KZ_SM_NO },
	[KZ_TICKET_S_TIMED_OUT][KZ_TICKET_E_SERVE] = { .to = -1, .action = -1, .refusal = KZ_SM_NO },
	[KZ_TICKET_S_TIMED_OUT][KZ_TICKET_E_TIME_OUT] = { .to = -1, .action = -1, .refusal = KZ_SM_NO },
	[KZ_TICKET_S_TIMED_OUT][KZ_TICKET_E_LEAVE] = { .to = -1, .action = -1, .refusal = KZ_SM_NO },
	[KZ_TICKET_S_GONE][KZ_TICKET_E_ENQUEUE] = { .to = -1, .action = -1, .refusal = KZ_SM_BUG },
	[KZ_TICKET_S_GONE][KZ_TICKET_E_ASK] = { .to = -1, .action = -1, .refusal = KZ_SM_NO },
	[KZ_TICKET_S_GONE][KZ_TICKET_E_SERVE] = { .to = -1, .action = -1, .refusal = KZ_SM_NO },
	[KZ_TICKET_S_GONE][KZ_TICKET_E_TIME_OUT] = { .to = -1, .action = -1, .refusal = KZ_SM_NO },
	[KZ_TICKET_S_GONE][KZ_TICKET_E_LEAVE] = { .to = -1, .action = -1, .refusal = KZ_SM_NO },
};

const struct kz_sm kz_ticket_sm = {
	.name = "ticket", .states = states, .events = events, .actions = actions,
	.cells = &cells[0][0], .state_count = KZ_TICKET_S_COUNT, .event_count = KZ_TICKET_E_COUNT,
	.action_count = KZ_TICKET_A_COUNT, .initial = KZ_TICKET_S_NONE,
	.finals = 0 | UINT32_C(1) << KZ_TICKET_S_SERVED | UINT32_C(1) << KZ_TICKET_S_TIMED_OUT | UINT32_C(1) << KZ_TICKET_S_GONE,
};
