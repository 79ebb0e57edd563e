/*
 * Reading the audit store: rows of all segments, oldest first, as JSON objects
 * of policy/schema/audit.json.  Layer 3.
 */
#ifndef KZ_CORE_AUDIT_READ_H
#define KZ_CORE_AUDIT_READ_H

#include <stdint.h>

#include "base/err.h"

struct kz_json;

/* What to show; NULL and 0 mean any. */
struct kz_audit_filter {
	const char *kind;
	const char *run, *worker, *lease, *actor, *conversation, *reason;
	int64_t since_ms;
	int64_t last; /* only this many of the newest */
};

/* Takes one row. own: takes j. Returning a failure ends the reading with it. */
typedef enum kz_rc (*kz_audit_sink)(void *arg, struct kz_json *j, struct kz_err *err);

/* in: path of audit.db. err: audit_unavailable, usage (no such kind), and the sink's */
enum kz_rc kz_audit_each(const char *path, const struct kz_audit_filter *f, kz_audit_sink sink,
			 void *arg, struct kz_err *err);
/* Everything about one run: its rows, and transitions and evidence of its lease. out: how many rows were given */
enum kz_rc kz_audit_show(const char *path, const char *run, kz_audit_sink sink, void *arg,
			 int64_t *count, struct kz_err *err);

#endif
