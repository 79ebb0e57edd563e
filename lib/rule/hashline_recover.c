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

/* What speaks for the place of a run of anchors: the nearest lines that are none. */
struct sides {
	bool up, down;           /* there is one */
	bool up_fits, down_fits; /* and it is at the same offset */
};

/* The end of the file is a line too when the last line is ended. */
static struct sides look(const struct kz_job *j, const struct kz_diff *d, uint32_t first,
			 uint32_t last, int64_t offset)
{
	struct sides s = { .up = first > 1 };

	if (s.up)
		s.up_fits = d->map[first - 2] &&
			    (int64_t)d->map[first - 2] - (int64_t)(first - 1) == offset;
	if (last < j->old.count) {
		s.down = true;
		s.down_fits = d->map[last] && (int64_t)d->map[last] - (int64_t)(last + 1) == offset;
	} else {
		s.down = kz_text_is_ended(&j->old);
		s.down_fits = s.down && kz_text_is_ended(&j->now) &&
			      (int64_t)j->now.count - (int64_t)j->old.count == offset;
	}
	return s;
}

/* Is the line's text nowhere else, in either text? The empty line behind the last end counts. */
static bool is_unique(const struct kz_job *j, const struct kz_diff *d, uint32_t line)
{
	uint32_t id = d->id[line - 1];

	return d->in_old[id] == 1 && d->in_new[id] == 1 && j->old.line[line - 1].n > 0;
}

static bool is_certain(const struct kz_job *j, const struct kz_diff *d, uint32_t line,
		       const struct sides *s)
{
	if (is_unique(j, d, line))
		return s->up_fits || s->down_fits;
	return (s->up || s->down) && s->up == s->up_fits && s->down == s->down_fits;
}

/* Check the anchors. mark: a byte a line of the old text. out: *offset */
static enum kz_rc check_anchors(const struct kz_job *j, const struct kz_diff *d,
				const uint8_t *mark, int64_t *offset, struct kz_err *err)
{
	bool is_first = true;

	for (uint32_t first = 1; first <= j->old.count; first++) {
		uint32_t last = first;
		struct sides s;

		if (!mark[first - 1])
			continue;
		while (last < j->old.count && mark[last])
			last++;
		if (is_first && d->map[first - 1])
			*offset = (int64_t)d->map[first - 1] - (int64_t)first;
		is_first = false;
		s = look(j, d, first, last, *offset);
		for (uint32_t n = first; n <= last; n++)
			if (!d->map[n - 1] || (int64_t)d->map[n - 1] - (int64_t)n != *offset ||
			    !is_certain(j, d, n, &s))
				return stale(j, n, err);
		first = last;
	}
	return KZ_OK;
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
		rc = check_anchors(j, d, mark, &j->offset, err);
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
