/* From a target to a socket: one lookup, one judgement over all of it, and nothing but what was judged is dialled. */
#include "core/egress/proxy_loop.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#define DIAL_MS 250 /* least time of one address while others wait */

static socklen_t sockaddr_of(const struct kz_addr *a, uint16_t port, struct sockaddr_storage *out)
{
	struct sockaddr_in *four = (struct sockaddr_in *)(void *)out;
	struct sockaddr_in6 *six = (struct sockaddr_in6 *)(void *)out;

	memset(out, 0, sizeof *out);
	if (a->family == 4) {
		four->sin_family = AF_INET;
		four->sin_port = htons(port);
		memcpy(&four->sin_addr, a->bytes, 4);
		return sizeof *four;
	}
	six->sin6_family = AF_INET6;
	six->sin6_port = htons(port);
	memcpy(&six->sin6_addr, a->bytes, 16);
	return sizeof *six;
}

/* Is the socket connected to exactly that address? out: 1 yes, 0 not yet, -1 no */
static int is_there(int fd, const struct kz_addr *a, uint16_t port)
{
	struct sockaddr_storage want, is;
	socklen_t n = sizeof is;

	(void)sockaddr_of(a, port, &want);
	memset(&is, 0, sizeof is);
	if (getpeername(fd, (struct sockaddr *)&is, &n) != 0)
		return errno == ENOTCONN ? 0 : -1;
	if (is.ss_family != want.ss_family)
		return -1;
	if (is.ss_family == AF_INET)
		return memcmp(&is, &want, 8) == 0 ? 1 : -1;
	return memcmp(&((struct sockaddr_in6 *)(void *)&is)->sin6_addr,
		      &((struct sockaddr_in6 *)(void *)&want)->sin6_addr, 16) == 0 &&
			       ((struct sockaddr_in6 *)(void *)&is)->sin6_port == htons(port) ?
		       1 :
		       -1;
}

static void close_server(struct kz_px_conn *c)
{
	if (c->server.fd >= 0)
		close(c->server.fd);
	c->server.fd = -1;
}

static bool start(struct kz_px_conn *c, const struct kz_addr *a)
{
	int family = a->family == 4 ? AF_INET : AF_INET6, on = 1, unsent_ms = 60000;
	struct sockaddr_storage to;
	socklen_t n = sockaddr_of(a, c->request.target.port, &to);

	c->server.fd = socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, IPPROTO_TCP);
	if (c->server.fd < 0)
		return false;
	(void)setsockopt(c->server.fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
	(void)setsockopt(c->server.fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
	(void)setsockopt(c->server.fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &unsent_ms, sizeof unsent_ms);
	return kz_px_watch_end(c->loop, &c->server) &&
	       (connect(c->server.fd, (struct sockaddr *)&to, n) == 0 || errno == EINPROGRESS);
}

void kz_px_dial(struct kz_px_conn *c)
{
	int64_t end = c->since_ms + c->loop->world->connect_ms, share;

	close_server(c);
	while (c->answer_at < c->answer_count && c->loop->now_ms < end) {
		const struct kz_addr *a = &c->answers[c->answer_at++];
		size_t left = c->answer_count - c->answer_at;

		if (start(c, a)) {
			share = (end - c->loop->now_ms) / (int64_t)(left + 1);
			if (share < DIAL_MS)
				share = DIAL_MS;
			c->limit_ms = left && c->loop->now_ms + share < end ?
					      c->loop->now_ms + share :
					      end;
			kz_px_timer(c);
			return;
		}
		close_server(c);
	}
	kz_px_refuse(c, c->loop->now_ms < end ? KZ_R_CONNECT_FAILED : KZ_R_CONNECT_TIMEOUT);
}

void kz_px_dial_late(struct kz_px_conn *c)
{
	if (c->answer_at < c->answer_count && kz_px_standing(c) == KZ_R_NONE)
		kz_px_dial(c);
	else
		kz_px_refuse_late(c, KZ_R_CONNECT_TIMEOUT);
}

void kz_px_dialled(struct kz_px_conn *c, uint32_t events)
{
	int failed = 0, there;
	socklen_t n = sizeof failed;

	if (!(events & (EPOLLOUT | EPOLLERR | EPOLLHUP)))
		return;
	if (getsockopt(c->server.fd, SOL_SOCKET, SO_ERROR, &failed, &n) != 0 || failed) {
		kz_px_dial(c);
		return;
	}
	there = is_there(c->server.fd, &c->answers[c->answer_at - 1], c->request.target.port);
	if (there == 0) /* an event of the address before */
		return;
	if (there < 0) {
		kz_px_dial(c);
		return;
	}
	free(c->answers);
	c->answers = NULL;
	atomic_fetch_add(&c->loop->shared->book.tunnels, 1);
	c->is_tunnel = true;
	if (c->request.is_connect)
		kz_px_tunnel_start(c);
	else
		kz_px_plain_begin(c);
}

/* All that the name stands for, or the literal itself: judged as a whole [PROXY-5]. */
static void judge(struct kz_px_conn *c, const struct kz_addr *list, size_t count)
{
	enum kz_reason why = kz_decide_answers(&c->grant->grant.scope, &c->loop->world->env,
					       &c->request.target, list, count);

	if (why == KZ_R_NONE && !(c->answers = calloc(count ? count : 1, sizeof *list)))
		why = KZ_R_SYSTEM_FAILED;
	if (why != KZ_R_NONE) {
		kz_px_refuse(c, why);
		return;
	}
	memcpy(c->answers, list, count * sizeof *list);
	c->answer_count = count;
	c->answer_at = 0;
	c->limit_ms = INT64_MAX;
	kz_px_state(c, KZ_PX_CONNECT);
	kz_px_dial(c);
}

static void on_answers(void *arg, enum kz_dns_rc rc, const struct kz_dns_addr *a, size_t n)
{
	struct kz_px_conn *c = arg;
	struct kz_addr list[KZ_ANSWERS_MAX];

	c->query = NULL;
	kz_px_book_answered(&c->loop->shared->book, c->grant);
	if (rc != KZ_DNS_OK || n > KZ_ANSWERS_MAX) {
		kz_px_refuse(c, rc == KZ_DNS_FAILED ? KZ_R_DNS_FAILED : KZ_R_DNS_TOO_MANY);
		return;
	}
	for (size_t i = 0; i < n; i++) {
		list[i] = (struct kz_addr){ .family = a[i].family };
		memcpy(list[i].bytes, a[i].bytes, sizeof a[i].bytes);
	}
	judge(c, list, n);
}

void kz_px_resolve(struct kz_px_conn *c)
{
	struct kz_px_book *book = &c->loop->shared->book;
	enum kz_reason why;

	if (c->request.target.is_literal) {
		judge(c, &c->request.target.addr, 1);
		return;
	}
	kz_px_state(c, KZ_PX_RESOLVE);
	if ((why = kz_px_book_ask(book, c->grant)) != KZ_R_NONE) {
		kz_px_refuse(c, why);
		return;
	}
	if (kz_px_resolver(c->loop))
		c->query = kz_dns_ask(c->loop->dns, c->request.target.host, on_answers, c);
	if (!c->query) {
		kz_px_book_answered(book, c->grant);
		kz_px_refuse(c, KZ_R_DNS_FAILED);
	}
}
