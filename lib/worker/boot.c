/* The boot object: strict, every number in its range. */
#include "worker/boot.h"

#include <string.h>

#include "base/buf.h"
#include "base/fd.h"
#include "base/str.h"
#include "port/json.h"

#define BOOT_MAX 65536

static enum kz_rc bad(struct kz_err *err, const char *what)
{
	return kz_err_set(err, KZ_E_DATA, "boot object: %s is missing or wrong", what);
}

static enum kz_rc text(const struct kz_json *o, const char *key, char *out, size_t size,
		       struct kz_err *err)
{
	const char *s = kz_json_str(o, key, NULL);

	if (!s || !*s || kz_str_has_control(s) || kz_str_copy(out, size, s, NULL) != KZ_OK)
		return bad(err, key);
	return KZ_OK;
}

static enum kz_rc number(const struct kz_json *o, const char *key, int64_t least, int64_t most,
			 int64_t *out, struct kz_err *err)
{
	const struct kz_json *v = kz_json_get(o, key);

	if (!kz_json_is_int(v) || kz_json_int_value(v) < least || kz_json_int_value(v) > most)
		return bad(err, key);
	*out = kz_json_int_value(v);
	return KZ_OK;
}

static enum kz_rc one_fd(const struct kz_json *o, const char *key, int *out, struct kz_err *err)
{
	int64_t n = -1;
	enum kz_rc rc = number(o, key, KZ_BOOT_FD + 1, 1023, &n, err);

	*out = (int)n;
	return rc;
}

static enum kz_rc read_fds(const struct kz_json *o, bool single_use, struct kz_boot_fds *f,
			   struct kz_err *err)
{
	const struct kz_json *procs = kz_json_get(o, "tenant_procs");
	const struct {
		const char *key;
		int *fd;
	} all[] = { { "control", &f->control },
		    { "procs_read", &f->procs_read },
		    { "pids_current", &f->pids_current },
		    { "pids_events", &f->pids_events },
		    { "memory_events", &f->memory_events },
		    { "memory_current", &f->memory_current },
		    { "memory_peak", &f->memory_peak },
		    { "cpu_usage", &f->cpu_usage } };
	enum kz_rc rc = one_fd(o, "ready", &f->ready, err);

	f->life = f->memory_max = f->swap_max = -1;
	for (int i = 0; i < KZ_WAYS; i++)
		f->way_dirs[i] = -1;
	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		*all[i].fd = -1;
	/* under a kernel of its own nothing of the host's can be passed */
	if (single_use)
		return rc;
	for (size_t i = 0; i < sizeof all / sizeof *all && rc == KZ_OK; i++)
		rc = one_fd(o, all[i].key, all[i].fd, err);
	if (rc != KZ_OK)
		return rc;
	if (!kz_json_is_array(procs) || kz_json_count(procs) < 1 ||
	    kz_json_count(procs) > KZ_BOOT_PROCS)
		return bad(err, "tenant_procs");
	for (size_t i = 0; i < kz_json_count(procs); i++) {
		const struct kz_json *v = kz_json_at(procs, i);

		if (!kz_json_is_int(v) || kz_json_int_value(v) <= KZ_BOOT_FD ||
		    kz_json_int_value(v) > 1023)
			return bad(err, "tenant_procs");
		f->tenant_procs[i] = (int)kz_json_int_value(v);
	}
	f->tenant_procs_count = (int)kz_json_count(procs);
	/* a driver that has no such file or way to offer names none */
	if (rc == KZ_OK && kz_json_get(o, "memory_max"))
		rc = one_fd(o, "memory_max", &f->memory_max, err);
	if (rc == KZ_OK && kz_json_get(o, "swap_max"))
		rc = one_fd(o, "swap_max", &f->swap_max, err);
	for (int i = 0; i < KZ_WAYS && rc == KZ_OK; i++)
		if (kz_json_get(o, kz_way_text((enum kz_way)i)->boot))
			rc = one_fd(o, kz_way_text((enum kz_way)i)->boot, &f->way_dirs[i], err);
	return rc;
}

static enum kz_rc read_caps(const struct kz_json *a, uint64_t *mask, struct kz_err *err)
{
	static const struct {
		const char *name;
		int bit;
	} known[] = {
#define X(name, number, why) { #name, number },
#include "rule/worker_caps.tbl"
#undef X
	};

	if (!kz_json_is_array(a))
		return bad(err, "capabilities");
	for (size_t i = 0; i < kz_json_count(a); i++) {
		const char *s = kz_json_str_value(kz_json_at(a, i));
		size_t k = 0;

		if (s && kz_str_has_prefix(s, "CAP_"))
			s += 4;
		while (s && k < sizeof known / sizeof *known && !kz_str_eq(known[k].name, s))
			k++;
		if (!s || k == sizeof known / sizeof *known)
			return bad(err, "capabilities");
		*mask |= 1ULL << known[k].bit;
	}
	return KZ_OK;
}

static enum kz_rc read_limits(const struct kz_json *o, struct kz_boot *b, struct kz_err *err)
{
	const struct {
		const char *key;
		int64_t *to;
	} all[] = { { "disk_bytes", &b->disk_bytes },
		    { "inodes", &b->inodes },
		    { "packages_bytes", &b->packages_bytes },
		    { "packages_inodes", &b->packages_inodes },
		    { "pids", &b->pids },
		    { "memory_bytes", &b->memory_bytes },
		    { "cpus", &b->cpus },
		    { "open_files", &b->open_files },
		    { "output_bytes", &b->output_bytes } };
	enum kz_rc rc = KZ_OK;

	for (size_t i = 0; i < sizeof all / sizeof *all && rc == KZ_OK; i++)
		rc = number(o, all[i].key, 1, INT64_MAX / 2, all[i].to, err);
	return rc;
}

static enum kz_rc parse(const struct kz_json *o, struct kz_boot *b, struct kz_err *err)
{
	int64_t v = 0, uid = 0, gid = 0;
	const char *cg = kz_json_str(o, "cgroup", "");
	enum kz_rc rc = number(o, "v", 1, 1, &v, err);

	if (rc == KZ_OK)
		rc = text(o, "worker", b->worker, sizeof b->worker, err);
	if (rc == KZ_OK)
		rc = text(o, "instance", b->instance, sizeof b->instance, err);
	if (rc == KZ_OK)
		rc = text(o, "secret", b->secret, sizeof b->secret, err);
	if (rc == KZ_OK)
		rc = text(o, "image", b->image, sizeof b->image, err);
	if (rc == KZ_OK)
		rc = number(o, "tenant_uid", 1, 1 << 30, &uid, err);
	if (rc == KZ_OK)
		rc = number(o, "tenant_gid", 1, 1 << 30, &gid, err);
	if (rc == KZ_OK)
		rc = number(o, "uid_count", 2, 1 << 30, &b->uid_count, err);
	if (rc != KZ_OK)
		return rc;
	b->tenant_uid = (uid_t)uid;
	b->tenant_gid = (gid_t)gid;
	b->is_v1 = kz_str_eq(cg, "v1");
	b->single_use = kz_json_flag(o, "single_use", false);
	if (!b->is_v1 && !kz_str_eq(cg, "v2"))
		return bad(err, "cgroup");
	if (strlen(b->secret) != 64)
		return bad(err, "secret");
	rc = read_caps(kz_json_get(o, "capabilities"), &b->capabilities, err);
	if (rc == KZ_OK)
		rc = read_limits(kz_json_get(o, "limits"), b, err);
	if (rc == KZ_OK && b->single_use)
		rc = text(o, "control_path", b->control_path, sizeof b->control_path, err);
	return rc == KZ_OK ? read_fds(kz_json_get(o, "fds"), b->single_use, &b->fds, err) : rc;
}

enum kz_rc kz_boot_read(int fd, struct kz_boot *b, struct kz_err *err)
{
	kz_auto_buf struct kz_buf in = KZ_BUF_INIT(BOOT_MAX);
	kz_auto_json struct kz_json *o = NULL;
	enum kz_rc rc = kz_fd_read_all(fd, &in, err);

	close(fd);
	*b = (struct kz_boot){ 0 };
	if (rc == KZ_OK)
		rc = kz_json_parse(kz_buf_str(&in), in.len, &o, err);
	if (rc == KZ_OK)
		rc = parse(o, b, err);
	if (in.data)
		explicit_bzero(in.data, in.cap);
	return rc;
}

struct kz_json *kz_boot_limits(const struct kz_boot *b)
{
	struct kz_json *o = kz_json_object();

	kz_json_set_int(o, "disk_bytes", b->disk_bytes);
	kz_json_set_int(o, "inodes", b->inodes);
	kz_json_set_int(o, "packages_bytes", b->packages_bytes);
	kz_json_set_int(o, "packages_inodes", b->packages_inodes);
	kz_json_set_int(o, "pids", b->pids);
	kz_json_set_int(o, "memory_bytes", b->memory_bytes);
	kz_json_set_int(o, "cpus", b->cpus);
	kz_json_set_int(o, "open_files", b->open_files);
	kz_json_set_int(o, "output_bytes", b->output_bytes);
	return o;
}

void kz_boot_forget(struct kz_boot *b)
{
	explicit_bzero(b->secret, sizeof b->secret);
}

bool kz_boot_owns_fd(const struct kz_boot *b, int fd)
{
	const struct kz_boot_fds *f = &b->fds;
	const int all[] = { f->control,
			    f->ready,
			    f->procs_read,
			    f->pids_current,
			    f->pids_events,
			    f->memory_events,
			    f->memory_current,
			    f->memory_peak,
			    f->cpu_usage,
			    f->memory_max,
			    f->swap_max,
			    f->way_dirs[KZ_WAY_PROXY],
			    f->way_dirs[KZ_WAY_GATEWAY] };

	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		if (all[i] == fd)
			return true;
	for (int i = 0; i < f->tenant_procs_count; i++)
		if (f->tenant_procs[i] == fd)
			return true;
	return false;
}
