/* The run sequence: one step after the other, undo whatever failed. */
#include "core/run/run.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>

#include "base/fd.h"
#include "base/log.h"
#include "base/str.h"
#include "core/reset/reset.h"
#include "core/run/egress.h"
#include "core/run/install.h"
#include "core/run/job.h"
#include "core/run/shared.h"
#include "core/run/keep.h"
#include "core/run/kernel.h"
#include "rule/reason.h"

void kz_job_fail(struct kz_job *j, const struct kz_err *err)
{
	enum kz_reason r;

	if (j->facts.has_failure)
		return;
	j->failure = *err;
	j->facts.has_failure = true;
	if (kz_reason_find(err->reason, &r))
		j->facts.failure = r;
	else
		j->facts.failure = err->rc == KZ_E_USAGE  ? KZ_R_USAGE :
				   err->rc == KZ_E_CONFIG ? KZ_R_CONFIG_INVALID :
							    KZ_R_INTERNAL;
}

/* Up to the end of the code; what comes after is done whatever this returns. */
static enum kz_rc run_steps(struct kz_job *j, struct kz_err *err)
{
	static enum kz_rc (*const steps[])(struct kz_job *, struct kz_err *) = {
		kz_job_watch,   kz_job_prepare,  kz_job_lease,    kz_job_worker,
		kz_job_restore, kz_job_packages, kz_job_stage,    kz_job_put,
		kz_job_egress,  kz_job_dispatch, kz_job_progress, kz_job_exec,
	};

	for (size_t i = 0; i < sizeof(steps) / sizeof(*steps); i++) {
		enum kz_rc rc = steps[i](j, err);

		if (rc)
			return rc;
	}
	return KZ_OK;
}

/* The program ended by itself: its files are whole. */
static void collect(struct kz_job *j)
{
	const struct kz_run_facts *f = &j->facts;
	struct kz_err err = KZ_ERR_INIT;

	if (!f->has_record || !f->is_started || f->cause != KZ_CAUSE_EXIT || f->interrupted)
		return;
	if (kz_job_collect(j, &err))
		kz_job_fail(j, &err);
}

static enum kz_run_event end_event(enum kz_outcome o)
{
	static const enum kz_run_event events[] = {
		[KZ_OUTCOME_COMPLETED] = KZ_RUN_E_COMPLETE, [KZ_OUTCOME_FAILED] = KZ_RUN_E_FAIL,
		[KZ_OUTCOME_NOT_RUN] = KZ_RUN_E_ABORT,      [KZ_OUTCOME_BOUNDED] = KZ_RUN_E_BOUND,
		[KZ_OUTCOME_REFUSED] = KZ_RUN_E_DENY,       [KZ_OUTCOME_UNKNOWN] = KZ_RUN_E_LOSE,
	};

	return events[o];
}

/* A run that was not even audited as dispatched is a denial; else its record. */
static enum kz_rc audit_end(struct kz_job *j, struct kz_err *err)
{
	struct kz_verdict v;
	kz_auto_json struct kz_json *record = kz_job_record(j, &v);
	enum kz_rc rc;

	if (!j->audit)
		return KZ_OK;
	if (!record)
		return kz_err_set(err, KZ_E_OS, "memory is out");
	rc = kz_audit_together(j->audit, err);
	if (rc)
		return rc;
	if (j->state == KZ_RUN_S_DISPATCHED)
		rc = kz_job_audit_record(j, record, err);
	else
		rc = kz_job_audit_denial(j, kz_reason_code(v.reason), err);
	if (!rc)
		rc = kz_job_step(j, end_event(v.outcome), err);
	if (!rc)
		rc = kz_audit_end(j->audit, err);
	if (rc)
		kz_audit_abandon(j->audit);
	return rc;
}

/* The end is recorded once, before the worker can be another's and before anybody is told of it. */
static void record_end(void *arg)
{
	struct kz_job *j = arg;
	struct kz_err err = KZ_ERR_INIT;

	if (j->is_end_recorded)
		return;
	j->is_end_recorded = true;
	if (audit_end(j, &err))
		kz_job_fail(j, &err);
}

void kz_job_finish(struct kz_job *j)
{
	struct kz_err err = KZ_ERR_INIT;
	kz_auto_json struct kz_json *evidence = NULL;
	struct kz_reset_env env = {
		.auth = j->auth,
		.audit = j->audit,
		.worker = j->worker,
		.is_bound = j->is_bound,
		.state = j->conf.state,
		.timeout = KZ_SECONDS(j->conf.set.kz_reset_timeout_seconds),
	};

	kz_heart_free(kz_take(j->heart)); /* a renewal must not cross the release */
	if (!j->has_lease || !j->is_lease_own)
		return;
	if (j->facts.has_record && j->worker)
		kz_wk_meanwhile(j->worker, record_end, j);
	if (kz_str_eq(j->failure.reason, kz_reason_code(KZ_R_WORKER_REFUSED_BIND)))
		kz_auth_abandon(j->auth, &j->lease, j->failure.reason, &err);
	else if (!kz_reset_lease(&env, &j->lease, &evidence, &err))
		return;
	/* The outcome stands; the worker is retired by whoever finds it so. */
	if (err.rc)
		kz_log(KZ_LOG_WARNING, "worker not returned to the pool", "reason", err.reason,
		       NULL);
}

void kz_job_release(struct kz_job *j)
{
	kz_heart_free(j->heart);
	kz_wk_close(j->worker);
	kz_auth_close(j->auth);
	kz_audit_close(j->audit);
	kz_json_free(j->health);
	kz_json_free(j->worker_record);
	for (size_t i = 0; i < j->input_count; i++)
		kz_auto_close_(&j->inputs[i].fd);
	free(j->inputs);
	for (size_t i = 0; i < 2; i++)
		kz_buf_release(&j->streams[i].whole);
	kz_job_outputs_free(j);
	kz_job_env_free(j);
	kz_job_shared_free(j);
	kz_kernel_free(j);
	if (j->has_egress)
		kz_egress_release(&j->egress);
	kz_keep_free(j->keep);
	kz_job_packages_free(j);
	kz_source_release(&j->source);
	kz_auto_close_(&j->outdir_fd);
	kz_writer_free(j->out);
	kz_writer_free(j->err);
	kz_auto_close_(&j->cancel_fd);
	kz_auto_close_(&j->sig_fd);
}

/* Everything printed must have gone out before the record is: a lost reader changes the verdict. */
static void drain(struct kz_job *j)
{
	struct kz_err err = KZ_ERR_INIT;

	if (!j->out)
		return;
	if (!j->interrupted && kz_writer_drain(j->out, j->sig_fd, &err))
		kz_job_is_cancelled(j);
	if (!j->interrupted && j->err)
		kz_writer_drain(j->err, j->sig_fd, &err);
	kz_job_is_cancelled(j);
	j->facts.interrupted = j->interrupted;
	if (kz_writer_errno(j->out) && !j->interrupted) {
		errno = kz_writer_errno(j->out);
		kz_err_sys(&err, KZ_E_IO, "cannot write standard output");
		kz_err_reason(&err, kz_reason_code(KZ_R_STDOUT_FAILED));
		kz_job_fail(j, &err);
	}
}

/* {"v":1,"type":"error",...}: what of kz's own went wrong, in words. */
static enum kz_rc print_error(struct kz_job *j, const struct kz_err *e, enum kz_reason r,
			      int status)
{
	kz_auto_json struct kz_json *o = kz_json_object();
	struct kz_err err = KZ_ERR_INIT;

	kz_json_set_int(o, "v", 1);
	kz_json_set_str(o, "type", "error");
	kz_json_set_str(o, "reason", kz_reason_code(r));
	kz_json_set_int(o, "status", status);
	kz_json_set_str(o, "text", e->text);
	return o ? kz_job_print_json(j, o, &err) : KZ_E_OS;
}

/* The run went well, its record did not go out. */
static void unsent(struct kz_run_result *out, enum kz_reason r, const char *what,
		   const struct kz_err *why)
{
	out->has_reason = out->is_unsent = true;
	kz_refuse(&out->err, r, "%s: %s", what, why->text);
}

/* The record is the last thing; with -j it is preceded by an error line where kz itself failed. */
static void tell(struct kz_job *j, struct kz_run_result *out)
{
	struct kz_verdict v;
	kz_auto_json struct kz_json *record = kz_job_record(j, &v);
	kz_auto_buf struct kz_buf line = KZ_BUF_INIT(16 << 20);
	struct kz_err err = KZ_ERR_INIT;

	out->status = j->ask->is_json ? v.json_status : v.plain_status;
	kz_job_explain(j, &v, out);
	if (!record || kz_job_views(j, &v, record, &err) || kz_json_write(record, &line, &err) ||
	    kz_buf_add(&line, "\n", 1, &err)) {
		out->status = j->ask->is_json ? 71 : 125;
		return;
	}
	if (j->ask->record_fd >= 0 &&
	    kz_fd_write_all(j->ask->record_fd, line.data, line.len, &err) && out->status == 0) {
		out->status = j->ask->is_json ? 74 : 125;
		unsent(out, KZ_R_IO_FAILED, "cannot write the record to descriptor", &err);
	}
	if (!j->ask->is_json || !j->out)
		return;
	kz_job_progress_end(j, &err);
	if (v.has_reason)
		print_error(j, &out->err, v.reason, out->status);
	if (kz_writer_add(j->out, line.data, line.len, &err) ||
	    kz_writer_drain(j->out, j->sig_fd, &err)) {
		kz_job_is_cancelled(j);
		if (j->interrupted)
			out->status = 128 + j->interrupted;
		else if (out->status == 0)
			out->status = 74;
		if (!j->interrupted)
			unsent(out, KZ_R_STDOUT_FAILED, "standard output", &err);
	}
}

void kz_run(const struct kz_run_ask *ask, struct kz_run_result *out)
{
	struct kz_job j = { .ask = ask,
			    .sig_fd = -1,
			    .cancel_fd = -1,
			    .outdir_fd = -1,
			    .source.fd = -1,
			    .scope = KZ_JOB_SCOPE_NONE };
	struct kz_err err = KZ_ERR_INIT;

	*out = (struct kz_run_result){ .err = KZ_ERR_INIT };
	if (kz_seal_init(&err))
		kz_job_fail(&j, &err);
	kz_random_id(j.run);
	kz_sha256_start(&j.streams[0].hash);
	kz_sha256_start(&j.streams[1].hash);
	kz_sha256_start(&j.in.hash);
	if (run_steps(&j, &err))
		kz_job_fail(&j, &err);
	j.facts.interrupted = j.interrupted;
	collect(&j);
	kz_job_save(&j);
	j.facts.interrupted = j.interrupted;
	/* A run that ended well is recorded while its worker resets, which is what both would wait for. */
	if (!j.facts.has_record)
		record_end(&j);
	kz_job_finish(&j);
	record_end(&j);
	kz_kernel_tell(&j);
	drain(&j);
	tell(&j, out);
	kz_job_release(&j);
}
