/* Where a user may make cgroups: a part of the tree that was handed to that user. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/fd.h"
#include "base/str.h"
#include "core/driver/cgroup.h"
#include "core/driver/oci_rootless.h"
#include "rule/reason.h"

#define CONTROLLERS_MAX 4096

/* The directory that a unit goes into. */
static void parent_of(const struct kz_cg_tree *t, char out[320])
{
	const char *unit = strrchr(t->dir, '/');

	snprintf(out, 320, "%.*s", unit ? (int)(unit - t->dir) : 0, t->dir);
}

static bool may_divide(const char *dir, const char *file)
{
	char path[400];

	return !kz_str_format(path, sizeof path, NULL, "%s/%s", dir, file) &&
	       access(dir, W_OK | X_OK) == 0 && access(path, W_OK) == 0;
}

/* Version 1: every hierarchy counts by itself, and the runtime uses each that is mounted. */
static bool look_v1(const struct kz_cg *cg, struct kz_rootless_find *f)
{
	char first[320] = "";
	char dir[320];
	char list[120] = "";
	size_t n = 0;

	for (size_t i = 0; i < cg->count; i++) {
		const char *name = cg->trees[i].controllers;

		parent_of(&cg->trees[i], dir);
		if (may_divide(dir, "cgroup.procs"))
			continue;
		if (!first[0])
			memcpy(first, dir, sizeof first);
		n += (size_t)snprintf(list + n, sizeof list - n, "%s%s", n ? " " : "",
				      name[0] ? name : "unified");
		if (n >= sizeof list)
			n = sizeof list - 1;
	}
	if (!first[0])
		return false;
	snprintf(f->text, sizeof f->text,
		 "this process's own cgroup is not yours to divide (version 1) in: %s", list);
	snprintf(f->fix, sizeof f->fix,
		 "start kz in a cgroup that you own in every hierarchy, or boot with version 2");
	return true;
}

/* What of the needed the directory does not have. out: "" when nothing is missing */
static void missing_in(const char *dir, char out[32])
{
	static const char *const needed[] = { "memory", "pids", "cpu" };
	kz_auto_buf struct kz_buf text = KZ_BUF_INIT(CONTROLLERS_MAX);
	char path[400];

	out[0] = '\0';
	if (kz_str_format(path, sizeof path, NULL, "%s/cgroup.controllers", dir) ||
	    kz_file_read(AT_FDCWD, path, &text, NULL))
		return;
	for (char *p = text.data; p && *p; p++)
		if (*p == ' ' || *p == '\n')
			*p = ',';
	for (size_t i = 0; i < 3; i++)
		if (!text.len || !kz_cg_has(text.data, needed[i]))
			snprintf(out + strlen(out), 32 - strlen(out), " %s", needed[i]);
}

/* The topmost directory at or above dir that is the user's. out: "" when there is none */
static void top_of(char *dir, const char *mount, char out[320])
{
	char *slash;

	out[0] = '\0';
	while (strlen(dir) > strlen(mount)) {
		if (may_divide(dir, "cgroup.subtree_control"))
			snprintf(out, 320, "%s", dir);
		else if (out[0])
			return;
		if ((slash = strrchr(dir, '/')) == NULL)
			return;
		*slash = '\0';
	}
}

static void advise(struct kz_rootless_find *f)
{
	char path[64];

	snprintf(path, sizeof path, "/run/user/%lu/systemd", (unsigned long)geteuid());
	if (access(path, F_OK) == 0)
		snprintf(f->fix, sizeof f->fix, "systemd-run --user --scope -p Delegate=yes kz up");
	else
		snprintf(f->fix, sizeof f->fix,
			 "sudo loginctl enable-linger %lu; then: systemd-run --user --scope -p "
			 "Delegate=yes kz up",
			 (unsigned long)geteuid());
}

/* Version 2: the nearest group that can hand the controllers down must be the user's. */
static bool look_v2(const struct kz_cg *cg, struct kz_rootless_find *f)
{
	size_t i = kz_cg_tree_of(cg, "memory");
	struct kz_cg placed = *cg;
	struct kz_err err = KZ_ERR_INIT;
	char own[320];
	char top[320];
	char lacks[32];

	if (!kz_cg_place(&placed, &err))
		return false;
	parent_of(&cg->trees[i], own);
	snprintf(f->text, sizeof f->text,
		 "the cgroup of this process is not yours to divide (version 2): %.100s",
		 own + strlen(cg->mount_v2));
	advise(f);
	top_of(own, cg->mount_v2, top);
	if (!top[0])
		return true;
	missing_in(top, lacks);
	if (!lacks[0]) {
		snprintf(f->text, sizeof f->text, "%.190s", err.text);
		return true;
	}
	snprintf(f->text, sizeof f->text, "%.120s was handed to you without:%s",
		 top + strlen(cg->mount_v2), lacks);
	snprintf(f->fix, sizeof f->fix,
		 "sudo systemctl edit user@.service, with: [Service] Delegate=cpu memory pids");
	return true;
}

bool kz_rootless_cgroup_look(const char *self, const char *mounts, struct kz_rootless_find *f)
{
	struct kz_err err = KZ_ERR_INIT;
	struct kz_cg cg;

	if (kz_cg_find(&cg, "kz-look", self, mounts, &err)) {
		snprintf(f->text, sizeof f->text, "%.190s", err.text);
		snprintf(f->fix, sizeof f->fix,
			 "add systemd.unified_cgroup_hierarchy=1 to the kernel command line");
		return true;
	}
	return cg.is_v2 ? look_v2(&cg, f) : look_v1(&cg, f);
}

enum kz_rc kz_rootless_cgroup_check(struct kz_err *err)
{
	struct kz_rootless_find f;

	if (!kz_rootless_cgroup_look("/proc/self/cgroup", "/proc/self/mountinfo", &f))
		return KZ_OK;
	return kz_refuse(err, KZ_R_CGROUP_UNAVAILABLE, "%s; try: %s", f.text, f.fix);
}
