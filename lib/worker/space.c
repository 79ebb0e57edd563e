/* The tenant's tmpfs: made whole before anybody can see it. */
#include "worker/space.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/str.h"
#include "rule/projection.h"
#include "rule/tmpfs.h"
#include "worker/guest.h"
#include "worker/mounts.h"

int kz_space_at(int dir, const char *path, int flags, unsigned mode)
{
	/* openat2 refuses what means nothing beside O_PATH */
	struct open_how how = { .flags = (uint64_t)(flags | O_CLOEXEC |
						    (flags & O_PATH ? 0 : O_NOCTTY)),
				.mode = (flags & O_CREAT) ? mode : 0,
				.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS |
					   RESOLVE_NO_MAGICLINKS | RESOLVE_NO_XDEV };

	int fd = (int)syscall(SYS_openat2, dir, path, &how, sizeof how);

	return fd < 0 && errno == ENOSYS ? kz_guest_open(dir, path, flags, mode) : fd;
}

static int make_dir(int root, const char *path, mode_t mode, uid_t uid, gid_t gid)
{
	/* umask of process 1 is 0 */
	if (mkdirat(root, path, mode) < 0)
		return -1;
	return uid ? fchownat(root, path, uid, gid, AT_SYMLINK_NOFOLLOW) : 0;
}

static int fill(int root, const struct kz_boot *b)
{
	return make_dir(root, KZ_SPACE_WORK, 0755, 0, 0) < 0 ||
	       make_dir(root, KZ_SPACE_CODE, 0755, 0, 0) < 0 ||
	       make_dir(root, KZ_SPACE_SHARED, 0555, 0, 0) < 0 ||
	       make_dir(root, KZ_SPACE_HOME, 0755, b->tenant_uid, b->tenant_gid) < 0 ||
	       make_dir(root, KZ_SPACE_PACKAGES, 0755, b->tenant_uid, b->tenant_gid) < 0 ||
	       symlinkat("packages/node_modules", root, KZ_SPACE_MODULES) < 0 ||
	       make_dir(root, KZ_SPACE_TMP, 01777, 0, 0) < 0 ||
	       make_dir(root, KZ_SPACE_SHM, 01777, 0, 0) < 0 ||
	       make_dir(root, KZ_SPACE_VTMP, 01777, 0, 0) < 0;
}

static enum kz_rc mount_whole(const char *at, const struct kz_boot *b, const char *const *options,
			      struct kz_err *err)
{
	kz_auto_close int mfd =
		kz_mount_make("tmpfs", options, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV);

	if (mfd < 0)
		return kz_err_sys(err, KZ_E_OS, "cannot make the tenant's file system");
	if (fill(mfd, b))
		return kz_err_sys(err, KZ_E_OS, "cannot fill the tenant's file system");
	if (kz_mount_move(mfd, AT_FDCWD, at) < 0)
		return kz_err_sys(err, KZ_E_OS, "cannot mount the tenant's file system");
	return KZ_OK;
}

/* For a kernel without the new mount calls.  gVisor bounds bytes but counts no inodes. */
static enum kz_rc mount_classic(const struct kz_boot *b, const char *size, struct kz_err *err)
{
	kz_auto_close int root = -1;
	char options[64];

	if (kz_str_format(options, sizeof options, err, "size=%s,mode=0755", size) != KZ_OK)
		return KZ_E_DATA;
	if (mount("tmpfs", KZ_SPACE_AT, "tmpfs", MS_NOSUID | MS_NODEV, options) < 0)
		return kz_err_sys(err, KZ_E_OS, "cannot make the tenant's file system");
	root = open(KZ_SPACE_AT, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (root < 0 || fill(root, b))
		return kz_err_sys(err, KZ_E_OS, "cannot fill the tenant's file system");
	return KZ_OK;
}

/* Another file system inside the tenant's. */
struct part {
	const char *place, *mode;
	int64_t bytes, inodes;
	unsigned long flags; /* MS_* */
	uint64_t attr;       /* the same as MOUNT_ATTR_* */
};

static enum kz_rc mount_part(const struct kz_space *s, bool is_classic, const struct part *p,
			     int *root, struct kz_err *err)
{
	char size[32], inodes[32], all[96], at[64];
	const char *const options[] = { "size", size, "nr_inodes", inodes, "mode", p->mode, NULL };
	kz_auto_close int mfd = -1;

	if (kz_str_format(size, sizeof size, err, "%lld", (long long)p->bytes) ||
	    kz_str_format(inodes, sizeof inodes, err, "%lld", (long long)p->inodes) ||
	    kz_str_format(all, sizeof all, err, "size=%s,mode=%s", size, p->mode) ||
	    kz_str_format(at, sizeof at, err, KZ_SPACE_AT "/%s", p->place))
		return KZ_E_DATA;
	if (!is_classic)
		mfd = kz_mount_make("tmpfs", options, p->attr);
	if (is_classic ? mount("tmpfs", at, "tmpfs", p->flags, all) < 0 :
			 mfd < 0 || kz_mount_move(mfd, s->dir, p->place) < 0)
		return kz_err_sys(err, KZ_E_OS, "cannot make /%s", p->place);
	*root = openat(s->dir, p->place, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return *root < 0 ? kz_err_sys(err, KZ_E_OS, "cannot open /%s", p->place) : KZ_OK;
}

/* Each of the read-only files may begin a page of its own, so that the bound of bytes is what the rules say, to the byte; its root is an inode. */
static enum kz_rc mount_parts(struct kz_space *s, const struct kz_boot *b, struct kz_err *err)
{
	const struct part shared = {
		.place = KZ_SPACE_SHARED,
		.mode = "0555",
		.bytes = kz_tmpfs_bytes(KZ_PRJ_BYTES, KZ_PRJ_FILES, sysconf(_SC_PAGESIZE)),
		.inodes = KZ_PRJ_FILES + 1,
		.flags = MS_NOSUID | MS_NODEV | MS_NOEXEC,
		.attr = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC,
	};
	const struct part packages = {
		.place = KZ_SPACE_PACKAGES,
		.mode = "0755",
		.bytes = b->packages_bytes,
		.inodes = b->packages_inodes + 1,
		.flags = MS_NOSUID | MS_NODEV,
		.attr = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV,
	};

	if (mount_part(s, b->single_use, &shared, &s->shared, err) ||
	    mount_part(s, b->single_use, &packages, &s->packages, err))
		return KZ_E_OS;
	if (fchown(s->packages, b->tenant_uid, b->tenant_gid) < 0)
		return kz_err_sys(err, KZ_E_OS, "cannot hand /%s over", packages.place);
	return KZ_OK;
}

enum kz_rc kz_space_open(struct kz_space *s, const char *at, const struct kz_boot *b,
			 struct kz_err *err)
{
	char size[32], inodes[32];
	const char *const options[] = { "size", size, "nr_inodes", inodes, "mode", "0755", NULL };
	long page = sysconf(_SC_PAGESIZE);
	int64_t bytes = (b->disk_bytes + page - 1) / page * page;

	if (kz_str_format(size, sizeof size, err, "%lld", (long long)bytes) != KZ_OK ||
	    kz_str_format(inodes, sizeof inodes, err, "%lld",
			  (long long)(b->inodes + KZ_SPACE_OWN_INODES)) != KZ_OK)
		return KZ_E_DATA;
	if (b->single_use ? mount_classic(b, size, err) : mount_whole(at, b, options, err))
		return err ? err->rc : KZ_E_OS;
	*s = (struct kz_space)KZ_SPACE_NONE;
	s->at = at;
	s->dir = open(at, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (s->dir < 0) {
		kz_err_sys(err, KZ_E_OS, "cannot open the tenant's file system");
		umount2(at, MNT_DETACH);
		return KZ_E_OS;
	}
	if (mount_parts(s, b, err) != KZ_OK) {
		kz_space_close(s);
		return KZ_E_OS;
	}
	return KZ_OK;
}

enum kz_rc kz_space_settle(struct kz_space *s, struct kz_err *err)
{
	if (syscall(SYS_move_mount, AT_FDCWD, s->at, AT_FDCWD, KZ_SPACE_AT, 0) < 0)
		return kz_err_sys(err, KZ_E_OS, "cannot move the tenant's file system");
	s->at = KZ_SPACE_AT;
	return KZ_OK;
}

void kz_space_close(struct kz_space *s)
{
	const char *at = s->at;
	const int all[] = { s->packages, s->shared, s->dir };

	if (s->dir < 0)
		return;
	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		if (all[i] >= 0)
			close(all[i]);
	*s = (struct kz_space)KZ_SPACE_NONE;
	umount2(at, MNT_DETACH);
}

#define DEPTH_MAX 64

/* depth is bounded: what lies deeper makes its parent count, which is all a verdict needs */
static int64_t count_below(int dir, int64_t most, int depth)
{
	kz_auto_closedir DIR *d = NULL;
	struct dirent *e;
	int64_t n = 0;

	d = fdopendir(dir);
	if (!d) {
		close(dir);
		return -1;
	}
	for (errno = 0; n <= most && (e = readdir(d)); errno = 0) {
		int sub;
		int64_t below;

		if (kz_str_eq(e->d_name, ".") || kz_str_eq(e->d_name, ".."))
			continue;
		n++;
		if (e->d_type != DT_DIR || depth >= DEPTH_MAX)
			continue;
		sub = kz_space_at(dirfd(d), e->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0);
		/* another file system begins there, which is counted by itself */
		if (sub < 0 && errno == EXDEV)
			continue;
		below = sub < 0 ? -1 : count_below(sub, most - n, depth + 1);
		if (below < 0)
			return -1;
		n += below;
	}
	return errno ? -1 : n;
}

int64_t kz_space_entries(const struct kz_space *s, const char *dir, int64_t most)
{
	int fd = kz_space_at(s->dir, dir, O_RDONLY | O_DIRECTORY, 0);

	return fd < 0 ? -1 : count_below(fd, most, 0);
}

enum kz_rc kz_space_use(int root, struct kz_space_use *out, struct kz_err *err)
{
	struct statfs f;

	if (root < 0 || fstatfs(root, &f) < 0)
		return kz_err_sys(err, KZ_E_OS, "cannot measure the tenant's file system");
	*out = (struct kz_space_use){
		.bytes_used = (int64_t)(f.f_blocks - f.f_bfree) * f.f_bsize,
		.bytes_free = (int64_t)f.f_bfree * f.f_bsize,
		.bytes_total = (int64_t)f.f_blocks * f.f_bsize,
		.inodes_used = (int64_t)(f.f_files - f.f_ffree),
		.inodes_free = (int64_t)f.f_ffree,
		.inodes_total = (int64_t)f.f_files,
	};
	return KZ_OK;
}

int64_t kz_space_beyond_root(int root)
{
	struct kz_space_use u = { 0 };

	return kz_space_use(root, &u, NULL) == KZ_OK ? u.bytes_used + u.inodes_used - 1 : -1;
}
