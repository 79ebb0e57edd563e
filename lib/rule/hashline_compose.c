/* The new text, line by line: before, replacement, the line, after. */
#include <stdlib.h>
#include <string.h>

#include "rule/hashline_job.h"
#include "rule/reason.h"

/* An operation at its place in the file as it is. */
struct step {
	uint32_t line; /* 0: head, UINT32_MAX: end */
	int slot;      /* 0 before, 1 over, 2 after the line */
	const struct kz_hunk *h;
	const struct kz_content *c;
};

static int by_place(const void *a, const void *b)
{
	const struct step *x = a, *y = b;

	if (x->line != y->line)
		return x->line < y->line ? -1 : 1;
	if (x->slot != y->slot)
		return x->slot - y->slot;
	return x->h->order < y->h->order ? -1 : 1;
}

static size_t steps_of(const struct kz_job *j, struct step *out)
{
	static const int slot[] = {
		[KZ_HUNK_REPLACE] = 1, [KZ_HUNK_CUT] = 1, [KZ_HUNK_BEFORE] = 0, [KZ_HUNK_AFTER] = 2
	};
	size_t n = 0;

	for (size_t i = 0; i < j->s->hunks; i++) {
		const struct kz_hunk *h = &j->s->hunk[i];
		uint32_t line = kz_job_line(j, h->from);

		if (j->content[i].is_dropped)
			continue;
		if (h->is_edge)
			line = h->kind == KZ_HUNK_BEFORE ? 0 : UINT32_MAX;
		out[n++] = (struct step){ line, slot[h->kind], h, &j->content[i] };
	}
	qsort(out, n, sizeof *out, by_place);
	return n;
}

/* The end of a line of the file, of the one before it for a last line without any. */
static enum kz_eol end_beside(const struct kz_text *t, uint32_t line)
{
	if (t->count == 0)
		return KZ_EOL_LF;
	if (t->line[line - 1].eol != KZ_EOL_NONE)
		return t->line[line - 1].eol;
	return line > 1 ? t->line[line - 2].eol : KZ_EOL_LF;
}

static void put_rows(const struct kz_job *j, const struct step *s, struct kz_result *r)
{
	uint32_t count = j->now.count, first = s->line, last = s->line;

	if (s->line == 0)
		first = last = 1;
	else if (s->line == UINT32_MAX)
		first = last = count;
	else if (s->slot == 1)
		last = s->line + (s->h->to - s->h->from);
	for (size_t i = 0; i < s->c->count; i++) {
		uint32_t beside = first + i < last ? (uint32_t)(first + i) : last;
		struct kz_line l = { s->c->row[i].p, (uint32_t)s->c->row[i].n,
				     end_beside(&j->now, beside) };

		r->line[r->count++] = (struct kz_made){ l, 0 };
	}
}

static void put_all(const struct kz_job *j, const struct step *s, size_t n, struct kz_result *r)
{
	uint32_t gone = 0; /* lines up to it are replaced */
	size_t k = 0;

	for (; k < n && s[k].line == 0; k++)
		put_rows(j, &s[k], r);
	for (uint32_t line = 1; line <= j->now.count; line++) {
		for (; k < n && s[k].line == line && s[k].slot < 2; k++) {
			put_rows(j, &s[k], r);
			if (s[k].slot == 1)
				gone = line + (s[k].h->to - s[k].h->from);
		}
		if (line > gone)
			r->line[r->count++] = (struct kz_made){ j->now.line[line - 1], line };
		for (; k < n && s[k].line == line; k++)
			put_rows(j, &s[k], r);
	}
	for (; k < n; k++)
		put_rows(j, &s[k], r);
}

/* A line that was last and is not any more gets an end; the last one has one if the file had. */
static void settle_last(const struct kz_job *j, struct kz_result *r)
{
	for (uint32_t i = 0; i + 1 < r->count; i++)
		if (r->line[i].l.eol == KZ_EOL_NONE)
			r->line[i].l.eol = end_beside(&j->now, j->now.count);
	if (r->count == 0 || kz_text_is_ended(&j->now))
		return;
	/* an empty line without an end is none: of the file it keeps its end, a new one is that of the line before */
	if (r->line[r->count - 1].l.n > 0)
		r->line[r->count - 1].l.eol = KZ_EOL_NONE;
	else if (r->line[r->count - 1].from == 0)
		r->count--;
}

/* A line that ends in CR before an empty one that ends in LF would read as one line. */
static enum kz_rc settle_returns(const struct kz_job *j, struct kz_result *r, struct kz_err *err)
{
	for (uint32_t i = 1; i < r->count; i++) {
		struct kz_made *a = &r->line[i - 1], *b = &r->line[i];

		if (a->l.eol != KZ_EOL_CR || b->l.n || b->l.eol != KZ_EOL_LF)
			continue;
		if (!b->from)
			b->l.eol = KZ_EOL_CRLF;
		else if (!a->from)
			a->l.eol = KZ_EOL_CRLF;
		else
			return kz_refuse(err, KZ_R_EDIT_MALFORMED,
					 "%s: a line that ends in CR would come before an empty "
					 "one that ends in LF, and both would become one",
					 j->s->path);
	}
	return KZ_OK;
}

enum kz_rc kz_job_compose(const struct kz_job *j, struct kz_result *r, struct kz_err *err)
{
	struct step *s = malloc((j->s->hunks + 1) * sizeof *s);
	size_t n = s ? steps_of(j, s) : 0;
	uint64_t lines = j->now.count, bytes = 0;

	*r = (struct kz_result){ NULL, 0 };
	for (size_t i = 0; i < n; i++) {
		lines += s[i].c->count;
		for (size_t k = 0; k < s[i].c->count && bytes <= KZ_TEXT_MAX; k++)
			bytes += s[i].c->row[k].n + 1;
	}
	if (lines > KZ_TEXT_LINES_MAX || bytes > KZ_TEXT_MAX) {
		free(s);
		return kz_refuse(err, KZ_R_FILE_TOO_LARGE, "%s: the edit makes it too large",
				 j->s->path);
	}
	r->line = malloc((size_t)(lines + 1) * sizeof *r->line);
	if (!s || !r->line) {
		free(s);
		return kz_err_set(err, KZ_E_OS, "no memory for the new text");
	}
	put_all(j, s, n, r);
	free(s);
	settle_last(j, r);
	return settle_returns(j, r, err);
}
