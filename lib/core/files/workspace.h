/*
 * Workspaces: what a member keeps between the runs of one conversation.
 *
 * The key is a keyed hash of actor and conversation [WS-1, WS-2]; everything of one
 * workspace lies below "w/KEY/" in the object store:
 *
 *   w/KEY/g/FENCE-SEQ    a generation: JSON, the newest name counts; written last
 *   w/KEY/b/SHA256       what generations name: the tree (a tar) and the hashline record
 *
 * A generation names its tree and its hashline record together, so both advance or
 * neither does [WS-14].  FENCE is that of the lease under which it was made (20 digits),
 * SEQ counts generations of that lease (6 digits): a writer whose lease is over can
 * never be the newest again.  A commit is valid only while the lease is surely in
 * force; one that returns later has failed, whatever the store did, and nobody else
 * could have begun meanwhile [WS-16].
 *
 * Layer 3.  src: WS-1 to WS-17, HL-1, BOUND-5, BOUND-9, BOUND-10, INV-35, INV-36
 */
#ifndef KZ_CORE_FILES_WORKSPACE_H
#define KZ_CORE_FILES_WORKSPACE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/time.h"
#include "core/files/objects.h"
#include "port/seal.h"

#define KZ_GENERATION_TEXT 28 /* "FENCE-SEQ" and the final 0 */

/* What a generation names; size -1: it has none. */
struct kz_blob {
	int64_t size;
	char sha256[KZ_SHA256_HEX];
};

struct kz_generation {
	char name[KZ_GENERATION_TEXT]; /* "" for the empty workspace before the first */
	struct kz_blob tree;           /* a tar: pax, not compressed */
	struct kz_blob lines;          /* the hashline record */
	int64_t entries;               /* of the tree */
	int64_t at_s;                  /* wall clock of the commit */
};

/* The key of a workspace. */
void kz_workspace_key(const struct kz_secret *identity, const char *actor, const char *conversation,
		      char out[KZ_ID_HEX]);

/*
 * The newest complete generation.  A generation object that was cut off while it was
 * written is passed over and told with a warning; one whose tree or record is missing
 * or altered is a fault (object_damaged), never an older state.
 * out: name "" when there is none. err: object_damaged, and those of the store
 */
enum kz_rc kz_workspace_newest(struct kz_objects *o, const char *key, struct kz_generation *out,
			       struct kz_deadline until, struct kz_err *err);
/*
 * The bytes of a blob in a new unnamed file at offset 0, verified by size and digest.
 * own: *fd. err: object_damaged, and those of the store
 */
enum kz_rc kz_workspace_fetch(struct kz_objects *o, const char *key, const struct kz_blob *b,
			      int *fd, struct kz_deadline until, struct kz_err *err);

/* What a commit changes; what it does not name stays as in the parent. */
struct kz_commit {
	const struct kz_generation *parent; /* what this was made from */
	int64_t fence;
	int tree_fd; /* -1: the parent's */
	int64_t entries;
	int lines_fd;     /* -1: the parent's */
	bool drops_lines; /* there shall be no record */
	int64_t tree_max; /* bytes of the tar, inclusive: SANDBOX_WORKSPACE_MAX_BYTES */
	int64_t lines_max;
	struct kz_deadline sure; /* until when the lease is surely in force */
};
/*
 * Make the next generation.  Blobs first, then the generation; older ones beyond
 * KZ_WORKSPACE_KEEP are removed afterwards, which may fail in silence.
 * out: the new one; equal to the parent when nothing changed (then nothing is written).
 * err: workspace_over_bound, lines_over_bound, workspace_superseded (there is a newer
 *   one than the parent), lease_lost, and those of the store; nothing advanced then
 */
enum kz_rc kz_workspace_commit(struct kz_objects *o, const char *key, const struct kz_commit *c,
			       struct kz_generation *out, struct kz_err *err);

#endif
