/* The life of one run. */
#include "worker/run.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/fd.h"
#include "base/log.h"
#include "base/str.h"
#include "port/json.h"
#include "rule/reason.h"
#include "rule/tmpfs.h"
#include "worker/gauge.h"
#include "worker/runpriv.h"

#define GAUGE_PERIOD KZ_MS(20)
#define KILL_PATIENCE KZ_SECONDS(10)
/* past the disk bound, so that a full disk is ENOSPC and not a signal */
#define FILE_ROOM (1 << 20)

static void end_run(struct kz_run *r, const char *cause);

/* What this run added. */
static int64_t peak_of(const struct kz_run *r)
{
	int64_t peak = kz_gauge_peak(r->boot);

	if (peak < 0) /* unread */
		return peak;
	return peak > r->peak_from ? peak - r->peak_from : 0;
}

static bool is_installing(const struct kz_run *r)
{
	return r->execution[0] && r->way == KZ_WAY_GATEWAY;
}

/*
 * Files in memory are charged to who wrote them.  Packages are nobody's program: while they are
 * installed, and for what an installation left in the tenant's account, the bound is that much higher.
 */
static enum kz_rc bound_memory(struct kz_run *r, struct kz_err *err)
{
	const struct kz_boot *b = r->boot;
	int64_t more = is_installing(r) ? kz_tmpfs_memory(b->packages_bytes, b->packages_inodes) :
					  r->space->packages_charged;

	if (b->memory_bytes + more == r->memory_bound)
		return KZ_OK;
	if (kz_gauge_memory_bound(b, r->memory_bound, b->memory_bytes + more) < 0)
		return kz_err_sys(err, KZ_E_OS, "cannot change the bound of memory");
	r->memory_bound = b->memory_bytes + more;
	return KZ_OK;
}

/* Memory that the packages' files take. out: -1: nobody knows */
static int64_t packages_memory(const struct kz_space *s)
{
	struct kz_space_use u;

	return kz_space_use(s->packages, &u, NULL) == KZ_OK ?
		       kz_tmpfs_memory(u.bytes_used, u.inodes_used) :
		       -1;
}

/*
 * What an installation added to the tenant's account, as far as it can be packages.  The account alone would tell
 * too little: it holds what the kernel keeps of files that were read and of names that were looked up, and gives
 * up meanwhile.  The files alone would, too: some may have replaced others, which were in another's account.
 */
static void take_charge(struct kz_run *r)
{
	struct kz_space *s = r->space;
	int64_t charged = kz_gauge_memory(r->boot) - r->memory_from, now;

	if (!is_installing(r) || (now = packages_memory(s)) < 0)
		return;
	if (charged < now - r->packages_from)
		charged = now - r->packages_from;
	if (charged > 0)
		s->packages_charged += charged;
	if (s->packages_charged > now)
		s->packages_charged = now;
}

static void finish(struct kz_run *r)
{
	const char *held, *cause;
	size_t n;
	kz_auto_json struct kz_json *record = NULL;
	struct kz_run_calls calls = r->calls;

	/* dead processes write no more: what is in the pipes is all there will ever be */
	for (int i = 1; i < 3; i++) {
		while (r->pipe[i] >= 0 && kz_run_read_once(r, i))
			;
		kz_run_close_pipe(r, i);
	}
	kz_run_close_pipe(r, 0);
	kz_run_channel_end(r);
	cause = kz_run_look(r);
	if (!r->cause)
		r->cause = cause;
	if (!r->boot->single_use)
		r->peak = peak_of(r);
	take_charge(r);
	n = kz_keep_end(&r->keep, &held);
	if (n && calls.on_output)
		calls.on_output(r->arg, 1, held, n);
	record = kz_run_record(r);
	kz_keep_release(&r->keep);
	kz_buf_release(&r->input);
	kz_watch_free(r->death);
	kz_watch_free(r->sock);
	r->death = r->sock = NULL;
	kz_timer_at(r->kill_timer, KZ_NEVER, NULL);
	r->state = KZ_RUN_IDLE;
	if (calls.on_end)
		calls.on_end(r->arg, record, r->is_dead);
}

static void death(void *arg)
{
	struct kz_run *r = arg;

	kz_forward_end(r->forward);
	/* closing the wall's descriptors before the watches on them would confuse the loop */
	kz_watch_free(r->death);
	kz_watch_free(r->sock);
	r->death = r->sock = NULL;
	r->is_dead = kz_wall_reap(r->wall);
	if (r->state == KZ_RUN_GOING) {
		/* its first process died by itself: only a kill for memory does that */
		r->ended_us = kz_time_boot_us();
		kz_timer_at(r->wall_timer, KZ_NEVER, NULL);
		kz_timer_every(r->gauge_timer, KZ_MS(0), NULL);
	}
	finish(r);
}

static void not_dying(void *arg)
{
	struct kz_run *r = arg;

	r->is_dead = false;
	r->cause = "unknown";
	r->reason = kz_reason_code(KZ_R_WORKER_FAULT);
	finish(r);
}

static void end_run(struct kz_run *r, const char *cause)
{
	int64_t n;
	const char *seen;

	if (r->state != KZ_RUN_GOING)
		return;
	seen = kz_run_look(r);
	r->state = KZ_RUN_ENDING;
	r->cause = seen ? seen : cause;
	r->ended_us = kz_time_boot_us();
	/* the first process is no part of what the program left */
	n = kz_gauge_processes(r->boot);
	r->killed = n > 1 ? n - 1 : 0;
	kz_timer_at(r->wall_timer, KZ_NEVER, NULL);
	kz_timer_every(r->gauge_timer, KZ_MS(0), NULL);
	kz_timer_at(r->kill_timer, kz_deadline_in(KILL_PATIENCE), NULL);
	/* the way out ends with the program, whatever it left running */
	kz_forward_end(r->forward);
	kz_wall_kill(r->wall);
}

static void wall_passed(void *arg)
{
	struct kz_run *r = arg;

	if (r->state == KZ_RUN_GOING)
		r->reason = kz_reason_code(KZ_R_WALL_EXCEEDED);
	end_run(r, "wall");
}

static void gauge(void *arg)
{
	struct kz_run *r = arg;
	const char *cause = r->state == KZ_RUN_GOING ? kz_run_look(r) : NULL;

	if (cause)
		end_run(r, cause);
}

static void refused(struct kz_run *r, const struct kz_init_say *s)
{
	r->is_refused = true;
	r->reason = kz_reason_code(KZ_R_WORKER_FAULT);
	if (kz_str_eq(s->step, "exec"))
		r->reason = kz_reason_code(s->sys_errno == ENOENT ? KZ_R_INTERPRETER_MISSING :
								    KZ_R_CANNOT_EXECUTE);
	end_run(r, NULL);
}

static void listens(struct kz_run *r, int *listener)
{
	struct kz_err err = KZ_ERR_INIT;

	/* one that cannot be served is closed: the program's connections are refused */
	if (r->state == KZ_RUN_GOING && r->execution[0] && *listener >= 0 &&
	    kz_forward_start(r->forward, r->way, kz_take_fd(listener), r->execution, &err) != KZ_OK)
		kz_log(KZ_LOG_WARNING, "no way out for the program", "way",
		       kz_way_text(r->way)->name, "text", err.text, NULL);
}

static void heard(void *arg)
{
	struct kz_run *r = arg;
	struct kz_init_say s;
	kz_auto_close int fd = -1;
	int got = kz_wall_hear(r->wall, &s, &fd);

	if (got == 0)
		return;
	if (got < 0) {
		kz_watch_enable(r->sock, false); /* its death follows */
		return;
	}
	if (s.what == KZ_SAY_LISTENS) {
		listens(r, &fd);
	} else if (s.what == KZ_SAY_REFUSED) {
		refused(r, &s);
	} else if (s.what == KZ_SAY_ENDED) {
		if (r->state == KZ_RUN_GOING) {
			r->has_status = true;
			r->status = s.value;
		}
		end_run(r, NULL);
	}
}

struct kz_run *kz_run_new(struct kz_serve *s, const struct kz_boot *b, struct kz_wall *w,
			  struct kz_space *space)
{
	struct kz_run *r = calloc(1, sizeof *r);

	if (!r)
		return NULL;
	*r = (struct kz_run){ .serve = s,
			      .boot = b,
			      .wall = w,
			      .space = space,
			      .pipe = { -1, -1, -1 },
			      .memory_bound = b->memory_bytes,
			      .channel.fd = -1 };
	kz_buf_init(&r->input, KZ_RUN_WINDOW);
	/* made once: descriptors of process 1 are counted, so their number must not depend on history */
	r->wall_timer = kz_timer_new(s, wall_passed, r);
	r->gauge_timer = kz_timer_new(s, gauge, r);
	r->kill_timer = kz_timer_new(s, not_dying, r);
	r->forward = kz_forward_new(s, b->fds.way_dirs);
	if (!r->wall_timer || !r->gauge_timer || !r->kill_timer || !r->forward) {
		kz_run_free(r);
		return NULL;
	}
	return r;
}

void kz_run_free(struct kz_run *r)
{
	if (!r)
		return;
	for (int i = 0; i < 3; i++)
		kz_run_close_pipe(r, i);
	kz_run_channel_close(r);
	kz_forward_free(r->forward);
	kz_timer_free(r->wall_timer);
	kz_timer_free(r->gauge_timer);
	kz_timer_free(r->kill_timer);
	kz_watch_free(r->sock);
	kz_watch_free(r->death);
	kz_keep_release(&r->keep);
	kz_buf_release(&r->input);
	free(r);
}

bool kz_run_is_busy(const struct kz_run *r)
{
	return r->state != KZ_RUN_IDLE;
}

bool kz_run_was_outside(struct kz_run *r)
{
	return kz_forward_was_used(r->forward);
}

void kz_run_cancel(struct kz_run *r, const char *cause)
{
	end_run(r, cause);
}

static enum kz_rc watch_all(struct kz_run *r, struct kz_err *err)
{
	r->watch[0] = kz_watch_new(r->serve, r->pipe[0], KZ_SERVE_WRITE, kz_run_write_input, r);
	r->watch[1] = kz_watch_new(r->serve, r->pipe[1], KZ_SERVE_READ, kz_run_out_ready, r);
	r->watch[2] = kz_watch_new(r->serve, r->pipe[2], KZ_SERVE_READ, kz_run_err_ready, r);
	r->sock = kz_watch_new(r->serve, r->wall->sock, KZ_SERVE_READ, heard, r);
	r->death = kz_watch_new(r->serve, r->wall->pidfd, KZ_SERVE_READ, death, r);
	if (!r->watch[0] || !r->watch[1] || !r->watch[2] || !r->sock || !r->death)
		return kz_err_set(err, KZ_E_OS, "out of memory");
	kz_watch_enable(r->watch[0], false);
	return KZ_OK;
}

static void undo_start(struct kz_run *r)
{
	for (int i = 0; i < 3; i++)
		kz_run_close_pipe(r, i);
	kz_run_channel_close(r);
	kz_watch_free(r->sock);
	kz_watch_free(r->death);
	r->sock = r->death = NULL;
	kz_keep_release(&r->keep);
}

static enum kz_rc give_vectors(const struct kz_run_ask *ask, int *fd, struct kz_err *err)
{
	enum kz_rc rc = kz_memory_file("vectors", fd, err);

	return rc ? rc : kz_fd_write_all(*fd, ask->vectors, ask->vectors_n, err);
}

static void begin(struct kz_run *r, const struct kz_run_ask *ask, const struct kz_run_calls *calls,
		  void *arg)
{
	r->calls = *calls;
	r->arg = arg;
	r->is_refused = r->has_status = r->is_dead = r->input_ended = false;
	r->hit_disk = r->hit_inodes = false;
	r->cause = r->reason = NULL;
	r->killed = r->peak = 0;
	r->window = KZ_RUN_WINDOW;
	r->peak_from = kz_gauge_peak_reset(r->boot);
	kz_run_look(r);
	r->before = r->after;
	r->hit_disk = r->hit_inodes = false;
	r->began_us = kz_time_boot_us();
	r->execution[0] = 0;
	r->way = ask->way;
	if (ask->execution)
		(void)kz_str_copy(r->execution, sizeof r->execution, ask->execution, NULL);
	r->memory_from = kz_gauge_memory(r->boot);
	r->packages_from = is_installing(r) ? packages_memory(r->space) : 0;
}

enum kz_rc kz_run_start(struct kz_run *r, const struct kz_run_ask *ask,
			const struct kz_run_calls *calls, void *arg, struct kz_err *err)
{
	int fds[KZ_RUN_FDS] = { -1, -1, -1, -1, -1 };
	struct kz_init_ask a = { .what = KZ_ASK_RUN,
				 .value = ask->execution ? 1 + (int)ask->way : 0,
				 .open_files = ask->open_files,
				 .file_bytes = r->boot->disk_bytes + FILE_ROOM };
	enum kz_rc rc;

	begin(r, ask, calls, arg);
	if (is_installing(r) && a.file_bytes < r->boot->packages_bytes + FILE_ROOM)
		a.file_bytes = r->boot->packages_bytes + FILE_ROOM;
	rc = bound_memory(r, err);
	if (rc == KZ_OK)
		rc = kz_keep_start(&r->keep, ask->output_bytes, err);
	if (rc == KZ_OK)
		rc = kz_run_make_pipes(r, fds, err);
	if (rc == KZ_OK)
		rc = give_vectors(ask, &fds[KZ_RUN_VECTORS], err);
	if (rc == KZ_OK && ask->has_channel)
		rc = kz_run_channel_open(r, &fds[KZ_RUN_CHANNEL], err);
	if (rc == KZ_OK)
		rc = watch_all(r, err);
	if (rc == KZ_OK)
		rc = kz_timer_at(r->wall_timer, kz_deadline_in(KZ_MS(ask->wall.ms + 1)), err);
	if (rc == KZ_OK)
		rc = kz_timer_every(r->gauge_timer, GAUGE_PERIOD, err);
	if (rc == KZ_OK)
		rc = kz_wall_run(r->wall, &a, fds, err);
	for (int i = 0; i < KZ_RUN_FDS; i++)
		if (fds[i] >= 0)
			close(fds[i]);
	if (rc != KZ_OK) {
		kz_timer_at(r->wall_timer, KZ_NEVER, NULL);
		kz_timer_every(r->gauge_timer, KZ_MS(0), NULL);
		undo_start(r);
		return rc;
	}
	r->state = KZ_RUN_GOING;
	if (!ask->stdin_open)
		kz_run_input_end(r);
	return KZ_OK;
}
