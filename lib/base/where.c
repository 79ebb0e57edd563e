/* Where the files of this installation are. */
#include "base/where.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/str.h"

#define PATH_BYTES 4096

/* The directory of the running binary, without a final '/'. */
static enum kz_rc own_directory(char out[PATH_BYTES], struct kz_err *err)
{
	ssize_t n = readlink("/proc/self/exe", out, PATH_BYTES - 1);
	char *slash;

	if (n < 0)
		return kz_err_sys(err, KZ_E_OS, "cannot read /proc/self/exe");
	out[n] = '\0';
	slash = strrchr(out, '/');
	if (!slash || slash == out)
		return kz_err_set(err, KZ_E_NOINPUT, "the program lies in no directory");
	*slash = '\0';
	return KZ_OK;
}

static bool is_program(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

enum kz_rc kz_where_program(const char *name, char *out, size_t size, struct kz_err *err)
{
	static const char *const places[] = { "", "/../libexec/kz", "/../../bin", "/../bin" };
	char dir[PATH_BYTES];
	enum kz_rc rc;

	if (strchr(name, '/')) {
		if (name[0] != '/')
			return kz_err_set(err, KZ_E_NOINPUT, "not an absolute path: %s", name);
		return is_program(name) ?
			       kz_str_copy(out, size, name, err) :
			       kz_err_set(err, KZ_E_NOINPUT, "no executable file %s", name);
	}
	rc = own_directory(dir, err);
	for (size_t i = 0; !rc && i < sizeof(places) / sizeof(places[0]); i++) {
		rc = kz_str_format(out, size, err, "%s%s/%s", dir, places[i], name);
		if (!rc && is_program(out))
			return KZ_OK;
	}
	return rc ? rc :
		    kz_err_set(err, KZ_E_NOINPUT, "no program %s beside %s or in its libexec/kz",
			       name, dir);
}

enum kz_rc kz_where_shared(const char *name, char *out, size_t size, struct kz_err *err)
{
	/* Installed in bin, installed in libexec/kz, and the source tree above build/bin. */
	static const char *const places[] = { "/../share/kz", "/../../share/kz", "/../.." };
	char dir[PATH_BYTES];
	struct stat st;
	enum kz_rc rc = own_directory(dir, err);

	for (size_t i = 0; !rc && i < sizeof(places) / sizeof(places[0]); i++) {
		rc = kz_str_format(out, size, err, "%s%s/%s", dir, places[i], name);
		if (!rc && stat(out, &st) == 0)
			return KZ_OK;
	}
	return rc ? rc : kz_err_set(err, KZ_E_NOINPUT, "no shared file %s near %s", name, dir);
}
