/* Grants of egress and their revocations. */
#include "core/audit/grants.h"
#include "core/audit/store.h"

enum kz_rc kz_audit_grant(struct kz_audit *a, const char *run, const char *execution,
			  const char *revision, struct kz_err *err)
{
	kz_auto_audit_row struct kz_audit_row *r = kz_audit_row_new(KZ_AUDIT_GRANT);

	if (r) {
		kz_audit_row_text(r, "run", run);
		kz_audit_row_text(r, "execution", execution);
		kz_audit_row_text(r, "revision", revision);
	}
	return kz_audit_add(a, r, err);
}

enum kz_rc kz_audit_revocation(struct kz_audit *a, const char *execution, int64_t before_s,
			       int64_t serial, struct kz_err *err)
{
	kz_auto_audit_row struct kz_audit_row *r = kz_audit_row_new(KZ_AUDIT_REVOCATION);

	if (r) {
		kz_audit_row_int(r, "serial", serial);
		kz_audit_row_text(r, "execution", execution);
		if (before_s > 0)
			kz_audit_row_int(r, "before_ms", before_s * 1000);
	}
	return kz_audit_add(a, r, err);
}
