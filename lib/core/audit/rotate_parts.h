/*
 * What the files of rotation share.  For the files of core/audit only.  Layer 3.
 */
#ifndef KZ_CORE_AUDIT_ROTATE_PARTS_H
#define KZ_CORE_AUDIT_ROTATE_PARTS_H

#include "core/audit/rotate.h"

#define KZ_AUDIT_DAY_MS INT64_C(86400000)

/* Remove closed files whose newest row is older, from the old end, each with a row that says so. out: removed_count grows */
enum kz_rc kz_audit_remove_old(struct kz_audit *a, int64_t keep_days, struct kz_audit_rotated *out,
			       struct kz_err *err);

#endif
