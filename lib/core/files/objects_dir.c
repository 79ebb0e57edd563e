/* Objects in a directory: put, get, remove.  Nothing below the root is reached through a link. */
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/str.h"
#include "base/sys.h"
#include "core/files/objects_parts.h"
#include "rule/reason.h"

/* A writer whose directory was removed meanwhile, because it was empty, begins again. */
#define TRIES 16
#define TEMPORARY 40

static int open_below(int root, const char *path, uint64_t flags)
{
	struct open_how how = {
		.flags = flags | O_CLOEXEC,
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS,
	};

	return (int)syscall(SYS_openat2, root, *path ? path : ".", &how, sizeof(how));
}

int kz_objects_dir_open(int root, const char *path)
{
	return open_below(root, path, O_RDONLY | O_DIRECTORY);
}

enum kz_rc kz_objects_dir_fail(struct kz_err *err, const char *what)
{
	enum kz_reason reason = KZ_R_STORE_UNAVAILABLE;

	if (errno == ENOSPC || errno == EDQUOT || errno == EFBIG)
		reason = KZ_R_STORE_FULL;
	else if (errno == EACCES || errno == EPERM || errno == EROFS || errno == ELOOP ||
		 errno == EXDEV || errno == ENOTDIR)
		reason = KZ_R_STORE_REFUSED;
	kz_err_sys(err, kz_rc_of_status(kz_reason_status(reason)), "cannot %s", what);
	kz_err_reason(err, kz_reason_code(reason));
	return kz_rc_of_status(kz_reason_status(reason));
}

enum kz_rc kz_objects_dir_root(const struct kz_objects_url *url, int *root, struct kz_err *err)
{
	*root = open(url->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (*root >= 0)
		return KZ_OK;
	if (errno == ENOENT)
		return kz_refuse(err, KZ_R_STORE_UNAVAILABLE, "there is no %s; make it with: kz up",
				 url->dir);
	return kz_objects_dir_fail(err, "open the directory of KZ_OBJECTS_URL");
}

/* ".t-" and 32 digits: no name of an object, so nobody lists or fetches it. */
static void temporary(char out[TEMPORARY])
{
	memcpy(out, ".t-", 3);
	kz_random_id(out + 3);
}

/* The path above name ("" for the root) in out; returns the last part. */
static const char *cut(const char *name, char out[KZ_OBJECT_NAME_MAX + 1])
{
	const char *slash = strrchr(name, '/');
	size_t n = slash ? (size_t)(slash - name) : 0;

	memcpy(out, name, n);
	out[n] = '\0';
	return slash ? slash + 1 : name;
}

/* A directory that appears with its mode, in the group of the one above (02000 hands it on). 0, or -1 with errno */
static int make_dir(int root, const char *path)
{
	char above[KZ_OBJECT_NAME_MAX + 1], name[TEMPORARY];
	const char *last = cut(path, above);
	kz_auto_close int at = kz_objects_dir_open(root, above);
	kz_auto_close int fd = -1;
	int saved;

	if (at < 0)
		return -1;
	if (kz_sys_before(KZ_SYS_OBJ_DIR)) {
		errno = EIO;
		return -1;
	}
	temporary(name);
	if (mkdirat(at, name, 0700) != 0)
		return -1;
	fd = kz_objects_dir_open(at, name);
	if (fd >= 0 && fchmod(fd, 02770) == 0 &&
	    (renameat2(at, name, at, last, RENAME_NOREPLACE) == 0 ||
	     (errno == EINVAL && renameat(at, name, at, last) == 0))) {
		kz_sys_after(KZ_SYS_OBJ_DIR);
		return 0;
	}
	saved = errno;
	unlinkat(at, name, AT_REMOVEDIR);
	errno = saved;
	return saved == EEXIST || saved == ENOTEMPTY ? 0 : -1;
}

/* Open the directory that holds name, with what is missing above it made. -1 with errno */
static int open_parent(int root, const char *name)
{
	char path[KZ_OBJECT_NAME_MAX + 1];
	int fd;

	cut(name, path);
	fd = kz_objects_dir_open(root, path);
	if (fd >= 0 || errno != ENOENT)
		return fd;
	for (char *p = path;; *p++ = '/') {
		p += strcspn(p, "/");
		bool is_last = !*p;

		*p = '\0';
		fd = kz_objects_dir_open(root, path);
		if (fd < 0 && (errno != ENOENT || make_dir(root, path) != 0))
			return -1;
		if (fd >= 0)
			close(fd);
		if (is_last)
			return kz_objects_dir_open(root, path);
	}
}

/* The bytes, flushed. err: io_failed when fd is shorter than it should be; -1 with errno in failed: the store */
static enum kz_rc fill(int to, int fd, int64_t size, bool *failed, struct kz_deadline until,
		       struct kz_err *err)
{
	kz_auto_free char *chunk = malloc(KZ_OBJECT_CHUNK);
	enum kz_rc rc;

	if (!chunk)
		return kz_err_set(err, KZ_E_OS, "out of memory");
	if ((*failed = fchmod(to, 0660) != 0))
		return KZ_E_IO;
	for (int64_t at = 0; at < size;) {
		int64_t want = size - at < KZ_OBJECT_CHUNK ? size - at : KZ_OBJECT_CHUNK;
		ssize_t n = pread(fd, chunk, (size_t)want, at);
		struct kz_err why = KZ_ERR_INIT;

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			kz_refuse(err, KZ_R_IO_FAILED, "cannot read what is to be stored");
			return kz_rc_of_status(kz_reason_status(KZ_R_IO_FAILED));
		}
		if ((rc = kz_objects_in_time(until, err)))
			return rc;
		if (kz_fd_write_all(to, chunk, (size_t)n, &why)) {
			errno = why.sys_errno;
			*failed = true;
			return KZ_E_IO;
		}
		at += n;
	}
	*failed = fsync(to) != 0;
	return *failed ? KZ_E_IO : KZ_OK;
}

/* A new file in dir, without a name where the file system can. -1 with errno */
static int open_new(int dir, const char *name, bool *named)
{
	int fd = openat(dir, ".", O_WRONLY | O_TMPFILE | O_CLOEXEC, 0600);

	if (fd < 0 && (errno == EOPNOTSUPP || errno == EISDIR || errno == ENOENT)) {
		fd = openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
		*named = fd >= 0;
	}
	return fd;
}

/* Give it its name; fresh: EEXIST when there is one. 0, or -1 with errno */
static int publish(int dir, int fd, const char *name, bool *named, const char *last, bool fresh)
{
	char own[64];

	snprintf(own, sizeof(own), "/proc/self/fd/%d", fd);
	if (!*named && fresh)
		return linkat(AT_FDCWD, own, dir, last, AT_SYMLINK_FOLLOW);
	if (!*named && linkat(AT_FDCWD, own, dir, name, AT_SYMLINK_FOLLOW) != 0)
		return -1;
	*named = true;
	if (fresh) {
		/* The other name goes with the caller's clean-up. */
		if (renameat2(dir, name, dir, last, RENAME_NOREPLACE) != 0)
			return errno == EINVAL ? linkat(dir, name, dir, last, 0) : -1;
	} else if (renameat(dir, name, dir, last) != 0) {
		return -1;
	}
	*named = false;
	return 0;
}

/* Every directory above the name: what a killed writer made may not be on the disk yet. 0, or -1 with errno */
static int flush_above(int root, const char *name)
{
	char path[KZ_OBJECT_NAME_MAX + 1];

	if (kz_sys_before(KZ_SYS_OBJ_FLUSH)) {
		errno = EIO;
		return -1;
	}
	kz_str_copy(path, sizeof(path), name, NULL);
	while (*path) {
		char *slash = strrchr(path, '/');

		*(slash ? slash : path) = '\0';
		kz_auto_close int fd = kz_objects_dir_open(root, path);

		/* Gone: somebody removed the object already, which is no failure of this put. */
		if (fd < 0 ? errno != ENOENT : fsync(fd) != 0)
			return -1;
	}
	kz_sys_after(KZ_SYS_OBJ_FLUSH);
	return 0;
}

/* What a try of a put came to. */
enum put_end { PUT_DONE, PUT_FAILED, PUT_STORE, PUT_AGAIN };

/* The store itself failed, by errno: a directory that went is made again. */
static enum put_end store_failed(int dir)
{
	int saved = errno;
	struct stat st;

	/* In a directory that is being removed ext4 makes no file with EPERM, too. */
	if (errno != ENOENT && dir >= 0 && fstat(dir, &st) == 0 && st.st_nlink == 0)
		return PUT_AGAIN;
	errno = saved;
	return errno == ENOENT ? PUT_AGAIN : PUT_STORE;
}

static enum put_end name_it(struct kz_objects *o, const char *name, int dir, int fd,
			    const char *other, bool *named, bool fresh, struct kz_err *err)
{
	const char *slash = strrchr(name, '/');

	if (kz_sys_before(KZ_SYS_OBJ_NAME)) {
		errno = EIO;
		return PUT_STORE;
	}
	if (publish(dir, fd, other, named, slash ? slash + 1 : name, fresh) != 0) {
		if (errno != EEXIST)
			return store_failed(dir);
		kz_refuse(err, KZ_R_OBJECT_EXISTS, NULL);
		return PUT_FAILED;
	}
	kz_sys_after(KZ_SYS_OBJ_NAME);
	return flush_above(o->root, name) == 0 ? PUT_DONE : PUT_STORE;
}

static enum put_end put_once(struct kz_objects *o, const char *name, int fd, int64_t size,
			     bool fresh, struct kz_deadline until, struct kz_err *err)
{
	kz_auto_close int dir = open_parent(o->root, name);
	kz_auto_close int to = -1;
	bool named = false, failed = false;
	char other[TEMPORARY];
	enum put_end end;
	enum kz_rc rc;
	int saved;

	if (dir < 0)
		return store_failed(-1);
	temporary(other);
	if (kz_sys_before(KZ_SYS_OBJ_WRITE)) {
		errno = EIO;
		return PUT_STORE;
	}
	to = open_new(dir, other, &named);
	if (to < 0)
		return store_failed(dir);
	rc = fill(to, fd, size, &failed, until, err);
	if (rc) {
		end = failed ? PUT_STORE : PUT_FAILED;
	} else {
		kz_sys_after(KZ_SYS_OBJ_WRITE);
		end = name_it(o, name, dir, to, other, &named, fresh, err);
	}
	saved = errno;
	if (named)
		unlinkat(dir, other, 0);
	errno = saved;
	return end;
}

static enum kz_rc dir_put(struct kz_objects *o, const char *name, int fd, int64_t size, bool fresh,
			  struct kz_deadline until, struct kz_err *err)
{
	struct kz_err why = KZ_ERR_INIT;
	enum put_end end = PUT_AGAIN;

	for (int i = 0; end == PUT_AGAIN && i < TRIES; i++)
		end = put_once(o, name, fd, size, fresh, until, &why);
	if (end == PUT_DONE)
		return KZ_OK;
	if (end != PUT_FAILED)
		return kz_objects_dir_fail(err, "put an object");
	if (err)
		*err = why;
	return why.rc;
}

/* A file of the store, whole. in: size as it is now */
static enum kz_rc copy_out(int from, int fd, int64_t size, char sha256[KZ_SHA256_HEX],
			   struct kz_deadline until, struct kz_err *err)
{
	kz_auto_free char *chunk = malloc(KZ_OBJECT_CHUNK);
	struct kz_sha256 hash;
	int64_t came = 0;
	enum kz_rc rc;
	ssize_t n;

	if (!chunk)
		return kz_err_set(err, KZ_E_OS, "out of memory");
	kz_sha256_start(&hash);
	while ((n = read(from, chunk, KZ_OBJECT_CHUNK)) != 0 && came <= size) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return kz_objects_dir_fail(err, "read an object");
		if ((rc = kz_objects_in_time(until, err)))
			return rc;
		if ((rc = kz_fd_write_all(fd, chunk, (size_t)n, err))) {
			kz_err_reason(err, kz_reason_code(KZ_R_IO_FAILED));
			return rc;
		}
		kz_sha256_add(&hash, chunk, (size_t)n);
		came += n;
	}
	kz_sha256_end(&hash, sha256);
	return came == size ?
		       KZ_OK :
		       kz_refuse(err, KZ_R_OBJECT_DAMAGED, "an object changed while it was read");
}

static enum kz_rc dir_get(struct kz_objects *o, const char *name, int fd, int64_t max,
			  int64_t *size, char sha256[KZ_SHA256_HEX], struct kz_deadline until,
			  struct kz_err *err)
{
	kz_auto_close int from = open_below(o->root, name, O_RDONLY | O_NONBLOCK);
	struct stat st;

	if (from < 0 && (errno == ENOENT || errno == ENOTDIR))
		return kz_refuse(err, KZ_R_OBJECT_MISSING, NULL);
	if (from < 0 && (errno == ELOOP || errno == EXDEV || errno == ENXIO))
		return kz_refuse(err, KZ_R_OBJECT_DAMAGED,
				 "an object is no file, or behind a link");
	if (from < 0 || fstat(from, &st) != 0)
		return kz_objects_dir_fail(err, "open an object");
	if (S_ISDIR(st.st_mode))
		return kz_refuse(err, KZ_R_OBJECT_MISSING, NULL);
	if (!S_ISREG(st.st_mode))
		return kz_refuse(err, KZ_R_OBJECT_DAMAGED,
				 "an object is no file, or behind a link");
	if (st.st_size > max)
		return kz_refuse(err, KZ_R_OBJECT_TOO_LARGE, NULL);
	*size = st.st_size;
	return copy_out(from, fd, st.st_size, sha256, until, err);
}

/* Directories that are empty now go too; a writer that needs one makes it again. */
static void remove_empty(int root, const char *name)
{
	char path[KZ_OBJECT_NAME_MAX + 1], above[KZ_OBJECT_NAME_MAX + 1];

	for (cut(name, path); *path; kz_str_copy(path, sizeof(path), above, NULL)) {
		const char *last = cut(path, above);
		kz_auto_close int at = kz_objects_dir_open(root, above);

		if (at < 0 || unlinkat(at, last, AT_REMOVEDIR) != 0)
			return;
	}
}

static enum kz_rc dir_remove(struct kz_objects *o, const char *name, struct kz_deadline until,
			     struct kz_err *err)
{
	char above[KZ_OBJECT_NAME_MAX + 1];
	const char *last = cut(name, above);
	kz_auto_close int at = kz_objects_dir_open(o->root, above);

	(void)until;
	if (at < 0)
		return errno == ENOENT || errno == ENOTDIR ?
			       KZ_OK :
			       kz_objects_dir_fail(err, "remove an object");
	if (kz_sys_before(KZ_SYS_OBJ_REMOVE)) {
		errno = EIO;
		return kz_objects_dir_fail(err, "remove an object");
	}
	if (unlinkat(at, last, 0) != 0) {
		/* A directory is no object. */
		if (errno == ENOENT || errno == EISDIR)
			return KZ_OK;
		return kz_objects_dir_fail(err, "remove an object");
	}
	if (fsync(at) != 0)
		return kz_objects_dir_fail(err, "remove an object");
	remove_empty(o->root, name);
	kz_sys_after(KZ_SYS_OBJ_REMOVE);
	return KZ_OK;
}

const struct kz_objects_kind kz_objects_dir = {
	.put = dir_put,
	.get = dir_get,
	.list = kz_objects_walk,
	.remove = dir_remove,
	.sweep = kz_objects_walk_sweep,
};
