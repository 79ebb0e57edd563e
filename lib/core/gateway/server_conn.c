/* One connection of the gateway: lines and heads in, times looked at. */
#include <stdlib.h>
#include <string.h>

#include "core/gateway/count.h"
#include "core/gateway/server_parts.h"

#define AHEAD (64 << 10) /* unsent bytes at which the next request waits */
#define THROWN (1 << 20) /* bytes that are thrown away before a connection goes */
#define LINGER_MS 2000

static bool is_answered(const struct kz_gw_conn *c)
{
	return c->state != KZ_GW_ANSWER;
}

/* Not a request that a route could answer: say so, and that is the last. */
static void deny(struct kz_gw_conn *c, int status, enum kz_reason why, const char *fields)
{
	c->state = KZ_GW_ANSWER;
	c->is_close = true;
	kz_gw_refuse(&c->r, status, why, fields);
}

static const struct kz_gw_route *find(const struct kz_gw_conn *c)
{
	const struct kz_gw *g = c->g;
	const struct kz_gw_route *best = NULL;

	for (size_t i = 0; i < g->route_count; i++) {
		const struct kz_gw_route *r = &g->routes[i];

		if ((r->from & c->r.from) && kz_ask_fits(c->r.path, r->prefix) &&
		    (!best || strlen(r->prefix) > strlen(best->prefix)))
			best = r;
	}
	return best;
}

static void dispatch(struct kz_gw_conn *c)
{
	const struct kz_gw *g = c->g;
	const struct kz_gw_route *route;
	struct kz_ask ask;
	int status = kz_ask_read(&c->head, &ask);

	c->r.head = &c->head;
	c->r.is_head = ask.is_head;
	c->r.path = ask.path;
	c->r.query = ask.query;
	c->is_close = c->head.is_close;
	c->state = KZ_GW_ANSWER;
	if (c->r.is_tcp && c->r.from == KZ_GW_OPERATOR &&
	    !kz_ask_host(&c->head, g->names, g->listen))
		deny(c, 421, KZ_R_GATEWAY_HOST, NULL);
	else if (status == 405)
		deny(c, 405, KZ_R_METHOD_REFUSED, "Allow: GET, HEAD\r\n");
	else if (status)
		deny(c, status, status == 400 ? KZ_R_HEAD_MALFORMED : KZ_R_REQUEST_UNSUPPORTED,
		     NULL);
	else if (!(route = find(c)))
		kz_gw_refuse(&c->r, 404, KZ_R_ROUTE_UNKNOWN, NULL);
	else {
		c->route = route->prefix;
		route->answer(route->arg, &c->r);
	}
}

/* A head that is whole: kept for as long as its request lives, and taken from the input. */
static enum kz_head_rc take_head(struct kz_gw_conn *c, const char *p, size_t n)
{
	c->head_text = malloc(n);
	if (!c->head_text)
		return KZ_HEAD_LARGE;
	memcpy(c->head_text, p, n);
	kz_conn_drop(c->conn, n);
	c->head_at = 0;
	return kz_httphead_read(c->head_text, n, &c->head);
}

static enum kz_head_rc read_line(struct kz_gw_conn *c, size_t ready)
{
	size_t n = ready < KZ_EXECUTION_LINE ? ready : KZ_EXECUTION_LINE;
	enum kz_head_rc rc = kz_execution_line(kz_conn_peek(c->conn, n), n, c->execution);

	if (rc == KZ_HEAD_OK) {
		kz_conn_drop(c->conn, KZ_EXECUTION_LINE);
		c->has_line = true;
	}
	return rc;
}

/* out: KZ_HEAD_OK: go on; KZ_HEAD_MORE: wait for more */
static enum kz_head_rc step(struct kz_gw_conn *c, size_t ready)
{
	size_t n = ready < KZ_HEAD_MAX ? ready : KZ_HEAD_MAX;
	enum kz_head_rc rc;
	const char *p;

	if (!c->has_line)
		return read_line(c, ready);
	/* the clock of a head runs from its first byte */
	if (c->has_asked && c->head_at == 0)
		c->since_ms = kz_time_boot_ms();
	p = kz_conn_peek(c->conn, n);
	rc = p ? kz_httphead_find(p, n, &c->head_at) : KZ_HEAD_LARGE;
	if (rc == KZ_HEAD_OK)
		rc = take_head(c, p, c->head_at);
	if (rc == KZ_HEAD_OK) {
		c->has_asked = true;
		dispatch(c);
	}
	return rc;
}

static void read_all(struct kz_gw_conn *c)
{
	enum kz_head_rc rc = KZ_HEAD_OK;

	while (rc == KZ_HEAD_OK && c->state == KZ_GW_READ && kz_conn_ready(c->conn) > 0 &&
	       kz_conn_unsent(c->conn) < AHEAD)
		rc = step(c, kz_conn_ready(c->conn));
	if (rc == KZ_HEAD_BAD)
		deny(c, 400, KZ_R_HEAD_MALFORMED, NULL);
	if (rc == KZ_HEAD_LARGE)
		deny(c, 431, KZ_R_HEAD_TOO_LARGE, NULL);
}

void kz_gw_advance(struct kz_gw_conn *c)
{
	if (c->is_busy)
		return;
	c->is_busy = true;
	read_all(c);
	c->is_busy = false;
	if (c->state == KZ_GW_DEAD)
		kz_gw_close(c);
}

/* -- the connection's events -- */

static void on_data(void *arg)
{
	struct kz_gw_conn *c = arg;

	if (c->state == KZ_GW_READ) {
		kz_gw_advance(c);
	} else if (c->state == KZ_GW_LINGER || c->state == KZ_GW_LAST) {
		c->thrown += kz_conn_ready(c->conn);
		kz_conn_drop(c->conn, kz_conn_ready(c->conn));
		if (c->thrown > THROWN)
			kz_gw_close(c);
	}
}

static void on_drained(void *arg)
{
	struct kz_gw_conn *c = arg;

	c->since_ms = kz_time_boot_ms();
	switch (c->state) {
	case KZ_GW_READ: kz_gw_advance(c); return;
	case KZ_GW_ANSWER:
		if (c->r.on_drained)
			c->r.on_drained(&c->r);
		return;
	case KZ_GW_LAST:
		/* an end that the other side sees before any reset for what it still sends */
		c->state = KZ_GW_LINGER;
		kz_conn_shut(c->conn);
		on_data(c);
		return;
	case KZ_GW_LINGER:
	case KZ_GW_DEAD: return;
	}
}

static void on_closed(void *arg)
{
	struct kz_gw_conn *c = arg;

	/* it may have shut its half behind its last request, and wait for the answer */
	if (!kz_conn_is_broken(c->conn) && is_answered(c) && kz_conn_unsent(c->conn) > 0) {
		c->state = KZ_GW_LAST;
		return;
	}
	kz_gw_over(c);
	kz_gw_close(c);
}

const struct kz_conn_calls kz_gw_conn_calls = { on_data, on_drained, on_closed };

/* -- times -- */

static bool is_late(struct kz_gw_conn *c, int64_t now_ms)
{
	const struct kz_gw_limits *m = &c->g->limits;
	size_t unsent = kz_conn_unsent(c->conn);
	int64_t spent;

	/* bytes that go out are progress; a handler that has none to give is its own business */
	if (unsent != c->unsent || (c->state == KZ_GW_ANSWER && unsent == 0))
		c->since_ms = now_ms;
	c->unsent = unsent;
	spent = now_ms - c->since_ms;
	switch (c->state) {
	case KZ_GW_READ:
		if (unsent > 0)
			return spent >= m->idle.ms;
		return spent >=
		       (c->has_asked && kz_conn_ready(c->conn) == 0 ? m->idle.ms : m->head.ms);
	case KZ_GW_ANSWER:
	case KZ_GW_LAST: return spent >= m->idle.ms;
	case KZ_GW_LINGER: return spent >= LINGER_MS;
	case KZ_GW_DEAD: return false;
	}
	return false;
}

void kz_gw_look(struct kz_gw_conn *c, int64_t now_ms)
{
	bool is_head_due = c->state == KZ_GW_READ && c->has_line && kz_conn_ready(c->conn) > 0 &&
			   kz_conn_unsent(c->conn) == 0;

	if (!is_late(c, now_ms))
		return;
	if (c->state != KZ_GW_LINGER)
		++*c->g->late;
	if (is_head_due) {
		deny(c, 408, KZ_R_HEAD_TIMEOUT, NULL);
		return;
	}
	kz_gw_over(c);
	kz_gw_close(c);
}
