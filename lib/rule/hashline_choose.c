/* Which stored text a tag names, and what must hold of it before anything is changed. */
#include <stdlib.h>
#include <string.h>

#include "rule/hashline_job.h"
#include "rule/reason.h"
#include "rule/tag.h"

static bool is_text(const struct kz_version *v, const struct kz_buf *text)
{
	return v->n == text->len && (v->n == 0 || memcmp(v->text, text->data, v->n) == 0);
}

/* The line of a text, or NULL outside of it. */
static const struct kz_line *line_at(const struct kz_text *t, int64_t n)
{
	return n >= 1 && n <= (int64_t)t->count ? &t->line[n - 1] : NULL;
}

static bool same_line(const struct kz_text *a, const struct kz_text *b, int64_t n)
{
	const struct kz_line *x = line_at(a, n), *y = line_at(b, n);

	if (!x || !y)
		return x == y;
	return kz_row_same(kz_line_row(x), kz_line_row(y));
}

/* Would the section mean the same on both texts: its lines and the two beside them? */
static bool means_same(const struct kz_section *s, const struct kz_text *a, const struct kz_text *b)
{
	if (s->removes || s->moves)
		return false;
	for (size_t i = 0; i < s->hunks; i++) {
		const struct kz_hunk *h = &s->hunk[i];

		if (!kz_hunk_is_anchored(h))
			continue;
		for (int64_t n = (int64_t)h->from - 1; n <= (int64_t)h->to + 1; n++)
			if (!same_line(a, b, n))
				return false;
	}
	return true;
}

/* Another text has the same tag. */
static enum kz_rc compare(const struct kz_job *j, const struct kz_version *v, struct kz_err *err)
{
	kz_auto_text struct kz_text other = { NULL, 0, false };
	enum kz_rc rc = kz_text_split(v->text, v->n, &other, err);

	if (rc != KZ_OK || means_same(j->s, &j->old, &other))
		return rc;
	return kz_refuse(err, KZ_R_AMBIGUOUS_ANCHOR,
			 "%s: two texts of this file that were shown have this tag, and differ at "
			 "these lines; read it again",
			 j->s->path);
}

enum kz_rc kz_job_choose(struct kz_job *j, struct kz_err *err)
{
	const struct kz_page *p = j->page;

	j->base = NULL;
	for (unsigned i = 0; p && i < p->count; i++) {
		const struct kz_version *v = &p->version[i];

		if (v->tag == j->s->tag && (!j->base || is_text(v, &j->normal)))
			j->base = v;
	}
	if (!j->base)
		return kz_refuse(err, KZ_R_UNKNOWN_TAG,
				 "%s: this tag was not given for it here; "
				 "read it first",
				 j->s->path);
	j->is_same = is_text(j->base, &j->normal);
	return kz_text_split(j->base->text, j->base->n, &j->old, err);
}

enum kz_rc kz_job_tell_apart(const struct kz_job *j, struct kz_err *err)
{
	enum kz_rc rc = KZ_OK;

	for (unsigned i = 0; i < j->page->count && rc == KZ_OK; i++)
		if (j->page->version[i].tag == j->s->tag && &j->page->version[i] != j->base)
			rc = compare(j, &j->page->version[i], err);
	return rc;
}

static enum kz_rc check_lines(const struct kz_job *j, const struct kz_hunk *h, struct kz_err *err)
{
	uint32_t last = j->old.count, n;

	if (!kz_hunk_is_anchored(h))
		return KZ_OK;
	if (h->from == 0 || h->to > last)
		return kz_refuse(err, KZ_R_LINE_OUT_OF_RANGE,
				 "edit, line %zu: %s has no line %u; it has %u lines", h->at,
				 j->s->path, h->from == 0 || h->from > last ? h->from : h->to,
				 last);
	n = kz_spans_missing(&j->base->seen, h->from, h->to);
	if (n)
		return kz_refuse(err, KZ_R_UNSEEN_LINES,
				 "%s: line %u was not shown, or not exactly; read lines %u-%u "
				 "first",
				 j->s->path, n, h->from, h->to);
	return KZ_OK;
}

/* "-" rows must be lines of the range that they stand beside. */
static enum kz_rc check_old_rows(const struct kz_job *j, const struct kz_hunk *h,
				 struct kz_err *err)
{
	if (h->olds > h->to - h->from + 1)
		return kz_refuse(err, KZ_R_EDIT_MALFORMED,
				 "edit, line %zu: more rows that begin with - than lines", h->at);
	for (size_t i = 0, n = h->from; i < h->olds; n++) {
		if (n > h->to)
			return kz_refuse(err, KZ_R_EDIT_MALFORMED,
					 "edit, line %zu: a row that begins with - is none of the "
					 "lines %u to %u",
					 h->at, h->from, h->to);
		if (kz_row_same(j->e->row[h->old + i], kz_line_row(&j->old.line[n - 1])))
			i++;
	}
	return KZ_OK;
}

static int by_line(const void *a, const void *b)
{
	const struct kz_hunk *x = *(const struct kz_hunk *const *)a;
	const struct kz_hunk *y = *(const struct kz_hunk *const *)b;

	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	return x->order < y->order ? -1 : 1;
}

static bool is_replaced_again(const struct kz_hunk *a, const struct kz_hunk *b)
{
	return a->from == b->from && a->to == b->to && a->kind == KZ_HUNK_REPLACE &&
	       b->kind == KZ_HUNK_REPLACE && !a->has_register && !b->has_register;
}

static enum kz_rc check_overlap(struct kz_job *j, const struct kz_hunk **sorted, size_t n,
				struct kz_err *err)
{
	qsort(sorted, n, sizeof(const struct kz_hunk *), by_line);
	for (size_t i = 1; i < n; i++) {
		const struct kz_hunk *a = sorted[i - 1], *b = sorted[i];

		if (a->to < b->from)
			continue;
		if (!is_replaced_again(a, b))
			return kz_refuse(err, KZ_R_EDIT_OVERLAP,
					 "edit, line %zu: line %u is changed by line %zu of the "
					 "edit already",
					 b->at, b->from, a->at);
		j->content[a - j->s->hunk].is_dropped = true;
		kz_edit_note(&j->notes,
			     "edit, line %zu: replaces what line %zu of the edit puts there", b->at,
			     a->at);
	}
	return KZ_OK;
}

enum kz_rc kz_job_check(struct kz_job *j, struct kz_err *err)
{
	const struct kz_section *s = j->s;
	const struct kz_hunk **sorted = malloc((s->hunks + 1) * sizeof(const struct kz_hunk *));
	enum kz_rc rc = sorted ? KZ_OK : kz_err_set(err, KZ_E_OS, "no memory for an edit");
	size_t n = 0;

	for (size_t i = 0; i < s->hunks && rc == KZ_OK; i++) {
		const struct kz_hunk *h = &s->hunk[i];

		rc = check_lines(j, h, err);
		if (rc == KZ_OK && h->olds)
			rc = check_old_rows(j, h, err);
		if (rc == KZ_OK && kz_hunk_is_range(h))
			sorted[n++] = h;
	}
	if (rc == KZ_OK && n)
		rc = check_overlap(j, sorted, n, err);
	free(sorted);
	return rc;
}
