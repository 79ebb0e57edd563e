/* The run's own state machine: each step is asked of the table, then recorded. */
#include "core/run/job.h"
#include "rule/sm.h"

enum kz_rc kz_job_step(struct kz_job *j, enum kz_run_event event, struct kz_err *err)
{
	uint32_t holds = j->is_dispatch_written ? KZ_GUARD_BIT(KZ_GUARD_AUDIT_WRITTEN) : 0;
	int to = j->state, action = -1;
	enum kz_rc rc;

	if (!kz_deadline_passed(j->sure))
		holds |= KZ_GUARD_BIT(KZ_GUARD_IN_FORCE);
	rc = kz_sm_step(&kz_run_sm, (int)j->state, (int)event, holds, &to, &action, err);
	if (!rc)
		rc = kz_audit_run_step(j->audit, j->run,
				       kz_sm_state_name(&kz_run_sm, (int)j->state),
				       kz_sm_event_name(&kz_run_sm, (int)event),
				       kz_sm_state_name(&kz_run_sm, to), err);
	if (!rc)
		j->state = (enum kz_run_state)to;
	return rc;
}
