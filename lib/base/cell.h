/*
 * What a service leaves behind before it takes the first byte of a stranger: the file
 * system but for some folders, root, every right, the way to new ones.  Layer 0.
 * src: PROXY-9, INV-30, BRK-5
 */
#ifndef KZ_BASE_CELL_H
#define KZ_BASE_CELL_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/err.h"

/*
 * A folder that stays, at its own path, with what is mounted in it; read-only unless said.
 * Or a single file: the one that is there now, whatever takes its name later.
 */
struct kz_cell_show {
	const char *path;
	bool is_written, is_code, is_file; /* it may be written; code may be loaded from it */
};

struct kz_cell {
	const char *name; /* of the mount */
	const char *root; /* a folder that the new root is mounted over, absolute */
	const struct kz_cell_show *shown;
	size_t count;
	uid_t uid;
	gid_t gid;
};

/* Descriptors: as many as the hard limit bears, 65536 at most. out: how many */
size_t kz_cell_files(void);
/*
 * As root: a mount namespace with the folders shown, and with /etc and where /etc/resolv.conf
 * leads to; another user id, one group, no capability, no way to a new one.  For another
 * user, whose id stays: no new privileges, and by Landlock the same folders, no signal to other
 * processes and no abstract socket of theirs; on a kernel without Landlock (kz_landlock_version)
 * everything of that user stays in reach, and the log says so.
 * in: one thread. err: KZ_E_OS; then the caller must end
 */
enum kz_rc kz_cell_enter(const struct kz_cell *c, struct kz_err *err);

#endif
