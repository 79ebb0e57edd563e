/*
 * Pruning: workspaces that nobody changed for long, and objects that nothing names.
 *
 * No lease is taken, since a workspace in the store says nothing of whose it is.  What
 * a writer may name at the same time stays all the same: the ids of blobs are never used
 * twice; a commit ends within KZ_COMMIT_S; and what a generation of more than half of
 * KZ_PRUNE_LEAST_S names is stored anew by a commit rather than named again.  Layer 3.
 * src: WS-12, WS-16
 */
#ifndef KZ_CORE_FILES_PRUNE_H
#define KZ_CORE_FILES_PRUNE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/files/workspace.h"

/* Nothing younger is touched. */
#define KZ_PRUNE_LEAST_S 3600

struct kz_pruned {
	int64_t workspaces; /* removed whole */
	int64_t objects;    /* objects removed: theirs, and what nothing named */
	int64_t bytes;
	int64_t left;        /* workspaces that stay */
	int64_t temporaries; /* of killed writers */
};
/*
 * Remove the workspaces whose newest generation is older than older_s, by the store's
 * clock; of the others blobs older than that which no generation names, unless a
 * generation cannot be read.
 * in: older_s at least KZ_PRUNE_LEAST_S; is_dry: only count.
 * err: those of the store; what was removed until then stays removed. wait: until the deadline
 */
enum kz_rc kz_workspace_prune(struct kz_objects *o, int64_t older_s, bool is_dry,
			      struct kz_pruned *out, struct kz_deadline until, struct kz_err *err);

#endif
