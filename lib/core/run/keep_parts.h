/*
 * Parts of core/run/keep, included by nobody else.  Layer 3.
 */
#ifndef KZ_CORE_RUN_KEEP_PARTS_H
#define KZ_CORE_RUN_KEEP_PARTS_H

#include "core/files/tree.h"
#include "core/files/workspace.h"
#include "core/run/keep.h"
#include "core/worker/tree.h"

struct kz_keep {
	char key[KZ_ID_HEX];
	struct kz_objects *objects;
	struct kz_generation now; /* what is stored: restored from, later what was made of it */
	bool is_known;            /* now is */
	const char *snapshot;     /* as the record says it */
	int64_t skipped;          /* left out of the last save */
};

/* A file to look at while a tree is loaded: its bytes go to text, as far as they fit. */
struct kz_keep_peek {
	const char *name;
	struct kz_buf text;
};
/*
 * Put what a blob holds, or nothing (size -1), in the place of a whole tree of the worker.
 * in: entries of it; label for a workspace; peek NULL: at nothing. err: those of the store and the worker
 */
enum kz_rc kz_keep_load(struct kz_job *j, enum kz_wk_tree tree, const struct kz_blob *blob,
			int64_t entries, const char *label, struct kz_keep_peek *peek,
			struct kz_err *err);
/*
 * Take a whole tree of the worker as a tar.
 * in: bounds of it. own: *tar, new. out: sum of entries, what was left out; an empty one has none and no tar.
 * err: workspace_over_bound, those of the worker
 */
enum kz_rc kz_keep_collect(struct kz_job *j, enum kz_wk_tree tree, int64_t bytes, int64_t entries,
			   int *tar, struct kz_tree_sum *sum, struct kz_err *err);
/*
 * Store what was collected as that part of the next generation; its other parts are the newest one's.
 * out: j->keep->now. err: workspace_over_bound, packages_over_bound, those of the store
 */
enum kz_rc kz_keep_commit(struct kz_job *j, enum kz_wk_tree tree, int tar,
			  const struct kz_tree_sum *sum, struct kz_err *err);
/* How the worker is told what is in its workspace. */
const char *kz_keep_label(const struct kz_job *j);
/* Until when the lease of the job (arg) is surely in force. */
struct kz_deadline kz_keep_sure(void *arg);
/* How long one step of it may take from now. */
struct kz_deadline kz_keep_until(struct kz_job *j);

#endif
