/* The terminal record of a run. */
#include <string.h>

#include "base/str.h"
#include "core/run/egress.h"
#include "core/run/install.h"
#include "core/run/job.h"
#include "core/run/keep.h"
#include "core/run/kernel.h"
#include "core/run/shared.h"
#include "rule/reason.h"

static void set_stream(struct kz_json *o, const char *key, const struct kz_job *j, int i,
		       bool is_known)
{
	const struct kz_json *told = kz_json_get(j->worker_record, key);
	const struct kz_job_stream *s = &j->streams[i];
	struct kz_json *v = kz_json_object();
	char sha256[KZ_SHA256_HEX];
	struct kz_sha256 hash = s->hash;

	/* Without the worker's word only what came is told. */
	kz_sha256_end(&hash, sha256);
	kz_json_set_int(v, "seen_bytes", is_known ? kz_json_num(told, "seen_bytes", 0) : s->bytes);
	kz_json_set_int(v, "kept_bytes", s->bytes);
	kz_json_set_int(v, "dropped_bytes", is_known ? kz_json_num(told, "dropped_bytes", 0) : 0);
	kz_json_set_str(v, "sha256", is_known ? kz_json_str(told, "sha256", sha256) : sha256);
	kz_json_set(o, key, v);
}

static void set_number(struct kz_json *o, const char *key, const struct kz_json *told)
{
	const struct kz_json *v = kz_json_get(told, key);

	kz_json_set(o, key, kz_json_is_int(v) ? kz_json_int(kz_json_int_value(v)) : kz_json_null());
}

static struct kz_json *limits(const struct kz_json *told, bool is_output_cut)
{
	struct kz_json *list = kz_json_array();
	bool has_output = false;

	for (size_t i = 0; i < kz_json_count(told); i++) {
		const char *s = kz_json_str_value(kz_json_at(told, i));

		if (!s)
			continue;
		has_output = has_output || kz_str_eq(s, "output");
		kz_json_append(list, kz_json_string(s));
	}
	if (is_output_cut && !has_output)
		kz_json_append(list, kz_json_string("output"));
	return list;
}

static void set_not_run(struct kz_json *o, const struct kz_job *j, const struct kz_verdict *v)
{
	struct kz_json *n;

	if (v->cause != KZ_CAUSE_NONE) {
		kz_json_set(o, "not_run", kz_json_null());
		return;
	}
	n = kz_json_object();
	kz_json_set_str(n, "reason", kz_reason_code(v->reason));
	kz_job_packages_not_run(j, n);
	kz_json_set(o, "not_run", n);
}

struct kz_json *kz_job_record(struct kz_job *j, struct kz_verdict *verdict)
{
	struct kz_json *o = kz_json_object();
	const struct kz_json *told =
		j->facts.has_record && j->facts.is_started ? j->worker_record : NULL;
	struct kz_verdict v;

	kz_result_judge(&j->facts, &v);
	*verdict = v;
	if (!o)
		return NULL;
	kz_json_set_int(o, "v", 1);
	kz_json_set_str(o, "type", "record");
	kz_json_set_str(o, "run", j->run);
	kz_json_set_str(o, "outcome", kz_outcome_name(v.outcome));
	kz_json_set_str(o, "cause", v.cause == KZ_CAUSE_NONE ? NULL : kz_cause_name(v.cause));
	kz_json_set(o, "exit", v.has_exit ? kz_json_int(v.exit) : kz_json_null());
	kz_json_set(o, "signal", v.has_signal ? kz_json_int(v.signal) : kz_json_null());
	kz_json_set_str(o, "reason", v.has_reason ? kz_reason_code(v.reason) : NULL);
	set_number(o, "wall_ms", told);
	set_number(o, "cpu_ms", told);
	set_number(o, "peak_bytes", told);
	kz_json_set(o, "limits_hit",
		    limits(kz_json_get(told, "limits_hit"), j->facts.is_output_cut));
	set_stream(o, "stdout", j, 0, told != NULL);
	set_stream(o, "stderr", j, 1, told != NULL);
	set_number(o, "killed_count", told);
	kz_job_keep_record(j, o);
	kz_job_packages_record(j, o);
	kz_json_set(o, "kernel", kz_kernel_record(j));
	kz_json_set(o, "egress", kz_job_egress_record(j));
	kz_json_set(o, "projection", kz_job_shared_record(j));
	kz_json_set_bool(o, "private_selection", j->scope.is_private);
	kz_json_set(o, "outputs", kz_references(j, true, true));
	set_not_run(o, j, &v);
	kz_json_set_int(o, "refused_count", kz_job_refused_count(j));
	return o;
}
