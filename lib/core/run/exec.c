/* Code starts here: dispatch is audited, then the worker runs it to its record. */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>

#include "base/buf.h"
#include "base/fd.h"
#include "base/str.h"
#include "core/run/compress.h"
#include "core/run/job.h"
#include "core/run/kernel.h"
#include "core/run/shared.h"
#include "rule/reason.h"

/* After the wall bound the worker has this long to end the tree and send the record. */
#define GRACE_MS 10000
#define EVENTS_MAX 8192

enum kz_rc kz_job_dispatch(struct kz_job *j, struct kz_err *err)
{
	enum kz_rc rc = kz_audit_together(j->audit, err);

	if (rc)
		return rc;
	rc = kz_job_step(j, KZ_RUN_E_PREPARE, err);
	if (!rc)
		rc = kz_job_audit_dispatch(j, err);
	j->is_dispatch_written = !rc;
	if (!rc)
		rc = kz_job_step(j, KZ_RUN_E_DISPATCH, err);
	if (!rc)
		rc = kz_audit_end(j->audit, err);
	if (rc) {
		/* all of it is in the store, or nothing */
		kz_audit_abandon(j->audit);
		j->state = KZ_RUN_S_ADMITTED;
	}
	return rc;
}

static int on_output(void *arg, int stream, const void *p, size_t n)
{
	struct kz_job *j = arg;
	struct kz_job_stream *s = &j->streams[stream - 1];

	s->bytes += (int64_t)n;
	kz_sha256_add(&s->hash, p, n);
	kz_excerpt_add(&s->excerpt, p, n);
	kz_job_compress_add(j, s, p, n);
	return kz_job_print(j, stream, p, n, &j->failure) ? -1 : 0;
}

static void on_input(void *arg, const void *p, size_t n)
{
	struct kz_job *j = arg;

	j->in.bytes += (int64_t)n;
	kz_sha256_add(&j->in.hash, p, n);
}

/* Does the worker's word on a stream agree with what came? What it kept must all have come. */
static bool stream_agrees(const struct kz_json *told, struct kz_job_stream *s)
{
	int64_t seen = kz_json_num(told, "seen_bytes", -1),
		kept = kz_json_num(told, "kept_bytes", -1);
	int64_t dropped = kz_json_num(told, "dropped_bytes", -1);
	const char *sha = kz_json_str(told, "sha256", "");

	kz_sha256_end(&s->hash, s->sha256);
	if (kept != s->bytes || dropped < 0 || seen != kept + dropped)
		return false;
	return dropped ? strlen(sha) == KZ_SHA256_HEX - 1 : kz_str_eq(sha, s->sha256);
}

static void take_reason(struct kz_job *j)
{
	const char *code = kz_json_str(j->worker_record, "reason", "");

	j->facts.has_failure = true;
	if (!kz_reason_find(code, &j->facts.failure))
		j->facts.failure = KZ_R_CANNOT_EXECUTE;
}

/* Did this side ask for the end? */
static bool is_cancelled(const struct kz_job *j)
{
	struct pollfd p = { j->cancel_fd, POLLIN, 0 };

	return poll(&p, 1, 0) > 0;
}

/* Only a well-formed record that agrees with what was received counts as one. */
static void take_record(struct kz_job *j)
{
	const struct kz_json *r = j->worker_record;
	struct kz_run_facts *f = &j->facts;
	bool agrees = stream_agrees(kz_json_get(r, "stdout"), &j->streams[0]);

	agrees = stream_agrees(kz_json_get(r, "stderr"), &j->streams[1]) && agrees;
	if (!agrees || !kz_json_is_bool(kz_json_get(r, "started")))
		return;
	f->is_started = kz_json_flag(r, "started", true);
	if (!f->is_started) {
		f->has_record = true;
		take_reason(j);
		return;
	}
	if (!kz_cause_find(kz_json_str(r, "cause", ""), &f->cause))
		return;
	f->exit = (int)kz_json_num(r, "exit", -1);
	f->signal = (int)kz_json_num(r, "signal", -1);
	/* Ended on our word, the tenant has no status of its own. */
	if (f->cause == KZ_CAUSE_SIGNAL && f->signal < 0 && is_cancelled(j))
		f->signal = SIGKILL;
	if ((f->cause == KZ_CAUSE_EXIT && (f->exit < 0 || f->exit > 255)) ||
	    (f->cause == KZ_CAUSE_SIGNAL && (f->signal < 1 || f->signal > 64)))
		return;
	f->is_output_cut = kz_json_num(kz_json_get(r, "stdout"), "dropped_bytes", 0) > 0 ||
			   kz_json_num(kz_json_get(r, "stderr"), "dropped_bytes", 0) > 0;
	f->has_record = true;
}

/* The heart's word that the lease is gone explains a tenant that was ended. */
static void note_lost_lease(struct kz_job *j)
{
	struct pollfd p = { j->heart ? kz_heart_lost_fd(j->heart) : -1, POLLIN, 0 };

	if (j->heart && poll(&p, 1, 0) > 0 && j->facts.cause == KZ_CAUSE_SIGNAL)
		j->facts.cause = KZ_CAUSE_LEASE_LOST;
}

/*
 * The death of a single-use worker may be the end that its host's memory bound put to
 * it.  That tells why no record came, not what the program did: the outcome stays unknown.
 */
static void look_outside(struct kz_job *j)
{
	kz_auto_buf struct kz_buf text = KZ_BUF_INIT(EVENTS_MAX);
	char path[512];
	const char *kills;
	int64_t n;

	if (j->facts.has_record || !kz_json_flag(j->health, "single_use", false) ||
	    kz_str_format(path, sizeof path, NULL, "%s/workers/%s/ctl/memory.events", j->conf.state,
			  j->lease.worker) ||
	    kz_file_read(AT_FDCWD, path, &text, NULL))
		return;
	kills = strstr(kz_buf_str(&text), "\noom_kill ");
	if (!kills)
		return;
	text.data[strcspn(kills + 1, "\n") + (size_t)(kills + 1 - text.data)] = '\0';
	if (!kz_str_int(kills + strlen("\noom_kill "), 1, INT64_MAX, &n, NULL))
		j->facts.cause = KZ_CAUSE_MEMORY;
}

/* What is done while the program starts need not be done when it has ended. */
static void get_ready(void *arg)
{
	struct kz_job *j = arg;

	kz_audit_get_ready(j->audit);
}

enum kz_rc kz_job_exec(struct kz_job *j, struct kz_err *err)
{
	char path[300];
	kz_auto_free const char **argv =
		j->kernel ? kz_kernel_argv(j) :
			    kz_source_argv(&j->source, j->ask->args, j->ask->arg_count, path);
	const struct kz_wk_exec x = {
		.lease = j->lease.id,
		.argv = argv,
		.envp = j->env,
		.wall = j->wall,
		.output_bytes = j->conf.set.sandbox_max_output_bytes,
		.open_files = j->conf.set.kz_run_open_files,
		.stdin_open = !kz_str_eq(j->ask->path, "-"),
		.shared = kz_job_shared_told(j),
		.execution = j->egress.execution[0] ? j->egress.execution : NULL,
		.has_channel = j->kernel != NULL,
	};
	struct kz_wk_events ev = {
		.arg = j,
		.out = on_output,
		.in = on_input,
		.stdin_fd = x.stdin_open ? j->ask->stdin_fd : -1,
		.cancel_fd = j->cancel_fd,
		.channel_end = kz_kernel_over,
	};
	enum kz_rc rc;

	if (!argv)
		return kz_err_set(err, KZ_E_OS, "memory is out");
	if (kz_job_is_cancelled(j))
		return kz_refuse(err, KZ_R_CANCELLED, NULL);
	rc = kz_kernel_begin(j, &ev.channel_fd, err);
	if (rc)
		return rc;
	j->facts.is_dispatched = true;
	kz_wk_meanwhile(j->worker, get_ready, j);
	rc = kz_wk_run(j->worker, &x, &ev, kz_deadline_in(KZ_MS(j->wall.ms + GRACE_MS)),
		       &j->worker_record, err);
	kz_kernel_end(j);
	if (!rc)
		take_record(j);
	/* A refusal is the worker's word that nothing was started; silence is not. */
	if (rc && (kz_str_eq(err->reason, kz_reason_code(KZ_R_WORKER_REFUSED)) ||
		   kz_str_eq(err->reason, kz_reason_code(KZ_R_WORKER_UNAUTHORIZED))))
		j->facts.is_dispatched = false;
	note_lost_lease(j);
	look_outside(j);
	kz_job_is_cancelled(j);
	kz_job_print_rest(j, &j->failure);
	return rc;
}
