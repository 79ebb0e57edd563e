/* A foreign program: its own file, the system's libraries, and nothing else. */
#include "core/jail/foreign.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <grp.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/landlock.h"
#include "core/jail/others.h"
#include "rule/reason.h"

#define MAY_START (KZ_LAND_READ | KZ_LAND_EXECUTE)
#define NOBODY 65534
#define FILES_MOST 64

static bool allow_all(struct kz_landlock *l, const char *pattern, uint64_t rights)
{
	glob_t g = { 0 };
	bool is_good = true;

	if (glob(pattern, 0, NULL, &g) == 0)
		for (size_t i = 0; i < g.gl_pathc && is_good; i++)
			is_good = kz_landlock_allow(l, g.gl_pathv[i], rights);
	globfree(&g);
	return is_good;
}

/* The interpreter that the first line of a script names; "": it is none. */
static void interpreter(const char *program, char *out, size_t size)
{
	kz_auto_close int fd = open(program, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, out, size - 1);
	const char *from;
	size_t len;

	if (n < 3 || out[0] != '#' || out[1] != '!')
		n = 0;
	out[n] = 0;
	from = n ? out + 2 + strspn(out + 2, " \t") : out;
	len = strcspn(from, " \t\n");
	memmove(out, from, len);
	out[len] = 0;
}

static bool allow_needed(struct kz_landlock *l, const char *program)
{
	static const char *const libraries[] = {
		"/lib",       "/lib64",     "/lib32",          "/usr/lib",
		"/usr/lib64", "/usr/lib32", "/etc/ld.so.cache"
	};
	char name[256];

	interpreter(program, name, sizeof name);
	for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++)
		if (!kz_landlock_allow(l, libraries[i], KZ_LAND_READ | KZ_LAND_LIST))
			return false;
	return allow_all(l, "/lib*/ld-*", MAY_START) && allow_all(l, "/lib/*/ld-*", MAY_START) &&
	       (!*name || kz_landlock_allow(l, name, MAY_START)) &&
	       kz_landlock_allow(l, program, MAY_START);
}

static int lock(const char *program)
{
	struct kz_landlock l;
	bool is_done;

	if (!kz_landlock_open(&l, KZ_LAND_NO_TCP | KZ_LAND_NO_OTHERS))
		return -1;
	is_done = allow_needed(&l, program) && kz_landlock_enter(&l);
	kz_landlock_drop(&l);
	return is_done ? 0 : -1;
}

/* Root gives up what it is, anybody else has nothing to give up. */
static int become_nobody(void)
{
	if (geteuid() != 0)
		return 0;
	if (setgroups(0, NULL) < 0 || setresgid(NOBODY, NOBODY, NOBODY) < 0)
		return -1;
	return setresuid(NOBODY, NOBODY, NOBODY);
}

static int limit(int what, int64_t value)
{
	struct rlimit r = { (rlim_t)value, (rlim_t)value };

	return setrlimit((__rlimit_resource_t)what, &r);
}

static int set_limits(const struct kz_jail_bounds *b)
{
	if (limit(RLIMIT_CORE, 0) < 0 || limit(RLIMIT_NOFILE, FILES_MOST) < 0 ||
	    limit(RLIMIT_FSIZE, 0) < 0)
		return -1;
	if (b->cpu_seconds && limit(RLIMIT_CPU, b->cpu_seconds) < 0)
		return -1;
	return b->memory_bytes ? limit(RLIMIT_AS, b->memory_bytes) : 0;
}

/* The network, new processes, namespaces, keys, what is shared between processes. */
static const struct kz_filter_rule denied[] = {
	DENY("socket"),
	DENY("socketpair"),
	DENY("connect"),
	DENY("bind"),
	DENY("listen"),
	DENY("io_uring_setup"),
	DENY("io_uring_enter"),
	DENY("io_uring_register"),
	DENY("fork"),
	DENY("vfork"),
	{ .name = "clone", .deny_errno = EPERM, .test = KZ_FILTER_CLEAR, .value = CLONE_THREAD },
	{ .name = "clone3", .deny_errno = ENOSYS, .test = KZ_FILTER_ALWAYS },
	DENY("setsid"),
	DENY("setpgid"),
	DENY("pidfd_open"),
	DENY("pidfd_getfd"),
	DENY("ptrace"),
	DENY("process_vm_readv"),
	DENY("process_vm_writev"),
	DENY("process_madvise"),
	DENY("kcmp"),
	DENY("setpriority"),
	DENY("ioprio_set"),
	DENY("sched_setscheduler"),
	DENY("sched_setparam"),
	DENY("sched_setattr"),
	DENY("sched_setaffinity"),
	DENY("unshare"),
	DENY("setns"),
	DENY("mount"),
	DENY("umount2"),
	DENY("pivot_root"),
	DENY("chroot"),
	DENY("open_tree"),
	DENY("fsopen"),
	DENY("move_mount"),
	DENY("mount_setattr"),
	DENY("chmod"),
	DENY("fchmod"),
	DENY("fchmodat"),
	DENY("chown"),
	DENY("fchown"),
	DENY("lchown"),
	DENY("fchownat"),
	DENY("utimensat"),
	DENY("setxattr"),
	DENY("fsetxattr"),
	DENY("lsetxattr"),
	DENY("add_key"),
	DENY("request_key"),
	DENY("keyctl"),
	DENY("bpf"),
	DENY("perf_event_open"),
	DENY("userfaultfd"),
	DENY("shmget"),
	DENY("shmat"),
	DENY("semget"),
	DENY("msgget"),
	DENY("mq_open"),
};

static enum kz_rc build(void **filter, size_t *n, struct kz_err *err)
{
	const struct kz_filter_rule others[] = { DENY_OTHERS(getpid()) };
	struct kz_filter_rule all[(sizeof denied + sizeof others) / sizeof *denied];

	memcpy(all, denied, sizeof denied);
	memcpy(all + sizeof denied / sizeof *denied, others, sizeof others);
	return kz_filter_build(all, sizeof all / sizeof *all, filter, n, err);
}

enum kz_rc kz_jail_foreign(const char *program, const struct kz_jail_bounds *b, struct kz_err *err)
{
	kz_auto_free void *filter = NULL;
	size_t n = 0;
	const char *bad = NULL;

	if (access(program, R_OK | X_OK) < 0)
		return kz_refuse(err, KZ_R_CODE_UNREADABLE, "%s: %s", program, strerror(errno));
	if (!kz_landlock_version())
		return kz_refuse(err, KZ_R_SYSTEM_FAILED,
				 "this kernel has no Landlock, so no foreign program is run");
	if (build(&filter, &n, err) != KZ_OK)
		return kz_err_reason(err, kz_reason_code(KZ_R_SYSTEM_FAILED));
	if (syscall(SYS_close_range, 3U, ~0U, 0) < 0)
		bad = "close descriptors";
	else if (chdir("/") < 0)
		bad = "leave the directory";
	else if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		bad = "give up privileges";
	else if (lock(program) < 0)
		bad = "give up files";
	else if (become_nobody() < 0)
		bad = "become nobody";
	else if (set_limits(b) < 0)
		bad = "set limits";
	else if (kz_filter_install(filter, n) < 0)
		bad = "install the filter";
	return bad ? kz_refuse(err, KZ_R_SYSTEM_FAILED, "cannot %s: error %d", bad, errno) : KZ_OK;
}
