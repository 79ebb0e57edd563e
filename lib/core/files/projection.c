/* Scope document to decision and manifest. */
#include "core/files/projection.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "base/str.h"
#include "core/files/audience.h"

#define MANIFEST_MAX (96 << 10) /* one variable of an environment may have 128 KiB */

enum kz_rc kz_projection_read(const char *p, size_t n, const struct kz_app_keys *keys,
			      int64_t now_s, struct kz_projection *out, struct kz_err *err)
{
	enum kz_rc rc;

	memset(out, 0, sizeof(*out));
	kz_buf_init(&out->manifest, MANIFEST_MAX);
	rc = kz_turn_read(p, n, &out->turn, err);
	return rc == KZ_OK ? kz_capability_verify(keys, &out->turn, now_s, &out->capability, err) :
			     rc;
}

void kz_projection_release(struct kz_projection *p)
{
	for (size_t i = 0; i < p->fd_count; i++)
		close(p->fds[i]);
	kz_live_release(&p->live);
	kz_turn_release(&p->turn);
	kz_buf_release(&p->manifest);
	memset(p, 0, sizeof(*p));
}

bool kz_projection_has_files(const struct kz_projection *p)
{
	const struct kz_prj_scope *s = &p->turn.scope;

	return s->manifest.count + s->selection.count + s->retrieved.count > 0;
}

/* What the member is told: the file, and the limit. */
static enum kz_rc tell(const struct kz_prj_set *set, struct kz_err *err)
{
	enum kz_reason r = set->reason;
	const char *name = set->about && set->about->filename ? set->about->filename :
			   set->about                         ? set->about->id :
								set->about_id;

	if (!name)
		return kz_refuse(err, r, NULL);
	if (r == KZ_R_RESOURCE_OVER_COUNT)
		return kz_refuse(
			err, r, "%.200s is one too many: %" PRId64 " files, at most %d are allowed",
			name, set->count, KZ_PRJ_FILES);
	if (r == KZ_R_RESOURCE_OVER_BYTES)
		return kz_refuse(
			err, r, "with %.200s there are %" PRId64 " bytes, at most %lld are allowed",
			name, set->bytes, KZ_PRJ_BYTES);
	return kz_refuse(err, r, "%.200s: %s", name, kz_reason_text(r));
}

static struct kz_json *entry(const struct kz_prj_file *f, const char *dir)
{
	struct kz_json *o = kz_json_object();
	char path[512];

	if (kz_str_format(path, sizeof(path), NULL, "%s/%s", dir, f->name) != KZ_OK)
		path[0] = '\0';
	kz_json_set_str(o, "path", path);
	kz_json_set_str(o, "id", f->doc->id);
	kz_json_set_str(o, "kind", f->doc->kind);
	kz_json_set_str(o, "version", f->doc->version);
	kz_json_set_str(o, "sha256", f->doc->sha256);
	kz_json_set_str(o, "filename", f->name);
	kz_json_set_str(o, "media_type", f->doc->media_type);
	kz_json_set_int(o, "size", f->doc->size);
	return o;
}

/* The text that the code reads [PRJ-7, PRJ-8]. */
static enum kz_rc write_manifest(struct kz_projection *p, const char *dir, struct kz_err *err)
{
	kz_auto_json struct kz_json *list = kz_json_array();
	enum kz_rc rc;

	kz_buf_clear(&p->manifest);
	if (!p->set.file_count)
		return KZ_OK;
	for (size_t i = 0; i < p->set.file_count; i++)
		kz_json_append(list, entry(&p->set.files[i], dir));
	rc = kz_json_write(list, &p->manifest, err);
	if (rc == KZ_E_DATA)
		return kz_refuse(err, KZ_R_PROJECTION_FAILED, "the manifest is too large");
	if (rc == KZ_OK)
		kz_sha256_hex(p->manifest.data, p->manifest.len, p->sha256);
	return rc;
}

enum kz_rc kz_projection_resolve(struct kz_projection *p, const char *audience, bool asks,
				 const char *dir, struct kz_err *err)
{
	kz_auto_buf struct kz_buf answer = KZ_BUF_INIT(KZ_TURN_MAX);
	enum kz_rc rc = audience ? kz_audience_ask(audience, &answer, err) : KZ_OK;

	if (rc == KZ_OK && audience)
		rc = kz_live_read(kz_buf_str(&answer), answer.len, &p->turn, &p->live, err);
	if (rc != KZ_OK)
		return rc;
	kz_prj_decide(&p->turn.scope, &p->live.live, asks, &p->set);
	p->is_resolved = true;
	return p->set.reason == KZ_R_NONE ? write_manifest(p, dir, err) : tell(&p->set, err);
}

static struct kz_json *withheld(const struct kz_prj_set *set)
{
	struct kz_json *o;

	if (!set->event)
		return kz_json_null();
	o = kz_json_object();
	kz_json_set_str(o, "event", set->event);
	kz_json_set_str(o, "reason", kz_reason_code(set->withheld));
	return o;
}

struct kz_json *kz_projection_object(const struct kz_projection *p, const struct kz_err *err)
{
	struct kz_json *o = kz_json_object(), *files = NULL;
	bool is_allowed = err->rc == KZ_OK && p->is_resolved;

	if (is_allowed && p->manifest.len)
		kz_json_parse(p->manifest.data, p->manifest.len, &files, NULL);
	kz_json_set_int(o, "v", 1);
	kz_json_set_str(o, "type", "projection");
	kz_json_set_bool(o, "allowed", is_allowed);
	kz_json_set_str(o, "reason", err->rc == KZ_OK ? NULL : err->reason);
	kz_json_set_str(o, "text", err->rc == KZ_OK ? NULL : err->text);
	kz_json_set(o, "files", files ? files : kz_json_array());
	kz_json_set_int(o, "bytes", is_allowed ? p->set.file_bytes : 0);
	kz_json_set_str(o, "manifest_sha256", is_allowed && files ? p->sha256 : NULL);
	kz_json_set_str(o, "admitted_sha256", p->turn.manifest_sha256);
	kz_json_set_str(o, "audience_version", p->turn.scope.audience_version);
	kz_json_set_bool(o, "private_selection", is_allowed && p->set.has_selection);
	kz_json_set(o, "withheld", p->is_resolved ? withheld(&p->set) : kz_json_null());
	/* the text of a document is never given in place of its bytes [PRJ-50] */
	kz_json_set_bool(o, "extracted_text_substitute", false);
	return o;
}
