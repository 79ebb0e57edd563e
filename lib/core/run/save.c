/* The workspace of a run: what the program left is kept after it ended by itself. */
#include <string.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/fd.h"
#include "base/str.h"
#include "core/files/tree.h"
#include "core/run/keep_parts.h"
#include "core/worker/tree.h"
#include "rule/reason.h"

/* The worker's entries on their way into a tar; a packer is started when there is a first one. */
struct collect {
	struct kz_deadline until;
	struct kz_tree_bounds bounds;
	int tar;
	struct kz_tree_pack *pack;
	uint8_t head[KZ_ENTRY_HEAD];
	size_t have;
	bool is_empty; /* the stream began with its end */
	struct kz_tree_sum sum;
};

static enum kz_rc begin(struct collect *c, struct kz_err *err)
{
	struct kz_entry e;
	enum kz_rc rc;

	if (!kz_entry_parse(c->head, &e))
		return kz_refuse(err, KZ_R_TRANSPORT_LOST, "the worker sent no tree");
	if (e.kind == KZ_ENTRY_END) {
		c->is_empty = true;
		c->sum.skipped = e.mtime_s;
		return KZ_OK;
	}
	rc = kz_tree_pack_begin(c->tar, &c->bounds, c->until, &c->pack, err);
	return rc ? rc : kz_tree_pack_add(c->pack, c->head, sizeof(c->head), err);
}

static enum kz_rc collect_add(void *arg, const void *p, size_t n, struct kz_err *err)
{
	struct collect *c = arg;
	const char *s = p;
	size_t room = sizeof(c->head) - c->have;
	enum kz_rc rc = KZ_OK;

	if (room) {
		room = n < room ? n : room;
		memcpy(c->head + c->have, s, room);
		c->have += room;
		s += room;
		n -= room;
		if (c->have == sizeof(c->head))
			rc = begin(c, err);
	}
	if (rc || !n)
		return rc;
	return c->is_empty ? kz_refuse(err, KZ_R_TRANSPORT_LOST, "the worker sent no tree") :
			     kz_tree_pack_add(c->pack, s, n, err);
}

static enum kz_rc take(struct kz_job *j, enum kz_wk_tree tree, struct collect *c,
		       struct kz_err *err)
{
	enum kz_rc rc = kz_wk_tree_get(j->worker, j->lease.id, tree, c->bounds.bytes,
				       c->bounds.entries, collect_add, c, c->until, err);

	if (!rc && c->pack)
		return kz_tree_pack_end(kz_take(c->pack), &c->sum, err);
	if (!rc && !c->is_empty)
		rc = kz_refuse(err, KZ_R_TRANSPORT_LOST, "the worker sent no tree");
	if (c->pack)
		kz_tree_pack_abandon(kz_take(c->pack));
	return rc;
}

enum kz_rc kz_keep_collect(struct kz_job *j, enum kz_wk_tree tree, int64_t bytes, int64_t entries,
			   int *tar, struct kz_tree_sum *sum, struct kz_err *err)
{
	kz_auto_close int fd = -1;
	struct collect c = { .until = kz_keep_until(j),
			     .bounds = { .bytes = bytes, .entries = entries } };
	enum kz_rc rc = kz_memory_file("kz-tar", &fd, err);

	c.tar = fd;
	if (!rc)
		rc = take(j, tree, &c, err);
	if (rc)
		return rc;
	*sum = c.sum;
	*tar = kz_take_fd(&fd);
	return KZ_OK;
}

enum kz_rc kz_keep_commit(struct kz_job *j, enum kz_wk_tree tree, int tar,
			  const struct kz_tree_sum *sum, struct kz_err *err)
{
	const struct kz_settings *set = &j->conf.set;
	bool is_packages = tree == KZ_WK_TREE_PACKAGES;
	struct kz_keep *k = j->keep;
	struct kz_generation parent = k->now;
	const struct kz_commit x = {
		.parent = &parent,
		.fence = j->lease.fence,
		.tree_fd = is_packages ? -1 : tar,
		.entries = is_packages ? 0 : sum->entries,
		.lines_fd = -1,
		.packages_fd = is_packages ? tar : -1,
		.packages_entries = is_packages ? sum->entries : 0,
		.packages_max = set->kz_packages_max_bytes,
		.is_private = j->scope.is_derived,
		.tree_max = set->sandbox_workspace_max_bytes,
		.lines_max = set->sandbox_hashline_state_max_bytes,
		.keep = set->kz_workspace_keep,
		.sure = kz_keep_sure,
		.sure_arg = j,
	};

	return kz_workspace_commit(k->objects, k->key, &x, &k->now, err);
}

static enum kz_rc save(struct kz_job *j, struct kz_err *err)
{
	const struct kz_settings *set = &j->conf.set;
	const struct kz_generation parent = j->keep->now;
	kz_auto_close int tar = -1;
	struct kz_tree_sum sum = { 0 };
	enum kz_rc rc = kz_keep_collect(j, KZ_WK_TREE_SPACE, set->sandbox_workspace_max_bytes,
					set->kz_run_inodes, &tar, &sum, err);

	if (!rc && kz_job_is_cancelled(j))
		rc = kz_refuse(err, KZ_R_CANCELLED, NULL);
	if (rc)
		return rc;
	j->keep->skipped = sum.skipped;
	rc = kz_keep_commit(j, KZ_WK_TREE_SPACE, tar, &sum, err);
	if (!rc)
		j->keep->snapshot = strcmp(parent.name, j->keep->now.name) ? "saved" : "unchanged";
	return rc;
}

/* Only what a program left that ended by itself is what it meant to leave. */
static bool is_to_keep(struct kz_job *j)
{
	const struct kz_run_facts *f = &j->facts;

	return j->keep && f->has_record && f->is_started && !f->interrupted &&
	       (f->cause == KZ_CAUSE_EXIT || f->cause == KZ_CAUSE_SIGNAL) &&
	       !kz_job_is_cancelled(j);
}

void kz_job_save(struct kz_job *j)
{
	struct kz_err err = KZ_ERR_INIT, ignored = KZ_ERR_INIT;

	if (!is_to_keep(j))
		return;
	if (!save(j, &err)) {
		/* Without it the next run of this lease loads it once more. */
		if (!j->is_lease_own)
			kz_wk_label(j->worker, j->lease.id, kz_keep_label(j), kz_keep_until(j),
				    &ignored);
		return;
	}
	if (kz_str_eq(err.reason, kz_reason_code(KZ_R_WORKSPACE_OVER_BOUND)))
		j->keep->snapshot = "over_bound";
	else if (!kz_str_eq(err.reason, kz_reason_code(KZ_R_CANCELLED)))
		j->keep->snapshot = "failed";
	kz_job_fail(j, &err);
}

void kz_job_keep_record(const struct kz_job *j, struct kz_json *o)
{
	const struct kz_keep *k = j->keep;
	struct kz_json *w;

	kz_json_set_str(o, "snapshot", k ? k->snapshot : "none");
	if (!k || !k->is_known) {
		kz_json_set(o, "workspace", kz_json_null());
		return;
	}
	w = kz_json_object();
	kz_json_set_str(w, "generation", k->now.name[0] ? k->now.name : NULL);
	kz_json_set_int(w, "bytes", k->now.tree.size < 0 ? 0 : k->now.tree.size);
	kz_json_set_str(w, "sha256", k->now.tree.size < 0 ? NULL : k->now.tree.sha256);
	kz_json_set_int(w, "entries", k->now.entries);
	kz_json_set_int(w, "skipped", k->skipped);
	kz_json_set_bool(w, "private", k->now.is_private);
	kz_json_set(o, "workspace", w);
}
