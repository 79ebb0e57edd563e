/* Splitting and joining of lines. */
#include "rule/hashline_text.h"

#include <stdlib.h>
#include <string.h>

#include "rule/reason.h"

static const char bom[] = "\xef\xbb\xbf";
#define BOM_BYTES 3

/* Where lines are found: lf is the next LF at or behind p, or the end. */
struct cursor {
	const char *p, *end, *lf;
};

/* The next line; the caller knows that there is one. */
static struct kz_line next(struct cursor *c)
{
	struct kz_line l = { c->p, 0, KZ_EOL_NONE };
	const char *cr, *stop;

	if (c->lf < c->p) {
		c->lf = memchr(c->p, '\n', (size_t)(c->end - c->p));
		if (!c->lf)
			c->lf = c->end;
	}
	cr = memchr(c->p, '\r', (size_t)(c->lf - c->p));
	stop = cr ? cr : c->lf;
	l.n = (uint32_t)(stop - c->p);
	if (cr && cr + 1 == c->lf && c->lf < c->end)
		l.eol = KZ_EOL_CRLF;
	else if (cr)
		l.eol = KZ_EOL_CR;
	else if (c->lf < c->end)
		l.eol = KZ_EOL_LF;
	c->p = stop + strlen(kz_eol_text(l.eol));
	return l;
}

static struct cursor at_start(const char *p, size_t n)
{
	const char *lf = n ? memchr(p, '\n', n) : NULL;

	return (struct cursor){ p, p + n, lf ? lf : p + n };
}

enum kz_rc kz_text_split(const char *p, size_t n, struct kz_text *t, struct kz_err *err)
{
	struct cursor c;
	size_t count = 0;

	*t = (struct kz_text){ NULL, 0, false };
	if (n > KZ_TEXT_MAX)
		return kz_refuse(err, KZ_R_FILE_TOO_LARGE, "a text has at most %u bytes",
				 KZ_TEXT_MAX);
	if (n == 0)
		return KZ_OK;
	if (memchr(p, 0, n))
		return kz_refuse(err, KZ_R_FILE_BINARY, NULL);
	if (n >= BOM_BYTES && memcmp(p, bom, BOM_BYTES) == 0) {
		t->has_bom = true;
		p += BOM_BYTES;
		n -= BOM_BYTES;
	}
	for (c = at_start(p, n); c.p < c.end; count++)
		(void)next(&c);
	if (count > KZ_TEXT_LINES_MAX)
		return kz_refuse(err, KZ_R_FILE_TOO_LARGE, "a text has at most %u lines",
				 KZ_TEXT_LINES_MAX);
	if (count == 0)
		return KZ_OK;
	t->line = malloc(count * sizeof *t->line);
	if (!t->line)
		return kz_err_set(err, KZ_E_OS, "no memory for the lines of a text");
	for (c = at_start(p, n); c.p < c.end;)
		t->line[t->count++] = next(&c);
	return KZ_OK;
}

void kz_text_release(struct kz_text *t)
{
	free(t->line);
	*t = (struct kz_text){ NULL, 0, false };
}

bool kz_text_is_ended(const struct kz_text *t)
{
	return t->count == 0 || t->line[t->count - 1].eol != KZ_EOL_NONE;
}

const char *kz_eol_text(enum kz_eol e)
{
	static const char *const text[] = {
		[KZ_EOL_NONE] = "", [KZ_EOL_LF] = "\n", [KZ_EOL_CRLF] = "\r\n", [KZ_EOL_CR] = "\r"
	};

	return text[e];
}

enum kz_rc kz_text_join(const struct kz_text *t, struct kz_buf *out, struct kz_err *err)
{
	enum kz_rc rc = t->has_bom ? kz_buf_add(out, bom, BOM_BYTES, err) : KZ_OK;

	for (uint32_t i = 0; i < t->count && rc == KZ_OK; i++) {
		rc = kz_buf_add(out, t->line[i].p, t->line[i].n, err);
		if (rc == KZ_OK)
			rc = kz_buf_puts(out, kz_eol_text(t->line[i].eol), err);
	}
	return rc;
}

enum kz_rc kz_text_normal(const struct kz_text *t, struct kz_buf *out, struct kz_err *err)
{
	enum kz_rc rc = KZ_OK;

	for (uint32_t i = 0; i < t->count && rc == KZ_OK; i++) {
		rc = kz_buf_add(out, t->line[i].p, t->line[i].n, err);
		if (rc == KZ_OK && t->line[i].eol != KZ_EOL_NONE)
			rc = kz_buf_add(out, "\n", 1, err);
	}
	return rc;
}

bool kz_row_same(struct kz_row a, struct kz_row b)
{
	return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
}
