/* What the model reads, shortened: by the built-in rule, or by a program that kz-compress puts into a jail. */
#include "core/run/compress.h"

#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/log.h"
#include "base/proc.h"
#include "base/str.h"
#include "base/where.h"
#include "core/run/job.h"
#include "rule/reason.h"
#include "rule/shorten.h"
#include "rule/text.h"

#define PROGRAM "kz-compress"
#define BUILT_IN "builtin"
#define VIEW_BYTES (2 * KZ_EXCERPT_PART) /* what the model reads of a stream otherwise */

bool kz_job_may_compress(const struct kz_job *j)
{
	return j->ask->is_compressed && j->conf.set.kz_compress[0] && !j->scope.is_private &&
	       !j->scope.is_derived;
}

void kz_job_compress_add(const struct kz_job *j, struct kz_job_stream *s, const void *p, size_t n)
{
	if (!kz_job_may_compress(j) || s->is_part)
		return;
	if (!s->whole.max)
		kz_buf_init(&s->whole, (size_t)j->conf.set.sandbox_max_output_bytes + 1);
	if (kz_buf_add(&s->whole, p, n, NULL) == KZ_OK)
		return;
	s->is_part = true;
	kz_buf_release(&s->whole);
}

static enum kz_rc filter(const struct kz_job *j, const struct kz_buf *in, size_t limit,
			 struct kz_buf *out, struct kz_err *err)
{
	static const char *const no_env[] = { NULL };
	const int64_t seconds = j->conf.set.kz_compress_seconds;
	char path[4096], bytes[24], cpu[24];
	const char *argv[] = {
		path, "--bytes", bytes, "--seconds", cpu, "--", j->conf.set.kz_compress, NULL
	};
	kz_auto_close int fd = -1;
	struct kz_spawn s = { .argv = argv, .envp = no_env, .parent_death_signal = SIGKILL };
	int status = 0;
	enum kz_rc rc = kz_where_program(PROGRAM, path, sizeof path, err);

	if (!rc)
		rc = kz_str_format(bytes, sizeof bytes, err, "%zu", limit);
	if (!rc)
		rc = kz_str_format(cpu, sizeof cpu, err, "%lld", (long long)seconds);
	if (!rc)
		rc = kz_memory_file_of("kz-compress", in->data, in->len, &fd, err);
	s.stdin_fd = fd;
	if (!rc)
		rc = kz_proc_run_as(&s, out, NULL, kz_deadline_in(KZ_SECONDS(seconds)), &status,
				    err);
	if (!rc && status)
		rc = kz_err_set(err, KZ_E_DATA, "the filter ended with status %d", status);
	return rc;
}

/* What came is used only when it is text, says something, and is no longer than it may be. */
static enum kz_rc check(const struct kz_buf *out, size_t limit, struct kz_err *err)
{
	if (!out->len)
		return kz_err_set(err, KZ_E_DATA, "the filter wrote nothing");
	if (out->len > limit)
		return kz_err_set(err, KZ_E_DATA, "the filter wrote more than %zu bytes", limit);
	if (!kz_utf8_valid(out->data, out->len) || memchr(out->data, 0, out->len))
		return kz_err_set(err, KZ_E_DATA, "the filter wrote what is no text");
	return KZ_OK;
}

bool kz_job_compress(const struct kz_job *j, const struct kz_job_stream *s, struct kz_buf *text,
		     const char **by)
{
	const int64_t over = j->conf.set.kz_compress_over_bytes;
	size_t limit = over < VIEW_BYTES ? (size_t)over : VIEW_BYTES;
	kz_auto_buf struct kz_buf all = KZ_BUF_INIT(3 * s->whole.len + 1);
	struct kz_err err = KZ_ERR_INIT;
	bool is_own = kz_str_eq(j->conf.set.kz_compress, BUILT_IN);
	enum kz_rc rc;

	if (!kz_job_may_compress(j) || s->is_part || (int64_t)s->whole.len <= over)
		return false;
	*by = is_own ? BUILT_IN : "filter";
	kz_buf_init(text, limit + 1);
	rc = kz_text_put(&all, s->whole.data, s->whole.len, &err);
	if (!rc && is_own)
		rc = kz_shorten(all.data, all.len, limit, text, &err);
	else if (!rc)
		rc = filter(j, &all, limit, text, &err);
	if (!rc)
		rc = check(text, limit, &err);
	if (rc)
		kz_log(KZ_LOG_WARNING, "output not compressed", "why", err.text, NULL);
	return !rc;
}
