/* Run a program to its end with bounded output and a deadline. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/proc.h"

struct stream {
	int fd;
	struct kz_buf *buf;
};

struct job {
	pid_t pid;
	int pidfd;
	struct stream out, err;
};

static void job_release(struct job *j)
{
	int fds[] = { j->pidfd, j->out.fd, j->err.fd };

	for (size_t i = 0; i < sizeof(fds) / sizeof(fds[0]); i++)
		if (fds[i] >= 0)
			close(fds[i]);
}
#define auto_job kz_auto(job_release)

static enum kz_rc stream_open(struct stream *s, struct kz_buf *buf, int *far, struct kz_err *err)
{
	int ends[2];

	s->buf = buf;
	if (!buf)
		return KZ_OK;
	if (pipe2(ends, O_CLOEXEC) < 0)
		return kz_err_sys(err, KZ_E_OS, "cannot make a pipe");
	s->fd = ends[0];
	*far = ends[1];
	return kz_fd_set_nonblock(s->fd, err);
}

/* Read what is there: keep up to the maximum, drop the rest, close at the end. */
static void stream_drain(struct stream *s)
{
	char chunk[16384];
	ssize_t n = -1;

	while (s->fd >= 0 &&
	       ((n = read(s->fd, chunk, sizeof(chunk))) > 0 || (n < 0 && errno == EINTR))) {
		size_t room = s->buf->max - s->buf->len;

		if (n > 0)
			(void)kz_buf_add(s->buf, chunk, (size_t)n < room ? (size_t)n : room, NULL);
	}
	if (s->fd >= 0 && n == 0) {
		close(s->fd);
		s->fd = -1;
	}
}

static enum kz_rc job_start(struct job *j, const struct kz_spawn *what, struct kz_buf *outbuf,
			    struct kz_buf *errbuf, struct kz_err *err)
{
	kz_auto_close int far_out = -1;
	kz_auto_close int far_err = -1;
	struct kz_spawn s = *what;
	enum kz_rc rc = stream_open(&j->out, outbuf, &far_out, err);

	if (!rc)
		rc = stream_open(&j->err, errbuf, &far_err, err);
	if (rc)
		return rc;
	s.new_session = true;
	s.stdout_fd = far_out;
	s.stderr_fd = far_err;
	return kz_proc_spawn(&s, &j->pid, &j->pidfd, err);
}

/* Until the child itself ends: a grandchild that keeps the pipe open delays nothing. */
static enum kz_rc job_pump(struct job *j, int cancel_fd, struct kz_deadline until,
			   struct kz_err *err)
{
	for (;;) {
		struct pollfd p[4] = { { j->pidfd, POLLIN, 0 },
				       { j->out.fd, POLLIN, 0 },
				       { j->err.fd, POLLIN, 0 },
				       { cancel_fd, POLLIN, 0 } };
		int n = poll(p, 4, kz_deadline_poll_ms(until));

		if (n < 0 && errno != EINTR)
			return kz_err_sys(err, KZ_E_OS, "poll failed");
		if (n > 0 && p[0].revents)
			return KZ_OK;
		stream_drain(&j->out);
		stream_drain(&j->err);
		if (n > 0 && p[3].revents)
			return kz_err_set(err, KZ_E_TEMPFAIL, "ended from outside");
		if (kz_deadline_passed(until))
			return kz_err_set(err, KZ_E_TEMPFAIL, "deadline passed");
	}
}

enum kz_rc kz_proc_run_as(const struct kz_spawn *s, struct kz_buf *outbuf, struct kz_buf *errbuf,
			  struct kz_deadline until, int *status, struct kz_err *err)
{
	auto_job struct job j = { .pidfd = -1, .out = { .fd = -1 }, .err = { .fd = -1 } };
	enum kz_rc rc = job_start(&j, s, outbuf, errbuf, err);
	int ended;

	if (rc)
		return rc;
	rc = job_pump(&j, s->cancel_fd ? *s->cancel_fd : -1, until, err);
	if (rc)
		kill(-j.pid, SIGKILL);
	stream_drain(&j.out);
	stream_drain(&j.err);
	if (rc) {
		(void)kz_proc_wait(j.pid, j.pidfd, KZ_NEVER, &ended, NULL);
		kz_err_wrap(err, "%s", s->argv[0]);
		return rc;
	}
	return kz_proc_wait(j.pid, j.pidfd, KZ_NEVER, status, err);
}

enum kz_rc kz_proc_run(const char *const *argv, const void *in, size_t n, struct kz_buf *outbuf,
		       struct kz_buf *errbuf, struct kz_deadline until, int *status,
		       struct kz_err *err)
{
	kz_auto_close int input = -1;
	struct kz_spawn s = { .argv = argv };
	enum kz_rc rc = KZ_OK;

	if (n) /* a file: the child reads at its own pace and nothing is interleaved */
		rc = kz_memory_file_of("kz-input", in, n, &input, err);
	s.stdin_fd = input;
	return rc ? rc : kz_proc_run_as(&s, outbuf, errbuf, until, status, err);
}
