/*
 * Entries: a tree of files on its way between programs of kz, as records that need no
 * parser of a foreign format.  A stream is any number of entries, parents before what
 * is below them, and one KZ_ENTRY_END that tells how many there were: a stream without
 * it is cut and worth nothing.
 *
 *   head (KZ_ENTRY_HEAD bytes, numbers big-endian)
 *     0 kind   1 zero   2 name length (2)   4 mode (4)   8 mtime, s (8, two's complement)
 *     16 mtime, ns (4)   20 zero (4)   24 size (8)
 *   name, not terminated
 *   size bytes: a file's content, a link's target; nothing for a directory
 *
 * Names are bytes, exact: relative, no empty, "." or ".." component, no zero byte, a
 * component at most 255 bytes.  They need not be UTF-8.  Layer 2, pure.
 * src: WS-15, BOUND-10
 */
#ifndef KZ_RULE_ENTRY_H
#define KZ_RULE_ENTRY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define KZ_ENTRY_HEAD 32
#define KZ_ENTRY_NAME_MAX 4095
#define KZ_ENTRY_TARGET_MAX 4095
#define KZ_ENTRY_DEPTH_MAX 128 /* components of a name */

enum kz_entry_kind {
	KZ_ENTRY_FILE = 1,
	KZ_ENTRY_DIR = 2,
	KZ_ENTRY_LINK = 3, /* symbolic; its target is kept as it is and never followed */
	KZ_ENTRY_END = 4,  /* size: how many entries came before; mtime_s: how many were left out */
};

struct kz_entry {
	enum kz_entry_kind kind;
	uint32_t mode; /* permission bits only, 07777 */
	int64_t mtime_s;
	uint32_t mtime_ns;
	int64_t size; /* bytes that follow the name */
	size_t name_len;
};

/* Write the head of an entry. */
void kz_entry_head(const struct kz_entry *e, uint8_t out[KZ_ENTRY_HEAD]);
/* Read one. out: false when it is none, or out of the bounds above */
bool kz_entry_parse(const uint8_t head[KZ_ENTRY_HEAD], struct kz_entry *out);
/* Is name[0..n) a name that an entry may have? */
bool kz_entry_name_ok(const char *name, size_t n);
/*
 * The order of names: bytes, with '/' before all others, so that whatever is below a
 * directory follows it at once.  out: below, 0 or above 0
 */
int kz_entry_name_cmp(const char *a, size_t an, const char *b, size_t bn);

#endif
