/*
 * The state of one run, shared by the steps of core/run and by nobody else.
 * Each step fills its part; each has its undo in kz_job_release or, for the lease,
 * in kz_job_finish.  Layer 3.
 */
#ifndef KZ_CORE_RUN_JOB_H
#define KZ_CORE_RUN_JOB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/time.h"
#include "core/audit/audit.h"
#include "core/conf/conf.h"
#include "core/egress/issue.h"
#include "core/pool/authority.h"
#include "core/run/heart.h"
#include "core/run/job_flow.h"
#include "core/run/job_tell.h"
#include "core/run/output.h"
#include "core/run/run.h"
#include "core/run/source.h"
#include "core/run/who.h"
#include "core/run/writer.h"
#include "core/worker/client.h"
#include "gen/run_sm.h"
#include "port/json.h"
#include "rule/result.h"

struct kz_job {
	const struct kz_run_ask *ask;
	char run[KZ_ID_HEX];
	int sig_fd, cancel_fd; /* cancel_fd: an epoll set of all that ends a run from outside */
	int interrupted;       /* the signal that did, SIGPIPE for a lost reader */
	struct kz_conf conf;
	struct kz_who who;
	struct kz_source source;
	struct kz_job_input *inputs;
	size_t input_count;
	struct kz_job_output *outputs;
	size_t output_count,
		progress_count; /* progress: that were told as declared and not ended */
	struct kz_job_scope scope;
	int outdir_fd;
	const char **env; /* of the program, NULL-terminated; strings own */
	struct kz_ms wall;
	struct kz_writer *out, *err;
	struct kz_auth *auth;
	struct kz_audit *audit;
	struct kz_lease lease;
	bool has_lease, is_lease_own;
	struct kz_deadline sure; /* until when it certainly holds without a renewal */
	struct kz_heart *heart;
	struct kz_wk *worker;
	struct kz_json *health;
	bool is_bound, is_dispatch_written, is_end_recorded;
	struct kz_egress egress; /* a grant, or why there is none */
	bool has_egress;
	struct kz_kernel
		*kernel;      /* this run is a cell of it (core/run/kernel.h); NULL: it is none */
	struct kz_keep *keep; /* the workspace (core/run/keep.h); NULL: none is kept */
	struct kz_job_shared
		*shared; /* its scope (core/run/shared.h); NULL: one of its own, without a file */
	struct kz_install *install;      /* its packages (core/run/install.h) */
	enum kz_run_state state;         /* as recorded in the audit store */
	struct kz_job_stream streams[2]; /* stdout, stderr */
	struct kz_job_stream in;         /* standard input as it was sent */
	struct kz_json *worker_record;
	struct kz_run_facts facts;
	struct kz_err failure; /* the first of kz's own */
};
/* Steps, in order.  Each returns at the first failure; kz_job_release undoes it, kz_job_finish for the lease. */
/* Signals, and the reader of stdout. */
enum kz_rc kz_job_watch(struct kz_job *j, struct kz_err *err);
/* Settings, names, files; nothing outside this process. Calls the next four. */
enum kz_rc kz_job_prepare(struct kz_job *j, struct kz_err *err);
/* Checks the names of inputs against each other; opens them all and bounds their sum. */
enum kz_rc kz_job_input_names(struct kz_job *j, struct kz_err *err);
enum kz_rc kz_job_inputs(struct kz_job *j, struct kz_err *err);
/* Builds the environment from empty. */
enum kz_rc kz_job_env(struct kz_job *j, struct kz_err *err);
/* Acquires a lease, or takes the one in force. */
enum kz_rc kz_job_lease(struct kz_job *j, struct kz_err *err);
/* Give the worker of an own lease up (nothing was put there yet) and acquire another. in: cause is a reason code */
enum kz_rc kz_job_lease_again(struct kz_job *j, const char *cause, struct kz_err *err);
/* Connects, binds. */
enum kz_rc kz_job_worker(struct kz_job *j, struct kz_err *err);
/* Puts program and inputs, over what was restored. */
enum kz_rc kz_job_put(struct kz_job *j, struct kz_err *err);
/* One step of the run's machine, recorded. err: KZ_E_SOFTWARE for a step the table has not, audit_unavailable */
enum kz_rc kz_job_step(struct kz_job *j, enum kz_run_event event, struct kz_err *err);
/* Audits that code is about to start. */
enum kz_rc kz_job_dispatch(struct kz_job *j, struct kz_err *err);
/* Runs it to its record. */
enum kz_rc kz_job_exec(struct kz_job *j, struct kz_err *err);

/* Reset and release an own lease; always called. */
void kz_job_finish(struct kz_job *j);
void kz_job_release(struct kz_job *j);

/* Has something outside ended the run? Takes the pending signal into j->interrupted. wait: never */
bool kz_job_is_cancelled(struct kz_job *j);
/* Keep a failure of kz's own, the first one only. */
void kz_job_fail(struct kz_job *j, const struct kz_err *err);

#endif
