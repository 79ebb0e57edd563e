/* PDF: objects in streams. */
#include <stdlib.h>
#include <string.h>

#include "core/native/pdf_stream.h"

/* Where the pack of that number is, or would be. */
static size_t place(const struct kz_pdf *f, int64_t number)
{
	size_t least = 0, most = f->pack_count;

	while (least < most) {
		size_t middle = least + (most - least) / 2;
		if (f->packs[middle].number < number)
			least = middle + 1;
		else
			most = middle;
	}
	return least;
}

/* Numbers and places of its objects stand at its beginning. */
static enum kz_rc read_heads(struct kz_pdf *f, struct kz_pdf_pack *k, int64_t first,
			     struct kz_err *err)
{
	const unsigned char *p = (const unsigned char *)kz_buf_str(&k->bytes);
	size_t at = 0;

	if (first < 0 || (uint64_t)first > k->bytes.len || k->count < 0 || k->count > first)
		return KZ_INVALID(err, "object stream %lld is damaged", (long long)k->number);
	k->heads = calloc((size_t)k->count + 1, sizeof *k->heads);
	if (!k->heads)
		return kz_err_set(err, KZ_E_OS, "no memory for an object stream");
	for (int64_t i = 0; i < 2 * k->count; i++) {
		struct kz_pdf_value v = kz_pdf_read(f, p, (size_t)first, at);
		if (v.kind != KZ_PDF_INT || v.num < 0)
			return KZ_INVALID(err, "object stream %lld is damaged",
					  (long long)k->number);
		k->heads[i / 2][i % 2] = v.num + (i % 2 ? first : 0);
		at = v.end;
	}
	return KZ_OK;
}

static enum kz_rc read_pack(struct kz_pdf *f, struct kz_pdf_pack *k, struct kz_err *err)
{
	struct kz_pdf_value ref = { .kind = KZ_PDF_REF, .num = k->number };
	struct kz_pdf_value dict, type, count, first;
	bool known = false;
	enum kz_rc rc;

	dict = kz_pdf_follow(f, ref);
	type = kz_pdf_find(f, &dict, "Type");
	count = kz_pdf_find(f, &dict, "N");
	first = kz_pdf_find(f, &dict, "First");
	if (!kz_pdf_is_name(&type, "ObjStm") || count.kind != KZ_PDF_INT ||
	    first.kind != KZ_PDF_INT)
		return KZ_INVALID(err, "object %lld is no object stream", (long long)k->number);
	rc = kz_pdf_expand(f, &dict, KZ_PDF_SURE, &k->bytes, &known, err);
	if (rc != KZ_OK)
		return kz_err_wrap(err, "object stream %lld", (long long)k->number);
	if (!known)
		return KZ_INVALID(err, "object stream %lld is in an unknown form",
				  (long long)k->number);
	k->count = count.num;
	return read_heads(f, k, first.num, err);
}

enum kz_rc kz_pdf_pack(struct kz_pdf *f, int64_t number, const struct kz_pdf_pack **out,
		       struct kz_err *err)
{
	size_t at = place(f, number);
	struct kz_pdf_pack k = { .number = number,
				 .bytes = KZ_BUF_INIT((size_t)KZ_NATIVE_EXPAND_MAX) };
	struct kz_pdf_pack *more;
	enum kz_rc rc;

	if (at < f->pack_count && f->packs[at].number == number) {
		*out = &f->packs[at];
		return KZ_OK;
	}
	if (f->is_unpacking)
		return KZ_INVALID(err, "an object stream needs another one");
	f->is_unpacking = true;
	rc = read_pack(f, &k, err);
	f->is_unpacking = false;
	more = rc == KZ_OK ? realloc(f->packs, (f->pack_count + 1) * sizeof *more) : NULL;
	if (rc == KZ_OK && !more)
		rc = kz_err_set(err, KZ_E_OS, "no memory for an object stream");
	if (rc != KZ_OK) {
		kz_buf_release(&k.bytes);
		free(k.heads);
		return rc;
	}
	memmove(more + at + 1, more + at, (f->pack_count - at) * sizeof *more);
	more[at] = k;
	f->packs = more;
	f->pack_count++;
	*out = &more[at];
	return KZ_OK;
}

struct kz_pdf_value kz_pdf_unpack(struct kz_pdf *f, int64_t number, const struct kz_pdf_entry *e)
{
	const struct kz_pdf_pack *k;
	struct kz_pdf_value none = { 0 };

	if (f->is_encrypted || kz_pdf_pack(f, (int64_t)e->at, &k, NULL) != KZ_OK ||
	    (int64_t)e->index >= k->count || k->heads[e->index][0] != number ||
	    (uint64_t)k->heads[e->index][1] > k->bytes.len)
		return none;
	return kz_pdf_read(f, (const unsigned char *)k->bytes.data, k->bytes.len,
			   (size_t)k->heads[e->index][1]);
}
