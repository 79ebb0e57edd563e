/* A run as one cell of a persistent kernel. */
#include "core/run/kernel.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/str.h"
#include "core/run/egress.h"
#include "core/run/kernel_parts.h"
#include "core/run/keep.h"
#include "core/run/source_asks.h"
#include "rule/reason.h"

#define CONFIG_MAX 65536

static const struct {
	const char *shim, *cell;
} files[] = {
	[KZ_LANG_PYTHON] = { ".kz-kernel.py", "cell.py" },
	[KZ_LANG_NODE] = { ".kz-kernel.mjs", "cell.js" },
	[KZ_LANG_SHELL] = { "", "" },
};

/* What a cell is not given, and where nothing would keep its state. */
static enum kz_rc may_be_cell(struct kz_job *j, struct kz_err *err)
{
	const struct kz_run_ask *ask = j->ask;
	bool asks = false;
	enum kz_rc rc;

	if (!ask->conversation && !ask->scope && !ask->lease)
		return kz_refuse(err, KZ_R_USAGE, "-k needs a conversation (-C)");
	if (j->source.language == KZ_LANG_SHELL)
		return kz_refuse(err, KZ_R_KERNEL_LANGUAGE, NULL);
	if (ask->approval)
		return kz_refuse(err, KZ_R_KERNEL_EGRESS, NULL);
	rc = kz_source_asks(&j->source, &asks, err);
	if (rc)
		return rc;
	if (asks)
		return kz_refuse(err, KZ_R_RESOURCE_PERSISTENT_KERNEL, NULL);
	if (!j->conf.set.sandbox_workspace_persist && !ask->lease)
		return kz_refuse(err, KZ_R_KERNEL_NOT_KEPT, NULL);
	return KZ_OK;
}

static enum kz_rc write_config(struct kz_job *j, struct kz_err *err)
{
	kz_auto_json struct kz_json *o = kz_json_object();
	const struct kz_settings *set = &j->conf.set;

	kz_json_set_str(o, "space", "/work/space");
	kz_json_set_int(o, "channel", 3);
	kz_json_set_int(o, "value_bytes", set->kz_kernel_value_bytes);
	kz_json_set_int(o, "total_bytes", set->sandbox_workspace_max_bytes);
	kz_json_set(o, "tools", kz_tools_names(&j->kernel->tools));
	kz_buf_init(&j->kernel->config, CONFIG_MAX);
	return kz_json_write(o, &j->kernel->config, err);
}

enum kz_rc kz_kernel_check(struct kz_job *j, struct kz_err *err)
{
	enum kz_rc rc;

	if (!j->ask->is_kernel)
		return KZ_OK;
	rc = may_be_cell(j, err);
	if (rc)
		return rc;
	j->kernel = calloc(1, sizeof(*j->kernel));
	if (!j->kernel)
		return kz_err_set(err, KZ_E_OS, "memory is out");
	j->kernel->generation = -1;
	rc = kz_tools_open(&j->kernel->tools, &j->conf.set, err);
	return rc ? rc : write_config(j, err);
}

enum kz_rc kz_kernel_put(struct kz_job *j, struct kz_deadline until, struct kz_err *err)
{
	const struct kz_source *s = &j->source;
	size_t n = 0;
	const char *shim = kz_kernel_shim(s->language, &n);
	enum kz_rc rc = kz_job_put_text(j, files[s->language].shim, shim, n, until, err);

	if (rc)
		return rc;
	return s->text ? kz_job_put_text(j, files[s->language].cell, s->text, strlen(s->text),
					 until, err) :
			 kz_wk_put(j->worker, j->lease.id, KZ_WK_CODE, files[s->language].cell,
				   s->fd, s->size, 0444, until, NULL, err);
}

const char **kz_kernel_argv(struct kz_job *j)
{
	static const struct {
		const char *program, *flag, *shim, *cell;
	} parts[] = {
		[KZ_LANG_PYTHON] = { "/usr/bin/python3", "-IB", KZ_SOURCE_DIR "/.kz-kernel.py",
				     KZ_SOURCE_DIR "/cell.py" },
		[KZ_LANG_NODE] = { "/usr/bin/node", "--no-warnings",
				   KZ_SOURCE_DIR "/.kz-kernel.mjs", KZ_SOURCE_DIR "/cell.js" },
	};
	const char **argv = calloc(j->ask->arg_count + 6, sizeof(*argv));
	size_t n = 0;

	if (!argv)
		return NULL;
	argv[n++] = parts[j->source.language].program;
	argv[n++] = parts[j->source.language].flag;
	argv[n++] = parts[j->source.language].shim;
	argv[n++] = kz_buf_str(&j->kernel->config);
	argv[n++] = parts[j->source.language].cell;
	for (size_t i = 0; i < j->ask->arg_count; i++)
		argv[n++] = j->ask->args[i];
	return argv;
}

enum kz_rc kz_kernel_begin(struct kz_job *j, int *fd, struct kz_err *err)
{
	*fd = -1;
	return j->kernel ?
		       kz_kernel_channel_start(&j->kernel->channel, &j->kernel->tools, fd, err) :
		       KZ_OK;
}

void kz_kernel_over(void *arg)
{
	struct kz_job *j = arg;

	if (j->kernel && j->kernel->channel)
		kz_kernel_channel_over(j->kernel->channel);
}

void kz_kernel_end(struct kz_job *j)
{
	struct kz_kernel *k = j->kernel;

	if (k && k->channel)
		kz_kernel_channel_free(kz_take(k->channel), &k->generation, &k->report);
}

void kz_kernel_free(struct kz_job *j)
{
	kz_kernel_end(j);
	if (!j->kernel)
		return;
	kz_tools_release(&j->kernel->tools);
	kz_buf_release(&j->kernel->config);
	kz_json_free(j->kernel->report);
	free(kz_take(j->kernel));
}
