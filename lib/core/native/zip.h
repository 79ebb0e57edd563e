/*
 * ZIP archives as Office documents are: one list of entries at the end that says the same
 * as the headers before the data, entries that are stored or deflated, and nothing else.
 * Everything points into the caller's bytes.  Private to core/native.  Layer 3.
 * src: NAT-3, NAT-8; APPNOTE 6.3.10 sections 4.3 to 4.5
 */
#ifndef KZ_CORE_NATIVE_ZIP_H
#define KZ_CORE_NATIVE_ZIP_H

#include "core/native/parts.h"

#define KZ_ZIP_RATIO_MAX 250                  /* of expanded to packed, past the free part */
#define KZ_ZIP_RATIO_FREE ((int64_t)16 << 20) /* expansion that needs no ratio */
#define KZ_ZIP_NAME_MAX 1024

struct kz_zip_entry {
	const char *name; /* not terminated */
	size_t name_size;
	unsigned flags, method;
	uint32_t crc;
	uint64_t packed, size;
	uint64_t at, data; /* of the header; of the data, set by kz_zip_verify */
};

struct kz_zip {
	struct kz_native_doc *doc;
	struct kz_zip_entry *entries; /* in order of their names, case aside */
	size_t count;
	uint64_t list_at; /* where the list begins: entries end before */
};

/*
 * Read the list of entries.
 * in: strict: the end record is the very end; else bytes after it are let pass (level 1).
 * own: kz_zip_release, also after a refusal. err: native_invalid, native_encrypted, native_bomb, KZ_E_OS
 */
enum kz_rc kz_zip_open(struct kz_native_doc *d, bool strict, struct kz_zip *out,
		       struct kz_err *err);
void kz_zip_release(struct kz_zip *z);
#define kz_auto_zip kz_auto(kz_zip_release)
/*
 * Compare names, headers and places of all entries, and bound what they come to.  Needed
 * before kz_zip_read. err: as kz_zip_open
 */
enum kz_rc kz_zip_verify(struct kz_zip *z, struct kz_err *err);
/* By name, case aside, as parts of a package are compared; NULL when there is none. */
const struct kz_zip_entry *kz_zip_find(const struct kz_zip *z, const char *name, size_t n);
/*
 * Expand an entry and compare its checksum and length.
 * in: piece as kz_inflate's, may be NULL. err: native_invalid, KZ_E_OS, what piece returned
 */
enum kz_rc kz_zip_read(const struct kz_zip *z, const struct kz_zip_entry *e,
		       enum kz_rc (*piece)(void *arg, const void *p, size_t n, struct kz_err *err),
		       void *arg, struct kz_err *err);
/* Its name for a text. */
#define KZ_ZIP_SHOWN(e) kz_native_shown((e)->name, (e)->name_size)

/* Numbers of the format, little-endian. */
static inline uint32_t kz_zip_u16(const unsigned char *p)
{
	return (uint32_t)p[0] | (uint32_t)p[1] << 8;
}
static inline uint32_t kz_zip_u32(const unsigned char *p)
{
	return kz_zip_u16(p) | kz_zip_u16(p + 2) << 16;
}
static inline uint64_t kz_zip_u64(const unsigned char *p)
{
	return (uint64_t)kz_zip_u32(p) | (uint64_t)kz_zip_u32(p + 4) << 32;
}
/*
 * The long values of an extra field, in the order size, packed, place: each slot that is
 * not NULL and holds the short form's mark is replaced.
 * out: false: the extra field is malformed, or lacks one
 */
bool kz_zip_extra(const unsigned char *p, size_t n, uint64_t *size, uint64_t *packed, uint64_t *at);

#endif
