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
static enum kz_rc file_parent(int dir, const char *path, int *parent, const char **base, struct kz_err *err)
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

static enum kz_rc file_fill(int fd, const void *p, size_t n, mode_t mode, gid_t gid, struct kz_err *err)
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

static enum kz_rc file_temporary(int dir, const char *base, char *name, size_t size, int *fd, struct kz_err *err)
{
	uint64_t salt;

	for (int i = 0; i < 16; i++) {
		if (getrandom(&salt, sizeof(salt), 0) != (ssize_t)sizeof(salt))
			return kz_err_sys(err, KZ_E_OS, "no random bytes");
		/* A leading dot: readers of such directories skip it. */
		if (kz_str_format(name, size, err, ".%.200s.%016llx", base, (unsigned long long)salt))
			return KZ_E_CANTCREAT;
		*fd = openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
		if (*fd >= 0)
			return KZ_OK;
		if (errno != EEXIST)
			break;
	}
	return kz_err_sys(err, KZ_E_CANTCREAT, "cannot create a file");
}

static enum kz_rc file_swap(int parent, const char *tmp, const char *base, struct kz_err *err)
{
	if (kz_sys_before(KZ_SYS_FILE_REPLACE)) {
		errno = EIO;
		return kz_err_sys(err, KZ_E_IO, "cannot rename");
	}
	if (renameat(parent, tmp, parent, base) < 0)
		return kz_err_sys(err, KZ_E_CANTCREAT, "cannot rename");
	kz_sys_after(KZ_SYS_FILE_REPLACE);
	return KZ_OK;
}

enum kz_rc kz_file_replace(int dir, const char *path, const void *p, size_t n, mode_t mode, gid_t gid, struct kz_err *err)
{
	kz_auto_close int parent = -1;
	kz_auto_close int fd = -1;
	const char *base;
	char tmp[256];
	enum kz_rc rc = file_parent(dir, path, &parent, &base, err);

	if (rc)
		return rc;
	rc = file_temporary(parent, base, tmp, sizeof(tmp), &fd, err);
	if (rc) {
		kz_err_wrap(err, "%s", path);
		return rc;
	}
	rc = file_fill(fd, p, n, mode, gid, err);
	if (!rc)
		rc = file_swap(parent, tmp, base, err);
	if (rc) {
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
