/* The state directory: who may change it, its folders, its marks. */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/fd.h"
#include "base/str.h"
#include "core/conf/keys.h"
#include "core/conf/public.h"
#include "core/egress/revoke.h"
#include "core/files/objects.h"
#include "core/front/parts.h"
#include "core/front/seed.h"
#include "rule/reason.h"

/* Folder, mode; run/ and audit/ hand their group on, so that sockets and the store's own files get it. */
static const struct {
	const char *name;
	mode_t mode;
} folders[] = {
	{ "env", 0750 },       { "keys", 0750 },        { "run", 02750 },   { "workers", 0750 },
	{ "image", 0755 },     { "log", 0750 },         { "audit", 02770 }, { "valkey", 0700 },
	{ "run/proxy", 0711 }, { "run/gateway", 0711 },
};

gid_t kz_front_gid(const struct kz_settings *s)
{
	struct group *g;

	if (geteuid() != 0 || !s->kz_group[0])
		return (gid_t)-1;
	g = getgrnam(s->kz_group);
	return g ? g->gr_gid : (gid_t)-1;
}

enum kz_rc kz_front_may(const struct kz_front *f, const char *verb, struct kz_err *err)
{
	struct stat st;

	if (geteuid() == 0)
		return KZ_OK;
	if (stat(f->state, &st) == 0 ? st.st_uid == geteuid() :
				       strcmp(f->state, "/var/lib/kz") != 0)
		return KZ_OK;
	return kz_refuse(err, KZ_R_NO_PERMISSION, "%s belongs to another user; run: sudo kz %s",
			 f->state, verb);
}

enum kz_rc kz_front_lock(const struct kz_front *f, int *fd, struct kz_err *err)
{
	char path[KZ_FRONT_PATH];
	enum kz_rc rc;

	if ((rc = kz_front_path(f, "front.lock", path, sizeof path, err)))
		return rc;
	rc = kz_file_lock(AT_FDCWD, path, kz_deadline_in(KZ_SECONDS(120)), fd, err);
	if (rc == KZ_E_TEMPFAIL)
		kz_err_wrap(err, "another kz up or kz down is at work in %s", f->state);
	return rc;
}

/* mkdir -p of the parents only; what is there stays as it is. */
static enum kz_rc make_parents(const char *path, struct kz_err *err)
{
	char part[KZ_FRONT_PATH];
	enum kz_rc rc = kz_str_copy(part, sizeof part, path, err);

	for (char *p = part + 1; !rc && (p = strchr(p, '/')); p++) {
		*p = 0;
		if (mkdir(part, 0755) != 0 && errno != EEXIST)
			return kz_err_sys(err, KZ_E_CANTCREAT, "cannot make %s", part);
		*p = '/';
	}
	return rc;
}

enum kz_rc kz_front_is_ours(const struct kz_front *f, struct kz_err *err)
{
	char id[40];

	kz_auto_closedir DIR *d = opendir(f->state);
	struct dirent *e;

	kz_front_stack_id(f, id);
	if (id[0])
		return KZ_OK;
	if (!d)
		return errno == ENOENT ? KZ_OK :
					 kz_err_sys(err, KZ_E_IO, "cannot open %s", f->state);
	while ((e = readdir(d)))
		if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0 &&
		    strcmp(e->d_name, "front.lock") != 0)
			return kz_refuse(
				err, KZ_R_DISK_UNAVAILABLE,
				"%s holds other files (%s); name an empty or absent directory",
				f->state, e->d_name);
	return KZ_OK;
}

/* Text of 8 random bytes behind a letter: a name for deployments and stacks. */
static enum kz_rc random_name(char letter, char out[40], struct kz_err *err)
{
	unsigned char raw[8];

	if (getrandom(raw, sizeof raw, 0) != (ssize_t)sizeof raw)
		return kz_err_sys(err, KZ_E_OS, "no random numbers");
	out[0] = letter;
	kz_hex_encode(raw, sizeof raw, out + 1);
	return KZ_OK;
}

void kz_front_stack_id(const struct kz_front *f, char out[40])
{
	kz_auto_buf struct kz_buf b = KZ_BUF_INIT(64);
	char path[KZ_FRONT_PATH];

	out[0] = 0;
	if (kz_front_path(f, "stack", path, sizeof path, NULL) ||
	    kz_file_read(AT_FDCWD, path, &b, NULL))
		return;
	if (b.len > 1 && b.data[b.len - 1] == '\n')
		b.data[--b.len] = 0;
	if (kz_str_is_name(kz_buf_str(&b)) && b.len < 40)
		memcpy(out, kz_buf_str(&b), b.len + 1);
}

enum kz_rc kz_front_dir(const struct kz_front *f, struct kz_err *err)
{
	char id[40], lock[KZ_FRONT_PATH];
	enum kz_rc rc;

	kz_front_stack_id(f, id);
	if (id[0])
		return KZ_OK;
	if ((rc = kz_front_path(f, "front.lock", lock, sizeof lock, err)))
		return rc;
	/* where another kz is at work its files come and go: the question waits for the lock */
	if (kz_front_is_ours(f, NULL) && access(lock, F_OK) != 0 && (rc = kz_front_is_ours(f, err)))
		return rc;
	if ((rc = make_parents(f->state, err)))
		return rc;
	return kz_dir_make(AT_FDCWD, f->state, 0750, (gid_t)-1, err);
}

enum kz_rc kz_front_mark(const struct kz_front *f, struct kz_err *err)
{
	char id[40], line[48], path[KZ_FRONT_PATH];
	enum kz_rc rc;
	int n;

	kz_front_stack_id(f, id);
	if (id[0])
		return KZ_OK;
	if ((rc = random_name('s', id, err)) ||
	    (rc = kz_front_path(f, "stack", path, sizeof path, err)))
		return rc;
	n = snprintf(line, sizeof line, "%s\n", id);
	return kz_file_replace(AT_FDCWD, path, line, (size_t)n, 0644, (gid_t)-1, err);
}

/* Files that were made under another KZ_GROUP follow the folder. */
static enum kz_rc hand_over(const struct kz_front *f, const char *folder, gid_t gid,
			    struct kz_err *err)
{
	kz_auto_closedir DIR *d = NULL;
	char path[KZ_FRONT_PATH];
	struct dirent *e;
	struct stat st;
	enum kz_rc rc = kz_front_path(f, folder, path, sizeof path, err);

	if (rc || gid == (gid_t)-1 || !(d = opendir(path)))
		return rc;
	while ((e = readdir(d)))
		if (e->d_name[0] != '.' &&
		    fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
		    S_ISREG(st.st_mode) && st.st_gid != gid &&
		    fchownat(dirfd(d), e->d_name, (uid_t)-1, gid, AT_SYMLINK_NOFOLLOW) != 0)
			return kz_err_sys(err, KZ_E_OS, "cannot hand %s to the callers' group",
					  e->d_name);
	return KZ_OK;
}

/* What others verify with: the public keys, and the revocations, signed anew when the key changed. */
static enum kz_rc make_public(const struct kz_front *f, struct kz_err *err)
{
	kz_auto(kz_secret_release) struct kz_secret key = { .is_set = false };
	enum kz_rc rc = kz_public_write(f->state, err);

	if (!rc)
		rc = kz_keys_read(f->state, KZ_KEY_GRANT, &key, err);
	return rc ? rc : kz_revoke(f->state, &key, NULL, 0, kz_time_wall_ms(), NULL, err);
}

enum kz_rc kz_front_tree(const struct kz_front *f, struct kz_conf *c, struct kz_err *err)
{
	gid_t gid = kz_front_gid(&c->set);
	char path[KZ_FRONT_PATH], id[40];
	enum kz_rc rc;

	if (geteuid() == 0 && c->set.kz_group[0] && gid == (gid_t)-1)
		kz_front_say(f, "note: there is no group %s, so only root may call",
			     c->set.kz_group);
	if ((rc = kz_dir_make(AT_FDCWD, f->state, 0750, gid, err)))
		return rc;
	for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
		if ((rc = kz_front_path(f, folders[i].name, path, sizeof path, err)) ||
		    (rc = kz_dir_make(AT_FDCWD, path, folders[i].mode, gid, err)))
			return rc;
	if ((rc = hand_over(f, "env", gid, err)) || (rc = hand_over(f, "audit", gid, err)) ||
	    (rc = kz_keys_make(f->state, gid, err)) || (rc = kz_objects_make(c, gid, err)) ||
	    (rc = make_public(f, err)) || (rc = kz_front_seed(c, f->state, err)))
		return rc;
	if (c->set.kz_deployment_id[0])
		return KZ_OK;
	if ((rc = random_name('d', id, err)) ||
	    (rc = kz_conf_store(f->state, "KZ_DEPLOYMENT_ID", id, err)))
		return rc;
	return kz_conf_set(&c->set, "KZ_DEPLOYMENT_ID", id, err);
}
