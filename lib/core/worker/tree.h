/*
 * A worker's whole workspace, or all its packages, out and in.  Layer 3.
 * src: WS-9, WS-15, WS-17, BOUND-5
 */
#ifndef KZ_CORE_WORKER_TREE_H
#define KZ_CORE_WORKER_TREE_H

#include "core/worker/client.h"

/* Which tree: /work/space, or what was installed for a run, /work/packages. */
enum kz_wk_tree { KZ_WK_TREE_SPACE, KZ_WK_TREE_PACKAGES };

/*
 * The whole tree as a stream of entries (rule/entry.h), cut where it likes.  Files
 * that are neither regular, directory nor symbolic link are left out and counted; a hard
 * link is a file of its own.  What changes while it is read ends it.
 * in: most bytes of file contents and most entries, inclusive.
 * err: workspace_over_bound, worker_refused, transport_lost; what the sink returned
 */
enum kz_rc kz_wk_tree_get(struct kz_wk *w, const char *lease, enum kz_wk_tree tree, int64_t bytes,
			  int64_t entries, kz_wk_sink sink, void *arg, struct kz_deadline until,
			  struct kz_err *err);
/*
 * Replace the whole tree by a stream of entries, sorted by kz_entry_name_cmp: begin,
 * any number of adds, end.  A stream that is cut or refused leaves an empty tree,
 * a workspace without a label.  setuid and setgid of a file are not kept, neither way.
 * in: label names what a workspace holds from then on, at most KZ_WK_LABEL_MAX bytes;
 *   packages have none.
 * err: input_over_bound, path_rejected, worker_refused, transport_lost
 */
#define KZ_WK_LABEL_MAX 127
enum kz_rc kz_wk_tree_put_begin(struct kz_wk *w, const char *lease, enum kz_wk_tree tree,
				const char *label, struct kz_deadline until, struct kz_err *err);
enum kz_rc kz_wk_tree_put_add(struct kz_wk *w, const void *p, size_t n, struct kz_deadline until,
			      struct kz_err *err);
enum kz_rc kz_wk_tree_put_end(struct kz_wk *w, struct kz_deadline until, struct kz_err *err);
/*
 * Name what the workspace holds; health and bind tell it as "label".  It is "" at first,
 * and again from a put into the workspace and from the start of a program on.
 * err: worker_refused (also while a program runs), transport_lost
 */
enum kz_rc kz_wk_label(struct kz_wk *w, const char *lease, const char *label,
		       struct kz_deadline until, struct kz_err *err);

#endif
