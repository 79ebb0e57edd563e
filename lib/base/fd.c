/* Descriptors: complete reads and writes, waiting, locking. */
#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

enum kz_rc kz_fd_write_all(int fd, const void *p, size_t n, struct kz_err *err)
{
	return kz_fd_write_until(fd, p, n, KZ_NEVER, err);
}

enum kz_rc kz_fd_write_until(int fd, const void *p, size_t n, struct kz_deadline until,
			     struct kz_err *err)
{
	const char *s = p;

	while (n > 0) {
		ssize_t done = write(fd, s, n);

		if (done > 0) {
			s += done;
			n -= (size_t)done;
		} else if (done < 0 && errno == EINTR) {
			continue;
		} else if (done < 0 && errno == EAGAIN) {
			enum kz_rc rc = kz_fd_wait(fd, POLLOUT, until, err);

			if (rc)
				return rc;
		} else {
			return kz_err_sys(err, KZ_E_IO, "write failed");
		}
	}
	return KZ_OK;
}

enum kz_rc kz_fd_read_all(int fd, struct kz_buf *b, struct kz_err *err)
{
	char chunk[16384];

	for (;;) {
		ssize_t n = read(fd, chunk, sizeof(chunk));
		enum kz_rc rc;

		if (n == 0)
			return kz_buf_add(b, "", 0, err);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN) {
			rc = kz_fd_wait(fd, POLLIN, KZ_NEVER, err);
			if (rc)
				return rc;
			continue;
		}
		if (n < 0)
			return kz_err_sys(err, KZ_E_IO, "read failed");
		rc = kz_buf_add(b, chunk, (size_t)n, err);
		if (rc)
			return rc;
	}
}

enum kz_rc kz_fd_wait(int fd, short events, struct kz_deadline until, struct kz_err *err)
{
	for (;;) {
		struct pollfd p = { fd, events, 0 };
		int n = poll(&p, 1, kz_deadline_poll_ms(until));

		/* An error or a hang-up counts as ready: the next call tells which. */
		if (n > 0 && (p.revents & POLLNVAL))
			return kz_err_set(err, KZ_E_SOFTWARE, "descriptor %d is not open", fd);
		if (n > 0)
			return KZ_OK;
		if (n < 0 && errno != EINTR)
			return kz_err_sys(err, KZ_E_IO, "poll failed");
		if (kz_deadline_passed(until))
			return kz_err_set(err, KZ_E_TEMPFAIL, "deadline passed");
	}
}

enum kz_rc kz_fd_set_nonblock(int fd, struct kz_err *err)
{
	int flags = fcntl(fd, F_GETFL);

	if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0)
		return kz_err_sys(err, KZ_E_OS, "cannot make descriptor %d non-blocking", fd);
	return KZ_OK;
}

enum kz_rc kz_fd_set_cloexec(int fd, bool on, struct kz_err *err)
{
	int flags = fcntl(fd, F_GETFD);

	flags = flags < 0 ? flags : on ? flags | FD_CLOEXEC : flags & ~FD_CLOEXEC;
	if (flags < 0 || fcntl(fd, F_SETFD, flags) < 0)
		return kz_err_sys(err, KZ_E_OS, "cannot set close-on-exec of descriptor %d", fd);
	return KZ_OK;
}

enum kz_rc kz_file_lock(int dir, const char *path, struct kz_deadline until, int *fd,
			struct kz_err *err)
{
	kz_auto_close int lock = openat(dir, path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	int64_t pause = 2;

	if (lock < 0)
		return kz_err_sys(err, KZ_E_CANTCREAT, "cannot open %s", path);
	/* flock has no deadline of its own. */
	while (flock(lock, LOCK_EX | LOCK_NB) < 0) {
		if (errno != EWOULDBLOCK && errno != EINTR)
			return kz_err_sys(err, KZ_E_IO, "cannot lock %s", path);
		if (kz_deadline_passed(until))
			return kz_err_set(err, KZ_E_TEMPFAIL, "%s is locked by another process",
					  path);
		kz_time_sleep(KZ_MS(pause), until);
		pause = pause < 50 ? 2 * pause : 50;
	}
	*fd = kz_take_fd(&lock);
	return KZ_OK;
}
