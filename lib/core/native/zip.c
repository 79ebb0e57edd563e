/* ZIP archives: the list of entries. */
#include "core/native/zip.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "port/deflate.h"

#define END_SIZE 22U
#define LOCATOR_SIZE 20U
#define END64_SIZE 56U
#define CENTRAL_SIZE 46U
#define COMMENT_MAX 65535U
#define SHORT_MARK 0xffffffffU

/* What the end record says. */
struct ends {
	uint64_t count, size, at; /* of the list */
	uint64_t list_end;        /* where the records after the list begin */
};

void kz_zip_release(struct kz_zip *z)
{
	free(z->entries);
	z->entries = NULL;
	z->count = 0;
}

bool kz_zip_extra(const unsigned char *p, size_t n, uint64_t *size, uint64_t *packed, uint64_t *at)
{
	uint64_t *slots[3] = { size, packed, at };
	size_t from = 0, have = 0, used = 0;

	for (size_t i = 0, len; i + 4 <= n; i += 4 + len) {
		len = kz_zip_u16(p + i + 2);
		if (len > n - i - 4)
			return false;
		if (kz_zip_u16(p + i) == 1) {
			from = i + 4;
			have = len;
		}
	}
	for (size_t i = 0; i < 3; i++) {
		if (!slots[i] || *slots[i] != SHORT_MARK)
			continue;
		if (have - used < 8)
			return false;
		*slots[i] = kz_zip_u64(p + from + used);
		used += 8;
	}
	return true;
}

/* The long end record, when a locator stands before the short one. */
static enum kz_rc read_end64(const struct kz_native_doc *d, size_t end, struct ends *e,
			     struct kz_err *err)
{
	const unsigned char *p = d->p;
	uint64_t at;

	e->list_end = end;
	if (end < LOCATOR_SIZE || memcmp(p + end - LOCATOR_SIZE, "PK\6\7", 4) != 0) {
		if (e->count == 0xffff || e->size == SHORT_MARK || e->at == SHORT_MARK)
			return KZ_INVALID(err, "the archive's long end record is missing");
		return KZ_OK;
	}
	at = kz_zip_u64(p + end - LOCATOR_SIZE + 8);
	if (end < LOCATOR_SIZE + END64_SIZE || at > end - LOCATOR_SIZE - END64_SIZE ||
	    memcmp(p + at, "PK\6\6", 4) != 0 ||
	    kz_zip_u64(p + at + 4) != end - LOCATOR_SIZE - at - 12)
		return KZ_INVALID(err, "the archive's long end record is damaged");
	p += at;
	if ((e->count != 0xffff && e->count != kz_zip_u64(p + 32)) ||
	    (e->size != SHORT_MARK && e->size != kz_zip_u64(p + 40)) ||
	    (e->at != SHORT_MARK && e->at != kz_zip_u64(p + 48)) ||
	    kz_zip_u64(p + 24) != kz_zip_u64(p + 32))
		return KZ_INVALID(err, "the archive's two end records differ");
	*e = (struct ends){ kz_zip_u64(p + 32), kz_zip_u64(p + 40), kz_zip_u64(p + 48), at };
	return KZ_OK;
}

static enum kz_rc read_ends(const struct kz_native_doc *d, bool strict, struct ends *e,
			    struct kz_err *err)
{
	size_t from = d->n > END_SIZE + COMMENT_MAX ? d->n - END_SIZE - COMMENT_MAX : 0;
	size_t end = kz_native_find_last(d->p, d->n, from, "PK\5\6");
	const unsigned char *p = d->p + end;

	if (end == d->n || d->n - end < END_SIZE)
		return KZ_INVALID(err, "no ZIP archive, or cut: it has no end record");
	if (end + END_SIZE + kz_zip_u16(p + 20) != d->n && strict)
		return KZ_INVALID(err, "the archive does not end with its end record");
	if (kz_zip_u16(p + 4) != 0 || kz_zip_u16(p + 6) != 0 ||
	    kz_zip_u16(p + 8) != kz_zip_u16(p + 10))
		return KZ_INVALID(err, "the archive is a part of several");
	*e = (struct ends){ kz_zip_u16(p + 10), kz_zip_u32(p + 12), kz_zip_u32(p + 16), 0 };
	enum kz_rc rc = read_end64(d, end, e, err);
	if (rc != KZ_OK)
		return rc;
	if (e->count > KZ_NATIVE_ENTRIES_MAX)
		return KZ_BOMB(err, "the archive has more than %d entries", KZ_NATIVE_ENTRIES_MAX);
	if (e->at > e->list_end || e->size > e->list_end - e->at ||
	    (e->at + e->size != e->list_end && strict))
		return KZ_INVALID(err, "the archive's list is not where its end record says");
	return KZ_OK;
}

/* One entry of the list. out: its length there, 0 when it does not hold */
static size_t read_entry(const unsigned char *p, size_t n, struct kz_zip_entry *e)
{
	size_t extra, comment;

	if (n < CENTRAL_SIZE || memcmp(p, "PK\1\2", 4) != 0)
		return 0;
	*e = (struct kz_zip_entry){
		.name = (const char *)p + CENTRAL_SIZE,
		.name_size = kz_zip_u16(p + 28),
		.flags = kz_zip_u16(p + 8),
		.method = kz_zip_u16(p + 10),
		.crc = kz_zip_u32(p + 16),
		.packed = kz_zip_u32(p + 20),
		.size = kz_zip_u32(p + 24),
		.at = kz_zip_u32(p + 42),
	};
	extra = kz_zip_u16(p + 30);
	comment = kz_zip_u16(p + 32);
	if (n - CENTRAL_SIZE < e->name_size + extra + comment || kz_zip_u16(p + 34) != 0)
		return 0;
	if (!kz_zip_extra(p + CENTRAL_SIZE + e->name_size, extra, &e->size, &e->packed, &e->at))
		return 0;
	return CENTRAL_SIZE + e->name_size + extra + comment;
}

static int by_name(const void *a, const void *b)
{
	const struct kz_zip_entry *x = a, *y = b;
	size_t n = x->name_size < y->name_size ? x->name_size : y->name_size;
	int order = strncasecmp(x->name, y->name, n);

	return order ? order : (x->name_size > y->name_size) - (x->name_size < y->name_size);
}

enum kz_rc kz_zip_open(struct kz_native_doc *d, bool strict, struct kz_zip *out, struct kz_err *err)
{
	struct ends e = { 0 };
	enum kz_rc rc;
	uint64_t at;

	*out = (struct kz_zip){ .doc = d };
	rc = read_ends(d, strict, &e, err);
	if (rc != KZ_OK)
		return rc;
	out->entries = calloc(e.count + 1, sizeof *out->entries);
	if (!out->entries)
		return kz_err_set(err, KZ_E_OS, "no memory for the archive's list");
	at = out->list_at = e.at;
	for (; out->count < e.count; out->count++) {
		struct kz_zip_entry *x = &out->entries[out->count];
		size_t used = read_entry(d->p + at, e.at + e.size - at, x);
		if (used == 0)
			return KZ_INVALID(err, "entry %zu of the archive's list is damaged",
					  out->count + 1);
		if (x->name_size == 0 || x->name_size > KZ_ZIP_NAME_MAX ||
		    memchr(x->name, '\0', x->name_size))
			return KZ_INVALID(err, "entry %zu of the archive has no proper name",
					  out->count + 1);
		at += used;
	}
	if (at != e.at + e.size)
		return KZ_INVALID(err, "the archive's list is longer than its entries");
	d->found->parts = (int64_t)out->count;
	qsort(out->entries, out->count, sizeof *out->entries, by_name);
	return KZ_OK;
}

const struct kz_zip_entry *kz_zip_find(const struct kz_zip *z, const char *name, size_t n)
{
	struct kz_zip_entry key = { .name = name, .name_size = n };

	return z->count ? bsearch(&key, z->entries, z->count, sizeof key, by_name) : NULL;
}

/* What a read hands on, and its checksum. */
struct reading {
	enum kz_rc (*piece)(void *arg, const void *p, size_t n, struct kz_err *err);
	void *arg;
	uint32_t crc;
	bool is_other; /* the piece refused, not the archive */
};

static enum kz_rc pass_on(void *arg, const void *p, size_t n, struct kz_err *err)
{
	struct reading *r = arg;
	enum kz_rc rc;

	r->crc = kz_crc32(r->crc, p, n);
	rc = r->piece ? r->piece(r->arg, p, n, err) : KZ_OK;
	r->is_other = rc != KZ_OK;
	return rc;
}

enum kz_rc kz_zip_read(const struct kz_zip *z, const struct kz_zip_entry *e,
		       enum kz_rc (*piece)(void *arg, const void *p, size_t n, struct kz_err *err),
		       void *arg, struct kz_err *err)
{
	struct reading r = { piece, arg, 0, false };
	const struct kz_inflate how = { KZ_INFLATE_RAW, (int64_t)e->size, pass_on, &r };
	struct kz_inflated told = { (int64_t)e->packed, (int64_t)e->size, false };
	const unsigned char *p = z->doc->p + e->data;
	struct kz_err why = KZ_ERR_INIT;
	enum kz_rc rc = e->method == 0 ? pass_on(&r, p, e->packed, &why) :
					 kz_inflate(&how, p, e->packed, &told, &why);

	if (rc != KZ_OK && (r.is_other || rc == KZ_E_OS)) {
		if (err)
			*err = why;
		return rc;
	}
	if (rc != KZ_OK)
		return KZ_INVALID(err, "%s: %s", KZ_ZIP_SHOWN(e), why.text);
	if (told.made != (int64_t)e->size || told.used != (int64_t)e->packed)
		return KZ_INVALID(err, "%s: not as long as the archive says", KZ_ZIP_SHOWN(e));
	if (r.crc != e->crc)
		return KZ_INVALID(err, "%s: its checksum differs", KZ_ZIP_SHOWN(e));
	return KZ_OK;
}
