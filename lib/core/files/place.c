/* One file into the caller's own places. */
#include "core/files/place.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/fd.h"
#include "base/str.h"
#include "base/sys.h"
#include "port/seal.h"
#include "rule/path.h"
#include "rule/reason.h"

static enum kz_rc uncreatable(const char *path, struct kz_err *err)
{
	kz_err_sys(err, KZ_E_CANTCREAT, "cannot write %.300s", path);
	return kz_err_reason(err, kz_reason_code(KZ_R_OUTPUT_UNCREATABLE));
}

/* The directory of path. -1 with errno */
static int open_above(const char *path)
{
	const char *last = kz_path_base(path);
	kz_auto_free char *above = strndup(path, (size_t)(last - path));

	if (!above)
		return -1;
	return open(*above ? above : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static int copy(int from, int64_t size, int to)
{
	char part[65536];

	for (int64_t at = 0; at < size;) {
		size_t most =
			size - at < (int64_t)sizeof(part) ? (size_t)(size - at) : sizeof(part);
		ssize_t n = pread(from, part, most, at);
		struct kz_err e = KZ_ERR_INIT;

		if (n == 0)
			errno = EIO;
		if (n <= 0)
			return -1;
		if (kz_fd_write_all(to, part, (size_t)n, &e)) {
			errno = e.sys_errno;
			return -1;
		}
		at += n;
	}
	return 0;
}

/* Fill the temporary file and give it its name. */
static int fill(int dir, const char *temp, const char *last, int fd, int64_t size, mode_t mode)
{
	kz_auto_close int to =
		openat(dir, temp, O_CREAT | O_EXCL | O_NOFOLLOW | O_WRONLY | O_CLOEXEC, 0600);
	int failed;

	if (to < 0)
		return -1;
	failed = copy(fd, size, to) || fchmod(to, mode) || renameat(dir, temp, dir, last);
	if (failed) {
		int saved = errno;

		unlinkat(dir, temp, 0);
		errno = saved;
	}
	return failed ? -1 : 0;
}

enum kz_rc kz_place_file(const char *path, int fd, int64_t size, mode_t mode, struct kz_err *err)
{
	const char *last = kz_path_base(path);
	kz_auto_close int dir = open_above(path);
	char temp[48], id[KZ_ID_HEX];
	struct stat st;

	if (dir < 0)
		return uncreatable(path, err);
	if (!*last) {
		errno = EISDIR;
		return uncreatable(path, err);
	}
	if (!fstatat(dir, last, &st, AT_SYMLINK_NOFOLLOW) && !S_ISREG(st.st_mode) &&
	    !S_ISLNK(st.st_mode))
		return kz_refuse(err, KZ_R_OUTPUT_UNCREATABLE, "%.300s is not a regular file",
				 path);
	if (kz_sys_before(KZ_SYS_OUT_COPY)) {
		errno = EIO;
		return uncreatable(path, err);
	}
	kz_random_id(id);
	snprintf(temp, sizeof(temp), ".kz-%s", id);
	if (fill(dir, temp, last, fd, size, mode))
		return uncreatable(path, err);
	kz_sys_after(KZ_SYS_OUT_COPY);
	return KZ_OK;
}
