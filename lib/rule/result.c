/* What a run's end means: facts in, verdict out. */
#include "rule/result.h"

#include <signal.h>
#include <string.h>

#include "rule/reason.h"

#define STATUS_WALL 124
#define STATUS_KZ 125
#define STATUS_CANNOT_EXECUTE 126
#define STATUS_NOT_FOUND 127

static const char *const outcomes[] = {
	[KZ_OUTCOME_COMPLETED] = "completed", [KZ_OUTCOME_FAILED] = "failed",
	[KZ_OUTCOME_NOT_RUN] = "not_run",     [KZ_OUTCOME_BOUNDED] = "bounded",
	[KZ_OUTCOME_REFUSED] = "refused",     [KZ_OUTCOME_UNKNOWN] = "outcome_unknown",
};

static const char *const causes[] = {
	[KZ_CAUSE_NONE] = "",
	[KZ_CAUSE_EXIT] = "exit",
	[KZ_CAUSE_SIGNAL] = "signal",
	[KZ_CAUSE_WALL] = "wall",
	[KZ_CAUSE_CPU] = "cpu",
	[KZ_CAUSE_MEMORY] = "memory",
	[KZ_CAUSE_PIDS] = "pids",
	[KZ_CAUSE_LEASE_LOST] = "lease_lost",
	[KZ_CAUSE_TRANSPORT_LOST] = "transport_lost",
	[KZ_CAUSE_UNKNOWN] = "unknown",
};

#define CAUSE_COUNT (sizeof(causes) / sizeof(*causes))

const char *kz_outcome_name(enum kz_outcome o)
{
	return outcomes[o];
}

const char *kz_cause_name(enum kz_cause c)
{
	return causes[c];
}

bool kz_cause_find(const char *name, enum kz_cause *out)
{
	for (size_t i = 1; i < CAUSE_COUNT; i++) {
		if (!strcmp(name, causes[i])) {
			*out = (enum kz_cause)i;
			return true;
		}
	}
	*out = KZ_CAUSE_UNKNOWN;
	return false;
}

static void blame(struct kz_verdict *v, enum kz_reason r)
{
	v->has_reason = true;
	v->reason = r;
	v->json_status = kz_reason_status(r);
}

/* Code never started. */
static void judge_not_started(const struct kz_run_facts *f, struct kz_verdict *v)
{
	enum kz_reason r = f->has_failure ? f->failure : KZ_R_INTERNAL;
	int status = kz_reason_status(r);

	blame(v, r);
	/* 75 to 78: state or policy said no; the rest could not be started. */
	v->outcome =
		status >= 75 && kz_reason_is_refusal(r) ? KZ_OUTCOME_REFUSED : KZ_OUTCOME_NOT_RUN;
	v->plain_status = status == 64 ? 64 : STATUS_KZ;
	if (r == KZ_R_CANNOT_EXECUTE)
		v->plain_status = STATUS_CANNOT_EXECUTE;
	if (r == KZ_R_INTERPRETER_MISSING)
		v->plain_status = STATUS_NOT_FOUND;
	/* A reason whose own status says success must never make this run one. */
	if (v->json_status == 0)
		v->json_status = kz_reason_status(KZ_R_INTERNAL);
}

static void judge_unknown(enum kz_cause cause, struct kz_verdict *v)
{
	v->outcome = KZ_OUTCOME_UNKNOWN;
	v->cause = cause;
	blame(v, cause == KZ_CAUSE_LEASE_LOST ? KZ_R_LEASE_LOST : KZ_R_OUTCOME_UNKNOWN);
	v->json_status = kz_reason_status(KZ_R_OUTCOME_UNKNOWN);
	v->plain_status = STATUS_KZ;
}

/* The program ended by itself: its own status, then what kz failed to deliver. */
static void judge_own_end(const struct kz_run_facts *f, struct kz_verdict *v)
{
	bool is_exit = f->cause == KZ_CAUSE_EXIT;

	v->has_exit = is_exit;
	v->exit = is_exit ? f->exit : 0;
	v->has_signal = !is_exit;
	v->signal = is_exit ? 0 : f->signal;
	v->plain_status = is_exit ? f->exit : 128 + f->signal;
	v->json_status = v->plain_status ? 1 : 0;
	v->outcome = v->plain_status ? KZ_OUTCOME_FAILED : KZ_OUTCOME_COMPLETED;
	if (f->has_failure) {
		/* a program that was ended because its output could not be delivered has no status of its own */
		bool is_ours = f->failure == KZ_R_STDOUT_FAILED && !is_exit;
		int was = is_ours ? 0 : v->json_status;

		v->outcome = KZ_OUTCOME_FAILED;
		blame(v, f->failure);
		if (was || v->json_status == 0)
			v->json_status = 1;
		if (v->plain_status == 0 || is_ours)
			v->plain_status = STATUS_KZ;
	} else if (f->is_output_cut && v->plain_status == 0) {
		v->has_reason = true;
		v->reason = KZ_R_OUTPUT_TRUNCATED;
		v->plain_status = STATUS_KZ;
	}
}

static void judge_bounded(enum kz_cause cause, struct kz_verdict *v)
{
	static const enum kz_reason reasons[] = {
		[KZ_CAUSE_WALL] = KZ_R_WALL_EXCEEDED,
		[KZ_CAUSE_CPU] = KZ_R_CPU_EXCEEDED,
		[KZ_CAUSE_MEMORY] = KZ_R_MEMORY_EXCEEDED,
		[KZ_CAUSE_PIDS] = KZ_R_PIDS_EXCEEDED,
	};

	v->outcome = KZ_OUTCOME_BOUNDED;
	v->has_reason = true;
	v->reason = reasons[cause];
	v->json_status = 1;
	v->plain_status = cause == KZ_CAUSE_WALL ? STATUS_WALL : STATUS_KZ;
}

static void judge_started(const struct kz_run_facts *f, struct kz_verdict *v)
{
	v->cause = f->cause;
	switch (f->cause) {
	case KZ_CAUSE_EXIT:
	case KZ_CAUSE_SIGNAL: judge_own_end(f, v); break;
	case KZ_CAUSE_WALL:
	case KZ_CAUSE_CPU:
	case KZ_CAUSE_MEMORY:
	case KZ_CAUSE_PIDS: judge_bounded(f->cause, v); break;
	case KZ_CAUSE_LEASE_LOST: /* whoever lost the lease has no say in what happened [LEASE-23] */
	case KZ_CAUSE_NONE:
	case KZ_CAUSE_TRANSPORT_LOST:
	case KZ_CAUSE_UNKNOWN:
		judge_unknown(f->cause == KZ_CAUSE_NONE ? KZ_CAUSE_UNKNOWN : f->cause, v);
		break;
	}
}

void kz_result_judge(const struct kz_run_facts *f, struct kz_verdict *out)
{
	struct kz_verdict v = { .outcome = KZ_OUTCOME_UNKNOWN, .cause = KZ_CAUSE_NONE };

	if (!f->is_dispatched || (f->has_record && !f->is_started))
		judge_not_started(f, &v);
	else if (!f->has_record)
		judge_unknown(f->cause == KZ_CAUSE_MEMORY ? KZ_CAUSE_MEMORY :
							    KZ_CAUSE_TRANSPORT_LOST,
			      &v);
	else
		judge_started(f, &v);
	if (f->interrupted) {
		/* What was known stays known; only a success cannot be one any more. */
		if (v.outcome == KZ_OUTCOME_COMPLETED)
			v.outcome = KZ_OUTCOME_FAILED;
		if (v.outcome == KZ_OUTCOME_REFUSED)
			v.outcome = KZ_OUTCOME_NOT_RUN;
		if (v.outcome != KZ_OUTCOME_UNKNOWN)
			v.reason = KZ_R_INTERRUPTED;
		v.has_reason = true;
		v.plain_status = v.json_status = 128 + f->interrupted;
	}
	*out = v;
}
