/* The control socket of a worker whose kernel can use none of ours: it makes its own. */
#include "core/driver/oci_part.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/str.h"
#include "rule/reason.h"

#define SOCKET "control.sock"

static enum kz_rc fail(struct kz_err *err, const char *what)
{
	kz_err_sys(err, KZ_E_OS, "cannot %s the directory of the control socket", what);
	return kz_err_reason(err, kz_reason_code(KZ_R_DRIVER_FAILED));
}

enum kz_rc kz_oci_control_mount(const struct kz_oci *o, const struct kz_oci_record *r,
				const char *control, struct kz_err *err)
{
	char path[KZ_OCI_PATH];

	/* The runtime's helper reaches it with the worker's uid, which may not enter the state directory. */
	if (kz_oci_path(o, path, err, "workers/%s/ctl", r->worker))
		return KZ_E_DATA;
	if (mount(path, control, NULL, MS_BIND, NULL) != 0)
		return fail(err, "mount");
	return KZ_OK;
}

static enum kz_rc open_dir(const struct kz_oci *o, const struct kz_oci_record *r, int *dir,
			   struct kz_err *err)
{
	char path[KZ_OCI_PATH];

	if (kz_oci_path(o, path, err, "workers/%s/ctl", r->worker))
		return KZ_E_DATA;
	*dir = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return *dir < 0 ? fail(err, "open") : KZ_OK;
}

enum kz_rc kz_oci_control_lend(const struct kz_oci *o, const struct kz_oci_record *r,
			       struct kz_err *err)
{
	kz_auto_close int dir = -1;

	if (open_dir(o, r, &dir, err))
		return err ? err->rc : KZ_E_OS;
	return fchown(dir, r->uid_base, (gid_t)-1) != 0 ? fail(err, "lend") : KZ_OK;
}

/* Beside the socket, for whoever may use it: why a worker that is dead was killed, as long as it is not deleted. */
static enum kz_rc link_events(int dir, const struct kz_cg *cg, struct kz_err *err)
{
	char path[400];
	size_t i = kz_cg_tree_of(cg, "memory");

	if (i == KZ_CG_NONE ||
	    kz_str_format(path, sizeof path, err, "%s/worker/%s", cg->trees[i].dir,
			  cg->is_v2 ? "memory.events" : "memory.oom_control"))
		return KZ_E_DATA;
	return symlinkat(path, dir, "memory.events") != 0 ? fail(err, "write") : KZ_OK;
}

/* The directory first: from then on what is in it cannot be exchanged. */
enum kz_rc kz_oci_control_take(const struct kz_oci *o, const struct kz_oci_record *r,
			       struct kz_err *err)
{
	gid_t gid = o->gid == (gid_t)-1 ? 0 : o->gid;
	kz_auto_close int dir = -1;
	struct stat st;

	if (open_dir(o, r, &dir, err))
		return err ? err->rc : KZ_E_OS;
	if (fchown(dir, 0, (gid_t)-1) != 0)
		return fail(err, "take back");
	if (fstatat(dir, SOCKET, &st, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISSOCK(st.st_mode))
		return kz_refuse(err, KZ_R_POSTURE_FAILED, "the worker made no control socket");
	if (fchownat(dir, SOCKET, 0, gid, AT_SYMLINK_NOFOLLOW) != 0 ||
	    fchmodat(dir, SOCKET, 0660, 0) != 0)
		return fail(err, "take back");
	return link_events(dir, &r->cg, err);
}
