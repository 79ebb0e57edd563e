/* Packages between the store and the worker: restored before anything is decided, kept right after they were installed. */
#include <unistd.h>

#include "base/auto.h"
#include "base/str.h"
#include "core/run/install_parts.h"
#include "core/run/keep_parts.h"
#include "rule/reason.h"

static bool is(const struct kz_err *err, enum kz_reason r)
{
	return kz_str_eq(err->reason, kz_reason_code(r));
}

/* Why what is kept cannot be used, in the terms of packages. */
static enum kz_rc unusable(struct kz_err *err)
{
	if (is(err, KZ_R_OBJECT_DAMAGED) || is(err, KZ_R_ARCHIVE_REFUSED))
		return kz_refuse(err, KZ_R_PACKAGES_DAMAGED, NULL);
	/* of a time when the bounds were higher */
	if (is(err, KZ_R_INPUT_OVER_BOUND))
		return kz_refuse(
			err, KZ_R_PACKAGES_OVER_BOUND,
			"the packages of this workspace do not fit into a worker (KZ_PACKAGES_MAX_BYTES, KZ_PACKAGES_INODES)");
	return err->rc;
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
	return rc ? unusable(err) : KZ_OK;
}

enum kz_rc kz_packages_keep(struct kz_job *j, struct kz_err *err)
{
	kz_auto_close int tar = -1;
	struct kz_tree_sum sum = { 0 };
	enum kz_rc rc;

	if (!j->keep)
		return KZ_OK;
	rc = kz_keep_collect(j, KZ_WK_TREE_PACKAGES, j->conf.set.kz_packages_max_bytes,
			     j->conf.set.kz_packages_inodes, &tar, &sum, err);
	if (!rc && kz_job_is_cancelled(j))
		return kz_refuse(err, KZ_R_CANCELLED, NULL);
	if (!rc)
		rc = kz_keep_commit(j, KZ_WK_TREE_PACKAGES, tar, &sum, err);
	if (!rc || !(is(err, KZ_R_WORKSPACE_OVER_BOUND) || is(err, KZ_R_PACKAGES_OVER_BOUND)))
		return rc;
	/* nothing runs with them, so none of them is told of */
	kz_json_free(kz_take(j->install->lock));
	return kz_install_failed(j, KZ_R_PACKAGES_OVER_BOUND, err);
}
