/* Sums that do not overflow. */
#include "rule/tmpfs.h"

#define MOST (INT64_MAX / 2)
#define INODE_BYTES 1024

/* a + n * each */
static int64_t sum(int64_t a, int64_t n, int64_t each)
{
	return a >= MOST || n > (MOST - a) / each ? MOST : a + n * each;
}

int64_t kz_tmpfs_bytes(int64_t bytes, int64_t files, int64_t page)
{
	int64_t pages = bytes / page + (bytes % page != 0);
	int64_t all = sum(pages, files, 1);

	return all > MOST / page ? MOST / page * page : all * page;
}

int64_t kz_tmpfs_memory(int64_t bytes, int64_t files)
{
	return sum(bytes, files, INODE_BYTES);
}
