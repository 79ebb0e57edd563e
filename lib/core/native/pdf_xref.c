/* PDF: cross-references, as tables and as streams. */
#include <stdlib.h>
#include <string.h>

#include "core/native/pdf_stream.h"

/* Sections that were read, so that none is read twice. */
struct walk {
	size_t at[KZ_PDF_SECTIONS_MAX];
	size_t count;
};

enum kz_rc kz_pdf_enter(struct kz_pdf *f, int64_t number, const struct kz_pdf_entry *e,
			struct kz_err *err)
{
	if (number < 0 || number >= KZ_PDF_OBJECTS_MAX)
		return KZ_BOMB(err, "the document has more than %d objects", KZ_PDF_OBJECTS_MAX);
	if (number >= f->count) {
		int64_t room = number < 1024 ? 1024 : 2 * number;
		struct kz_pdf_entry *more;
		if (room > KZ_PDF_OBJECTS_MAX)
			room = KZ_PDF_OBJECTS_MAX;
		more = realloc(f->entries, (size_t)room * sizeof *more);
		if (!more)
			return kz_err_set(err, KZ_E_OS, "no memory for the objects");
		memset(more + f->count, 0, (size_t)(room - f->count) * sizeof *more);
		f->entries = more;
		f->count = room;
	}
	if (f->entries[number].state == KZ_PDF_UNSET)
		f->entries[number] = *e;
	return KZ_OK;
}

/* Digits of a table's line. */
static bool read_digits(struct kz_pdf *f, size_t *at, uint64_t *value)
{
	const unsigned char *p = f->doc->p;
	size_t from = *at = kz_pdf_blank(f, p, f->doc->n, *at);

	*value = 0;
	while (*at < f->doc->n && p[*at] >= '0' && p[*at] <= '9' && *at - from < 19)
		*value = *value * 10 + (uint64_t)(p[(*at)++] - '0');
	f->work += (int64_t)(*at - from);
	return *at > from;
}

static enum kz_rc read_line(struct kz_pdf *f, size_t *at, uint64_t number, bool free_ones,
			    struct kz_err *err)
{
	struct kz_pdf_entry e = { 0 };
	uint64_t gen;
	bool is_used, is_free;

	if (!read_digits(f, at, &e.at) || !read_digits(f, at, &gen) || gen > 65535)
		return KZ_INVALID(err, "the line of object %llu in the cross-references is damaged",
				  (unsigned long long)number);
	is_used = kz_pdf_word(f, f->doc->p, f->doc->n, at, "n");
	is_free = !is_used && kz_pdf_word(f, f->doc->p, f->doc->n, at, "f");
	if (!is_used && !is_free)
		return KZ_INVALID(err, "the line of object %llu in the cross-references is damaged",
				  (unsigned long long)number);
	/* Some writers give unused objects the place 0. */
	is_free = is_free || e.at == 0;
	if (is_free != free_ones)
		return KZ_OK;
	e.gen = (uint16_t)gen;
	e.state = is_free ? KZ_PDF_FREE : KZ_PDF_PLAIN;
	return kz_pdf_enter(f, (int64_t)number, &e, err);
}

/* Read a table's lines in use, or the free ones; those come after what a stream beside the table says. */
static enum kz_rc read_table(struct kz_pdf *f, size_t at, bool free_ones,
			     struct kz_pdf_value *trailer, struct kz_err *err)
{
	uint64_t first, count;

	while (!kz_pdf_word(f, f->doc->p, f->doc->n, &at, "trailer")) {
		if (f->work > KZ_PDF_WORK_MAX)
			return KZ_BOMB(err, "the document takes too long to read");
		if (!read_digits(f, &at, &first) || !read_digits(f, &at, &count))
			return KZ_INVALID(err, "the cross-references are damaged or cut");
		if (first > KZ_PDF_OBJECTS_MAX || count > KZ_PDF_OBJECTS_MAX)
			return KZ_BOMB(err, "the document has more than %d objects",
				       KZ_PDF_OBJECTS_MAX);
		for (uint64_t i = 0; i < count; i++) {
			enum kz_rc rc = read_line(f, &at, first + i, free_ones, err);
			if (rc != KZ_OK)
				return rc;
		}
	}
	*trailer = kz_pdf_read(f, f->doc->p, f->doc->n, at);
	return trailer->kind == KZ_PDF_DICT ? KZ_OK : KZ_INVALID(err, "the trailer is damaged");
}

static enum kz_rc visit(struct walk *w, size_t at, struct kz_err *err)
{
	for (size_t i = 0; i < w->count; i++) {
		if (w->at[i] == at)
			return KZ_INVALID(err, "the cross-references go round in a circle");
	}
	if (w->count == KZ_PDF_SECTIONS_MAX)
		return KZ_BOMB(err, "the document has more than %d updates", KZ_PDF_SECTIONS_MAX);
	w->at[w->count++] = at;
	return KZ_OK;
}

/* One section and what stands beside it. */
static enum kz_rc read_section(struct kz_pdf *f, struct walk *w, size_t at,
			       struct kz_pdf_value *trailer, struct kz_err *err)
{
	size_t table = f->base + at;
	struct kz_pdf_value beside, ignored;
	enum kz_rc rc = visit(w, at, err);

	if (rc != KZ_OK)
		return rc;
	if (table >= f->doc->n || !kz_pdf_word(f, f->doc->p, f->doc->n, &table, "xref"))
		return kz_pdf_xref_stream(f, at, trailer, err);
	rc = read_table(f, table, false, trailer, err);
	if (rc != KZ_OK)
		return rc;
	beside = kz_pdf_get(f, trailer, "XRefStm");
	if (beside.kind == KZ_PDF_INT && beside.num >= 0) {
		rc = visit(w, (size_t)beside.num, err);
		if (rc == KZ_OK)
			rc = kz_pdf_xref_stream(f, (size_t)beside.num, &ignored, err);
	}
	return rc == KZ_OK ? read_table(f, table, true, &ignored, err) : rc;
}

enum kz_rc kz_pdf_xref(struct kz_pdf *f, size_t start, struct kz_err *err)
{
	struct walk w = { .count = 0 };
	struct kz_pdf_value trailer, prev = { .kind = KZ_PDF_INT, .num = (int64_t)start };

	while (prev.kind == KZ_PDF_INT) {
		enum kz_rc rc;
		if (prev.num < 0 || (uint64_t)prev.num >= f->doc->n)
			return KZ_INVALID(err, "cross-references outside of the file");
		rc = read_section(f, &w, (size_t)prev.num, &trailer, err);
		if (rc != KZ_OK)
			return rc;
		if (f->trailer.kind == KZ_PDF_NONE)
			f->trailer = trailer;
		prev = kz_pdf_get(f, &trailer, "Prev");
		if (prev.kind != KZ_PDF_INT && prev.kind != KZ_PDF_NONE)
			return KZ_INVALID(err, "cross-references that lead nowhere");
	}
	if (kz_pdf_get(f, &f->trailer, "Root").kind != KZ_PDF_REF)
		return KZ_INVALID(err, "the trailer has no /Root");
	return KZ_OK;
}

/* How the rows of a stream of cross-references are made. */
struct rows {
	const unsigned char *p;
	size_t n;
	unsigned width[3];
	bool has_type;
};

static uint64_t take(struct rows *r, unsigned width)
{
	uint64_t v = 0;

	for (; width > 0; width--, r->n--)
		v = v << 8 | *r->p++;
	return v;
}

static enum kz_rc read_rows(struct kz_pdf *f, struct rows *r, int64_t first, int64_t count,
			    struct kz_err *err)
{
	unsigned size = r->width[0] + r->width[1] + r->width[2];

	if (first < 0 || count < 0 || first > KZ_PDF_OBJECTS_MAX || count > KZ_PDF_OBJECTS_MAX)
		return KZ_BOMB(err, "the document has more than %d objects", KZ_PDF_OBJECTS_MAX);
	if ((uint64_t)count > r->n / size)
		return KZ_INVALID(err, "the cross-references are cut");
	for (int64_t i = 0; i < count; i++) {
		uint64_t type = r->width[0] ? take(r, r->width[0]) : 1;
		uint64_t at = take(r, r->width[1]), third = take(r, r->width[2]);
		struct kz_pdf_entry e = { .at = at, .state = KZ_PDF_FREE };
		enum kz_rc rc;
		if (type == 1 && at > 0) {
			e.state = KZ_PDF_PLAIN;
			e.gen = (uint16_t)third;
		} else if (type == 2) {
			e.state = KZ_PDF_PACKED;
			e.index = (uint32_t)third;
		}
		rc = kz_pdf_enter(f, first + i, &e, err);
		if (rc != KZ_OK)
			return rc;
	}
	return KZ_OK;
}

static bool read_widths(struct kz_pdf *f, const struct kz_pdf_value *dict, struct rows *r)
{
	struct kz_pdf_value w = kz_pdf_get(f, dict, "W"), item;
	unsigned all = 0;
	size_t at = 0, i = 0;

	while (i < 3 && kz_pdf_each(f, &w, &at, &item)) {
		if (item.kind != KZ_PDF_INT || item.num < 0 || item.num > 8)
			return false;
		r->width[i++] = (unsigned)item.num;
		all += (unsigned)item.num;
	}
	return i == 3 && all > 0;
}

enum kz_rc kz_pdf_xref_stream(struct kz_pdf *f, size_t at, struct kz_pdf_value *dict,
			      struct kz_err *err)
{
	kz_auto_buf struct kz_buf bytes = KZ_BUF_INIT((size_t)KZ_NATIVE_EXPAND_MAX);
	struct kz_pdf_value type = { 0 }, index, size, first, count;
	struct rows r = { 0 };
	int64_t num, gen;
	bool known = false;
	size_t i = 0;
	enum kz_rc rc;

	if (at >= f->doc->n || !kz_pdf_object(f, f->base + at, &num, &gen, dict) ||
	    !(type = kz_pdf_get(f, dict, "Type"), kz_pdf_is_name(&type, "XRef")))
		return KZ_INVALID(err, "no cross-references where startxref or /Prev says");
	rc = kz_pdf_expand(f, dict, KZ_PDF_SURE, &bytes, &known, err);
	if (rc != KZ_OK)
		return kz_err_wrap(err, "cross-references");
	if (!known || !read_widths(f, dict, &r))
		return KZ_INVALID(err, "cross-references in an unknown form");
	r.p = (const unsigned char *)bytes.data;
	r.n = bytes.len;
	index = kz_pdf_get(f, dict, "Index");
	size = kz_pdf_get(f, dict, "Size");
	if (index.kind == KZ_PDF_NONE)
		return size.kind == KZ_PDF_INT ? read_rows(f, &r, 0, size.num, err) :
						 KZ_INVALID(err, "cross-references without a size");
	while (kz_pdf_each(f, &index, &i, &first)) {
		if (!kz_pdf_each(f, &index, &i, &count) || first.kind != KZ_PDF_INT ||
		    count.kind != KZ_PDF_INT)
			return KZ_INVALID(err, "cross-references with a damaged index");
		rc = read_rows(f, &r, first.num, count.num, err);
		if (rc != KZ_OK)
			return rc;
	}
	return KZ_OK;
}
