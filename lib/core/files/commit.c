/* Commits: the next generation of a workspace, whole or not at all. */
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/fd.h"
#include "base/str.h"
#include "core/files/workspace_parts.h"
#include "rule/reason.h"

/*
 * kz-workspace prune leaves what is younger than an hour alone.  What a parent of more
 * than half of that names is stored anew rather than named again, since it may be on
 * its way out.
 */
#define NAMED_AGAIN_S 1800
#define SEQ_MOST 999999

/* One commit under way. */
struct work {
	struct kz_objects *o;
	const char *key;
	const struct kz_commit *c;
	struct kz_generation next;
	struct kz_generations there;
	struct kz_deadline most; /* of all of it */
	char put[3][KZ_ID_HEX];  /* blobs that were stored for it */
	int put_count;
};

static bool is_long_ago(const struct kz_generation *g)
{
	int64_t now = kz_time_wall_ms() / 1000;

	return g->at_s + NAMED_AGAIN_S < now || g->at_s > now;
}

static struct kz_deadline until(const struct work *w)
{
	return kz_deadline_min(w->most, w->c->sure(w->c->sure_arg));
}

static enum kz_rc lease_lost(struct kz_err *err)
{
	return kz_refuse(err, KZ_R_LEASE_LOST,
			 "the lease was not surely in force until the workspace was stored");
}

/* Nobody else can have begun while this holds. */
static enum kz_rc still_sure(const struct work *w, struct kz_err *err)
{
	if (!kz_deadline_passed(until(w)))
		return KZ_OK;
	return lease_lost(err);
}

/* Size and digest of a file from its start. */
static enum kz_rc measure(int fd, struct kz_blob *b, struct kz_err *err)
{
	struct kz_sha256 hash;
	char part[65536];
	ssize_t n;

	b->size = 0;
	kz_sha256_start(&hash);
	while ((n = pread(fd, part, sizeof(part), b->size)) > 0) {
		kz_sha256_add(&hash, part, (size_t)n);
		b->size += n;
	}
	if (n < 0) {
		kz_err_sys(err, KZ_E_IO, "cannot read what shall be stored");
		return kz_err_reason(err, kz_reason_code(KZ_R_IO_FAILED));
	}
	kz_sha256_end(&hash, b->sha256);
	b->id[0] = 0;
	return KZ_OK;
}

/* The mark of what is new, and how it ends: with all that may hold a copy [PRJ-52]. */
static void mark(struct work *w)
{
	const struct kz_commit *c = w->c;
	struct kz_generation *next = &w->next;

	if (next->is_private && c->tree_fd >= 0 && (c->is_fresh || !c->entries)) {
		next->is_private = false;
		if (c->lines_fd < 0)
			next->lines = (struct kz_blob){ .size = -1 };
		if (c->packages_fd < 0)
			next->packages = (struct kz_blob){ .size = -1 }, next->packages_entries = 0;
	}
	/* what is as it was before is nothing that a program put there */
	if (c->is_private && !kz_generation_same(next, c->parent))
		next->is_private = true;
	if (next->tree.size < 0 && next->lines.size < 0 && next->packages.size < 0)
		next->is_private = false;
}

static enum kz_rc within_bounds(const struct work *w, struct kz_err *err)
{
	const struct kz_commit *c = w->c;

	if (w->next.tree.size > c->tree_max && c->tree_fd >= 0)
		return kz_refuse(
			err, KZ_R_WORKSPACE_OVER_BOUND,
			"the workspace takes %lld bytes, at most %lld are kept (SANDBOX_WORKSPACE_MAX_BYTES)",
			(long long)w->next.tree.size, (long long)c->tree_max);
	if (w->next.lines.size > c->lines_max && c->lines_fd >= 0)
		return kz_refuse(
			err, KZ_R_LINES_OVER_BOUND,
			"the record of shown lines takes %lld bytes, at most %lld are kept (SANDBOX_HASHLINE_STATE_MAX_BYTES)",
			(long long)w->next.lines.size, (long long)c->lines_max);
	if (w->next.packages.size > c->packages_max && c->packages_fd >= 0)
		return kz_refuse(
			err, KZ_R_PACKAGES_OVER_BOUND,
			"the installed packages take %lld bytes, at most %lld are kept (KZ_PACKAGES_MAX_BYTES)",
			(long long)w->next.packages.size, (long long)c->packages_max);
	return KZ_OK;
}

/* What the next one consists of; an id of "" is to be stored. */
static enum kz_rc compose(struct work *w, struct kz_err *err)
{
	const struct kz_commit *c = w->c;
	enum kz_rc rc = KZ_OK;

	w->next = *c->parent;
	if (c->tree_fd >= 0) {
		w->next.entries = c->entries;
		w->next.tree = (struct kz_blob){ .size = -1 };
		if (c->entries)
			rc = measure(c->tree_fd, &w->next.tree, err);
	}
	if (!rc && c->lines_fd >= 0)
		rc = measure(c->lines_fd, &w->next.lines, err);
	else if (c->drops_lines)
		w->next.lines = (struct kz_blob){ .size = -1 };
	if (!rc && c->packages_fd >= 0) {
		w->next.packages_entries = c->packages_entries;
		rc = measure(c->packages_fd, &w->next.packages, err);
	}
	if (rc)
		return rc;
	mark(w);
	return within_bounds(w, err);
}

static enum kz_rc superseded(struct kz_err *err)
{
	return kz_refuse(err, KZ_R_WORKSPACE_SUPERSEDED, NULL);
}

/*
 * Its name comes after all that are there.  One of a lower fence that is not the parent
 * was left by a writer whose lease is over, and does not count any more.
 */
static enum kz_rc choose_name(struct work *w, struct kz_err *err)
{
	int64_t fence = 0, seq = 0;
	struct kz_generation now;
	enum kz_rc rc = kz_generations_list(w->o, w->key, &w->there, until(w), err);

	if (rc)
		return rc;
	if (w->there.count &&
	    !kz_generation_name_parse(w->there.names[w->there.count - 1], &fence, &seq))
		return superseded(err);
	if (fence > w->c->fence || seq >= SEQ_MOST)
		return superseded(err);
	if (fence < w->c->fence)
		seq = 0;
	else if (strcmp(w->there.names[w->there.count - 1], w->c->parent->name)) {
		/* The last may be one that was never whole. */
		rc = kz_workspace_newest(w->o, w->key, &now, until(w), err);
		if (rc)
			return rc;
		if (strcmp(now.name, w->c->parent->name))
			return superseded(err);
	}
	kz_generation_name(w->c->fence, seq + 1, w->next.name);
	memcpy(w->next.parent, w->c->parent->name, sizeof(w->next.parent));
	return KZ_OK;
}

static enum kz_rc put_blob(struct work *w, int fd, struct kz_blob *b, struct kz_err *err)
{
	char object[KZ_OBJECT_NAME_MAX + 1];
	char *id = w->put[w->put_count];

	kz_random_id(id);
	w->put_count++;
	memcpy(b->id, id, sizeof(b->id));
	kz_blob_object(w->key, id, object);
	return kz_objects_put(w->o, object, fd, b->size, false, until(w), err);
}

static enum kz_rc store_blob(struct work *w, int given, struct kz_blob *b, struct kz_err *err)
{
	kz_auto_close int old = -1;
	enum kz_rc rc;

	if (b->size < 0)
		return KZ_OK;
	if (given >= 0)
		return put_blob(w, given, b, err);
	if (!is_long_ago(w->c->parent))
		return KZ_OK;
	rc = kz_workspace_fetch(w->o, w->key, b, &old, until(w), err);
	return rc ? rc : put_blob(w, old, b, err);
}

static void remove_object(const struct work *w, const char *object)
{
	struct kz_err ignored = KZ_ERR_INIT;

	kz_objects_remove(w->o, object, until(w), &ignored);
}

static void remove_blob(const struct work *w, const char *id)
{
	char object[KZ_OBJECT_NAME_MAX + 1];

	kz_blob_object(w->key, id, object);
	remove_object(w, object);
}

/* Nothing names them. */
static void undo_blobs(const struct work *w)
{
	for (int i = 0; i < w->put_count; i++)
		remove_blob(w, w->put[i]);
}

static enum kz_rc put_generation(struct work *w, struct kz_err *err)
{
	char object[KZ_OBJECT_NAME_MAX + 1];
	kz_auto_buf struct kz_buf text = KZ_BUF_INIT(KZ_GENERATION_MAX);
	kz_auto_close int fd = -1;
	struct kz_err e = KZ_ERR_INIT;
	enum kz_rc rc = kz_generation_write(&w->next, w->key, &text, err);

	if (!rc)
		rc = kz_memory_file_of("kz-generation", text.data, text.len, &fd, err);
	if (!rc)
		rc = still_sure(w, err);
	if (rc) {
		undo_blobs(w);
		return rc;
	}
	kz_generation_object(w->key, w->next.name, object);
	rc = kz_objects_put(w->o, object, fd, (int64_t)text.len, true, until(w), &e);
	if (!rc)
		return KZ_OK;
	if (kz_str_eq(e.reason, kz_reason_code(KZ_R_OBJECT_EXISTS))) {
		undo_blobs(w);
		return superseded(err);
	}
	*err = e;
	/* It may stand all the same: only once it surely does not may its blobs go. */
	if (!kz_deadline_passed(until(w)) &&
	    !kz_objects_remove(w->o, object, until(w), &(struct kz_err)KZ_ERR_INIT))
		undo_blobs(w);
	return e.rc;
}

static bool names_blob(const struct kz_generation *g, const struct kz_blob *b)
{
	return !strcmp(g->tree.id, b->id) || !strcmp(g->lines.id, b->id) ||
	       !strcmp(g->packages.id, b->id);
}

/* An old one, and what only it and older ones name. */
static void remove_old(const struct work *w, const char *name, const struct kz_generation *oldest)
{
	const struct kz_generation *const stay[] = { oldest, w->c->parent, &w->next };
	char object[KZ_OBJECT_NAME_MAX + 1];
	struct kz_generation g;
	struct kz_err ignored = KZ_ERR_INIT;
	bool is_cut = false, tree = true, lines = true, packages = true;

	if (kz_generation_get(w->o, w->key, name, &g, &is_cut, until(w), &ignored))
		return;
	kz_generation_object(w->key, name, object);
	if (kz_objects_remove(w->o, object, until(w), &ignored) || is_cut)
		return;
	for (size_t i = 0; i < sizeof(stay) / sizeof(*stay); i++) {
		if (!strcmp(stay[i]->name, name))
			continue;
		tree = tree && !names_blob(stay[i], &g.tree);
		lines = lines && !names_blob(stay[i], &g.lines);
		packages = packages && !names_blob(stay[i], &g.packages);
	}
	if (tree && g.tree.size >= 0)
		remove_blob(w, g.tree.id);
	if (lines && g.lines.size >= 0)
		remove_blob(w, g.lines.id);
	if (packages && g.packages.size >= 0)
		remove_blob(w, g.packages.id);
}

static void trim(const struct work *w)
{
	size_t keep = (size_t)w->c->keep - 1; /* beside the new one */
	struct kz_generation oldest = w->next;
	struct kz_err ignored = KZ_ERR_INIT;
	bool is_cut = false;

	if (w->there.count <= keep)
		return;
	if (keep == 1)
		oldest = *w->c->parent;
	/* Without it nothing can be told of what it names. */
	else if (keep && kz_generation_get(w->o, w->key, w->there.names[w->there.count - keep],
					   &oldest, &is_cut, until(w), &ignored))
		return;
	for (size_t i = 0; i < w->there.count - keep; i++)
		remove_old(w, w->there.names[i], &oldest);
}

/* Long unused, it may be on its way out: then it counts only while it is there. */
static bool is_gone(struct work *w)
{
	struct kz_err ignored = KZ_ERR_INIT;
	const char *name = w->c->parent->name;

	if (!*name || !is_long_ago(w->c->parent))
		return false;
	if (kz_generations_list(w->o, w->key, &w->there, until(w), &ignored))
		return false;
	for (size_t i = w->there.count; i > 0; i--)
		if (!strcmp(w->there.names[i - 1], name))
			return false;
	return true;
}

static enum kz_rc advance(struct work *w, struct kz_err *err)
{
	enum kz_rc rc = still_sure(w, err);

	if (!rc)
		rc = choose_name(w, err);
	if (rc)
		return rc;
	w->next.at_s = kz_time_wall_ms() / 1000;
	rc = store_blob(w, w->c->tree_fd, &w->next.tree, err);
	if (!rc)
		rc = store_blob(w, w->c->lines_fd, &w->next.lines, err);
	if (!rc)
		rc = store_blob(w, w->c->packages_fd, &w->next.packages, err);
	if (rc) {
		undo_blobs(w);
		return rc;
	}
	rc = put_generation(w, err);
	return rc ? rc : still_sure(w, err);
}

enum kz_rc kz_workspace_commit(struct kz_objects *o, const char *key, const struct kz_commit *c,
			       struct kz_generation *out, struct kz_err *err)
{
	struct work w = {
		.o = o, .key = key, .c = c, .most = kz_deadline_in(KZ_SECONDS(KZ_COMMIT_S))
	};
	enum kz_rc rc = compose(&w, err);

	if (rc)
		return rc;
	if (kz_generation_same(&w.next, c->parent) && !is_gone(&w)) {
		kz_generations_release(&w.there);
		*out = *c->parent;
		return KZ_OK;
	}
	rc = advance(&w, err);
	if (!rc) {
		*out = w.next;
		trim(&w);
	}
	kz_generations_release(&w.there);
	/* Whatever the store said then. */
	if (rc && kz_deadline_passed(c->sure(c->sure_arg)))
		return lease_lost(err);
	return rc;
}
