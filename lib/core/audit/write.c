/* What callers record of ends: records, denials, evidence, steps. */
#include "core/audit/store.h"

#include <string.h>

#include "base/str.h"
#include "core/audit/event.h"
#include "rule/evidence.h"
#include "rule/reason.h"

static void put_int(struct kz_audit_value *v, const struct kz_json *o, const char *key)
{
	if (kz_json_is_int(kz_json_get(o, key)) && kz_json_num(o, key, 0) >= 0)
		kz_audit_value_int(v, kz_json_num(o, key, 0));
}

static void put_col_int(struct kz_audit_row *r, const char *col, const struct kz_json *o,
			const char *key)
{
	if (kz_json_is_int(kz_json_get(o, key)))
		kz_audit_row_int(r, col, kz_json_num(o, key, 0));
}

static void put_limits(struct kz_audit_row *r, const struct kz_json *limits)
{
	static const char *const codes[] = { "output", "memory", "pids", "disk",
					     "inodes", "wall",   "cpu",  "other" };
	char col[24];

	for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
		kz_str_format(col, sizeof(col), NULL, "limit_%s", codes[i]);
		kz_audit_row_int(r, col, 0);
	}
	for (size_t i = 0; i < kz_json_count(limits); i++) {
		const char *code = kz_json_str_value(kz_json_at(limits, i));

		if (!code || kz_str_format(col, sizeof(col), NULL, "limit_%s", code) != KZ_OK ||
		    !kz_audit_row_get(r, col))
			kz_str_copy(col, sizeof(col), "limit_other", NULL);
		kz_audit_row_int(r, col, 1);
	}
}

static enum kz_rc put_outputs(struct kz_audit_row *r, const char *run,
			      const struct kz_json *outputs, struct kz_err *err)
{
	struct kz_audit_value *v;
	char name[KZ_SHA256_HEX];

	for (size_t i = 0; i < kz_json_count(outputs); i++) {
		const struct kz_json *o = kz_json_at(outputs, i);
		enum kz_rc rc = kz_audit_row_child(r, &v, err);

		if (rc != KZ_OK)
			return rc;
		kz_audit_value_int(&v[0], kz_json_num(o, "bytes", 0));
		kz_audit_value_text(&v[1], kz_json_str(o, "sha256", NULL));
		kz_audit_name_digest(run, kz_json_str(o, "name", ""), name);
		kz_audit_value_text(&v[2], name);
	}
	return KZ_OK;
}

/* Size and digest tell which state a run left, and whether a later one began with that [AUD-4]. */
static void put_snapshot(struct kz_audit_row *r, const struct kz_json *j)
{
	const struct kz_json *w = kz_json_get(j, "workspace");

	kz_audit_row_text(r, "snapshot", kz_json_str(j, "snapshot", NULL));
	if (!kz_json_is_object(w))
		return;
	put_col_int(r, "snapshot_bytes", w, "bytes");
	kz_audit_row_text(r, "snapshot_sha256", kz_json_str(w, "sha256", NULL));
	kz_audit_row_int(r, "snapshot_private", kz_json_flag(w, "private", false));
}

static void put_counted(struct kz_audit_row *r, const struct kz_audit_counted *own)
{
	if (!own)
		return;
	kz_audit_row_int(r, "stdin_bytes", own->stdin_bytes);
	kz_audit_row_text(r, "stdin_sha256", own->stdin_sha256);
	if (!own->is_cell)
		return;
	kz_audit_row_int(r, "call_count", own->calls);
	kz_audit_row_int(r, "call_refused_count", own->calls_refused);
	kz_audit_row_int(r, "call_bytes", own->call_bytes);
}

static void put_record(struct kz_audit_row *r, const struct kz_json *j,
		       const struct kz_audit_counted *own)
{
	const struct kz_json *out = kz_json_get(j, "stdout"), *errs = kz_json_get(j, "stderr");
	const struct kz_json *not_run = kz_json_get(j, "not_run");

	kz_audit_row_text(r, "run", kz_json_str(j, "run", NULL));
	kz_audit_row_text(r, "outcome", kz_json_str(j, "outcome", NULL));
	kz_audit_row_text(r, "cause", kz_json_str(j, "cause", NULL));
	kz_audit_row_text(r, "reason", kz_json_str(j, "reason", NULL));
	put_col_int(r, "exit_status", j, "exit");
	put_col_int(r, "signal", j, "signal");
	put_col_int(r, "wall_ms", j, "wall_ms");
	put_col_int(r, "cpu_ms", j, "cpu_ms");
	put_col_int(r, "peak_bytes", j, "peak_bytes");
	put_col_int(r, "stdout_seen", out, "seen_bytes");
	put_col_int(r, "stdout_kept", out, "kept_bytes");
	kz_audit_row_text(r, "stdout_sha256", kz_json_str(out, "sha256", NULL));
	put_col_int(r, "stderr_seen", errs, "seen_bytes");
	put_col_int(r, "stderr_kept", errs, "kept_bytes");
	kz_audit_row_text(r, "stderr_sha256", kz_json_str(errs, "sha256", NULL));
	put_col_int(r, "killed_count", j, "killed_count");
	put_counted(r, own);
	kz_audit_row_int(r, "not_run",
			 kz_json_is_bool(not_run) ?
				 kz_json_flag(j, "not_run", false) :
				 kz_json_count(not_run) > 0 || kz_json_is_string(not_run));
	put_col_int(r, "refused_count", j, "refused_count");
	put_limits(r, kz_json_get(j, "limits_hit"));
	put_snapshot(r, j);
}

enum kz_rc kz_audit_record(struct kz_audit *a, const struct kz_json *record,
			   const struct kz_audit_counted *own, struct kz_err *err)
{
	kz_auto_audit_row struct kz_audit_row *r = kz_audit_row_new(KZ_AUDIT_RECORD);

	if (r) {
		put_record(r, record, own);
		if (put_outputs(r, kz_json_str(record, "run", ""), kz_json_get(record, "outputs"),
				err) != KZ_OK)
			return kz_audit_fail(err);
	}
	return kz_audit_add(a, r, err);
}

enum kz_rc kz_audit_denial(struct kz_audit *a, const char *run, const char *actor,
			   const char *conversation, const char *reason, struct kz_err *err)
{
	const struct kz_audit_denial d = { .run = run,
					   .actor = actor,
					   .conversation = conversation,
					   .reason = reason,
					   .count = -1,
					   .bytes = -1 };

	return kz_audit_scope_denial(a, &d, err);
}

enum kz_rc kz_audit_egress_denial(struct kz_audit *a, const struct kz_audit_egress *e,
				  struct kz_err *err)
{
	kz_auto_audit_row struct kz_audit_row *r = kz_audit_row_new(KZ_AUDIT_DENIAL);
	struct kz_audit_value *v;

	if (r) {
		kz_audit_row_text(r, "run", e->run);
		kz_audit_row_text(r, "actor", e->actor);
		kz_audit_row_text(r, "reason", e->reason);
		if (kz_audit_row_child(r, &v, err) != KZ_OK)
			return kz_audit_fail(err);
		kz_audit_value_text(&v[0], e->host);
		if (e->port > 0)
			kz_audit_value_int(&v[1], e->port);
		kz_audit_value_text(&v[2], e->execution);
		kz_audit_value_text(&v[3], e->revision);
		kz_audit_value_int(&v[4], e->count);
	}
	return kz_audit_add(a, r, err);
}

/* A reading's own words are not taken in: what is no digest is kept as the digest of its text. */
static void put_digest(struct kz_audit_value *v, const struct kz_json *o, const char *key)
{
	const char *text = kz_json_str(o, key, "");
	char hex[KZ_SHA256_HEX];

	if (strlen(text) == 64 && strspn(text, "0123456789abcdef") == 64)
		kz_audit_value_text(v, text);
	else if (*text) {
		kz_sha256_hex(text, strlen(text), hex);
		kz_audit_value_text(v, hex);
	}
}

static enum kz_rc put_surfaces(struct kz_audit_row *r, const struct kz_json *surfaces,
			       struct kz_err *err)
{
	struct kz_audit_value *v;

	/* Every surface has a row: one that was not read is recorded as such. */
	for (int i = 0; i < KZ_SURFACE_COUNT; i++) {
		const char *code = kz_surface_code((enum kz_surface)i);
		const struct kz_json *o = kz_json_get(surfaces, code);
		enum kz_rc rc = kz_audit_row_child(r, &v, err);

		if (rc != KZ_OK)
			return rc;
		kz_audit_value_text(&v[0], code);
		kz_audit_value_int(&v[1], kz_json_is_object(o));
		put_int(&v[2], o, "now");
		put_int(&v[3], o, "baseline");
		put_digest(&v[4], o, "digest");
		put_digest(&v[5], o, "baseline_digest");
	}
	return KZ_OK;
}

enum kz_rc kz_audit_evidence(struct kz_audit *a, const struct kz_json *evidence, struct kz_err *err)
{
	kz_auto_audit_row struct kz_audit_row *r = kz_audit_row_new(KZ_AUDIT_EVIDENCE);

	if (r) {
		kz_audit_row_text(r, "worker", kz_json_str(evidence, "worker", NULL));
		kz_audit_row_text(r, "lease", kz_json_str(evidence, "lease", NULL));
		kz_audit_row_int(r, "clean", kz_json_flag(evidence, "clean", false));
		if (put_surfaces(r, kz_json_get(evidence, "surfaces"), err) != KZ_OK)
			return kz_audit_fail(err);
	}
	return kz_audit_add(a, r, err);
}

enum kz_rc kz_audit_run_step(struct kz_audit *a, const char *run, const char *from,
			     const char *event, const char *to, struct kz_err *err)
{
	kz_auto_audit_row struct kz_audit_row *r = kz_audit_row_new(KZ_AUDIT_RUN_STEP);

	if (r) {
		kz_audit_row_text(r, "run", run);
		kz_audit_row_text(r, "machine", "run");
		kz_audit_row_text(r, "from_state", from);
		kz_audit_row_text(r, "event", event);
		kz_audit_row_text(r, "to_state", to);
	}
	return kz_audit_add(a, r, err);
}
