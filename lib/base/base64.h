/*
 * Base64 (RFC 4648), decoded in its one spelling: no blanks, no bits that are set behind
 * the end.  Not in constant time: for what its reader was shown, not for keys.  Layer 0.
 */
#ifndef KZ_BASE_BASE64_H
#define KZ_BASE_BASE64_H

#include <stdbool.h>
#include <stddef.h>

enum kz_base64 {
	KZ_BASE64_STANDARD, /* '+' and '/', padded with '=' */
	KZ_BASE64_URL,      /* '-' and '_', without padding */
};

/* Decode p[0..n). out: out[0..*len); false when it is of another spelling or longer than size. wait: never */
bool kz_base64_decode(enum kz_base64 form, const char *p, size_t n, void *out, size_t size,
		      size_t *len);

/* The characters that n bytes take, without the final 0. */
#define KZ_BASE64_TEXT(n) (((n) + 2) / 3 * 4)
/* Encode p[0..n) in the standard form. out: out[0..KZ_BASE64_TEXT(n)], terminated. wait: never */
void kz_base64_encode(const void *p, size_t n, char *out);

#endif
