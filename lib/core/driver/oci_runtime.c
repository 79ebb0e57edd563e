#include "core/driver/oci_part.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/proc.h"
#include "base/fd.h"
#include "base/str.h"
#include "base/sys.h"
#include "rule/reason.h"

#define VERSION_SECONDS 10

const char *kz_oci_flavor_name(enum kz_oci_flavor f)
{
	static const char *const names[] = { "runc", "crun", "runsc", "other" };

	return names[f];
}

static enum kz_oci_flavor flavor_of(const char *version)
{
	if (kz_str_has_prefix(version, "runc "))
		return KZ_OCI_RUNC;
	if (kz_str_has_prefix(version, "crun "))
		return KZ_OCI_CRUN;
	return kz_str_has_prefix(version, "runsc ") ? KZ_OCI_RUNSC : KZ_OCI_OTHER;
}

/* Fixed places, not PATH: the caller's environment chooses nothing. */
static bool find_path(const char *name, char out[256])
{
	static const char *const places[] = { "/usr/local/sbin", "/usr/local/bin", "/usr/sbin",
					      "/usr/bin",        "/sbin",          "/bin" };

	if (name[0] == '/')
		return !kz_str_copy(out, 256, name, NULL) && access(out, X_OK) == 0;
	if (strchr(name, '/'))
		return false;
	for (size_t i = 0; i < sizeof places / sizeof places[0]; i++)
		if (!kz_str_format(out, 256, NULL, "%s/%s", places[i], name) &&
		    access(out, X_OK) == 0)
			return true;
	return false;
}

enum kz_rc kz_oci_runtime_find(const char *name, struct kz_oci_runtime *rt, struct kz_err *err)
{
	kz_auto_buf struct kz_buf out = KZ_BUF_INIT(64 << 10);
	const char *argv[] = { rt->path, "--version", NULL };
	int status = -1;
	char *end;

	if (!find_path(name, rt->path))
		return kz_refuse(err, KZ_R_RUNTIME_UNAVAILABLE, "the runtime %s is not installed",
				 name);
	if (kz_proc_run(argv, NULL, 0, &out, NULL, kz_deadline_in(KZ_SECONDS(VERSION_SECONDS)),
			&status, NULL) ||
	    status != 0)
		return kz_refuse(err, KZ_R_RUNTIME_UNAVAILABLE, "%s --version does not answer",
				 rt->path);
	if (kz_buf_add(&out, "\n", 1, err))
		return KZ_E_OS;
	end = strchr(out.data, '\n');
	*end = '\0';
	out.data[strnlen(out.data, sizeof rt->version - 1)] = '\0';
	if (kz_str_copy(rt->version, sizeof rt->version, out.data, err))
		return KZ_E_DATA;
	rt->flavor = flavor_of(rt->version);
	/* Its kernel is another one: no tenant cgroup, no evidence to compare. */
	rt->single_use = rt->flavor == KZ_OCI_RUNSC;
	return KZ_OK;
}

/* runsc keeps ID_sandbox:ID.state and its lock beside each other instead of a directory. */
static void forget_files(const char *dir, const char *unit)
{
	kz_auto_closedir DIR *d = opendir(dir);
	struct dirent *e;

	while (d && (e = readdir(d)) != NULL) {
		size_t n = strlen(unit);

		if (strncmp(e->d_name, unit, n) == 0 &&
		    (!e->d_name[n] || strncmp(e->d_name + n, "_sandbox:", 9) == 0))
			kz_tree_remove(dirfd(d), e->d_name, NULL);
	}
}

static bool has_entry(const char *dir, const char *unit)
{
	kz_auto_closedir DIR *d = opendir(dir);
	struct dirent *e;
	size_t n = strlen(unit);

	while (d && (e = readdir(d)) != NULL)
		if (strncmp(e->d_name, unit, n) == 0 &&
		    (!e->d_name[n] || strncmp(e->d_name + n, "_sandbox:", 9) == 0))
			return true;
	return false;
}

static enum kz_rc delete_from(const struct kz_oci *o, const struct kz_oci_record *r,
			      enum kz_oci_flavor flavor, struct kz_deadline until,
			      struct kz_err *err)
{
	char dir[KZ_OCI_PATH];
	char unit[128];
	int status = -1;

	if (kz_oci_unit(o, r->worker, unit, err) ||
	    kz_oci_path(o, dir, err, "run/oci/%s", kz_oci_flavor_name(flavor)))
		return KZ_E_DATA;
	if (!has_entry(dir, unit))
		return KZ_OK;
	if (kz_sys_before(KZ_SYS_RT_DELETE))
		return kz_err_set(err, KZ_E_IO, "the runtime cannot delete the container");
	/*
	 * With processes and cgroups gone, runc and crun have nothing left but their entry (no
	 * hooks, no network of theirs); their own delete only adds waits of 100 ms for a process 1
	 * that is still being buried.  Of others we do not know what else they keep.
	 */
	if (r->rt.path[0] && flavor != KZ_OCI_RUNC && flavor != KZ_OCI_CRUN) {
		const char *argv[] = { r->rt.path, "--root", dir, "delete", "--force", unit, NULL };

		/* Its answer is not trusted: what counts is that processes, cgroups and entry are gone. */
		kz_proc_run(argv, NULL, 0, NULL, NULL, until, &status, NULL);
	}
	forget_files(dir, unit);
	kz_sys_after(KZ_SYS_RT_DELETE);
	if (has_entry(dir, unit))
		return kz_refuse(err, KZ_R_DRIVER_FAILED,
				 "the runtime keeps its state of the container");
	return KZ_OK;
}

enum kz_rc kz_oci_runtime_delete(const struct kz_oci *o, const struct kz_oci_record *r,
				 struct kz_deadline until, struct kz_err *err)
{
	if (r->rt.path[0])
		return delete_from(o, r, r->rt.flavor, until, err);
	/* A salvaged record does not say which runtime it was. */
	for (int f = KZ_OCI_RUNC; f <= KZ_OCI_OTHER; f++)
		if (delete_from(o, r, (enum kz_oci_flavor)f, until, err))
			return err ? err->rc : KZ_E_UNAVAILABLE;
	return KZ_OK;
}
