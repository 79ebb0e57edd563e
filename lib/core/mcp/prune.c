/* Which outputs go, and how. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/str.h"
#include "base/time.h"
#include "core/mcp/keep.h"
#include "rule/path.h"

#define MARK_MAX (1 << 20)
#define MARKS_MAX 65536 /* that one pass looks at */
#define NAME_MAX_BYTES 63

struct mark {
	char name[NAME_MAX_BYTES + 1];
	int64_t time_ms, bytes;
};

struct marks {
	struct mark *list; /* own */
	size_t count, room;
};

static int64_t time_ms(const struct stat *st)
{
	return (int64_t)st->st_mtim.tv_sec * 1000 + st->st_mtim.tv_nsec / 1000000;
}

static int mark_open(int marks, const char *name, struct stat *st)
{
	int fd = kz_mcp_keep_below(marks, name, O_RDWR | O_NONBLOCK);

	if (fd >= 0 && fstat(fd, st) == 0 && S_ISREG(st->st_mode) && st->st_uid == geteuid())
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

/* out: new; NULL: it says nothing that can be read */
static struct kz_json *mark_read(int fd)
{
	kz_auto_buf struct kz_buf b = KZ_BUF_INIT(MARK_MAX);
	struct kz_json *o = NULL;

	if (kz_fd_read_all(fd, &b, NULL) || kz_json_parse(kz_buf_str(&b), b.len, &o, NULL))
		return NULL;
	return o;
}

static void look(int marks, const char *name, struct mark *m)
{
	struct stat st;
	kz_auto_close int fd = mark_open(marks, name, &st);
	kz_auto_json struct kz_json *o = fd < 0 ? NULL : mark_read(fd);
	const struct kz_json *files = kz_json_get(o, "files");

	m->time_ms = fd < 0 ? 0 : time_ms(&st);
	m->bytes = 0;
	for (size_t i = 0; i < kz_json_count(files); i++)
		m->bytes += kz_json_num(kz_json_at(files, i), "bytes", 0);
}

static bool add(struct marks *l, int dir, const char *name)
{
	struct mark *m;

	if (l->count == l->room) {
		size_t room = l->room ? l->room * 2 : 256;
		struct mark *more = reallocarray(l->list, room, sizeof(*more));

		if (!more || room > MARKS_MAX) {
			if (more)
				l->list = more;
			return false;
		}
		l->list = more;
		l->room = room;
	}
	m = &l->list[l->count];
	if (kz_str_copy(m->name, sizeof(m->name), name, NULL))
		return true; /* none of ours */
	look(dir, name, m);
	l->count++;
	return true;
}

static int newest_first(const void *a, const void *b)
{
	const struct mark *x = a, *y = b;

	if (x->time_ms != y->time_ms)
		return x->time_ms < y->time_ms ? 1 : -1;
	return strcmp(y->name, x->name);
}

static void list_marks(struct marks *l, int marks)
{
	int own = openat(marks, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	kz_auto_closedir DIR *d = own < 0 ? NULL : fdopendir(own);
	struct dirent *e;

	if (!d && own >= 0)
		close(own);
	while (d && (e = readdir(d)))
		if (e->d_name[0] != '.' && !add(l, marks, e->d_name))
			break;
	if (l->count)
		qsort(l->list, l->count, sizeof(*l->list), newest_first);
}

/* Remove path below dir. in: flags as unlinkat's */
static bool remove_below(int dir, const char *path, int flags)
{
	const char *last = kz_path_base(path);
	kz_auto_free char *above = strndup(path, (size_t)(last - path));
	kz_auto_close int parent = -1;

	if (!above)
		return false;
	parent = kz_mcp_keep_below(dir, *above ? above : ".", O_PATH | O_DIRECTORY);
	return parent >= 0 && unlinkat(parent, last, flags) == 0;
}

/* One file, if it is what was written; then the directories that it leaves empty. */
static void remove_file(int dir, const struct kz_json *was)
{
	const char *name = kz_json_str(was, "name", "");
	char path[KZ_PATH_MAX + 1], *slash;
	kz_auto_close int fd = -1;
	kz_auto_json struct kz_json *is = NULL;

	if (kz_path_normal(name, strlen(name), path))
		return;
	fd = kz_mcp_keep_below(dir, path, O_PATH);
	is = fd < 0 ? NULL : kz_mcp_keep_look(name, fd);
	if (!is || kz_json_num(is, "inode", -1) != kz_json_num(was, "inode", -2) ||
	    kz_json_num(is, "bytes", -1) != kz_json_num(was, "bytes", -2) ||
	    kz_json_num(is, "mtime_ms", -1) != kz_json_num(was, "mtime_ms", -2))
		return;
	if (!remove_below(dir, path, 0))
		return;
	while ((slash = strrchr(path, '/'))) {
		*slash = 0;
		if (!remove_below(dir, path, AT_REMOVEDIR))
			return;
	}
}

/* A run: what its mark names, its directory when that is empty then, and the mark. */
static void remove_run(const struct kz_mcp_keep *k, const char *name)
{
	struct stat st;
	kz_auto_close int mark = mark_open(k->marks_fd, name, &st), dir = -1;
	kz_auto_json struct kz_json *o = NULL;
	const struct kz_json *files;

	if (mark < 0 || flock(mark, LOCK_EX | LOCK_NB) < 0)
		return; /* not ours, or being written */
	o = mark_read(mark);
	files = kz_json_get(o, "files");
	dir = kz_mcp_keep_below(k->out_fd, name, O_RDONLY | O_DIRECTORY);
	if (dir >= 0 && fstat(dir, &st) == 0 && (int64_t)st.st_ino == kz_json_num(o, "inode", -1))
		for (size_t i = 0; i < kz_json_count(files); i++)
			remove_file(dir, kz_json_at(files, i));
	if (dir >= 0)
		(void)unlinkat(k->out_fd, name, AT_REMOVEDIR);
	(void)unlinkat(k->marks_fd, name, 0);
}

void kz_mcp_keep_prune(const struct kz_mcp_keep *k)
{
	struct marks l = { NULL, 0, 0 };
	int64_t bytes = 0, now = kz_time_wall_ms();

	if (k->marks_fd < 0)
		return;
	list_marks(&l, k->marks_fd);
	for (size_t i = 0; i < l.count; i++) {
		const struct mark *m = &l.list[i];
		bool is_old = k->bounds.age_s && (now - m->time_ms) / 1000 > k->bounds.age_s;

		bytes += m->bytes;
		if (is_old || (i && ((int64_t)i >= k->bounds.runs || bytes > k->bounds.bytes)))
			remove_run(k, m->name);
	}
	free(l.list);
}
