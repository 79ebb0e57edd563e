/* Descriptor 3 of a program: bytes both ways, each side sending what the other let it. */
#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/fd.h"
#include "worker/runpriv.h"

#define READ_SIZE 16384

void kz_run_channel_close(struct kz_run *r)
{
	struct kz_run_channel *c = &r->channel;

	kz_watch_free(c->in);
	kz_watch_free(c->out);
	c->in = c->out = NULL;
	if (c->fd >= 0)
		close(c->fd);
	c->fd = -1;
	kz_buf_release(&c->to);
}

/* out: false when there is nothing now, or never again */
static bool read_once(struct kz_run *r, size_t most)
{
	struct kz_run_channel *c = &r->channel;
	char t[READ_SIZE];
	/* no descriptor comes with it: those are taken by recvmsg only */
	ssize_t n = read(c->fd, t, most < sizeof t ? most : sizeof t);

	if (n < 0 && errno == EINTR)
		return true;
	if (n <= 0) {
		if (n == 0 || errno != EAGAIN)
			kz_watch_enable(c->in, false);
		return false;
	}
	c->room -= (size_t)n < c->room ? (size_t)n : c->room;
	if (r->calls.on_channel)
		r->calls.on_channel(r->arg, t, (size_t)n);
	return true;
}

static void readable(void *arg)
{
	struct kz_run *r = arg;

	if (r->channel.room)
		(void)read_once(r, r->channel.room);
	if (!r->channel.room)
		kz_watch_enable(r->channel.in, false);
}

static void writable(void *arg)
{
	struct kz_run *r = arg;
	struct kz_run_channel *c = &r->channel;
	ssize_t n = 0;

	if (c->to.len)
		n = send(c->fd, c->to.data, c->to.len, MSG_NOSIGNAL | MSG_DONTWAIT);
	/* what nobody reads any more is dropped, and still let go, so that the sender ends */
	if (n < 0 && errno != EAGAIN && errno != EINTR)
		n = (ssize_t)c->to.len;
	if (n > 0) {
		kz_buf_drop(&c->to, (size_t)n);
		c->window += (size_t)n;
		if (r->calls.on_channel_window)
			r->calls.on_channel_window(r->arg, (size_t)n);
	}
	if (!c->to.len)
		kz_watch_enable(c->out, false);
}

enum kz_rc kz_run_channel_open(struct kz_run *r, int *theirs, struct kz_err *err)
{
	struct kz_run_channel *c = &r->channel;
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
		return kz_err_sys(err, KZ_E_OS, "cannot make the channel");
	c->fd = pair[0];
	*theirs = pair[1];
	c->window = c->room = KZ_RUN_WINDOW;
	kz_buf_init(&c->to, KZ_RUN_WINDOW);
	if (kz_fd_set_nonblock(c->fd, err) != KZ_OK)
		return KZ_E_OS;
	c->in = kz_watch_new(r->serve, c->fd, KZ_SERVE_READ, readable, r);
	c->out = kz_watch_new(r->serve, c->fd, KZ_SERVE_WRITE, writable, r);
	if (!c->in || !c->out)
		return kz_err_set(err, KZ_E_OS, "out of memory");
	kz_watch_enable(c->out, false);
	return KZ_OK;
}

void kz_run_channel_end(struct kz_run *r)
{
	if (r->channel.fd < 0)
		return;
	for (size_t n = 0; n < KZ_RUN_CHANNEL_REST; n += READ_SIZE)
		if (!read_once(r, READ_SIZE))
			break;
	kz_run_channel_close(r);
}

bool kz_run_channel(struct kz_run *r, const void *p, size_t n)
{
	struct kz_run_channel *c = &r->channel;

	/* one that has ended takes all: it was on its way */
	if (r->state != KZ_RUN_GOING || c->fd < 0)
		return true;
	if (n > c->window || kz_buf_add(&c->to, p, n, NULL) != KZ_OK)
		return false;
	c->window -= n;
	kz_watch_enable(c->out, true);
	return true;
}

bool kz_run_channel_grant(struct kz_run *r, size_t n)
{
	struct kz_run_channel *c = &r->channel;

	if (r->state != KZ_RUN_GOING || c->fd < 0)
		return true;
	if (n > KZ_RUN_WINDOW - c->room)
		return false;
	c->room += n;
	kz_watch_enable(c->in, true);
	return true;
}
