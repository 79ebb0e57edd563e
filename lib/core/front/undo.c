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

/* What is there now. */
static void look(const struct kz_front *f, struct kz_before *b, struct stat *st)
{
	char *slash;

	b->is_new = true;
	/* it fits: both have the size of a state directory */
	(void)kz_str_copy(b->stood, sizeof b->stood, f->state, NULL);
	if (stat(b->stood, st) == 0)
		return;
	memset(st, 0, sizeof *st);
	while ((slash = strrchr(b->stood, '/')) && slash != b->stood) {
		*slash = '\0';
		if (access(b->stood, F_OK) == 0)
			return;
	}
}

static bool is_same(const struct stat *a, const struct stat *b)
{
	return a->st_ino == b->st_ino && a->st_dev == b->st_dev;
}

/* Another one that was refused may have taken the directory away while we waited. */
static bool is_held(const struct kz_front *f, int lock)
{
	char path[KZ_FRONT_PATH];
	struct stat named, held;

	return !kz_front_path(f, "front.lock", path, sizeof path, NULL) &&
	       stat(path, &named) == 0 && fstat(lock, &held) == 0 && is_same(&named, &held);
}

enum kz_rc kz_front_enter(const struct kz_front *f, struct kz_before *b, int *lock,
			  struct kz_err *err)
{
	char id[40];
	struct stat then, now;
	enum kz_rc rc = KZ_OK;

	for (int tries = 0; tries < TRIES; tries++) {
		kz_auto_close int fd = -1;

		look(f, b, &then);
		if ((rc = kz_front_dir(f, err)) || (rc = kz_front_lock(f, &fd, err))) {
			if (access(f->state, F_OK) == 0)
				return rc;
			kz_time_sleep(KZ_MS(5), KZ_NEVER); /* it may have gone under our hands */
			continue;
		}
		if (!is_held(f, fd) || stat(f->state, &now) != 0)
			continue;
		/* the one that was there went, and this one is ours */
		if (then.st_ino && !is_same(&then, &now))
			*strrchr(b->stood, '/') = '\0';
		kz_front_stack_id(f, id);
		b->is_new = !id[0];
		*lock = kz_take_fd(&fd);
		return KZ_OK;
	}
	return rc ? rc : kz_err_set(err, KZ_E_TEMPFAIL, "%s comes and goes", f->state);
}

/* Everything in the state directory. */
static enum kz_rc clear(const struct kz_front *f, struct kz_err *err)
{
	kz_auto_closedir DIR *d = opendir(f->state);
	struct dirent *e;
	enum kz_rc rc = KZ_OK;

	if (!d)
		return kz_err_sys(err, KZ_E_IO, "cannot open %s", f->state);
	while (!rc && (e = readdir(d)))
		if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
			rc = kz_tree_remove(dirfd(d), e->d_name, err);
	return rc;
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
	if (kz_front_mounts(f, false, &mounts, &err) || kz_front_sweep(f, 0, &processes, &err) ||
	    mounts > 0 || processes > 0 || clear(f, &err) || remove_made(f, b, &err))
		kz_front_say(f, "note: %s is left: %s", f->state,
			     err.rc ? err.text : "it is still in use; run: kz down --purge");
}
