/* A tunnel: two flows, each with an end of its own. */
#include "core/egress/proxy_loop.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#define SHARE (512 * 1024) /* bytes of one direction in one turn */

static const char established[] = "HTTP/1.1 200 Connection established\r\n\r\n";

/* Is there a step to be made? */
static bool may_step(enum kz_flow_what what)
{
	return what == KZ_FLOW_MORE;
}

static void step(struct kz_px_conn *c, struct kz_flow *f, enum kz_flow_what *what)
{
	uint64_t before = f->passed;

	if (!may_step(*what))
		return;
	*what = kz_flow_step(f, SHARE);
	if (f->passed != before)
		c->active_ms = c->loop->now_ms;
}

/* What an event lets go on. */
static void note(struct kz_px_conn *c, bool is_server, uint32_t events)
{
	enum kz_flow_what *from = is_server ? &c->down_what : &c->up_what;
	enum kz_flow_what *to = is_server ? &c->up_what : &c->down_what;

	if (events & (EPOLLIN | EPOLLRDHUP | EPOLLHUP | EPOLLERR) && *from == KZ_FLOW_WANT_READ)
		*from = KZ_FLOW_MORE;
	if (events & (EPOLLOUT | EPOLLHUP | EPOLLERR) && *to == KZ_FLOW_WANT_WRITE)
		*to = KZ_FLOW_MORE;
	if (events & EPOLLERR) {
		c->is_client_gone |= !is_server;
		c->is_server_lost |= is_server;
	}
	/* a Unix peer that is gone altogether takes nothing any more, whatever it still had said */
	if (!is_server && events & EPOLLHUP && !c->is_tcp && !c->down.is_shut)
		c->is_client_gone = true;
}

/* Does the direction wait for nothing but what a lost end would have to send? */
static bool is_stuck(enum kz_flow_what what)
{
	return what == KZ_FLOW_WANT_READ || what == KZ_FLOW_DONE || what == KZ_FLOW_FAILED;
}

/* out: true when the connection is over, and closed */
static bool is_over(struct kz_px_conn *c)
{
	if (c->up_what == KZ_FLOW_DONE && c->down_what == KZ_FLOW_DONE) {
		kz_px_close(c, false);
		return true;
	}
	/*
	 * Who is gone gets nothing more; what it sent before still goes out, but a worker's run is
	 * over then, and a server that does not take it must not keep the tunnel [PROXY-17].
	 */
	if (c->is_client_gone &&
	    (is_stuck(c->up_what) || (!c->is_tcp && c->up_what == KZ_FLOW_WANT_WRITE))) {
		kz_px_close(c, c->up_what != KZ_FLOW_DONE);
		return true;
	}
	if ((c->is_server_lost || c->up_what == KZ_FLOW_FAILED) && is_stuck(c->down_what)) {
		kz_px_close(c, true);
		return true;
	}
	if (c->down_what == KZ_FLOW_FAILED) {
		kz_px_close(c, true);
		return true;
	}
	return false;
}

void kz_px_tunnel_run(struct kz_px_conn *c, bool is_server, uint32_t events)
{
	note(c, is_server, events);
	step(c, &c->up, &c->up_what);
	step(c, &c->down, &c->down_what);
	if (is_over(c))
		return;
	kz_px_hear(c->loop, &c->client, c->up_what != KZ_FLOW_WANT_WRITE);
	kz_px_hear(c->loop, &c->server, c->down_what != KZ_FLOW_WANT_WRITE);
	if (may_step(c->up_what) || may_step(c->down_what))
		kz_px_ready(c);
}

void kz_px_tunnel_start(struct kz_px_conn *c)
{
	size_t n = sizeof established - 1, early = c->in_len - c->in_used;
	ssize_t sent = send(c->client.fd, established, n, MSG_NOSIGNAL | MSG_DONTWAIT);

	if (sent < 0 && errno != EAGAIN) {
		kz_px_close(c, true);
		return;
	}
	if (sent < 0)
		sent = 0;
	if (!kz_flow_init(&c->up, &c->loop->pipes, c->client.fd, c->server.fd, c->in + c->in_used,
			  early) ||
	    !kz_flow_init(&c->down, &c->loop->pipes, c->server.fd, c->client.fd, established + sent,
			  n - (size_t)sent)) {
		kz_px_close(c, true);
		return;
	}
	free(c->in);
	c->in = NULL;
	c->in_len = c->in_cap = 0;
	c->up_what = c->down_what = KZ_FLOW_MORE;
	kz_px_state(c, KZ_PX_TUNNEL);
	kz_px_tunnel_run(c, false, 0);
}
