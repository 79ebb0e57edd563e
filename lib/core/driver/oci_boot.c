#include "core/driver/oci_boot.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/fd.h"
#include "base/str.h"
#include "core/conf/keys.h"
#include "core/driver/oci_part.h"
#include "port/json.h"
#include "rule/reason.h"

#define BOOT_MAX                                                                                   \
	(16 << 10) /* fits a pipe, so that sending never waits for a worker that does not read */
#define READY_MAX (64 << 10)
#define OUTPUT_BYTES (64 << 10)
#define FIRST_FD 3
#define BACKLOG 16

static void pass(struct kz_oci_boot *b, int fd, const char *name)
{
	if (name)
		kz_json_set_int(b->names, name, FIRST_FD + b->count);
	b->fds[b->count++] = fd;
}

/*
 * Where the runtime and process 1 print: memory of a fixed size, so that nothing
 * inside can fill a disk through it.
 */
static enum kz_rc open_output(int *fd, struct kz_err *err)
{
	enum kz_rc rc = kz_memory_file("kz-output", fd, err);

	if (rc)
		return rc;
	if (ftruncate(*fd, OUTPUT_BYTES) != 0 ||
	    fcntl(*fd, F_ADD_SEALS, F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL) != 0)
		return kz_err_sys(err, KZ_E_OS, "cannot make memory for the worker's output");
	return KZ_OK;
}

static enum kz_rc open_pipes(struct kz_oci_boot *b, int *boot, int *ready, struct kz_err *err)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) != 0)
		return kz_err_sys(err, KZ_E_OS, "cannot make a pipe");
	*boot = ends[0];
	b->boot_write = ends[1];
	if (pipe2(ends, O_CLOEXEC) != 0)
		return kz_err_sys(err, KZ_E_OS, "cannot make a pipe");
	b->ready_read = ends[0];
	*ready = ends[1];
	return KZ_OK;
}

static void pass_cgroup(struct kz_oci_boot *b, const int files[KZ_CG_FILES])
{
	static const char *const names[KZ_CG_FILES] = {
		[KZ_CG_PROCS_READ] = "procs_read",       [KZ_CG_PIDS_CURRENT] = "pids_current",
		[KZ_CG_PIDS_EVENTS] = "pids_events",     [KZ_CG_MEMORY_CURRENT] = "memory_current",
		[KZ_CG_MEMORY_EVENTS] = "memory_events", [KZ_CG_MEMORY_PEAK] = "memory_peak",
		[KZ_CG_CPU_USAGE] = "cpu_usage",         [KZ_CG_MEMORY_MAX] = "memory_max",
		[KZ_CG_SWAP_MAX] = "swap_max",
	};
	struct kz_json *procs = kz_json_array();

	for (int i = 0; i < KZ_CG_FILES; i++) {
		if (files[i] < 0)
			continue;
		if (!names[i])
			kz_json_append(procs, kz_json_int(FIRST_FD + b->count));
		pass(b, files[i], names[i]);
	}
	kz_json_set(b->names, "tenant_procs", procs);
}

enum kz_rc kz_oci_boot_open(const struct kz_oci *o, const struct kz_oci_record *r,
			    struct kz_oci_boot *b, struct kz_err *err)
{
	int files[KZ_CG_FILES];
	char path[KZ_OCI_PATH];
	int control = -1;
	int boot = -1;
	int ready = -1;
	enum kz_rc rc;

	memset(b, 0, sizeof *b);
	b->boot_write = b->ready_read = b->output = b->ways_at = -1;
	b->names = kz_json_object();
	rc = open_output(&b->output, err);
	if (!rc)
		rc = open_pipes(b, &boot, &ready, err);
	pass(b, boot, NULL);
	pass(b, ready, "ready");
	/* Under a kernel of its own nothing inside can use a socket or a cgroup of the host. */
	if (rc || r->rt.single_use)
		return rc;
	rc = kz_oci_path(o, path, err, "workers/%s/ctl/control.sock", r->worker);
	if (!rc)
		rc = kz_unix_listen(path, 0660, o->gid, BACKLOG, &control, err);
	pass(b, control, "control");
	b->ways_at = b->count;
	for (int i = 0; i < KZ_WAYS; i++) {
		int dir = -1;

		if (!rc)
			rc = kz_oci_way_open(o, (enum kz_way)i, &dir, err);
		pass(b, dir, kz_way_text((enum kz_way)i)->boot);
	}
	if (!rc)
		rc = kz_cg_open(&r->cg, files, err);
	if (!rc)
		pass_cgroup(b, files);
	return rc;
}

void kz_oci_boot_handed(struct kz_oci_boot *b)
{
	for (int i = 0; i < b->count; i++)
		if (b->fds[i] >= 0)
			close(b->fds[i]);
	b->count = 0;
}

void kz_oci_boot_release(struct kz_oci_boot *b)
{
	int own[] = { b->boot_write, b->ready_read, b->output };

	kz_oci_boot_handed(b);
	for (size_t i = 0; i < 3; i++)
		if (own[i] >= 0)
			close(own[i]);
	b->boot_write = b->ready_read = b->output = -1;
	kz_json_free(b->names);
	b->names = NULL;
}

static struct kz_json *limits(const struct kz_settings *s)
{
	struct kz_json *l = kz_json_object();

	kz_json_set_int(l, "disk_bytes", s->kz_run_disk_bytes);
	kz_json_set_int(l, "inodes", s->kz_run_inodes);
	kz_json_set_int(l, "packages_bytes", kz_oci_packages_bytes(s));
	kz_json_set_int(l, "packages_inodes", s->kz_packages_inodes);
	kz_json_set_int(l, "pids", s->kz_run_pids);
	kz_json_set_int(l, "memory_bytes", s->kz_run_memory_bytes);
	kz_json_set_int(l, "cpus", s->kz_run_cpus);
	kz_json_set_int(l, "open_files", s->kz_run_open_files);
	kz_json_set_int(l, "output_bytes", s->sandbox_max_output_bytes);
	return l;
}

static struct kz_json *boot_object(const struct kz_oci *o, const struct kz_oci_record *r,
				   const char *secret, struct kz_oci_boot *b)
{
	static const char *const caps[] = {
#define X(name, number, what) #name,
#include "rule/worker_caps.tbl"
#undef X
	};
	struct kz_json *j = kz_json_object();
	struct kz_json *list = kz_json_array();

	for (size_t i = 0; i < sizeof caps / sizeof caps[0]; i++)
		kz_json_append(list, kz_json_string(caps[i]));
	kz_json_set_int(j, "v", 1);
	kz_json_set_str(j, "worker", r->worker);
	kz_json_set_str(j, "instance", r->instance);
	kz_json_set_str(j, "secret", secret);
	kz_json_set_str(j, "image", r->image);
	kz_json_set_int(j, "tenant_uid", KZ_OCI_TENANT);
	kz_json_set_int(j, "tenant_gid", KZ_OCI_TENANT);
	kz_json_set_str(j, "cgroup", r->cg.is_v2 ? "v2" : "v1");
	kz_json_set_int(j, "uid_count", KZ_OCI_MAPPED);
	kz_json_set_bool(j, "single_use", r->rt.single_use);
	if (r->rt.single_use)
		kz_json_set_str(j, "control_path", KZ_OCI_CONTROL "/control.sock");
	kz_json_set(j, "capabilities", list);
	kz_json_set(j, "limits", limits(&o->conf.set));
	kz_json_set(j, "fds", kz_take(b->names));
	return j;
}

enum kz_rc kz_oci_boot_send(const struct kz_oci *o, const struct kz_oci_record *r,
			    struct kz_oci_boot *b, struct kz_deadline until, struct kz_err *err)
{
	kz_auto_buf struct kz_buf text = KZ_BUF_INIT(BOOT_MAX);
	kz_auto_json struct kz_json *j = NULL;
	struct kz_secret key = { 0 };
	char secret[65];
	enum kz_rc rc = kz_keys_read(o->conf.state, KZ_KEY_WORKER, &key, err);

	if (rc)
		return rc;
	kz_worker_secret(&key, r->worker, r->instance, secret);
	kz_secret_release(&key);
	j = boot_object(o, r, secret, b);
	rc = kz_json_write(j, &text, err);
	explicit_bzero(secret, sizeof secret);
	if (!rc)
		rc = kz_fd_set_nonblock(b->boot_write, err);
	if (!rc)
		rc = kz_fd_write_until(b->boot_write, text.data, text.len, until, err);
	if (text.data)
		explicit_bzero(text.data, text.len);
	close(kz_take_fd(&b->boot_write));
	return rc;
}

enum kz_rc kz_oci_boot_died(const struct kz_oci_boot *b, struct kz_err *err)
{
	char words[256];
	ssize_t n = pread(b->output, words, sizeof words - 1, 0);

	words[n > 0 ? n : 0] = '\0';
	n = (ssize_t)strcspn(words, "\n");
	words[n] = '\0';
	return kz_refuse(err, KZ_R_POSTURE_FAILED,
			 "the worker's process 1 ended before it was ready: %s",
			 words[0] ? words : "it said nothing");
}

static enum kz_rc judge(const struct kz_json *j, struct kz_json **posture, struct kz_err *err)
{
	if (kz_json_flag(j, "ready", false)) {
		struct kz_json *p = kz_json_get(j, "posture");

		*posture = p ? kz_json_ref(p) : NULL;
		return KZ_OK;
	}
	kz_err_set(err, KZ_E_UNAVAILABLE, "the worker refuses to start: %s",
		   kz_json_str(j, "text", "no text"));
	return kz_err_reason(err, kz_json_str(j, "reason", kz_reason_code(KZ_R_POSTURE_FAILED)));
}

enum kz_rc kz_oci_boot_wait(struct kz_oci_boot *b, struct kz_deadline until,
			    struct kz_json **posture, struct kz_err *err)
{
	kz_auto_buf struct kz_buf line = KZ_BUF_INIT(READY_MAX);
	kz_auto_json struct kz_json *j = NULL;
	char block[4096];
	ssize_t n;

	*posture = NULL;
	for (;;) {
		if (kz_fd_wait(b->ready_read, POLLIN, until, err))
			return kz_err_wrap(err, "the worker did not become ready");
		n = read(b->ready_read, block, sizeof block);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return kz_oci_boot_died(b, err);
		if (kz_buf_add(&line, block, (size_t)n, err))
			return err ? err->rc : KZ_E_DATA;
		if (memchr(block, '\n', (size_t)n))
			break;
	}
	if (kz_json_parse(line.data, strcspn(line.data, "\n"), &j, err)) {
		kz_err_wrap(err, "the worker's ready line");
		return kz_err_reason(err, kz_reason_code(KZ_R_POSTURE_FAILED));
	}
	return judge(j, posture, err);
}
