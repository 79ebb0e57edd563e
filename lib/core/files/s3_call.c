/* One request to an S3 server. */
#include "core/files/s3_call.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/str.h"
#include "base/sys.h"
#include "core/files/s3_answer.h"
#include "rule/reason.h"

#define NO_BYTES_SHA256 "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

/* How a try ended. */
enum verdict { V_DONE, V_FINAL, V_AGAIN };

static enum kz_rc take_object(struct kz_s3_call *q, int64_t length, const void *p, size_t n)
{
	enum kz_rc rc;

	if (length > q->max || (int64_t)n > q->max - (q->answer.came - (int64_t)n))
		return kz_refuse(&q->why, KZ_R_OBJECT_TOO_LARGE, NULL);
	kz_sha256_add(&q->hash, p, n);
	rc = q->to_fd >= 0 ? kz_fd_write_all(q->to_fd, p, n, &q->why) : KZ_OK;
	if (rc)
		kz_err_reason(&q->why, kz_reason_code(KZ_R_IO_FAILED));
	return rc;
}

static enum kz_rc on_body(void *arg, int status, int64_t length, const void *p, size_t n,
			  struct kz_err *err)
{
	struct kz_s3_call *q = arg;

	(void)err;
	if (status == 200 && q->verb == KZ_S3_GET)
		return take_object(q, length, p, n);
	return kz_buf_add(&q->text, p, n, &q->why);
}

/* Send it once. */
static enum kz_rc send_once(struct kz_s3 *s, struct kz_s3_call *q, struct kz_deadline until)
{
	static const char *const methods[] = { [KZ_S3_GET] = "GET",
					       [KZ_S3_PUT] = "PUT",
					       [KZ_S3_DELETE] = "DELETE",
					       [KZ_S3_LIST] = "GET" };
	const struct kz_http_sign sign = { s->key.access, s->key.secret, s->scope };
	char digest[96], token[sizeof(s->key.token) + 32];
	struct kz_http_ask ask = {
		.method = methods[q->verb],
		.url = q->url,
		.sign = &sign,
		.body_fd = q->verb == KZ_S3_PUT ? q->from_fd : -1,
		.body_size = q->size,
		.max = q->max > KZ_S3_PAGE_BYTES ? q->max : KZ_S3_PAGE_BYTES,
		.body = on_body,
		.arg = q,
	};
	size_t n = 0;
	enum kz_rc rc;

	snprintf(digest, sizeof(digest), "x-amz-content-sha256: %s",
		 q->verb == KZ_S3_PUT ? q->sha256 : NO_BYTES_SHA256);
	ask.headers[n++] = digest;
	if (q->verb == KZ_S3_PUT && q->fresh && !q->is_unconditional)
		ask.headers[n++] = "If-None-Match: *";
	if (*s->key.token) {
		snprintf(token, sizeof(token), "x-amz-security-token: %s", s->key.token);
		ask.headers[n++] = token;
	}
	q->answer = (struct kz_http_answer){ .end = KZ_HTTP_NO_ANSWER, .length = -1 };
	if (kz_sys_before(KZ_SYS_OBJ_CALL))
		rc = kz_err_set(&q->why, KZ_E_UNAVAILABLE, "no answer: input/output error");
	else
		rc = kz_http_do(s->http, &ask, &q->answer, until, &q->why);
	kz_sys_after(KZ_SYS_OBJ_CALL);
	explicit_bzero(token, sizeof(token));
	return rc;
}

/* Take back what a try that failed has left. */
static enum kz_rc begin(struct kz_s3_call *q)
{
	q->why = (struct kz_err)KZ_ERR_INIT;
	kz_buf_clear(&q->text);
	kz_sha256_start(&q->hash);
	if (q->verb != KZ_S3_GET || q->to_fd < 0 || q->tries == 0 ||
	    (ftruncate(q->to_fd, 0) == 0 && lseek(q->to_fd, 0, SEEK_SET) == 0))
		return KZ_OK;
	kz_err_sys(&q->why, KZ_E_IO, "cannot empty the file that is filled");
	return kz_err_reason(&q->why, kz_reason_code(KZ_R_IO_FAILED));
}

/* The server said no, with a status and perhaps a code. */
static enum verdict say(struct kz_s3_call *q, enum verdict v, enum kz_reason reason)
{
	char code[KZ_S3_CODE];

	kz_s3_error_code(q->text.data, q->text.len, code);
	kz_refuse(&q->why, reason, "the S3 server answers %d%s%s", q->answer.status,
		  *code ? " " : "", code);
	return v;
}

static bool has_code(const struct kz_s3_call *q, const char *wanted)
{
	char code[KZ_S3_CODE];

	kz_s3_error_code(q->text.data, q->text.len, code);
	return strcmp(code, wanted) == 0;
}

static enum verdict judge_error(struct kz_s3_call *q)
{
	int status = q->answer.status;

	if (status == 404 && (q->verb == KZ_S3_GET || q->verb == KZ_S3_DELETE) &&
	    !has_code(q, "NoSuchBucket")) {
		if (q->verb == KZ_S3_DELETE)
			return V_DONE;
		kz_refuse(&q->why, KZ_R_OBJECT_MISSING, NULL);
		return V_FINAL;
	}
	if (q->verb == KZ_S3_PUT && q->fresh && (status == 412 || status == 409)) {
		kz_refuse(&q->why, KZ_R_OBJECT_EXISTS, NULL);
		return V_FINAL;
	}
	if (q->verb == KZ_S3_PUT && q->fresh && status == 501 && !q->is_unconditional) {
		q->is_unconditional = true;
		return say(q, V_AGAIN, KZ_R_STORE_REFUSED);
	}
	if (status == 507 || has_code(q, "QuotaExceeded") || has_code(q, "XMinioStorageFull"))
		return say(q, V_FINAL, KZ_R_STORE_FULL);
	if (status == 501 ||
	    (status >= 300 && status < 500 && status != 408 && status != 409 && status != 429))
		return say(q, V_FINAL, KZ_R_STORE_REFUSED);
	return say(q, V_AGAIN, KZ_R_STORE_UNAVAILABLE);
}

static enum verdict judge_whole(struct kz_s3_call *q)
{
	int status = q->answer.status;

	if (status != 200 && !(status == 204 && q->verb == KZ_S3_DELETE))
		return judge_error(q);
	if (q->verb != KZ_S3_GET)
		return V_DONE;
	/* Without an announced length nobody could tell that the rest is missing. */
	if (q->answer.length < 0) {
		kz_refuse(&q->why, KZ_R_STORE_UNAVAILABLE,
			  "the S3 server does not tell the length of an object");
		return V_FINAL;
	}
	if (q->answer.length != q->answer.came) {
		kz_refuse(&q->why, KZ_R_OBJECT_DAMAGED, "an object came cut");
		return V_AGAIN;
	}
	return V_DONE;
}

static enum verdict judge(struct kz_s3_call *q, enum kz_rc rc)
{
	bool is_error = q->answer.status >= 300;

	switch (q->answer.end) {
	case KZ_HTTP_WHOLE: return judge_whole(q);
	case KZ_HTTP_TOO_LARGE:
	case KZ_HTTP_STOPPED:
		/* Of an error no more is read than its code needs. */
		if (is_error)
			return judge_error(q);
		if (q->verb == KZ_S3_GET && q->answer.end == KZ_HTTP_TOO_LARGE)
			kz_refuse(&q->why, KZ_R_OBJECT_TOO_LARGE, NULL);
		else if (rc == KZ_E_IO)
			kz_err_reason(&q->why, kz_reason_code(KZ_R_IO_FAILED));
		else if (!*q->why.reason)
			kz_refuse(&q->why, KZ_R_STORE_UNAVAILABLE,
				  "the S3 server's answer is longer than it may be");
		return V_FINAL;
	case KZ_HTTP_CUT:
		if (is_error)
			return judge_error(q);
		if (q->verb == KZ_S3_GET)
			kz_refuse(&q->why, KZ_R_OBJECT_DAMAGED, "an object came cut");
		else
			kz_err_reason(&q->why, kz_reason_code(KZ_R_STORE_UNAVAILABLE));
		return V_AGAIN;
	case KZ_HTTP_NO_ANSWER: break;
	}
	if (rc == KZ_E_UNAVAILABLE)
		kz_err_reason(&q->why, kz_reason_code(KZ_R_STORE_UNAVAILABLE));
	return rc == KZ_E_UNAVAILABLE ? V_AGAIN : V_FINAL;
}

enum kz_rc kz_s3_do(struct kz_s3 *s, struct kz_s3_call *q, struct kz_deadline until,
		    struct kz_err *err)
{
	enum verdict v = V_AGAIN;

	for (q->tries = 0; v == V_AGAIN && q->tries < KZ_S3_TRIES; q->tries++) {
		if (q->tries > 0)
			kz_time_sleep(KZ_MS(50 << q->tries), until);
		if (q->tries > 0 && kz_deadline_passed(until))
			break;
		v = begin(q) ? V_FINAL : judge(q, send_once(s, q, until));
	}
	if (v == V_DONE)
		return KZ_OK;
	if (err)
		*err = q->why;
	return q->why.rc;
}
