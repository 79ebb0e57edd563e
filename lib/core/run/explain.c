/* What the caller is told beside the status. */
#include <string.h>

#include "core/run/job.h"
#include "rule/reason.h"

/* A bound is named with its setting and what that is, so that the reader knows whose it is. */
static void name_bound(const struct kz_job *j, enum kz_reason r, struct kz_err *err)
{
	const struct kz_settings *set = &j->conf.set;
	/* the table's text ends with the names of the settings */
	const char *text = kz_reason_text(r);
	int n = (int)strcspn(text, "(");

	if (r == KZ_R_WALL_EXCEEDED && j->wall.ms < set->sandbox_max_wall_seconds * 1000)
		kz_refuse(err, r, "%.*s(-t %lld)", n, text, (long long)j->wall.ms);
	else if (r == KZ_R_WALL_EXCEEDED)
		kz_refuse(err, r, "%.*s(SANDBOX_MAX_WALL_SECONDS = %lld)", n, text,
			  (long long)set->sandbox_max_wall_seconds);
	else if (r == KZ_R_MEMORY_EXCEEDED)
		kz_refuse(err, r, "%.*s(KZ_RUN_MEMORY_BYTES = %lld)", n, text,
			  (long long)set->kz_run_memory_bytes);
	else if (r == KZ_R_PIDS_EXCEEDED)
		kz_refuse(err, r, "%.*s(KZ_RUN_PIDS = %lld)", n, text, (long long)set->kz_run_pids);
	else
		kz_refuse(err, r, NULL);
}

void kz_job_explain(const struct kz_job *j, const struct kz_verdict *v, struct kz_run_result *out)
{
	out->has_reason = v->has_reason;
	if (!v->has_reason)
		return;
	if (j->facts.has_failure && j->facts.failure == v->reason && j->failure.text[0])
		out->err = j->failure;
	else
		name_bound(j, v->reason, &out->err);
	kz_err_reason(&out->err, kz_reason_code(v->reason));
}
