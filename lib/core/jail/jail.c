/* Nothing but what is open. */
#include "core/jail/jail.h"

#include <errno.h>
#include <linux/capability.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/landlock.h"
#include "port/filter.h"
#include "rule/reason.h"

/* Every right is taken and no rule gives one back. */
static int lock_files(void)
{
	struct kz_landlock l;
	bool is_done;

	if (!kz_landlock_version())
		return 0;
	if (!kz_landlock_open(&l, KZ_LAND_NO_TCP | KZ_LAND_NO_OTHERS))
		return -1;
	is_done = kz_landlock_enter(&l);
	kz_landlock_drop(&l);
	return is_done ? 0 : -1;
}

static int drop_capabilities(void)
{
	struct __user_cap_header_struct h = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct none[2] = { { 0, 0, 0 }, { 0, 0, 0 } };

	return (int)syscall(SYS_capset, &h, none);
}

static int limit(int what, int64_t value)
{
	struct rlimit r = { (rlim_t)value, (rlim_t)value };

	return setrlimit((__rlimit_resource_t)what, &r);
}

static int set_limits(const struct kz_jail_bounds *b)
{
	if (limit(RLIMIT_CORE, 0) < 0 || limit(RLIMIT_NOFILE, 0) < 0 || limit(RLIMIT_NPROC, 0) < 0)
		return -1;
	if (b->cpu_seconds && limit(RLIMIT_CPU, b->cpu_seconds) < 0)
		return -1;
#ifndef __SANITIZE_ADDRESS__ /* which reserves terabytes */
	if (b->memory_bytes && limit(RLIMIT_AS, b->memory_bytes) < 0)
		return -1;
#endif
	return 0;
}

/* The next descriptor above after that is kept; -1: none */
static int next_kept(const int *keep, size_t count, int after)
{
	int next = -1;

	for (size_t i = 0; i < count; i++)
		if (keep[i] > after && (next < 0 || keep[i] < next))
			next = keep[i];
	return next;
}

static int close_others(const int *keep, size_t count)
{
	int at = 2;

	for (;;) {
		int next = next_kept(keep, count, at);
		unsigned last = next < 0 ? ~0U : (unsigned)next - 1;

		if ((unsigned)at + 1 <= last &&
		    syscall(SYS_close_range, (unsigned)at + 1, last, 0) < 0)
			return -1;
		if (next < 0)
			return 0;
		at = next;
	}
}

#define ALLOW(call)                                                                                \
	{                                                                                          \
		.name = (call), .test = KZ_FILTER_ALWAYS                                           \
	}
/* memory, but nothing that runs */
#define NO_EXEC(call)                                                                              \
	{                                                                                          \
		.name = (call), .test = KZ_FILTER_CLEAR, .arg = 2, .value = PROT_EXEC              \
	}

static const struct kz_filter_rule allowed[] = {
	ALLOW("read"),
	ALLOW("readv"),
	ALLOW("pread64"),
	ALLOW("write"),
	ALLOW("writev"),
	ALLOW("pwrite64"),
	ALLOW("lseek"),
	ALLOW("_llseek"),
	ALLOW("close"),
	ALLOW("fstat"),
	ALLOW("poll"),
	ALLOW("ppoll"),
	NO_EXEC("mmap"),
	NO_EXEC("mmap2"),
	NO_EXEC("mprotect"),
	ALLOW("munmap"),
	ALLOW("mremap"),
	ALLOW("madvise"),
	ALLOW("brk"),
	ALLOW("futex"),
	ALLOW("clock_gettime"),
	ALLOW("gettimeofday"),
	ALLOW("getrandom"),
	ALLOW("rt_sigreturn"),
	ALLOW("rt_sigprocmask"),
	ALLOW("sigaltstack"),
	ALLOW("restart_syscall"),
	ALLOW("exit"),
	ALLOW("exit_group"),
};

enum kz_rc kz_jail_enter(const struct kz_jail_bounds *b, const int *keep, size_t count,
			 struct kz_err *err)
{
	kz_auto_free void *program = NULL;
	size_t n = 0;
	const char *bad = NULL;

	if (kz_filter_build_allow(allowed, sizeof allowed / sizeof *allowed, EPERM, &program, &n,
				  err) != KZ_OK)
		return kz_err_reason(err, kz_reason_code(KZ_R_SYSTEM_FAILED));
	if (close_others(keep, count) < 0)
		bad = "close descriptors";
	else if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
		 prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0)
		bad = "give up privileges";
	else if (lock_files() < 0)
		bad = "give up files";
	else if (drop_capabilities() < 0)
		bad = "give up capabilities";
	else if (set_limits(b) < 0)
		bad = "set limits";
	else if (kz_filter_install(program, n) < 0)
		bad = "install the filter";
	return bad ? kz_refuse(err, KZ_R_SYSTEM_FAILED, "cannot %s: error %d", bad, errno) : KZ_OK;
}
