/*
 * Excerpts: begin and end of a stream of unknown length, in memory of a fixed size, and
 * what of that is text.  For whoever gets to see a bounded part of an output [OUT-12].
 * Layer 2, pure.
 */
#ifndef KZ_RULE_EXCERPT_H
#define KZ_RULE_EXCERPT_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

#define KZ_EXCERPT_PART 8192 /* bytes kept of the begin, and of the end */

/* {0} is an empty one. */
struct kz_excerpt {
	int64_t bytes; /* all that was added */
	char head[KZ_EXCERPT_PART];
	char tail[KZ_EXCERPT_PART]; /* the last ones after the head, as a ring */
};

/* Add the next bytes of the stream. */
void kz_excerpt_add(struct kz_excerpt *e, const void *p, size_t n);
/*
 * The excerpt as UTF-8 without zero bytes: each byte that is none becomes U+FFFD; a
 * character that a cut went through is left out.
 * out: head, all of it when nothing was left out; else tail too, and how many bytes in
 * between are not told. own: both buffers of the caller, of 6 * KZ_EXCERPT_PART at least
 */
enum kz_rc kz_excerpt_text(const struct kz_excerpt *e, struct kz_buf *head, struct kz_buf *tail,
			   int64_t *omitted, struct kz_err *err);

#endif
