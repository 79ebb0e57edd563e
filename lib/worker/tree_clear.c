/*
 * Taking a tree away, however deep it is: what lies in a directory is moved up
 * beside it before it goes, so that two descriptors do for any depth.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/str.h"
#include "rule/reason.h"
#include "worker/space.h"
#include "worker/tree.h"

/* Directories on their way out, in a root of the tenant's file systems, while nothing of it is alive. */
struct trash {
	int root;
	long next;
};

static void trash_name(char out[32], long n)
{
	(void)kz_str_format(out, 32, NULL, "gone-%ld", n);
}

static int discard(struct trash *t, int dir, const char *name)
{
	char to[32];

	if (unlinkat(dir, name, 0) == 0)
		return 0;
	if (errno != EISDIR && errno != EPERM)
		return -1;
	for (;;) {
		trash_name(to, t->next++);
		if (renameat2(dir, name, t->root, to, RENAME_NOREPLACE) == 0)
			return 0;
		/* the root of the packages may hold any name */
		if (errno != EEXIST)
			return -1;
	}
}

typedef int (*take_fn)(struct trash *t, int dir, const char *name);

/* One pass over a directory. out: how many entries there were, -1 on failure */
static long take_once(struct trash *t, DIR *d, take_fn take)
{
	struct dirent *e;
	long n = 0;

	rewinddir(d);
	for (errno = 0; (e = readdir(d)); errno = 0) {
		if (kz_str_eq(e->d_name, ".") || kz_str_eq(e->d_name, ".."))
			continue;
		if (take(t, dirfd(d), e->d_name) < 0)
			return -1;
		n++;
	}
	return errno ? -1 : n;
}

/* Everything in a directory of the root, or in the root itself. */
static int take_all(struct trash *t, const char *name, take_fn take)
{
	kz_auto_closedir DIR *d = NULL;
	int fd = kz_space_at(t->root, name, O_RDONLY | O_DIRECTORY, 0);
	long n;

	d = fd < 0 ? NULL : fdopendir(fd);
	if (!d) {
		if (fd >= 0)
			close(fd);
		return -1;
	}
	/* a sticky directory lets only its owner take things out */
	if (fchown(fd, 0, 0) < 0)
		return -1;
	/* what is removed while it is listed may hide others */
	while ((n = take_once(t, d, take)) > 0)
		;
	return n < 0 ? -1 : 0;
}

static int remove_one(struct trash *t, const char *name)
{
	return take_all(t, name, discard) < 0 ? -1 : unlinkat(t->root, name, AT_REMOVEDIR);
}

static int clear(int dir, const char *place, uid_t uid, gid_t gid)
{
	struct trash t = { .root = dir, .next = 1 };
	char name[32];

	trash_name(name, 0);
	if (renameat(dir, place, dir, name) < 0)
		return -1;
	for (long i = 0; i < t.next; i++) {
		trash_name(name, i);
		if (remove_one(&t, name) < 0)
			return -1;
	}
	if (mkdirat(dir, place, 0755) < 0)
		return -1;
	return fchownat(dir, place, uid, gid, AT_SYMLINK_NOFOLLOW);
}

/* Of the root of the packages, whose directories are emptied where they are. */
static int remove_any(struct trash *t, int dir, const char *name)
{
	if (unlinkat(dir, name, 0) == 0)
		return 0;
	return errno != EISDIR && errno != EPERM ? -1 : remove_one(t, name);
}

static int empty(int root, uid_t uid, gid_t gid)
{
	struct trash t = { .root = root, .next = 1 };

	if (fchown(root, 0, 0) < 0 || fchmod(root, 0755) < 0 || take_all(&t, ".", remove_any) < 0)
		return -1;
	return fchown(root, uid, gid);
}

enum kz_rc kz_tree_empty(int root, uid_t uid, gid_t gid, struct kz_err *err)
{
	if (empty(root, uid, gid) == 0)
		return KZ_OK;
	return kz_refuse(err, KZ_R_WORKER_FAULT, "the packages cannot be emptied: error %d", errno);
}

enum kz_rc kz_tree_clear(int dir, const char *place, uid_t uid, gid_t gid, struct kz_err *err)
{
	if (clear(dir, place, uid, gid) == 0)
		return KZ_OK;
	return kz_refuse(err, KZ_R_WORKER_FAULT, "/%s cannot be emptied: error %d", place, errno);
}
