/* Where the parts of this installation stand. */
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/str.h"
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

static bool is_dir(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* The first of two folders beside ours that exists; the installed place wins over the build tree's. */
static enum kz_rc pick(const char *bin, const char *installed, const char *built, char *out,
		       size_t size, struct kz_err *err)
{
	char path[KZ_FRONT_PATH + 64], real[PATH_MAX];
	const char *tries[] = { installed, built };

	for (size_t i = 0; i < 2; i++) {
		snprintf(path, sizeof path, "%s/%s", bin, tries[i]);
		if (is_dir(path) && realpath(path, real))
			return kz_str_copy(out, size, real, err);
	}
	return kz_err_set(err, KZ_E_NOINPUT, "neither %s nor %s is there beside %s; install kz again",
			  installed, built, bin);
}

enum kz_rc kz_front_places(struct kz_front *f, struct kz_err *err)
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
	    (rc = pick(exe, "../libexec/kz", ".", f->libexec, sizeof f->libexec, err)))
		return rc;
	return pick(exe, "../share/kz/supervise", "../../supervise", f->supervise, sizeof f->supervise, err);
}

enum kz_rc kz_front_init(struct kz_front *f, struct kz_err *err)
{
	enum kz_rc rc = kz_front_places(f, err);

	return rc ? rc : kz_conf_state(f->state, err);
}

enum kz_rc kz_front_find(const struct kz_front *f, const char *program, char *out, size_t size,
			 struct kz_err *err)
{
	const char *dirs[] = { f->bin, f->libexec };
	enum kz_rc rc;

	if (strchr(program, '/')) {
		if (access(program, X_OK) == 0)
			return kz_str_copy(out, size, program, err);
		return kz_err_sys(err, KZ_E_NOINPUT, "cannot execute %s", program);
	}
	for (size_t i = 0; i < 2; i++) {
		if ((rc = kz_str_format(out, size, err, "%s/%s", dirs[i], program)))
			return rc;
		if (access(out, X_OK) == 0)
			return KZ_OK;
	}
	return kz_err_set(err, KZ_E_NOINPUT, "there is no program %s in %s or %s", program, f->bin, f->libexec);
}
