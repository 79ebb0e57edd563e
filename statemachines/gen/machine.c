/* Do not edit: made by kzgen from statemachines/guards.tbl. */
#include "gen/machine.h"

#include "gen/lease_sm.h"
#include "gen/run_sm.h"
#include "gen/ticket_sm.h"
#include "gen/worker_sm.h"
#include "gen/reasons.h"

const struct kz_guard_row kz_guard_rows[KZ_GUARD_COUNT] = {
	[KZ_GUARD_TOKEN_MATCHES] = { .name = "token_matches", .reason = KZ_R_TOKEN_SUPERSEDED },
	[KZ_GUARD_EVIDENCE_OK] = { .name = "evidence_ok", .reason = KZ_R_RESET_UNCLEAN },
	[KZ_GUARD_IMAGE_MATCHES] = { .name = "image_matches", .reason = KZ_R_IMAGE_MISMATCH },
	[KZ_GUARD_IMAGE_PUBLISHED] = { .name = "image_published", .reason = KZ_R_IMAGE_UNPUBLISHED },
	[KZ_GUARD_UNDER_CEILING] = { .name = "under_ceiling", .reason = KZ_R_CEILING_REACHED },
	[KZ_GUARD_UNDER_CREATE_BOUND] = { .name = "under_create_bound", .reason = KZ_R_CEILING_REACHED },
	[KZ_GUARD_ADMISSION_OPEN] = { .name = "admission_open", .reason = KZ_R_DEPLOYMENT_CLOSED },
	[KZ_GUARD_MEMBER_BELOW_LIMIT] = { .name = "member_below_limit", .reason = KZ_R_MEMBER_LIMIT },
	[KZ_GUARD_CONVERSATION_FREE] = { .name = "conversation_free", .reason = KZ_R_WORKSPACE_BUSY },
	[KZ_GUARD_EXPIRED] = { .name = "expired", .reason = KZ_R_NOT_DUE },
	[KZ_GUARD_IN_FORCE] = { .name = "in_force", .reason = KZ_R_LEASE_LOST },
	[KZ_GUARD_ABSENT_PROVED] = { .name = "absent_proved", .reason = KZ_R_ABSENCE_UNPROVED },
	[KZ_GUARD_IDLE_TOO_LONG] = { .name = "idle_too_long", .reason = KZ_R_NOT_DUE },
	[KZ_GUARD_OVER_DESIRED] = { .name = "over_desired", .reason = KZ_R_NOT_DUE },
	[KZ_GUARD_QUEUE_HAS_ROOM] = { .name = "queue_has_room", .reason = KZ_R_QUEUE_FULL },
	[KZ_GUARD_FIRST_IN_LINE] = { .name = "first_in_line", .reason = KZ_R_NOT_IN_TURN },
	[KZ_GUARD_WAIT_OVER] = { .name = "wait_over", .reason = KZ_R_NOT_DUE },
	[KZ_GUARD_AUDIT_WRITTEN] = { .name = "audit_written", .reason = KZ_R_AUDIT_UNAVAILABLE },
};

const struct kz_sm *const kz_machines[KZ_MACHINE_COUNT] = {
	&kz_lease_sm,
	&kz_run_sm,
	&kz_ticket_sm,
	&kz_worker_sm,
};
