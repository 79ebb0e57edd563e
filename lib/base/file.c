/* Files: whole-file read and replace, directories. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/str.h"
#include "base/sys.h"

enum kz_rc kz_file_read(int dir, const char *path, struct kz_buf *b, struct kz_err *err)
{
	kz_auto_close int fd = openat(dir, path, O_RDONLY | O_CLOEXEC);
	enum kz_rc rc;

	if (fd < 0)
		return kz_err_sys(err, errno == ENOENT || errno == ENOTDIR ? KZ_E_NOINPUT : KZ_E_IO,
				  "cannot open %s", path);
	rc = kz_fd_read_all(fd, b, err);
	if (rc)
		kz_err_wrap(err, "%s", path);
	return rc;
}

/* The directory that holds path, and path's last part (borrowed). */
static enum kz_rc file_parent(int dir, const char *path, int *parent, const char **base,
			      struct kz_err *err)
{
	const char *slash = strrchr(path, '/');
	char name[4096];

	*base = slash ? slash + 1 : path;
	if (!**base || strcmp(*base, ".") == 0 || strcmp(*base, "..") == 0)
		return kz_err_set(err, KZ_E_CANTCREAT, "not a file name: %s", path);
	if (!slash)
		name[0] = '.', name[1] = '\0';
	else if (slash == path)
		name[0] = '/', name[1] = '\0';
	else if (kz_str_format(name, sizeof(name), err, "%.*s", (int)(slash - path), path))
		return KZ_E_CANTCREAT;
	*parent = openat(dir, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (*parent < 0)
		return kz_err_sys(err, KZ_E_CANTCREAT, "cannot open directory %s", name);
	return KZ_OK;
}

static enum kz_rc file_fill(int fd, const void *p, size_t n, mode_t mode, gid_t gid,
			    struct kz_err *err)
{
	enum kz_rc rc;

	/* Before the content, so that no moment shows it to the wrong group. */
	if (gid != (gid_t)-1 && fchown(fd, (uid_t)-1, gid) < 0)
		return kz_err_sys(err, KZ_E_CANTCREAT, "cannot set the group");
	if (fchmod(fd, mode) < 0)
		return kz_err_sys(err, KZ_E_CANTCREAT, "cannot set the mode");
	rc = kz_fd_write_all(fd, p, n, err);
	if (rc)
		return rc;
	if (fsync(fd) < 0)
		return kz_err_sys(err, KZ_E_IO, "cannot sync");
	return KZ_OK;
}

/* The name beside base under which the new file waits.  A leading dot: readers of such directories skip it. */
static enum kz_rc temporary_name(const char *base, char *name, size_t size, struct kz_err *err)
{
	uint64_t salt;

	if (getrandom(&salt, sizeof(salt), 0) != (ssize_t)sizeof(salt))
		return kz_err_sys(err, KZ_E_OS, "no random bytes");
	return kz_str_format(name, size, err, ".%.200s.%016llx", base, (unsigned long long)salt);
}

/*
 * A new file in dir: without a name where the file system can, so that a writer
 * that dies leaves nothing behind; else under name.
 */
static enum kz_rc temporary_open(int dir, const char *name, int *fd, bool *named,
				 struct kz_err *err)
{
	*named = false;
	*fd = openat(dir, ".", O_WRONLY | O_TMPFILE | O_CLOEXEC, 0600);
	if (*fd < 0 && (errno == EOPNOTSUPP || errno == EISDIR || errno == ENOENT)) {
		*fd = openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
		*named = *fd >= 0;
	}
	return *fd < 0 ? kz_err_sys(err, KZ_E_CANTCREAT, "cannot create a file") : KZ_OK;
}

static enum kz_rc file_swap(int parent, int fd, const char *name, bool *named, const char *base,
			    struct kz_err *err)
{
	char own[64];

	if (kz_sys_before(KZ_SYS_FILE_REPLACE)) {
		errno = EIO;
		return kz_err_sys(err, KZ_E_IO, "cannot rename");
	}
	snprintf(own, sizeof(own), "/proc/self/fd/%d", fd);
	if (!*named && linkat(AT_FDCWD, own, parent, name, AT_SYMLINK_FOLLOW) < 0)
		return kz_err_sys(err, KZ_E_CANTCREAT, "cannot name a file");
	*named = true;
	if (renameat(parent, name, parent, base) < 0)
		return kz_err_sys(err, KZ_E_CANTCREAT, "cannot rename");
	*named = false;
	kz_sys_after(KZ_SYS_FILE_REPLACE);
	return KZ_OK;
}

enum kz_rc kz_file_replace(int dir, const char *path, const void *p, size_t n, mode_t mode,
			   gid_t gid, struct kz_err *err)
{
	kz_auto_close int parent = -1;
	kz_auto_close int fd = -1;
	const char *base;
	bool named = false;
	char tmp[256];
	enum kz_rc rc = file_parent(dir, path, &parent, &base, err);

	if (rc)
		return rc;
	rc = temporary_name(base, tmp, sizeof(tmp), err);
	if (!rc)
		rc = temporary_open(parent, tmp, &fd, &named, err);
	if (!rc)
		rc = file_fill(fd, p, n, mode, gid, err);
	if (!rc)
		rc = file_swap(parent, fd, tmp, &named, base, err);
	if (rc) {
		if (named)
			unlinkat(parent, tmp, 0);
		kz_err_wrap(err, "%s", path);
		return rc;
	}
	if (fsync(parent) < 0)
		return kz_err_sys(err, KZ_E_IO, "cannot sync the directory of %s", path);
	return KZ_OK;
}

enum kz_rc kz_dir_make(int dir, const char *path, mode_t mode, gid_t gid, struct kz_err *err)
{
	kz_auto_close int fd = -1;

	if (kz_sys_before(KZ_SYS_DIR_MAKE)) {
		errno = EIO;
		return kz_err_sys(err, KZ_E_IO, "cannot make directory %s", path);
	}
	/* Nobody else in until group and mode are right. */
	if (mkdirat(dir, path, 0700) < 0 && errno != EEXIST)
		return kz_err_sys(err, KZ_E_CANTCREAT, "cannot make directory %s", path);
	fd = openat(dir, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return kz_err_sys(err, KZ_E_CANTCREAT, "cannot open directory %s", path);
	if (gid != (gid_t)-1 && fchown(fd, (uid_t)-1, gid) < 0)
		return kz_err_sys(err, KZ_E_CANTCREAT, "cannot set the group of %s", path);
	if (fchmod(fd, mode) < 0)
		return kz_err_sys(err, KZ_E_CANTCREAT, "cannot set the mode of %s", path);
	kz_sys_after(KZ_SYS_DIR_MAKE);
	return KZ_OK;
}
