/* Rows of an operation, and what models write in their place. */
#include <stdlib.h>
#include <string.h>

#include "rule/hashline_parts.h"
#include "rule/reason.h"

void kz_parse_release(struct kz_parser *p)
{
	free(p->body);
	p->body = NULL;
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* "12:text" or "12|text", as lines are shown. out: *line 0 when the number is too long */
static bool is_shown_line(struct kz_row l, uint32_t *line, struct kz_row *text)
{
	uint32_t v = 0;
	size_t i = 0;

	while (i < l.n && is_digit(l.p[i])) {
		v = i < 9 ? v * 10 + (uint32_t)(l.p[i] - '0') : 0;
		i++;
	}
	if (i == 0 || i == l.n || (l.p[i] != ':' && l.p[i] != '|'))
		return false;
	*line = i > 9 ? 0 : v;
	*text = (struct kz_row){ l.p + i + 1, l.n - i - 1 };
	return true;
}

/* Rows that stand for lines that were not shown. */
static bool is_elided(struct kz_row l)
{
	static const char *const marks[] = { "\xe2\x80\xa6", "..", "..." };
	size_t i = 0;

	while (l.n && (l.p[l.n - 1] == ' ' || l.p[l.n - 1] == '\t'))
		l.n--;
	for (size_t k = 0; k < sizeof marks / sizeof *marks; k++)
		if (kz_row_same(l, (struct kz_row){ marks[k], strlen(marks[k]) }))
			return true;
	while (i < l.n && (is_digit(l.p[i]) || (i > 0 && l.p[i] == '-')))
		i++;
	return i > 0 && i < l.n && l.p[i] == ':' && memchr(l.p, '-', i);
}

static enum kz_rc keep(struct kz_parser *p, struct kz_row row, char mark, struct kz_err *err)
{
	if (p->lines == p->room) {
		size_t room = p->room ? p->room * 2 : 64;
		struct kz_body_line *all = realloc(p->body, room * sizeof *all);

		if (!all)
			return kz_err_set(err, KZ_E_OS, "no memory for the rows of an edit");
		p->body = all;
		p->room = room;
	}
	p->body[p->lines++] = (struct kz_body_line){ row, mark, p->at };
	return KZ_OK;
}

/* Does a literal row look like an operation that was marked by mistake? */
static bool looks_like_operation(struct kz_row l)
{
	return l.n > 4 && (memcmp(l.p, "PUT ", 4) == 0 || memcmp(l.p, "CUT ", 4) == 0) &&
	       (is_digit(l.p[4]) || l.p[4] == '<' || l.p[4] == '>');
}

/* A shown line outside of a body replaces the line of its number. */
static enum kz_rc shown_line(struct kz_parser *p, uint32_t line, struct kz_row text,
			     struct kz_err *err)
{
	struct kz_hunk h = { .kind = KZ_HUNK_REPLACE, .from = line, .to = line, .at = p->at };
	enum kz_rc rc;

	for (size_t i = 0; i < p->s->hunks; i++)
		if (p->s->hunk[i].kind == KZ_HUNK_REPLACE && p->s->hunk[i].from == line &&
		    p->s->hunk[i].to == line)
			return kz_parse_bad(p, "this line is replaced twice", err);
	h.row = p->e->rows;
	h.rows = 1;
	rc = kz_edit_row(p->e, text, p->at, err);
	if (rc == KZ_OK)
		rc = kz_edit_add(p->e, p->s, &h, err);
	if (rc == KZ_OK)
		kz_edit_note(&p->s->notes, "edit, line %zu: taken as PUT %u.=%u: and this row",
			     p->at, line, line);
	return rc;
}

static enum kz_rc outside(struct kz_parser *p, struct kz_row l, struct kz_err *err)
{
	struct kz_row text;
	uint32_t line;

	if (!p->s)
		return kz_refuse(err, KZ_R_MISSING_TAG,
				 "edit, line %zu: an edit begins with [PATH#TAG]", p->at);
	if (is_elided(l))
		return kz_parse_bad(p, "this stands for lines that were not shown", err);
	if (is_shown_line(l, &line, &text))
		return shown_line(p, line, text, err);
	return kz_parse_bad(p,
			    "rows stand behind PUT with a colon; operations are PUT, CUT, REM "
			    "and MV",
			    err);
}

/* Empty lines between rows are rows whose mark was forgotten. */
static enum kz_rc blanks_as_rows(struct kz_parser *p, struct kz_err *err)
{
	enum kz_rc rc = KZ_OK;

	if (p->blanks && p->lines)
		kz_edit_note(&p->s->notes,
			     "edit, line %zu: the empty lines before it were taken "
			     "as empty rows",
			     p->at);
	for (; p->blanks && p->lines && rc == KZ_OK; p->blanks--)
		rc = keep(p, (struct kz_row){ "", 0 }, '+', err);
	p->blanks = 0;
	return rc;
}

enum kz_rc kz_parse_row(struct kz_parser *p, struct kz_row l, struct kz_err *err)
{
	struct kz_row text = { l.p + 1, l.n ? l.n - 1 : 0 };
	struct kz_row ignored;
	uint32_t line;
	enum kz_rc rc;

	if (!p->is_open)
		return outside(p, l, err);
	rc = blanks_as_rows(p, err);
	if (rc != KZ_OK)
		return rc;
	if (*l.p == '+') {
		if (looks_like_operation(text))
			kz_edit_note(&p->s->notes,
				     "edit, line %zu: this row reads like an operation; it was "
				     "taken as text",
				     p->at);
		return keep(p, text, '+', err);
	}
	if (*l.p == '-')
		return keep(p, text, '-', err);
	if (is_elided(l))
		return kz_parse_bad(p, "this stands for lines that were not shown", err);
	if (is_shown_line(l, &line, &ignored) || *l.p == '[')
		return kz_parse_bad(p, "a row begins with +, text follows without its number", err);
	return keep(p, l, 0, err);
}

/* Count the marks. */
static size_t marked(const struct kz_parser *p, char mark)
{
	size_t n = 0;

	for (size_t i = 0; i < p->lines; i++)
		n += p->body[i].mark == mark;
	return n;
}

static enum kz_rc check_marks(struct kz_parser *p, struct kz_err *err)
{
	size_t old = marked(p, '-'), bare = marked(p, 0);

	if (old && (bare || old == p->lines || p->open.kind != KZ_HUNK_REPLACE))
		return kz_parse_bad(p,
				    "this reads like a diff; rows that begin with + replace "
				    "the lines of the range",
				    err);
	if (old)
		kz_edit_note(&p->s->notes, "edit, line %zu: rows that begin with - were left out",
			     p->open.at);
	if (bare)
		kz_edit_note(&p->s->notes, "edit, line %zu: rows without + were taken as text",
			     p->open.at);
	if (p->lines == 0 && p->open.kind != KZ_HUNK_REPLACE)
		return kz_parse_bad(p, "there are no rows to insert", err);
	if (p->lines == 0)
		kz_edit_note(&p->s->notes, "edit, line %zu: without rows the lines are deleted",
			     p->open.at);
	return KZ_OK;
}

static enum kz_rc add_marked(struct kz_parser *p, bool old, size_t *count, struct kz_err *err)
{
	enum kz_rc rc = KZ_OK;

	for (size_t i = 0; i < p->lines && rc == KZ_OK; i++)
		if ((p->body[i].mark == '-') == old) {
			rc = kz_edit_row(p->e, p->body[i].row, p->body[i].at, err);
			*count += 1;
		}
	return rc;
}

enum kz_rc kz_parse_flush(struct kz_parser *p, struct kz_err *err)
{
	struct kz_hunk *h = &p->open;
	enum kz_rc rc;

	if (!p->is_open)
		return KZ_OK;
	p->is_open = false;
	p->blanks = 0;
	rc = check_marks(p, err);
	h->row = p->e->rows;
	if (rc == KZ_OK)
		rc = add_marked(p, false, &h->rows, err);
	h->old = p->e->rows;
	if (rc == KZ_OK)
		rc = add_marked(p, true, &h->olds, err);
	p->lines = 0;
	return rc == KZ_OK ? kz_edit_add(p->e, p->s, h, err) : rc;
}
