/* Passing a program's connections on to a socket outside. */
#include "worker/forward.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/str.h"
#include "worker/forward_parts.h"

#define QUEUE 16 /* connections that wait for a place */
/*
 * The kernel doubles these for its own bookkeeping: 320 KiB a connection; what was read
 * and waits is 64 KiB up and at most what the proxy may have sent (208 KiB) down.
 */
#define TCP_IN (32 << 10)
#define TCP_OUT (64 << 10)
#define PIPES_MOST 4
/* The proxy's queue may be full for a moment. */
#define RETRY_PERIOD KZ_MS(10)

bool kz_forward_is_execution(const char *text)
{
	return text && strlen(text) == KZ_EXECUTION_HEX &&
	       strspn(text, "0123456789abcdef") == KZ_EXECUTION_HEX;
}

int kz_forward_listen(enum kz_way way)
{
	kz_auto_close int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	struct sockaddr_in at = { .sin_family = AF_INET,
				  .sin_port = htons((uint16_t)kz_way_text(way)->port) };
	int on = 1;

	at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (fd < 0)
		return -1;
	/* what is accepted inherits these */
	kz_link_size(fd, SO_RCVBUF, TCP_IN);
	kz_link_size(fd, SO_SNDBUF, TCP_OUT);
	(void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
	if (bind(fd, (struct sockaddr *)&at, sizeof at) < 0 || listen(fd, QUEUE) < 0)
		return -1;
	return kz_take_fd(&fd);
}

static void retry_soon(struct kz_forward *f)
{
	if (kz_timer_at(f->retry, kz_deadline_in(RETRY_PERIOD), NULL) == KZ_OK)
		return;
	for (int i = f->count - 1; i >= 0; i--)
		if (kz_link_is_waiting(f->links[i]))
			kz_link_drop(f->links[i], true);
}

static void retry(void *arg)
{
	struct kz_forward *f = arg;
	bool again = false;

	/* backwards: dropping one puts the last in its place */
	for (int i = f->count - 1; i >= 0; i--)
		if (kz_link_is_waiting(f->links[i]))
			again |= !kz_link_try(f->links[i]);
	if (f->accepting && f->count < KZ_FORWARD_MOST)
		kz_watch_enable(f->accepting, true);
	if (again)
		retry_soon(f);
}

static void take(struct kz_forward *f, int tcp)
{
	struct kz_link *l = kz_link_new(f, tcp);

	if (l && !kz_link_try(l))
		retry_soon(f);
}

static void accept_ready(void *arg)
{
	struct kz_forward *f = arg;

	while (f->count < KZ_FORWARD_MOST) {
		int tcp = accept4(f->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

		if (tcp >= 0) {
			take(f, tcp);
			continue;
		}
		if (errno == EINTR || errno == ECONNABORTED)
			continue;
		if (errno == EAGAIN || errno == EWOULDBLOCK)
			return;
		/* out of descriptors or memory: not at once again */
		kz_watch_enable(f->accepting, false);
		retry_soon(f);
		return;
	}
	kz_watch_enable(f->accepting, false);
}

struct kz_forward *kz_forward_new(struct kz_serve *s, const int dirs[KZ_WAYS])
{
	struct kz_forward *f = calloc(1, sizeof *f);

	if (!f)
		return NULL;
	f->serve = s;
	memcpy(f->dirs, dirs, sizeof f->dirs);
	f->listener = -1;
	/* made once: descriptors of process 1 are counted */
	f->retry = kz_timer_new(s, retry, f);
	if (!f->retry) {
		free(f);
		return NULL;
	}
	return f;
}

void kz_forward_free(struct kz_forward *f)
{
	if (!f)
		return;
	kz_forward_end(f);
	kz_timer_free(f->retry);
	free(f);
}

enum kz_rc kz_forward_start(struct kz_forward *f, enum kz_way way, int listener,
			    const char *execution, struct kz_err *err)
{
	size_t budget = kz_pipes_budget();

	kz_forward_end(f);
	f->listener = listener;
	f->way = way;
	kz_pipes_init(&f->pipes, budget < PIPES_MOST ? budget : PIPES_MOST);
	f->accepting = kz_watch_new(f->serve, listener, KZ_SERVE_READ, accept_ready, f);
	if (!f->accepting || kz_str_format(f->preamble, sizeof f->preamble, err,
					   "KZ-EXECUTION %s\n", execution) != KZ_OK) {
		kz_forward_end(f);
		return kz_err_set(err, KZ_E_OS, "cannot listen for the program's connections");
	}
	return KZ_OK;
}

bool kz_forward_was_used(struct kz_forward *f)
{
	bool was = f->was_used;

	f->was_used = false;
	return was;
}

void kz_forward_end(struct kz_forward *f)
{
	if (f->listener < 0)
		return;
	kz_watch_free(f->accepting);
	f->accepting = NULL;
	while (f->count)
		kz_link_drop(f->links[f->count - 1], true);
	kz_timer_at(f->retry, KZ_NEVER, NULL);
	kz_pipes_release(&f->pipes);
	close(f->listener);
	f->listener = -1;
	explicit_bzero(f->preamble, sizeof f->preamble);
}
