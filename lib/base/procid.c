/* The identity of a process that survives the reuse of its number. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fd.h"
#include "base/proc.h"
#include "base/str.h"

/* State letter and start of a process from /proc. */
static enum kz_rc stat_read(int64_t pid, char *state, uint64_t *start, struct kz_err *err)
{
	kz_auto_buf struct kz_buf b = KZ_BUF_INIT(8192);
	char path[64];
	const char *p;
	enum kz_rc rc;

	snprintf(path, sizeof(path), "/proc/%" PRId64 "/stat", pid);
	rc = kz_file_read(AT_FDCWD, path, &b, err);
	if (rc)
		return rc;
	/* The name in field 2 may hold anything, also ')': count from the last one. */
	p = strrchr(kz_buf_str(&b), ')');
	if (!p ||
	    sscanf(p + 1,
		   " %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %" SCNu64,
		   state, start) != 2)
		return kz_err_set(err, KZ_E_SOFTWARE, "%s is malformed", path);
	return KZ_OK;
}

static enum kz_rc boot_id_read(char out[37], struct kz_err *err)
{
	kz_auto_buf struct kz_buf b = KZ_BUF_INIT(64);
	enum kz_rc rc = kz_file_read(AT_FDCWD, "/proc/sys/kernel/random/boot_id", &b, err);

	if (rc)
		return rc;
	if (b.len < 36)
		return kz_err_set(err, KZ_E_SOFTWARE, "the boot id is malformed");
	memcpy(out, b.data, 36);
	out[36] = '\0';
	return KZ_OK;
}

enum kz_rc kz_proc_self_id(struct kz_proc_id *out, struct kz_err *err)
{
	struct kz_proc_id id = { .pid = getpid() };
	struct stat st;
	char state;
	enum kz_rc rc = stat_read(id.pid, &state, &id.start_ticks, err);

	if (!rc)
		rc = boot_id_read(id.boot_id, err);
	if (rc)
		return rc;
	if (stat("/proc/self/ns/pid", &st) < 0)
		return kz_err_sys(err, KZ_E_OS, "cannot read the process namespace");
	id.pid_ns = st.st_ino;
	*out = id;
	return KZ_OK;
}

void kz_proc_id_format(const struct kz_proc_id *id, char *out, size_t size)
{
	snprintf(out, size, "%" PRId64 ":%" PRIu64 ":%" PRIu64 ":%s", id->pid, id->start_ticks,
		 id->pid_ns, id->boot_id);
}

/* The decimal number up to the next ':'; s moves past it. */
static bool id_number(const char **s, int64_t *out)
{
	const char *end = strchr(*s, ':');
	char digits[24];

	if (!end || **s == '-' || (size_t)(end - *s) >= sizeof(digits))
		return false;
	memcpy(digits, *s, (size_t)(end - *s));
	digits[end - *s] = '\0';
	*s = end + 1;
	return kz_str_int(digits, 0, INT64_MAX, out, NULL) == KZ_OK;
}

enum kz_rc kz_proc_id_parse(const char *s, struct kz_proc_id *out, struct kz_err *err)
{
	struct kz_proc_id id;
	int64_t pid, start, ns;

	if (!id_number(&s, &pid) || !id_number(&s, &start) || !id_number(&s, &ns) || pid < 1 ||
	    pid > INT32_MAX || strlen(s) != 36 || strspn(s, "0123456789abcdef-") != 36)
		return kz_err_set(err, KZ_E_DATA, "not a process identity");
	id.pid = pid;
	id.start_ticks = (uint64_t)start;
	id.pid_ns = (uint64_t)ns;
	memcpy(id.boot_id, s, sizeof(id.boot_id));
	*out = id;
	return KZ_OK;
}

int kz_proc_id_alive(const struct kz_proc_id *id)
{
	struct kz_proc_id self;
	struct kz_err err;
	uint64_t start;
	char state;

	if (kz_proc_self_id(&self, &err) || strcmp(self.boot_id, id->boot_id) != 0 ||
	    self.pid_ns != id->pid_ns)
		return -1;
	if (kill((pid_t)id->pid, 0) < 0 && errno == ESRCH)
		return 0;
	if (stat_read(id->pid, &state, &start, &err))
		/* It may have ended meanwhile; or /proc hides it from us. */
		return kill((pid_t)id->pid, 0) < 0 && errno == ESRCH ? 0 : -1;
	if (start != id->start_ticks)
		return 0;
	/* A zombie holds nothing any more. */
	return state == 'Z' || state == 'X' ? 0 : 1;
}
