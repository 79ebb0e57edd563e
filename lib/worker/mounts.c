/* The tenant's root: what it holds is listed here, nothing else is in it. */
#include "worker/mounts.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/auto.h"
#include "worker/places.h"

#define NEW_ROOT "/tmp" /* any directory of the image: it is hidden the moment after */

int kz_mount_make(const char *fstype, const char *const *options, uint64_t attr)
{
	kz_auto_close int fs = (int)syscall(SYS_fsopen, fstype, FSOPEN_CLOEXEC);

	if (fs < 0)
		return -1;
	for (size_t i = 0; options && options[i]; i += 2)
		if (syscall(SYS_fsconfig, fs, FSCONFIG_SET_STRING, options[i], options[i + 1], 0) <
		    0)
			return -1;
	if (syscall(SYS_fsconfig, fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0) < 0)
		return -1;
	return (int)syscall(SYS_fsmount, fs, FSMOUNT_CLOEXEC, attr);
}

int kz_mount_copy(int dir, const char *path)
{
	return (int)syscall(SYS_open_tree, dir, path, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
}

int kz_mount_move(int mount_fd, int dir, const char *path)
{
	return (int)syscall(SYS_move_mount, mount_fd, "", dir, path, MOVE_MOUNT_F_EMPTY_PATH);
}

int kz_mount_set(int mount_fd, uint64_t attr)
{
	struct mount_attr a = { .attr_set = attr };

	return (int)syscall(SYS_mount_setattr, mount_fd, "", AT_EMPTY_PATH, &a, sizeof a);
}

/*
 * bind a device (of dir) onto to (of root): its inode is the host's, and read-only
 * means that nobody sets its times; what is written goes to the device all the same
 */
static int bind_device(int dir, const char *path, int root, const char *to)
{
	kz_auto_close int fd = kz_mount_copy(dir, path);

	return fd < 0 || kz_mount_set(fd, MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID |
						  MOUNT_ATTR_NOEXEC) < 0 ?
		       -1 :
		       kz_mount_move(fd, root, to);
}

/* bind path (of dir) onto to (of root) */
static int bind_at(int dir, const char *path, int root, const char *to)
{
	kz_auto_close int fd = kz_mount_copy(dir, path);

	return fd < 0 ? -1 : kz_mount_move(fd, root, to);
}

/* A file system inside the tenant's, shown without a way to write: the mount is read-only, and nothing is mounted below it. */
static int bind_part(int space, int root, const char *place, uint64_t more)
{
	kz_auto_close int fd = kz_mount_copy(space, place);

	return fd < 0 || kz_mount_set(fd, MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV |
						  more) < 0 ?
		       -1 :
		       kz_mount_move(fd, root, place);
}

int kz_mounts_open_packages(void)
{
	struct mount_attr a = { .attr_clr = MOUNT_ATTR_RDONLY };

	return (int)syscall(SYS_mount_setattr, AT_FDCWD, "/" KZ_SPACE_PACKAGES, AT_SYMLINK_NOFOLLOW,
			    &a, sizeof a);
}

static const char *mount_space(int space, int root)
{
	static const char *const places[][2] = {
		{ KZ_SPACE_WORK, "work" },
		{ KZ_SPACE_TMP, "tmp" },
		{ KZ_SPACE_VTMP, "var/tmp" },
	};

	for (size_t i = 0; i < sizeof places / sizeof *places; i++)
		if (bind_at(space, places[i][0], root, places[i][1]) < 0)
			return places[i][1];
	if (bind_part(space, root, KZ_SPACE_SHARED, MOUNT_ATTR_NOEXEC) < 0)
		return KZ_SPACE_SHARED;
	return bind_part(space, root, KZ_SPACE_PACKAGES, 0) < 0 ? KZ_SPACE_PACKAGES : NULL;
}

/*
 * What a container usually hides of /proc, and what shows other tenants all the
 * same: locks that belong to a description have no process to be hidden by.
 */
static const char *const masked[] = {
	"proc/kcore",       "proc/keys",          "proc/key-users",   "proc/timer_list",
	"proc/timer_stats", "proc/latency_stats", "proc/sched_debug", "proc/sysrq-trigger",
	"proc/kmsg",        "proc/kallsyms",      "proc/modules",     "proc/interrupts",
	"proc/locks",       "proc/cmdline",       "proc/softirqs",    "proc/diskstats",
};
static const char *const masked_dirs[] = { "proc/acpi",   "proc/asound",  "proc/scsi",
					   "proc/bus",    "proc/fs",      "proc/irq",
					   "proc/driver", "proc/pressure" };

static const char *mount_proc(int root)
{
	static const char *const options[] = { "hidepid", "invisible", NULL };
	kz_auto_close int proc = kz_mount_make(
		"proc", options, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC);

	if (proc < 0 || kz_mount_move(proc, root, "proc") < 0)
		return "proc";
	return NULL;
}

static const char *mask_proc(int root)
{
	static const char *const options[] = { "size", "4096", "nr_inodes", "1",
					       "mode", "0555", NULL };

	for (size_t i = 0; i < sizeof masked / sizeof *masked; i++)
		if (bind_device(AT_FDCWD, "/dev/null", root, masked[i]) < 0 && errno != ENOENT)
			return masked[i];
	for (size_t i = 0; i < sizeof masked_dirs / sizeof *masked_dirs; i++) {
		kz_auto_close int fd = -1;

		if (faccessat(root, masked_dirs[i], F_OK, 0) < 0)
			continue;
		fd = kz_mount_make("tmpfs", options,
				   MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV |
					   MOUNT_ATTR_NOEXEC);
		if (fd < 0 || kz_mount_move(fd, root, masked_dirs[i]) < 0)
			return masked_dirs[i];
	}
	return NULL;
}

static int fill_dev(int dev, const char *const *nodes, size_t n)
{
	static const char *const links[][2] = { { "/proc/self/fd", "fd" },
						{ "/proc/self/fd/0", "stdin" },
						{ "/proc/self/fd/1", "stdout" },
						{ "/proc/self/fd/2", "stderr" } };

	for (size_t i = 0; i < n; i++)
		if (mknodat(dev, nodes[i], S_IFREG | 0444, 0) < 0)
			return -1;
	for (size_t i = 0; i < sizeof links / sizeof *links; i++)
		if (symlinkat(links[i][0], dev, links[i][1]) < 0)
			return -1;
	return mkdirat(dev, "shm", 0755) < 0 || mkdirat(dev, "mqueue", 0755) < 0 ? -1 : 0;
}

static const char *mount_dev(int space, int root)
{
	static const char *const nodes[] = { "null", "zero", "full", "random", "urandom" };
	static const char *const options[] = { "size", "4096", "nr_inodes", "16",
					       "mode", "0755", NULL };
	kz_auto_close int dev = kz_mount_make(
		"tmpfs", options, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC);
	kz_auto_close int old = open("/dev", O_PATH | O_DIRECTORY | O_CLOEXEC);
	kz_auto_close int at = -1;
	kz_auto_close int mq = kz_mount_make(
		"mqueue", NULL, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC);

	if (dev < 0 || old < 0 || fill_dev(dev, nodes, sizeof nodes / sizeof *nodes) < 0 ||
	    kz_mount_set(dev, MOUNT_ATTR_RDONLY) < 0 || kz_mount_move(dev, root, "dev") < 0)
		return "dev";
	at = openat(root, "dev", O_PATH | O_DIRECTORY | O_CLOEXEC);
	for (size_t i = 0; i < sizeof nodes / sizeof *nodes; i++)
		if (bind_device(old, nodes[i], at, nodes[i]) < 0)
			return "device";
	if (bind_at(space, KZ_SPACE_SHM, at, "shm") < 0)
		return "dev/shm";
	return mq < 0 || kz_mount_move(mq, at, "mqueue") < 0 ? "dev/mqueue" : NULL;
}

/*
 * The image with whatever it is mounted from (an overlay for /usr, say): those
 * mounts are locked to its root, so the whole tree is copied and process 1's own
 * places are taken off the copy.
 */
static const char *copy_image(int *at)
{
	static const char *const own[] = { "proc", "dev", "sys", "work", "tmp", "var/tmp" };
	kz_auto_close int root = (int)syscall(SYS_open_tree, AT_FDCWD, "/",
					      OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE);

	if (root < 0 || kz_mount_move(root, AT_FDCWD, NEW_ROOT) < 0 || chdir(NEW_ROOT) < 0)
		return "root";
	for (size_t i = 0; i < sizeof own / sizeof *own; i++)
		while (umount2(own[i], MNT_DETACH | UMOUNT_NOFOLLOW) == 0)
			;
	*at = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	return *at < 0 ? "root" : NULL;
}

const char *kz_mounts_enter_tenant(const char *from)
{
	kz_auto_close int at = -1, space = -1;
	const char *bad;

	/* held by its descriptor: copying the image hides its path */
	space = open(from, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (space < 0)
		return "space";
	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		return "private";
	if ((bad = copy_image(&at)) || (bad = mount_space(space, at)) || (bad = mount_proc(at)) ||
	    (bad = mount_dev(space, at)) || (bad = mask_proc(at)))
		return bad;
	/* "." onto ".": the old root lies over the new one and is taken off again */
	if (fchdir(at) < 0 || syscall(SYS_pivot_root, ".", ".") < 0 ||
	    umount2(".", MNT_DETACH) < 0 || chdir("/") < 0)
		return "pivot";
	return NULL;
}
