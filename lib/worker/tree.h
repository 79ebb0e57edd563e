/*
 * The whole workspace or all packages, out and in, as an entry stream (rule/entry.h).  No process of the
 * tenant is alive meanwhile; still nothing is followed and nothing is believed twice.
 * src: WS-9, WS-15, BOUND-5
 */
#ifndef KZ_WORKER_TREE_H
#define KZ_WORKER_TREE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/err.h"
#include "rule/entry.h"

/* A walk over a tree: each directory sorted, whatever is below it directly after it. */
struct kz_walk;
struct kz_walk_bounds {
	int64_t bytes, entries; /* inclusive */
};
/* Begin at a directory (borrowed). out: NULL when memory is out */
struct kz_walk *kz_walk_new(int top, const struct kz_walk_bounds *b);
void kz_walk_free(struct kz_walk *w);
KZ_AUTO(kz_auto_walk_, struct kz_walk *, kz_walk_free)
#define kz_auto_walk kz_auto(kz_auto_walk_)
/*
 * The next entry.
 * out: e and its name (borrowed until the next call), *fd of a regular file (own), and the
 *   end as KZ_ENTRY_END with its counts.  buf gets the target of a link.
 * err: KZ_E_NO over a bound, a name or a depth that no entry has; KZ_E_DATA when what was
 *   listed is not there any more or something else; KZ_E_OS
 */
enum kz_rc kz_walk_next(struct kz_walk *w, struct kz_entry *e, const char **name, int *fd,
			char target[KZ_ENTRY_TARGET_MAX + 1], struct kz_err *err);

/* A whole tree on its way out. */
struct kz_tree_out;
/*
 * Walk once to learn its length.
 * in: home: the workspace's directory, taken. out: bytes that will come.
 * err: workspace_over_bound, worker_fault
 */
enum kz_rc kz_tree_out_new(int home, const struct kz_walk_bounds *b, struct kz_tree_out **out,
			   int64_t *length, struct kz_err *err);
void kz_tree_out_free(struct kz_tree_out *t);
/*
 * Some more of it, at least a byte until *is_over.
 * err: KZ_E_DATA when the tree is not what the first walk saw: what was promised cannot be kept
 */
enum kz_rc kz_tree_out_more(struct kz_tree_out *t, struct kz_buf *out, bool *is_over,
			    struct kz_err *err);

/* A whole tree on its way in. */
struct kz_tree_in;
/* in: home: the workspace's directory, empty, taken; the owner of what is made. out: NULL when memory is out */
struct kz_tree_in *kz_tree_in_new(int home, uid_t uid, gid_t gid);
void kz_tree_in_free(struct kz_tree_in *t);
/*
 * A piece of the stream, whose entries come sorted by kz_entry_name_cmp.
 * err: path_rejected, input_over_bound, malformed_input, worker_fault
 */
enum kz_rc kz_tree_in_add(struct kz_tree_in *t, const void *p, size_t n, struct kz_err *err);
/* The stream ended. out: how many entries. err: as above, when it was cut */
enum kz_rc kz_tree_in_end(struct kz_tree_in *t, int64_t *count, struct kz_err *err);

/* Empty the root of a file system, however deep it is and whatever is in it; full is fine. err: worker_fault */
enum kz_rc kz_tree_empty(int root, uid_t uid, gid_t gid, struct kz_err *err);
/* Put an empty directory in the place of whatever is there, however deep. in: dir: the root of the tenant's file system; place: KZ_SPACE_HOME. err: worker_fault */
enum kz_rc kz_tree_clear(int dir, const char *place, uid_t uid, gid_t gid, struct kz_err *err);

#endif
