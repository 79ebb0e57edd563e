/* Named points of external effects, and what the fault build does at them. */
#include "base/sys.h"

#ifdef KZ_FAULT_BUILD
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#endif

const char *kz_sys_name(enum kz_sys_point p)
{
	static const char *const names[] = {
#define X(name, what) [KZ_SYS_##name] = #name,
#include "base/sys.tbl"
#undef X
	};

	return p >= 0 && p < KZ_SYS_COUNT ? names[p] : "?";
}

#ifdef KZ_FAULT_BUILD

/* Counts live as long as the process: "the Nth passing" means nothing else. */
static unsigned passed[KZ_SYS_COUNT];

static void sys_trace(enum kz_sys_point p)
{
	const char *path = getenv("KZ_FAULT_TRACE");
	char line[160];
	int fd, n;

	if (!path)
		return;
	fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
	if (fd < 0)
		return;
	n = snprintf(line, sizeof(line), "%s/%s:%u\n", kz_log_program(), kz_sys_name(p), passed[p]);
	if (write(fd, line, (size_t)n) != n)
		kz_log(KZ_LOG_WARNING, "trace not written", NULL);
	close(fd);
}

/* Does KZ_FAULT name this passing of p with this action? */
static bool sys_asked(enum kz_sys_point p, const char *action)
{
	const char *want = getenv("KZ_FAULT");
	char have[160];

	if (!want)
		return false;
	snprintf(have, sizeof(have), "%s/%s:%u:%s", kz_log_program(), kz_sys_name(p), passed[p],
		 action);
	if (!strchr(want, '/'))
		return strcmp(want, strchr(have, '/') + 1) == 0;
	return strcmp(want, have) == 0;
}

static void sys_crash(void)
{
	kill(getpid(), SIGKILL);
	for (;;)
		pause();
}

bool kz_sys_before(enum kz_sys_point p)
{
	passed[p]++;
	sys_trace(p);
	if (sys_asked(p, "before"))
		sys_crash();
	return sys_asked(p, "fail");
}

void kz_sys_after(enum kz_sys_point p)
{
	if (sys_asked(p, "after"))
		sys_crash();
}

#endif
