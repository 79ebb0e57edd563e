/* Copy a stream into a memory file, so that what was measured is what is sent. */
#include <errno.h>
#include <poll.h>

#include "base/fd.h"
#include "core/run/source.h"
#include "rule/reason.h"

static enum kz_rc copy_all(int fd, int64_t max, int cancel_fd, int to, int64_t *size,
			   struct kz_err *err)
{
	static _Thread_local char buf[1 << 16];

	for (;;) {
		struct pollfd fds[2] = { { fd, POLLIN, 0 }, { cancel_fd, POLLIN, 0 } };
		ssize_t n;
		enum kz_rc rc;

		if (poll(fds, 2, -1) < 0 && errno != EINTR)
			return kz_err_sys(err, KZ_E_IO, "cannot wait");
		if (fds[1].revents)
			return kz_refuse(err, KZ_R_CANCELLED, NULL);
		n = read(fd, buf, sizeof(buf));
		if (n < 0 && (errno == EINTR || errno == EAGAIN))
			continue;
		if (n < 0)
			return kz_err_sys(err, KZ_E_IO, "cannot read");
		if (n == 0)
			return KZ_OK;
		if (n > max - *size)
			return kz_err_set(err, KZ_E_DATA, "more than %lld bytes", (long long)max);
		rc = kz_fd_write_all(to, buf, (size_t)n, err);
		if (rc)
			return rc;
		*size += n;
	}
}

enum kz_rc kz_source_copy(int fd, int64_t max, int cancel_fd, int *out, int64_t *size,
			  struct kz_err *err)
{
	kz_auto_close int to = -1;
	enum kz_rc rc = kz_memory_file("kz-run", &to, err);

	*size = 0;
	if (!rc)
		rc = copy_all(fd, max, cancel_fd, to, size, err);
	if (rc)
		return rc;
	*out = kz_take_fd(&to);
	return KZ_OK;
}
