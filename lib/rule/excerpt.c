/* Begin and end of a stream, and what of them is text. */
#include "rule/excerpt.h"

#include <stdbool.h>
#include <string.h>

#include "base/str.h"
#include "rule/text.h"

void kz_excerpt_add(struct kz_excerpt *e, const void *p, size_t n)
{
	const char *s = p;
	size_t room = e->bytes < KZ_EXCERPT_PART ? KZ_EXCERPT_PART - (size_t)e->bytes : 0;
	size_t take = n < room ? n : room;

	memcpy(e->head + (KZ_EXCERPT_PART - room), s, take);
	e->bytes += (int64_t)take;
	s += take;
	n -= take;
	/* Of one long piece only the end can stay. */
	if (n > KZ_EXCERPT_PART) {
		e->bytes += (int64_t)(n - KZ_EXCERPT_PART);
		s += n - KZ_EXCERPT_PART;
		n = KZ_EXCERPT_PART;
	}
	while (n) {
		size_t at = (size_t)(e->bytes % KZ_EXCERPT_PART);
		size_t piece = n < KZ_EXCERPT_PART - at ? n : KZ_EXCERPT_PART - at;

		memcpy(e->tail + at, s, piece);
		e->bytes += (int64_t)piece;
		s += piece;
		n -= piece;
	}
}

static bool is_middle(char c)
{
	return ((unsigned char)c & 0xc0) == 0x80;
}

/* How many bytes at the begin are the end of a character. */
static size_t cut_begin(const char *p, size_t n)
{
	size_t k = 0;

	while (k < 3 && k < n && is_middle(p[k]))
		k++;
	return k;
}

enum kz_rc kz_excerpt_text(const struct kz_excerpt *e, struct kz_buf *head, struct kz_buf *tail,
			   int64_t *omitted, struct kz_err *err)
{
	char last[2 * KZ_EXCERPT_PART];
	int64_t after = e->bytes - KZ_EXCERPT_PART;
	size_t first = after < 0 ? (size_t)e->bytes : KZ_EXCERPT_PART, n, k;
	enum kz_rc rc;

	*omitted = 0;
	n = after < 0 ? 0 : after < KZ_EXCERPT_PART ? (size_t)after : KZ_EXCERPT_PART;
	memcpy(last, e->head, first);
	for (size_t i = 0; i < n; i++)
		last[first + i] =
			e->tail[(size_t)(e->bytes - (int64_t)n + (int64_t)i) % KZ_EXCERPT_PART];
	if (after <= KZ_EXCERPT_PART)
		return kz_text_put(head, last, first + n, err);
	k = kz_text_cut(last, first);
	rc = kz_text_put(head, last, first - k, err);
	*omitted = after - KZ_EXCERPT_PART + (int64_t)k;
	k = cut_begin(last + first, n);
	*omitted += (int64_t)k;
	return rc ? rc : kz_text_put(tail, last + first + k, n - k, err);
}
