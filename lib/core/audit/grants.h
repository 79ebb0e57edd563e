/*
 * The audit of egress grants and of their revocations.  Layer 3.
 * src: AUD-8, GRANT-15
 */
#ifndef KZ_CORE_AUDIT_GRANTS_H
#define KZ_CORE_AUDIT_GRANTS_H

#include "core/audit/audit.h"

/* A grant of egress, before it is handed out: execution id and policy revision, nothing of the token [GRANT-15]. err: audit_unavailable */
enum kz_rc kz_audit_grant(struct kz_audit *a, const char *run, const char *execution,
			  const char *revision, struct kz_err *err);
/* A revocation of grants, with the serial of the file that holds it. in: execution NULL or before_s 0: not that one. err: audit_unavailable */
enum kz_rc kz_audit_revocation(struct kz_audit *a, const char *execution, int64_t before_s,
			       int64_t serial, struct kz_err *err);

#endif
