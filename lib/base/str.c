/* Strings and numbers. */
#include "base/str.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum kz_rc kz_str_copy(char *dst, size_t size, const char *src, struct kz_err *err)
{
	size_t len = strlen(src);

	if (len >= size) {
		if (size > 0)
			dst[0] = '\0';
		return kz_err_set(err, KZ_E_DATA, "text of %zu bytes is longer than %zu", len,
				  size > 0 ? size - 1 : 0);
	}
	memcpy(dst, src, len + 1);
	return KZ_OK;
}

enum kz_rc kz_str_format(char *dst, size_t size, struct kz_err *err, const char *fmt, ...)
{
	va_list ap;
	int len;

	va_start(ap, fmt);
	len = vsnprintf(dst, size, fmt, ap);
	va_end(ap);
	if (len >= 0 && (size_t)len < size)
		return KZ_OK;
	if (size > 0)
		dst[0] = '\0';
	return kz_err_set(err, KZ_E_DATA, "text of %d bytes is longer than %zu", len,
			  size > 0 ? size - 1 : 0);
}

char *kz_str_dup(const char *s)
{
	return s ? strdup(s) : NULL;
}

bool kz_str_eq(const char *a, const char *b)
{
	if (!a || !b)
		return a == b;
	return strcmp(a, b) == 0;
}

bool kz_str_has_prefix(const char *s, const char *prefix)
{
	return strncmp(s, prefix, strlen(prefix)) == 0;
}

enum kz_rc kz_str_int(const char *s, int64_t least, int64_t most, int64_t *out, struct kz_err *err)
{
	const char *p = s;
	bool negative = *p == '-';
	int64_t n = 0;

	if (negative)
		p++;
	if (!*p)
		return kz_err_set(err, KZ_E_DATA, "not a number: \"%.40s\"", s);
	for (; *p; p++) {
		if (*p < '0' || *p > '9')
			return kz_err_set(err, KZ_E_DATA, "not a number: \"%.40s\"", s);
		/* Counting down reaches INT64_MIN, which has no positive twin. */
		if (__builtin_mul_overflow(n, 10, &n) ||
		    __builtin_sub_overflow(n, (int64_t)(*p - '0'), &n))
			return kz_err_set(err, KZ_E_DATA, "number too large: \"%.40s\"", s);
	}
	if (!negative && __builtin_sub_overflow(0, n, &n))
		return kz_err_set(err, KZ_E_DATA, "number too large: \"%.40s\"", s);
	if (n < least || n > most)
		return kz_err_set(err, KZ_E_DATA, "%lld is not between %lld and %lld", (long long)n,
				  (long long)least, (long long)most);
	*out = n;
	return KZ_OK;
}

void kz_hex_encode(const void *p, size_t n, char *out)
{
	static const char digits[] = "0123456789abcdef";
	const unsigned char *b = p;

	for (size_t i = 0; i < n; i++) {
		out[2 * i] = digits[b[i] >> 4];
		out[2 * i + 1] = digits[b[i] & 15];
	}
	out[2 * n] = '\0';
}

static int hex_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

enum kz_rc kz_hex_decode(const char *hex, void *out, size_t n, struct kz_err *err)
{
	unsigned char *b = out;

	/* The text may be a secret: the message does not quote it. */
	if (strlen(hex) != 2 * n)
		return kz_err_set(err, KZ_E_DATA, "not %zu hexadecimal digits", 2 * n);
	for (size_t i = 0; i < n; i++) {
		int hi = hex_value(hex[2 * i]);
		int lo = hex_value(hex[2 * i + 1]);

		if (hi < 0 || lo < 0)
			return kz_err_set(err, KZ_E_DATA, "not %zu hexadecimal digits", 2 * n);
		b[i] = (unsigned char)(hi << 4 | lo);
	}
	return KZ_OK;
}

/* Bytes of a sequence that begins with lead, 0 when none does. */
static size_t utf8_length(unsigned char lead)
{
	if (lead < 0x80)
		return 1;
	if (lead < 0xc2 || lead > 0xf4)
		return 0;
	return lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
}

/* Length of the well-formed sequence at s[0..n), 0 for none (RFC 3629, section 4). */
static size_t utf8_sequence(const unsigned char *s, size_t n)
{
	size_t len = utf8_length(s[0]);

	if (len > n)
		return 0;
	for (size_t i = 1; i < len; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	/* Overlong forms, surrogates, and what is past U+10FFFF. */
	if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) ||
	    (s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f))
		return 0;
	return len;
}

bool kz_utf8_valid(const char *s, size_t n)
{
	const unsigned char *p = (const unsigned char *)s;

	while (n > 0) {
		size_t len = utf8_sequence(p, n);

		if (len == 0)
			return false;
		p += len;
		n -= len;
	}
	return true;
}

bool kz_str_has_control(const char *s)
{
	for (; *s; s++)
		if ((unsigned char)*s < 0x20 || *s == 0x7f)
			return true;
	return false;
}

bool kz_str_is_name(const char *s)
{
	size_t n = 1;

	if (s[0] < 'a' || s[0] > 'z')
		return false;
	for (; s[n]; n++) {
		bool ok = (s[n] >= 'a' && s[n] <= 'z') || (s[n] >= '0' && s[n] <= '9') ||
			  s[n] == '_' || s[n] == '-';

		if (!ok || n >= 63)
			return false;
	}
	return true;
}
