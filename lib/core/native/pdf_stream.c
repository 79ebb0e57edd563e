/* PDF: streams. */
#include <string.h>

#include "core/native/pdf_stream.h"
#include "port/deflate.h"

#define FILTERS_MAX 8
#define LIGHT_MAX ((int64_t)64 << 20)

enum kz_rc kz_pdf_extent(struct kz_pdf *f, const struct kz_pdf_value *dict, size_t *from,
			 size_t *size, struct kz_err *err)
{
	const unsigned char *p = f->doc->p;
	size_t n = f->doc->n, at = dict->end, end;
	struct kz_pdf_value length;

	if (dict->kind != KZ_PDF_DICT || dict->p != p || !kz_pdf_word(f, p, n, &at, "stream"))
		return KZ_INVALID(err, "no stream where one is needed");
	while (at < n && (p[at] == ' ' || p[at] == '\t'))
		at++;
	if (at < n && p[at] == '\r')
		at++;
	if (at < n && p[at] == '\n')
		at++;
	*from = at;
	length = kz_pdf_find(f, dict, "Length");
	if (length.kind == KZ_PDF_NONE &&
	    f->is_encrypted) { /* it may be where a password is needed */
		*size = kz_native_find(p, n, at, "endstream") - at;
		f->work += (int64_t)*size;
		return KZ_OK;
	}
	if (length.kind != KZ_PDF_INT || length.num < 0 || (uint64_t)length.num > n - at)
		return KZ_INVALID(err, "a stream without a proper /Length");
	*size = (size_t)length.num;
	end = at + *size;
	if (!kz_pdf_word(f, p, n, &end, "endstream"))
		return KZ_INVALID(err, "a stream's /Length does not reach its end");
	return KZ_OK;
}

/* A stream on its way through its filters. */
struct flow {
	struct kz_pdf *f;
	enum kz_pdf_care care;
	const unsigned char *p;
	size_t n;
	struct kz_buf have, next; /* p is in have, once a filter was passed */
	bool is_skipped;
};

static enum kz_rc keep(void *arg, const void *p, size_t n, struct kz_err *err)
{
	return kz_buf_add(arg, p, n, err);
}

static enum kz_rc inflate_step(struct flow *w, bool is_kept, struct kz_err *err)
{
	struct kz_native_doc *d = w->f->doc;
	int64_t left = KZ_NATIVE_EXPAND_MAX - d->expanded;
	struct kz_inflate how = { KZ_INFLATE_ZLIB, left, is_kept ? keep : NULL, &w->next };
	struct kz_inflated told = { 0 };
	struct kz_err why = KZ_ERR_INIT;
	enum kz_rc rc;

	if (w->care == KZ_PDF_LIGHT && how.max > LIGHT_MAX)
		how.max = LIGHT_MAX;
	rc = kz_inflate(&how, w->p, w->n, &told, &why);
	d->expanded += told.made;
	w->f->work += told.used;
	if (rc == KZ_OK)
		return rc;
	if (told.over) {
		w->is_skipped = w->care == KZ_PDF_LIGHT;
		d->expanded += w->is_skipped ? 0 : told.made;
		return w->is_skipped ? KZ_OK :
				       KZ_BOMB(err, "the document expands to more than %lld bytes",
					       (long long)KZ_NATIVE_EXPAND_MAX);
	}
	return rc == KZ_E_OS ? kz_err_set(err, rc, "%s", why.text) :
			       KZ_INVALID(err, "%s", why.text);
}

/* Undo what Flate streams of tables are prepared with. */
static enum kz_rc unpredict_step(struct flow *w, const struct kz_pdf_value *parms,
				 struct kz_err *err)
{
	struct kz_pdf_value v = kz_pdf_find(w->f, parms, "Predictor");
	int64_t columns, colors, bits;
	size_t n;

	if (v.kind != KZ_PDF_INT || v.num < 2)
		return KZ_OK;
	if (v.num < 10)
		return KZ_INVALID(err, "an unusual predictor");
	v = kz_pdf_find(w->f, parms, "Columns");
	columns = v.kind == KZ_PDF_INT ? v.num : 1;
	v = kz_pdf_find(w->f, parms, "Colors");
	colors = v.kind == KZ_PDF_INT ? v.num : 1;
	v = kz_pdf_find(w->f, parms, "BitsPerComponent");
	bits = v.kind == KZ_PDF_INT ? v.num : 8;
	if (columns < 1 || columns > 1 << 24 || colors < 1 || colors > 32 || bits < 1 || bits > 16)
		return KZ_INVALID(err, "an improper predictor");
	n = kz_pdf_unpredict((unsigned char *)w->next.data, w->next.len,
			     (size_t)(columns * colors * bits + 7) / 8,
			     (size_t)(colors * bits + 7) / 8);
	if (n == SIZE_MAX)
		return KZ_INVALID(err, "a predictor that does not fit");
	w->next.len = n;
	return KZ_OK;
}

/* One filter. out: false: it is not known */
static bool step(struct flow *w, const struct kz_pdf_value *name, const struct kz_pdf_value *parms,
		 bool is_kept, enum kz_rc *rc, struct kz_err *err)
{
	kz_buf_clear(&w->next);
	if (kz_pdf_is_name(name, "FlateDecode")) {
		*rc = inflate_step(w, is_kept, err);
		if (*rc == KZ_OK && is_kept && !w->is_skipped)
			*rc = unpredict_step(w, parms, err);
	} else if (kz_pdf_is_name(name, "ASCII85Decode") ||
		   kz_pdf_is_name(name, "ASCIIHexDecode")) {
		*rc = kz_pdf_ascii(kz_pdf_is_name(name, "ASCIIHexDecode"), w->p, w->n, &w->next,
				   err);
		w->f->work += (int64_t)w->n;
	} else {
		return false;
	}
	if (*rc == KZ_OK && !w->is_skipped) {
		struct kz_buf had = w->have;
		w->have = w->next;
		w->next = had;
		w->p = (const unsigned char *)kz_buf_str(&w->have);
		w->n = w->have.len;
	}
	return true;
}

/* The filters and their parameters, in order. out: how many; -1: malformed or too many */
static int list_filters(struct kz_pdf *f, const struct kz_pdf_value *dict,
			struct kz_pdf_value names[FILTERS_MAX],
			struct kz_pdf_value parms[FILTERS_MAX])
{
	struct kz_pdf_value filter = kz_pdf_find(f, dict, "Filter"), item;
	struct kz_pdf_value all = kz_pdf_find(f, dict, "DecodeParms");
	size_t at = 0, parms_at = 0;
	int count = 0;

	memset(parms, 0, FILTERS_MAX * sizeof *parms);
	if (filter.kind == KZ_PDF_NAME) {
		names[0] = filter;
		parms[0] = all;
		if (all.kind == KZ_PDF_ARRAY && kz_pdf_each(f, &all, &parms_at, &item))
			parms[0] = kz_pdf_follow(f, item);
		return 1;
	}
	while (kz_pdf_each(f, &filter, &at, &item)) {
		if (count == FILTERS_MAX)
			return -1;
		names[count] = kz_pdf_follow(f, item);
		if (kz_pdf_each(f, &all, &parms_at, &item))
			parms[count] = kz_pdf_follow(f, item);
		else if (all.kind == KZ_PDF_DICT)
			parms[count] = all;
		if (names[count++].kind != KZ_PDF_NAME)
			return -1;
	}
	return count;
}

enum kz_rc kz_pdf_expand(struct kz_pdf *f, const struct kz_pdf_value *dict, enum kz_pdf_care care,
			 struct kz_buf *into, bool *known, struct kz_err *err)
{
	struct kz_pdf_value names[FILTERS_MAX], parms[FILTERS_MAX];
	struct flow w = { .f = f, .care = care };
	size_t from;
	int count;
	enum kz_rc rc = kz_pdf_extent(f, dict, &from, &w.n, err);

	*known = false;
	if (rc != KZ_OK)
		return rc;
	if (f->is_encrypted)
		return KZ_OK;
	count = list_filters(f, dict, names, parms);
	if (count < 0)
		return KZ_INVALID(err, "a stream with improper filters");
	w.p = f->doc->p + from;
	kz_buf_init(&w.have, (size_t)KZ_NATIVE_FILE_MAX);
	kz_buf_init(&w.next, (size_t)KZ_NATIVE_FILE_MAX);
	*known = true;
	for (int i = 0; rc == KZ_OK && *known && !w.is_skipped && i < count; i++)
		*known = step(&w, &names[i], &parms[i], into || i + 1 < count, &rc, err);
	if (w.is_skipped)
		f->skipped++;
	if (rc == KZ_OK && into && *known)
		rc = kz_buf_add(into, w.p, w.n, err);
	kz_buf_release(&w.have);
	kz_buf_release(&w.next);
	return rc;
}
