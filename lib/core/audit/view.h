/*
 * A consistent look at the whole audit store: the head, a snapshot of the open
 * segment, and the closed segments before it.  While a view is open no rotation
 * runs; appending goes on.  For the files of core/audit only.  Layer 3.
 */
#ifndef KZ_CORE_AUDIT_VIEW_H
#define KZ_CORE_AUDIT_VIEW_H

#include "core/audit/store.h"

struct kz_audit_view {
	int dir;
	int lock;
	struct kz_audit_head head; /* read before the snapshot, so never ahead of it */
	struct kz_db *db; /* open segment inside a read transaction; NULL when there is none */
	int64_t first;    /* first row of the open segment, INT64_MAX when it has none */
	int64_t *closed;  /* first rows of the closed segments before it, ascending */
	size_t closed_count;
};

/* in: path of audit.db. err: no_permission, audit_unavailable; a store that is not there is an empty view */
enum kz_rc kz_audit_view_open(struct kz_audit_view *v, const char *path, struct kz_err *err);
void kz_audit_view_release(struct kz_audit_view *v);
#define kz_auto_audit_view kz_auto(kz_audit_view_release)
/* Open the i-th closed segment. own: caller closes */
enum kz_rc kz_audit_view_segment(const struct kz_audit_view *v, size_t i, struct kz_db **out,
				 struct kz_err *err);
/* "closed/0000000000000000001.db" */
void kz_audit_segment_name(int64_t first, char out[48]);
/* The first rows of the files in closed/, ascending. out: new array */
enum kz_rc kz_audit_segments(int dir, int64_t **out, size_t *count, struct kz_err *err);
/* SHA-256 of a file of the audit directory. */
enum kz_rc kz_audit_file_sha256(int dir, const char *name, char out[KZ_SHA256_HEX],
				struct kz_err *err);

#endif
