/* Bytes that are no text, in a text. */
#include "base/escape.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"

/* The bytes of the character at p, 0 when it is none that can be shown. */
static size_t shown(const unsigned char *p, size_t n)
{
	static const char *const turns[] = { "\u200e", "\u200f", "\u2028", "\u2029", "\u202a",
					     "\u202b", "\u202c", "\u202d", "\u202e", "\u2066",
					     "\u2067", "\u2068", "\u2069" };
	size_t len = *p < 0x80 ? 1 : *p >= 0xf0 ? 4 : *p >= 0xe0 ? 3 : 2;

	if (*p < 0x20 || *p == 0x7f || *p == '\\' || len > n ||
	    !kz_utf8_valid((const char *)p, len))
		return 0;
	if (len == 2 && *p == 0xc2 && p[1] < 0xa0) /* C1 */
		return 0;
	/* What turns the direction of writing, or ends a line. */
	for (size_t i = 0; len == 3 && i < sizeof(turns) / sizeof(*turns); i++)
		if (!memcmp(p, turns[i], 3))
			return 0;
	return len;
}

char *kz_escape(const char *p, size_t n)
{
	char *out = malloc(n * 4 + 1), *to = out;

	for (size_t i = 0; out && i < n;) {
		size_t len = shown((const unsigned char *)p + i, n - i);

		if (len) {
			memcpy(to, p + i, len);
			to += len;
			i += len;
		} else {
			to += snprintf(to, 5, "\\x%02x", (unsigned char)p[i++]);
		}
	}
	if (out)
		*to = 0;
	return out;
}
