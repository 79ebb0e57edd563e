#include "core/driver/oci_part.h"

#include <errno.h>
#include <sched.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/str.h"
#include "rule/reason.h"

#define FLAGS (MS_RDONLY | MS_NOSUID | MS_NODEV)

/* Is path at or below dir? */
static bool is_below(const char *path, const char *dir)
{
	size_t n = strlen(dir);

	return strncmp(path, dir, n) == 0 && (path[n] == '/' || !path[n]);
}

enum kz_rc kz_oci_root_place(const struct kz_oci *o, char root[64], char control[64],
			     struct kz_err *err)
{
	/*
	 * The runtime reaches the root with the worker's uid, so the way there must be open
	 * to everybody, which the state directory is not.  Any directory will do: it is
	 * covered in a private mount namespace only.
	 */
	static const char *const places[] = { "/mnt", "/media", "/srv", "/opt", "/tmp" };
	int found = 0;
	struct stat st;

	for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
		const char *p = places[i];

		if (stat(p, &st) == 0 && S_ISDIR(st.st_mode) && (st.st_mode & S_IXOTH) &&
		    !is_below(o->conf.state, p) && !is_below(o->rt.path, p) &&
		    !is_below(o->conf.set.kz_image, p)) {
			if (kz_str_copy(found ? control : root, 64, p, err))
				return KZ_E_DATA;
			if (found++)
				return KZ_OK;
		}
	}
	return kz_refuse(err, KZ_R_IMAGE_UNAVAILABLE,
			 "of /mnt /media /srv /opt /tmp two must be able to carry mounts");
}

/* in: o tells whether a user's own attributes count, since nobody but root has others */
static enum kz_rc overlay(const struct kz_oci *o, const char *where, const char *lower,
			  struct kz_err *err)
{
	char options[KZ_OCI_PATH];

	if (kz_str_format(options, sizeof options, err, "lowerdir=%s%s", lower,
			  o->is_rootless ? ",userxattr" : ""))
		return KZ_E_DATA;
	if (mount("overlay", where, "overlay", FLAGS, options) == 0)
		return KZ_OK;
	kz_err_sys(err, KZ_E_UNAVAILABLE, "cannot mount the overlay for %s", where);
	return kz_err_reason(err, kz_reason_code(KZ_R_IMAGE_UNAVAILABLE));
}

enum kz_rc kz_oci_root_mount(const struct kz_oci *o, const char *root, struct kz_err *err)
{
	bool is_host = kz_str_eq(o->conf.set.kz_image, "host");
	char usr[80];

	if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0)
		return kz_err_sys(err, KZ_E_OS, "cannot make a private mount namespace");
	/* Names relative to the skeleton keep the host's paths out of the worker's mountinfo. */
	if (chdir(o->skeleton) != 0)
		return kz_err_sys(err, KZ_E_IO, "cannot enter the image");
	if (!is_host)
		return overlay(o, root, "root:image", err);
	/* Two layers make an overlay of what is read-only: its inodes belong to this worker alone. */
	if (kz_str_format(usr, sizeof usr, err, "%s/usr", root) ||
	    overlay(o, root, "empty:root", err))
		return err ? err->rc : KZ_E_UNAVAILABLE;
	return overlay(o, usr, "mask:/usr", err);
}
