/* Declared outputs: their names, checked before anything is done [OUT-3, OUT-5]. */
#include "core/run/output.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/run/job.h"
#include "rule/media.h"
#include "rule/reason.h"

#define OUTPUTS_MAX 256

/* How the name stands to those before it. */
static enum kz_rc compare(const struct kz_job *j, size_t i, struct kz_err *err)
{
	const char *name = j->outputs[i].name;

	for (size_t k = 0; k < i; k++) {
		const char *other = j->outputs[k].name;

		if (!strcmp(other, name))
			return kz_refuse(err, KZ_R_USAGE, "output %.200s is declared twice", name);
		if (kz_path_same_but_case(other, name))
			return kz_refuse(err, KZ_R_OUTPUT_NAME_TAKEN,
					 "outputs %.200s and %.200s differ only in case", other,
					 name);
	}
	return KZ_OK;
}

static enum kz_rc declare(struct kz_job *j, const char *name, bool is_canvas, struct kz_err *err)
{
	size_t i = j->output_count;
	struct kz_job_output *o = &j->outputs[i];
	enum kz_path_fault f = kz_path_normal(name, strlen(name), o->name);

	o->is_canvas = is_canvas;
	if (f)
		return kz_refuse(err, KZ_R_OUTPUT_NAME_INVALID, "the name of %s %zu %s",
				 is_canvas ? "canvas" : "output",
				 is_canvas ? i + 1 - j->ask->output_count : i + 1,
				 kz_path_fault_text(f));
	if (is_canvas && !kz_media_is_text_name(o->name))
		return kz_refuse(err, KZ_R_CANVAS_NOT_TEXT,
				 "canvas %.200s has no extension of a text", o->name);
	j->output_count++;
	return compare(j, i, err);
}

static enum kz_rc declare_all(struct kz_job *j, struct kz_err *err)
{
	const struct kz_run_ask *ask = j->ask;
	size_t count = ask->output_count + ask->canvas_count;
	enum kz_rc rc = KZ_OK;

	if (count > OUTPUTS_MAX)
		return kz_refuse(err, KZ_R_USAGE, "at most %d outputs can be declared",
				 OUTPUTS_MAX);
	j->outputs = calloc(count + 1, sizeof(*j->outputs));
	if (!j->outputs)
		return kz_err_set(err, KZ_E_OS, "memory is out");
	for (size_t i = 0; !rc && i < ask->output_count; i++)
		rc = declare(j, ask->outputs[i], false, err);
	for (size_t i = 0; !rc && i < ask->canvas_count; i++)
		rc = declare(j, ask->canvases[i], true, err);
	return rc;
}

enum kz_rc kz_job_outputs(struct kz_job *j, struct kz_err *err)
{
	const char *dir = j->ask->outdir ? j->ask->outdir : ".";
	enum kz_rc rc = declare_all(j, err);

	if (rc || (!j->output_count && !j->ask->outdir))
		return rc;
	j->outdir_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (j->outdir_fd < 0 || faccessat(j->outdir_fd, ".", W_OK | X_OK, AT_EACCESS)) {
		kz_err_sys(err, KZ_E_CANTCREAT, "cannot write to the output directory %.200s", dir);
		return kz_err_reason(err, kz_reason_code(KZ_R_OUTPUT_UNCREATABLE));
	}
	return KZ_OK;
}

void kz_job_outputs_free(struct kz_job *j)
{
	for (size_t i = 0; i < j->output_count; i++)
		kz_json_free(j->outputs[i].reference);
	free(j->outputs);
}

int64_t kz_job_refused_count(const struct kz_job *j)
{
	int64_t n = 0;

	for (size_t i = 0; i < j->output_count; i++)
		n += j->outputs[i].state == KZ_OUTPUT_REFUSED;
	return n;
}
