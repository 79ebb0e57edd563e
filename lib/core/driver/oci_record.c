#include "core/driver/oci_part.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/fd.h"
#include "base/str.h"
#include "port/json.h"
#include "rule/reason.h"

#define RECORD_MAX (64 << 10)
#define LOCK_PAUSE 5
#define MARK                                                                                       \
	"instance-" /* an empty file of this name and the instance keeps the uid range claimed */

enum kz_rc kz_oci_path(const struct kz_oci *o, char out[KZ_OCI_PATH], struct kz_err *err,
		       const char *fmt, ...)
{
	char rest[256];
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(rest, sizeof rest, fmt, ap);
	va_end(ap);
	if (n < 0 || (size_t)n >= sizeof rest)
		return kz_err_set(err, KZ_E_DATA, "a path is too long");
	return kz_str_format(out, KZ_OCI_PATH, err, "%s/%s", o->conf.state, rest);
}

enum kz_rc kz_oci_unit(const struct kz_oci *o, const char *worker, char out[128],
		       struct kz_err *err)
{
	char digest[KZ_SHA256_HEX];

	kz_sha256_hex(o->conf.state, strlen(o->conf.state), digest);
	return kz_str_format(out, 128, err, "kz-%.8s.%s", digest, worker);
}

/* Without fsync: no container outlives the machine, so neither need its record. */
static enum kz_rc file_make(int dir, const char *name, const void *p, size_t n, struct kz_err *err)
{
	kz_auto_close int fd =
		openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0640);

	if (fd < 0)
		return kz_err_sys(err, KZ_E_CANTCREAT, "cannot make %s", name);
	return kz_fd_write_all(fd, p, n, err);
}

static enum kz_rc record_write(int dir, const struct kz_oci_record *r, struct kz_err *err)
{
	kz_auto_json struct kz_json *j = kz_json_object();
	kz_auto_buf struct kz_buf text = KZ_BUF_INIT(RECORD_MAX);

	kz_json_set_int(j, "v", 1);
	kz_json_set_str(j, "worker", r->worker);
	kz_json_set_str(j, "instance", r->instance);
	kz_json_set_str(j, "image", r->image);
	kz_json_set_str(j, "skeleton", r->skeleton);
	kz_json_set_int(j, "uid_base", r->uid_base);
	kz_json_set_int(j, "gid_base", r->gid_base);
	kz_json_set_bool(j, "probe", r->is_probe);
	kz_json_set_str(j, "runtime", r->rt.path);
	kz_json_set_int(j, "flavor", r->rt.flavor);
	kz_json_set_bool(j, "single_use", r->rt.single_use);
	kz_json_set(j, "cgroups", kz_cg_to_json(&r->cg));
	if (kz_json_write(j, &text, err))
		return err ? err->rc : KZ_E_OS;
	return file_make(dir, "worker.json", text.data, text.len, err);
}

/*
 * What can be known of a worker whose record was lost (a crash of the machine):
 * its instance is in a file name, its cgroups follow from its name.
 */
static enum kz_rc salvage(const struct kz_oci *o, const char *place, struct kz_oci_record *r,
			  struct kz_err *err)
{
	kz_auto_closedir DIR *d = opendir(place);
	struct dirent *e;
	char unit[128];

	while (d && (e = readdir(d)) != NULL)
		if (kz_str_has_prefix(e->d_name, MARK) &&
		    kz_str_copy(r->instance, sizeof r->instance, e->d_name + sizeof MARK - 1, err))
			return KZ_E_DATA;
	r->rt.flavor = KZ_OCI_OTHER;
	r->rt.single_use = true;
	if (kz_oci_unit(o, r->worker, unit, err))
		return KZ_E_DATA;
	return kz_cg_find(&r->cg, unit, "/proc/self/cgroup", "/proc/self/mountinfo", err);
}

static enum kz_rc record_parse(const struct kz_json *j, struct kz_oci_record *r)
{
	const char *worker = kz_json_str(j, "worker", "");

	if (!kz_str_eq(r->worker, worker) ||
	    kz_str_copy(r->instance, sizeof r->instance, kz_json_str(j, "instance", ""), NULL) ||
	    kz_str_copy(r->image, sizeof r->image, kz_json_str(j, "image", ""), NULL) ||
	    kz_str_copy(r->skeleton, sizeof r->skeleton, kz_json_str(j, "skeleton", ""), NULL) ||
	    kz_str_copy(r->rt.path, sizeof r->rt.path, kz_json_str(j, "runtime", ""), NULL))
		return KZ_E_DATA;
	r->uid_base = (uint32_t)kz_json_num(j, "uid_base", 0);
	r->gid_base = (uint32_t)kz_json_num(j, "gid_base", r->uid_base);
	r->is_probe = kz_json_flag(j, "probe", false);
	r->rt.flavor = (enum kz_oci_flavor)kz_json_num(j, "flavor", KZ_OCI_OTHER);
	r->rt.single_use = kz_json_flag(j, "single_use", true);
	return kz_cg_from_json(kz_json_get(j, "cgroups"), &r->cg, NULL);
}

enum kz_rc kz_oci_record_read(const struct kz_oci *o, const char *worker, struct kz_oci_record *r,
			      struct kz_err *err)
{
	kz_auto_json struct kz_json *j = NULL;
	kz_auto_buf struct kz_buf text = KZ_BUF_INIT(RECORD_MAX);
	char place[KZ_OCI_PATH];
	char file[KZ_OCI_PATH];

	memset(r, 0, sizeof *r);
	if (kz_oci_path(o, place, err, "workers/%s", worker) ||
	    kz_oci_path(o, file, err, "workers/%s/worker.json", worker) ||
	    kz_str_copy(r->worker, sizeof r->worker, worker, err))
		return KZ_E_DATA;
	if (access(place, F_OK) != 0 && errno == ENOENT)
		return kz_err_set(err, KZ_E_NOINPUT, "there is no worker %s", worker);
	if (!kz_file_read(AT_FDCWD, file, &text, NULL) &&
	    !kz_json_parse(kz_buf_str(&text), text.len, &j, NULL) && !record_parse(j, r))
		return KZ_OK;
	return salvage(o, place, r, err);
}

/* An exclusive lock on a directory itself: it follows a rename and leaves no file behind. */
static enum kz_rc lock_dir(const char *path, struct kz_deadline until, int *lock,
			   struct kz_err *err)
{
	struct stat held;
	struct stat named;

	for (;;) {
		kz_auto_close int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

		if (fd < 0 && errno == ENOENT)
			return kz_err_set(err, KZ_E_NOINPUT, "it is gone");
		if (fd < 0)
			return kz_err_sys(err, KZ_E_IO, "cannot open %s", path);
		if (flock(fd, LOCK_EX | LOCK_NB) == 0) {
			/* Another one of that name may have come since it was opened. */
			if (fstat(fd, &held) == 0 && stat(path, &named) == 0 &&
			    held.st_ino == named.st_ino && held.st_dev == named.st_dev) {
				*lock = kz_take_fd(&fd);
				return KZ_OK;
			}
			continue;
		}
		if (kz_deadline_passed(until))
			return kz_err_set(err, KZ_E_TEMPFAIL,
					  "another driver works on this worker");
		kz_time_sleep(KZ_MS(LOCK_PAUSE), until);
	}
}

enum kz_rc kz_oci_record_lock(const struct kz_oci *o, const char *worker, struct kz_deadline until,
			      int *lock, struct kz_err *err)
{
	char path[KZ_OCI_PATH];

	if (kz_oci_path(o, path, err, "workers/%s", worker))
		return KZ_E_DATA;
	return lock_dir(path, until, lock, err);
}

/* The directory under a name that no worker has, ready to be renamed. */
static enum kz_rc draft_make(struct kz_oci *o, struct kz_oci_record *r, const char *draft,
			     int *lock, struct kz_err *err)
{
	kz_auto_close int dir = -1;
	char mark[KZ_ID_HEX + 16];

	if (kz_dir_make(AT_FDCWD, draft, 0750, o->gid, err) || lock_dir(draft, KZ_NEVER, lock, err))
		return err ? err->rc : KZ_E_CANTCREAT;
	dir = open(draft, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0)
		return kz_err_sys(err, KZ_E_IO, "cannot open %s", draft);
	if (kz_str_format(mark, sizeof mark, err, MARK "%s", r->instance) ||
	    file_make(dir, mark, "", 0, err) || kz_dir_make(dir, "ctl", 0750, o->gid, err) ||
	    kz_dir_make(dir, "bundle", 0700, (gid_t)-1, err))
		return err ? err->rc : KZ_E_CANTCREAT;
	return record_write(dir, r, err);
}

/* Drafts that a killed driver left hold nothing yet; one that is locked is under way. */
static void drafts_sweep(const char *workers)
{
	kz_auto_closedir DIR *d = opendir(workers);
	struct dirent *e;

	while (d && (e = readdir(d)) != NULL) {
		kz_auto_close int lock = -1;
		char path[KZ_OCI_PATH];

		if (kz_str_has_prefix(e->d_name, ".new-") &&
		    !kz_str_format(path, sizeof path, NULL, "%s/%s", workers, e->d_name) &&
		    !lock_dir(path, kz_deadline_in(KZ_MS(0)), &lock, NULL))
			kz_tree_remove(dirfd(d), e->d_name, NULL);
	}
}

void kz_oci_drafts_remove(const struct kz_oci *o)
{
	kz_auto_close int uids = -1;
	kz_auto_closedir DIR *d = NULL;
	char workers[KZ_OCI_PATH];
	struct dirent *e;
	bool has_any = false;

	if (kz_oci_path(o, workers, NULL, "workers"))
		return;
	d = opendir(workers);
	while (d && !has_any && (e = readdir(d)) != NULL)
		has_any = kz_str_has_prefix(e->d_name, ".new-");
	/* The lock of those who make drafts: one that is not locked yet must not be taken for left. */
	if (has_any && !kz_uid_lock(kz_deadline_in(KZ_SECONDS(1)), &uids, NULL))
		drafts_sweep(workers);
}

enum kz_rc kz_oci_record_make(struct kz_oci *o, struct kz_oci_record *r, int *lock,
			      struct kz_err *err)
{
	kz_auto_close int uids = -1;
	char workers[KZ_OCI_PATH];
	char place[KZ_OCI_PATH];
	char draft[KZ_OCI_PATH];
	char mark[KZ_OCI_PATH];
	enum kz_rc rc;

	if (kz_oci_path(o, workers, err, "workers") ||
	    kz_oci_path(o, place, err, "workers/%s", r->worker) ||
	    kz_oci_path(o, draft, err, "workers/.new-%s.%d", r->worker, getpid()) ||
	    kz_oci_path(o, mark, err, "workers/%s/" MARK "%s", r->worker, r->instance))
		return KZ_E_DATA;
	if (kz_dir_make(AT_FDCWD, workers, 0750, o->gid, err) ||
	    kz_uid_lock(kz_deadline_in(KZ_SECONDS(o->conf.set.kz_create_timeout_seconds)), &uids,
			err))
		return err ? err->rc : KZ_E_CANTCREAT;
	drafts_sweep(workers);
	if (access(place, F_OK) == 0)
		return kz_refuse(err, KZ_R_WORKER_EXISTS, "there is a worker %s already",
				 r->worker);
	if (kz_uid_claim(o->conf.set.kz_uid_base, mark, &r->uid_base, &r->gid_base, err))
		return err ? err->rc : KZ_E_CANTCREAT;
	rc = draft_make(o, r, draft, lock, err);
	if (!rc && rename(draft, place) != 0)
		rc = kz_err_sys(err, KZ_E_CANTCREAT, "cannot make %s", place);
	if (rc) {
		kz_uid_drop(mark);
		kz_tree_remove(AT_FDCWD, draft, NULL);
	}
	return rc;
}

enum kz_rc kz_oci_record_remove(const struct kz_oci *o, const struct kz_oci_record *r,
				struct kz_err *err)
{
	kz_auto_close int uids = -1;
	char path[KZ_OCI_PATH];
	char gone[KZ_OCI_PATH];
	char mark[KZ_OCI_PATH];

	if (kz_oci_path(o, path, err, "workers/%s", r->worker) ||
	    kz_oci_path(o, gone, err, "workers/.new-%s.%d", r->worker, getpid()) ||
	    kz_oci_path(o, mark, err, "workers/%s/" MARK "%s", r->worker, r->instance) ||
	    kz_uid_lock(kz_deadline_in(KZ_SECONDS(o->conf.set.kz_delete_timeout_seconds)), &uids,
			err))
		return err ? err->rc : KZ_E_DATA;
	kz_uid_drop(mark);
	/* In one step: a worker is there with its record, or not there. */
	if (rename(path, gone) != 0 && errno != ENOENT)
		return kz_err_sys(err, KZ_E_IO, "cannot remove %s", path);
	return kz_tree_remove(AT_FDCWD, gone, err);
}
