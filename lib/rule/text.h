/*
 * Is a file, read in pieces, text: UTF-8 without zero bytes?  Layer 2, pure.
 */
#ifndef KZ_RULE_TEXT_H
#define KZ_RULE_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"

/* {0} is one of an empty file. */
struct kz_text_scan {
	bool is_broken;
	char part[4]; /* the begin of a character that goes on in the next piece */
	size_t part_len;
};

/* Look at the next bytes. */
void kz_text_scan(struct kz_text_scan *t, const void *p, size_t n);
/* Was all of it text, up to the end? */
bool kz_text_is_whole(const struct kz_text_scan *t);
/* How many bytes at the end of p[0..n) are the begin of a character that is longer: 0 to 3. */
size_t kz_text_cut(const char *p, size_t n);
/*
 * Add p[0..n) as UTF-8 without zero bytes: each byte that is none becomes U+FFFD.
 * own: out of the caller, three times n at most. err: KZ_E_DATA, KZ_E_OS of the buffer
 */
enum kz_rc kz_text_put(struct kz_buf *out, const char *p, size_t n, struct kz_err *err);

#endif
