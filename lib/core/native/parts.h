/*
 * What the readers of one document share: its bytes, the bounds, and how they say what
 * they found.  Private to core/native.  Layer 3.
 */
#ifndef KZ_CORE_NATIVE_PARTS_H
#define KZ_CORE_NATIVE_PARTS_H

#include "core/native/native.h"
#include "rule/reason.h"

/* One document that is being judged. */
struct kz_native_doc {
	enum kz_native_kind kind;
	const unsigned char *p;
	size_t n;
	struct kz_native_report *found;
	int64_t expanded; /* bytes that came out of compressed parts so far */
};

/* Note something odd that is no fault. */
void kz_native_warn(struct kz_native_doc *d, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* A name from the document, printable and short enough to be told, in a buffer that four names later is used again. */
const char *kz_native_shown(const void *p, size_t n);
/* The first place of a mark within p[from..n), or n. */
size_t kz_native_find(const unsigned char *p, size_t n, size_t from, const char *mark);
/* The last place of a mark within p[from..n), or n. */
size_t kz_native_find_last(const unsigned char *p, size_t n, size_t from, const char *mark);

/* The readers: PDF at level 1 and 2, Office at level 1 and 2. err: as kz_native_check */
enum kz_rc kz_native_pdf(struct kz_native_doc *d, int level, struct kz_err *err);
enum kz_rc kz_native_office(struct kz_native_doc *d, int level, struct kz_err *err);

#define KZ_INVALID(err, ...) kz_refuse(err, KZ_R_NATIVE_INVALID, __VA_ARGS__)
#define KZ_BOMB(err, ...) kz_refuse(err, KZ_R_NATIVE_BOMB, __VA_ARGS__)

#endif
