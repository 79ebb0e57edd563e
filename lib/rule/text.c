/* Text in pieces. */
#include "rule/text.h"

#include <string.h>

#include "base/str.h"

/* What the first byte of a character says of its length; 0 for one that begins none. */
static size_t length_of(char first)
{
	unsigned char c = (unsigned char)first;

	return c < 0x80 ? 1 : c < 0xc2 ? 0 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : c < 0xf5 ? 4 : 0;
}

size_t kz_text_cut(const char *p, size_t n)
{
	for (size_t back = 1; back <= 3 && back <= n; back++) {
		char c = p[n - back];

		if (((unsigned char)c & 0xc0) != 0x80)
			return back < length_of(c) ? back : 0;
	}
	return 0;
}

void kz_text_scan(struct kz_text_scan *t, const void *p, size_t n)
{
	const char *s = p;
	size_t cut;

	while (t->part_len && n && !t->is_broken) {
		t->part[t->part_len++] = *s++;
		n--;
		if (t->part_len < length_of(t->part[0]))
			continue;
		t->is_broken = !kz_utf8_valid(t->part, t->part_len);
		t->part_len = 0;
	}
	if (t->is_broken || !n)
		return;
	cut = kz_text_cut(s, n);
	t->is_broken = memchr(s, 0, n) || !kz_utf8_valid(s, n - cut);
	memcpy(t->part, s + n - cut, cut);
	t->part_len = cut;
}

bool kz_text_is_whole(const struct kz_text_scan *t)
{
	return !t->is_broken && !t->part_len;
}

/* The length of the character at p[0..n), 0 when there is none. */
static size_t character(const char *p, size_t n)
{
	unsigned char c = (unsigned char)*p;
	size_t want = c < 0x80 ? 1 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4;

	return c && want <= n && kz_utf8_valid(p, want) ? want : 0;
}

enum kz_rc kz_text_put(struct kz_buf *b, const char *p, size_t n, struct kz_err *err)
{
	enum kz_rc rc = KZ_OK;

	while (!rc && n) {
		size_t k = character(p, n);

		rc = k ? kz_buf_add(b, p, k, err) : kz_buf_puts(b, "\xef\xbf\xbd", err);
		p += k ? k : 1;
		n -= k ? k : 1;
	}
	return rc;
}
