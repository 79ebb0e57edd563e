/* A whole tree on its way in. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/fd.h"
#include "base/str.h"
#include "rule/entry_reader.h"
#include "rule/reason.h"
#include "worker/space.h"
#include "worker/tree.h"

/* A directory that is being filled; it gets its owner, mode and time afterwards. */
struct open_dir {
	size_t len; /* of its name, the start of the last entry's */
	struct kz_entry e;
};

struct kz_tree_in {
	int home;
	uid_t uid;
	gid_t gid;
	struct kz_entry_reader r;
	char last[KZ_ENTRY_NAME_MAX + 1]; /* name of the last entry */
	size_t last_len;
	struct open_dir dirs[KZ_ENTRY_DEPTH_MAX];
	int depth;
	int at;   /* the directory that the last entry lies in */
	int file; /* being written; -1 none */
	struct kz_entry e;
	char target[KZ_ENTRY_TARGET_MAX + 1];
	size_t target_len;
};

struct kz_tree_in *kz_tree_in_new(int home, uid_t uid, gid_t gid)
{
	struct kz_tree_in *t = calloc(1, sizeof *t);

	if (!t) {
		close(home);
		return NULL;
	}
	t->home = home;
	t->uid = uid;
	t->gid = gid;
	t->at = t->file = -1;
	kz_entry_start(&t->r);
	return t;
}

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

void kz_tree_in_free(struct kz_tree_in *t)
{
	if (!t)
		return;
	close_fd(&t->at);
	close_fd(&t->file);
	close_fd(&t->home);
	free(t);
}

static enum kz_rc no_way(struct kz_err *err)
{
	if (errno == ENOSPC || errno == EDQUOT || errno == EFBIG)
		return kz_refuse(err, KZ_R_INPUT_OVER_BOUND, NULL);
	return kz_refuse(err, KZ_R_WORKER_FAULT, "an entry cannot be made: error %d", errno);
}

static enum kz_rc out_of_order(struct kz_err *err)
{
	return kz_refuse(err, KZ_R_PATH_REJECTED,
			 "an entry is not below a directory, or out of order");
}

/*
 * Mode, time and owner, the owner last: what is no longer its own it may not change.
 * A file's setuid and setgid get lost by that; the mount does not heed them.
 */
static int settle(const struct kz_tree_in *t, int fd, const struct kz_entry *e)
{
	const struct timespec times[2] = {
		{ .tv_sec = e->mtime_s, .tv_nsec = e->mtime_ns },
		{ .tv_sec = e->mtime_s, .tv_nsec = e->mtime_ns },
	};

	if (fchmod(fd, e->mode) < 0 || futimens(fd, times) < 0)
		return -1;
	return fchown(fd, t->uid, t->gid);
}

static enum kz_rc end_dir(struct kz_tree_in *t, struct kz_err *err)
{
	struct open_dir *d = &t->dirs[--t->depth];
	kz_auto_close int fd = -1;
	char c = t->last[d->len];

	t->last[d->len] = 0;
	fd = kz_space_at(t->home, t->last, O_RDONLY | O_DIRECTORY, 0);
	t->last[d->len] = c;
	return fd < 0 || settle(t, fd, &d->e) < 0 ? no_way(err) : KZ_OK;
}

static enum kz_rc end_file(struct kz_tree_in *t, struct kz_err *err)
{
	enum kz_rc rc = settle(t, t->file, &t->e) < 0 ? no_way(err) : KZ_OK;

	close_fd(&t->file);
	return rc;
}

static const char *base_of(const char *name)
{
	const char *slash = strrchr(name, '/');

	return slash ? slash + 1 : name;
}

static enum kz_rc end_link(struct kz_tree_in *t, struct kz_err *err)
{
	const struct timespec times[2] = {
		{ .tv_sec = t->e.mtime_s, .tv_nsec = t->e.mtime_ns },
		{ .tv_sec = t->e.mtime_s, .tv_nsec = t->e.mtime_ns },
	};
	const char *base = base_of(t->last);

	t->target[t->target_len] = 0;
	if (memchr(t->target, 0, t->target_len))
		return kz_refuse(err, KZ_R_PATH_REJECTED, "a link's target holds a zero byte");
	if (symlinkat(t->target, t->at, base) < 0 ||
	    utimensat(t->at, base, times, AT_SYMLINK_NOFOLLOW) < 0 ||
	    fchownat(t->at, base, t->uid, t->gid, AT_SYMLINK_NOFOLLOW) < 0)
		return no_way(err);
	return KZ_OK;
}

/* Is the innermost open directory above this name? */
static bool is_inside(const struct kz_tree_in *t, const char *name)
{
	size_t n = t->dirs[t->depth - 1].len;

	return strncmp(t->last, name, n) == 0 && name[n] == '/';
}

/* Go to the directory that the name lies in, which must be the innermost one open. */
static enum kz_rc go_to_parent(struct kz_tree_in *t, const char *name, size_t len,
			       struct kz_err *err)
{
	size_t parent = (size_t)(base_of(name) - name);
	enum kz_rc rc = KZ_OK;

	if (t->last_len && kz_entry_name_cmp(t->last, t->last_len, name, len) >= 0)
		return out_of_order(err);
	while (t->depth && !is_inside(t, name) && rc == KZ_OK)
		rc = end_dir(t, err);
	if (rc != KZ_OK)
		return rc;
	if ((t->depth ? t->dirs[t->depth - 1].len + 1 : 0) != parent)
		return out_of_order(err);
	memcpy(t->last, name, len + 1);
	t->last_len = len;
	close_fd(&t->at);
	if (parent)
		t->last[parent - 1] = 0;
	t->at = kz_space_at(t->home, parent ? t->last : ".", O_RDONLY | O_DIRECTORY, 0);
	if (parent)
		t->last[parent - 1] = '/';
	return t->at < 0 ? no_way(err) : KZ_OK;
}

static enum kz_rc on_entry(void *arg, const struct kz_entry *e, const char *name,
			   struct kz_err *err)
{
	struct kz_tree_in *t = arg;
	enum kz_rc rc = go_to_parent(t, name, e->name_len, err);

	if (rc != KZ_OK)
		return rc;
	t->e = *e;
	t->target_len = 0;
	if (e->kind == KZ_ENTRY_LINK)
		return KZ_OK;
	if (e->kind == KZ_ENTRY_DIR) {
		t->dirs[t->depth++] = (struct open_dir){ .len = e->name_len, .e = *e };
		return mkdirat(t->at, base_of(t->last), 0700) < 0 ? no_way(err) : KZ_OK;
	}
	t->file = kz_space_at(t->at, base_of(t->last), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW,
			      0600);
	if (t->file < 0)
		return no_way(err);
	return e->size ? KZ_OK : end_file(t, err);
}

static enum kz_rc on_data(void *arg, const void *p, size_t n, struct kz_err *err)
{
	struct kz_tree_in *t = arg;

	if (t->e.kind == KZ_ENTRY_LINK) {
		memcpy(t->target + t->target_len, p, n);
		t->target_len += n;
		return t->r.left ? KZ_OK : end_link(t, err);
	}
	if (kz_fd_write_all(t->file, p, n, NULL) != KZ_OK)
		return no_way(err);
	return t->r.left ? KZ_OK : end_file(t, err);
}

static enum kz_rc malformed(struct kz_err *err)
{
	return err->reason[0] ? err->rc : kz_err_reason(err, kz_reason_code(KZ_R_MALFORMED_INPUT));
}

enum kz_rc kz_tree_in_add(struct kz_tree_in *t, const void *p, size_t n, struct kz_err *err)
{
	const struct kz_entry_sink to = { .arg = t, .entry = on_entry, .data = on_data };

	return kz_entry_feed(&t->r, p, n, &to, err) == KZ_OK ? KZ_OK : malformed(err);
}

enum kz_rc kz_tree_in_end(struct kz_tree_in *t, int64_t *count, struct kz_err *err)
{
	enum kz_rc rc = KZ_OK;

	if (!kz_entry_is_whole(&t->r))
		return kz_refuse(err, KZ_R_MALFORMED_INPUT, "the entries are cut");
	while (t->depth && rc == KZ_OK)
		rc = end_dir(t, err);
	*count = t->r.count;
	return rc;
}
