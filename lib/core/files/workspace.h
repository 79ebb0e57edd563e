/*
 * Workspaces: what a member keeps between the runs of one conversation.
 *
 * The key is a keyed hash of actor and conversation [WS-1, WS-2]; everything of one
 * workspace lies below "w/KEY/" in the object store:
 *
 *   w/KEY/g/FENCE-SEQ    a generation: one line of JSON, the newest name counts; written last
 *   w/KEY/b/ID           what generations name: the tree (a tar), the hashline record, the
 *                        installed packages (a tar)
 *
 * A generation names its tree, its hashline record and its packages together, so all
 * advance or none does [WS-14].  FENCE is that of the lease under which it was made (20 digits),
 * SEQ counts generations of that lease (6 digits): a writer whose lease is over can
 * never be the newest again.  A commit is valid only while the lease is surely in
 * force; one that returns later has failed, whatever the store did, and nobody else
 * could have begun meanwhile [WS-16].
 *
 * The ID of a blob is random and never used twice, so what nothing names is named by
 * nobody later, and can be removed.
 *
 * A generation is private when a program that was shown a member's private selection has
 * had its hands on what it names, or on what that was made from.  A copy may lie anywhere
 * in it, so the mark stays until all of the tree goes, and the record of shown lines goes
 * with that [PRJ-52].
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

/* What a generation names; size -1: it has none, and the texts are "". */
struct kz_blob {
	int64_t size;
	char sha256[KZ_SHA256_HEX];
	char id[KZ_ID_HEX];
};

struct kz_generation {
	char name[KZ_GENERATION_TEXT];   /* "" for the empty workspace before the first */
	char parent[KZ_GENERATION_TEXT]; /* what it was made from; "" for the first */
	struct kz_blob tree;             /* a tar: pax, not compressed */
	struct kz_blob lines;            /* the hashline record */
	struct kz_blob packages;         /* what was installed: a tar, with a bound of its own */
	int64_t entries;                 /* of the tree */
	int64_t packages_entries;        /* of the packages */
	int64_t at_s;                    /* wall clock of the commit */
	bool is_private;                 /* may hold some of a private selection */
};

/* Make it the empty workspace before the first. */
void kz_generation_none(struct kz_generation *g);
/* Equal content and mark. */
bool kz_generation_same(const struct kz_generation *a, const struct kz_generation *b);

/* The key of a workspace. in: both in their hashed form (core/run/who.h), since a lease knows no other */
void kz_workspace_key(const struct kz_secret *identity, const char *actor_id,
		      const char *conversation_id, char out[KZ_ID_HEX]);

/*
 * The newest complete generation.  A generation object that was cut off while it was
 * written (its line has no end) is passed over and told with a warning; one that was
 * altered, or that the store tells of and does not hand out, is a fault
 * (object_damaged), never an older state.
 * out: name "" when there is none. err: object_damaged, and those of the store
 */
enum kz_rc kz_workspace_newest(struct kz_objects *o, const char *key, struct kz_generation *out,
			       struct kz_deadline until, struct kz_err *err);
/*
 * The bytes of a blob in a new unnamed file at offset 0, verified by size and digest.
 * own: *fd. err: object_damaged (also when it is gone), and those of the store
 */
enum kz_rc kz_workspace_fetch(struct kz_objects *o, const char *key, const struct kz_blob *b,
			      int *fd, struct kz_deadline until, struct kz_err *err);

/* What a commit changes; what it does not name stays as in the parent. */
struct kz_commit {
	const struct kz_generation *parent; /* what this was made from */
	int64_t fence;
	int tree_fd;              /* -1: the parent's */
	int64_t entries;          /* of tree_fd; 0: an empty tree, which is no blob */
	int lines_fd;             /* -1: the parent's */
	bool drops_lines;         /* there shall be no record */
	int packages_fd;          /* -1: the parent's */
	int64_t packages_entries; /* of packages_fd, at least 1 */
	int64_t packages_max;     /* bytes of its tar, inclusive: KZ_PACKAGES_MAX_BYTES */
	bool is_private;          /* what is new may hold some of a private selection */
	bool is_fresh; /* nothing of the parent's tree is in tree_fd: its mark ends, as with an empty one */
	int64_t tree_max; /* bytes of the tar, inclusive: SANDBOX_WORKSPACE_MAX_BYTES */
	int64_t lines_max;
	int64_t keep; /* generations that stay: KZ_WORKSPACE_KEEP */
	/* Until when the lease is surely in force; asked again after every step that takes time. */
	struct kz_deadline (*sure)(void *arg);
	void *sure_arg;
};
/*
 * Make the next generation.  Blobs first, then the generation; older ones beyond keep
 * are removed afterwards, which may fail in silence.
 * out: the new one; equal to the parent when nothing changed (then nothing is written).
 * err: workspace_over_bound, lines_over_bound, packages_over_bound, workspace_superseded (this lease, or a
 *   later one, made another from the parent), lease_lost, and those of the store;
 *   nothing advanced then, unless the store fails twice: in the put and in its undoing
 * wait: until the lease is not sure any more, at most KZ_COMMIT_S
 */
#define KZ_COMMIT_S 600
enum kz_rc kz_workspace_commit(struct kz_objects *o, const char *key, const struct kz_commit *c,
			       struct kz_generation *out, struct kz_err *err);

#endif
