/*
 * Heads as they go on: the request to the server, in origin form and without what is
 * meant for the proxy; the answer to the client, which is told that the connection
 * ends.  Pure.  Layer 3.
 * src: PROXY-3; RFC 9110 sections 7.6.1, 7.6.3; RFC 9112 sections 2.2, 5.2, 6.3
 */
#ifndef KZ_CORE_EGRESS_PROXY_FORWARD_H
#define KZ_CORE_EGRESS_PROXY_FORWARD_H

#include "base/buf.h"
#include "core/egress/proxy_request.h"

#define KZ_PX_REPLY_MAX 65536 /* bytes of an answer's head */

/* Append the head for the server. err: false when memory is out */
bool kz_px_forward(const struct kz_httphead *h, const struct kz_px_request *r, struct kz_buf *out);

enum kz_px_reply {
	KZ_PX_REPLY_MORE, /* no empty line yet */
	KZ_PX_REPLY_INFO, /* 1xx: another head follows */
	KZ_PX_REPLY_OK,
	KZ_PX_REPLY_BAD, /* nothing that may be passed on, or memory is out */
};
/*
 * Read an answer's head at the start of p[0..n) and append what the client gets.
 * Two lengths, a length beside a coding, folded lines, bare CR or LF and a switch of
 * protocols are bad.
 * out: *used: bytes of the head; *content: bytes behind it, -1 when it does not say (a
 * chunked answer, or one that ends with its connection); that of HEAD has none all the same
 */
enum kz_px_reply kz_px_reply_read(const char *p, size_t n, struct kz_buf *out, size_t *used,
				  int64_t *content);

#endif
