/*
 * Stale sections.  The lines of the text that was shown are looked for in the file as
 * it is; what cannot have been meant for another place is edited there.
 */
#include <stdlib.h>
#include <string.h>

#include "rule/hashline_diff.h"
#include "rule/hashline_job.h"
#include "rule/reason.h"

static enum kz_rc stale(const struct kz_job *j, uint32_t line, struct kz_err *err)
{
	uint32_t from = line > 2 ? line - 2 : 1;

	return kz_refuse(err, KZ_R_STALE_ANCHOR,
			 "%s: it is not as it was when line %u was shown, and where that line is "
			 "now is not certain; read it again, for instance lines %u-%u",
			 j->s->path, line, from, line + 2);
}

/* Is the line's text nowhere else, in either text? The empty line behind the last end counts. */
static bool is_unique(const struct kz_job *j, const struct kz_diff *d, uint32_t line)
{
	uint32_t id = d->id[line - 1];

	return d->in_old[id] == 1 && d->in_new[id] == 1 && j->old.line[line - 1].n > 0;
}

/* Does a line stand at the offset? */
static bool fits(const struct kz_diff *d, uint32_t line, int64_t offset)
{
	return d->map[line - 1] && (int64_t)d->map[line - 1] - (int64_t)line == offset;
}

/*
 * Is one of the nearest lines around a run of anchors where it was beside them?  The
 * empty line behind the last line end is a line too.
 */
static bool is_beside(const struct kz_job *j, const struct kz_diff *d, uint32_t first,
		      uint32_t last)
{
	if (first > 1 && fits(d, first - 1, j->offset))
		return true;
	if (last < j->old.count)
		return fits(d, last + 1, j->offset);
	return kz_text_is_ended(&j->old) && kz_text_is_ended(&j->now) &&
	       (int64_t)j->now.count - (int64_t)j->old.count == j->offset;
}

/*
 * A line that occurs more than once is certain when nothing changed between it and the
 * nearest lines around it that occur once, or the ends of the file.
 * out: up and down: a byte a line: nothing changed on that side
 */
static void mark_calm(const struct kz_job *j, const struct kz_diff *d, int64_t offset, uint8_t *up,
		      uint8_t *down)
{
	uint32_t n = j->old.count;

	for (uint32_t i = 1; i <= n; i++)
		up[i - 1] = i == 1 ?
				    offset == 0 :
				    fits(d, i - 1, offset) && (is_unique(j, d, i - 1) || up[i - 2]);
	for (uint32_t i = n; i > 0; i--)
		down[i - 1] = i == n ?
				      (int64_t)j->now.count - (int64_t)n == offset :
				      fits(d, i + 1, offset) && (is_unique(j, d, i + 1) || down[i]);
}

/* Check the anchors at one offset. mark, up, down: a byte a line of the old text */
static enum kz_rc check_runs(const struct kz_job *j, const struct kz_diff *d, const uint8_t *mark,
			     const uint8_t *up, const uint8_t *down, struct kz_err *err)
{
	for (uint32_t first = 1; first <= j->old.count; first++) {
		uint32_t last = first;
		bool has_side;

		if (!mark[first - 1])
			continue;
		while (last < j->old.count && mark[last])
			last++;
		has_side = is_beside(j, d, first, last);
		for (uint32_t n = first; n <= last; n++)
			if (!fits(d, n, j->offset) ||
			    !(is_unique(j, d, n) ? has_side : up[n - 1] && down[n - 1]))
				return stale(j, n, err);
		first = last;
	}
	return KZ_OK;
}

static enum kz_rc check_anchors(struct kz_job *j, const struct kz_diff *d, const uint8_t *mark,
				uint32_t lowest, struct kz_err *err)
{
	uint32_t n = j->old.count;
	kz_auto_free uint8_t *sides = calloc((size_t)n * 2 + 1, 1);

	if (!sides)
		return kz_err_set(err, KZ_E_OS, "no memory for an edit");
	if (!d->map[lowest - 1])
		return stale(j, lowest, err);
	j->offset = (int64_t)d->map[lowest - 1] - (int64_t)lowest;
	mark_calm(j, d, j->offset, sides, sides + n);
	return check_runs(j, d, mark, sides, sides + n, err);
}

static uint32_t mark_anchors(const struct kz_job *j, uint8_t *mark)
{
	uint32_t lowest = 0;

	for (size_t i = 0; i < j->s->hunks; i++) {
		const struct kz_hunk *h = &j->s->hunk[i];

		if (!kz_hunk_is_anchored(h))
			continue;
		memset(mark + h->from - 1, 1, h->to - h->from + 1);
		if (lowest == 0 || h->from < lowest)
			lowest = h->from;
	}
	return lowest;
}

static enum kz_rc find_anchors(struct kz_job *j, struct kz_diff *d, uint8_t *mark,
			       struct kz_err *err)
{
	uint32_t lowest = mark_anchors(j, mark);
	enum kz_rc rc = kz_diff_make(&j->old, &j->now, d, err);

	if (rc != KZ_OK)
		return rc;
	if (d->is_capped && lowest)
		return stale(j, lowest, err);
	if (!d->is_capped && lowest)
		rc = check_anchors(j, d, mark, lowest, err);
	if (rc != KZ_OK)
		return rc;
	if (!d->is_capped)
		j->map = kz_take(d->map);
	if (!lowest)
		kz_edit_note(&j->notes, "the file was changed since it was read; only its head or "
					"end was written to");
	else if (j->offset)
		kz_edit_note(&j->notes,
			     "the file was changed since it was read; the lines were found %lld "
			     "lines %s",
			     (long long)(j->offset < 0 ? -j->offset : j->offset),
			     j->offset < 0 ? "above" : "below");
	else
		kz_edit_note(&j->notes, "the file was changed elsewhere since it was read");
	return KZ_OK;
}

enum kz_rc kz_job_locate(struct kz_job *j, struct kz_err *err)
{
	kz_auto_diff struct kz_diff d = { .map = NULL };
	kz_auto_free uint8_t *mark = NULL;

	if (j->is_same)
		return KZ_OK;
	if (j->s->removes || j->s->moves)
		return kz_refuse(err, KZ_R_STALE_ANCHOR,
				 "%s: it is not as it was when it was read; read it again before "
				 "it is removed or renamed",
				 j->s->path);
	mark = calloc((size_t)j->old.count + 1, 1);
	if (!mark)
		return kz_err_set(err, KZ_E_OS, "no memory for an edit");
	return find_anchors(j, &d, mark, err);
}
