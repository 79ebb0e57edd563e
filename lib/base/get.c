/* One question over HTTP to one of our own. */
#include "base/get.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>

#include "base/fd.h"
#include "base/str.h"

/* The three digits of "HTTP/1.1 200 OK"; -1: it is no such line */
static int status_of(const struct kz_buf *b)
{
	static const char head[] = "HTTP/1.1 ";
	const size_t at = sizeof head - 1;
	int status = 0;

	if (b->len < at + 4 || memcmp(b->data, head, at) != 0 ||
	    (b->data[at + 3] != ' ' && b->data[at + 3] != '\r'))
		return -1;
	for (size_t i = at; i < at + 3; i++) {
		if (b->data[i] < '0' || b->data[i] > '9')
			return -1;
		status = status * 10 + (b->data[i] - '0');
	}
	return status;
}

/* Read to the end of the connection. */
static enum kz_rc receive(int fd, struct kz_deadline until, struct kz_buf *b, struct kz_err *err)
{
	char part[4096];

	for (;;) {
		ssize_t n = recv(fd, part, sizeof part, 0);
		enum kz_rc rc = n > 0 ? kz_buf_add(b, part, (size_t)n, err) : KZ_OK;

		if (n == 0 || rc != KZ_OK)
			return rc;
		if (n < 0 && errno == EAGAIN && kz_fd_wait(fd, POLLIN, until, NULL) != KZ_OK)
			return kz_err_set(err, KZ_E_UNAVAILABLE, "the answer does not come");
		if (n < 0 && errno != EAGAIN && errno != EINTR)
			return kz_err_sys(err, KZ_E_UNAVAILABLE, "the answer does not come");
	}
}

enum kz_rc kz_unix_get(const char *socket, const char *target, struct kz_deadline until,
		       int *status, struct kz_buf *body, struct kz_err *err)
{
	kz_auto_buf struct kz_buf all = KZ_BUF_INIT(body->max + 4096);
	kz_auto_close int fd = -1;
	char request[300];
	const char *end;
	enum kz_rc rc;

	if ((rc = kz_str_format(request, sizeof request, err,
				"GET %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
				target)) ||
	    (rc = kz_unix_connect(socket, until, &fd, err)))
		return rc;
	if (kz_fd_write_until(fd, request, strlen(request), until, NULL) != KZ_OK)
		return kz_err_set(err, KZ_E_UNAVAILABLE, "the question is not taken");
	if ((rc = receive(fd, until, &all, err)))
		return rc;
	end = all.len ? memmem(all.data, all.len, "\r\n\r\n", 4) : NULL;
	*status = status_of(&all);
	if (!end || *status < 0)
		return kz_err_set(err, KZ_E_UNAVAILABLE, "the answer makes no sense");
	end += 4;
	return kz_buf_add(body, end, all.len - (size_t)(end - all.data), err);
}
