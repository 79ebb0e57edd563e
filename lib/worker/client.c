/* Control connections: heads, authentication, bodies, answers. */
#include "worker/client.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/str.h"
#include "port/json.h"
#include "port/seal.h"
#include "rule/reason.h"

#define ANSWER_MAX (1 << 20)
/* For the first head; who has no secret must not hold one of few connections. */
#define HEAD_PATIENCE KZ_SECONDS(5)

static void out_of_memory(struct kz_client *c)
{
	c->state = KZ_CLIENT_CLOSING;
	kz_conn_finish(c->conn);
}

void kz_client_send(struct kz_client *c, const void *p, size_t n)
{
	if (c->state != KZ_CLIENT_CLOSING && kz_conn_write(c->conn, p, n, NULL) != KZ_OK)
		out_of_memory(c);
}

void kz_client_frame(struct kz_client *c, enum kz_frame type, const void *p, size_t n)
{
	unsigned char h[KZ_FRAME_HEAD] = { (unsigned char)type, (unsigned char)(n >> 24),
					   (unsigned char)(n >> 16), (unsigned char)(n >> 8),
					   (unsigned char)n };

	kz_client_send(c, h, sizeof h);
	kz_client_send(c, p, n);
}

static const char *phrase(int status)
{
	switch (status) {
	case 200: return "OK";
	case 400: return "Bad Request";
	case 401: return "Unauthorized";
	case 404: return "Not Found";
	case 409: return "Conflict";
	case 413: return "Content Too Large";
	case 431: return "Request Header Fields Too Large";
	default: return "Internal Server Error";
	}
}

void kz_client_answer(struct kz_client *c, int status, struct kz_json *o)
{
	kz_auto_json struct kz_json *own = o;
	kz_auto_buf struct kz_buf body = KZ_BUF_INIT(ANSWER_MAX), head = KZ_BUF_INIT(1024);

	if (kz_json_write(own, &body, NULL) != KZ_OK ||
	    kz_buf_printf(
		    &head, NULL,
		    "HTTP/1.1 %d %s\r\nContent-Type: application/json\r\nContent-Length: %zu\r\n%s\r\n",
		    status, phrase(status), body.len,
		    c->is_close ? "Connection: close\r\n" : "") != KZ_OK) {
		out_of_memory(c);
		return;
	}
	c->state = KZ_CLIENT_HEAD;
	kz_client_send(c, head.data, head.len);
	kz_client_send(c, body.data, body.len);
	if (c->is_close) {
		c->state = KZ_CLIENT_CLOSING;
		kz_conn_finish(c->conn);
	}
}

static void answer_error(struct kz_client *c, int status, const char *reason, const char *text)
{
	struct kz_json *o = kz_json_object();

	kz_json_set_str(o, "reason", reason);
	kz_json_set_str(o, "text", text);
	kz_client_answer(c, status, o);
}

void kz_client_refuse(struct kz_client *c, const struct kz_err *err)
{
	enum kz_reason r;
	bool is_known = *err->reason && kz_reason_find(err->reason, &r);
	int status = 500;

	if (is_known && r == KZ_R_MALFORMED_INPUT)
		status = 400;
	else if (is_known && kz_reason_is_refusal(r))
		status = 409;
	answer_error(c, status, is_known ? err->reason : kz_reason_code(KZ_R_WORKER_FAULT),
		     err->text);
}

/* A request that cannot be told from the next one: answer and close. */
static void reject(struct kz_client *c, int status, enum kz_reason r, const char *text)
{
	c->is_close = true;
	answer_error(c, status, kz_reason_code(r), text);
}

static bool is_authorized(const struct kz_client *c, const struct kz_httphead *h)
{
	static const char scheme[] = "Bearer ";
	const struct kz_slice *v = kz_httphead_field(h, "authorization");
	const size_t n = sizeof scheme - 1, m = strlen(c->w->boot.secret);

	return v && v->n == n + m && memcmp(v->p, scheme, n) == 0 &&
	       kz_equal(v->p + n, c->w->boot.secret, m);
}

/* out: false when the request is over or more bytes are needed */
static bool take_head(struct kz_client *c)
{
	size_t n = kz_conn_ready(c->conn);
	struct kz_httphead h;
	const char *p;

	if (n > KZ_HEAD_MAX)
		n = KZ_HEAD_MAX;
	p = kz_conn_peek(c->conn, n);
	if (!p)
		return false;
	switch (kz_httphead_parse(p, n, &h)) {
	case KZ_HEAD_MORE: return false;
	case KZ_HEAD_LARGE:
		reject(c, 431, KZ_R_MALFORMED_INPUT, "the head is too large");
		return false;
	case KZ_HEAD_BAD:
		reject(c, 400, KZ_R_MALFORMED_INPUT, "the head is malformed");
		return false;
	case KZ_HEAD_OK: break;
	}
	c->is_close = h.is_close;
	if (!is_authorized(c, &h)) {
		reject(c, 401, KZ_R_WORKER_UNAUTHORIZED, "the secret is missing or wrong");
		return false;
	}
	c->known_by = KZ_NEVER;
	c->route = kz_route_find(&h);
	if (!c->route) {
		reject(c, 404, KZ_R_MALFORMED_INPUT, "there is no such request");
		return false;
	}
	c->body_left = h.content_length < 0 ? 0 : h.content_length;
	if (h.has_transfer_encoding || (!c->route->is_stream && c->body_left > KZ_BODY_MAX)) {
		reject(c, 413, KZ_R_MALFORMED_INPUT,
		       "the body is too large or of no stated length");
		return false;
	}
	kz_conn_drop(c->conn, h.bytes);
	c->file = -1;
	c->file_left = -1;
	c->put_err = (struct kz_err)KZ_ERR_INIT;
	c->state = c->route->is_stream ? KZ_CLIENT_PUT : KZ_CLIENT_BODY;
	return true;
}

static bool parse_body(const struct kz_client *c, const char *p, size_t n, struct kz_json **o,
		       struct kz_slice *tail)
{
	const unsigned char *u = (const unsigned char *)p;
	size_t head = n;

	if (!p)
		return false;
	if (c->route->has_tail) {
		if (n < 4)
			return false;
		head = (size_t)u[0] << 24 | (size_t)u[1] << 16 | (size_t)u[2] << 8 | u[3];
		p += 4;
		if (head > n - 4)
			return false;
		*tail = (struct kz_slice){ p + head, n - 4 - head };
	}
	return kz_json_parse(p, head, o, NULL) == KZ_OK && kz_json_is_object(*o);
}

static bool take_body(struct kz_client *c)
{
	size_t n = (size_t)c->body_left;
	kz_auto_json struct kz_json *o = NULL;
	struct kz_slice tail = { "", 0 };

	if (kz_conn_ready(c->conn) < n)
		return false;
	if (n && !parse_body(c, kz_conn_peek(c->conn, n), n, &o, &tail)) {
		reject(c, 400, KZ_R_MALFORMED_INPUT, "the body is not a JSON object");
		return false;
	}
	/* the body is used before the answer is written, and dropped whatever it was */
	c->route->fn(c, o, tail);
	kz_conn_drop(c->conn, n);
	return true;
}

static void on_data(void *arg)
{
	struct kz_client *c = arg;
	bool more = true;

	while (more && kz_conn_ready(c->conn) + (c->state == KZ_CLIENT_BODY) > 0) {
		switch (c->state) {
		case KZ_CLIENT_HEAD: more = take_head(c); break;
		case KZ_CLIENT_BODY: more = take_body(c); break;
		case KZ_CLIENT_PUT: more = kz_client_put(c); break;
		case KZ_CLIENT_FRAMES: more = kz_client_frames(c); break;
		case KZ_CLIENT_GET:
		case KZ_CLIENT_WAITING:
		case KZ_CLIENT_CLOSING: more = false; break;
		}
	}
}

static void on_drained(void *arg)
{
	struct kz_client *c = arg;

	if (c->state != KZ_CLIENT_GET)
		return;
	if (c->tree)
		kz_client_tree_more(c);
	else
		kz_client_get_more(c);
	if (c->state == KZ_CLIENT_HEAD)
		on_data(c);
}

static void on_closed(void *arg)
{
	kz_client_close(arg);
}

/* One timer for all, so that the number of descriptors says nothing of connections. */
static void arm(struct kz_worker *w)
{
	struct kz_deadline first = KZ_NEVER;

	for (int i = 0; i < w->client_count; i++)
		first = kz_deadline_min(first, w->clients[i]->known_by);
	/* a timer that cannot be set leaves a connection open, which is no danger to a tenant */
	(void)kz_timer_at(w->head_timer, first, NULL);
}

void kz_client_expire(void *worker)
{
	struct kz_worker *w = worker;

	/* backwards: closing one puts the last in its place */
	for (int i = w->client_count - 1; i >= 0; i--)
		if (kz_deadline_passed(w->clients[i]->known_by))
			kz_client_close(w->clients[i]);
	arm(w);
}

void kz_client_accept(void *worker, int fd)
{
	static const struct kz_conn_calls calls = { .on_data = on_data,
						    .on_drained = on_drained,
						    .on_closed = on_closed };
	struct kz_worker *w = worker;
	struct kz_client *c = w->client_count < KZ_WORKER_CLIENTS ? calloc(1, sizeof *c) : NULL;

	if (!c) {
		close(fd);
		return;
	}
	c->w = w;
	c->file = -1;
	c->conn = kz_conn_new(w->serve, fd, KZ_BODY_MAX + KZ_HEAD_MAX, &calls, c);
	if (!c->conn) {
		free(c);
		return;
	}
	c->known_by = kz_deadline_in(HEAD_PATIENCE);
	w->clients[w->client_count++] = c;
	arm(w);
}

void kz_client_close(struct kz_client *c)
{
	struct kz_worker *w = c->w;

	if (w->resetter == c)
		w->resetter = NULL;
	if (w->runner == c) {
		w->runner = NULL;
		kz_run_cancel(w->run, "transport_lost");
	}
	if (w->holder == c) {
		w->holder = NULL;
		if (w->tenure.state == KZ_TENURE_BOUND) {
			w->tenure.state = KZ_TENURE_ENDED;
			kz_worker_end_tenant(w, "transport_lost");
		}
	}
	kz_client_tree_gone(c);
	for (int i = 0; i < w->client_count; i++)
		if (w->clients[i] == c) {
			w->clients[i] = w->clients[--w->client_count];
			break;
		}
	if (c->file >= 0)
		close(c->file);
	kz_conn_free(c->conn);
	free(c);
}
