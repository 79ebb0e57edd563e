/* Addresses of operations: "2.=3", "<2", ">2", ">$", and what models write instead. */
#include <string.h>

#include "rule/hashline_edit.h"
#include "rule/reason.h"

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Take a line number from the front. Nine digits: larger than any text. */
static bool number(struct kz_row *a, uint32_t *out)
{
	uint32_t v = 0;
	size_t i = 0;

	while (i < a->n && i < 9 && is_digit(a->p[i]))
		v = v * 10 + (uint32_t)(a->p[i++] - '0');
	if (i == 0 || (i < a->n && is_digit(a->p[i])))
		return false;
	a->p += i;
	a->n -= i;
	*out = v;
	return true;
}

static bool take(struct kz_row *a, const char *word)
{
	size_t n = strlen(word);

	if (a->n < n || memcmp(a->p, word, n) != 0)
		return false;
	a->p += n;
	a->n -= n;
	return true;
}

static enum kz_rc bad(const struct kz_hunk *h, struct kz_err *err)
{
	return kz_refuse(err, KZ_R_EDIT_MALFORMED,
			 "edit, line %zu: lines are written 2.=3, and places <2, >2, <1 or >$",
			 h->at);
}

static enum kz_rc block(const struct kz_hunk *h, struct kz_err *err)
{
	return kz_refuse(err, KZ_R_BLOCK_UNSUPPORTED,
			 "edit, line %zu: blocks (*) are not supported; give a range of lines",
			 h->at);
}

static enum kz_rc gap(struct kz_row a, struct kz_hunk *h, struct kz_err *err)
{
	h->kind = *a.p == '<' ? KZ_HUNK_BEFORE : KZ_HUNK_AFTER;
	a.p++;
	a.n--;
	if (h->kind == KZ_HUNK_AFTER && kz_row_same(a, (struct kz_row){ "$", 1 })) {
		h->is_edge = true;
		return KZ_OK;
	}
	if (!number(&a, &h->from))
		return bad(h, err);
	h->to = h->from;
	if (a.n == 1 && *a.p == '*')
		return block(h, err);
	if (a.n)
		return bad(h, err);
	if (h->kind == KZ_HUNK_BEFORE && h->from == 1) {
		h->is_edge = true;
		h->from = h->to = 0;
	}
	return KZ_OK;
}

/* The end of a range in a form that is not the language's. */
static bool lenient_end(struct kz_row a, struct kz_hunk *h)
{
	static const char *const between[] = { "..", "-", ",", " ", "=" };

	if (a.n == 0 || kz_row_same(a, (struct kz_row){ ".=", 2 })) {
		h->to = h->from;
		return true;
	}
	for (size_t i = 0; i < sizeof between / sizeof *between; i++) {
		struct kz_row rest = a;

		if (take(&rest, between[i]) && number(&rest, &h->to) && rest.n == 0)
			return true;
	}
	return false;
}

static enum kz_rc in_order(const struct kz_hunk *h, struct kz_err *err)
{
	if (h->to < h->from)
		return kz_refuse(err, KZ_R_BAD_RANGE,
				 "edit, line %zu: the range %u.=%u ends before it begins; %u lines "
				 "from %u on are %u.=%llu",
				 h->at, h->from, h->to, h->to, h->from, h->from,
				 (unsigned long long)h->from + h->to - 1);
	if (h->to - h->from >= KZ_EDIT_RANGE)
		return kz_refuse(err, KZ_R_BAD_RANGE,
				 "edit, line %zu: a range has at most %d lines", h->at,
				 KZ_EDIT_RANGE);
	return KZ_OK;
}

enum kz_rc kz_edit_address(struct kz_row a, bool is_lenient, struct kz_hunk *h,
			   struct kz_buf *notes, struct kz_err *err)
{
	struct kz_row end;

	h->kind = KZ_HUNK_REPLACE;
	if (a.n && (*a.p == '<' || *a.p == '>'))
		return gap(a, h, err);
	if (!number(&a, &h->from))
		return bad(h, err);
	if (a.n == 1 && *a.p == '*')
		return block(h, err);
	end = a;
	if (take(&end, ".=") && number(&end, &h->to) && end.n == 0)
		return in_order(h, err);
	if (!is_lenient || !lenient_end(a, h))
		return bad(h, err);
	kz_edit_note(notes, "edit, line %zu: taken as %u.=%u", h->at, h->from, h->to);
	return in_order(h, err);
}
