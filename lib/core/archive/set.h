/*
 * A tree in memory, for core/archive only: entries in the order they came, then sorted
 * and checked.  Layer 3.
 * src: WS-15
 */
#ifndef KZ_CORE_ARCHIVE_SET_H
#define KZ_CORE_ARCHIVE_SET_H

#include "core/archive/archive.h"
#include "rule/reason.h"

struct kz_set_item {
	struct kz_entry e;
	char *name;          /* terminated; own */
	const char *content; /* e.size bytes: a file's, or a link's target */
	char *own;           /* content, when it is this item's own */
	char *hard;          /* own: the name that a hard link stands for; NULL: it is none */
	int64_t at;          /* it was the nth to come */
};

struct kz_set {
	struct kz_set_item **items; /* count of them; sorted by kz_set_check */
	size_t count, room;
	int64_t bytes; /* of all contents */
	const struct kz_archive_bounds *bounds;
};

/* Free what it holds. */
void kz_set_release(struct kz_set *s);
#define kz_auto_set kz_auto(kz_set_release)
/*
 * Add an item with that name (checked), which still lacks its content.
 * in: e->size is counted now. out: *out borrowed, NULL: not wanted.
 * err: KZ_E_NO over a bound, KZ_E_DATA for a name that is not allowed, KZ_E_OS
 */
enum kz_rc kz_set_add(struct kz_set *s, const struct kz_entry *e, const char *name,
		      struct kz_set_item **out, struct kz_err *err);
/* Give an item room for its content, all zero. err: KZ_E_OS */
enum kz_rc kz_set_own(struct kz_set_item *i, struct kz_err *err);
/*
 * Sort, give hard links what they stand for, and check: each name once, each directly
 * below a directory. in: makes_up: directories that are missing are added.
 * err: KZ_E_NO over a bound, KZ_E_DATA, KZ_E_OS
 */
enum kz_rc kz_set_check(struct kz_set *s, bool makes_up, struct kz_err *err);
/* Tell a failure of this module by its reason. in: over: the reason of KZ_E_NO. returns err->rc */
enum kz_rc kz_archive_refuse(const struct kz_err *why, enum kz_reason over, struct kz_err *err);

#endif
