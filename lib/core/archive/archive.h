/*
 * The work of kz-archive: a tar to an entry stream and back (rule/entry.h).  Both hold
 * the whole tree in memory and check it whole before the first byte goes out, so what is
 * refused has no effect.  No error text holds a name [AUD-4].  Layer 3.
 * src: WS-15, BOUND-10
 */
#ifndef KZ_CORE_ARCHIVE_ARCHIVE_H
#define KZ_CORE_ARCHIVE_ARCHIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "rule/entry_reader.h"

struct kz_archive_bounds {
	int64_t bytes; /* of the tar, before compression, and of all contents together; inclusive */
	int64_t entries; /* inclusive */
	bool may_be_compressed;
};

/*
 * Entries from in to a pax tar on out, sorted by name: the same tree makes the same bytes.
 * err: workspace_over_bound, archive_refused (no entry stream, cut, twice the same name,
 *   below what is no directory), io_failed, system_failed. wait: for in and out
 */
enum kz_rc kz_archive_pack(int in, int out, const struct kz_archive_bounds *b, struct kz_err *err);
/*
 * A tar from in to entries on out, sorted by name; directories that have no entry are
 * made up (0755, time 0); a hard link to an earlier file becomes a file.
 * err: archive_refused (malformed, cut, followed by something, over its bounds, an
 *   absolute name, "..", a device, fifo or socket, twice the same name, below what is no
 *   directory, a hard link to anything else), io_failed, system_failed. wait: for in and out
 */
enum kz_rc kz_archive_unpack(int in, int out, const struct kz_archive_bounds *b,
			     struct kz_err *err);
/* As kz_archive_unpack from tar[0..n) to a sink; for tests. */
enum kz_rc kz_archive_read(const void *tar, size_t n, const struct kz_archive_bounds *b,
			   const struct kz_entry_sink *to, struct kz_err *err);

#endif
