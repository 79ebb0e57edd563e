/*
 * The body of a plain request: what of the client's bytes belongs to it, framed anew
 * for the server.  By length it is exactly that many bytes; in chunks it is parsed
 * strictly (no extensions, no trailers, no blanks, CR LF only) and written again, so that
 * no two readers see different ends.  Pure.  Layer 3.
 * src: PROXY-3; RFC 9112 sections 6 and 7.1
 */
#ifndef KZ_CORE_EGRESS_PROXY_BODY_H
#define KZ_CORE_EGRESS_PROXY_BODY_H

#include "base/buf.h"
#include "core/egress/proxy_request.h"

struct kz_px_framer {
	enum kz_px_body kind;
	int64_t left; /* bytes of the body, or of the chunk */
	int state;    /* of a chunked one */
	int digits;
	bool is_done, is_bad;
};

/* Begin. in: length: of a body by length; 0 and no body are done at once */
void kz_px_framer_start(struct kz_px_framer *f, enum kz_px_body kind, int64_t length);
/*
 * Take from p[0..n).  out: how many bytes belong to the body so far; less than n when it
 * is done or bad, what follows is nobody's.  What goes to the server is appended to out.
 * err: is_bad, also when memory is out
 */
size_t kz_px_framer_take(struct kz_px_framer *f, const char *p, size_t n, struct kz_buf *out);

#endif
