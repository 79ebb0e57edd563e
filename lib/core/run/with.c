/* A lease around a program: renewed while it lives, released after it. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>

#include "base/log.h"
#include "base/proc.h"
#include "base/sig.h"
#include "base/str.h"
#include "core/run/heart.h"
#include "core/run/hold.h"
#include "core/worker/client.h"
#include "port/json.h"
#include "rule/reason.h"

/* Before the lease stops being sure the program gets SIGTERM, and at half of that time SIGKILL. */
#define STOP_MS 4000

struct with {
	struct kz_hold *h;
	struct kz_heart *heart;
	struct kz_wk *worker;
	int sig_fd, child_fd;
	pid_t child;
	bool is_term_sent, is_lost;
};

static enum kz_rc export_lease(const struct kz_lease *l, struct kz_err *err)
{
	char fence[24];

	snprintf(fence, sizeof(fence), "%lld", (long long)l->fence);
	if (setenv("KZ_LEASE", l->id, 1) || setenv("KZ_LEASE_TOKEN", l->token, 1) ||
	    setenv("KZ_FENCE", fence, 1))
		return kz_err_sys(err, KZ_E_OS, "cannot set the environment");
	return KZ_OK;
}

/* The child tells by pipe why exec failed; the pipe closes by itself when it did not. */
static void child_main(char *const *argv, int tell)
{
	int e;

	/* Whoever is under a lease must not outlive its holder. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	kz_sig_reset();
	execvp(argv[0], argv);
	e = errno;
	if (write(tell, &e, sizeof(e)) != sizeof(e))
		_exit(127);
	_exit(126);
}

static enum kz_rc start(struct with *w, char *const *argv, int *status, struct kz_err *err)
{
	int tell[2], e = 0;
	ssize_t n;

	if (pipe2(tell, O_CLOEXEC))
		return kz_err_sys(err, KZ_E_OS, "cannot make a pipe");
	/* Descendants whose parents are gone come to us, so that a lost lease ends them all. */
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	w->child = fork();
	if (w->child == 0)
		child_main(argv, tell[1]);
	close(tell[1]);
	do
		n = w->child < 0 ? 0 : read(tell[0], &e, sizeof(e));
	while (n < 0 && errno == EINTR);
	close(tell[0]);
	if (w->child < 0)
		return kz_err_sys(err, KZ_E_OS, "cannot start a process");
	if (n == sizeof(e)) {
		waitpid(w->child, NULL, 0);
		w->child = -1;
		*status = e == ENOENT ? 127 : 126; /* as env and nohup do */
		return kz_refuse(err, KZ_R_CANNOT_EXECUTE, "%.100s: %s", argv[0],
				 strerrordesc_np(e));
	}
	w->child_fd = pidfd_open(w->child, 0);
	return w->child_fd < 0 ? kz_err_sys(err, KZ_E_OS, "cannot watch the program") : KZ_OK;
}

/* Signals for us are for the program; what a terminal sent has reached it already. */
static void pass_signals(const struct with *w)
{
	struct signalfd_siginfo si;

	while (read(w->sig_fd, &si, sizeof(si)) == sizeof(si))
		if (si.ssi_code != SI_KERNEL)
			pidfd_send_signal(w->child_fd, (int)si.ssi_signo, NULL, 0);
}

/* SIGKILL to every child that there is, until there is none: orphans of killed ones become ours. */
static void kill_all(void)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/task/%d/children", (int)getpid());
	for (;;) {
		kz_auto_fclose FILE *f = fopen(path, "re");
		int pid, found = 0;

		while (f && fscanf(f, "%d", &pid) == 1) {
			kill(pid, SIGKILL);
			found++;
		}
		if (!found)
			return;
		while (waitpid(-1, NULL, WNOHANG) > 0)
			continue;
		kz_time_sleep(KZ_MS(1), KZ_NEVER);
	}
}

/* When the next thing must happen to the program although nobody tells. */
static struct kz_deadline next_stop(struct with *w)
{
	struct kz_deadline sure = kz_heart_sure_until(w->heart);
	int64_t stop = w->h->lease.ttl_ms / 4 < STOP_MS ? w->h->lease.ttl_ms / 4 : STOP_MS;

	return (struct kz_deadline){ sure.boot_ms - (w->is_term_sent ? stop / 2 : stop) };
}

/* The program runs. out: its status; is_lost when it was ended because the lease was. */
static void watch(struct with *w, int *status)
{
	for (;;) {
		struct kz_deadline stop = next_stop(w);
		struct pollfd fds[3] = {
			{ w->child_fd, POLLIN, 0 },
			{ w->sig_fd, POLLIN, 0 },
			{ kz_heart_lost_fd(w->heart), POLLIN, 0 },
		};
		int n = poll(fds, 3, kz_deadline_poll_ms(stop)), ended = 0;

		if (n > 0 && fds[1].revents)
			pass_signals(w);
		if (n > 0 && fds[0].revents && waitpid(w->child, &ended, 0) == w->child) {
			*status = WIFSIGNALED(ended) ? 128 + WTERMSIG(ended) : WEXITSTATUS(ended);
			return;
		}
		if (n > 0 && fds[2].revents)
			w->is_lost = true;
		if (kz_deadline_passed(next_stop(w))) {
			w->is_lost = w->is_term_sent;
			pidfd_send_signal(w->child_fd, SIGTERM, NULL, 0);
			w->is_term_sent = true;
		}
		if (w->is_lost)
			return;
	}
}

static enum kz_rc bind(struct with *w, struct kz_err *err)
{
	struct kz_deadline until = kz_deadline_in(KZ_AUTH_CALL);
	enum kz_rc rc = kz_lease_connect(&w->h->conf, &w->h->lease, until, &w->worker, err);

	if (!rc)
		rc = kz_wk_bind(w->worker, w->h->lease.id, w->h->lease.fence,
				kz_deadline_left(w->h->sure), until, NULL, err);
	return rc;
}

static enum kz_rc run(struct with *w, char *const *argv, int *status, struct kz_err *err)
{
	int64_t period = w->h->conf.set.sandbox_lease_heartbeat_seconds * 1000,
		third = w->h->lease.ttl_ms / 3;
	enum kz_rc rc = bind(w, err);

	if (!rc)
		rc = kz_heart_start(&w->heart, &w->h->conf, &w->h->lease, w->h->sure,
				    KZ_MS(period < third ? period : third), err);
	if (!rc)
		rc = export_lease(&w->h->lease, err);
	if (!rc)
		rc = start(w, argv, status, err);
	if (rc)
		return rc;
	watch(w, status);
	if (w->is_lost) {
		kill_all();
		return kz_refuse(err, KZ_R_LEASE_LOST, "the lease was lost, the program was ended");
	}
	return KZ_OK;
}

static void release(struct with *w)
{
	kz_auto_json struct kz_json *evidence = NULL;
	struct kz_err err = KZ_ERR_INIT;

	kz_heart_free(kz_take(w->heart)); /* a renewal must not cross the release */
	if (!w->is_lost && kz_hold_release(w->h, w->worker, &evidence, &err))
		kz_log(KZ_LOG_WARNING, "worker not returned to the pool", "reason", err.reason,
		       NULL);
	kz_wk_close(w->worker);
}

enum kz_rc kz_hold_with(struct kz_hold *h, const struct kz_ms *wait, char *const *argv, int *status,
			struct kz_err *err)
{
	static const int signals[] = { SIGINT,  SIGTERM, SIGHUP,  SIGQUIT,
				       SIGUSR1, SIGUSR2, SIGCONT, 0 };
	struct with w = { .h = h, .sig_fd = -1, .child_fd = -1, .child = -1 };
	struct kz_proc_id self;
	char holder[KZ_HOLDER_TEXT];
	enum kz_rc rc = kz_sig_open(signals, &w.sig_fd, err);
	int sig;

	if (!rc)
		rc = kz_proc_self_id(&self, err);
	if (rc)
		return rc;
	kz_proc_id_format(&self, holder, sizeof(holder));
	rc = kz_hold_acquire(h, wait, holder, w.sig_fd, err);
	if (rc) {
		sig = kz_sig_next(w.sig_fd);
		if (sig)
			*status = 128 + sig;
	} else {
		rc = run(&w, argv, status, err);
		release(&w);
	}
	kz_auto_close_(&w.sig_fd);
	kz_auto_close_(&w.child_fd);
	return rc;
}
