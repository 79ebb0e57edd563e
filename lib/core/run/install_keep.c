/* Packages between the store and the worker: restored before anything is decided, kept right after they were installed. */
#include <unistd.h>

#include "base/auto.h"
#include "base/str.h"
#include "core/run/install_parts.h"
#include "core/run/keep_parts.h"
#include "rule/reason.h"

static enum kz_rc damaged(struct kz_err *err)
{
	if (!kz_str_eq(err->reason, kz_reason_code(KZ_R_OBJECT_DAMAGED)) &&
	    !kz_str_eq(err->reason, kz_reason_code(KZ_R_ARCHIVE_REFUSED)))
		return err->rc;
	return kz_refuse(err, KZ_R_PACKAGES_DAMAGED, NULL);
}

enum kz_rc kz_packages_restore(struct kz_job *j, struct kz_err *err)
{
	struct kz_install *in = j->install;
	struct kz_keep_peek peek = { KZ_INSTALL_LOCK, KZ_BUF_INIT(KZ_INSTALL_LOCK_MAX) };
	static const struct kz_blob none = { .size = -1 };
	const struct kz_blob *blob = j->keep ? &j->keep->now.packages : &none;
	enum kz_rc rc;

	/* that of an own lease is empty; what a run before this one did to those of a held one is never kept */
	if (blob->size < 0 && j->is_lease_own)
		return KZ_OK;
	rc = kz_keep_load(j, KZ_WK_TREE_PACKAGES, blob, j->keep ? j->keep->now.packages_entries : 0,
			  "packages", &peek, err);
	if (!rc && blob->size >= 0) {
		in->has_tree = true;
		in->lock = kz_lock_read(peek.text.data, peek.text.len);
	}
	kz_buf_release(&peek.text);
	return rc ? damaged(err) : KZ_OK;
}

static enum kz_rc commit(struct kz_job *j, int tar, const struct kz_tree_sum *sum,
			 struct kz_err *err)
{
	const struct kz_settings *set = &j->conf.set;
	struct kz_keep *k = j->keep;
	struct kz_generation parent = k->now;
	const struct kz_commit x = {
		.parent = &parent,
		.fence = j->lease.fence,
		.tree_fd = -1,
		.lines_fd = -1,
		.packages_fd = tar,
		.packages_entries = sum->entries,
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

enum kz_rc kz_packages_keep(struct kz_job *j, struct kz_err *err)
{
	kz_auto_close int tar = -1;
	struct kz_tree_sum sum = { 0 };
	enum kz_rc rc;

	if (!j->keep)
		return KZ_OK;
	rc = kz_keep_collect(j, KZ_WK_TREE_PACKAGES, j->conf.set.kz_packages_max_bytes,
			     j->conf.set.kz_run_inodes, &tar, &sum, err);
	if (!rc && kz_job_is_cancelled(j))
		return kz_refuse(err, KZ_R_CANCELLED, NULL);
	if (!rc)
		rc = commit(j, tar, &sum, err);
	if (rc && (kz_str_eq(err->reason, kz_reason_code(KZ_R_WORKSPACE_OVER_BOUND)) ||
		   kz_str_eq(err->reason, kz_reason_code(KZ_R_PACKAGES_OVER_BOUND))))
		return kz_install_failed(j, KZ_R_PACKAGES_OVER_BOUND, err);
	return rc;
}
