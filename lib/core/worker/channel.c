/* The outside of a program's descriptor 3. */
#include "core/worker/channel.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/fd.h"
#include "core/worker/wire.h"

#define LEAVE 65536
/* Leave, and what the worker sends without it at the end. */
#define HELD_MOST (LEAVE + (1 << 20))
#define END_MS 1000

void kz_wk_channel_start(struct kz_wk_channel *c, int fd)
{
	*c = (struct kz_wk_channel){ .fd = fd, .window = LEAVE };
	kz_buf_init(&c->in, HELD_MOST);
}

bool kz_wk_channel_take(struct kz_wk_channel *c, int type, const void *p, size_t n)
{
	const unsigned char *u = p;

	if (c->fd < 0)
		return false;
	if (type == KZ_WIRE_CHANNEL)
		return kz_buf_add(&c->in, p, n, NULL) == KZ_OK;
	if (n != 4)
		return false;
	c->window += (int64_t)u[0] << 24 | (int64_t)u[1] << 16 | (int64_t)u[2] << 8 | u[3];
	return c->window <= LEAVE;
}

struct pollfd kz_wk_channel_poll(const struct kz_wk_channel *c, bool may_read)
{
	short in = may_read && c->window > 0 ? POLLIN : 0, out = c->in.len ? POLLOUT : 0;

	/* an end of it would be told again and again */
	return (struct pollfd){ .fd = in || out ? c->fd : -1, .events = (short)(in | out) };
}

int64_t kz_wk_channel_flush(struct kz_wk_channel *c)
{
	ssize_t n = 0;

	if (c->in.len)
		n = send(c->fd, c->in.data, c->in.len, MSG_NOSIGNAL | MSG_DONTWAIT);
	/* what nobody hears is dropped: the program is not held by it */
	if (n < 0 && errno != EAGAIN && errno != EINTR)
		n = (ssize_t)c->in.len;
	if (n > 0)
		kz_buf_drop(&c->in, (size_t)n);
	return n > 0 ? n : 0;
}

size_t kz_wk_channel_read(struct kz_wk_channel *c, char *t)
{
	size_t most = c->window < KZ_WK_CHANNEL_CHUNK ? (size_t)c->window : KZ_WK_CHANNEL_CHUNK;
	ssize_t n;

	/* an end of the socket is told whether there is leave or not */
	if (c->window <= 0)
		return 0;
	n = read(c->fd, t, most);
	if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
		c->window = INT32_MIN; /* nobody speaks any more */
	if (n > 0)
		c->window -= n;
	return n > 0 ? (size_t)n : 0;
}

void kz_wk_channel_end(struct kz_wk_channel *c, struct kz_deadline until)
{
	struct kz_deadline soon = kz_deadline_min(until, kz_deadline_in(KZ_MS(END_MS)));

	if (c->fd < 0)
		return;
	while (c->in.len && !kz_deadline_passed(soon)) {
		if (kz_fd_wait(c->fd, POLLOUT, soon, NULL) != KZ_OK)
			break;
		(void)kz_wk_channel_flush(c);
	}
	kz_buf_release(&c->in);
	(void)shutdown(c->fd, SHUT_RDWR);
}
