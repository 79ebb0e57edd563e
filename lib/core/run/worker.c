/* The worker of a run: connect and bind; then put program and inputs in place. */
#include <unistd.h>

#include "base/auto.h"
#include "base/fd.h"
#include "base/log.h"
#include "base/str.h"
#include "core/run/egress.h"
#include "core/run/job.h"
#include "core/run/kernel.h"
#include "rule/reason.h"

#define CONNECT_MS 5000
#define PUT_MS 30000
#define WORKERS_MOST 3

/* A lease held around several runs was bound by the first of them, or by its holder. */
static bool is_bound_already(const struct kz_job *j)
{
	const struct kz_json *bound = kz_json_get(j->health, "bound");

	return kz_json_is_object(bound) &&
	       kz_str_eq(kz_json_str(bound, "lease", ""), j->lease.id) &&
	       kz_json_num(bound, "fence", -1) == j->lease.fence;
}

static enum kz_rc bind(struct kz_job *j, struct kz_err *err)
{
	struct kz_deadline until = kz_deadline_in(KZ_MS(CONNECT_MS));
	enum kz_rc rc;

	if (j->is_lease_own) {
		rc = kz_wk_bind(j->worker, j->lease.id, j->lease.fence, kz_deadline_left(j->sure),
				until, &j->health, err);
		j->is_bound = !rc;
		return rc;
	}
	rc = kz_wk_health(j->worker, until, &j->health, err);
	if (rc || is_bound_already(j))
		return rc;
	return kz_wk_bind_staying(j->worker, j->lease.id, j->lease.fence, kz_deadline_left(j->sure),
				  until, err);
}

enum kz_rc kz_job_put_text(struct kz_job *j, const char *name, const char *text, size_t n,
			   struct kz_deadline until, struct kz_err *err)
{
	kz_auto_close int fd = -1;
	enum kz_rc rc = kz_memory_file_of("kz-run", text, n, &fd, err);

	return rc ? rc :
		    kz_wk_put(j->worker, j->lease.id, KZ_WK_CODE, name, fd, (int64_t)n, 0444, until,
			      NULL, err);
}

static enum kz_rc put_shim(struct kz_job *j, struct kz_deadline until, struct kz_err *err)
{
	size_t n = 0;
	const char *shim = kz_source_shim(&j->source, &n);

	return shim ? kz_job_put_text(j, KZ_SOURCE_SHIM, shim, n, until, err) : KZ_OK;
}

static enum kz_rc put_program(struct kz_job *j, struct kz_deadline until, struct kz_err *err)
{
	enum kz_rc rc = KZ_OK;

	if (!j->source.text)
		rc = kz_wk_put(j->worker, j->lease.id, KZ_WK_CODE, j->source.name, j->source.fd,
			       j->source.size, 0444, until, NULL, err);
	return rc ? rc : put_shim(j, until, err);
}

enum kz_rc kz_job_put(struct kz_job *j, struct kz_err *err)
{
	struct kz_deadline until = kz_deadline_min(j->sure, kz_deadline_in(KZ_MS(PUT_MS)));
	enum kz_rc rc = j->kernel ? kz_kernel_put(j, until, err) : put_program(j, until, err);
	for (size_t i = 0; !rc && i < j->input_count; i++) {
		struct kz_job_input *in = &j->inputs[i];

		if (kz_job_is_cancelled(j))
			return kz_refuse(err, KZ_R_CANCELLED, NULL);
		rc = kz_wk_put(j->worker, j->lease.id, KZ_WK_SPACE, in->name, in->fd, in->size,
			       0644, until, in->sha256, err);
		if (rc)
			kz_err_wrap(err, "input %.100s", in->name);
	}
	return rc;
}

static enum kz_rc take(struct kz_job *j, struct kz_err *err)
{
	enum kz_rc rc = kz_lease_connect(&j->conf, &j->lease, kz_deadline_in(KZ_MS(CONNECT_MS)),
					 &j->worker, err);

	return rc ? rc : bind(j, err);
}

/* Dead, dirty, or made under a former field key, before it was given anything: another one is as good. */
static bool may_change(const struct kz_job *j, const struct kz_err *err)
{
	return j->is_lease_own && !j->is_bound &&
	       (kz_str_eq(err->reason, kz_reason_code(KZ_R_WORKER_UNREACHABLE)) ||
		kz_str_eq(err->reason, kz_reason_code(KZ_R_WORKER_UNAUTHORIZED)) ||
		kz_str_eq(err->reason, kz_reason_code(KZ_R_WORKER_REFUSED_BIND)));
}

enum kz_rc kz_job_worker(struct kz_job *j, struct kz_err *err)
{
	enum kz_rc rc = take(j, err);

	for (int i = 1; rc && i < WORKERS_MOST && may_change(j, err) && !kz_job_is_cancelled(j);
	     i++) {
		struct kz_err fresh = KZ_ERR_INIT;

		kz_log(KZ_LOG_INFO, "another worker is taken", "worker", j->lease.worker, "reason",
		       err->reason, NULL);
		if (kz_job_lease_again(j, err->reason, &fresh)) {
			*err = fresh;
			return fresh.rc;
		}
		*err = fresh;
		rc = take(j, err);
	}
	return rc;
}
