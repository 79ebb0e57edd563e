/*
 * Is a file a sound document of the kind its name says?  Pure readers of bytes in memory,
 * bounded in what they expand, nest, list and look at; they never go outside.
 *
 * Level 1 is what the rows ask: the marks of a PDF; the parts of an Office document.
 * Level 2 follows the structure: every object of a PDF through its cross-references; every
 * entry of an Office archive, its checksums, types and relationships.  A sound document
 * may still hold content that a program does not show.  Layer 3.
 * src: NAT-1 to NAT-4, NAT-8
 */
#ifndef KZ_CORE_NATIVE_H
#define KZ_CORE_NATIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "rule/native.h"

#define KZ_NATIVE_LEVEL_MAX 2
#define KZ_NATIVE_FILE_MAX ((int64_t)256 << 20)   /* a longer one is refused unread */
#define KZ_NATIVE_EXPAND_MAX ((int64_t)256 << 20) /* what compressed parts may come to */
#define KZ_NATIVE_ENTRIES_MAX 10000               /* of an archive */
#define KZ_NATIVE_WARNINGS 8
#define KZ_NATIVE_WARNING 160

/* What was found besides the verdict. */
struct kz_native_report {
	bool is_encrypted; /* a PDF that needs a password: sound as far as it can be read */
	int64_t pages;     /* of a PDF at level 2, else -1 */
	int64_t parts;     /* entries of an archive, else -1 */
	int64_t warnings;  /* all of them; texts of the first ones follow */
	char warning[KZ_NATIVE_WARNINGS][KZ_NATIVE_WARNING]; /* printable ASCII */
};

/*
 * Judge a document.
 * in: p[0..n): the whole file. kind: not KZ_NATIVE_NONE. level: 1 or 2.
 * out: found, also after a refusal.
 * err: native_invalid, native_mismatch, native_encrypted, native_bomb (text is printable
 *   ASCII and bounded); KZ_E_OS when memory is out
 * wait: never; time is bounded by the bounds above
 */
enum kz_rc kz_native_check(enum kz_native_kind kind, int level, const void *p, size_t n,
			   struct kz_native_report *found, struct kz_err *err);

#endif
