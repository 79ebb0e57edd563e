/*
 * The tenant's one file system: a tmpfs bounded in bytes and inodes that carries
 * /work, /tmp, /var/tmp and /dev/shm of one tenant and dies with it.
 *
 * It is mounted on /work of process 1's own mount namespace, which no tenant can
 * see, and process 1 holds its directory: files go in and out without a fork and
 * without following anything the tenant made.
 *
 * Files that the tenant may only read lie on a second tmpfs, bounded by itself, which the
 * tenant's namespace shows read-only on /work/shared [PRJ-5, PRJ-6].  Installed packages lie on
 * a third, with bounds of its own, so that they take nothing from the workspace; the tenant's
 * namespace shows it on /work/packages, read-only but to the step that installs.
 */
#ifndef KZ_WORKER_SPACE_H
#define KZ_WORKER_SPACE_H

#include <stdint.h>

#include "base/err.h"
#include "worker/boot.h"
#include "worker/places.h"

struct kz_space {
	int dir;                  /* its root, or -1 */
	int shared;               /* root of the read-only files, a tmpfs of its own; or -1 */
	int packages;             /* root of the packages, likewise */
	const char *at;           /* where it is mounted */
	int64_t packages_charged; /* how much of the tenant's memory is that of packages it installed */
};
#define KZ_SPACE_NONE                                                                              \
	{                                                                                          \
		.dir = -1, .shared = -1, .packages = -1                                            \
	}

/* Make an empty one on a directory, KZ_SPACE_AT or KZ_SPACE_NEXT. err: KZ_E_OS */
enum kz_rc kz_space_open(struct kz_space *s, const char *at, const struct kz_boot *b,
			 struct kz_err *err);
/* Move one that was made on KZ_SPACE_NEXT to KZ_SPACE_AT, which is free. err: KZ_E_OS */
enum kz_rc kz_space_settle(struct kz_space *s, struct kz_err *err);
/* Unmount and let go of it: with the tenant's namespace gone this frees it. */
void kz_space_close(struct kz_space *s);
/* Entries below a directory of it, at any depth; -1 when it cannot be read, never more than most + 1. */
int64_t kz_space_entries(const struct kz_space *s, const char *dir, int64_t most);
/* What one of its file systems uses and has. */
struct kz_space_use {
	int64_t bytes_used, bytes_free, bytes_total, inodes_used, inodes_free, inodes_total;
};
/* in: root of one: dir, shared or packages. err: KZ_E_OS when it cannot be measured */
enum kz_rc kz_space_use(int root, struct kz_space_use *out, struct kz_err *err);
/* Bytes and inodes together that one uses beyond its root; -1 when it cannot be measured. */
int64_t kz_space_beyond_root(int root);
/* Open a path of it beneath dir without following a link or crossing a mount. out: descriptor or -1 and errno */
int kz_space_at(int dir, const char *path, int flags, unsigned mode);

#endif
