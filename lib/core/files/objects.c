/* The object store: which backend, and the probe. */
#include "core/files/objects.h"

#include <stdlib.h>
#include <string.h>

#include "base/fd.h"
#include "base/str.h"
#include "core/files/objects_parts.h"
#include "rule/reason.h"

static enum kz_rc check_name(const char *name, bool is_prefix, struct kz_err *err)
{
	return kz_object_name_ok(name, is_prefix) ?
		       KZ_OK :
		       kz_refuse(err, KZ_R_INTERNAL, "that is no name of an object");
}

enum kz_rc kz_objects_open(const struct kz_conf *c, struct kz_objects **out, struct kz_err *err)
{
	kz_auto_objects struct kz_objects *o = calloc(1, sizeof(*o));
	struct kz_objects_url url;
	enum kz_rc rc = kz_seal_init(err);

	if (!o)
		return kz_err_set(err, KZ_E_OS, "out of memory");
	o->root = -1;
	if (!rc)
		rc = kz_conf_objects_url(c, &url, err);
	if (rc)
		return rc;
	o->kind = url.is_s3 ? &kz_objects_s3 : &kz_objects_dir;
	rc = url.is_s3 ? kz_s3_open(c, &url, &o->s3, err) :
			 kz_objects_dir_root(&url, &o->root, err);
	if (!rc)
		*out = kz_take(o);
	return rc;
}

void kz_objects_close(struct kz_objects *o)
{
	if (!o)
		return;
	if (o->root >= 0)
		close(o->root);
	if (o->s3)
		kz_s3_close(o->s3);
	free(o);
}

enum kz_rc kz_objects_put(struct kz_objects *o, const char *name, int fd, int64_t size, bool fresh,
			  struct kz_deadline until, struct kz_err *err)
{
	enum kz_rc rc = check_name(name, false, err);

	if (!rc && size < 0)
		rc = kz_refuse(err, KZ_R_INTERNAL, "an object has no negative size");
	if (!rc)
		rc = kz_objects_in_time(until, err);
	return rc ? rc : o->kind->put(o, name, fd, size, fresh, until, err);
}

enum kz_rc kz_objects_get(struct kz_objects *o, const char *name, int fd, int64_t max,
			  int64_t *size, char sha256[65], struct kz_deadline until,
			  struct kz_err *err)
{
	enum kz_rc rc = check_name(name, false, err);

	if (!rc)
		rc = kz_objects_in_time(until, err);
	if (!rc)
		rc = o->kind->get(o, name, fd, max, size, sha256, until, err);
	if (!rc && lseek(fd, 0, SEEK_SET) != 0) {
		kz_err_sys(err, KZ_E_IO, "cannot rewind what was fetched");
		rc = kz_err_reason(err, kz_reason_code(KZ_R_IO_FAILED));
	}
	return rc;
}

enum kz_rc kz_objects_list(struct kz_objects *o, const char *prefix,
			   enum kz_rc (*each)(void *arg, const struct kz_object *x,
					      struct kz_err *err),
			   void *arg, struct kz_deadline until, struct kz_err *err)
{
	enum kz_rc rc = check_name(prefix, true, err);

	if (!rc)
		rc = kz_objects_in_time(until, err);
	return rc ? rc : o->kind->list(o, prefix, each, arg, until, err);
}

enum kz_rc kz_objects_remove(struct kz_objects *o, const char *name, struct kz_deadline until,
			     struct kz_err *err)
{
	enum kz_rc rc = check_name(name, false, err);

	if (!rc)
		rc = kz_objects_in_time(until, err);
	return rc ? rc : o->kind->remove(o, name, until, err);
}

enum kz_rc kz_objects_sweep(struct kz_objects *o, int64_t *count, struct kz_deadline until,
			    struct kz_err *err)
{
	*count = 0;
	return o->kind->sweep(o, count, until, err);
}

/* Put it twice: is the second one refused? */
static enum kz_rc probe_twice(struct kz_objects *o, const char *name, int fd, bool *conditional,
			      struct kz_deadline until, struct kz_err *err)
{
	struct kz_err why = KZ_ERR_INIT;
	enum kz_rc rc = kz_objects_put(o, name, fd, 5, true, until, err);

	if (rc)
		return rc;
	rc = kz_objects_put(o, name, fd, 5, true, until, &why);
	*conditional = rc && kz_str_eq(why.reason, kz_reason_code(KZ_R_OBJECT_EXISTS));
	if (!rc || *conditional)
		return KZ_OK;
	if (err)
		*err = why;
	return rc;
}

enum kz_rc kz_objects_probe(struct kz_objects *o, bool *conditional, struct kz_deadline until,
			    struct kz_err *err)
{
	kz_auto_close int fd = -1;
	char id[KZ_ID_HEX], name[64];
	enum kz_rc rc;

	*conditional = false;
	kz_random_id(id);
	if ((rc = kz_str_format(name, sizeof(name), err, "probe/%s", id)) ||
	    (rc = kz_memory_file_of("kz-probe", "probe", 5, &fd, err)))
		return rc;
	rc = probe_twice(o, name, fd, conditional, until, err);
	if (!rc)
		return kz_objects_remove(o, name, until, err);
	kz_objects_remove(o, name, until, NULL);
	return rc;
}
