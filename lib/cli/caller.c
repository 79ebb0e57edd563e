/* Who calls, and whether they may. */
#include "cli/caller.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/fd.h"
#include "base/str.h"
#include "rule/reason.h"

void kz_caller_user(char out[64])
{
	struct passwd pw, *found = NULL;
	char room[4096];

	if (getpwuid_r(geteuid(), &pw, room, sizeof(room), &found) == 0 && found &&
	    kz_str_copy(out, 64, pw.pw_name, NULL) == KZ_OK && *out)
		return;
	snprintf(out, 64, "%lu", (unsigned long)geteuid());
}

static bool in_group(gid_t gid)
{
	kz_auto_free gid_t *groups = NULL;
	int n = getgroups(0, NULL);

	if (getegid() == gid)
		return true;
	groups = n > 0 ? calloc((size_t)n, sizeof(*groups)) : NULL;
	n = groups ? getgroups(n, groups) : 0;
	for (int i = 0; i < n; i++)
		if (groups[i] == gid)
			return true;
	return false;
}

enum kz_rc kz_caller_check(const char *state, const char *group, struct kz_err *err)
{
	struct group gr, *found = NULL;
	struct stat st;
	char room[16384];
	char user[64];

	if (geteuid() == 0 || (stat(state, &st) == 0 && st.st_uid == geteuid()))
		return KZ_OK;
	kz_caller_user(user);
	if (!*group)
		return kz_refuse(err, KZ_R_NO_PERMISSION,
				 "only root may use kz here (KZ_GROUP is empty); try: sudo");
	if (getgrnam_r(group, &gr, room, sizeof(room), &found) != 0 || !found)
		return kz_refuse(
			err, KZ_R_NO_PERMISSION,
			"there is no group %s; make it with: sudo groupadd --system %s && sudo usermod -aG %s %s",
			group, group, group, user);
	if (in_group(gr.gr_gid))
		return KZ_OK;
	return kz_refuse(
		err, KZ_R_NO_PERMISSION,
		"user %s is not in group %s; add it with: sudo usermod -aG %s %s (then log in again)",
		user, group, group, user);
}

enum kz_rc kz_ready_tell(int fd, struct kz_err *err)
{
	enum kz_rc rc;

	if (fd < 0)
		return KZ_OK;
	rc = kz_fd_write_all(fd, "\n", 1, err);
	close(fd);
	return rc;
}
