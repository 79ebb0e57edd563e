/* Objects in a directory: list in order of bytes, sweep, and the making of the directory. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/str.h"
#include "core/files/objects_parts.h"
#include "rule/reason.h"

#define DAY_S (24 * 60 * 60)

struct entry {
	char *name; /* a directory's ends with "/", which is its place in the order */
	int64_t size, mtime_s;
};

struct entries {
	struct entry *v;
	size_t n, room;
};

static void entries_release(struct entries *e)
{
	for (size_t i = 0; i < e->n; i++)
		free(e->v[i].name);
	free(e->v);
}

static int compare(const void *a, const void *b)
{
	return strcmp(((const struct entry *)a)->name, ((const struct entry *)b)->name);
}

static enum kz_rc entries_add(struct entries *e, const char *name, const struct stat *st,
			      struct kz_err *err)
{
	size_t len = strlen(name);
	struct entry *to;

	if (e->n == e->room) {
		size_t room = e->room ? 2 * e->room : 64;
		struct entry *v = reallocarray(e->v, room, sizeof(*v));

		if (!v)
			return kz_err_set(err, KZ_E_OS, "out of memory");
		e->v = v;
		e->room = room;
	}
	to = &e->v[e->n];
	to->name = malloc(len + 2);
	if (!to->name)
		return kz_err_set(err, KZ_E_OS, "out of memory");
	memcpy(to->name, name, len + 1);
	if (S_ISDIR(st->st_mode))
		memcpy(to->name + len, "/", 2);
	to->size = st->st_size;
	to->mtime_s = st->st_mtim.tv_sec;
	e->n++;
	return KZ_OK;
}

/* One walk; each for a list, swept for a sweep. */
struct walk {
	kz_object_each each;
	void *arg;
	int64_t *swept;
	int64_t before_s;
	struct kz_deadline until;
	struct kz_err *err;
};

static bool is_temporary(const char *name)
{
	return kz_str_has_prefix(name, ".t-");
}

static void sweep_one(const struct walk *w, int dir, const char *name, const struct stat *st)
{
	if (st->st_mtim.tv_sec < w->before_s &&
	    unlinkat(dir, name, S_ISDIR(st->st_mode) ? AT_REMOVEDIR : 0) == 0)
		(*w->swept)++;
}

/* What a directory holds: files and directories with names of objects, sorted. */
static enum kz_rc read_entries(const struct walk *w, int dir, struct entries *out)
{
	int own = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	kz_auto_closedir DIR *d = own < 0 ? NULL : fdopendir(own);
	const struct dirent *e;
	struct stat st;
	enum kz_rc rc = KZ_OK;

	if (!d) {
		if (own >= 0)
			close(own);
		return kz_objects_dir_fail(w->err, "list objects");
	}
	while (!rc && (errno = 0, (e = readdir(d)))) {
		bool is_name = kz_object_name_ok(e->d_name, false);

		if (!is_name && !(w->swept && is_temporary(e->d_name)))
			continue;
		if (fstatat(dir, e->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0)
			continue; /* gone meanwhile */
		if (!is_name)
			sweep_one(w, dir, e->d_name, &st);
		else if (S_ISREG(st.st_mode) || S_ISDIR(st.st_mode))
			rc = entries_add(out, e->d_name, &st, w->err);
	}
	if (!rc && errno)
		return kz_objects_dir_fail(w->err, "list objects");
	if (!rc && out->n > 0)
		qsort(out->v, out->n, sizeof(*out->v), compare);
	return rc;
}

/* The directory of that name ("" or "a/b/", len bytes), open as dir. */
static enum kz_rc walk(const struct walk *w, int dir, char name[KZ_OBJECT_NAME_MAX + 2], size_t len)
{
	kz_auto(entries_release) struct entries found = { NULL, 0, 0 };
	enum kz_rc rc = kz_objects_in_time(w->until, w->err);

	if (!rc)
		rc = read_entries(w, dir, &found);
	for (size_t i = 0; !rc && i < found.n; i++) {
		const struct entry *e = &found.v[i];
		struct kz_object x = { name, e->size, e->mtime_s };
		size_t n = strlen(e->name);
		bool is_dir = e->name[n - 1] == '/';

		if (len + n > KZ_OBJECT_NAME_MAX)
			continue;
		memcpy(name + len, e->name, n + 1);
		if (!is_dir) {
			rc = w->each ? w->each(w->arg, &x, w->err) : KZ_OK;
			continue;
		}
		kz_auto_close int below = kz_objects_dir_open(dir, e->name);

		if (below >= 0)
			rc = walk(w, below, name, len + n);
		else if (errno != ENOENT && errno != ENOTDIR && errno != ELOOP)
			rc = kz_objects_dir_fail(w->err, "list objects");
	}
	return rc;
}

enum kz_rc kz_objects_walk(struct kz_objects *o, const char *prefix, kz_object_each each, void *arg,
			   struct kz_deadline until, struct kz_err *err)
{
	struct walk w = { .each = each, .arg = arg, .until = until, .err = err };
	kz_auto_close int dir = kz_objects_dir_open(o->root, prefix);
	char name[KZ_OBJECT_NAME_MAX + 2];

	if (dir < 0)
		return errno == ENOENT || errno == ENOTDIR ?
			       KZ_OK :
			       kz_objects_dir_fail(err, "list objects");
	kz_str_copy(name, sizeof(name), prefix, NULL);
	return walk(&w, dir, name, strlen(prefix));
}

/* By the wall clock, which may be set: a file that goes too early makes a put begin again, no more. */
enum kz_rc kz_objects_walk_sweep(struct kz_objects *o, int64_t *count, struct kz_deadline until,
				 struct kz_err *err)
{
	struct walk w = { .swept = count,
			  .before_s = kz_time_wall_ms() / 1000 - DAY_S,
			  .until = until,
			  .err = err };
	char name[KZ_OBJECT_NAME_MAX + 2] = "";

	return walk(&w, o->root, name, 0);
}

enum kz_rc kz_objects_make(const struct kz_conf *c, gid_t gid, struct kz_err *err)
{
	struct kz_objects_url url;
	enum kz_rc rc = kz_conf_objects_url(c, &url, err);
	struct stat st;

	if (rc || url.is_s3)
		return rc;
	if (url.is_absolute && stat(url.dir, &st) == 0)
		return KZ_OK;
	/* Below the state directory what is missing above is made too. */
	for (char *p = url.dir + strlen(c->state) + 1;
	     !rc && !url.is_absolute && (p = strchr(p, '/')); *p++ = '/') {
		*p = '\0';
		rc = kz_dir_make(AT_FDCWD, url.dir, 02770, gid, err);
	}
	if (!rc)
		rc = kz_dir_make(AT_FDCWD, url.dir, 02770, gid, err);
	if (rc && err) {
		errno = err->sys_errno;
		return kz_objects_dir_fail(err, "make the directory of KZ_OBJECTS_URL");
	}
	return rc;
}
