/*
 * Segments: moving the rows of the open segment to a closed file, and removing
 * closed files by age.  Both leave a row in the chain, so that verify can tell
 * them from a loss.  Any number of writers go on meanwhile.  Layer 3.
 */
#ifndef KZ_CORE_AUDIT_ROTATE_H
#define KZ_CORE_AUDIT_ROTATE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "core/audit/audit.h"

struct kz_audit_keep {
	int64_t segment_bytes; /* close the open segment when it holds this much */
	int64_t segment_days;  /* or when its first row is this old */
	int64_t keep_days; /* remove closed files whose newest row is older [KZ_AUDIT_KEEP_DAYS] */
	bool is_forced;    /* close it whatever its size and age (unless it is empty) */
};

struct kz_audit_rotated {
	bool is_closed;        /* a segment was closed */
	int64_t first, last;   /* its rows */
	int64_t removed_count; /* closed files removed */
	bool is_busy; /* somebody else rotates or reads the whole store; nothing was done */
};

/* The usual limits for a retention of keep_days. */
struct kz_audit_keep kz_audit_keep_default(int64_t keep_days);
/* err: audit_unavailable; what was begun is finished by the next call */
enum kz_rc kz_audit_rotate(const char *path, const struct kz_audit_keep *keep,
			   struct kz_audit_rotated *out, struct kz_err *err);

#endif
