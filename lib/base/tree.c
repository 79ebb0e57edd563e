/*
 * Removing trees of any depth with a fixed number of descriptors: a directory
 * that is not empty is moved up to the top and emptied there.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/sys.h"

/* Open a directory entry without passing a link or a mount. */
static int tree_open(int dir, const char *name)
{
	struct open_how how = {
		.flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC,
		.resolve = RESOLVE_NO_XDEV | RESOLVE_NO_SYMLINKS | RESOLVE_BENEATH,
	};
	int fd = (int)syscall(SYS_openat2, dir, name, &how, sizeof(how));

	/* An owner may have shut itself out; root is never refused. */
	if (fd < 0 && errno == EACCES && fchmodat(dir, name, 0700, 0) == 0)
		fd = (int)syscall(SYS_openat2, dir, name, &how, sizeof(how));
	return fd;
}

/* Remove one entry that is no directory, or an empty one. 0 gone, 1 a directory with content, -1 errno */
static int tree_unlink(int dir, const char *name)
{
	if (unlinkat(dir, name, 0) == 0 || errno == ENOENT)
		return 0;
	if (errno != EISDIR && errno != EPERM)
		return -1;
	if (unlinkat(dir, name, AT_REMOVEDIR) == 0 || errno == ENOENT)
		return 0;
	return errno == ENOTEMPTY || errno == EEXIST ? 1 : -1;
}

static int tree_move_up(int top, int dir, const char *name, unsigned long *serial)
{
	char fresh[40];

	for (;;) {
		snprintf(fresh, sizeof(fresh), "kz-rm-%lu", (*serial)++);
		if (renameat2(dir, name, top, fresh, RENAME_NOREPLACE) == 0)
			return 0;
		if (errno != EEXIST)
			return -1;
	}
}

typedef int (*tree_entry_fn)(int top, int dir, const char *name, unsigned long *serial);

/* Call fn for each entry of dir (its own open descriptor stays with the caller). count: entries seen */
static int tree_each(int top, int dir, tree_entry_fn fn, unsigned long *serial, size_t *count)
{
	int own = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	kz_auto_closedir DIR *d = own < 0 ? NULL : fdopendir(own);
	struct dirent *e;

	if (!d) {
		if (own >= 0)
			close(own);
		return -1;
	}
	*count = 0;
	while (errno = 0, (e = readdir(d))) {
		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
			continue;
		(*count)++;
		if (fn(top, dir, e->d_name, serial) < 0)
			return -1;
	}
	return errno ? -1 : 0;
}

static int tree_inner(int top, int dir, const char *name, unsigned long *serial)
{
	int r = tree_unlink(dir, name);

	return r == 1 ? tree_move_up(top, dir, name, serial) : r;
}

/* One entry of the top: gone at once, or emptied (its directories move up) and then gone. */
static int tree_outer(int top, int dir, const char *name, unsigned long *serial)
{
	int r = tree_unlink(dir, name);
	size_t count = 1;

	if (r <= 0)
		return r;
	kz_auto_close int fd = tree_open(dir, name);

	if (fd < 0)
		return -1;
	/* Removing while reading may skip entries on some file systems: read again. */
	while (count > 0)
		if (tree_each(top, fd, tree_inner, serial, &count) < 0)
			return -1;
	return unlinkat(dir, name, AT_REMOVEDIR);
}

static int tree_remove(int dir, const char *path)
{
	unsigned long serial = 0;
	size_t count = 1;
	int r = tree_unlink(dir, path);

	if (r <= 0)
		return r;
	kz_auto_close int top = openat(dir, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (top < 0 && errno == EACCES && fchmodat(dir, path, 0700, 0) == 0)
		top = openat(dir, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (top < 0)
		return -1;
	while (count > 0)
		if (tree_each(top, top, tree_outer, &serial, &count) < 0)
			return -1;
	return unlinkat(dir, path, AT_REMOVEDIR);
}

enum kz_rc kz_tree_remove(int dir, const char *path, struct kz_err *err)
{
	if (kz_sys_before(KZ_SYS_TREE_REMOVE)) {
		errno = EIO;
		return kz_err_sys(err, KZ_E_IO, "cannot remove %s", path);
	}
	if (tree_remove(dir, path) < 0)
		return kz_err_sys(err, KZ_E_IO, "cannot remove %s", path);
	kz_sys_after(KZ_SYS_TREE_REMOVE);
	return KZ_OK;
}
