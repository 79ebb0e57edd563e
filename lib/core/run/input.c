/* Inputs of a run: opened and measured before a worker is asked for. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/auto.h"
#include "base/str.h"
#include "core/run/job.h"
#include "rule/reason.h"

static enum kz_rc unreadable(const char *name, struct kz_err *err)
{
	kz_err_sys(err, KZ_E_NOINPUT, "input %.200s: cannot read it", name);
	return kz_err_reason(err, kz_reason_code(KZ_R_INPUT_UNREADABLE));
}

/* "NAME=FILE", or "FILE" whose name is its last part. */
static enum kz_rc split(const char *ask, char name[KZ_PATH_MAX + 1], const char **file,
			struct kz_err *err)
{
	const char *eq = strchr(ask, '=');
	const char *from = eq ? ask : kz_path_base(ask);
	size_t n = eq ? (size_t)(eq - ask) : strlen(from);
	enum kz_path_fault f = kz_path_normal(from, n, name);

	*file = eq ? eq + 1 : ask;
	if (f)
		return kz_refuse(err, KZ_R_INPUT_NAME_INVALID, "the name of an input %s",
				 kz_path_fault_text(f));
	return KZ_OK;
}

/* Two inputs of one name, or one below the other. */
static enum kz_rc check_clash(const struct kz_job *j, const char *name, struct kz_err *err)
{
	for (size_t i = 0; i < j->input_count; i++) {
		const char *a = j->inputs[i].name;
		size_t n = strlen(a), m = strlen(name), least = n < m ? n : m;

		if (strncmp(a, name, least) != 0)
			continue;
		if (n == m)
			return kz_refuse(err, KZ_R_USAGE, "two inputs have the name %.200s", name);
		if ((n < m ? name : a)[least] == '/')
			return kz_refuse(err, KZ_R_USAGE,
					 "input %.200s is also a directory of another input",
					 n < m ? a : name);
	}
	return KZ_OK;
}

static enum kz_rc open_one(struct kz_job *j, struct kz_job_input *in, int64_t left,
			   struct kz_err *err)
{
	/* Non-blocking, so that a named pipe without a writer cannot hold us here. */
	kz_auto_close int fd = open(in->file, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	struct stat st;
	enum kz_rc rc;

	if (fd < 0 || fstat(fd, &st))
		return unreadable(in->name, err);
	if (S_ISDIR(st.st_mode)) {
		errno = EISDIR;
		return unreadable(in->name, err);
	}
	if (S_ISREG(st.st_mode)) {
		in->size = st.st_size;
		in->fd = kz_take_fd(&fd);
		return KZ_OK;
	}
	rc = kz_source_copy(fd, left, j->cancel_fd, &in->fd, &in->size, err);
	if (rc == KZ_E_IO)
		return unreadable(in->name, err);
	if (!rc && lseek(in->fd, 0, SEEK_SET) < 0)
		return kz_err_sys(err, KZ_E_OS, "cannot rewind an input");
	return rc;
}

enum kz_rc kz_job_input_names(struct kz_job *j, struct kz_err *err)
{
	if (!j->ask->input_count)
		return KZ_OK;
	j->inputs = calloc(j->ask->input_count, sizeof(*j->inputs));
	if (!j->inputs)
		return kz_err_set(err, KZ_E_OS, "memory is out");
	for (size_t i = 0; i < j->ask->input_count; i++) {
		struct kz_job_input *in = &j->inputs[i];
		enum kz_rc rc = split(j->ask->inputs[i], in->name, &in->file, err);

		in->fd = -1;
		if (!rc)
			rc = check_clash(j, in->name, err);
		if (rc)
			return rc;
		j->input_count = i + 1;
	}
	return KZ_OK;
}

enum kz_rc kz_job_inputs(struct kz_job *j, struct kz_err *err)
{
	int64_t left = j->conf.set.kz_run_disk_bytes;

	if ((int64_t)j->input_count > j->conf.set.kz_run_inodes)
		return kz_refuse(err, KZ_R_INPUT_OVER_BOUND,
				 "more inputs than a workspace has inodes (KZ_RUN_INODES)");
	for (size_t i = 0; i < j->input_count; i++) {
		struct kz_job_input *in = &j->inputs[i];
		enum kz_rc rc = open_one(j, in, left, err);

		if (!rc)
			left -= in->size;
		if (rc == KZ_E_DATA || left < 0)
			return kz_refuse(err, KZ_R_INPUT_OVER_BOUND,
					 "the inputs have more than %lld bytes (KZ_RUN_DISK_BYTES)",
					 (long long)j->conf.set.kz_run_disk_bytes);
		if (rc)
			return rc;
	}
	return KZ_OK;
}
