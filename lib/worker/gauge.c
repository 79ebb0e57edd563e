/* Readings of the tenant's cgroup, v1 and v2. */
#include "worker/gauge.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/str.h"

#define GAUGE_MAX 8192

static ssize_t read_text(int fd, char out[GAUGE_MAX])
{
	ssize_t n = fd < 0 ? -1 : pread(fd, out, GAUGE_MAX - 1, 0);

	if (n >= 0)
		out[n] = 0;
	return n;
}

static int64_t digits(const char *s)
{
	int64_t n = 0;

	if (!isdigit((unsigned char)*s))
		return -1;
	for (; isdigit((unsigned char)*s); s++) {
		if (n > (INT64_MAX - 9) / 10)
			return INT64_MAX;
		n = n * 10 + (*s - '0');
	}
	return n;
}

static int64_t whole(int fd)
{
	char t[GAUGE_MAX];

	return read_text(fd, t) <= 0 ? -1 : digits(t);
}

/* "key number" on a line of its own */
static int64_t field(int fd, const char *key)
{
	char t[GAUGE_MAX];
	size_t n = strlen(key);

	if (read_text(fd, t) <= 0)
		return -1;
	for (const char *l = t; l && *l; l = strchr(l, '\n') ? strchr(l, '\n') + 1 : NULL)
		if (strncmp(l, key, n) == 0 && l[n] == ' ')
			return digits(l + n + 1);
	return -1;
}

int64_t kz_gauge_pids(const struct kz_boot *b)
{
	return whole(b->fds.pids_current);
}

int64_t kz_gauge_processes(const struct kz_boot *b)
{
	char t[4096];
	int64_t lines = 0;
	kz_auto_close int fd = -1;
	ssize_t n;

	/* opened anew: version 1 answers a second reading of one open file from a list a second old */
	if (kz_str_format(t, sizeof t, NULL, "/proc/self/fd/%d", b->fds.procs_read) != KZ_OK)
		return -1;
	fd = open(t, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	while ((n = read(fd, t, sizeof t)) > 0)
		for (ssize_t i = 0; i < n; i++)
			lines += t[i] == '\n';
	return n < 0 ? -1 : lines;
}

int64_t kz_gauge_pids_denied(const struct kz_boot *b)
{
	/* Where nobody counts, being over the limit is what shows: its bound lets one more start. */
	if (b->single_use)
		return kz_gauge_pids(b) > b->pids + 1;
	return field(b->fds.pids_events, "max");
}

int64_t kz_gauge_memory(const struct kz_boot *b)
{
	return whole(b->fds.memory_current);
}

int64_t kz_gauge_oom_kills(const struct kz_boot *b)
{
	/* gVisor kills nobody for memory: the worker does, before the host's bound ends all of it */
	if (b->single_use)
		return kz_gauge_memory(b) >= b->memory_bytes;
	return field(b->fds.memory_events, "oom_kill");
}

int64_t kz_gauge_cpu_us(const struct kz_boot *b)
{
	int64_t ns;

	if (!b->is_v1)
		return field(b->fds.cpu_usage, "usage_usec");
	ns = whole(b->fds.cpu_usage);
	return ns < 0 ? -1 : ns / 1000;
}

int64_t kz_gauge_peak(const struct kz_boot *b)
{
	return whole(b->fds.memory_peak);
}

int64_t kz_gauge_peak_reset(const struct kz_boot *b)
{
	int64_t now;

	/* v1 takes 0, newer v2 kernels any text; where neither works the peak is of the worker's life */
	if (pwrite(b->fds.memory_peak, "0", 1, 0) != 1)
		return 0;
	now = kz_gauge_memory(b);
	return now > 0 ? now : 0;
}

static int put(int fd, int64_t n)
{
	char t[24];

	if (fd < 0)
		return 0;
	if (kz_str_format(t, sizeof t, NULL, "%lld", (long long)n) != KZ_OK)
		return -1;
	return pwrite(fd, t, strlen(t), 0) == (ssize_t)strlen(t) ? 0 : -1;
}

int kz_gauge_memory_bound(const struct kz_boot *b, int64_t was, int64_t bytes)
{
	/* version 1 takes no bound of memory over the one of memory and swap */
	int first = bytes > was ? b->fds.swap_max : b->fds.memory_max;
	int then = bytes > was ? b->fds.memory_max : b->fds.swap_max;

	int why;

	if (put(first, bytes) < 0)
		return -1;
	if (put(then, bytes) == 0)
		return 0;
	why = errno;
	(void)put(first, was);
	errno = why;
	return -1;
}
