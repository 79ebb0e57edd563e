/* The tenant's filter: the table, and socket families by exclusion. */
#include "worker/deny.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/auto.h"
#include "port/filter.h"

/*
 * Families that a program may use; all others only load kernel modules and reach
 * hardware.  AF_NETLINK is none of them: what waits in its sockets is charged to no
 * cgroup, so that one program could fill the machine's memory [BOUND-11].
 */
static const int families[] = { AF_UNIX, AF_INET, AF_INET6 };

#define FAMILY_TOP 10 /* AF_INET6, the highest one allowed */

static const struct kz_filter_rule table[] = {
#define X(call, err, how, argument, val)                                                           \
	{ .name = #call,                                                                           \
	  .deny_errno = (err),                                                                     \
	  .test = KZ_FILTER_##how,                                                                 \
	  .arg = (argument),                                                                       \
	  .value = (uint64_t)(val) },
#include "worker/denied.tbl"
#undef X
};

#define TABLE_COUNT (sizeof table / sizeof *table)

static bool is_allowed_family(int f)
{
	for (size_t i = 0; i < sizeof families / sizeof *families; i++)
		if (families[i] == f)
			return true;
	return false;
}

/* socket and socketpair: every family below the top that is not listed, and all above it */
static size_t add_families(struct kz_filter_rule *r)
{
	static const char *const calls[] = { "socket", "socketpair" };
	size_t n = 0;

	for (size_t c = 0; c < 2; c++) {
		for (int f = 0; f < FAMILY_TOP; f++)
			if (!is_allowed_family(f))
				r[n++] = (struct kz_filter_rule){ calls[c],     0, EAFNOSUPPORT,
								  KZ_FILTER_EQ, 0, (uint64_t)f };
		r[n++] = (struct kz_filter_rule){ calls[c],       0, EAFNOSUPPORT,
						  KZ_FILTER_OVER, 0, FAMILY_TOP };
	}
	return n;
}

static enum kz_rc build_here(struct kz_deny *d, struct kz_err *err)
{
	struct kz_filter_rule rules[TABLE_COUNT + 2 * (FAMILY_TOP + 1)];
	size_t n = TABLE_COUNT;

	for (size_t i = 0; i < TABLE_COUNT; i++)
		rules[i] = table[i];
	n += add_families(rules + n);
	return kz_filter_build(rules, n, &d->program, &d->count, err);
}

struct shared {
	size_t count;
	char bytes[65536];
};

/*
 * In a child: libseccomp needs a megabyte for what ends as some kilobytes, and
 * an idle worker should not carry it.
 */
enum kz_rc kz_deny_build(struct kz_deny *d, struct kz_err *err)
{
	struct shared *s =
		mmap(NULL, sizeof *s, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t pid = s == MAP_FAILED ? -1 : fork();
	int status = -1;

	if (pid < 0)
		return kz_err_sys(err, KZ_E_OS, "cannot fork");
	if (pid == 0) {
		struct kz_deny mine = { NULL, 0 };

		if (build_here(&mine, NULL) != KZ_OK || mine.count * 8 > sizeof s->bytes)
			_exit(1);
		for (size_t i = 0; i < mine.count * 8; i++)
			s->bytes[i] = ((const char *)mine.program)[i];
		s->count = mine.count;
		_exit(0);
	}
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (status != 0) {
		munmap(s, sizeof *s);
		return kz_err_set(err, KZ_E_SOFTWARE, "cannot build the tenant's filter");
	}
	d->count = s->count;
	d->program = malloc(s->count * 8);
	if (d->program)
		for (size_t i = 0; i < s->count * 8; i++)
			((char *)d->program)[i] = s->bytes[i];
	munmap(s, sizeof *s);
	return d->program ? KZ_OK : kz_err_set(err, KZ_E_OS, "out of memory");
}

void kz_deny_release(struct kz_deny *d)
{
	free(d->program);
	d->program = NULL;
	d->count = 0;
}
