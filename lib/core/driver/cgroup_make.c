#include "core/driver/cgroup.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/fd.h"
#include "base/str.h"
#include "base/sys.h"
#include "rule/reason.h"

#define PERIOD_US 100000
#define WORD_MAX 64
#define SOCKET_SHARE 4 /* of the memory bound, for data on its way over loopback */

enum kz_rc kz_cg_fail(struct kz_err *err, const char *what, const char *path)
{
	kz_err_sys(err, KZ_E_UNAVAILABLE, "cannot %s %s", what, path);
	return kz_err_reason(err, kz_reason_code(KZ_R_CGROUP_UNAVAILABLE));
}

static enum kz_rc make_dir(const char *path, struct kz_err *err)
{
	if (kz_sys_before(KZ_SYS_CG_MAKE))
		errno = EIO;
	else if (mkdir(path, 0755) == 0 || errno == EEXIST) {
		kz_sys_after(KZ_SYS_CG_MAKE);
		return KZ_OK;
	}
	return kz_cg_fail(err, "make the cgroup", path);
}

static enum kz_rc put(const char *dir, const char *file, const char *text, struct kz_err *err)
{
	kz_auto_close int fd = -1;
	char path[400];

	if (kz_str_format(path, sizeof path, err, "%s/%s", dir, file))
		return err ? err->rc : KZ_E_DATA;
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		return kz_cg_fail(err, "write", path);
	return KZ_OK;
}

static enum kz_rc put_number(const char *dir, const char *file, int64_t n, struct kz_err *err)
{
	char text[24];

	if (kz_str_format(text, sizeof text, err, "%lld", (long long)n))
		return KZ_E_DATA;
	return put(dir, file, text, err);
}

static bool has_file(const char *dir, const char *file)
{
	char path[400];

	return !kz_str_format(path, sizeof path, NULL, "%s/%s", dir, file) &&
	       access(path, F_OK) == 0;
}

static enum kz_rc limit_v2(const char *dir, const struct kz_cg_limits *l, struct kz_err *err)
{
	char cpu[WORD_MAX];

	if (put_number(dir, "memory.max", l->memory_bytes, err) ||
	    put_number(dir, "pids.max", l->pids, err))
		return err ? err->rc : KZ_E_UNAVAILABLE;
	if (has_file(dir, "memory.swap.max") && put(dir, "memory.swap.max", "0", err))
		return err ? err->rc : KZ_E_UNAVAILABLE;
	if (!l->cpu_thousandths)
		return KZ_OK;
	if (kz_str_format(cpu, sizeof cpu, err, "%lld %d",
			  (long long)l->cpu_thousandths * PERIOD_US / 1000, PERIOD_US))
		return KZ_E_DATA;
	return put(dir, "cpu.max", cpu, err);
}

static enum kz_rc limit_v1(const struct kz_cg_tree *t, const char *dir,
			   const struct kz_cg_limits *l, struct kz_err *err)
{
	if (kz_cg_has(t->controllers, "memory")) {
		if (put_number(dir, "memory.limit_in_bytes", l->memory_bytes, err))
			return err ? err->rc : KZ_E_UNAVAILABLE;
		/* Without this the tenant could use as much swap again; kernels without swap accounting lack the file. */
		if (has_file(dir, "memory.memsw.limit_in_bytes") &&
		    put_number(dir, "memory.memsw.limit_in_bytes", l->memory_bytes, err))
			return err ? err->rc : KZ_E_UNAVAILABLE;
		/* Version 1 counts buffers of sockets apart from memory, and only once this is set [BOUND-11]. */
		if (has_file(dir, "memory.kmem.tcp.limit_in_bytes") &&
		    put_number(dir, "memory.kmem.tcp.limit_in_bytes",
			       l->memory_bytes / SOCKET_SHARE, err))
			return err ? err->rc : KZ_E_UNAVAILABLE;
	}
	if (kz_cg_has(t->controllers, "pids") && put_number(dir, "pids.max", l->pids, err))
		return err ? err->rc : KZ_E_UNAVAILABLE;
	if (kz_cg_has(t->controllers, "cpu") && l->cpu_thousandths &&
	    (put_number(dir, "cpu.cfs_period_us", PERIOD_US, err) ||
	     put_number(dir, "cpu.cfs_quota_us", l->cpu_thousandths * PERIOD_US / 1000, err)))
		return err ? err->rc : KZ_E_UNAVAILABLE;
	return KZ_OK;
}

bool kz_cg_is_counted(const struct kz_cg *cg, const struct kz_cg_tree *t)
{
	if (cg->is_v2)
		return !t->controllers[0];
	return kz_cg_has(t->controllers, "memory") || kz_cg_has(t->controllers, "pids") ||
	       kz_cg_has(t->controllers, "cpu") || kz_cg_has(t->controllers, "cpuacct");
}

enum kz_rc kz_cg_limit(const struct kz_cg *cg, const char *child, const struct kz_cg_limits *l,
		       struct kz_err *err)
{
	for (size_t i = 0; i < cg->count; i++) {
		char dir[360];

		if (!kz_cg_is_counted(cg, &cg->trees[i]))
			continue;
		if (kz_str_format(dir, sizeof dir, err, "%s/%s", cg->trees[i].dir, child) ||
		    (cg->is_v2 ? limit_v2(dir, l, err) : limit_v1(&cg->trees[i], dir, l, err)))
			return err ? err->rc : KZ_E_UNAVAILABLE;
	}
	return KZ_OK;
}

/* Version 2: the controllers must be handed down before children can have limits. */
static enum kz_rc hand_down(const char *dir, struct kz_err *err)
{
	return put(dir, "cgroup.subtree_control", "+memory +pids +cpu", err);
}

/*
 * A group that holds processes cannot hand controllers down (version 2), so UNIT
 * goes into the nearest ancestor that can.  That moves dir upward.
 */
static enum kz_rc place_v2(char *dir, size_t size, struct kz_err *err)
{
	char parent[320];
	char *unit = strrchr(dir, '/');
	char *slash;

	if (kz_str_copy(parent, sizeof parent, dir, err))
		return KZ_E_DATA;
	parent[unit - dir] = '\0';
	while (hand_down(parent, err)) {
		slash = strrchr(parent, '/');
		if (!slash || slash == parent)
			return err ? err->rc : KZ_E_UNAVAILABLE;
		*slash = '\0';
		if (!has_file(parent, "cgroup.procs"))
			return err ? err->rc :
				     KZ_E_UNAVAILABLE; /* left the hierarchy: keep the error of its root */
	}
	char moved[400];

	if (kz_str_format(moved, sizeof moved, err, "%s%s", parent, unit))
		return KZ_E_DATA;
	return kz_str_copy(dir, size, moved, err);
}

enum kz_rc kz_cg_place(struct kz_cg *cg, struct kz_err *err)
{
	size_t i = kz_cg_tree_of(cg, "memory");
	struct kz_err own = KZ_ERR_INIT;
	enum kz_rc rc;

	if (!cg->is_v2)
		return KZ_OK;
	rc = place_v2(cg->trees[i].dir, sizeof cg->trees[i].dir, &own);
	if (rc && err)
		*err = own;
	return rc;
}

/* A cpuset (version 1) starts empty and then takes no process: copy what the parent has. */
static enum kz_rc inherit_cpuset(const char *dir, struct kz_err *err)
{
	static const char *const files[] = { "cpuset.cpus", "cpuset.mems" };

	for (size_t i = 0; i < 2; i++) {
		kz_auto_buf struct kz_buf value = KZ_BUF_INIT(4096);
		char path[400];

		if (kz_str_format(path, sizeof path, err, "%s/../%s", dir, files[i]) ||
		    kz_file_read(AT_FDCWD, path, &value, err) ||
		    put(dir, files[i], kz_buf_str(&value), err))
			return err ? err->rc : KZ_E_UNAVAILABLE;
	}
	return KZ_OK;
}

/* What the children may have together, whoever changes the bound of one. */
static enum kz_rc limit_unit(const struct kz_cg *cg, const struct kz_cg_tree *t, int64_t bytes,
			     struct kz_err *err)
{
	if (!bytes || !(cg->is_v2 || kz_cg_has(t->controllers, "memory")))
		return KZ_OK;
	return put_number(t->dir, cg->is_v2 ? "memory.max" : "memory.limit_in_bytes", bytes, err);
}

enum kz_rc kz_cg_make(const struct kz_cg *cg, const char *child, const struct kz_cg_limits *l,
		      struct kz_err *err)
{
	for (size_t i = 0; i < cg->count; i++) {
		const struct kz_cg_tree *t = &cg->trees[i];
		char dir[360];

		if (make_dir(t->dir, err))
			return err ? err->rc : KZ_E_UNAVAILABLE;
		if (kz_cg_has(t->controllers, "cpuset") && inherit_cpuset(t->dir, err))
			return err ? err->rc : KZ_E_UNAVAILABLE;
		if (!kz_cg_is_counted(cg, t))
			continue;
		if (cg->is_v2 && (hand_down(t->dir, err) ||
				  kz_str_format(dir, sizeof dir, err, "%s/runtime", t->dir) ||
				  make_dir(dir, err)))
			return err ? err->rc : KZ_E_UNAVAILABLE;
		if (kz_str_format(dir, sizeof dir, err, "%s/%s", t->dir, child) ||
		    make_dir(dir, err) || limit_unit(cg, t, l->unit_bytes, err))
			return err ? err->rc : KZ_E_UNAVAILABLE;
	}
	return kz_cg_limit(cg, child, l, err);
}

static enum kz_rc join(const struct kz_cg *cg, const char *child, struct kz_err *err)
{
	for (size_t i = 0; i < cg->count; i++) {
		const struct kz_cg_tree *t = &cg->trees[i];
		char dir[360];

		if (kz_str_format(dir, sizeof dir, err, "%s%s", t->dir,
				  t->controllers[0] || cg->is_v2 ? child : ""))
			return KZ_E_DATA;
		if (child[0] && make_dir(dir, err))
			return err ? err->rc : KZ_E_UNAVAILABLE;
		if (kz_cg_has(t->controllers, "cpuset") && child[0] && inherit_cpuset(dir, err))
			return err ? err->rc : KZ_E_UNAVAILABLE;
		if (put(dir, "cgroup.procs", "0", err))
			return err ? err->rc : KZ_E_UNAVAILABLE;
	}
	return KZ_OK;
}

enum kz_rc kz_cg_join(const struct kz_cg *cg, struct kz_err *err)
{
	return join(cg, cg->is_v2 ? "/runtime" : "", err);
}

enum kz_rc kz_cg_join_worker(const struct kz_cg *cg, struct kz_err *err)
{
	return join(cg, "/worker", err);
}
