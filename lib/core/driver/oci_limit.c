#include "core/driver/oci_part.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/str.h"
#include "rule/reason.h"

/*
 * These counters are kept for each user of the host; without a bound of its own one
 * worker could use them up for all.  What a user namespace uses counts for its
 * maker too, so the sum over all workers matters: few instances, many watches.
 */
static const struct {
	const char *path;
	const char *value;
} bounds[] = {
	{ "/proc/sys/user/max_user_namespaces", "0" },
	{ "/proc/sys/user/max_inotify_instances", "4" },
	{ "/proc/sys/user/max_inotify_watches", "4096" },
	{ "/proc/sys/user/max_fanotify_groups", "0" },
	{ "/proc/sys/user/max_fanotify_marks", "0" },
	{ "/proc/sys/net/ipv4/tcp_max_tw_buckets", "0" },
};

static int open_ns(pid_t pid, const char *name)
{
	char path[64];

	if (kz_str_format(path, sizeof path, NULL, "/proc/%d/ns/%s", pid, name))
		return -1;
	return open(path, O_RDONLY | O_CLOEXEC);
}

/*
 * In a child: enter the user and network namespace of pid.  Both are opened first:
 * from inside, a process 1 that has not executed kz-worker yet may not be looked at.
 */
static bool enter(pid_t pid)
{
	kz_auto_close int user = open_ns(pid, "user");
	kz_auto_close int net = open_ns(pid, "net");

	return user >= 0 && net >= 0 && setns(user, 0) == 0 && setns(net, 0) == 0;
}

/* 0, or 1 + the number of the bound that could not be set, or 100 and errno when the namespaces cannot be entered. */
static int set_bounds(pid_t pid)
{
	if (!enter(pid))
		return errno < 100 ? 100 + errno : 100;
	for (size_t i = 0; i < sizeof bounds / sizeof bounds[0]; i++) {
		kz_auto_close int fd = open(bounds[i].path, O_WRONLY | O_CLOEXEC);
		size_t n = strlen(bounds[i].value);

		if (fd < 0 && errno == ENOENT)
			continue; /* a kernel that does not count this */
		if (fd < 0 || write(fd, bounds[i].value, n) != (ssize_t)n)
			return 1 + (int)i;
	}
	return 0;
}

enum kz_rc kz_oci_limit_namespaces(pid_t pid, struct kz_err *err)
{
	int status = 0;
	pid_t child = fork();

	if (child == 0)
		_exit(set_bounds(pid));
	if (child < 0 || waitpid(child, &status, 0) != child)
		return kz_err_sys(err, KZ_E_OS, "cannot fork");
	if (status == 0)
		return KZ_OK;
	if (WIFEXITED(status) && WEXITSTATUS(status) <= (int)(sizeof bounds / sizeof bounds[0]))
		return kz_refuse(err, KZ_R_POSTURE_FAILED, "cannot bound %s in the worker",
				 bounds[WEXITSTATUS(status) - 1].path);
	return kz_refuse(err, KZ_R_POSTURE_FAILED, "cannot enter the worker's namespaces: %s",
			 WIFEXITED(status) ? strerror(WEXITSTATUS(status) - 100) : "killed");
}
