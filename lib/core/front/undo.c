/* kz up that started nothing: what it made goes again. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/str.h"
#include "core/front/parts.h"

#define TRIES 20

/* What is there now. out: dir: the state directory, -1 when there is none; while it is open its number goes to no other */
static void look(const struct kz_front *f, struct kz_before *b, int *dir)
{
	char *slash;

	b->is_new = true;
	/* it fits: both have the size of a state directory */
	(void)kz_str_copy(b->stood, sizeof b->stood, f->state, NULL);
	*dir = open(b->stood, O_PATH | O_CLOEXEC);
	if (*dir >= 0)
		return;
	while ((slash = strrchr(b->stood, '/')) && slash != b->stood) {
		*slash = '\0';
		if (access(b->stood, F_OK) == 0)
			return;
	}
}

/* Is the file of that name the one that is open? */
static bool is_named(const char *path, int fd)
{
	struct stat named, held;

	return stat(path, &named) == 0 && fstat(fd, &held) == 0 && named.st_ino == held.st_ino &&
	       named.st_dev == held.st_dev;
}

/* What was there before, of the directory that is locked now. in: dir: what look saw; made: what was not there when it looked */
static void settle(const struct kz_front *f, struct kz_before *b, int dir, int made,
		   const char *made_stood)
{
	char id[40];

	if (made >= 0 && is_named(f->state, made))
		memcpy(b->stood, made_stood, sizeof b->stood);
	else if (dir >= 0 && !is_named(f->state, dir)) /* that one went, and this one is ours */
		*strrchr(b->stood, '/') = '\0';
	kz_front_stack_id(f, id);
	b->is_new = !id[0];
}

enum kz_rc kz_front_enter(const struct kz_front *f, struct kz_before *b, int *lock,
			  struct kz_err *err)
{
	kz_auto_close int made = -1;
	char path[KZ_FRONT_PATH], made_stood[sizeof b->stood] = "";
	enum kz_rc rc = kz_front_path(f, "front.lock", path, sizeof path, err);

	if (rc)
		return rc;
	for (int tries = 0; tries < TRIES; tries++) {
		kz_auto_close int fd = -1, dir = -1;

		look(f, b, &dir);
		rc = kz_front_dir(f, err);
		if (!rc && dir < 0) {
			kz_auto_close_(&made);
			made = open(f->state, O_PATH | O_CLOEXEC);
			memcpy(made_stood, b->stood, sizeof made_stood);
		}
		if (rc || (rc = kz_front_lock(f, &fd, err))) {
			if (access(f->state, F_OK) == 0)
				return rc;
			kz_time_sleep(KZ_MS(5),
				      kz_deadline_in(KZ_MS(5))); /* it went under our hands */
			continue;
		}
		/* another one that was refused may have taken the directory away while we waited */
		if (!is_named(path, fd))
			continue;
		if ((rc = kz_front_is_ours(f, err)))
			return rc;
		settle(f, b, dir, made, made_stood);
		*lock = kz_take_fd(&fd);
		return KZ_OK;
	}
	return rc ? rc : kz_err_set(err, KZ_E_TEMPFAIL, "%s comes and goes", f->state);
}

/* Everything in the state directory; what makes it one goes last, so that nobody takes the rest for somebody else's files. */
static enum kz_rc clear(const struct kz_front *f, struct kz_err *err)
{
	kz_auto_closedir DIR *d = opendir(f->state);
	struct dirent *e;
	enum kz_rc rc = KZ_OK;

	if (!d)
		return kz_err_sys(err, KZ_E_IO, "cannot open %s", f->state);
	while (!rc && (e = readdir(d)))
		if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0 &&
		    strcmp(e->d_name, "stack") != 0 && strcmp(e->d_name, "front.lock") != 0)
			rc = kz_tree_remove(dirfd(d), e->d_name, err);
	if (rc || (rc = kz_tree_remove(dirfd(d), "stack", err)))
		return rc;
	return kz_tree_remove(dirfd(d), "front.lock", err);
}

/* A state directory that we made goes in one step, so that nobody takes what is left of it for one that stood. */
static enum kz_rc remove_state(const struct kz_front *f, struct kz_err *err)
{
	char gone[KZ_FRONT_PATH];
	enum kz_rc rc = kz_str_format(gone, sizeof gone, err, "%s.gone.%d", f->state, getpid());

	if (!rc && rename(f->state, gone) != 0)
		rc = kz_err_sys(err, KZ_E_IO, "cannot rename %s", f->state);
	return rc ? rc : kz_tree_remove(AT_FDCWD, gone, err);
}

/* Its parents, as far as they were not there before; one that somebody else found use for stays. */
static void remove_parents(const struct kz_front *f, const struct kz_before *b)
{
	char path[sizeof f->state];
	char *slash;

	(void)kz_str_copy(path, sizeof path, f->state, NULL);
	while ((slash = strrchr(path, '/'))) {
		*slash = '\0';
		if (strlen(path) <= strlen(b->stood) || rmdir(path) != 0)
			return;
	}
}

static enum kz_rc remove_made(const struct kz_front *f, const struct kz_before *b,
			      struct kz_err *err)
{
	enum kz_rc rc;

	if (kz_str_eq(b->stood, f->state))
		return clear(f, err);
	if (!(rc = remove_state(f, err)))
		remove_parents(f, b);
	return rc;
}

void kz_front_undo(const struct kz_front *f, const struct kz_before *b)
{
	struct kz_err err = KZ_ERR_INIT;
	size_t mounts = 0, processes = 0;

	if (!b->is_new || kz_front_is_scanning(f))
		return;
	/* what is in use stays, and kz down ends it */
	if (kz_front_mounts(f, false, &mounts, &err) ||
	    kz_front_sweep(f, NULL, 0, &processes, &err) || mounts > 0 || processes > 0 ||
	    clear(f, &err) || remove_made(f, b, &err))
		kz_front_say(f, "note: %s is left: %s", f->state,
			     err.rc ? err.text : "it is still in use; run: kz down --purge");
}
