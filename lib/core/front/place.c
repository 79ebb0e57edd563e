/* Where the parts of this installation stand. */
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/str.h"
#include "base/where.h"
#include "core/front/parts.h"

void kz_front_say(const struct kz_front *f, const char *fmt, ...)
{
	char line[512];
	va_list ap;

	if (!f->say)
		return;
	va_start(ap, fmt);
	vsnprintf(line, sizeof line, fmt, ap);
	va_end(ap);
	f->say(f->say_ctx, line);
}

enum kz_rc kz_front_path(const struct kz_front *f, const char *suffix, char *out, size_t size,
			 struct kz_err *err)
{
	return kz_str_format(out, size, err, "%s/%s", f->state, suffix);
}

static enum kz_rc places(struct kz_front *f, struct kz_err *err)
{
	char exe[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", exe, sizeof exe - 1);
	char *slash;
	enum kz_rc rc;

	memset(f, 0, sizeof *f);
	if (n < 0)
		return kz_err_sys(err, KZ_E_OS, "cannot read /proc/self/exe");
	exe[n] = 0;
	slash = strrchr(exe, '/');
	if (!slash || slash == exe)
		return kz_err_set(err, KZ_E_OS, "/proc/self/exe names no folder");
	*slash = 0;
	if ((rc = kz_str_copy(f->bin, sizeof f->bin, exe, err)) ||
	    (rc = kz_str_format(f->libexec, sizeof f->libexec, err, "%s/../libexec/kz", exe)))
		return rc;
	return kz_where_shared("supervise", f->supervise, sizeof f->supervise, err);
}

enum kz_rc kz_front_init_up(struct kz_front *f, struct kz_err *err)
{
	enum kz_rc rc = places(f, err);

	return rc ? rc : kz_conf_state_make(f->state, err);
}

enum kz_rc kz_front_init(struct kz_front *f, struct kz_err *err)
{
	enum kz_rc rc = places(f, err);

	return rc ? rc : kz_conf_state(f->state, err);
}
