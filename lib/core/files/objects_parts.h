/*
 * What the files of the object store share: one set of functions a backend.  For
 * objects*.c only.  Layer 3.
 */
#ifndef KZ_CORE_FILES_OBJECTS_PARTS_H
#define KZ_CORE_FILES_OBJECTS_PARTS_H

#include "core/conf/objects_url.h"
#include "core/files/objects.h"
#include "port/seal.h"

#define KZ_OBJECT_CHUNK (256 * 1024)

typedef enum kz_rc (*kz_object_each)(void *arg, const struct kz_object *x, struct kz_err *err);

/* A backend; the arguments are those of the functions in objects.h, checked there. */
struct kz_objects_kind {
	enum kz_rc (*put)(struct kz_objects *o, const char *name, int fd, int64_t size, bool fresh,
			  struct kz_deadline until, struct kz_err *err);
	enum kz_rc (*get)(struct kz_objects *o, const char *name, int fd, int64_t max,
			  int64_t *size, char sha256[KZ_SHA256_HEX], struct kz_deadline until,
			  struct kz_err *err);
	enum kz_rc (*list)(struct kz_objects *o, const char *prefix, kz_object_each each, void *arg,
			   struct kz_deadline until, struct kz_err *err);
	enum kz_rc (*remove)(struct kz_objects *o, const char *name, struct kz_deadline until,
			     struct kz_err *err);
	enum kz_rc (*sweep)(struct kz_objects *o, int64_t *count, struct kz_deadline until,
			    struct kz_err *err);
};

struct kz_s3;
struct kz_objects {
	const struct kz_objects_kind *kind;
	int root;         /* directory: its descriptor, else -1 */
	struct kz_s3 *s3; /* S3, else NULL */
};

extern const struct kz_objects_kind kz_objects_dir, kz_objects_s3;

/* -- objects_name.c -- */

/* Is it a name, or with is_prefix "" or a name and "/"? */
bool kz_object_name_ok(const char *name, bool is_prefix);
/* Has the deadline passed? err: store_unavailable */
enum kz_rc kz_objects_in_time(struct kz_deadline until, struct kz_err *err);

/* -- objects_dir.c -- */

/* Open a directory below the root, "" the root itself. out: -1 with errno */
int kz_objects_dir_open(int root, const char *path);
/* Fail with the reason of errno: store_full, store_refused, store_unavailable. in: what was tried */
enum kz_rc kz_objects_dir_fail(struct kz_err *err, const char *what);
/* The directory of the settings. err: as kz_objects_open */
enum kz_rc kz_objects_dir_root(const struct kz_objects_url *url, int *root, struct kz_err *err);

/* -- objects_walk.c: list and sweep -- */

/* kz_objects_list of a directory. in and err: as there */
enum kz_rc kz_objects_walk(struct kz_objects *o, const char *prefix, kz_object_each each, void *arg,
			   struct kz_deadline until, struct kz_err *err);
/* kz_objects_sweep of a directory. out: count of what was removed. err: as there */
enum kz_rc kz_objects_walk_sweep(struct kz_objects *o, int64_t *count, struct kz_deadline until,
				 struct kz_err *err);

/* -- objects_s3.c -- */

/* err: as kz_objects_open */
enum kz_rc kz_s3_open(const struct kz_conf *c, const struct kz_objects_url *url, struct kz_s3 **out,
		      struct kz_err *err);
void kz_s3_close(struct kz_s3 *s);

#endif
