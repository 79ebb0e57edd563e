/* Workspaces: finding the newest generation, fetching what it names. */
#include "core/files/workspace.h"

#include <string.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/fd.h"
#include "base/log.h"
#include "base/str.h"
#include "core/files/workspace_parts.h"
#include "rule/reason.h"

/* How often a reader without a lease looks again when what was listed is gone. */
#define LOOKS 3

static bool is_reason(const struct kz_err *err, enum kz_reason r)
{
	return kz_str_eq(err->reason, kz_reason_code(r));
}

static enum kz_rc newest(struct kz_objects *o, const char *key, struct kz_generation *out,
			 struct kz_deadline until, struct kz_err *err)
{
	struct kz_generations l kz_auto_generations = { 0 };
	bool is_cut = true;
	enum kz_rc rc = kz_generations_list(o, key, &l, until, err);

	for (size_t i = l.count; !rc && is_cut && i > 0; i--) {
		rc = kz_generation_get(o, key, l.names[i - 1], out, &is_cut, until, err);
		if (!rc && is_cut)
			kz_log(KZ_LOG_WARNING, "a generation that was never whole is passed over",
			       NULL);
	}
	if (!rc && is_cut)
		kz_generation_none(out);
	return rc;
}

enum kz_rc kz_workspace_newest(struct kz_objects *o, const char *key, struct kz_generation *out,
			       struct kz_deadline until, struct kz_err *err)
{
	struct kz_err e = KZ_ERR_INIT;

	/* A newer one may have taken its place since it was listed. */
	for (int i = 0; i < LOOKS; i++) {
		e = (struct kz_err)KZ_ERR_INIT;
		if (!newest(o, key, out, until, &e))
			return KZ_OK;
		if (!is_reason(&e, KZ_R_OBJECT_MISSING))
			break;
	}
	if (is_reason(&e, KZ_R_OBJECT_MISSING))
		return kz_refuse(err, KZ_R_OBJECT_DAMAGED, "a generation of the workspace is gone");
	*err = e;
	return e.rc;
}

enum kz_rc kz_workspace_fetch(struct kz_objects *o, const char *key, const struct kz_blob *b,
			      int *fd, struct kz_deadline until, struct kz_err *err)
{
	char object[KZ_OBJECT_NAME_MAX + 1], sha256[KZ_SHA256_HEX] = "";
	kz_auto_close int file = -1;
	struct kz_err e = KZ_ERR_INIT;
	int64_t size = 0;

	if (kz_memory_file("kz-blob", &file, err))
		return err->rc;
	kz_blob_object(key, b->id, object);
	if (kz_objects_get(o, object, file, b->size, &size, sha256, until, &e)) {
		if (is_reason(&e, KZ_R_OBJECT_MISSING))
			return kz_refuse(err, KZ_R_OBJECT_DAMAGED,
					 "the content of the workspace is gone");
		if (!is_reason(&e, KZ_R_OBJECT_TOO_LARGE)) {
			*err = e;
			return e.rc;
		}
	}
	if (e.rc || size != b->size || strcmp(sha256, b->sha256))
		return kz_refuse(err, KZ_R_OBJECT_DAMAGED,
				 "the content of the workspace is cut or altered");
	*fd = kz_take_fd(&file);
	return KZ_OK;
}
