/* Connections: taken, told no, closed. */
#include "core/egress/proxy_loop.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/str.h"

#define ACCEPTS 32       /* at one event */
#define THROWN (1 << 20) /* bytes that are thrown away before the connection goes */

static bool is_said(enum kz_px_state state)
{
	return state == KZ_PX_ANSWER || state == KZ_PX_LINGER;
}

static void join(struct kz_px_conn **first, struct kz_px_conn **last, struct kz_px_conn *c)
{
	c->heads = (struct kz_px_link){ *last, NULL };
	*(*last ? &(*last)->heads.next : first) = c;
	*last = c;
}

static void leave(struct kz_px_conn **first, struct kz_px_conn **last, struct kz_px_conn *c)
{
	*(c->heads.prev ? &c->heads.prev->heads.next : first) = c->heads.next;
	*(c->heads.next ? &c->heads.next->heads.prev : last) = c->heads.prev;
}

void kz_px_state(struct kz_px_conn *c, enum kz_px_state state)
{
	struct kz_px_loop *l = c->loop;

	if (c->state == KZ_PX_HEAD && state != KZ_PX_HEAD) {
		leave(&l->heads, &l->heads_last, c);
		l->head_count--;
	}
	if (is_said(c->state) && !is_said(state))
		leave(&l->said, &l->said_last, c);
	if (!is_said(c->state) && is_said(state))
		join(&l->said, &l->said_last, c);
	c->state = state;
	c->since_ms = c->active_ms = l->now_ms;
	if (state != KZ_PX_DEAD)
		kz_px_timer(c);
}

/* -- taking -- */

static void oldest_goes(struct kz_px_loop *l)
{
	if (l->heads)
		kz_px_refuse(l->heads, KZ_R_TUNNEL_LIMIT);
}

/* There are too many: who was told no and stays goes before anybody who still asks. */
static void one_goes(struct kz_px_loop *l, struct kz_px_conn *fresh)
{
	if (l->said)
		kz_px_close(l->said, false);
	else if (l->heads && l->heads != fresh)
		oldest_goes(l);
	else if (fresh)
		kz_px_refuse(fresh, KZ_R_TUNNEL_LIMIT);
}

/* A peer with many heads under way loses the oldest of them, so that slow ones stop nobody [PROXY-19]. */
static void make_room(struct kz_px_loop *l, const struct kz_px_conn *fresh)
{
	struct kz_px_conn *oldest = NULL;
	size_t count = 0;

	if (l->head_count >= l->head_most) {
		oldest_goes(l);
		return;
	}
	if (l->head_count < KZ_PX_HEADS_PEER)
		return;
	for (struct kz_px_conn *c = l->heads; c; c = c->heads.next) {
		if (c->uid != fresh->uid || c->is_tcp != fresh->is_tcp)
			continue;
		oldest = oldest ? oldest : c;
		count++;
	}
	if (count >= KZ_PX_HEADS_PEER)
		kz_px_refuse(oldest, KZ_R_TUNNEL_LIMIT);
}

static bool know_peer(struct kz_px_conn *c)
{
	struct ucred who;
	socklen_t n = sizeof who;

	if (c->is_tcp)
		return true;
	if (getsockopt(c->client.fd, SOL_SOCKET, SO_PEERCRED, &who, &n) != 0)
		return false;
	c->uid = who.uid;
	return true;
}

static void take(struct kz_px_loop *l, int fd, bool is_tcp)
{
	struct kz_px_conn *c = calloc(1, sizeof *c);

	if (!c) {
		close(fd);
		return;
	}
	c->loop = l;
	c->client = (struct kz_px_end){ .fd = fd, .conn = c };
	c->server = (struct kz_px_end){ .fd = -1, .conn = c };
	c->slot = -1;
	c->is_tcp = c->has_preamble = is_tcp;
	c->up.pipe_r = c->up.pipe_w = c->down.pipe_r = c->down.pipe_w = -1;
	if (!know_peer(c) || !kz_px_watch_end(l, &c->client)) {
		close(fd);
		free(c);
		return;
	}
	make_room(l, c);
	c->all = (struct kz_px_link){ NULL, l->all };
	if (l->all)
		l->all->all.prev = c;
	l->all = c;
	l->count++;
	join(&l->heads, &l->heads_last, c);
	l->head_count++;
	atomic_fetch_add(&l->shared->book.connections, 1);
	atomic_fetch_add(&l->shared->book.accepted, 1);
	kz_px_state(c, KZ_PX_HEAD);
	if (atomic_load(&l->shared->book.connections) > l->shared->book.most)
		one_goes(l, c);
}

/* No descriptor is left: one is given up to tell the waiting one no, so that it does not wait for ever. */
static void turn_away(struct kz_px_loop *l, int listener)
{
	int fd;

	one_goes(l, NULL);
	close(l->spare);
	fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
	if (fd >= 0) {
		const char *no = kz_px_answer(403, false);

		(void)send(fd, no, strlen(no), MSG_NOSIGNAL | MSG_DONTWAIT);
		close(fd);
	}
	l->spare = dup(l->wake);
}

void kz_px_accept(struct kz_px_loop *l, int listener, bool is_tcp)
{
	for (int i = 0; i < ACCEPTS && !l->is_closing; i++) {
		int fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

		if (fd >= 0) {
			take(l, fd, is_tcp);
			continue;
		}
		if (errno == EMFILE || errno == ENFILE)
			turn_away(l, listener);
		if (errno != ECONNABORTED && errno != EINTR)
			return;
	}
}

/* -- closing -- */

static void shut_fd(struct kz_px_end *e, bool is_reset)
{
	struct linger now = { 1, 0 };

	if (e->fd < 0)
		return;
	if (is_reset)
		(void)setsockopt(e->fd, SOL_SOCKET, SO_LINGER, &now, sizeof now);
	close(e->fd);
	e->fd = -1;
}

void kz_px_drop_server(struct kz_px_conn *c, bool is_reset)
{
	struct kz_px_book *b = &c->loop->shared->book;

	atomic_fetch_add(&b->bytes, c->up.passed + c->down.passed);
	kz_flow_release(&c->up);
	kz_flow_release(&c->down);
	c->up.passed = c->down.passed = 0;
	if (c->is_tunnel)
		atomic_fetch_sub(&b->tunnels, 1);
	c->is_tunnel = false;
	shut_fd(&c->server, is_reset);
	if (c->query) {
		kz_dns_cancel(c->query);
		kz_px_book_answered(b, c->grant);
	}
	c->query = NULL;
	free(c->answers);
	c->answers = NULL;
	kz_px_plain_free(c->plain);
	c->plain = NULL;
	if (c->grant)
		kz_px_book_leave(b, c->grant);
	c->grant = NULL;
	free(c->in);
	c->in = NULL;
}

void kz_px_close(struct kz_px_conn *c, bool is_reset)
{
	struct kz_px_loop *l = c->loop;

	if (c->state == KZ_PX_DEAD)
		return;
	kz_px_state(c, KZ_PX_DEAD);
	kz_px_timer_forget(c);
	kz_px_drop_server(c, is_reset);
	shut_fd(&c->client, is_reset);
	if (c->is_ready) {
		*(c->ready.prev ? &c->ready.prev->ready.next : &l->ready) = c->ready.next;
		if (c->ready.next)
			c->ready.next->ready.prev = c->ready.prev;
	}
	*(c->all.prev ? &c->all.prev->all.next : &l->all) = c->all.next;
	if (c->all.next)
		c->all.next->all.prev = c->all.prev;
	c->all = (struct kz_px_link){ NULL, l->dead };
	l->dead = c;
	l->count--;
	atomic_fetch_sub(&l->shared->book.connections, 1);
}

/* -- answering -- */

static void throw_away(struct kz_px_conn *c)
{
	char buf[16384];
	ssize_t n;

	while ((n = recv(c->client.fd, buf, sizeof buf, MSG_DONTWAIT)) > 0)
		if ((c->in_used += (size_t)n) > THROWN)
			break;
	if (n >= 0 || (errno != EAGAIN && errno != EINTR))
		kz_px_close(c, false);
}

/* The last quarter of the places is for who still asks: whoever was told no goes at once then [PROXY-19]. */
static bool is_crowded(const struct kz_px_book *b)
{
	return atomic_load(&b->connections) > b->most / 4 * 3;
}

void kz_px_linger(struct kz_px_conn *c)
{
	if (is_crowded(&c->loop->shared->book) || shutdown(c->client.fd, SHUT_WR) != 0) {
		kz_px_close(c, false);
		return;
	}
	kz_px_state(c, KZ_PX_LINGER);
	c->in_used = 0;
	throw_away(c);
}

static void answer(struct kz_px_conn *c)
{
	while (c->say_len > 0) {
		ssize_t n = send(c->client.fd, c->say, c->say_len, MSG_NOSIGNAL | MSG_DONTWAIT);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			return;
		if (n < 0) {
			kz_px_close(c, false);
			return;
		}
		c->say += n;
		c->say_len -= (size_t)n;
	}
	kz_px_linger(c);
}

void kz_px_refuse(struct kz_px_conn *c, enum kz_reason why)
{
	struct kz_px_shared *s = c->loop->shared;
	struct kz_px_refused who = { .grant = c->grant ? &c->grant->grant : NULL,
				     .is_own = c->is_own,
				     .is_tcp = c->is_tcp,
				     .uid = c->uid,
				     .execution = c->execution };
	bool is_begun = c->state == KZ_PX_TUNNEL || (c->plain && c->plain->is_begun);

	atomic_fetch_add(&s->book.refused, 1);
	kz_px_audit_put(&s->audit, why, c->request.has_target ? &c->request.target : NULL, &who);
	/* in the middle of a stream nothing can be said any more */
	if (is_begun) {
		kz_px_close(c, true);
		return;
	}
	kz_px_drop_server(c, true);
	kz_px_state(c, KZ_PX_ANSWER);
	c->say = kz_px_answer(kz_px_status(why), c->request.is_head);
	c->say_len = strlen(c->say);
	answer(c);
}

/* -- events -- */

void kz_px_event(struct kz_px_conn *c, bool is_server, uint32_t events)
{
	switch (c->state) {
	case KZ_PX_HEAD: kz_px_head_read(c); return;
	case KZ_PX_PARKED:
	case KZ_PX_RESOLVE:
		if (!is_server && events & (EPOLLHUP | EPOLLERR))
			kz_px_close(c, false);
		return;
	case KZ_PX_CONNECT:
		if (is_server)
			kz_px_dialled(c, events);
		else if (events & (EPOLLHUP | EPOLLERR))
			kz_px_close(c, false);
		return;
	case KZ_PX_TUNNEL: kz_px_tunnel_run(c, is_server, events); return;
	case KZ_PX_PLAIN: kz_px_plain_run(c, is_server, events); return;
	case KZ_PX_ANSWER: answer(c); return;
	case KZ_PX_LINGER: throw_away(c); return;
	case KZ_PX_DEAD: return;
	}
}
