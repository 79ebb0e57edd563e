/* What ends a run from outside: signals, and a standard output that nobody reads. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/epoll.h>

#include "base/sig.h"
#include "core/run/job.h"

static enum kz_rc watch_fd(int set, int fd, uint32_t events, struct kz_err *err)
{
	struct epoll_event ev = { .events = events };

	/* Regular files cannot be watched, and need not be. */
	if (epoll_ctl(set, EPOLL_CTL_ADD, fd, &ev) && errno != EPERM)
		return kz_err_sys(err, KZ_E_OS, "cannot watch a descriptor");
	return KZ_OK;
}

enum kz_rc kz_job_watch(struct kz_job *j, struct kz_err *err)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP, 0 };
	size_t max = (size_t)1 << 31;
	enum kz_rc rc = kz_sig_open(signals, &j->sig_fd, err);

	if (rc)
		return rc;
	j->cancel_fd = epoll_create1(EPOLL_CLOEXEC);
	if (j->cancel_fd < 0)
		return kz_err_sys(err, KZ_E_OS, "cannot watch for signals");
	rc = kz_writer_start(&j->out, j->ask->stdout_fd, max, err);
	if (!rc && !j->ask->is_json)
		rc = kz_writer_start(&j->err, j->ask->stderr_fd, max, err);
	if (!rc)
		rc = watch_fd(j->cancel_fd, j->sig_fd, EPOLLIN, err);
	if (!rc)
		rc = watch_fd(j->cancel_fd, kz_writer_failed_fd(j->out), EPOLLIN, err);
	/* No events asked: only the loss of the reader is told. */
	return rc ? rc : watch_fd(j->cancel_fd, j->ask->stdout_fd, 0, err);
}

bool kz_job_is_cancelled(struct kz_job *j)
{
	struct pollfd p = { j->ask->stdout_fd, 0, 0 };
	int sig = kz_sig_next(j->sig_fd);

	if (j->interrupted)
		return true;
	if (sig)
		j->interrupted = sig;
	else if (kz_writer_errno(j->out) == EPIPE ||
		 (poll(&p, 1, 0) > 0 && (p.revents & (POLLERR | POLLHUP))))
		j->interrupted = SIGPIPE;
	return j->interrupted || kz_writer_errno(j->out);
}
