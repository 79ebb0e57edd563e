/* Copying declared outputs out: read, judged, then named. */
#include <string.h>

#include "base/str.h"
#include "core/run/document.h"
#include "core/run/job.h"
#include "core/run/publish.h"
#include "rule/media.h"
#include "rule/reason.h"
#include "rule/text.h"

#define GET_MS 30000

/* One that is read. */
struct take {
	struct kz_publish file;
	struct kz_text_scan text;
};

static enum kz_rc take_add(void *arg, const void *p, size_t n, struct kz_err *err)
{
	struct take *t = arg;

	kz_text_scan(&t->text, p, n);
	return kz_publish_add(&t->file, p, n, err);
}

static enum kz_rc read_out(struct kz_job *j, const char *name, struct take *t, struct kz_err *err)
{
	int64_t size = -1;
	enum kz_rc rc =
		kz_wk_get(j->worker, j->lease.id, name, j->conf.set.sandbox_max_artifact_bytes,
			  take_add, t, &size, kz_deadline_in(KZ_MS(GET_MS)), err);

	if (rc == KZ_E_IO && !err->reason[0])
		kz_err_reason(err, kz_reason_code(KZ_R_OUTPUT_UNCREATABLE));
	if (!rc && size != t->file.bytes)
		rc = kz_refuse(err, KZ_R_TRANSPORT_LOST, "%lld of %lld bytes came",
			       (long long)t->file.bytes, (long long)size);
	return rc;
}

/* Is it what it was declared to be? A document opened as an editable text would be neither [OUT-2]. */
static enum kz_rc judge(struct kz_job_output *o, struct take *t, struct kz_err *err)
{
	if (!o->is_canvas)
		return kz_document_check(o->name, t->file.fd, t->file.bytes, err);
	if (!kz_text_is_whole(&t->text) || kz_media_is_document(t->file.head, t->file.head_len))
		return kz_refuse(err, KZ_R_CANVAS_NOT_TEXT, NULL);
	return KZ_OK;
}

static enum kz_rc retain(struct kz_job *j, struct kz_job_output *o, struct kz_publish *c,
			 struct kz_err *err)
{
	char sha256[KZ_SHA256_HEX];
	kz_auto_json struct kz_json *ref = NULL;
	enum kz_rc rc;

	kz_sha256_end(&c->hash, sha256);
	ref = kz_reference_new(j, o->name, c->bytes, sha256,
			       kz_media_type(o->name, c->head, c->head_len));
	if (!ref)
		return kz_err_set(err, KZ_E_OS, "memory is out");
	rc = kz_publish_name(c, o->name, err);
	if (rc)
		return rc;
	o->reference = kz_take(ref);
	o->state = KZ_OUTPUT_RETAINED;
	return KZ_OK;
}

static void release(struct take *t)
{
	kz_publish_release(&t->file);
}

static enum kz_rc collect_one(struct kz_job *j, struct kz_job_output *o, struct kz_err *err)
{
	kz_auto(release) struct take t = { .file = { .dir = -1, .fd = -1 } };
	enum kz_rc rc = kz_publish_open(&t.file, j->outdir_fd, err);

	if (!rc)
		rc = read_out(j, o->name, &t, err);
	if (!rc)
		rc = judge(o, &t, err);
	if (!rc)
		rc = retain(j, o, &t.file, err);
	return rc ? kz_err_wrap(err, "output %.200s", o->name) : KZ_OK;
}

/* A program that says it failed need not have written what it would have. */
static bool is_excused(const struct kz_job *j, const struct kz_err *e)
{
	return j->facts.exit && kz_str_eq(e->reason, kz_reason_code(KZ_R_OUTPUT_MISSING));
}

/* The first failure is told with the end of the run; in plain mode the others have a line each. */
static enum kz_rc refuse(struct kz_job *j, struct kz_job_output *o, const struct kz_err *e,
			 enum kz_rc first, struct kz_err *err)
{
	kz_auto_buf struct kz_buf line = KZ_BUF_INIT(1024);

	o->state = KZ_OUTPUT_REFUSED;
	o->why = *e;
	if (is_excused(j, e))
		return first;
	if (!first) {
		*err = *e;
		return e->rc;
	}
	if (!j->ask->is_json && !kz_buf_printf(&line, NULL, "kz-run: %s: %s\n", e->reason, e->text))
		kz_writer_add(j->err, line.data, line.len, NULL);
	return first;
}

/* One that is refused costs itself only: the others are still tried. */
enum kz_rc kz_job_collect(struct kz_job *j, struct kz_err *err)
{
	enum kz_rc first = KZ_OK;

	for (size_t i = 0; i < j->output_count; i++) {
		struct kz_err e = KZ_ERR_INIT;
		enum kz_rc rc = kz_job_is_cancelled(j) ? kz_refuse(&e, KZ_R_CANCELLED, NULL) :
							 collect_one(j, &j->outputs[i], &e);

		if (rc)
			first = refuse(j, &j->outputs[i], &e, first, err);
	}
	return first;
}
