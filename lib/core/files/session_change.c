/* One program at work on one workspace: changing it. */
#include <unistd.h>

#include "base/auto.h"
#include "base/fd.h"
#include "base/str.h"
#include "core/files/session_parts.h"
#include "rule/reason.h"

#define FOREIGN_MORE ((int64_t)1 << 20)

static struct kz_deadline sure(void *arg)
{
	const struct kz_workspace *w = arg;

	return w->hold.sure;
}

/* A tree that is over the bound as a tar is told as such, whatever found it. */
static enum kz_rc commit(struct kz_workspace *w, const struct kz_image *m, bool is_fresh,
			 int lines_fd, struct kz_err *err)
{
	const struct kz_settings *set = &w->hold.conf.set;
	struct kz_tree_bounds b = kz_session_bounds(w);
	struct kz_generation parent = w->now;
	struct kz_tree_sum sum = { 0 };
	kz_auto_close int tar = -1;
	struct kz_commit c = {
		.parent = &parent,
		.fence = w->hold.lease.fence,
		.tree_fd = -1,
		.lines_fd = lines_fd,
		.packages_fd = -1,
		.is_fresh = is_fresh,
		.tree_max = set->sandbox_workspace_max_bytes,
		.lines_max = set->sandbox_hashline_state_max_bytes,
		.keep = set->kz_workspace_keep,
		.sure = sure,
		.sure_arg = w,
	};
	enum kz_rc rc = KZ_OK;

	if (m) {
		rc = kz_memory_file("kz-tar", &tar, err);
		if (!rc && m->count)
			rc = kz_image_write(m, tar, &b, &sum, kz_deadline_in(KZ_SESSION_CALL), err);
		c.tree_fd = tar;
		c.entries = (int64_t)m->count;
	}
	return rc ? rc : kz_workspace_commit(w->objects, w->key, &c, &w->now, err);
}

enum kz_rc kz_workspace_change(struct kz_workspace *w, const struct kz_change *changes,
			       size_t count, int lines_fd, struct kz_err *err)
{
	struct kz_image m kz_auto_image = KZ_IMAGE_INIT;
	enum kz_rc rc = count ? kz_session_image(w, &m, err) : KZ_OK;

	for (size_t i = 0; !rc && i < count; i++) {
		const struct kz_change *x = &changes[i];
		struct kz_image_entry *e = NULL;

		if (x->fd >= 0) {
			rc = kz_image_set(&m, x->path, x->fd, x->size, x->mode, err);
			continue;
		}
		rc = kz_image_file(&m, x->path, &e, err);
		if (!rc)
			rc = kz_image_remove(&m, x->path, false, err);
	}
	return rc ? rc : commit(w, count ? &m : NULL, false, lines_fd, err);
}

enum kz_rc kz_workspace_remove(struct kz_workspace *w, const char *const *paths, size_t count,
			       bool is_tree, struct kz_err *err)
{
	struct kz_image m kz_auto_image = KZ_IMAGE_INIT;
	enum kz_rc rc = kz_session_image(w, &m, err);

	for (size_t i = 0; !rc && i < count; i++)
		rc = kz_image_remove(&m, paths[i], is_tree, err);
	return rc ? rc : commit(w, &m, false, -1, err);
}

enum kz_rc kz_workspace_replace(struct kz_workspace *w, int tar_fd, struct kz_err *err)
{
	struct kz_image m kz_auto_image = KZ_IMAGE_INIT;
	struct kz_tree_bounds b = kz_session_bounds(w);
	enum kz_rc rc;

	/* One that others made may be padded; what is kept is measured as ours. */
	b.bytes = 2 * b.bytes + FOREIGN_MORE;
	b.may_be_compressed = true;
	rc = kz_image_read(&m, tar_fd, &b, w->cancel_fd, kz_deadline_in(KZ_SESSION_CALL), err);
	return rc ? rc : commit(w, &m, true, -1, err);
}
