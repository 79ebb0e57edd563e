/* What is recorded of a dispatch: what is about to run, with what, within what bounds. */
#include <string.h>

#include "base/str.h"
#include "core/audit/event.h"
#include "core/audit/store.h"

static void put_ids(struct kz_audit_row *r, const struct kz_audit_dispatch *d)
{
	kz_audit_row_text(r, "run", d->run);
	kz_audit_row_text(r, "lease", d->lease);
	kz_audit_row_text(r, "worker", d->worker);
	kz_audit_row_text(r, "actor", d->actor);
	kz_audit_row_text(r, "conversation", d->conversation);
	kz_audit_row_text(r, "code_sha256", d->code_sha256);
	kz_audit_row_text(r, "image", d->image);
	kz_audit_row_text(r, "language", d->language);
	kz_audit_row_text(r, "arguments_sha256", d->arguments_sha256);
	kz_audit_row_int(r, "fence", d->fence);
	kz_audit_row_int(r, "env_count", d->env_count);
}

static void put_limits(struct kz_audit_row *r, const struct kz_audit_dispatch *d)
{
	static const char *const told[] = { "memory_bytes", "pids", "disk_bytes", "inodes",
					    "cpus" };

	kz_audit_row_int(r, "wall_ms", d->wall_ms);
	kz_audit_row_int(r, "memory_bytes", d->memory_bytes);
	kz_audit_row_int(r, "output_bytes", d->output_bytes);
	kz_audit_row_int(r, "open_files", d->open_files);
	kz_audit_row_int(r, "artifact_bytes", d->artifact_bytes);
	for (size_t i = 0; i < sizeof(told) / sizeof(told[0]); i++)
		if (kz_json_num(d->limits, told[i], -1) >= 0)
			kz_audit_row_int(r, told[i], kz_json_num(d->limits, told[i], 0));
}

/*
 * The digest is over the canonical form of what the worker said, without the numbers of
 * the host's ids that it happens to have: they differ from worker to worker and say
 * nothing of how it is isolated.
 */
static enum kz_rc put_posture(struct kz_audit_row *r, const struct kz_json *posture,
			      struct kz_err *err)
{
	kz_auto_json struct kz_json *o = kz_json_object();
	kz_auto_buf struct kz_buf b = KZ_BUF_INIT(65536);
	char sha256[KZ_SHA256_HEX];
	const char *key;
	enum kz_rc rc;

	if (!kz_json_is_object(posture))
		return KZ_OK;
	for (size_t i = 0; (key = kz_json_key(posture, i)); i++)
		if (!kz_str_eq(key, "uid_base") && !kz_str_eq(key, "gid_base"))
			kz_json_set(o, key, kz_json_ref(kz_json_get(posture, key)));
	rc = kz_json_write_canonical(o, &b, err);
	if (rc != KZ_OK)
		return rc;
	kz_sha256_hex(b.data, b.len, sha256);
	kz_audit_row_text(r, "posture_sha256", sha256);
	kz_audit_row_text(r, "kernel", kz_json_str(posture, "kernel", NULL));
	if (kz_json_is_bool(kz_json_get(posture, "single_use")))
		kz_audit_row_int(r, "single_use", kz_json_flag(posture, "single_use", false));
	return KZ_OK;
}

static void put_egress(struct kz_audit_row *r, const struct kz_json *egress)
{
	const char *approval = kz_json_str(egress, "approval", NULL);
	char sha256[KZ_SHA256_HEX];

	kz_audit_row_text(r, "egress_mode", kz_json_str(egress, "effective", NULL));
	kz_audit_row_text(r, "egress_reason", kz_json_str(egress, "reason", NULL));
	kz_audit_row_text(r, "egress_execution", kz_json_str(egress, "execution", NULL));
	kz_audit_row_text(r, "egress_revision", kz_json_str(egress, "revision", NULL));
	if (!approval)
		return;
	kz_sha256_hex(approval, strlen(approval), sha256);
	kz_audit_row_text(r, "approval_sha256", sha256);
}

static void put_scope(struct kz_audit_row *r, const struct kz_audit_scope *s)
{
	if (!s)
		return;
	kz_audit_put_scope(r, s);
	kz_audit_row_int(r, "projected_count", s->projected_count);
	kz_audit_row_int(r, "projected_bytes", s->projected_bytes);
}

static enum kz_rc put_inputs(struct kz_audit_row *r, const struct kz_audit_dispatch *d,
			     struct kz_err *err)
{
	char sha256[KZ_SHA256_HEX];
	struct kz_audit_value *v;
	int64_t bytes = 0;

	kz_audit_files_digest(d->inputs, d->input_count, sha256);
	for (size_t i = 0; i < d->input_count; i++)
		bytes += d->inputs[i].bytes;
	kz_audit_row_int(r, "input_count", (int64_t)d->input_count);
	kz_audit_row_int(r, "input_bytes", bytes);
	kz_audit_row_text(r, "inputs_sha256", sha256);
	for (size_t i = 0; d->input_count <= KZ_AUDIT_CHILDREN && i < d->input_count; i++) {
		enum kz_rc rc = kz_audit_row_child(r, &v, err);

		if (rc != KZ_OK)
			return rc;
		kz_audit_value_text(&v[0], d->inputs[i].name_sha256);
		kz_audit_value_int(&v[1], d->inputs[i].bytes);
		kz_audit_value_text(&v[2], d->inputs[i].sha256);
	}
	return KZ_OK;
}

enum kz_rc kz_audit_dispatch(struct kz_audit *a, const struct kz_audit_dispatch *d,
			     struct kz_err *err)
{
	kz_auto_audit_row struct kz_audit_row *r = kz_audit_row_new(KZ_AUDIT_DISPATCH);

	if (r) {
		put_ids(r, d);
		put_limits(r, d);
		put_egress(r, d->egress);
		put_scope(r, d->scope);
		if (put_posture(r, d->posture, err) != KZ_OK || put_inputs(r, d, err) != KZ_OK)
			return kz_audit_fail(err);
	}
	return kz_audit_add(a, r, err);
}
