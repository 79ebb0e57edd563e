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
#include "port/filter.h"
#include "rule/reason.h"

/* Landlock by numbers, as in jail.c */
#define LANDLOCK_CREATE_RULESET 444
#define LANDLOCK_ADD_RULE 445
#define LANDLOCK_RESTRICT_SELF 446
#define LANDLOCK_BENEATH 1
#define MAY_EXECUTE 1U
#define MAY_READ 4U
#define MAY_LIST 8U

#define NOBODY 65534
#define FILES_MOST 64

struct ruleset {
	uint64_t fs, net, scoped;
};

struct beneath {
	uint64_t rights;
	int32_t fd;
} __attribute__((packed));

/* What is not there needs no right. */
static int allow(int rules, const char *path, uint64_t rights)
{
	kz_auto_close int fd = open(path, O_PATH | O_CLOEXEC);
	struct beneath b = { rights, fd };

	if (fd < 0)
		return 0;
	return (int)syscall(LANDLOCK_ADD_RULE, rules, LANDLOCK_BENEATH, &b, 0);
}

static int allow_all(int rules, const char *pattern, uint64_t rights)
{
	glob_t g = { 0 };
	int bad = 0;

	if (glob(pattern, 0, NULL, &g) == 0)
		for (size_t i = 0; i < g.gl_pathc && !bad; i++)
			bad = allow(rules, g.gl_pathv[i], rights);
	globfree(&g);
	return bad;
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

static int lock(const char *program)
{
	static const char *const libraries[] = {
		"/lib",       "/lib64",     "/lib32",          "/usr/lib",
		"/usr/lib64", "/usr/lib32", "/etc/ld.so.cache"
	};
	int version = kz_jail_landlock();
	struct ruleset r = { (UINT64_C(1) << (version >= 3 ? 15 :
					      version == 2 ? 14 :
							     13)) -
				     1,
			     version >= 4 ? 3 : 0, version >= 6 ? 3 : 0 };
	size_t size = version >= 6 ? 24 : version >= 4 ? 16 : 8;
	kz_auto_close int rules = (int)syscall(LANDLOCK_CREATE_RULESET, &r, size, 0);
	char name[256];
	int bad = rules < 0 ? -1 : 0;

	interpreter(program, name, sizeof name);
	for (size_t i = 0; !bad && i < sizeof libraries / sizeof *libraries; i++)
		bad = allow(rules, libraries[i],
			    strchr(libraries[i], '.') ? MAY_READ : MAY_READ | MAY_LIST);
	if (!bad)
		bad = allow_all(rules, "/lib*/ld-*", MAY_READ | MAY_EXECUTE);
	if (!bad)
		bad = allow_all(rules, "/lib/*/ld-*", MAY_READ | MAY_EXECUTE);
	if (!bad && *name)
		bad = allow(rules, name, MAY_READ | MAY_EXECUTE);
	if (!bad)
		bad = allow(rules, program, MAY_READ | MAY_EXECUTE);
	return bad ? -1 : (int)syscall(LANDLOCK_RESTRICT_SELF, rules, 0);
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

#define DENY(call)                                                                                 \
	{                                                                                          \
		.name = (call), .deny_errno = EPERM, .test = KZ_FILTER_ALWAYS                      \
	}

/* The network, other processes, namespaces, keys, what is shared between processes. */
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
	DENY("kill"),
	DENY("tkill"),
	DENY("rt_sigqueueinfo"),
	DENY("rt_tgsigqueueinfo"),
	DENY("pidfd_open"),
	DENY("pidfd_getfd"),
	DENY("pidfd_send_signal"),
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

enum kz_rc kz_jail_foreign(const char *program, const struct kz_jail_bounds *b, struct kz_err *err)
{
	kz_auto_free void *filter = NULL;
	size_t n = 0;
	const char *bad = NULL;

	if (access(program, R_OK | X_OK) < 0)
		return kz_refuse(err, KZ_R_CODE_UNREADABLE, "%s: %s", program, strerror(errno));
	if (!kz_jail_landlock())
		return kz_refuse(err, KZ_R_SYSTEM_FAILED,
				 "this kernel has no Landlock, so no foreign program is run");
	if (kz_filter_build(denied, sizeof denied / sizeof *denied, &filter, &n, err) != KZ_OK)
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
