/* Answers of the gateway: heads, bodies, ends. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "core/gateway/count.h"
#include "core/gateway/server_parts.h"

#define HEAD_MOST 4096

static struct kz_gw_conn *conn_of(struct kz_gw_request *r)
{
	return (struct kz_gw_conn *)r;
}

static const char *phrase(int status)
{
	switch (status) {
	case 200: return "OK";
	case 304: return "Not Modified";
	case 400: return "Bad Request";
	case 401: return "Unauthorized";
	case 403: return "Forbidden";
	case 404: return "Not Found";
	case 405: return "Method Not Allowed";
	case 408: return "Request Timeout";
	case 413: return "Content Too Large";
	case 421: return "Misdirected Request";
	case 431: return "Request Header Fields Too Large";
	case 502: return "Bad Gateway";
	case 503: return "Service Unavailable";
	case 504: return "Gateway Timeout";
	case 505: return "HTTP Version Not Supported";
	default: return status < 400 ? "OK" : status < 500 ? "Refused" : "Failed";
	}
}

static void count(struct kz_gw_conn *c, int status)
{
	char labels[100];

	if (kz_str_format(labels, sizeof labels, NULL, "route=\"%s\",status=\"%d\"",
			  c->route ? c->route : "none", status) == KZ_OK)
		++*kz_count(c->g->counts, "kz_gateway_requests_total", labels,
			    "Requests answered, by route and status.");
}

/* A new answer of this head. out: false: it was cut */
static bool put_head(struct kz_gw_conn *c, int status, const char *type, int64_t length,
		     const char *fields)
{
	char head[HEAD_MOST], how[64] = "Transfer-Encoding: chunked\r\n";

	c->is_begun = true;
	c->length = length;
	c->written = 0;
	c->is_chunked = length < 0;
	count(c, status);
	if (length >= 0)
		(void)snprintf(how, sizeof how, "Content-Length: %" PRId64 "\r\n", length);
	if (kz_str_format(head, sizeof head, NULL,
			  "HTTP/1.1 %d %s\r\nContent-Type: %s\r\n%s%s%s"
			  "X-Content-Type-Options: nosniff\r\n\r\n",
			  status, phrase(status), type, how,
			  c->is_close ? "Connection: close\r\n" : "",
			  fields ? fields : "") == KZ_OK &&
	    kz_conn_write(c->conn, head, strlen(head), NULL) == KZ_OK)
		return true;
	kz_gw_cut(&c->r);
	return false;
}

static void forget(struct kz_gw_conn *c)
{
	free(c->head_text);
	c->head_text = NULL;
	c->r.head = NULL;
	c->r.path = c->r.query = (struct kz_slice){ NULL, 0 };
	c->r.arg = NULL;
	c->r.on_drained = c->r.on_gone = NULL;
	c->r.is_head = c->is_begun = c->is_chunked = false;
	c->route = NULL;
}

/* Its answer is queued whole: the next request, or the end. */
static void done(struct kz_gw_conn *c)
{
	forget(c);
	c->since_ms = kz_time_boot_ms();
	c->state = c->is_close ? KZ_GW_LAST : KZ_GW_READ;
	/* what came with the head waits, and no event will tell of it */
	if (c->state == KZ_GW_READ)
		kz_gw_advance(c);
}

void kz_gw_over(struct kz_gw_conn *c)
{
	void (*gone)(struct kz_gw_request *) = c->state == KZ_GW_ANSWER ? c->r.on_gone : NULL;

	if (gone)
		gone(&c->r);
	if (c->state == KZ_GW_ANSWER && !c->is_begun)
		count(c, 499);
	forget(c);
}

void kz_gw_answer(struct kz_gw_request *r, int status, const char *type, const void *p, size_t n,
		  const char *fields)
{
	struct kz_gw_conn *c = conn_of(r);

	if (!put_head(c, status, type, (int64_t)n, fields))
		return;
	if (n > 0 && !r->is_head && kz_conn_write(c->conn, p, n, NULL) != KZ_OK)
		kz_gw_cut(r);
	else
		done(c);
}

void kz_gw_refuse(struct kz_gw_request *r, int status, enum kz_reason why, const char *fields)
{
	char body[600], more[1024];

	/* codes and their texts are plain: no byte of them needs escaping in JSON */
	(void)snprintf(body, sizeof body,
		       "{\"v\":1,\"type\":\"error\",\"reason\":\"%s\",\"text\":\"%s\"}\n",
		       kz_reason_code(why), kz_reason_text(why));
	(void)snprintf(more, sizeof more, "Cache-Control: no-store\r\n%s", fields ? fields : "");
	kz_gw_answer(r, status, "application/json", body, strlen(body), more);
}

enum kz_rc kz_gw_begin(struct kz_gw_request *r, int status, const char *type, int64_t length,
		       const char *fields, struct kz_err *err)
{
	struct kz_gw_conn *c = conn_of(r);

	if (length < 0 && c->head.minor == 0) {
		kz_gw_refuse(r, 505, KZ_R_REQUEST_UNSUPPORTED, NULL);
		return kz_err_set(err, KZ_E_PROTOCOL, "HTTP/1.0 cannot tell the end of a stream");
	}
	if (!put_head(c, status, type, length, fields))
		return kz_err_set(err, KZ_E_OS, "out of memory");
	return KZ_OK;
}

static enum kz_rc put(struct kz_gw_conn *c, const void *p, size_t n, struct kz_err *err)
{
	char size[24];
	enum kz_rc rc = KZ_OK;

	if (c->is_chunked) {
		(void)snprintf(size, sizeof size, "%zx\r\n", n);
		rc = kz_conn_write(c->conn, size, strlen(size), err);
	}
	if (rc == KZ_OK)
		rc = kz_conn_write(c->conn, p, n, err);
	if (rc == KZ_OK && c->is_chunked)
		rc = kz_conn_write(c->conn, "\r\n", 2, err);
	return rc;
}

enum kz_rc kz_gw_write(struct kz_gw_request *r, const void *p, size_t n, struct kz_err *err)
{
	struct kz_gw_conn *c = conn_of(r);
	enum kz_rc rc = KZ_OK;

	c->written += (int64_t)n;
	if (c->length >= 0 && c->written > c->length)
		rc = kz_err_set(err, KZ_E_DATA, "more than its length");
	else if (n > 0 && !r->is_head)
		rc = kz_conn_unsent(c->conn) + n > KZ_GW_UNSENT ?
			     kz_err_set(err, KZ_E_DATA, "the reader is too slow") :
			     put(c, p, n, err);
	if (rc != KZ_OK)
		kz_gw_cut(r);
	return rc;
}

size_t kz_gw_unsent(const struct kz_gw_request *r)
{
	return kz_conn_unsent(((const struct kz_gw_conn *)r)->conn);
}

void kz_gw_end(struct kz_gw_request *r)
{
	struct kz_gw_conn *c = conn_of(r);

	if (!r->is_head &&
	    ((c->length >= 0 && c->written < c->length) ||
	     (c->is_chunked && kz_conn_write(c->conn, "0\r\n\r\n", 5, NULL) != KZ_OK)))
		kz_gw_cut(r);
	else
		done(c);
}

void kz_gw_cut(struct kz_gw_request *r)
{
	struct kz_gw_conn *c = conn_of(r);

	/* whoever cuts knows that it is over */
	r->on_gone = NULL;
	kz_gw_over(c);
	kz_gw_close(c);
}

void kz_gw_cut_late(struct kz_gw_request *r)
{
	++*conn_of(r)->g->late;
	kz_gw_cut(r);
}
