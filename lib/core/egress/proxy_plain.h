/*
 * One plain HTTP request: its head and body go up, framed by us; its answer comes down
 * with a head that says "close" and is a relay from there on.  One request a
 * connection, on both sides, so that no two requests share a stream.  Layer 3.
 * src: PROXY-3, PROXY-16, PROXY-18
 */
#ifndef KZ_CORE_EGRESS_PROXY_PLAIN_H
#define KZ_CORE_EGRESS_PROXY_PLAIN_H

#include "base/buf.h"
#include "core/egress/proxy_body.h"
#include "core/egress/proxy_forward.h"

#define KZ_PX_INFOS 16 /* heads of 1xx before an answer; no server needs more, and each costs */

struct kz_px_plain {
	struct kz_buf out; /* for the server: the head, then pieces of the body */
	size_t out_at;
	struct kz_px_framer framer;
	struct kz_buf reply; /* the answer's head, as far as it came */
	unsigned infos;      /* heads of 1xx that came */
	int64_t content;     /* bytes of the answer behind its head, -1: its end tells */
	uint64_t
		answer_end; /* bytes to the client once it has all of it; UINT64_MAX: the server's end tells */
	bool is_answered;     /* the answer's head was passed on */
	bool is_begun;        /* the client got something */
	bool is_request_over; /* the server takes no more */
};

/* Make one from a request. out: NULL when memory is out */
struct kz_px_plain *kz_px_plain_new(const struct kz_httphead *h, const struct kz_px_request *r);
void kz_px_plain_free(struct kz_px_plain *p);

#endif
