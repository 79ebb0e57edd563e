/* What the audit store is told of a run: the rows of its dispatch and of its end. */
#include <stdlib.h>
#include <string.h>

#include "core/run/egress.h"
#include "core/run/install.h"
#include "core/run/job.h"
#include "core/run/kernel_parts.h"

static enum kz_rc digest_args(const struct kz_job *j, char out[KZ_SHA256_HEX], struct kz_err *err)
{
	kz_auto_json struct kz_json *list = kz_json_array();
	kz_auto_buf struct kz_buf b = KZ_BUF_INIT(1 << 20);
	enum kz_rc rc;

	for (size_t i = 0; i < j->ask->arg_count; i++)
		kz_json_append(list, kz_json_string(j->ask->args[i]));
	rc = kz_json_write_canonical(list, &b, err);
	if (!rc)
		kz_sha256_hex(b.data, b.len, out);
	return rc;
}

static struct kz_audit_file *list_inputs(const struct kz_job *j)
{
	struct kz_audit_file *f = calloc(j->input_count + 1, sizeof(*f));

	for (size_t i = 0; f && i < j->input_count; i++) {
		kz_audit_name_digest(j->run, j->inputs[i].name, f[i].name_sha256);
		memcpy(f[i].sha256, j->inputs[i].sha256, sizeof(f[i].sha256));
		f[i].bytes = j->inputs[i].size;
	}
	return f;
}

enum kz_rc kz_job_audit_dispatch(struct kz_job *j, struct kz_err *err)
{
	const struct kz_settings *set = &j->conf.set;
	const struct kz_json *limits = kz_json_get(j->health, "limits");
	kz_auto_json struct kz_json *egress = kz_job_egress_record(j);
	kz_auto_free struct kz_audit_file *inputs = list_inputs(j);
	char args[KZ_SHA256_HEX];
	const struct kz_audit_dispatch d = {
		.run = j->run,
		.lease = j->lease.id,
		.worker = j->lease.worker,
		.actor = j->who.actor_id,
		.conversation = j->who.conversation_id,
		.code_sha256 = j->source.sha256,
		.image = kz_json_str(j->health, "image", ""),
		.language = kz_language_name(j->source.language),
		.arguments_sha256 = args,
		.fence = j->lease.fence,
		.wall_ms = j->wall.ms,
		.memory_bytes = set->kz_run_memory_bytes,
		.output_bytes = set->sandbox_max_output_bytes,
		.open_files = set->kz_run_open_files,
		.artifact_bytes = set->sandbox_max_artifact_bytes,
		.env_count = (int64_t)j->ask->env_count,
		.limits = limits,
		.posture = kz_json_get(j->health, "posture"),
		.egress = egress,
		.scope = j->scope.turn ? &j->scope.audit : NULL,
		.inputs = inputs,
		.input_count = j->input_count,
	};
	enum kz_rc rc = digest_args(j, args, err);

	if (!inputs || !egress)
		return kz_err_set(err, KZ_E_OS, "memory is out");
	return rc ? rc : kz_audit_dispatch(j->audit, &d, err);
}

enum kz_rc kz_job_audit_denial(struct kz_job *j, const char *reason, struct kz_err *err)
{
	struct kz_audit_denial d = {
		.run = j->run,
		.actor = j->who.actor_id,
		.conversation = j->who.conversation_id,
		.reason = reason,
		.scope = j->scope.turn ? &j->scope.audit : NULL,
		.count = j->scope.refused_count,
		.bytes = j->scope.refused_bytes,
	};

	kz_job_packages_denial(j, &d);
	return kz_audit_scope_denial(j->audit, &d, err);
}

/* One row a reason, however often: code must not be able to fill the store [CB-9]. */
static enum kz_rc audit_calls(struct kz_job *j, struct kz_err *err)
{
	struct kz_audit_denial d = {
		.run = j->run,
		.actor = j->who.actor_id,
		.conversation = j->who.conversation_id,
		.scope = j->scope.turn ? &j->scope.audit : NULL,
		.bytes = -1,
	};
	enum kz_rc rc = KZ_OK;

	for (size_t i = 0; !rc && i < KZ_TOOL_REASONS; i++) {
		d.reason = kz_tool_reason(i);
		d.count = j->kernel->tools.refused_for[i];
		if (d.count)
			rc = kz_audit_scope_denial(j->audit, &d, err);
	}
	return rc;
}

enum kz_rc kz_job_audit_record(struct kz_job *j, const struct kz_json *record, struct kz_err *err)
{
	struct kz_audit_counted own = { .stdin_bytes = j->in.bytes, .is_cell = j->kernel };
	struct kz_sha256 hash = j->in.hash;
	enum kz_rc rc;

	kz_sha256_end(&hash, own.stdin_sha256);
	if (!j->kernel)
		return kz_audit_record(j->audit, record, &own, err);
	own.calls = j->kernel->tools.calls;
	own.calls_refused = j->kernel->tools.refused;
	own.call_bytes = j->kernel->tools.bytes;
	rc = audit_calls(j, err);
	return rc ? rc : kz_audit_record(j->audit, record, &own, err);
}
