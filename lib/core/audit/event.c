/* Events, and what dispatches and denials hold of a scope. */
#include "core/audit/event.h"

#include <string.h>

#include "core/audit/store.h"
#include "port/json.h"

static const char *const names[] = {
	[KZ_AUDIT_SANDBOX_SELECTION_WITHHELD] = "sandbox.private_selection_withheld",
	[KZ_AUDIT_RUN_CODE_SELECTION_WITHHELD] = "run_code.private_selection_withheld",
	[KZ_AUDIT_RUN_CODE_INSTALL] = "run_code.packages_install",
};

const char *kz_audit_event_name(enum kz_audit_event_code code)
{
	return names[code];
}

static void put_known(struct kz_audit_row *r, const char *col, int64_t n)
{
	if (n >= 0)
		kz_audit_row_int(r, col, n);
}

static void put_digest(struct kz_audit_row *r, const char *col, const char *text)
{
	char hex[KZ_SHA256_HEX];

	if (!text)
		return;
	kz_sha256_hex(text, strlen(text), hex);
	kz_audit_row_text(r, col, hex);
}

void kz_audit_put_scope(struct kz_audit_row *r, const struct kz_audit_scope *s)
{
	if (!s)
		return;
	put_digest(r, "audience_sha256", s->audience_version);
	put_digest(r, "capability_sha256", s->capability);
	kz_audit_row_text(r, "manifest_sha256", s->manifest_sha256);
}

static void put_who(struct kz_audit_row *r, const char *run, const char *actor,
		    const char *conversation, const char *reason)
{
	kz_audit_row_text(r, "run", run);
	kz_audit_row_text(r, "actor", actor);
	kz_audit_row_text(r, "conversation", conversation);
	kz_audit_row_text(r, "reason", reason);
}

/* SHA-256 of the canonical JSON array of the names, as `jq -cj .not_run.packages` writes it of a record. */
static enum kz_rc put_packages(struct kz_audit_row *r, const struct kz_json *list,
			       struct kz_err *err)
{
	kz_auto_buf struct kz_buf b = KZ_BUF_INIT(1 << 20);
	char hex[KZ_SHA256_HEX];
	enum kz_rc rc;

	if (!kz_json_count(list))
		return KZ_OK;
	rc = kz_json_write_canonical(list, &b, err);
	if (rc != KZ_OK)
		return rc;
	kz_sha256_hex(b.data, b.len, hex);
	kz_audit_row_text(r, "packages_sha256", hex);
	return KZ_OK;
}

enum kz_rc kz_audit_scope_denial(struct kz_audit *a, const struct kz_audit_denial *d,
				 struct kz_err *err)
{
	kz_auto_audit_row struct kz_audit_row *r = kz_audit_row_new(KZ_AUDIT_DENIAL);

	if (r) {
		put_who(r, d->run, d->actor, d->conversation, d->reason);
		kz_audit_put_scope(r, d->scope);
		put_known(r, "count", d->count);
		put_known(r, "bytes", d->bytes);
		kz_audit_row_text(r, "cause", d->cause);
		if (put_packages(r, d->packages, err) != KZ_OK)
			return kz_audit_fail(err);
	}
	return kz_audit_add(a, r, err);
}

enum kz_rc kz_audit_event(struct kz_audit *a, const struct kz_audit_event *e, struct kz_err *err)
{
	kz_auto_audit_row struct kz_audit_row *r = kz_audit_row_new(KZ_AUDIT_EVENT);

	if (r) {
		kz_audit_row_text(r, "code", names[e->code]);
		put_who(r, e->run, e->actor, e->conversation, e->reason);
		put_known(r, "count", e->count);
		put_known(r, "bytes", e->bytes);
	}
	return kz_audit_add(a, r, err);
}
