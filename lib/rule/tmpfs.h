/*
 * What files take in memory.  Pure arithmetic, shared by who makes a bounded tmpfs and who
 * bounds the memory of those that fill it.  Layer 2.
 */
#ifndef KZ_RULE_TMPFS_H
#define KZ_RULE_TMPFS_H

#include <stdint.h>

/*
 * Size of a tmpfs that holds any files (count, at most) whose contents are bytes together: the last page of
 * each may hold one byte. in: all at least 0, page at least 1. out: a multiple of page; INT64_MAX / 2 at most
 */
int64_t kz_tmpfs_bytes(int64_t bytes, int64_t files, int64_t page);
/* What the kernel charges for bytes in pages and for files: an inode and its name are about 1 KiB. out: INT64_MAX / 2 at most */
int64_t kz_tmpfs_memory(int64_t bytes, int64_t files);

#endif
