/* Rows for people and models. */
#include "rule/hashline_show.h"

#include <string.h>

#include "base/str.h"
#include "rule/reason.h"

/* Bytes of the UTF-8 sequence that a byte begins; 1 for one that begins none. */
static size_t sequence(unsigned char c)
{
	if (c >= 0xf0 && c <= 0xf4)
		return 4;
	if (c >= 0xe0)
		return c < 0xf0 ? 3 : 1;
	return c >= 0xc2 ? 2 : 1;
}

/* How many bytes from p on can be shown as they are? 0: the first cannot. */
static size_t plain(const char *p, size_t n)
{
	unsigned char c = (unsigned char)*p;
	size_t k = sequence(c);

	if (c < 0x80)
		return (c >= 0x20 && c != 0x7f) || c == '\t';
	if (k == 1 || k > n || !kz_utf8_valid(p, k))
		return 0;
	/* U+0080 to U+009F are control characters too */
	return c == 0xc2 && (unsigned char)p[1] < 0xa0 ? 0 : k;
}

static enum kz_rc show_text(struct kz_row text, struct kz_buf *out, bool *exact, struct kz_err *err)
{
	enum kz_rc rc = KZ_OK;
	size_t at = 0;

	while (at < text.n && rc == KZ_OK) {
		size_t run = at, k;

		while (run < text.n && (k = plain(text.p + run, text.n - run)) > 0)
			run += k;
		rc = kz_buf_add(out, text.p + at, run - at, err);
		at = run;
		if (at < text.n && rc == KZ_OK) {
			*exact = false;
			rc = kz_buf_printf(out, err, "\\x%02x", (unsigned char)text.p[at++]);
		}
	}
	return rc;
}

enum kz_rc kz_show_row(uint32_t number, struct kz_row text, size_t max, struct kz_buf *out,
		       bool *exact, struct kz_err *err)
{
	enum kz_rc rc = kz_buf_printf(out, err, "%u:", number);
	bool is_cut = text.n > max;

	*exact = !is_cut;
	if (is_cut) {
		text.n = max;
		/* not within a character */
		while (text.n > 0 && text.n + 4 > max &&
		       ((unsigned char)text.p[text.n] & 0xc0) == 0x80)
			text.n--;
	}
	if (rc == KZ_OK)
		rc = show_text(text, out, exact, err);
	if (rc == KZ_OK)
		rc = kz_buf_puts(out, is_cut ? "\xe2\x80\xa6\n" : "\n", err);
	return rc;
}

void kz_shown_release(struct kz_shown *s)
{
	kz_buf_release(&s->rows);
	kz_spans_release(&s->seen);
	kz_spans_release(&s->altered);
	kz_spans_release(&s->left);
}

/* The ranges with the lines around them. */
static enum kz_rc widen(const struct kz_text *t, const struct kz_spans *asked, struct kz_spans *out,
			struct kz_err *err)
{
	enum kz_rc rc = KZ_OK;

	if (asked->count == 0)
		return kz_spans_add(out, 1, t->count, err);
	for (size_t i = 0; i < asked->count && rc == KZ_OK; i++) {
		uint32_t from = asked->span[i].from, to = asked->span[i].to;

		if (from > t->count)
			return kz_refuse(err, KZ_R_LINE_OUT_OF_RANGE,
					 "line %u: the file has %u lines", from, t->count);
		from = from > KZ_SHOW_BEFORE + 1 ? from - KZ_SHOW_BEFORE : 1;
		to = to < t->count && t->count - to > KZ_SHOW_AFTER ? to + KZ_SHOW_AFTER : t->count;
		rc = kz_spans_add(out, from, to, err);
	}
	return rc;
}

/* One range. out: *at the line after the last that was shown */
static enum kz_rc show_span(const struct kz_text *t, struct kz_span w, uint32_t most,
			    struct kz_shown *s, uint32_t *at, struct kz_err *err)
{
	enum kz_rc rc = KZ_OK;
	uint32_t n = w.from;

	for (; n <= w.to && n - w.from < most && rc == KZ_OK; n++) {
		bool exact = true;

		/* at most four times as long when it is shown */
		if (s->rows.len && s->rows.len + t->line[n - 1].n > KZ_SHOW_BYTES)
			break;
		rc = kz_show_row(n, kz_line_row(&t->line[n - 1]), KZ_SHOW_ROW, &s->rows, &exact,
				 err);
		if (rc == KZ_OK)
			rc = kz_spans_add(exact ? &s->seen : &s->altered, n, n, err);
	}
	*at = n;
	return rc;
}

enum kz_rc kz_show(const struct kz_text *t, const struct kz_spans *asked, struct kz_shown *s,
		   struct kz_err *err)
{
	uint32_t most = asked->count ? KZ_TEXT_LINES_MAX : KZ_SHOW_LINES;
	kz_auto_spans struct kz_spans wide = { NULL, 0, 0 };
	enum kz_rc rc;

	memset(s, 0, sizeof *s);
	kz_buf_init(&s->rows, 8 * KZ_SHOW_BYTES);
	rc = widen(t, asked, &wide, err);
	for (size_t i = 0; i < wide.count && rc == KZ_OK; i++) {
		uint32_t at = wide.span[i].from;

		if (s->left.count == 0 && s->rows.len)
			rc = kz_buf_puts(&s->rows, "...\n", err);
		if (s->left.count == 0 && rc == KZ_OK)
			rc = show_span(t, wide.span[i], most, s, &at, err);
		if (rc == KZ_OK)
			rc = kz_spans_add(&s->left, at, wide.span[i].to, err);
	}
	return rc;
}
