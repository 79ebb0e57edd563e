/* What a service leaves behind. */
#include "base/cell.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/landlock.h"
#include "base/log.h"
#include "base/str.h"

/* Where nobody set a limit, this is one for memory too. */
#define MOST 65536

size_t kz_cell_files(void)
{
	struct rlimit r;

	if (getrlimit(RLIMIT_NOFILE, &r) != 0)
		return 256;
	r.rlim_cur = r.rlim_max < MOST ? r.rlim_max : MOST;
	if (setrlimit(RLIMIT_NOFILE, &r) != 0 && getrlimit(RLIMIT_NOFILE, &r) != 0)
		return 256;
	return (size_t)r.rlim_cur;
}

static enum kz_rc make_dirs(const char *root, const char *path, char out[512], struct kz_err *err)
{
	size_t n = strlen(root);
	enum kz_rc rc = kz_str_format(out, 512, err, "%s%s/", root, path);

	if (rc != KZ_OK)
		return rc;
	for (char *p = out + n + 1; (p = strchr(p, '/')); p++) {
		*p = 0;
		if ((mkdir(out, 0755) != 0 || chmod(out, 0755) != 0) && errno != EEXIST)
			return kz_err_sys(err, KZ_E_OS, "cannot make %s", out);
		*p = '/';
	}
	out[strlen(out) - 1] = 0;
	return KZ_OK;
}

/* The last part of the path, so that there is something to mount over. */
static enum kz_rc make_file(const char *root, const char *path, char out[512], struct kz_err *err)
{
	kz_auto_free char *folder = strdup(path);
	enum kz_rc rc;
	int fd;

	if (!folder)
		return kz_err_set(err, KZ_E_OS, "out of memory");
	*strrchr(folder, '/') = 0;
	if ((rc = make_dirs(root, folder, out, err)) ||
	    (rc = kz_str_format(out, 512, err, "%s%s", root, path)))
		return rc;
	fd = open(out, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0)
		return kz_err_sys(err, KZ_E_OS, "cannot make %s", out);
	close(fd);
	return KZ_OK;
}

/*
 * The same folder at the same path below the new root, with what is mounted in it: in a
 * container /etc/resolv.conf is a mount of its own.
 */
static enum kz_rc show(const char *root, const struct kz_cell_show *s, struct kz_err *err)
{
	unsigned long flags = MS_NOSUID | MS_NODEV | (s->is_code ? 0 : MS_NOEXEC) |
			      (s->is_written ? 0 : MS_RDONLY);
	const char *path = s->path;
	char to[512];
	enum kz_rc rc =
		s->is_file ? make_file(root, path, to, err) : make_dirs(root, path, to, err);

	if (rc != KZ_OK)
		return rc;
	if (mount(path, to, NULL, MS_BIND | MS_REC, NULL) != 0 ||
	    mount(NULL, to, NULL, MS_REMOUNT | MS_BIND | flags, NULL) != 0)
		return kz_err_sys(err, KZ_E_OS, "cannot show %s", path);
	return KZ_OK;
}

/* Where /etc/resolv.conf is a link, its target's folder is needed too. */
static enum kz_rc show_resolver(const char *root, struct kz_err *err)
{
	kz_auto_free char *real = realpath("/etc/resolv.conf", NULL);
	struct kz_cell_show etc = { .path = "/etc" };
	enum kz_rc rc = show(root, &etc, err);
	char *slash;

	if (rc != KZ_OK || !real || kz_str_has_prefix(real, "/etc/") ||
	    !(slash = strrchr(real, '/')) || slash == real)
		return rc;
	*slash = 0;
	return show(root, &(struct kz_cell_show){ .path = real }, err);
}

static enum kz_rc new_root(const struct kz_cell *c, struct kz_err *err)
{
	enum kz_rc rc;

	if (unshare(CLONE_NEWNS) != 0 || mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL) != 0 ||
	    mount(c->name, c->root, "tmpfs", MS_NOSUID | MS_NODEV | MS_NOEXEC,
		  "size=64k,mode=755") != 0)
		return kz_err_sys(err, KZ_E_OS, "cannot make a file system of its own");
	for (size_t i = 0; i < c->count; i++)
		if ((rc = show(c->root, &c->shown[i], err)))
			return rc;
	if ((rc = show_resolver(c->root, err)) != KZ_OK)
		return rc;
	/* the old root is stacked on the new one, and goes */
	if (chdir(c->root) != 0 || syscall(SYS_pivot_root, ".", ".") != 0 ||
	    umount2(".", MNT_DETACH) != 0 || chdir("/") != 0 ||
	    mount(NULL, "/", NULL,
		  MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) != 0)
		return kz_err_sys(err, KZ_E_OS, "cannot leave the file system");
	return KZ_OK;
}

static enum kz_rc drop(uid_t uid, gid_t gid, struct kz_err *err)
{
	for (int cap = 0; cap <= CAP_LAST_CAP; cap++)
		if (prctl(PR_CAPBSET_DROP, cap, 0, 0, 0) != 0 && errno != EINVAL)
			return kz_err_sys(err, KZ_E_OS, "cannot drop a capability");
	/* changing from root to another user empties the other sets */
	if (setgroups(0, NULL) != 0 || setresgid(gid, gid, gid) != 0 ||
	    setresuid(uid, uid, uid) != 0)
		return kz_err_sys(err, KZ_E_OS, "cannot become another user");
	if (setuid(0) == 0 || geteuid() != uid)
		return kz_err_set(err, KZ_E_OS, "still root");
	return KZ_OK;
}

/* Who was never root keeps its user id, and with it all that the user may read: the same folders, by Landlock. */
static bool allow_shown(struct kz_landlock *l, const struct kz_cell *c)
{
	kz_auto_free char *resolver = realpath("/etc/resolv.conf", NULL);
	char *slash = resolver ? strrchr(resolver, '/') : NULL;

	for (size_t i = 0; i < c->count; i++)
		if (!kz_landlock_allow(l, c->shown[i].path,
				       KZ_LAND_READ | KZ_LAND_LIST |
					       (c->shown[i].is_written ? KZ_LAND_WRITE : 0) |
					       (c->shown[i].is_code ? KZ_LAND_EXECUTE : 0)))
			return false;
	if (slash && slash != resolver)
		*slash = 0;
	return kz_landlock_allow(l, "/etc", KZ_LAND_READ | KZ_LAND_LIST) &&
	       (!slash || slash == resolver ||
		kz_landlock_allow(l, resolver, KZ_LAND_READ | KZ_LAND_LIST));
}

static enum kz_rc lock_files(const struct kz_cell *c, struct kz_err *err)
{
	struct kz_landlock l = { .fd = -1 };
	bool is_done;

	if (!kz_landlock_version()) {
		kz_log(KZ_LOG_WARNING,
		       "this kernel has no Landlock, so every file of this user stays in reach",
		       "service", c->name, NULL);
		return KZ_OK;
	}
	is_done = kz_landlock_open(&l, KZ_LAND_NO_OTHERS) && allow_shown(&l, c) &&
		  kz_landlock_enter(&l);
	kz_landlock_drop(&l);
	return is_done ? KZ_OK : kz_err_sys(err, KZ_E_OS, "cannot give up the files");
}

enum kz_rc kz_cell_enter(const struct kz_cell *c, struct kz_err *err)
{
	bool was_root = geteuid() == 0;
	enum kz_rc rc;

	if (was_root &&
	    ((rc = new_root(c, err)) != KZ_OK || (rc = drop(c->uid, c->gid, err)) != KZ_OK))
		return rc;
	/* whoever was root is not dumpable any more; another user's stack finds its processes by their environment */
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
		return kz_err_sys(err, KZ_E_OS, "prctl");
	return was_root ? KZ_OK : lock_files(c, err);
}
