/* The directories of the sockets outside that process 1 of a worker leads programs to. */
#include "core/driver/oci_part.h"

#include <fcntl.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/fd.h"
#include "rule/reason.h"

#define DIR_MODE 0711 /* a worker's root may go in to connect, and list nothing */

static enum kz_rc fail(struct kz_err *err, const char *what, enum kz_way way)
{
	kz_err_sys(err, KZ_E_OS, "cannot %s the directory of the %s", what, kz_way_text(way)->name);
	return kz_err_reason(err, kz_reason_code(KZ_R_DRIVER_FAILED));
}

/*
 * The directory and not the socket in it: a service that is started again makes
 * another socket of the same name, and workers that live find it.
 */
enum kz_rc kz_oci_way_open(const struct kz_oci *o, enum kz_way way, int *dir, struct kz_err *err)
{
	char path[KZ_OCI_PATH];

	if (kz_oci_path(o, path, err, "%s", kz_way_text(way)->dir) ||
	    kz_dir_make(AT_FDCWD, path, DIR_MODE, (gid_t)-1, err))
		return kz_err_reason(err, kz_reason_code(KZ_R_DRIVER_FAILED));
	*dir = open(path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return *dir < 0 ? fail(err, "open", way) : KZ_OK;
}

/*
 * A directory of the host would be a way out by its parent.  A mount that stands
 * nowhere has none, is in no list of mounts, and ends with its last descriptor.
 */
enum kz_rc kz_oci_way_detach(const struct kz_oci *o, enum kz_way way, int dir, struct kz_err *err)
{
	struct mount_attr a = { .attr_set = MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID |
					    MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC };
	kz_auto_close int fd = -1;
	char path[KZ_OCI_PATH];

	/* by its path: what was opened before belongs to another mount namespace */
	if (kz_oci_path(o, path, err, "%s", kz_way_text(way)->dir))
		return KZ_E_DATA;
	fd = (int)syscall(SYS_open_tree, AT_FDCWD, path, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
	if (fd < 0)
		return fail(err, "mount", way);
	if (syscall(SYS_mount_setattr, fd, "", AT_EMPTY_PATH, &a, sizeof a) < 0)
		return fail(err, "protect", way);
	return dup3(fd, dir, O_CLOEXEC) < 0 ? fail(err, "pass", way) : KZ_OK;
}
