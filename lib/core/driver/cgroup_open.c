#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/str.h"
#include "core/driver/cgroup.h"
#include "rule/reason.h"

static enum kz_rc open_one(const struct kz_cg *cg, const char *controller, const char *file,
			   int flags, int *fd, struct kz_err *err)
{
	size_t i = controller ? kz_cg_tree_of(cg, controller) : KZ_CG_NONE;
	char path[420];

	if (i == KZ_CG_NONE)
		return KZ_OK;
	if (kz_str_format(path, sizeof path, err, "%s/tenant/%s", cg->trees[i].dir, file))
		return KZ_E_DATA;
	*fd = open(path, flags | O_CLOEXEC);
	if (*fd < 0 && errno == EACCES &&
	    flags == O_RDWR) /* a kernel that cannot reset the peak has it read-only */
		*fd = open(path, O_RDONLY | O_CLOEXEC);
	if (*fd < 0 && errno == ENOENT && flags == O_WRONLY) /* a kernel that does not count swap */
		return KZ_OK;
	return *fd < 0 ? kz_cg_fail(err, "open", path) : KZ_OK;
}

static enum kz_rc open_procs(const struct kz_cg *cg, int fds[KZ_CG_FILES], struct kz_err *err)
{
	int at = KZ_CG_PROCS_0;

	for (size_t i = 0; i < cg->count; i++) {
		char path[420];

		if (!kz_cg_is_counted(cg, &cg->trees[i]))
			continue;
		if (at > KZ_CG_PROCS_3)
			return kz_refuse(err, KZ_R_CGROUP_UNAVAILABLE,
					 "the limits are spread over too many hierarchies");
		/*
		 * The tenant's first process has one thread and moves itself.  On version 1 "tasks" does that
		 * without the lock that stops every fork of the machine for some milliseconds.
		 */
		if (kz_str_format(path, sizeof path, err, "%s/tenant/%s", cg->trees[i].dir,
				  cg->is_v2 ? "cgroup.procs" : "tasks"))
			return KZ_E_DATA;
		fds[at] = open(path, O_WRONLY | O_CLOEXEC);
		if (fds[at++] < 0)
			return kz_cg_fail(err, "open", path);
	}
	return KZ_OK;
}

/* One file of the tenant's group for kz-worker; what it is called depends on the version. */
struct wanted {
	enum kz_cg_file slot;
	const char *controller[2]; /* version 1, version 2 */
	const char *file[2];
	int flags;
};

static const struct wanted wanted[] = {
	{ KZ_CG_PROCS_READ, { "pids", "pids" }, { "cgroup.procs", "cgroup.procs" }, O_RDONLY },
	{ KZ_CG_PIDS_CURRENT, { "pids", "pids" }, { "pids.current", "pids.current" }, O_RDONLY },
	{ KZ_CG_PIDS_EVENTS, { "pids", "pids" }, { "pids.events", "pids.events" }, O_RDONLY },
	{ KZ_CG_MEMORY_CURRENT,
	  { "memory", "memory" },
	  { "memory.usage_in_bytes", "memory.current" },
	  O_RDONLY },
	{ KZ_CG_MEMORY_EVENTS,
	  { "memory", "memory" },
	  { "memory.oom_control", "memory.events" },
	  O_RDONLY },
	{ KZ_CG_MEMORY_PEAK,
	  { "memory", "memory" },
	  { "memory.max_usage_in_bytes", "memory.peak" },
	  O_RDWR },
	{ KZ_CG_CPU_USAGE, { "cpuacct", "cpu" }, { "cpuacct.usage", "cpu.stat" }, O_RDONLY },
	{ KZ_CG_MEMORY_MAX,
	  { "memory", "memory" },
	  { "memory.limit_in_bytes", "memory.max" },
	  O_WRONLY },
	{ KZ_CG_SWAP_MAX, { "memory", NULL }, { "memory.memsw.limit_in_bytes", NULL }, O_WRONLY },
};

enum kz_rc kz_cg_open(const struct kz_cg *cg, int fds[KZ_CG_FILES], struct kz_err *err)
{
	int v = cg->is_v2 ? 1 : 0;
	enum kz_rc rc;

	for (int i = 0; i < KZ_CG_FILES; i++)
		fds[i] = -1;
	rc = open_procs(cg, fds, err);
	for (size_t i = 0; !rc && i < sizeof wanted / sizeof wanted[0]; i++)
		rc = open_one(cg, wanted[i].controller[v], wanted[i].file[v], wanted[i].flags,
			      &fds[wanted[i].slot], err);
	for (int i = 0; rc && i < KZ_CG_FILES; i++)
		if (fds[i] >= 0)
			close(kz_take_fd(&fds[i]));
	return rc;
}
