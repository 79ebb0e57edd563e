/* Sorted ranges of line numbers. */
#include "rule/hashline_spans.h"

#include <stdlib.h>
#include <string.h>

void kz_spans_release(struct kz_spans *s)
{
	free(s->span);
	*s = (struct kz_spans){ NULL, 0, 0 };
}

/* The first range that ends at or behind a line. */
static size_t find(const struct kz_spans *s, uint32_t line)
{
	size_t low = 0, high = s->count;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (s->span[mid].to < line)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static enum kz_rc make_room(struct kz_spans *s, struct kz_err *err)
{
	size_t room = s->room ? s->room * 2 : 8;
	struct kz_span *p;

	if (s->count < s->room)
		return KZ_OK;
	p = realloc(s->span, room * sizeof *p);
	if (!p)
		return kz_err_set(err, KZ_E_OS, "no memory for line ranges");
	s->span = p;
	s->room = room;
	return KZ_OK;
}

enum kz_rc kz_spans_add(struct kz_spans *s, uint32_t from, uint32_t to, struct kz_err *err)
{
	size_t at, past;
	enum kz_rc rc;

	if (from == 0 || to < from)
		return KZ_OK;
	at = find(s, from - 1); /* one that touches is taken in */
	for (past = at; past < s->count && s->span[past].from <= to + 1; past++) {
		if (s->span[past].from < from)
			from = s->span[past].from;
		if (s->span[past].to > to)
			to = s->span[past].to;
	}
	if (past == at) {
		rc = make_room(s, err);
		if (rc != KZ_OK)
			return rc;
		memmove(s->span + at + 1, s->span + at, (s->count - at) * sizeof *s->span);
		s->count++;
	} else {
		memmove(s->span + at + 1, s->span + past, (s->count - past) * sizeof *s->span);
		s->count -= past - at - 1;
	}
	s->span[at] = (struct kz_span){ from, to };
	return KZ_OK;
}

enum kz_rc kz_spans_add_marks(struct kz_spans *s, const uint8_t *mark, uint32_t count,
			      struct kz_err *err)
{
	enum kz_rc rc = KZ_OK;

	for (uint32_t i = 0; i < count && rc == KZ_OK; i++) {
		uint32_t from = i + 1;

		if (!mark[i])
			continue;
		while (i + 1 < count && mark[i + 1])
			i++;
		rc = kz_spans_add(s, from, i + 1, err);
	}
	return rc;
}

void kz_spans_mark(const struct kz_spans *s, uint8_t *mark, uint32_t count)
{
	for (size_t i = 0; i < s->count; i++)
		for (uint32_t n = s->span[i].from; n <= s->span[i].to && n <= count; n++)
			mark[n - 1] = 1;
}

uint32_t kz_spans_missing(const struct kz_spans *s, uint32_t from, uint32_t to)
{
	size_t at = find(s, from);

	/* ranges are apart, so all of it lies in one of them or not in the set */
	if (at == s->count || s->span[at].from > from)
		return from;
	return s->span[at].to < to ? s->span[at].to + 1 : 0;
}

bool kz_spans_sound(const struct kz_spans *s, uint32_t lines)
{
	uint32_t before = 0;

	for (size_t i = 0; i < s->count; i++) {
		/* a gap of at least one line to the range before */
		if (s->span[i].from <= before || s->span[i].to < s->span[i].from ||
		    s->span[i].to > lines)
			return false;
		before = s->span[i].to + 1;
	}
	return true;
}
