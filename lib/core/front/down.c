/* kz down: drain, stop, and take away what is left. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/proc.h"
#include "base/str.h"
#include "core/front/parts.h"
#include "core/pool/authority_keeper.h"
#include "port/json.h"
#include "rule/reason.h"

/* A stack with a setting that makes no sense must still come down: then the defaults count. */
static void load(const struct kz_front *f, struct kz_conf *c)
{
	struct kz_err err = KZ_ERR_INIT;

	if (!kz_conf_load(c, f->state, &err))
		return;
	kz_front_say(f, "note: %s; using the defaults", err.text);
	memset(c, 0, sizeof *c);
	kz_str_copy(c->state, sizeof c->state, f->state, NULL);
	kz_settings_default(&c->set);
}

/* How many leases are in force; 0 when nobody can be asked (then nobody waits for them). */
static size_t leases(const struct kz_conf *c)
{
	kz_auto_json struct kz_json *list = NULL;
	kz_auto_auth struct kz_auth *a = NULL;
	char url[300];

	if (kz_conf_valkey_url(c, url, sizeof url, NULL) ||
	    kz_auth_open(&a, url, c->set.kz_deployment_id, kz_deadline_in(KZ_SECONDS(2)), NULL) ||
	    kz_auth_leases(a, &list, NULL))
		return 0;
	return kz_json_count(list);
}

/* Nobody new comes to this machine's workers; who is in may finish. Other machines of the deployment go on. */
static void close_admission(const struct kz_front *f, const struct kz_conf *c)
{
	kz_auto_json struct kz_json *told = kz_front_controller(f);
	kz_auto_auth struct kz_auth *a = NULL;
	char url[300];

	/* Another machine has this node name: what is open under it is not ours to close. */
	if (kz_str_eq(kz_json_str(kz_json_get(told, "admission"), "reason", ""), "node_taken"))
		return;
	if (kz_conf_valkey_url(c, url, sizeof url, NULL) ||
	    kz_auth_open(&a, url, c->set.kz_deployment_id, kz_deadline_in(KZ_SECONDS(2)), NULL))
		return;
	kz_auth_close_admission(a, c->set.kz_node, kz_reason_code(KZ_R_DEPLOYMENT_CLOSED), NULL);
}

/* Wait for the controller's end; past the deadline it is killed. */
static enum kz_rc await_controller(const struct kz_front *f, struct kz_deadline until,
				   struct kz_err *err)
{
	struct kz_service s = { .is_up = true };

	while (!kz_front_service(f, "kz-controller", &s, NULL) && s.is_up &&
	       !kz_deadline_passed(until))
		kz_time_sleep(KZ_MS(50), until);
	if (!s.is_up)
		return KZ_OK;
	kz_front_say(f, "kz-controller does not end; killing it");
	return kz_front_control(f, "kz-controller", "-k", err);
}

/* Nobody is there to drain, so wait here as long as programs may take. */
static void await_leases(const struct kz_front *f, const struct kz_conf *c,
			 struct kz_deadline until)
{
	size_t left, said = 0;

	close_admission(f, c);
	while ((left = leases(c)) > 0 && !kz_deadline_passed(until)) {
		if (left != said)
			kz_front_say(f, "waiting for %zu running programs", left);
		said = left;
		kz_time_sleep(KZ_MS(200), until);
	}
}

/*
 * TERM makes the controller close admission, wait for leases and delete its
 * workers, with every transition recorded; INT after it makes it not wait.
 */
static enum kz_rc end_controller(const struct kz_front *f, const struct kz_conf *c, bool force,
				 struct kz_err *err)
{
	int64_t drain_s =
		force ? 0 : c->set.sandbox_max_wall_seconds + c->set.kz_reset_timeout_seconds;
	struct kz_deadline until =
		kz_deadline_in(KZ_SECONDS(drain_s + c->set.kz_delete_timeout_seconds + 20));
	struct kz_service s;
	size_t held;
	enum kz_rc rc = kz_front_service(f, "kz-controller", &s, err);

	if (rc || (rc = kz_front_control(f, "kz-controller", "-d", err)))
		return rc;
	if (s.is_up && !force && (held = leases(c)) > 0)
		kz_front_say(f,
			     "waiting for %zu running program%s or held lease%s, at most %" PRId64
			     " s; kz down -f does not wait",
			     held, held == 1 ? "" : "s", held == 1 ? "" : "s", drain_s);
	if (s.is_up && force && (rc = kz_front_control(f, "kz-controller", "-i", err)))
		return rc;
	if (s.is_up)
		return await_controller(f, until, err);
	if (!force)
		await_leases(f, c, until);
	return KZ_OK;
}

/* End what still carries the mark, politely first. */
static enum kz_rc end_processes(const struct kz_front *f, struct kz_err *err)
{
	struct kz_deadline kill_at = kz_deadline_in(KZ_SECONDS(5)),
			   until = kz_deadline_in(KZ_SECONDS(10));
	size_t count = 0;
	enum kz_rc rc = kz_front_sweep(f, NULL, SIGTERM, &count, err);

	while (!rc && count > 0) {
		if (kz_deadline_passed(until))
			return kz_refuse(err, KZ_R_INTERNAL, "%zu processes of kz cannot be ended",
					 count);
		kz_time_sleep(KZ_MS(20), until);
		rc = kz_front_sweep(f, NULL, kz_deadline_passed(kill_at) ? SIGKILL : 0, &count,
				    err);
	}
	return rc;
}

/* Sockets, fifos and marks of run/ and the copy of the service directories. */
static enum kz_rc clear_files(const struct kz_front *f, struct kz_err *err)
{
	kz_auto_closedir DIR *d = NULL;
	char path[KZ_FRONT_PATH];
	struct dirent *e;
	enum kz_rc rc;

	if ((rc = kz_front_path(f, "service", path, sizeof path, err)) ||
	    (rc = kz_tree_remove(AT_FDCWD, path, err)) ||
	    (rc = kz_front_path(f, "run", path, sizeof path, err)))
		return rc;
	if (!(d = opendir(path)))
		return errno == ENOENT ? KZ_OK : kz_err_sys(err, KZ_E_IO, "cannot open %s", path);
	while (!rc && (e = readdir(d)))
		if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
			rc = kz_tree_remove(dirfd(d), e->d_name, err);
	return rc;
}

static enum kz_rc clear_mounts(const struct kz_front *f, struct kz_err *err)
{
	size_t count = 0;
	enum kz_rc rc = kz_front_mounts(f, true, &count, err);

	if (rc || count == 0)
		return rc;
	kz_front_say(f, "took away %zu mounts that were left", count);
	if ((rc = kz_front_mounts(f, false, &count, err)))
		return rc;
	return count == 0 ? KZ_OK :
			    kz_refuse(err, KZ_R_INTERNAL, "%zu mounts below %s are left", count,
				      f->state);
}

/* Does anything run, or is anything left of a run? */
static bool is_idle(const struct kz_front *f)
{
	char path[KZ_FRONT_PATH];
	size_t count = 0;

	if (kz_front_is_scanning(f) || kz_front_sweep(f, NULL, 0, &count, NULL) || count > 0 ||
	    kz_front_path(f, "workers", path, sizeof path, NULL))
		return false;
	kz_auto_closedir DIR *d = opendir(path);

	for (struct dirent *e; d && (e = readdir(d));)
		if (e->d_name[0] != '.')
			return false;
	return true;
}

/* Every part is tried, so that one that fails leaves as little as can be; the first failure is told. */
static enum kz_rc stop(struct kz_front *f, const struct kz_conf *c, bool force, struct kz_err *err)
{
	struct kz_err first = KZ_ERR_INIT, e = KZ_ERR_INIT;
	size_t count = 0;

	if (kz_front_is_scanning(f) && end_controller(f, c, force, &e))
		kz_front_say(f, "note: %s", e.text);
	if (kz_front_workers_delete(f, c, &count, &first))
		kz_front_say(f, "workers are left: %s", first.text);
	else if (count > 0)
		kz_front_say(f, "deleted %zu workers", count);
	if (kz_front_scan_stop(f, kz_deadline_in(KZ_SECONDS(15)), &e))
		kz_front_say(f, "note: %s", e.text);
	end_processes(f, first.rc ? NULL : &first);
	clear_mounts(f, first.rc ? NULL : &first);
	clear_files(f, first.rc ? NULL : &first);
	if (first.rc && err)
		*err = first;
	return first.rc;
}

enum kz_rc kz_front_down(struct kz_front *f, bool force, struct kz_err *err)
{
	kz_auto_close int lock = -1;
	char id[40];
	struct kz_conf c;
	struct stat st;
	enum kz_rc rc;

	if ((rc = kz_front_may(f, "down", err)))
		return rc;
	kz_front_stack_id(f, id);
	if (stat(f->state, &st) != 0 || !id[0]) {
		kz_front_say(f, "kz is not running: there is no state in %s", f->state);
		return KZ_OK;
	}
	if ((rc = kz_front_lock(f, &lock, err)))
		return rc;
	if (is_idle(f)) {
		kz_front_say(f, "kz is not running");
		return clear_files(f, err);
	}
	load(f, &c);
	kz_front_say(f, force ? "stopping at once" : "stopping");
	if ((rc = stop(f, &c, force, err)))
		return rc;
	kz_front_say(f, "stopped");
	return KZ_OK;
}

enum kz_rc kz_front_purge(struct kz_front *f, struct kz_err *err)
{
	char id[40];
	struct stat st;
	size_t count = 0;
	enum kz_rc rc;

	if ((rc = kz_front_may(f, "down --purge", err)))
		return rc;
	if (stat(f->state, &st) != 0 && errno == ENOENT)
		return KZ_OK;
	kz_front_stack_id(f, id);
	if (!id[0])
		return kz_err_set(err, KZ_E_USAGE, "%s is no state directory of kz", f->state);
	if ((rc = kz_front_mounts(f, false, &count, err)))
		return rc;
	if (kz_front_is_scanning(f) || count > 0)
		return kz_err_set(err, KZ_E_TEMPFAIL, "kz still runs in %s", f->state);
	if ((rc = kz_tree_remove(AT_FDCWD, f->state, err)))
		return rc;
	kz_front_say(f, "removed %s", f->state);
	return KZ_OK;
}
