/* Walking a tenant's tree without following or believing anything. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/str.h"
#include "worker/space.h"
#include "worker/tree.h"

#define NAMES_MAX (16 << 20)
#define SKIPPED_MOST 65536

/* What a directory held when it was listed. */
struct level {
	struct kz_buf text; /* names, each with its zero */
	const char **names; /* into text, sorted */
	size_t count, at;
	size_t above; /* length of the directory's own path */
};

struct kz_walk {
	int top;
	struct kz_walk_bounds b;
	struct level level[KZ_ENTRY_DEPTH_MAX + 1];
	int depth; /* levels that are open */
	char path[KZ_ENTRY_NAME_MAX + 1];
	size_t path_len;
	int64_t bytes, entries, skipped;
};

struct kz_walk *kz_walk_new(int top, const struct kz_walk_bounds *b)
{
	struct kz_walk *w = calloc(1, sizeof *w);

	if (!w)
		return NULL;
	w->top = top;
	w->b = *b;
	return w;
}

static void level_release(struct level *l)
{
	kz_buf_release(&l->text);
	free(l->names);
	l->names = NULL;
}

void kz_walk_free(struct kz_walk *w)
{
	for (int i = 0; i < w->depth; i++)
		level_release(&w->level[i]);
	free(w);
}

static int by_bytes(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static enum kz_rc over(struct kz_err *err, const char *what)
{
	return kz_err_set(err, KZ_E_NO, "the workspace has %s", what);
}

static enum kz_rc changed(struct kz_err *err)
{
	return kz_err_set(err, KZ_E_DATA, "the workspace changed while it was read");
}

/* The names of a directory, those that will be left out too. in: most: more of them are over every bound */
static enum kz_rc read_names(DIR *d, struct level *l, int64_t most, struct kz_err *err)
{
	struct dirent *e;

	for (errno = 0; (e = readdir(d)); errno = 0) {
		enum kz_rc rc;

		if (kz_str_eq(e->d_name, ".") || kz_str_eq(e->d_name, ".."))
			continue;
		if ((int64_t)l->count >= most || l->text.len > NAMES_MAX - sizeof e->d_name)
			return over(err, "more entries than its bound");
		rc = kz_buf_add(&l->text, e->d_name, strlen(e->d_name) + 1, err);
		if (rc != KZ_OK)
			return rc;
		l->count++;
	}
	return errno ? kz_err_sys(err, KZ_E_OS, "cannot read a directory") : KZ_OK;
}

static enum kz_rc sort_names(struct level *l, struct kz_err *err)
{
	const char *p = l->text.data;

	l->names = calloc(l->count + 1, sizeof *l->names);
	if (!l->names)
		return kz_err_set(err, KZ_E_OS, "out of memory");
	for (size_t i = 0; i < l->count; i++, p += strlen(p) + 1)
		l->names[i] = p;
	qsort(l->names, l->count, sizeof *l->names, by_bytes);
	return KZ_OK;
}

static enum kz_rc open_level(struct kz_walk *w, struct kz_err *err)
{
	struct level *l = &w->level[w->depth];
	kz_auto_closedir DIR *d = NULL;
	enum kz_rc rc;
	int fd;

	fd = kz_space_at(w->top, w->path_len ? w->path : ".", O_RDONLY | O_DIRECTORY, 0);
	d = fd < 0 ? NULL : fdopendir(fd);
	if (!d) {
		if (fd >= 0)
			close(fd);
		return errno == ENOENT || errno == ENOTDIR || errno == ELOOP ?
			       changed(err) :
			       kz_err_sys(err, KZ_E_OS, "cannot open a directory");
	}
	*l = (struct level){ .above = w->path_len, .text = KZ_BUF_INIT(NAMES_MAX) };
	w->depth++;
	rc = read_names(d, l, w->b.entries - w->entries + SKIPPED_MOST, err);
	return rc == KZ_OK ? sort_names(l, err) : rc;
}

/* out: false when every directory is done */
static bool next_name(struct kz_walk *w, const char **name)
{
	while (w->depth) {
		struct level *l = &w->level[w->depth - 1];

		w->path_len = l->above;
		w->path[w->path_len] = 0;
		if (l->at < l->count) {
			*name = l->names[l->at++];
			return true;
		}
		level_release(l);
		w->depth--;
	}
	return false;
}

static enum kz_rc step_into(struct kz_walk *w, const char *name, struct kz_err *err)
{
	size_t n = strlen(name), slash = w->path_len > 0;

	if (w->path_len + slash + n > KZ_ENTRY_NAME_MAX)
		return over(err, "a name that is too long");
	if (w->depth > KZ_ENTRY_DEPTH_MAX)
		return over(err, "too many directories in one another");
	if (slash)
		w->path[w->path_len++] = '/';
	memcpy(w->path + w->path_len, name, n + 1);
	w->path_len += n;
	return KZ_OK;
}

static enum kz_rc look(struct kz_walk *w, struct stat *st, char *target, ssize_t *target_len,
		       struct kz_err *err)
{
	kz_auto_close int fd = kz_space_at(w->top, w->path, O_PATH | O_NOFOLLOW, 0);

	if (fd < 0 && errno == ENOENT)
		return changed(err);
	if (fd < 0 || fstat(fd, st) < 0)
		return kz_err_sys(err, KZ_E_OS, "cannot look at an entry");
	if (!S_ISLNK(st->st_mode))
		return KZ_OK;
	*target_len = readlinkat(fd, "", target, KZ_ENTRY_TARGET_MAX + 1);
	if (*target_len < 0)
		return kz_err_sys(err, KZ_E_OS, "cannot read a link");
	return *target_len > 0 && *target_len <= KZ_ENTRY_TARGET_MAX ?
		       KZ_OK :
		       over(err, "a link whose target is too long");
}

/* The file that was looked at; setuid and setgid say nothing where the mount forbids them, and get lost on the way in. */
static enum kz_rc open_file(struct kz_walk *w, struct kz_entry *e, const struct stat *st, int *out,
			    struct kz_err *err)
{
	/* O_NONBLOCK: a fifo in its place must not hold process 1 */
	kz_auto_close int fd = kz_space_at(w->top, w->path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW, 0);
	struct stat now;

	if (fd < 0 || fstat(fd, &now) < 0)
		return errno == EMFILE || errno == ENFILE || errno == ENOMEM ?
			       kz_err_sys(err, KZ_E_OS, "cannot open a file") :
			       changed(err);
	if (now.st_ino != st->st_ino || !S_ISREG(now.st_mode) || now.st_size != st->st_size)
		return changed(err);
	if (now.st_size > w->b.bytes - w->bytes)
		return over(err, "more bytes than its bound");
	w->bytes += now.st_size;
	e->kind = KZ_ENTRY_FILE;
	e->mode &= ~06000U;
	e->size = now.st_size;
	*out = kz_take_fd(&fd);
	return KZ_OK;
}

static bool is_kept(const struct stat *st)
{
	return S_ISREG(st->st_mode) || S_ISDIR(st->st_mode) || S_ISLNK(st->st_mode);
}

/* Make an entry of what the path names. out: kind 0 when it is of no kind that is kept */
static enum kz_rc make_entry(struct kz_walk *w, struct kz_entry *e, int *fd, char *target,
			     struct kz_err *err)
{
	ssize_t target_len = 0;
	struct stat st;
	enum kz_rc rc = look(w, &st, target, &target_len, err);

	if (rc != KZ_OK)
		return rc;
	if (w->entries == w->b.entries && is_kept(&st))
		return over(err, "more entries than its bound");
	*e = (struct kz_entry){ .mode = st.st_mode & 07777,
				.mtime_s = st.st_mtim.tv_sec,
				.mtime_ns = (uint32_t)st.st_mtim.tv_nsec,
				.name_len = w->path_len };
	if (S_ISREG(st.st_mode))
		return open_file(w, e, &st, fd, err);
	if (S_ISLNK(st.st_mode)) {
		e->kind = KZ_ENTRY_LINK;
		e->size = target_len;
	} else if (S_ISDIR(st.st_mode)) {
		e->kind = KZ_ENTRY_DIR;
		return open_level(w, err);
	} else {
		w->skipped++;
	}
	return KZ_OK;
}

enum kz_rc kz_walk_next(struct kz_walk *w, struct kz_entry *e, const char **name, int *fd,
			char target[KZ_ENTRY_TARGET_MAX + 1], struct kz_err *err)
{
	enum kz_rc rc = w->depth || w->entries || w->skipped ? KZ_OK : open_level(w, err);
	const char *part;

	*fd = -1;
	*name = w->path;
	*e = (struct kz_entry){ .kind = KZ_ENTRY_END };
	while (rc == KZ_OK && next_name(w, &part)) {
		rc = step_into(w, part, err);
		if (rc == KZ_OK)
			rc = make_entry(w, e, fd, target, err);
		if (rc == KZ_OK && e->kind) {
			w->entries++;
			return KZ_OK;
		}
	}
	if (rc == KZ_OK)
		*e = (struct kz_entry){ .kind = KZ_ENTRY_END,
					.size = w->entries,
					.mtime_s = w->skipped };
	return rc;
}
