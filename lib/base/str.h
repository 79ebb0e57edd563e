/*
 * Strings and numbers: strict parsing, bounded copying, hexadecimal.
 * No locale, no allocation unless said.  Layer 0.
 */
#ifndef KZ_BASE_STR_H
#define KZ_BASE_STR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

/* Copy src into dst[0..size); err: KZ_E_DATA when it does not fit (dst is then ""). */
enum kz_rc kz_str_copy(char *dst, size_t size, const char *src, struct kz_err *err);
/* Format into dst[0..size); err: KZ_E_DATA when it does not fit (dst is then ""). */
enum kz_rc kz_str_format(char *dst, size_t size, struct kz_err *err, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
/* New copy, NULL when memory is out or s is NULL. */
char *kz_str_dup(const char *s);
bool kz_str_eq(const char *a, const char *b);
bool kz_str_has_prefix(const char *s, const char *prefix);

/*
 * Parse a whole decimal integer: optional '-', digits, nothing else (no blanks,
 * no '+', no suffix).
 * err: KZ_E_DATA when it is not one or lies outside [least, most].
 */
enum kz_rc kz_str_int(const char *s, int64_t least, int64_t most, int64_t *out, struct kz_err *err);

/* Lower-case hex of p[0..n) into out[0..2n+1). */
void kz_hex_encode(const void *p, size_t n, char *out);
/* Exactly n bytes from 2n hex digits; err: KZ_E_DATA. */
enum kz_rc kz_hex_decode(const char *hex, void *out, size_t n, struct kz_err *err);

/* Is s[0..n) well-formed UTF-8 (RFC 3629)? */
bool kz_utf8_valid(const char *s, size_t n);
/* Does s hold a byte below 0x20 or 0x7f? */
bool kz_str_has_control(const char *s);
/* [a-z][a-z0-9_-]{0,62}: a worker name, service name or deployment id. */
bool kz_str_is_name(const char *s);

#endif
