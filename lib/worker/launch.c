/* Becoming the tenant's program. */
#include "worker/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/capability.h>
#include <linux/securebits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/sig.h"
#include "port/filter.h"

#define HOME "/work/space"
#define CAP_TOP 63 /* the kernel answers EINVAL past its last one */

static _Noreturn void fail(int report, const char *step)
{
	struct kz_launch_failure f = { .sys_errno = errno };
	ssize_t n;

	for (size_t i = 0; step[i] && i < sizeof f.step - 1; i++)
		f.step[i] = step[i];
	n = write(report, &f, sizeof f);
	_exit(n == (ssize_t)sizeof f ? 125 : 126);
}

/* Not above what was inherited: only the driver can raise a hard limit [BOUND-11]. */
static int limit(__rlimit_resource_t what, rlim_t want)
{
	struct rlimit have, set = { want, want };

	if (getrlimit(what, &have) < 0)
		return -1;
	if (have.rlim_max < want)
		set = (struct rlimit){ have.rlim_max, have.rlim_max };
	return setrlimit(what, &set);
}

static int set_limits(const struct kz_launch *l)
{
	const struct {
		__rlimit_resource_t what;
		rlim_t value;
	} fixed[] = {
		{ RLIMIT_CORE, 1 }, /* not 0: a host's core pipe would run for 0, and as root */
		{ RLIMIT_NOFILE, (rlim_t)l->open_files },
		{ RLIMIT_FSIZE, (rlim_t)l->file_bytes },
		{ RLIMIT_MEMLOCK, 65536 },
		{ RLIMIT_MSGQUEUE, 819200 },
		{ RLIMIT_SIGPENDING, 1024 },
		{ RLIMIT_NICE, 0 },
		{ RLIMIT_RTPRIO, 0 },
		{ RLIMIT_STACK, 8 << 20 },
		{ RLIMIT_CPU, RLIM_INFINITY },
		{ RLIMIT_DATA, RLIM_INFINITY },
		{ RLIMIT_AS, RLIM_INFINITY },
		{ RLIMIT_RSS, RLIM_INFINITY },
		{ RLIMIT_LOCKS, RLIM_INFINITY },
		{ RLIMIT_RTTIME, RLIM_INFINITY },
		/* elsewhere the cgroup's bound holds, which counts threads too */
		{ RLIMIT_NPROC, l->boot->single_use ? (rlim_t)l->boot->pids : RLIM_INFINITY },
	};

	for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++)
		/* a kernel that has no such limit has nothing to bound by it */
		if (limit(fixed[i].what, fixed[i].value) < 0 &&
		    !(l->boot->single_use && errno == EPERM))
			return -1;
	return 0;
}

static int drop_bounding(void)
{
	for (int c = 0; c <= CAP_TOP; c++)
		if (prctl(PR_CAPBSET_DROP, c, 0, 0, 0) < 0)
			return errno == EINVAL && c > 0 ? 0 : -1;
	return 0;
}

static int lock_bits(bool single_use)
{
	int rc = prctl(PR_SET_SECUREBITS,
		       SECBIT_NOROOT | SECBIT_NOROOT_LOCKED | SECBIT_NO_SETUID_FIXUP_LOCKED |
			       SECBIT_KEEP_CAPS_LOCKED | SECBIT_NO_CAP_AMBIENT_RAISE |
			       SECBIT_NO_CAP_AMBIENT_RAISE_LOCKED,
		       0, 0, 0);

	/* gVisor has no such bits; no_new_privs and an empty bounding set hold by themselves */
	return rc < 0 && single_use && errno == EINVAL ? 0 : rc;
}

static int drop_rest(bool single_use)
{
	struct __user_cap_header_struct h = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct none[2];

	memset(none, 0, sizeof none);
	/* what gVisor does not have it cannot hold either */
	if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) < 0 &&
	    !(single_use && errno == EINVAL))
		return -1;
	return syscall(SYS_capset, &h, none) < 0 ? -1 : 0;
}

static char **vector(char **strings, const char *end, uint32_t n)
{
	char **v = calloc((size_t)n + 1, sizeof *v);

	for (uint32_t i = 0; v && i < n; i++) {
		if (*strings >= end)
			return NULL;
		v[i] = *strings;
		*strings += strlen(*strings) + 1;
	}
	return v;
}

static int read_vectors(int fd, char ***argv, char ***envp)
{
	struct stat st;
	struct kz_vectors *b;
	char *s;
	const char *end;

	if (fstat(fd, &st) < 0 || st.st_size < (off_t)sizeof *b || st.st_size > KZ_VECTORS_MAX)
		return -1;
	b = mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	if (b == MAP_FAILED)
		return -1;
	end = (char *)b + st.st_size;
	errno = EINVAL;
	if (b->argc < 1 || b->argc > KZ_VECTOR_ITEMS || b->envc > KZ_VECTOR_ITEMS || end[-1] != 0)
		return -1;
	s = b->strings;
	*argv = vector(&s, end, b->argc);
	*envp = *argv ? vector(&s, end, b->envc) : NULL;
	return *argv && *envp ? 0 : -1;
}

/* 0, 1, 2, the channel at 3 when there is one, and the report pipe after them; everything else is closed */
static int set_descriptors(struct kz_launch *l)
{
	int from[] = { l->in, l->out, l->err_fd, l->channel };
	int n = l->channel < 0 ? 3 : 4, report = fcntl(l->report, F_DUPFD_CLOEXEC, 64);

	if (report < 0)
		return -1;
	/* out of the way first, so that no target is a source */
	for (int i = 0; i < n; i++)
		if ((from[i] = fcntl(from[i], F_DUPFD_CLOEXEC, 64)) < 0)
			return -1;
	for (int i = 0; i < n; i++)
		if (dup2(from[i], i) < 0)
			return -1;
	if (dup3(report, n, O_CLOEXEC) < 0)
		return -1;
	l->report = n;
	return (int)syscall(SYS_close_range, n + 1, INT_MAX, 0);
}

_Noreturn void kz_launch(const struct kz_launch *given)
{
	struct kz_launch l = *given;
	const struct kz_boot *b = l.boot;
	char **argv = NULL, **envp = NULL;

	if (read_vectors(l.vectors, &argv, &envp) < 0)
		fail(l.report, "vectors");
	if (setsid() < 0)
		fail(l.report, "session");
	kz_sig_reset();
	umask(022);
	if (set_limits(&l) < 0)
		fail(l.report, "limits");
	if (drop_bounding() < 0 || lock_bits(b->single_use) < 0)
		fail(l.report, "bounding set");
	if (syscall(SYS_setgroups, 0, NULL) < 0)
		fail(l.report, "groups");
	if (syscall(SYS_setresgid, b->tenant_gid, b->tenant_gid, b->tenant_gid) < 0)
		fail(l.report, "gid");
	if (syscall(SYS_setresuid, b->tenant_uid, b->tenant_uid, b->tenant_uid) < 0)
		fail(l.report, "uid");
	if (drop_rest(b->single_use) < 0)
		fail(l.report, "capabilities");
	if (chdir(HOME) < 0)
		fail(l.report, "directory");
	if (kz_filter_install(l.deny->program, l.deny->count) < 0)
		fail(l.report, "filter");
	if (set_descriptors(&l) < 0)
		fail(l.report, "descriptors");
	execve(argv[0], argv, envp);
	fail(l.report, "exec");
}
