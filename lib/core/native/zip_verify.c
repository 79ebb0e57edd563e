/* ZIP archives: names, headers and places. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "core/native/zip.h"

#define LOCAL_SIZE 30U
#define FLAG_ENCRYPTED 0x2041U /* encryption, strong encryption, masked headers */
#define FLAG_DESCRIPTOR 0x0008U
#define FLAG_PATCH 0x0020U

static enum kz_rc judge_name(const struct kz_zip_entry *e, struct kz_err *err)
{
	const char *p = e->name, *end = p + e->name_size;

	if (*p == '/' || memchr(p, '\\', e->name_size) || (e->name_size > 1 && p[1] == ':'))
		return KZ_INVALID(err, "%s: an entry with an absolute name", KZ_ZIP_SHOWN(e));
	while (p < end) {
		const char *slash = memchr(p, '/', (size_t)(end - p));
		size_t n = (size_t)((slash ? slash : end) - p);
		if (n == 0 || (n <= 2 && memcmp(p, "..", n) == 0))
			return KZ_INVALID(err, "%s: an entry with an improper name",
					  KZ_ZIP_SHOWN(e));
		p += n + 1;
	}
	return KZ_OK;
}

static enum kz_rc judge_names(const struct kz_zip *z, struct kz_err *err)
{
	for (size_t i = 0; i < z->count; i++) {
		const struct kz_zip_entry *e = &z->entries[i], *next = e + 1;
		enum kz_rc rc = judge_name(e, err);
		if (rc != KZ_OK)
			return rc;
		if (i + 1 < z->count && e->name_size == next->name_size &&
		    strncasecmp(e->name, next->name, e->name_size) == 0)
			return KZ_INVALID(err, "%s: two entries of one name", KZ_ZIP_SHOWN(e));
	}
	return KZ_OK;
}

/* The record behind data whose header could not say its length. out: where it ends, 0 when it differs */
static uint64_t descriptor_end(const struct kz_zip *z, const struct kz_zip_entry *e)
{
	uint64_t at = e->data + e->packed, n = z->doc->n;
	const unsigned char *p = z->doc->p;

	/* With or without a mark, with short or long lengths. */
	for (unsigned form = 0; form < 4; form++) {
		uint64_t from = at + (form & 1 ? 0 : 4);
		uint64_t size = form & 2 ? 20 : 12;
		if (from > n || size > n - from)
			continue;
		if (!(form & 1) && memcmp(p + at, "PK\7\10", 4) != 0)
			continue;
		if (kz_zip_u32(p + from) == e->crc &&
		    (form & 2 ? kz_zip_u64(p + from + 4) == e->packed &&
					kz_zip_u64(p + from + 12) == e->size :
				kz_zip_u32(p + from + 4) == e->packed &&
					kz_zip_u32(p + from + 8) == e->size))
			return from + size;
	}
	return 0;
}

/* What a header says of the data: the same, or nothing where a record behind the data says it. */
static enum kz_rc judge_lengths(const struct kz_zip *z, const struct kz_zip_entry *e,
				const struct kz_zip_entry *said, uint64_t *end, struct kz_err *err)
{
	bool is_behind = e->flags & FLAG_DESCRIPTOR;

	*end = is_behind ? descriptor_end(z, e) : e->data + e->packed;
	if (*end == 0)
		return KZ_INVALID(err, "%s: the record behind its data differs", KZ_ZIP_SHOWN(e));
	if ((said->crc != e->crc && !(is_behind && said->crc == 0)) ||
	    (said->packed != e->packed && !(is_behind && said->packed == 0)) ||
	    (said->size != e->size && !(is_behind && said->size == 0)))
		return KZ_INVALID(err, "%s: header and list differ", KZ_ZIP_SHOWN(e));
	return KZ_OK;
}

/* The header before the data says what the list says. out: where the entry ends */
static enum kz_rc judge_header(const struct kz_zip *z, struct kz_zip_entry *e, uint64_t *end,
			       struct kz_err *err)
{
	const unsigned char *p = z->doc->p + e->at;
	uint64_t left = e->at < z->doc->n ? z->doc->n - e->at : 0;
	struct kz_zip_entry said = { 0 };
	size_t name, extra;

	if (left < LOCAL_SIZE || memcmp(p, "PK\3\4", 4) != 0)
		return KZ_INVALID(err, "%s: no entry where the list says", KZ_ZIP_SHOWN(e));
	name = kz_zip_u16(p + 26);
	extra = kz_zip_u16(p + 28);
	if (left - LOCAL_SIZE < name + extra || left - LOCAL_SIZE - name - extra < e->packed)
		return KZ_INVALID(err, "%s: the entry is cut", KZ_ZIP_SHOWN(e));
	e->data = e->at + LOCAL_SIZE + name + extra;
	said.crc = kz_zip_u32(p + 14);
	said.packed = kz_zip_u32(p + 18);
	said.size = kz_zip_u32(p + 22);
	if (!kz_zip_extra(p + LOCAL_SIZE + name, extra, &said.size, &said.packed, NULL))
		return KZ_INVALID(err, "%s: a damaged extra field", KZ_ZIP_SHOWN(e));
	if (kz_zip_u16(p + 6) != e->flags || kz_zip_u16(p + 8) != e->method ||
	    name != e->name_size || memcmp(p + LOCAL_SIZE, e->name, name) != 0)
		return KZ_INVALID(err, "%s: header and list differ", KZ_ZIP_SHOWN(e));
	return judge_lengths(z, e, &said, end, err);
}

static enum kz_rc judge_form(const struct kz_zip_entry *e, struct kz_err *err)
{
	if (e->flags & FLAG_ENCRYPTED)
		return kz_refuse(err, KZ_R_NATIVE_ENCRYPTED, "%s: an encrypted entry",
				 KZ_ZIP_SHOWN(e));
	if ((e->method != 0 && e->method != 8) || (e->flags & FLAG_PATCH))
		return KZ_INVALID(err, "%s: packed by method %u", KZ_ZIP_SHOWN(e), e->method);
	if (e->method == 0 && e->packed != e->size)
		return KZ_INVALID(err, "%s: stored, with two lengths", KZ_ZIP_SHOWN(e));
	return KZ_OK;
}

/* Before anything is expanded: what all of it will come to. */
static enum kz_rc judge_size(const struct kz_zip *z, struct kz_err *err)
{
	uint64_t all = 0;

	for (size_t i = 0; i < z->count; i++) {
		if (z->entries[i].size > (uint64_t)KZ_NATIVE_EXPAND_MAX - all)
			return KZ_BOMB(err, "the archive expands to more than %lld bytes",
				       (long long)KZ_NATIVE_EXPAND_MAX);
		all += z->entries[i].size;
	}
	if (all > (uint64_t)KZ_ZIP_RATIO_FREE && all / KZ_ZIP_RATIO_MAX > z->doc->n)
		return KZ_BOMB(err, "the archive expands to more than %d times its length",
			       KZ_ZIP_RATIO_MAX);
	return KZ_OK;
}

static int by_place(const void *a, const void *b)
{
	uint64_t x = ((const uint64_t *)a)[0], y = ((const uint64_t *)b)[0];

	return (x > y) - (x < y);
}

/* Entries follow each other from the first byte on; none reaches into another. */
static enum kz_rc judge_places(const struct kz_zip *z, uint64_t (*places)[2], struct kz_err *err)
{
	uint64_t last = 0, gaps = 0;

	qsort(places, z->count, sizeof *places, by_place);
	for (size_t i = 0; i < z->count; i++) {
		if (places[i][0] < last)
			return KZ_INVALID(err, "the archive's entries overlap");
		gaps += places[i][0] - last;
		last = places[i][1];
	}
	if (last > z->list_at)
		return KZ_INVALID(err, "the archive's last entry reaches into its list");
	gaps += z->list_at - last;
	if (z->count > 0 && places[0][0] != 0)
		return KZ_INVALID(err, "something stands before the archive");
	if (gaps > 0)
		kz_native_warn(z->doc, "%llu bytes between the entries belong to nothing",
			       (unsigned long long)gaps);
	return KZ_OK;
}

enum kz_rc kz_zip_verify(struct kz_zip *z, struct kz_err *err)
{
	uint64_t(*places)[2] = calloc(z->count + 1, sizeof *places);
	enum kz_rc rc = places ? judge_names(z, err) :
				 kz_err_set(err, KZ_E_OS, "no memory for the archive's places");

	for (size_t i = 0; rc == KZ_OK && i < z->count; i++) {
		rc = judge_form(&z->entries[i], err);
		if (rc == KZ_OK)
			rc = judge_header(z, &z->entries[i], &places[i][1], err);
		if (rc == KZ_OK)
			places[i][0] = z->entries[i].at;
	}
	if (rc == KZ_OK)
		rc = judge_places(z, places, err);
	if (rc == KZ_OK)
		rc = judge_size(z, err);
	free(places);
	return rc;
}
