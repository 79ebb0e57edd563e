/*
 * Landlock: a process takes from itself, for good, what it will not need of files, of TCP and
 * of other processes.  A kernel older than Linux 5.13 has none, one up to 6.11 not all of it:
 * what it lacks is left out, and kz_landlock_version tells.  Layer 0.
 * src: PROXY-9, WS-15, CMP-5
 */
#ifndef KZ_BASE_LANDLOCK_H
#define KZ_BASE_LANDLOCK_H

#include <stdbool.h>
#include <stdint.h>

/* Rights to files; of a directory they hold for all that is below it. */
#define KZ_LAND_EXECUTE (UINT64_C(1) << 0)
#define KZ_LAND_READ (UINT64_C(1) << 2)
#define KZ_LAND_LIST (UINT64_C(1) << 3)
/* Bytes of files, and files that are made, renamed and removed; no directory. */
#define KZ_LAND_WRITE (UINT64_C(1) << 1 | UINT64_C(1) << 5 | UINT64_C(1) << 8 | UINT64_C(1) << 14)

/* What goes beside the files. */
#define KZ_LAND_NO_TCP 1U    /* listening on a port and connecting to one (version 4) */
#define KZ_LAND_NO_OTHERS 2U /* abstract sockets and signals of others (version 6) */

struct kz_landlock {
	int fd;         /* of the rules; -1: none */
	uint64_t files; /* the rights that go */
};

/* The version of this kernel's Landlock; 0: it has none, or was started without it. */
int kz_landlock_version(void);
/*
 * Begin: every right to a file goes that no rule gives back.  in: also: KZ_LAND_NO_...
 * own: kz_landlock_enter or kz_landlock_drop. out: false and errno; ENOSYS or EOPNOTSUPP where the version is 0
 */
bool kz_landlock_open(struct kz_landlock *l, unsigned also);
/* Keep these rights to a path, which may be a file; what is not there needs none. out: false and errno */
bool kz_landlock_allow(struct kz_landlock *l, const char *path, uint64_t rights);
/*
 * From now on, for this thread and all that it starts. in: no_new_privs is set, or CAP_SYS_ADMIN is there
 * out: false and errno
 */
bool kz_landlock_enter(struct kz_landlock *l);
/* Forget the rules. */
void kz_landlock_drop(struct kz_landlock *l);

#endif
