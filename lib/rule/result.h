/*
 * Results: what a run's end means.  The facts of a run go in; outcome, cause,
 * reason and both exit statuses come out.
 *
 * A run without a terminal record is outcome_unknown and never success; a record
 * that says "not started" is believed only beside a failing status [EXEC-8].
 * Layer 2, pure.
 */
#ifndef KZ_RULE_RESULT_H
#define KZ_RULE_RESULT_H

#include <stdbool.h>

#include "gen/reasons.h"

/* The ends of the run machine. */
enum kz_outcome {
	KZ_OUTCOME_COMPLETED, /* ran to its end with status 0 */
	KZ_OUTCOME_FAILED,    /* ran and ended otherwise, or kz failed to deliver what it left */
	KZ_OUTCOME_NOT_RUN,   /* code never started: it could not be */
	KZ_OUTCOME_BOUNDED,   /* a bound ended it */
	KZ_OUTCOME_REFUSED,   /* code never started: state or policy said no */
	KZ_OUTCOME_UNKNOWN,   /* it is not known how it ended */
};

enum kz_cause {
	KZ_CAUSE_NONE, /* code never started */
	KZ_CAUSE_EXIT,
	KZ_CAUSE_SIGNAL,
	KZ_CAUSE_WALL,
	KZ_CAUSE_CPU,
	KZ_CAUSE_MEMORY,
	KZ_CAUSE_PIDS,
	KZ_CAUSE_LEASE_LOST,
	KZ_CAUSE_TRANSPORT_LOST,
	KZ_CAUSE_UNKNOWN,
};

struct kz_run_facts {
	bool is_dispatched; /* the worker was told to start the code */
	bool has_record; /* its terminal record came, well-formed, and agrees with what was received */
	bool is_started; /* by that record */
	/* By that record; EXIT and SIGNAL with the next two.  Without one: MEMORY when that was seen from outside. */
	enum kz_cause cause;
	int exit, signal;
	bool is_output_cut; /* some output was over the bound */
	int interrupted;    /* SIGINT, SIGTERM or SIGPIPE ended the run from outside; else 0 */
	bool has_failure;   /* kz's own first failure, before the code started or after it ended */
	enum kz_reason failure;
};

struct kz_verdict {
	enum kz_outcome outcome;
	enum kz_cause cause;
	bool has_exit, has_signal, has_reason;
	int exit, signal;
	enum kz_reason reason;
	int plain_status; /* of kz-run without -j */
	int json_status;  /* with -j */
};

/*
 * Judge a run.
 * out: always whole; a failure (has_failure) before the code started names why it
 * did not, one after its end names what kz failed to deliver.
 */
void kz_result_judge(const struct kz_run_facts *f, struct kz_verdict *out);

/* Names as they stand in records; static. "" for KZ_CAUSE_NONE. */
const char *kz_outcome_name(enum kz_outcome o);
const char *kz_cause_name(enum kz_cause c);
/* By name; false (and KZ_CAUSE_UNKNOWN) when there is none of it. */
bool kz_cause_find(const char *name, enum kz_cause *out);

#endif
