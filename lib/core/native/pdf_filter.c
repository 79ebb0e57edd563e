/* PDF: filters that need no library. */
#include <stdlib.h>
#include <string.h>

#include "core/native/pdf_stream.h"

static unsigned paeth(int a, int b, int c)
{
	int p = a + b - c, pa = abs(p - a), pb = abs(p - b), pc = abs(p - c);

	return (unsigned)(pa <= pb && pa <= pc ? a : pb <= pc ? b : c);
}

/* What a sample was predicted to be, from its left, upper and upper left neighbours. */
static unsigned predicted(unsigned how, unsigned left, unsigned up, unsigned corner)
{
	switch (how) {
	case 1: return left;
	case 2: return up;
	case 3: return (left + up) / 2;
	case 4: return paeth((int)left, (int)up, (int)corner);
	default: return 0;
	}
}

size_t kz_pdf_unpredict(unsigned char *p, size_t n, size_t columns, size_t pixel)
{
	size_t to = 0;

	/* Rows move towards the front, each by one byte more than the last. */
	for (size_t from = 0; from < n;) {
		unsigned how = p[from++];
		size_t row = n - from < columns ? n - from : columns;
		if (how > 4)
			return SIZE_MAX;
		for (size_t i = 0; i < row; i++) {
			unsigned left = i >= pixel ? p[to + i - pixel] : 0;
			unsigned up = to >= columns ? p[to + i - columns] : 0;
			unsigned corner =
				i >= pixel && to >= columns ? p[to + i - pixel - columns] : 0;
			p[to + i] = (unsigned char)(p[from + i] + predicted(how, left, up, corner));
		}
		from += row;
		to += row;
	}
	return to;
}

static bool is_blank(unsigned char c)
{
	return c == ' ' || (c >= 9 && c <= 13) || c == 0;
}

/* Digits of one group, to bytes. in: count: 2 to 5 of five digits */
static bool put_group(const unsigned digits[5], size_t count, struct kz_buf *into)
{
	uint64_t value = 0;
	unsigned char out[4];

	for (size_t i = 0; i < 5; i++)
		value = value * 85 + (i < count ? digits[i] : 84);
	if (value > UINT32_MAX)
		return false;
	for (size_t i = 0; i < 4; i++)
		out[i] = (unsigned char)(value >> (24 - 8 * i));
	return kz_buf_add(into, out, count - 1, NULL) == KZ_OK;
}

static bool ascii85(const unsigned char *p, size_t n, struct kz_buf *into)
{
	unsigned digits[5];
	size_t count = 0;

	for (size_t i = 0; i < n; i++) {
		if (p[i] == '~')
			return (count == 0 || (count > 1 && put_group(digits, count, into))) &&
			       i + 1 < n && p[i + 1] == '>';
		if (is_blank(p[i]))
			continue;
		if (p[i] == 'z' && count == 0) {
			if (kz_buf_add(into, "\0\0\0\0", 4, NULL) != KZ_OK)
				return false;
			continue;
		}
		if (p[i] < '!' || p[i] > 'u')
			return false;
		digits[count++] = p[i] - '!';
		if (count == 5) {
			if (!put_group(digits, 5, into))
				return false;
			count = 0;
		}
	}
	return false;
}

static bool ascii_hex(const unsigned char *p, size_t n, struct kz_buf *into)
{
	int half = -1;

	for (size_t i = 0; i < n; i++) {
		int c = p[i], v;
		unsigned char out;
		if (is_blank((unsigned char)c))
			continue;
		if (c == '>') {
			out = (unsigned char)(half < 0 ? 0 : half << 4);
			return half < 0 || kz_buf_add(into, &out, 1, NULL) == KZ_OK;
		}
		v = c >= '0' && c <= '9'                   ? c - '0' :
		    (c | 0x20) >= 'a' && (c | 0x20) <= 'f' ? (c | 0x20) - 'a' + 10 :
							     -1;
		if (v < 0)
			return false;
		if (half < 0) {
			half = v;
			continue;
		}
		out = (unsigned char)(half << 4 | v);
		half = -1;
		if (kz_buf_add(into, &out, 1, NULL) != KZ_OK)
			return false;
	}
	return false;
}

enum kz_rc kz_pdf_ascii(bool is_hex, const unsigned char *p, size_t n, struct kz_buf *into,
			struct kz_err *err)
{
	if (is_hex ? ascii_hex(p, n, into) : ascii85(p, n, into))
		return KZ_OK;
	return KZ_INVALID(err, "a stream that is no %s", is_hex ? "ASCIIHex" : "ASCII85");
}
