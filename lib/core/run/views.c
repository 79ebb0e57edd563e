/* What the model and the members are told of a run: two objects that share the references and nothing else [OUT-12, OUT-13]. */
#include "base/str.h"
#include "core/run/compress.h"
#include "core/run/job.h"
#include "core/run/output.h"
#include "rule/excerpt.h"
#include "rule/member.h"
#include "rule/reason.h"

#define DIAGNOSTICS_MAX 16 /* each at most 511 bytes */
#define EXCERPT_TEXT (6 * KZ_EXCERPT_PART)

static void set_end(struct kz_json *o, const struct kz_verdict *v)
{
	kz_json_set_str(o, "outcome", kz_outcome_name(v->outcome));
	kz_json_set(o, "exit", v->has_exit ? kz_json_int(v->exit) : kz_json_null());
	kz_json_set(o, "signal", v->has_signal ? kz_json_int(v->signal) : kz_json_null());
}

/* Instead of begin and end: what it was shortened to, and of what [CMP-7]. */
static bool set_compressed(struct kz_json *e, const struct kz_job *j, const struct kz_job_stream *s,
			   int64_t dropped)
{
	kz_auto_buf struct kz_buf text = KZ_BUF_INIT(1);
	const char *by = NULL;
	struct kz_sha256 hash = s->hash;
	char sha256[KZ_SHA256_HEX];
	struct kz_json *c;

	if (!kz_job_compress(j, s, &text, &by))
		return false;
	if (!s->sha256[0])
		kz_sha256_end(&hash, sha256);
	kz_json_set_str(e, "head", kz_buf_str(&text));
	kz_json_set_str(e, "tail", "");
	kz_json_set_int(e, "omitted_bytes", s->bytes - (int64_t)text.len + dropped);
	c = kz_json_object();
	kz_json_set_str(c, "by", by);
	kz_json_set_int(c, "bytes", (int64_t)text.len);
	kz_json_set_int(c, "original_bytes", s->bytes);
	kz_json_set_str(c, "original_sha256", s->sha256[0] ? s->sha256 : sha256);
	kz_json_set(e, "compressed", c);
	return true;
}

static enum kz_rc set_stream(struct kz_json *o, const char *key, const struct kz_job *j,
			     const struct kz_job_stream *s, int64_t dropped, struct kz_err *err)
{
	kz_auto_buf struct kz_buf head = KZ_BUF_INIT(EXCERPT_TEXT);
	kz_auto_buf struct kz_buf tail = KZ_BUF_INIT(EXCERPT_TEXT);
	struct kz_json *e = kz_json_object();
	int64_t omitted = 0;
	enum kz_rc rc;

	kz_json_set(o, key, e);
	if (set_compressed(e, j, s, dropped))
		return KZ_OK;
	rc = kz_excerpt_text(&s->excerpt, &head, &tail, &omitted, err);
	kz_json_set_str(e, "head", kz_buf_str(&head));
	kz_json_set_str(e, "tail", kz_buf_str(&tail));
	kz_json_set_int(e, "omitted_bytes", omitted + dropped);
	return rc;
}

static void add_diagnostic(struct kz_json *list, const char *output, const struct kz_err *why,
			   int64_t *omitted)
{
	struct kz_json *d;

	if (kz_json_count(list) >= DIAGNOSTICS_MAX) {
		++*omitted;
		return;
	}
	d = kz_json_object();
	kz_json_set_str(d, "output", output);
	kz_json_set_str(d, "reason", why->reason[0] ? why->reason : kz_reason_code(KZ_R_INTERNAL));
	kz_json_set_str(d, "text", why->text);
	kz_json_append(list, d);
}

/* kz's own failure first, unless it is that of an output, which comes with the others. */
static void set_diagnostics(struct kz_json *o, const struct kz_job *j)
{
	struct kz_json *list = kz_json_array();
	int64_t omitted = 0;
	bool is_output = false;

	for (size_t i = 0; i < j->output_count; i++)
		is_output |= j->outputs[i].state == KZ_OUTPUT_REFUSED &&
			     kz_str_eq(j->outputs[i].why.text, j->failure.text);
	if (j->facts.has_failure && j->failure.text[0] && !is_output)
		add_diagnostic(list, NULL, &j->failure, &omitted);
	for (size_t i = 0; i < j->output_count; i++)
		if (j->outputs[i].state == KZ_OUTPUT_REFUSED)
			add_diagnostic(list, j->outputs[i].name, &j->outputs[i].why, &omitted);
	kz_json_set(o, "diagnostics", list);
	kz_json_set_int(o, "diagnostics_omitted", omitted);
}

static struct kz_json *model_view(const struct kz_job *j, const struct kz_verdict *v,
				  const struct kz_json *record, struct kz_err *err)
{
	struct kz_json *o = kz_json_object();
	const struct kz_json *out = kz_json_get(record, "stdout"),
			     *errs = kz_json_get(record, "stderr");

	set_end(o, v);
	kz_json_set_str(o, "reason", v->has_reason ? kz_reason_code(v->reason) : NULL);
	if (set_stream(o, "stdout", j, &j->streams[0], kz_json_num(out, "dropped_bytes", 0), err) ||
	    set_stream(o, "stderr", j, &j->streams[1], kz_json_num(errs, "dropped_bytes", 0),
		       err)) {
		kz_json_free(o);
		return NULL;
	}
	set_diagnostics(o, j);
	kz_json_set(o, "kernel", kz_json_ref(kz_json_get(record, "kernel")));
	kz_json_set(o, "retained", kz_references(j, true, true));
	return o;
}

static struct kz_json *member_view(const struct kz_job *j, const struct kz_verdict *v)
{
	struct kz_json *o = kz_json_object();
	struct kz_member_word w;

	kz_member_word(v, j->failure.text, &w);
	set_end(o, v);
	kz_json_set_str(o, "state", w.state);
	kz_json_set_str(o, "reason", w.reason);
	kz_json_set_str(o, "text", w.text);
	kz_json_set(o, "outputs", kz_references(j, true, true));
	return o;
}

enum kz_rc kz_job_views(struct kz_job *j, const struct kz_verdict *v, struct kz_json *record,
			struct kz_err *err)
{
	struct kz_json *model = model_view(j, v, record, err);

	if (!model)
		return err->rc ? err->rc : kz_err_set(err, KZ_E_OS, "memory is out");
	kz_json_set(record, "downloads", kz_references(j, true, false));
	kz_json_set(record, "canvas_refs", kz_references(j, false, true));
	kz_json_set(record, "model_view", model);
	kz_json_set(record, "member_view", member_view(j, v));
	return KZ_OK;
}
