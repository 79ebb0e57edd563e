/* The text form of an edit, line by line. */
#include <string.h>

#include "base/str.h"
#include "rule/hashline_edit.h"
#include "rule/hashline_parts.h"
#include "rule/reason.h"
#include "rule/tag.h"

static bool starts(struct kz_row l, const char *word)
{
	size_t n = strlen(word);

	return l.n >= n && memcmp(l.p, word, n) == 0;
}

static bool is(struct kz_row l, const char *word)
{
	return l.n == strlen(word) && starts(l, word);
}

static struct kz_row trim(struct kz_row l)
{
	while (l.n && (*l.p == ' ' || *l.p == '\t')) {
		l.p++;
		l.n--;
	}
	while (l.n && (l.p[l.n - 1] == ' ' || l.p[l.n - 1] == '\t'))
		l.n--;
	return l;
}

enum kz_rc kz_parse_bad(const struct kz_parser *p, const char *what, struct kz_err *err)
{
	return kz_refuse(err, KZ_R_EDIT_MALFORMED, "edit, line %zu: %s", p->at, what);
}

/* "[PATH#TAG]": the last # counts, so that a path may hold one. */
static bool split_header(struct kz_row l, struct kz_row *path, struct kz_row *tag)
{
	const char *hash;

	if (l.n < 2 || *l.p != '[' || l.p[l.n - 1] != ']')
		return false;
	l.p++;
	l.n -= 2;
	hash = l.n ? memrchr(l.p, '#', l.n) : NULL;
	*path = (struct kz_row){ l.p, hash ? (size_t)(hash - l.p) : l.n };
	*tag = (struct kz_row){ "", 0 };
	if (hash)
		*tag = (struct kz_row){ hash + 1, (size_t)(l.p + l.n - hash - 1) };
	return true;
}

static enum kz_rc header(struct kz_parser *p, struct kz_row path, struct kz_row tag,
			 struct kz_err *err)
{
	uint16_t value;
	enum kz_rc rc = kz_parse_flush(p, err);

	if (rc != KZ_OK)
		return rc;
	if (tag.n == 0)
		return kz_refuse(err, KZ_R_MISSING_TAG,
				 "edit, line %zu: a section begins with [PATH#TAG]", p->at);
	if (!kz_tag_parse(tag.p, tag.n, &value))
		return kz_parse_bad(p, "a tag is four hexadecimal digits", err);
	return kz_edit_section(p->e, path, value, p->at, &p->s, err);
}

/* What follows the address: ":" opens a body, "@R" is a register, nothing the nameless one. */
static enum kz_rc after_address(struct kz_parser *p, struct kz_hunk *h, struct kz_row rest,
				bool *opens, struct kz_err *err)
{
	bool has_colon = rest.n && rest.p[rest.n - 1] == ':';

	*opens = false;
	if (has_colon && h->kind == KZ_HUNK_CUT) {
		kz_edit_note(&p->s->notes, "edit, line %zu: CUT has no colon", p->at);
		rest.n--;
		rest = trim(rest);
	} else if (has_colon) {
		*opens = true;
		return rest.n == 1 ? KZ_OK : kz_parse_bad(p, "rows or a register, not both", err);
	}
	h->has_register = true;
	if (rest.n == 0) {
		if (h->kind == KZ_HUNK_REPLACE)
			return kz_parse_bad(
				p, "PUT over lines needs a colon and rows, or a register", err);
		return KZ_OK;
	}
	if (*rest.p != '@' || !kz_register_is_name(rest.p + 1, rest.n - 1))
		return kz_parse_bad(p,
				    "behind the address comes a colon, or @ and the name of a "
				    "register; rows begin on the next line",
				    err);
	memcpy(h->reg, rest.p + 1, rest.n - 1);
	return KZ_OK;
}

/* The address ends before a colon or @; the blank of "2 3" belongs to it. */
static struct kz_row take_address(struct kz_row *l)
{
	struct kz_row a = { l->p, 0 };

	while (a.n < l->n && l->p[a.n] != ':' && l->p[a.n] != '@')
		a.n++;
	l->p += a.n;
	l->n -= a.n;
	return trim(a);
}

static enum kz_rc line_operation(struct kz_parser *p, struct kz_row l, bool cuts,
				 struct kz_err *err)
{
	struct kz_hunk h = { .at = p->at };
	struct kz_row address;
	bool opens = false;
	enum kz_rc rc;

	address = take_address(&l);
	rc = kz_edit_address(address, true, &h, &p->s->notes, err);
	if (rc == KZ_OK && cuts && h.kind != KZ_HUNK_REPLACE)
		rc = kz_parse_bad(p, "CUT takes lines, not a place between them", err);
	if (rc == KZ_OK && cuts)
		h.kind = KZ_HUNK_CUT;
	if (rc == KZ_OK)
		rc = after_address(p, &h, trim(l), &opens, err);
	if (rc != KZ_OK)
		return rc;
	if (!opens)
		return kz_edit_add(p->e, p->s, &h, err);
	p->open = h;
	p->is_open = true;
	return KZ_OK;
}

static enum kz_rc new_name(struct kz_parser *p, struct kz_row l, struct kz_err *err)
{
	l = trim(l);
	if (l.n >= 2 && *l.p == '"' && l.p[l.n - 1] == '"') {
		l.p++;
		l.n -= 2;
	} else if (l.n && (memchr(l.p, ' ', l.n) || memchr(l.p, '"', l.n))) {
		return kz_parse_bad(p, "a name with blanks is written in quotes", err);
	}
	return kz_edit_move(p->s, l, p->at, err);
}

/* Is it an operation of the language? */
static bool is_operation(struct kz_row l)
{
	return is(l, "REM") || starts(l, "PUT ") || starts(l, "CUT ") || starts(l, "MV ");
}

static enum kz_rc operation(struct kz_parser *p, struct kz_row l, struct kz_err *err)
{
	enum kz_rc rc = kz_parse_flush(p, err);
	struct kz_row rest = { l.p, l.n };

	if (rc != KZ_OK)
		return rc;
	if (!p->s)
		return kz_refuse(err, KZ_R_MISSING_TAG,
				 "edit, line %zu: an operation stands in a section [PATH#TAG]",
				 p->at);
	if (is(l, "REM"))
		return kz_edit_remove(p->s, p->at, err);
	rest.p += 3;
	rest.n -= 3;
	if (starts(l, "MV "))
		return new_name(p, rest, err);
	rest = trim(rest);
	return line_operation(p, rest, starts(l, "CUT "), err);
}

/* "*** Begin Patch" and the like. out: *taken false: it is none of them */
static enum kz_rc marker(struct kz_parser *p, struct kz_row l, bool *taken, struct kz_err *err)
{
	*taken = true;
	if (is(l, "*** Begin Patch") && p->e->sections == 0 && !p->is_over)
		return KZ_OK;
	if (is(l, "*** End Patch") && !p->is_over) {
		p->is_over = true;
		return kz_parse_flush(p, err);
	}
	if (is(l, "*** Abort"))
		return kz_parse_bad(p, "the edit was given up (*** Abort)", err);
	if (starts(l, "*** "))
		return kz_parse_bad(p,
				    "this is the form of apply_patch; sections begin with "
				    "[PATH#TAG], operations are PUT, CUT, REM and MV",
				    err);
	if (starts(l, "@@"))
		return kz_parse_bad(p,
				    "this is the form of a diff; lines are named by number, as "
				    "in PUT 2.=3:",
				    err);
	*taken = false;
	return KZ_OK;
}

static enum kz_rc one_line(struct kz_parser *p, struct kz_row l, struct kz_err *err)
{
	struct kz_row t = trim(l), path, tag;
	bool taken = false;
	enum kz_rc rc;

	if (l.n && *l.p == '+')
		return kz_parse_row(p, l, err);
	if (t.n == 0) {
		p->blanks += p->is_open;
		return KZ_OK;
	}
	rc = marker(p, t, &taken, err);
	if (rc != KZ_OK || taken)
		return rc;
	if (p->is_over)
		return kz_parse_bad(p, "something stands behind *** End Patch", err);
	if (split_header(t, &path, &tag) && (!p->is_open || tag.n == 4))
		return header(p, path, tag, err);
	if (is_operation(t))
		return operation(p, t, err);
	return kz_parse_row(p, l, err);
}

enum kz_rc kz_edit_parse(const char *text, size_t n, struct kz_edit *e, struct kz_err *err)
{
	struct kz_parser p = { .e = e };
	enum kz_rc rc = KZ_OK;

	memset(e, 0, sizeof *e);
	if (n > KZ_EDIT_MAX)
		return kz_refuse(err, KZ_R_EDIT_MALFORMED, "an edit has at most %u bytes",
				 KZ_EDIT_MAX);
	while (n > 0 && rc == KZ_OK) {
		const char *lf = memchr(text, '\n', n);
		struct kz_row l = { text, lf ? (size_t)(lf - text) : n };

		n -= l.n + (lf ? 1 : 0);
		text += l.n + (lf ? 1 : 0);
		if (l.n && l.p[l.n - 1] == '\r')
			l.n--;
		p.at++;
		rc = one_line(&p, l, err);
	}
	if (rc == KZ_OK)
		rc = kz_parse_flush(&p, err);
	if (rc == KZ_OK && e->sections == 0)
		rc = kz_refuse(err, KZ_R_EDIT_MALFORMED,
			       "the edit is empty; it begins with [PATH#TAG]");
	kz_parse_release(&p);
	return rc;
}
