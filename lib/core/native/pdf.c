/* PDF: marks, the way to the cross-references, and every object. */
#include "core/native/pdf_stream.h"

#include <stdlib.h>
#include <string.h>

#define REGION 1024U /* in which the marks stand, at either end */

struct kz_pdf_value kz_pdf_follow(struct kz_pdf *f, struct kz_pdf_value v)
{
	int64_t num, gen;

	for (int hops = 0; v.kind == KZ_PDF_REF; hops++) {
		const struct kz_pdf_entry *e = v.num < f->count ? &f->entries[v.num] : NULL;
		struct kz_pdf_value at = { 0 };
		if (!e || (e->state != KZ_PDF_PLAIN && e->state != KZ_PDF_PACKED))
			return (struct kz_pdf_value){ .kind = KZ_PDF_NULL };
		if (hops == KZ_PDF_HOPS_MAX)
			return (struct kz_pdf_value){ 0 };
		if (e->state == KZ_PDF_PACKED)
			at = kz_pdf_unpack(f, v.num, e);
		else if (!kz_pdf_object(f, f->base + e->at, &num, &gen, &at) || num != v.num)
			return (struct kz_pdf_value){ 0 };
		v = at;
	}
	return v;
}

struct kz_pdf_value kz_pdf_find(struct kz_pdf *f, const struct kz_pdf_value *dict, const char *key)
{
	return kz_pdf_follow(f, kz_pdf_get(f, dict, key));
}

bool kz_pdf_object(struct kz_pdf *f, size_t at, int64_t *num, int64_t *gen,
		   struct kz_pdf_value *value)
{
	const unsigned char *p = f->doc->p;
	size_t n = f->doc->n;
	struct kz_pdf_value v = kz_pdf_read(f, p, n, at);

	if (v.kind != KZ_PDF_INT)
		return false;
	*num = v.num;
	v = kz_pdf_read(f, p, n, v.end);
	if (v.kind != KZ_PDF_INT)
		return false;
	*gen = v.num;
	at = v.end;
	if (!kz_pdf_word(f, p, n, &at, "obj"))
		return false;
	*value = kz_pdf_read(f, p, n, at);
	if (value->kind == KZ_PDF_NONE)
		value->at = value->end = at;
	return true;
}

static enum kz_rc judge_stream(struct kz_pdf *f, const struct kz_pdf_value *dict,
			       struct kz_pdf_entry *e, int64_t number, size_t *end,
			       struct kz_err *err)
{
	struct kz_pdf_value type = kz_pdf_find(f, dict, "Type");
	size_t from, size;
	bool known;
	enum kz_rc rc = kz_pdf_extent(f, dict, &from, &size, err);

	if (rc != KZ_OK)
		return kz_err_wrap(err, "object %lld", (long long)number);
	*end = from + size;
	(void)kz_pdf_word(f, f->doc->p, f->doc->n, end, "endstream");
	if (e->is_seen || f->is_encrypted || kz_pdf_is_name(&type, "XRef") ||
	    kz_pdf_is_name(&type, "ObjStm"))
		return KZ_OK;
	rc = kz_pdf_expand(f, dict, KZ_PDF_LIGHT, NULL, &known, err);
	return rc == KZ_OK ? rc : kz_err_wrap(err, "object %lld", (long long)number);
}

/* An object in use is where the table says, whole, and so is its stream. */
static enum kz_rc judge_plain(struct kz_pdf *f, int64_t number, struct kz_err *err)
{
	struct kz_pdf_entry *e = &f->entries[number];
	struct kz_pdf_value v = { 0 };
	const unsigned char *p = f->doc->p;
	int64_t num, gen;
	size_t at;

	if (e->at >= f->doc->n || !kz_pdf_object(f, f->base + e->at, &num, &gen, &v) ||
	    num != number || gen != e->gen)
		return KZ_INVALID(err, "object %lld is not where the cross-references say",
				  (long long)number);
	at = v.end;
	if (v.kind == KZ_PDF_DICT && kz_pdf_word(f, p, f->doc->n, &at, "stream")) {
		enum kz_rc rc = judge_stream(f, &v, e, number, &at, err);
		if (rc != KZ_OK)
			return rc;
	}
	if (!kz_pdf_word(f, p, f->doc->n, &at, "endobj"))
		return KZ_INVALID(err, "object %lld is damaged or does not end", (long long)number);
	return KZ_OK;
}

static enum kz_rc judge_packed(struct kz_pdf *f, int64_t number, struct kz_err *err)
{
	struct kz_pdf_entry *e = &f->entries[number];
	const struct kz_pdf_pack *pack;
	enum kz_rc rc;

	if (f->is_encrypted)
		return KZ_OK;
	rc = kz_pdf_pack(f, (int64_t)e->at, &pack, err);
	if (rc == KZ_OK && kz_pdf_unpack(f, number, e).kind == KZ_PDF_NONE)
		return KZ_INVALID(err, "object %lld is not in its stream", (long long)number);
	return rc;
}

static enum kz_rc judge_objects(struct kz_pdf *f, enum kz_pdf_state state, struct kz_err *err)
{
	enum kz_rc rc = KZ_OK;

	for (int64_t i = 1; rc == KZ_OK && i < f->count; i++) {
		if (f->entries[i].state != state)
			continue;
		rc = state == KZ_PDF_PLAIN ? judge_plain(f, i, err) : judge_packed(f, i, err);
		if (f->work > KZ_PDF_WORK_MAX)
			rc = KZ_BOMB(err, "the document takes too long to read");
	}
	return rc;
}

/* "startxref N" right before the last mark. out: false when that is not there */
static bool find_start(const struct kz_native_doc *d, size_t mark, size_t *start)
{
	const unsigned char *p = d->p;
	size_t at = mark, digits = 0;
	uint64_t unit = 1, value = 0;

	while (at > 0 && (p[at - 1] == '\n' || p[at - 1] == '\r' || p[at - 1] == ' '))
		at--;
	for (; at > 0 && p[at - 1] >= '0' && p[at - 1] <= '9' && digits < 12; digits++) {
		value += (uint64_t)(p[--at] - '0') * unit;
		unit *= 10;
	}
	while (at > 0 && (p[at - 1] == '\n' || p[at - 1] == '\r' || p[at - 1] == ' '))
		at--;
	if (digits == 0 || value >= d->n || at < 9 || memcmp(p + at - 9, "startxref", 9) != 0)
		return false;
	*start = (size_t)value;
	return true;
}

static bool is_section(struct kz_pdf *f, size_t at)
{
	struct kz_pdf_value v;
	int64_t num, gen;

	return at < f->doc->n && (kz_pdf_word(f, f->doc->p, f->doc->n, &at, "xref") ||
				  kz_pdf_object(f, at, &num, &gen, &v));
}

static enum kz_rc level_2(struct kz_pdf *f, size_t head, size_t mark, struct kz_err *err)
{
	struct kz_native_doc *d = f->doc;
	struct kz_pdf_value encrypt;
	size_t start;
	enum kz_rc rc;

	if (!find_start(d, mark, &start))
		return KZ_INVALID(err, "no startxref before the last %%%%EOF");
	if (!is_section(f, start) && is_section(f, head + start))
		f->base = head;
	rc = kz_pdf_xref(f, start, err);
	if (rc != KZ_OK)
		return rc;
	encrypt = kz_pdf_get(f, &f->trailer, "Encrypt");
	f->is_encrypted = encrypt.kind != KZ_PDF_NONE && encrypt.kind != KZ_PDF_NULL;
	d->found->is_encrypted = f->is_encrypted;
	rc = judge_objects(f, KZ_PDF_PACKED, err);
	if (rc == KZ_OK)
		rc = kz_pdf_pages(f, err);
	if (rc == KZ_OK)
		rc = judge_objects(f, KZ_PDF_PLAIN, err);
	if (rc == KZ_OK && f->skipped > 0)
		kz_native_warn(d, "%lld streams expand to so much that they were not looked at",
			       (long long)f->skipped);
	if (rc == KZ_OK && f->is_encrypted)
		kz_native_warn(d, "the document is encrypted: what needs a password was not read");
	return rc;
}

static void release(struct kz_pdf *f)
{
	for (size_t i = 0; i < f->pack_count; i++) {
		kz_buf_release(&f->packs[i].bytes);
		free(f->packs[i].heads);
	}
	free(f->packs);
	free(f->entries);
}

enum kz_rc kz_native_pdf(struct kz_native_doc *d, int level, struct kz_err *err)
{
	struct kz_pdf f = { .doc = d };
	size_t region = d->n < REGION ? d->n : REGION;
	size_t head = kz_native_find(d->p, region, 0, "%PDF-");
	size_t mark = kz_native_find_last(d->p, d->n, d->n - region, "%%EOF");
	enum kz_rc rc;

	if (head == region)
		return KZ_INVALID(err, "no PDF: it has no header");
	if (mark == d->n)
		return KZ_INVALID(err, "the PDF has no end mark, or more than %u bytes after it",
				  REGION);
	if (level < 2)
		return KZ_OK;
	if (d->n - head < 8 || (d->p[head + 5] != '1' && d->p[head + 5] != '2') ||
	    d->p[head + 6] != '.' || d->p[head + 7] < '0' || d->p[head + 7] > '9')
		return KZ_INVALID(err, "the PDF's header names no version");
	rc = level_2(&f, head, mark, err);
	/* Past the bound nothing is read any more, which looks like damage. */
	if (rc == KZ_E_DATA && f.work > KZ_PDF_WORK_MAX)
		rc = KZ_BOMB(err, "the document takes too long to read");
	release(&f);
	return rc;
}
