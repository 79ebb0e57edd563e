/*
 * Asking for the live audience: a program, a file or a URL, once a run, directly before
 * files are read.  Layer 3.
 * src: PRJ-23, PRJ-51, PRJ-54
 */
#ifndef KZ_CORE_FILES_AUDIENCE_H
#define KZ_CORE_FILES_AUDIENCE_H

#include "base/buf.h"
#include "base/err.h"

#define KZ_AUDIENCE_MS 5000 /* longest time an answer may take */

/* Is it a source: "cmd:WORD...", "file:PATH", "http://..." or "https://..."? err: usage */
enum kz_rc kz_audience_check(const char *source, struct kz_err *err);
/*
 * Ask.
 * in: a checked source. out: replaces what is in b, at most b->max bytes.
 * err: audience_unavailable, whatever went wrong. wait: KZ_AUDIENCE_MS at most
 */
enum kz_rc kz_audience_ask(const char *source, struct kz_buf *b, struct kz_err *err);

#endif
