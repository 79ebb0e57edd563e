/* What is told of declared outputs while they are no more than that [OUT-4 to OUT-7, OUT-16]. */
#include "core/run/job.h"
#include "core/run/output.h"

/* A placeholder is the run and a number: nothing that could be asked for. */
static enum kz_rc print_one(struct kz_job *j, size_t i, const char *state, struct kz_err *err)
{
	const struct kz_job_output *o = &j->outputs[i];
	kz_auto_json struct kz_json *line = kz_json_object();

	if (!line)
		return kz_err_set(err, KZ_E_OS, "memory is out");
	kz_json_set_int(line, "v", 1);
	kz_json_set_str(line, "type", "progress");
	kz_json_set_str(line, "run", j->run);
	kz_json_set_int(line, "placeholder", (int64_t)i + 1);
	kz_json_set_str(line, "name", o->name);
	kz_json_set_str(line, "field", o->is_canvas ? "canvas_refs" : "downloads");
	kz_json_set_str(line, "state", state);
	return kz_job_print_json(j, line, err);
}

enum kz_rc kz_job_progress(struct kz_job *j, struct kz_err *err)
{
	enum kz_rc rc = KZ_OK;

	if (!j->ask->is_json)
		return KZ_OK;
	for (; !rc && j->progress_count < j->output_count; j->progress_count++)
		rc = print_one(j, j->progress_count, "declared", err);
	return rc;
}

enum kz_rc kz_job_progress_end(struct kz_job *j, struct kz_err *err)
{
	enum kz_rc rc = KZ_OK;

	for (size_t i = 0; !rc && i < j->progress_count; i++)
		rc = print_one(j, i, j->outputs[i].reference ? "validated" : "dropped", err);
	j->progress_count = 0;
	return rc;
}
