/*
 * The new mount calls, and the tenant's root built from them.
 */
#ifndef KZ_WORKER_MOUNTS_H
#define KZ_WORKER_MOUNTS_H

#include <stdint.h>

/* Make a detached mount of a file system. in: options are key, value pairs, NULL-terminated; attr MOUNT_ATTR_*. out: descriptor or -1 and errno */
int kz_mount_make(const char *fstype, const char *const *options, uint64_t attr);
/* A detached copy of one mount's subtree at path (bind). out: descriptor or -1 and errno */
int kz_mount_copy(int dir, const char *path);
/* Attach a detached mount. out: 0, or -1 and errno */
int kz_mount_move(int mount_fd, int dir, const char *path);
/* Add attributes to a mount. out: 0, or -1 and errno */
int kz_mount_set(int mount_fd, uint64_t attr);

/*
 * In a fresh mount and pid namespace with the tenant's file system mounted on space
 * (KZ_SPACE_*): build the tenant's root and pivot into it, so that nothing of process 1's mounts
 * remains.  out: NULL, or the step that failed (static) and errno
 */
const char *kz_mounts_enter_tenant(const char *space);
/* Inside that root: let the packages be written to, which are shown read-only, for as long as these namespaces live. out: 0, or -1 and errno */
int kz_mounts_open_packages(void);

#endif
