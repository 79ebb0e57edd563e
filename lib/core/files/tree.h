/*
 * Archives of trees.  kz-archive, a program without keys under Landlock and seccomp,
 * reads and writes the tar; this side sees entries (rule/entry.h) only.  Layer 3.
 * src: WS-15, issue text of archives: parsed in a child without keys
 */
#ifndef KZ_CORE_FILES_TREE_H
#define KZ_CORE_FILES_TREE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/time.h"
#include "rule/entry.h"

/* What a tree may be at most; all inclusive. */
struct kz_tree_bounds {
	int64_t bytes; /* of the tar, before compression */
	int64_t entries;
	bool may_be_compressed; /* unpack: gzip, zstd and xz too; bytes is what comes out of them */
};

struct kz_tree_sum {
	int64_t entries; /* those made up for missing directories too */
	int64_t skipped; /* left out by who made the stream */
	int64_t bytes;   /* of the tar */
};

/* One entry, and after it its bytes in any number of calls of data. */
struct kz_tree_sink {
	void *arg;
	enum kz_rc (*entry)(void *arg, const struct kz_entry *e, const char *name,
			    struct kz_err *err);
	enum kz_rc (*data)(void *arg, const void *p, size_t n, struct kz_err *err);
};
/*
 * Read a tar from tar_fd (its start to its end) and hand out its entries, sorted so
 * that parents come first; each name once.
 * in: cancel_fd readable ends it; -1 none
 * err: archive_refused (absolute, "..", device, through a link, twice, over bounds, cut),
 *   and what the sink returns. wait: until the deadline
 */
enum kz_rc kz_tree_unpack(int tar_fd, const struct kz_tree_bounds *b, const struct kz_tree_sink *to,
			  struct kz_tree_sum *sum, int cancel_fd, struct kz_deadline until,
			  struct kz_err *err);

/* The other way: entries into a tar. */
struct kz_tree_pack;
/* Begin: the tar goes to tar_fd (regular, empty). own: kz_tree_pack_end or _abandon. err: KZ_E_OS */
enum kz_rc kz_tree_pack_begin(int tar_fd, const struct kz_tree_bounds *b, struct kz_deadline until,
			      struct kz_tree_pack **out, struct kz_err *err);
/* A piece of an entry stream, as long as it comes: any split will do. err: workspace_over_bound, archive_refused, io_failed */
enum kz_rc kz_tree_pack_add(struct kz_tree_pack *p, const void *bytes, size_t n,
			    struct kz_err *err);
/* The stream ended. out: sum. err: as add; archive_refused when it was cut */
enum kz_rc kz_tree_pack_end(struct kz_tree_pack *p, struct kz_tree_sum *sum, struct kz_err *err);
void kz_tree_pack_abandon(struct kz_tree_pack *p);

#endif
