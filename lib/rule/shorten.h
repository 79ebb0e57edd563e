/*
 * A shortener of what a program printed: its begin, its end, and of what lies between
 * the lines that look like errors.  The same text is always shortened to the same.  For
 * what a model reads; the output itself is never touched.  Layer 2, pure.
 * src: CMP-6, CMP-8
 */
#ifndef KZ_RULE_SHORTEN_H
#define KZ_RULE_SHORTEN_H

#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"

#define KZ_SHORTEN_LEAST 256 /* bytes: no text is shortened to less */

/*
 * Add p[0..n) to out: as it is when n is limit at most, else what of it fits into limit
 * bytes, with a line "[... N bytes left out ...]" for each gap.  Text stays text: no
 * character is cut in two.
 * in: limit, KZ_SHORTEN_LEAST at least. out: at most limit bytes more; room for them is
 * the caller's. err: KZ_E_DATA, KZ_E_OS of the buffer
 */
enum kz_rc kz_shorten(const char *p, size_t n, size_t limit, struct kz_buf *out,
		      struct kz_err *err);

#endif
