#include "core/driver/oci_part.h"

#include <dirent.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/str.h"
#include "port/json.h"
#include "rule/reason.h"

enum kz_rc kz_oci_undo(struct kz_oci *o, const struct kz_oci_record *r, struct kz_deadline until,
		       struct kz_err *err)
{
	/* Processes first: a runtime that is still at work is among them and must not undo the undoing. */
	if (kz_cg_end(&r->cg, until, err) || kz_oci_runtime_delete(o, r, until, err) ||
	    kz_cg_end(&r->cg, until, err))
		return err ? err->rc : KZ_E_UNAVAILABLE;
	return kz_oci_record_remove(o, r, err);
}

static enum kz_rc delete_one(struct kz_oci *o, const char *worker, const char *instance,
			     struct kz_err *err)
{
	struct kz_deadline until =
		kz_deadline_in(KZ_SECONDS(o->conf.set.kz_delete_timeout_seconds));
	struct kz_err inner = KZ_ERR_INIT;
	struct kz_oci_record r;
	kz_auto_close int lock = -1;
	enum kz_rc rc = kz_oci_record_lock(o, worker, until, &lock, &inner);

	if (!rc)
		rc = kz_oci_record_read(o, worker, &r, &inner);
	if (rc == KZ_E_NOINPUT)
		return KZ_OK; /* the directory goes last, so nothing else is left either */
	if (rc) {
		if (err)
			*err = inner;
		return rc;
	}
	/* A name has one instance at a time: where another one is, the one asked for is gone. */
	if (instance[0] && !kz_str_eq(instance, r.instance))
		return KZ_OK;
	return kz_oci_undo(o, &r, until, err);
}

enum kz_rc kz_oci_delete(struct kz_oci *o, const char *worker, const char *instance,
			 struct kz_err *err)
{
	enum kz_rc rc = delete_one(o, worker, instance, err);

	kz_oci_drafts_remove(o);
	return rc;
}

enum kz_rc kz_oci_get(struct kz_oci *o, const char *worker, struct kz_oci_record *r, bool *is_alive,
		      struct kz_err *err)
{
	enum kz_rc rc = kz_oci_record_read(o, worker, r, err);

	if (!rc)
		*is_alive = kz_cg_init(&r->cg, r->rt.flavor != KZ_OCI_RUNC &&
						       r->rt.flavor != KZ_OCI_CRUN) != 0;
	return rc;
}

/* A probe under way is not a worker; one whose driver died is, and somebody has to delete it. */
static bool is_own_probe(const struct kz_oci *o, const struct kz_oci_record *r)
{
	kz_auto_close int lock = -1;

	return r->is_probe && kz_oci_record_lock(o, r->worker, kz_deadline_in(KZ_MS(0)), &lock,
						 NULL) == KZ_E_TEMPFAIL;
}

enum kz_rc kz_oci_list(struct kz_oci *o, struct kz_json **out, struct kz_err *err)
{
	char path[KZ_OCI_PATH];
	kz_auto_closedir DIR *d = NULL;
	kz_auto_json struct kz_json *list = kz_json_array();
	struct dirent *e;

	if (kz_oci_path(o, path, err, "workers"))
		return KZ_E_DATA;
	d = opendir(path);
	if (!d && errno != ENOENT)
		return kz_err_sys(err, KZ_E_IO, "cannot open %s", path);
	for (errno = 0; d && (e = readdir(d)) != NULL; errno = 0) {
		struct kz_oci_record r;
		struct kz_json *w;
		bool is_alive = false;
		enum kz_rc rc;

		if (!kz_str_is_name(e->d_name))
			continue;
		rc = kz_oci_get(o, e->d_name, &r, &is_alive, err);
		if (rc == KZ_E_NOINPUT || (!rc && is_own_probe(o, &r)))
			continue;
		if (rc)
			return rc; /* an inventory with a hole proves nothing [FENCE-6] */
		w = kz_json_object();
		kz_json_set_str(w, "worker", r.worker);
		kz_json_set_str(w, "instance", r.instance);
		kz_json_set_str(w, "image", r.image);
		kz_json_set_bool(w, "alive", is_alive);
		kz_json_append(list, w);
	}
	if (errno)
		return kz_err_sys(err, KZ_E_IO, "cannot read %s", path);
	*out = kz_take(list);
	return KZ_OK;
}
