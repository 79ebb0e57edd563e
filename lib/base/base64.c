/* One table of both alphabets; the two last digits say which it is. */
#include "base/base64.h"

#include <stdint.h>

/* The value of each digit plus one; 0: it is none. */
static const unsigned char digits[256] = {
	['A'] = 1,  ['B'] = 2,  ['C'] = 3,  ['D'] = 4,  ['E'] = 5,  ['F'] = 6,  ['G'] = 7,
	['H'] = 8,  ['I'] = 9,  ['J'] = 10, ['K'] = 11, ['L'] = 12, ['M'] = 13, ['N'] = 14,
	['O'] = 15, ['P'] = 16, ['Q'] = 17, ['R'] = 18, ['S'] = 19, ['T'] = 20, ['U'] = 21,
	['V'] = 22, ['W'] = 23, ['X'] = 24, ['Y'] = 25, ['Z'] = 26, ['a'] = 27, ['b'] = 28,
	['c'] = 29, ['d'] = 30, ['e'] = 31, ['f'] = 32, ['g'] = 33, ['h'] = 34, ['i'] = 35,
	['j'] = 36, ['k'] = 37, ['l'] = 38, ['m'] = 39, ['n'] = 40, ['o'] = 41, ['p'] = 42,
	['q'] = 43, ['r'] = 44, ['s'] = 45, ['t'] = 46, ['u'] = 47, ['v'] = 48, ['w'] = 49,
	['x'] = 50, ['y'] = 51, ['z'] = 52, ['0'] = 53, ['1'] = 54, ['2'] = 55, ['3'] = 56,
	['4'] = 57, ['5'] = 58, ['6'] = 59, ['7'] = 60, ['8'] = 61, ['9'] = 62,
};

static unsigned digit(enum kz_base64 form, char c)
{
	if (c == (form == KZ_BASE64_URL ? '-' : '+'))
		return 63;
	if (c == (form == KZ_BASE64_URL ? '_' : '/'))
		return 64;
	return digits[(unsigned char)c];
}

bool kz_base64_decode(enum kz_base64 form, const char *p, size_t n, void *out, size_t size,
		      size_t *len)
{
	unsigned char *to = out;
	uint32_t bits = 0;
	unsigned held = 0;

	*len = 0;
	if (form == KZ_BASE64_STANDARD) {
		size_t pad = 0;

		if (n % 4 != 0)
			return false;
		while (pad < 2 && n > 0 && p[n - 1] == '=') {
			pad++;
			n--;
		}
	}
	for (size_t i = 0; i < n; i++) {
		unsigned value = digit(form, p[i]);

		if (value == 0)
			return false;
		bits = bits << 6 | (value - 1);
		held += 6;
		if (held < 8)
			continue;
		held -= 8;
		if (*len == size)
			return false;
		to[(*len)++] = (unsigned char)(bits >> held);
	}
	/* a single last digit holds no byte */
	return held < 6 && (bits & ((1u << held) - 1)) == 0;
}

void kz_base64_encode(const void *p, size_t n, char *out)
{
	static const char letters[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const unsigned char *s = p;

	for (size_t i = 0; i < n; i += 3) {
		unsigned v = (unsigned)s[i] << 16 | (i + 1 < n ? (unsigned)s[i + 1] << 8 : 0) |
			     (i + 2 < n ? s[i + 2] : 0u);

		*out++ = letters[v >> 18];
		*out++ = letters[v >> 12 & 63];
		*out++ = i + 1 < n ? letters[v >> 6 & 63] : '=';
		*out++ = i + 2 < n ? letters[v & 63] : '=';
	}
	*out = 0;
}
