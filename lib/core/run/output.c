/* Declared outputs: names checked first, files copied out after the run [OUT-3]. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/auto.h"
#include "base/fd.h"
#include "base/str.h"
#include "base/sys.h"
#include "core/run/job.h"
#include "rule/media.h"
#include "rule/reason.h"

#define OUTPUTS_MAX 256
#define GET_MS 30000

static enum kz_rc uncreatable(const char *name, struct kz_err *err)
{
	kz_err_sys(err, KZ_E_CANTCREAT, "output %.200s", name);
	return kz_err_reason(err, kz_reason_code(KZ_R_OUTPUT_UNCREATABLE));
}

enum kz_rc kz_job_outputs(struct kz_job *j, struct kz_err *err)
{
	const char *dir = j->ask->outdir ? j->ask->outdir : ".";
	size_t count = j->ask->output_count;

	if (count > OUTPUTS_MAX)
		return kz_refuse(err, KZ_R_USAGE, "at most %d outputs can be declared",
				 OUTPUTS_MAX);
	if (count) {
		j->outputs = calloc(count, sizeof(*j->outputs));
		if (!j->outputs)
			return kz_err_set(err, KZ_E_OS, "memory is out");
	}
	for (size_t i = 0; i < count; i++) {
		const char *name = j->ask->outputs[i];
		enum kz_path_fault f = kz_path_normal(name, strlen(name), j->outputs[i]);

		if (f)
			return kz_refuse(err, KZ_R_OUTPUT_NAME_INVALID, "the name of output %zu %s",
					 i + 1, kz_path_fault_text(f));
		for (size_t k = 0; k < i; k++)
			if (!strcmp(j->outputs[k], j->outputs[i]))
				return kz_refuse(err, KZ_R_USAGE, "output %.200s is declared twice",
						 j->outputs[i]);
	}
	j->output_count = count;
	if (!count && !j->ask->outdir)
		return KZ_OK;
	j->outdir_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (j->outdir_fd < 0 || faccessat(j->outdir_fd, ".", W_OK | X_OK, AT_EACCESS)) {
		kz_err_sys(err, KZ_E_CANTCREAT, "cannot write to the output directory %.200s", dir);
		return kz_err_reason(err, kz_reason_code(KZ_R_OUTPUT_UNCREATABLE));
	}
	return KZ_OK;
}

/* Open the directory that a name lies in, making what is missing; no symbolic link is followed. */
static int open_parent(int dir, const char *name)
{
	kz_auto_close int at = fcntl(dir, F_DUPFD_CLOEXEC, 3);
	const char *slash;

	for (; at >= 0 && (slash = strchr(name, '/')); name = slash + 1) {
		char part[KZ_PATH_COMPONENT_MAX + 1];
		int next;

		memcpy(part, name, (size_t)(slash - name));
		part[slash - name] = 0;
		if (mkdirat(at, part, 0755) == 0)
			fchmodat(at, part, 0755, 0); /* whatever the umask says; it is ours */
		else if (errno != EEXIST)
			return -1;
		next = openat(at, part, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		close(at);
		at = next;
	}
	return kz_take_fd(&at);
}

/* A file on its way: without a name until it is whole, where the file system can do that. */
struct copy {
	int dir; /* the output directory, borrowed */
	int fd;
	char temp[48]; /* its name meanwhile; "" for none */
	int64_t bytes;
	struct kz_sha256 hash;
	char head[KZ_MEDIA_HEAD];
	size_t head_len;
};

static void copy_release(struct copy *c)
{
	if (c->temp[0])
		unlinkat(c->dir, c->temp, 0);
	kz_auto_close_(&c->fd);
}

static enum kz_rc copy_open(struct copy *c, const struct kz_job *j, const char *name,
			    struct kz_err *err)
{
	char id[KZ_ID_HEX];

	c->dir = j->outdir_fd;
	kz_sha256_start(&c->hash);
	kz_random_id(id);
	snprintf(c->temp, sizeof(c->temp), ".kz-%s", id);
	c->fd = openat(c->dir, ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
	if (c->fd >= 0) {
		c->temp[0] = 0;
		return KZ_OK;
	}
	c->fd = openat(c->dir, c->temp, O_CREAT | O_EXCL | O_NOFOLLOW | O_WRONLY | O_CLOEXEC, 0600);
	if (c->fd < 0) {
		c->temp[0] = 0;
		return uncreatable(name, err);
	}
	return KZ_OK;
}

static enum kz_rc copy_add(void *arg, const void *p, size_t n, struct kz_err *err)
{
	struct copy *c = arg;
	size_t room = sizeof(c->head) - c->head_len;

	memcpy(c->head + c->head_len, p, n < room ? n : room);
	c->head_len += n < room ? n : room;
	kz_sha256_add(&c->hash, p, n);
	c->bytes += (int64_t)n;
	return kz_fd_write_all(c->fd, p, n, err);
}

/* A nameless file gets a name beside the final one. */
static int give_name(struct copy *c)
{
	char proc[40], id[KZ_ID_HEX];

	if (c->temp[0])
		return 0;
	kz_random_id(id);
	snprintf(proc, sizeof(proc), "/proc/self/fd/%d", c->fd);
	snprintf(c->temp, sizeof(c->temp), ".kz-%s", id);
	if (linkat(AT_FDCWD, proc, c->dir, c->temp, AT_SYMLINK_FOLLOW) == 0)
		return 0;
	c->temp[0] = 0;
	return -1;
}

/*
 * Give it its place, replacing whatever had the name (a symbolic link itself, never
 * its target).  Directories are made only now, so that a failure leaves none.
 */
static enum kz_rc copy_finish(struct copy *c, const char *name, struct kz_err *err)
{
	kz_auto_close int parent = -1;

	if (kz_sys_before(KZ_SYS_OUT_COPY)) {
		errno = EIO;
		return uncreatable(name, err);
	}
	parent = open_parent(c->dir, name);
	if (parent < 0 || fchmod(c->fd, 0644) || give_name(c) ||
	    renameat(c->dir, c->temp, parent, kz_path_base(name)))
		return uncreatable(name, err);
	c->temp[0] = 0;
	kz_sys_after(KZ_SYS_OUT_COPY);
	return KZ_OK;
}

static enum kz_rc list_one(struct kz_job *j, const char *name, struct copy *c, struct kz_err *err)
{
	struct kz_json *o = kz_json_object();
	char sha256[KZ_SHA256_HEX];

	if (!o)
		return kz_err_set(err, KZ_E_OS, "memory is out");
	kz_sha256_end(&c->hash, sha256);
	kz_json_set_str(o, "name", name);
	kz_json_set_int(o, "bytes", c->bytes);
	kz_json_set_str(o, "sha256", sha256);
	kz_json_set_str(o, "media_type", kz_media_type(name, c->head, c->head_len));
	kz_json_append(j->out_list, o);
	return KZ_OK;
}

static enum kz_rc collect_one(struct kz_job *j, const char *name, struct kz_err *err)
{
	struct copy c __attribute__((cleanup(copy_release))) = { .dir = -1, .fd = -1 };
	int64_t size = -1;
	enum kz_rc rc = copy_open(&c, j, name, err);

	if (!rc)
		rc = kz_wk_get(j->worker, j->lease.id, name, j->conf.set.sandbox_max_artifact_bytes,
			       copy_add, &c, &size, kz_deadline_in(KZ_MS(GET_MS)), err);
	if (rc == KZ_E_IO && !err->reason[0])
		kz_err_reason(err, kz_reason_code(KZ_R_OUTPUT_UNCREATABLE));
	if (!rc && size != c.bytes)
		rc = kz_refuse(err, KZ_R_TRANSPORT_LOST, "%lld of %lld bytes came",
			       (long long)c.bytes, (long long)size);
	if (!rc)
		rc = copy_finish(&c, name, err);
	if (rc)
		return kz_err_wrap(err, "output %.200s", name);
	return list_one(j, name, &c, err);
}

/* The first failure is told; the others are still tried, so that one bad name costs one file. */
enum kz_rc kz_job_collect(struct kz_job *j, struct kz_err *err)
{
	enum kz_rc first = KZ_OK;

	for (size_t i = 0; i < j->output_count; i++) {
		struct kz_err e = KZ_ERR_INIT;
		enum kz_rc rc = kz_job_is_cancelled(j) ? kz_refuse(&e, KZ_R_CANCELLED, NULL) :
							 collect_one(j, j->outputs[i], &e);

		if (rc && !first) {
			first = rc;
			*err = e;
		}
	}
	return first;
}
