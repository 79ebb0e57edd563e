/*
 * The object store: immutable objects by name, in a directory or in S3, chosen by
 * KZ_OBJECTS_URL.
 *
 *   dir:PATH                        below the state directory unless PATH begins with /
 *   s3+http://HOST[:PORT]/BUCKET[/PREFIX][?region=REGION]      and s3+https://
 *
 * Names are "a/b/c": each part of [a-z0-9._-], beginning with a letter, a digit or _,
 * at most KZ_OBJECT_NAME_MAX bytes together; any other is a bug of the caller
 * (internal_error).  An object is there whole or not at all, also after a crash or a
 * full disk.  A put that fails with a fault may have taken place; one that returned
 * KZ_OK has, on the disk.  No error text holds an object's name or a credential
 * [AUD-3].  Nothing here is safe for use by two threads at once.  Layer 3.
 * src: WS-8, design section 9
 */
#ifndef KZ_CORE_FILES_OBJECTS_H
#define KZ_CORE_FILES_OBJECTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/auto.h"
#include "base/err.h"
#include "base/time.h"
#include "core/conf/conf.h"

#define KZ_OBJECT_NAME_MAX 200

struct kz_objects;

/*
 * Open the store of the settings.  Asks nobody yet.
 * own: kz_objects_close. err: setting_invalid, url_unsupported; a directory: store_unavailable (not
 *   there), store_refused; S3: key_missing, key_invalid, no_permission (the credentials)
 */
enum kz_rc kz_objects_open(const struct kz_conf *c, struct kz_objects **out, struct kz_err *err);
void kz_objects_close(struct kz_objects *o);
KZ_AUTO(kz_auto_objects_, struct kz_objects *, kz_objects_close)
#define kz_auto_objects kz_auto(kz_auto_objects_)

/*
 * What the store can do, tried with an object of its own that is removed again.
 * out: conditional: a put that must not replace (If-None-Match) is really refused.
 * err: store_unavailable, store_refused. wait: until the deadline
 */
enum kz_rc kz_objects_probe(struct kz_objects *o, bool *conditional, struct kz_deadline until,
			    struct kz_err *err);
/*
 * Store what fd holds from its start, size bytes.
 * in: fresh: fail with object_exists when there is one of that name (where the store
 *   can; a directory always can).
 * err: object_exists, store_unavailable, store_refused, store_full. wait: until the deadline
 */
enum kz_rc kz_objects_put(struct kz_objects *o, const char *name, int fd, int64_t size, bool fresh,
			  struct kz_deadline until, struct kz_err *err);
/*
 * Fetch one into fd (regular, empty), which is rewound.
 * in: max: refused with object_too_large past it. out: size, and sha256 of the bytes that came.
 * err: object_missing, object_too_large, object_damaged (cut), store_unavailable, store_refused, io_failed
 */
enum kz_rc kz_objects_get(struct kz_objects *o, const char *name, int fd, int64_t max,
			  int64_t *size, char sha256[65], struct kz_deadline until,
			  struct kz_err *err);
/* One name of a listing, in order of bytes; below the prefix at any depth. */
struct kz_object {
	const char *name; /* whole, borrowed for the call */
	int64_t size;
	int64_t mtime_s; /* when it was stored, by the store's clock */
};
/* in: prefix ends with "/" or is "". each returns non-KZ_OK to stop, which is returned. err: store_unavailable, store_refused */
enum kz_rc kz_objects_list(struct kz_objects *o, const char *prefix,
			   enum kz_rc (*each)(void *arg, const struct kz_object *x,
					      struct kz_err *err),
			   void *arg, struct kz_deadline until, struct kz_err *err);
/*
 * Make the directory of the store, mode 2770 with this group ((gid_t)-1: leave it), with
 * what is missing above it below the state directory; for kz up.  One with an absolute path that
 * is there already stays as it is.  S3: nothing.
 * err: setting_invalid, store_refused, store_unavailable, store_full
 */
enum kz_rc kz_objects_make(const struct kz_conf *c, gid_t gid, struct kz_err *err);
/*
 * Remove what writers that were killed left half written, where it is older than a day (a live
 * writer's is younger).  Nobody ever sees such files; they take room.  S3 has none.
 * out: count of them. err: store_unavailable, store_refused. wait: until the deadline
 */
enum kz_rc kz_objects_sweep(struct kz_objects *o, int64_t *count, struct kz_deadline until,
			    struct kz_err *err);
/* Remove one; absent is fine. err: store_unavailable, store_refused */
enum kz_rc kz_objects_remove(struct kz_objects *o, const char *name, struct kz_deadline until,
			     struct kz_err *err);

#endif
