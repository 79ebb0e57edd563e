/* One plain request up, one answer down. */
#include "core/egress/proxy_plain.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "core/egress/proxy_loop.h"

#define PIECE 16384 /* of a body, read at once */
#define OUT (PIECE * 2 + KZ_HEAD_MAX + 1024)
#define SHARE (256 * 1024)

struct kz_px_plain *kz_px_plain_new(const struct kz_httphead *h, const struct kz_px_request *r)
{
	struct kz_px_plain *p = calloc(1, sizeof *p);

	if (!p)
		return NULL;
	kz_buf_init(&p->out, OUT);
	kz_buf_init(&p->reply, KZ_PX_REPLY_MAX + PIECE);
	kz_px_framer_start(&p->framer, r->body, r->length);
	if (kz_px_forward(h, r, &p->out))
		return p;
	kz_px_plain_free(p);
	return NULL;
}

void kz_px_plain_free(struct kz_px_plain *p)
{
	if (!p)
		return;
	kz_buf_release(&p->out);
	kz_buf_release(&p->reply);
	free(p);
}

/* -- up -- */

/* out: true when all of it went out */
static bool flush(struct kz_px_conn *c)
{
	struct kz_px_plain *p = c->plain;

	while (p->out_at < p->out.len) {
		ssize_t n = send(c->server.fd, p->out.data + p->out_at, p->out.len - p->out_at,
				 MSG_NOSIGNAL | MSG_DONTWAIT);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			return false;
		if (n < 0) { /* it may have answered all the same */
			p->is_request_over = true;
			return false;
		}
		p->out_at += (size_t)n;
		c->active_ms = c->loop->now_ms;
	}
	kz_buf_clear(&p->out);
	p->out_at = 0;
	return true;
}

/* A body that is malformed is told while nothing else was said. */
static void bad_body(struct kz_px_conn *c)
{
	if (c->plain->is_begun)
		kz_px_close(c, true);
	else
		kz_px_refuse(c, KZ_R_HEAD_MALFORMED);
}

/* Bytes of the client: first those that came with the head. out: false when there are none now, or the connection is closed */
static bool take_body(struct kz_px_conn *c)
{
	struct kz_px_plain *p = c->plain;
	char buf[PIECE];
	size_t left = c->in_len - c->in_used;
	ssize_t n;

	if (left > 0) {
		(void)kz_px_framer_take(&p->framer, c->in + c->in_used, left, &p->out);
		c->in_used = c->in_len;
	} else {
		n = recv(c->client.fd, buf, sizeof buf, MSG_DONTWAIT);
		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			return false;
		if (n <= 0) { /* a request that is cut off is none */
			kz_px_close(c, true);
			return false;
		}
		(void)kz_px_framer_take(&p->framer, buf, (size_t)n, &p->out);
	}
	c->active_ms = c->loop->now_ms;
	if (!p->framer.is_bad)
		return true;
	bad_body(c);
	return false;
}

/* out: false when the connection is closed */
static bool up(struct kz_px_conn *c)
{
	for (size_t moved = 0; !c->plain->is_request_over && flush(c); moved += PIECE) {
		if (c->plain->framer.is_done)
			return true;
		if (moved >= SHARE) {
			kz_px_ready(c);
			return true;
		}
		if (!take_body(c))
			return c->state == KZ_PX_PLAIN;
	}
	return true;
}

/* -- down -- */

/*
 * Heads of the answer. A server that goes on with 1xx has no answer, and must not hold the loop.
 * out: KZ_PX_REPLY_OK when the last is there; first gets what goes to the client
 */
static enum kz_px_reply read_heads(struct kz_px_plain *p, struct kz_buf *first)
{
	for (;;) {
		size_t used = 0;
		enum kz_px_reply got = kz_px_reply_read(kz_buf_str(&p->reply), p->reply.len, first,
							&used, &p->content);

		if (got != KZ_PX_REPLY_INFO && got != KZ_PX_REPLY_OK)
			return got;
		kz_buf_drop(&p->reply, used);
		if (got == KZ_PX_REPLY_OK)
			return got;
		if (++p->infos > KZ_PX_INFOS)
			return KZ_PX_REPLY_BAD;
	}
}

/* A 1xx head goes at once: the client may wait for it before it sends its body. */
static bool pass_info(struct kz_px_conn *c, const struct kz_buf *first)
{
	if (first->len == 0)
		return true;
	c->plain->is_begun = true;
	return send(c->client.fd, first->data, first->len, MSG_NOSIGNAL | MSG_DONTWAIT) ==
	       (ssize_t)first->len;
}

static bool begin_answer(struct kz_px_conn *c, struct kz_buf *first)
{
	struct kz_px_plain *p = c->plain;

	if (c->request.is_head)
		p->content = 0;
	p->answer_end = p->content < 0 ? UINT64_MAX : first->len + (uint64_t)p->content;
	if (kz_buf_add(first, p->reply.data, p->reply.len, NULL) != KZ_OK ||
	    !kz_flow_init(&c->down, &c->loop->pipes, c->server.fd, c->client.fd, first->data,
			  first->len))
		return false;
	kz_buf_release(&p->reply);
	p->is_answered = p->is_begun = true;
	c->down_what = KZ_FLOW_MORE;
	return true;
}

/* Nothing that could be passed on. */
static bool no_answer(struct kz_px_conn *c)
{
	if (c->plain->is_begun)
		kz_px_close(c, true);
	else
		kz_px_refuse(c, KZ_R_CONNECT_FAILED);
	return false;
}

/* The answer's head. out: false when the connection is closed */
static bool read_answer(struct kz_px_conn *c)
{
	kz_auto_buf struct kz_buf first = KZ_BUF_INIT(2 * KZ_PX_REPLY_MAX + 2 * PIECE);
	struct kz_px_plain *p = c->plain;
	char buf[PIECE];

	while (!p->is_answered) {
		ssize_t n = recv(c->server.fd, buf, sizeof buf, MSG_DONTWAIT);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			return true;
		if (n <= 0 || kz_buf_add(&p->reply, buf, (size_t)n, NULL) != KZ_OK)
			return no_answer(c);
		c->active_ms = c->loop->now_ms;
		switch (read_heads(p, &first)) {
		case KZ_PX_REPLY_BAD: return no_answer(c);
		case KZ_PX_REPLY_OK:
			if (!begin_answer(c, &first))
				return no_answer(c);
			break;
		case KZ_PX_REPLY_INFO:
		case KZ_PX_REPLY_MORE:
			if (!pass_info(c, &first))
				return no_answer(c);
			kz_buf_clear(&first);
		}
	}
	return true;
}

static void end(struct kz_px_conn *c)
{
	kz_px_drop_server(c, false);
	kz_px_linger(c);
}

static void down(struct kz_px_conn *c)
{
	uint64_t before = c->down.passed;

	if (!c->plain->is_answered && !read_answer(c))
		return;
	if (!c->plain->is_answered || c->down_what != KZ_FLOW_MORE)
		return;
	c->down_what = kz_flow_step(&c->down, SHARE);
	if (c->down.passed != before)
		c->active_ms = c->loop->now_ms;
	switch (c->down_what) {
	case KZ_FLOW_DONE: end(c); return;
	case KZ_FLOW_FAILED: kz_px_close(c, true); return;
	case KZ_FLOW_MORE: kz_px_ready(c); return;
	case KZ_FLOW_WANT_READ:
	case KZ_FLOW_WANT_WRITE: return;
	}
}

/*
 * Has each side all of what the other had to say?  The client was told that the connection
 * ends then, and a server that keeps its own open must not hold the client's place
 * [RFC 9112 section 9.6, PROXY-19].
 */
static bool is_over(const struct kz_px_conn *c)
{
	const struct kz_px_plain *p = c->plain;
	bool is_request_passed = p->framer.is_done && p->out_at == p->out.len;

	return p->is_answered && c->down.passed >= p->answer_end &&
	       (is_request_passed || p->is_request_over);
}

void kz_px_plain_run(struct kz_px_conn *c, bool is_server, uint32_t events)
{
	if (!is_server && (events & EPOLLERR || (events & EPOLLHUP && !c->is_tcp))) {
		kz_px_close(c, true); /* the client is gone */
		return;
	}
	if (is_server && events & (EPOLLIN | EPOLLRDHUP | EPOLLHUP | EPOLLERR) &&
	    c->down_what == KZ_FLOW_WANT_READ)
		c->down_what = KZ_FLOW_MORE;
	if (!is_server && events & EPOLLOUT && c->down_what == KZ_FLOW_WANT_WRITE)
		c->down_what = KZ_FLOW_MORE;
	if (up(c))
		down(c);
	if (c->state == KZ_PX_PLAIN && is_over(c))
		end(c);
	else if (c->state == KZ_PX_PLAIN)
		kz_px_timer(c);
}

void kz_px_plain_begin(struct kz_px_conn *c)
{
	c->down_what = KZ_FLOW_WANT_READ;
	kz_px_state(c, KZ_PX_PLAIN);
	kz_px_plain_run(c, true, EPOLLIN);
}
