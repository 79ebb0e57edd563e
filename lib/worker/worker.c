/* Process 1: start, self-check, baseline, loop. */
#include "worker/worker.h"

#include <malloc.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/fd.h"
#include "base/log.h"
#include "base/sig.h"
#include "port/json.h"
#include "port/seal.h"
#include "rule/reason.h"
#include "worker/census.h"
#include "worker/client.h"
#include "worker/guest.h"
#include "worker/posture.h"
#include "worker/view.h"

#define START_PATIENCE KZ_SECONDS(15)
#define KEYS_PATIENCE KZ_SECONDS(5)

enum kz_rc kz_worker_ready_wall(struct kz_worker *w, struct kz_err *err)
{
	enum kz_rc rc;

	if (w->wall.pid > 0 && !w->wall.is_used)
		return KZ_OK;
	if (!kz_wall_end(&w->wall, kz_deadline_in(START_PATIENCE)))
		return kz_err_set(err, KZ_E_OS, "the last program cannot be ended");
	rc = kz_wall_start(&w->wall, w->space.at, &w->boot, &w->deny,
			   kz_deadline_in(START_PATIENCE), err);
	return rc == KZ_OK ? kz_wall_join(&w->wall, err) : rc;
}

void kz_worker_end_tenant(struct kz_worker *w, const char *cause)
{
	if (kz_run_is_busy(w->run))
		kz_run_cancel(w->run, cause);
	else
		kz_wall_kill(&w->wall);
}

static void lease_passed(void *arg)
{
	struct kz_worker *w = arg;

	if (w->tenure.state != KZ_TENURE_BOUND && w->tenure.state != KZ_TENURE_ENDED)
		return;
	w->tenure.state = KZ_TENURE_EXPIRED;
	kz_worker_end_tenant(w, "lease_lost");
}

static void told_to_end(void *arg)
{
	struct kz_worker *w = arg;

	if (kz_sig_next(w->signals))
		kz_serve_stop(w->serve);
}

/* Everything that counts for the baseline exists before it is taken. */
static enum kz_rc make_all(struct kz_worker *w, struct kz_err *err)
{
	enum kz_rc rc = kz_deny_build(&w->deny, err);

	if (rc == KZ_OK)
		rc = kz_serve_new(&w->serve, err);
	if (rc == KZ_OK)
		rc = kz_fd_set_nonblock(w->boot.fds.control, err);
	/* process 1 has no default action: without this TERM would be ignored */
	if (rc == KZ_OK)
		rc = kz_sig_open((const int[]){ SIGTERM, SIGINT, 0 }, &w->signals, err);
	if (rc != KZ_OK)
		return rc;
	w->run = kz_run_new(w->serve, &w->boot, &w->wall, &w->space);
	w->lease_timer = kz_timer_new(w->serve, lease_passed, w);
	w->head_timer = kz_timer_new(w->serve, kz_client_expire, w);
	w->terminator = kz_watch_new(w->serve, w->signals, KZ_SERVE_READ, told_to_end, w);
	w->listener = kz_serve_listen(w->serve, w->boot.fds.control, kz_client_accept, w);
	if (!w->run || !w->lease_timer || !w->head_timer || !w->listener || !w->terminator)
		return kz_err_set(err, KZ_E_OS, "out of memory");
	return KZ_OK;
}

/*
 * The kernel frees keys some time after their last user is gone.  Those of a worker that had these ids before must not
 * be in the baseline: every later reading would lack them.
 */
static void await_no_keys(void)
{
	struct kz_deadline until = kz_deadline_in(KEYS_PATIENCE);

	while (kz_census_keys() > 0 && !kz_deadline_passed(until))
		kz_time_sleep(KZ_MS(5), until);
}

static enum kz_rc take_baseline(struct kz_worker *w, struct kz_err *err)
{
	int missing = 0;
	enum kz_rc rc;

	/* what is used once is compared with nothing */
	if (w->boot.single_use) {
		rc = kz_space_open(&w->space, KZ_SPACE_AT, &w->boot, err);
		if (rc == KZ_OK)
			rc = kz_wall_start(&w->wall, KZ_SPACE_AT, &w->boot, &w->deny,
					   kz_deadline_in(START_PATIENCE), err);
		return rc == KZ_OK ? kz_wall_join(&w->wall, err) : rc;
	}
	await_no_keys();
	/* the ready pipe is closed after this and is counted like a connection */
	rc = kz_worker_renew(w, &w->baseline, 1, err);
	if (rc != KZ_OK)
		return rc;
	w->own_sockets = kz_view_sockets();
	if (!kz_census_whole(&w->baseline, &missing))
		return kz_refuse(err, KZ_R_POSTURE_FAILED, "surface %s cannot be read",
				 kz_surface_code((enum kz_surface)missing));
	if (w->baseline.at[KZ_SURFACE_CGROUP].now != 0)
		return kz_refuse(err, KZ_R_POSTURE_FAILED, "the tenant's cgroup is not empty");
	return kz_wall_join(&w->wall, err);
}

static void tell(struct kz_worker *w, const struct kz_err *bad)
{
	kz_auto_json struct kz_json *o = kz_json_object();
	kz_auto_buf struct kz_buf b = KZ_BUF_INIT(65536);

	kz_json_set_bool(o, "ready", !bad);
	if (bad) {
		kz_json_set_str(o, "reason",
				*bad->reason ? bad->reason : kz_reason_code(KZ_R_WORKER_FAULT));
		kz_json_set_str(o, "text", bad->text);
	} else {
		kz_json_set_str(o, "image", w->boot.image);
		kz_json_set(o, "posture", kz_json_ref(w->posture));
	}
	if (kz_json_write(o, &b, NULL) == KZ_OK && kz_buf_puts(&b, "\n", NULL) == KZ_OK)
		(void)kz_fd_write_all(w->boot.fds.ready, b.data, b.len, NULL);
	close(w->boot.fds.ready);
}

static enum kz_rc born(struct kz_worker *w, struct kz_err *err)
{
	enum kz_rc rc = kz_posture_check(&w->boot, &w->posture, err);

	if (rc == KZ_OK && w->boot.single_use)
		rc = kz_guest_prepare(&w->boot, err);
	if (rc == KZ_OK)
		rc = make_all(w, err);
	return rc == KZ_OK ? take_baseline(w, err) : rc;
}

static enum kz_rc close_on_exec(const struct kz_boot *b, struct kz_err *err)
{
	enum kz_rc rc = KZ_OK;

	for (int fd = 3; fd < 1024 && rc == KZ_OK; fd++)
		if (kz_boot_owns_fd(b, fd))
			rc = kz_fd_set_cloexec(fd, true, err);
	return rc;
}

enum kz_rc kz_worker_main(struct kz_err *err)
{
	static struct kz_worker w; /* large, and as long-lived as the process */
	enum kz_rc rc;

	w.wall = w.next = (struct kz_wall)KZ_WALL_INIT;
	w.space = w.next_space = (struct kz_space)KZ_SPACE_NONE;
	kz_tenure_clean(&w.tenure);
	umask(0);
	signal(SIGPIPE, SIG_IGN);
	prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	rc = kz_seal_init(err);
	if (rc == KZ_OK)
		rc = kz_boot_read(KZ_BOOT_FD, &w.boot, err);
	if (rc == KZ_OK)
		rc = close_on_exec(&w.boot, err);
	if (rc != KZ_OK)
		return rc;
	rc = born(&w, err);
	tell(&w, rc == KZ_OK ? NULL : err);
	if (rc != KZ_OK)
		return rc;
	kz_log(KZ_LOG_INFO, "worker ready", "worker", w.boot.worker, NULL);
	malloc_trim(0);
	return kz_serve_run(w.serve, err);
}
