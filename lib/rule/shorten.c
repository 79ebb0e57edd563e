/* Begin, end, and the lines between them that look like errors. */
#include "rule/shorten.h"

#include <stdbool.h>
#include <string.h>
#include <strings.h>

#include "rule/text.h"

#define MARK_MOST 56  /* bytes of a line that stands for a gap, and of the end of line before it */
#define LINE_MOST 400 /* of a line that looks like an error, so much is kept */

struct work {
	const char *p;
	size_t n, at; /* what is before at has been written, or is in the gap */
	struct kz_buf *out;
	struct kz_err *err;
};

static const char *const words[] = {
	"assert",    "cannot",    "denied", "error",   "exception",    "fail",      "fatal",
	"forbidden", "not found", "panic",  "refused", "segmentation", "traceback", "undefined",
};

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Does a word begin at p[0..n)? */
static bool is_word(const char *p, size_t n)
{
	char first = (char)(*p | 0x20);

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
		size_t len = strlen(words[i]);

		if (words[i][0] == first && len <= n && !strncasecmp(p, words[i], len))
			return true;
	}
	return false;
}

/* "ValueError" and "UNDEFINED" count, so a capital begins a word too. */
static bool looks_like_error(const char *p, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		bool begins = !i || !is_letter(p[i - 1]) ||
			      (p[i] >= 'A' && p[i] <= 'Z' && p[i - 1] >= 'a');

		if (is_letter(p[i]) && begins && is_word(p + i, n - i))
			return true;
	}
	return false;
}

/* The end of the line that begins at from, with its end of line. */
static size_t line_end(const struct work *w, size_t from)
{
	const char *e = memchr(w->p + from, '\n', w->n - from);

	return e ? (size_t)(e - w->p) + 1 : w->n;
}

/* Write p[from..to), and a line for the gap before it. */
static enum kz_rc put(struct work *w, size_t from, size_t to)
{
	enum kz_rc rc = KZ_OK;

	if (from > w->at) {
		bool is_open = w->at && w->p[w->at - 1] != '\n';

		rc = kz_buf_printf(w->out, w->err, "%s[... %zu bytes left out ...]\n",
				   is_open ? "\n" : "", from - w->at);
	}
	if (!rc)
		rc = kz_buf_add(w->out, w->p + from, to - from, w->err);
	w->at = to;
	return rc;
}

/* How much of the begin fits: whole lines where that is half of it at least, else whole characters. */
static size_t head_len(const char *p, size_t room)
{
	const char *e = memrchr(p, '\n', room);

	if (e && (size_t)(e - p) + 1 >= room / 2)
		return (size_t)(e - p) + 1;
	return room - kz_text_cut(p, room);
}

/* Where the end begins that fits, by the same rule. */
static size_t tail_start(const struct work *w, size_t room)
{
	size_t at = w->n - room;
	const char *e = memchr(w->p + at, '\n', room / 2);

	if (e)
		return (size_t)(e - w->p) + 1;
	while (at < w->n && ((unsigned char)w->p[at] & 0xc0) == 0x80)
		at++;
	return at;
}

/* The lines of p[w->at..to) that look like errors, each once in a row, while they fit. */
static enum kz_rc put_errors(struct work *w, size_t to, size_t room)
{
	const char *last = NULL;
	size_t last_len = 0;
	enum kz_rc rc = KZ_OK;

	for (size_t from = w->at, end; !rc && from < to; from = end) {
		size_t len;

		end = line_end(w, from);
		if (end > to)
			break;
		len = end - from;
		if (!looks_like_error(w->p + from, len) ||
		    (last && len == last_len && !memcmp(last, w->p + from, len)))
			continue;
		last = w->p + from;
		last_len = len;
		if (len > LINE_MOST)
			len = LINE_MOST - kz_text_cut(last, LINE_MOST);
		if (len + MARK_MOST > room)
			break;
		room -= len + MARK_MOST;
		rc = put(w, from, from + len);
	}
	return rc;
}

enum kz_rc kz_shorten(const char *p, size_t n, size_t limit, struct kz_buf *out, struct kz_err *err)
{
	struct work w = { .p = p, .n = n, .out = out, .err = err };
	size_t room = limit - MARK_MOST, tail;
	enum kz_rc rc;

	if (n <= limit)
		return kz_buf_add(out, p, n, err);
	tail = tail_start(&w, room * 3 / 8);
	rc = put(&w, 0, head_len(p, room * 3 / 8));
	if (!rc)
		rc = put_errors(&w, tail, room - 2 * (room * 3 / 8));
	return rc ? rc : put(&w, tail, n);
}
