/* What a run prints: bytes as they are, or events with -j. */
#include <stdlib.h>
#include <string.h>

#include "base/base64.h"
#include "base/str.h"
#include "core/run/job.h"
#include "rule/text.h"

enum kz_rc kz_job_print_json(struct kz_job *j, const struct kz_json *o, struct kz_err *err)
{
	kz_auto_buf struct kz_buf b = KZ_BUF_INIT(64 << 20);
	enum kz_rc rc = kz_json_write(o, &b, err);

	if (!rc)
		rc = kz_buf_add(&b, "\n", 1, err);
	return rc ? rc : kz_writer_add(j->out, b.data, b.len, err);
}

/* One event: text where it is UTF-8 without zero bytes, else base64. */
static enum kz_rc print_event(struct kz_job *j, int stream, const char *p, size_t n,
			      struct kz_err *err)
{
	kz_auto_json struct kz_json *o = kz_json_object();
	bool is_text = kz_utf8_valid(p, n) && !memchr(p, 0, n);
	kz_auto_free char *text = malloc(is_text ? n + 1 : KZ_BASE64_TEXT(n) + 1);

	if (!text || !o)
		return kz_err_set(err, KZ_E_OS, "memory is out");
	if (is_text) {
		memcpy(text, p, n);
		text[n] = 0;
	} else {
		kz_base64_encode(p, n, text);
	}
	kz_json_set_int(o, "v", 1);
	kz_json_set_str(o, "type", "output");
	kz_json_set_str(o, "stream", stream == 1 ? "stdout" : "stderr");
	kz_json_set_str(o, is_text ? "text" : "base64", text);
	return kz_job_print_json(j, o, err);
}

static enum kz_rc print_events(struct kz_job *j, int stream, const char *p, size_t n,
			       struct kz_err *err)
{
	struct kz_job_stream *s = &j->streams[stream - 1];
	kz_auto_buf struct kz_buf b = KZ_BUF_INIT(n + sizeof(s->part));
	size_t cut;
	enum kz_rc rc = kz_buf_add(&b, s->part, s->part_len, err);

	if (!rc)
		rc = kz_buf_add(&b, p, n, err);
	if (rc)
		return rc;
	cut = kz_text_cut(b.data, b.len);
	s->part_len = cut;
	memcpy(s->part, b.data + b.len - cut, cut);
	return b.len > cut ? print_event(j, stream, b.data, b.len - cut, err) : KZ_OK;
}

enum kz_rc kz_job_print(struct kz_job *j, int stream, const void *p, size_t n, struct kz_err *err)
{
	if (j->ask->is_json)
		return print_events(j, stream, p, n, err);
	return kz_writer_add(stream == 1 ? j->out : j->err, p, n, err);
}

enum kz_rc kz_job_print_rest(struct kz_job *j, struct kz_err *err)
{
	enum kz_rc rc = KZ_OK;

	for (int stream = 1; !rc && stream <= 2; stream++) {
		struct kz_job_stream *s = &j->streams[stream - 1];

		if (s->part_len)
			rc = print_event(j, stream, s->part, s->part_len, err);
		s->part_len = 0;
	}
	return rc;
}
