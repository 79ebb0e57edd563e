/* What operations put in: registers, and rows that repeat what stands beside them. */
#include <stdlib.h>
#include <string.h>

#include "rule/hashline_job.h"
#include "rule/reason.h"

static enum kz_rc no_memory(struct kz_err *err)
{
	return kz_err_set(err, KZ_E_OS, "no memory for registers");
}

void kz_bench_release(struct kz_bench *w)
{
	for (size_t i = 0; i < w->count; i++)
		free(w->held[i].row);
	free(w->held);
	free(w->turn);
	memset(w, 0, sizeof *w);
}

static struct kz_held *held(const struct kz_bench *w, const char *name)
{
	for (size_t i = w->count; i > 0; i--)
		if (strcmp(w->held[i - 1].name, name) == 0)
			return &w->held[i - 1];
	return NULL;
}

/* A place for what a register holds from now on; what it held stays, as it may have been pasted. */
static struct kz_held *place(struct kz_bench *w, const char *name)
{
	if (w->count == w->room) {
		size_t room = w->room ? w->room * 2 : 8;
		struct kz_held *all = realloc(w->held, room * sizeof *all);

		if (!all)
			return NULL;
		w->held = all;
		w->room = room;
	}
	w->held[w->count] = (struct kz_held){ .row = NULL };
	memcpy(w->held[w->count].name, name, strlen(name) + 1);
	return &w->held[w->count++];
}

static enum kz_rc rows_of_book(struct kz_bench *w, const struct kz_register *r,
			       struct kz_held **out, struct kz_err *err)
{
	struct kz_held *x = place(w, r->name);
	const char *p = r->text;

	if (x)
		x->row = malloc((r->lines + 1u) * sizeof *x->row);
	if (!x || !x->row)
		return no_memory(err);
	for (; x->count < r->lines; x->count++) {
		const char *lf = memchr(p, '\n', (size_t)(r->text + r->n - p));

		x->row[x->count] = (struct kz_row){ p, (size_t)(lf - p) };
		p = lf + 1;
	}
	*out = x;
	return KZ_OK;
}

static enum kz_rc cut(struct kz_bench *w, const struct kz_job *j, const struct kz_hunk *h,
		      struct kz_err *err)
{
	uint32_t from = kz_job_line(j, h->from), n = h->to - h->from + 1;
	struct kz_held *x = place(w, h->reg);

	if (x)
		x->row = malloc(n * sizeof *x->row);
	if (!x || !x->row)
		return no_memory(err);
	for (; x->count < n; x->count++)
		x->row[x->count] = kz_line_row(&j->now.line[from - 1 + x->count]);
	w->pending += !*h->reg;
	return KZ_OK;
}

static enum kz_rc paste(struct kz_bench *w, const struct kz_hunk *h, const struct kz_book *b,
			struct kz_content *c, struct kz_err *err)
{
	struct kz_held *x = held(w, h->reg);
	const struct kz_register *r = x || !*h->reg ? NULL : kz_book_register(b, h->reg);
	enum kz_rc rc = r ? rows_of_book(w, r, &x, err) : KZ_OK;

	if (rc != KZ_OK)
		return rc;
	if (!*h->reg && w->pending > 1)
		return kz_refuse(err, KZ_R_REGISTER_AMBIGUOUS,
				 "edit, line %zu: two cuts without a name wait; give them names",
				 h->at);
	if (!x)
		return kz_refuse(err, KZ_R_REGISTER_EMPTY,
				 "edit, line %zu: nothing is in the register %s", h->at,
				 *h->reg ? h->reg : "without a name");
	if (!*h->reg)
		w->pending = 0;
	c->row = x->row;
	c->count = x->count;
	return KZ_OK;
}

static enum kz_rc fill(struct kz_bench *w, struct kz_job *j, size_t i, const struct kz_book *b,
		       struct kz_err *err)
{
	const struct kz_hunk *h = &j->s->hunk[i];

	if (h->kind == KZ_HUNK_CUT)
		return cut(w, j, h, err);
	if (h->has_register)
		return paste(w, h, b, &j->content[i], err);
	if (!j->content[i].row && h->rows) {
		j->content[i].row = j->e->row + h->row;
		j->content[i].count = h->rows;
	}
	return KZ_OK;
}

/* The hunks of all sections as they stand in the edit. */
static enum kz_rc take_turns(struct kz_bench *w, const struct kz_edit *e, struct kz_job *jobs,
			     struct kz_err *err)
{
	w->turn = calloc(e->hunks + 1, sizeof *w->turn);
	if (!w->turn)
		return no_memory(err);
	for (size_t k = 0; k < e->sections; k++)
		for (size_t i = 0; i < jobs[k].s->hunks; i++)
			w->turn[jobs[k].s->hunk[i].order] = (struct kz_turn){ &jobs[k], i };
	return KZ_OK;
}

enum kz_rc kz_bench_fill(struct kz_bench *w, const struct kz_edit *e, struct kz_job *jobs,
			 const struct kz_book *b, struct kz_err *err)
{
	enum kz_rc rc = take_turns(w, e, jobs, err);

	for (size_t n = 0; n < e->hunks && rc == KZ_OK; n++)
		rc = fill(w, w->turn[n].job, w->turn[n].hunk, b, err);
	return rc;
}

enum kz_rc kz_bench_keep(const struct kz_bench *w, const struct kz_edit *e, struct kz_book *b,
			 struct kz_err *err)
{
	enum kz_rc rc = KZ_OK;

	for (size_t n = 0; n < e->hunks && rc == KZ_OK; n++) {
		const struct kz_job *j = w->turn[n].job;
		const struct kz_hunk *h = &j->s->hunk[w->turn[n].hunk];
		const struct kz_held *x =
			h->kind == KZ_HUNK_CUT && *h->reg ? held(w, h->reg) : NULL;

		/* the last cut of a name counts, and is kept once for each */
		if (x)
			rc = kz_book_keep(b, h->reg, x->row, x->count, err);
	}
	return rc;
}

/* A line with a letter, a digit or more than ASCII; braces and blanks repeat everywhere. */
static bool says_something(struct kz_row r)
{
	for (size_t i = 0; i < r.n; i++) {
		unsigned char c = (unsigned char)r.p[i];

		if ((c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
		    c >= 0x80)
			return true;
	}
	return false;
}

/* Does another operation change this line (of the base)? */
static bool is_changed(const struct kz_job *j, uint32_t line)
{
	for (size_t i = 0; i < j->s->hunks; i++) {
		const struct kz_hunk *h = &j->s->hunk[i];

		if (kz_hunk_is_range(h) && h->from <= line && line <= h->to)
			return true;
	}
	return false;
}

/* Is the row the line beside the range, and not the line that it replaces? in: beside and edge of the base; 0 and past the end are no lines */
static bool repeats(const struct kz_job *j, struct kz_row row, uint32_t beside, uint32_t edge)
{
	if (beside == 0 || beside > j->old.count || !says_something(row) ||
	    !kz_row_same(row, kz_line_row(&j->old.line[beside - 1])))
		return false;
	return !kz_row_same(row, kz_line_row(&j->old.line[edge - 1])) && !is_changed(j, beside);
}

static enum kz_rc echo_of(struct kz_job *j, const struct kz_hunk *h, struct kz_content *c,
			  struct kz_err *err)
{
	const struct kz_row *row = j->e->row + h->row;
	bool up = repeats(j, row[0], h->from - 1, h->from);
	bool down = repeats(j, row[h->rows - 1], h->to + 1, h->to);

	if (!up && !down)
		return KZ_OK;
	if (up != down || h->rows < 3)
		return kz_refuse(
			err, KZ_R_EDIT_ECHO,
			"edit, line %zu: the rows repeat line %u of the file, which stays; "
			"leave it out, or give a range with it",
			h->at, up ? h->from - 1 : h->to + 1);
	c->row = row + 1;
	c->count = h->rows - 2;
	kz_edit_note(&j->notes,
		     "edit, line %zu: its first and last row repeat the lines beside "
		     "the range and were left out",
		     h->at);
	return KZ_OK;
}

enum kz_rc kz_job_echo(struct kz_job *j, struct kz_err *err)
{
	enum kz_rc rc = KZ_OK;

	for (size_t i = 0; i < j->s->hunks && rc == KZ_OK; i++) {
		const struct kz_hunk *h = &j->s->hunk[i];

		if (h->kind == KZ_HUNK_REPLACE && !h->has_register && h->rows &&
		    !j->content[i].is_dropped)
			rc = echo_of(j, h, &j->content[i], err);
	}
	return rc;
}
