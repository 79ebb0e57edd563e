/*
 * What the audit store holds of one run, with the chain checked from the run's first
 * row to the head: what a receipt is made from.  Layer 3.
 */
#ifndef KZ_CORE_AUDIT_RUN_H
#define KZ_CORE_AUDIT_RUN_H

#include <stdint.h>

#include "base/err.h"

struct kz_json;

/* Rows are objects as kz_audit_each gives them; own, NULL where there is none. */
struct kz_audit_run {
	struct kz_json *dispatch;
	struct kz_json *record;
	struct kz_json *evidence; /* of its lease; the first that is not clean, else the last */
	int64_t runs_before;      /* dispatches of its lease before it: they shared its workspace */
};

/*
 * Find a run that has ended.
 * in: path of audit.db; run of 32 hex digits.
 * err: run_unknown (also one that was refused before it started), run_unended,
 * audit_broken (a row from there on, or the head, is not what was written),
 * no_permission, audit_unavailable
 */
enum kz_rc kz_audit_run_find(const char *path, const char *run, struct kz_audit_run *out,
			     struct kz_err *err);
void kz_audit_run_release(struct kz_audit_run *r);
#define kz_auto_audit_run kz_auto(kz_audit_run_release)

#endif
