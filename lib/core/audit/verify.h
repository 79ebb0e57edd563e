/*
 * Is the audit store whole?  Walks every segment from its first row: hashes,
 * numbers, the transitions' own numbers, the closed files and the head outside.
 * Layer 3.
 */
#ifndef KZ_CORE_AUDIT_VERIFY_H
#define KZ_CORE_AUDIT_VERIFY_H

#include "base/err.h"

struct kz_json;

/*
 * in: path of audit.db.
 * out: report (new) of policy/schema/audit_verify.json: ok, rows, segments,
 * head_lag, problems [{code, id, ...}], more_problems; KZ_OK also when it is
 * broken, the caller reads "ok".
 * err: audit_unavailable when it cannot be read at all
 */
enum kz_rc kz_audit_verify(const char *path, struct kz_json **report, struct kz_err *err);

#endif
