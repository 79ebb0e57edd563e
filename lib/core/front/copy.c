/* Copying the service directories: small plain files and folders only. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/auto.h"
#include "base/fd.h"
#include "base/str.h"
#include "core/front/parts.h"

static enum kz_rc copy_at(int from, const char *from_name, int to, const char *to_name, int depth,
			  struct kz_err *err);

static enum kz_rc copy_file(int from, const char *name, mode_t mode, int to, const char *to_name,
			    struct kz_err *err)
{
	kz_auto_buf struct kz_buf b = KZ_BUF_INIT(65536);
	enum kz_rc rc = kz_file_read(from, name, &b, err);

	return rc ? rc :
		    kz_file_replace(to, to_name, b.data, b.len, mode & 0111 ? 0755 : 0644,
				    (gid_t)-1, err);
}

static enum kz_rc copy_dir(int from, const char *name, int to, const char *to_name, int depth,
			   struct kz_err *err)
{
	kz_auto_closedir DIR *d = NULL;
	kz_auto_close int source = openat(from, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC),
			  target = -1;
	struct dirent *e;
	enum kz_rc rc = KZ_OK;
	int again;

	if (source < 0)
		return kz_err_sys(err, KZ_E_NOINPUT, "cannot open %s", name);
	if ((rc = kz_dir_make(to, to_name, 0755, (gid_t)-1, err)))
		return rc;
	target = openat(to, to_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (target < 0)
		return kz_err_sys(err, KZ_E_CANTCREAT, "cannot open %s", to_name);
	if ((again = fcntl(source, F_DUPFD_CLOEXEC, 0)) < 0 || !(d = fdopendir(again)))
		return kz_err_sys(err, KZ_E_OS, "cannot read %s", name);
	while (!rc && (e = readdir(d)))
		if (e->d_name[0] != '.')
			rc = copy_at(source, e->d_name, target, e->d_name, depth + 1, err);
	return rc;
}

static enum kz_rc copy_at(int from, const char *from_name, int to, const char *to_name, int depth,
			  struct kz_err *err)
{
	struct stat st;

	if (fstatat(from, from_name, &st, 0) != 0)
		return kz_err_sys(err, KZ_E_NOINPUT, "cannot look at %s", from_name);
	/* run-time folders of a tree that once ran in place are not part of the source */
	if (strcmp(from_name, "supervise") == 0 || strcmp(from_name, "event") == 0)
		return KZ_OK;
	if (S_ISDIR(st.st_mode) && depth < 8)
		return copy_dir(from, from_name, to, to_name, depth, err);
	if (S_ISREG(st.st_mode))
		return copy_file(from, from_name, st.st_mode, to, to_name, err);
	return kz_err_set(err, KZ_E_DATA, "%s is neither a file nor a folder", from_name);
}

enum kz_rc kz_front_copy(const char *from, const char *to, struct kz_err *err)
{
	return copy_at(AT_FDCWD, from, AT_FDCWD, to, 0, err);
}
