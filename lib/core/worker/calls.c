/* The single calls: health, bind, extend, put, get, reset. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/worker/wire.h"
#include "port/seal.h"
#include "rule/reason.h"

#define CHUNK 65536

enum kz_rc kz_wk_health(struct kz_wk *w, struct kz_deadline until, struct kz_json **out,
			struct kz_err *err)
{
	return kz_wire_call(w, "GET", "/v1/health", NULL, until, out, err);
}

static enum kz_rc bind_as(struct kz_wk *w, const char *lease, int64_t fence, struct kz_ms ttl,
			  bool stays, struct kz_deadline until, struct kz_json **out,
			  struct kz_err *err)
{
	struct kz_json *o = kz_wire_of_lease(lease);
	kz_auto_json struct kz_json *answer = NULL;
	enum kz_rc rc;

	kz_json_set_int(o, "fence", fence);
	kz_json_set_int(o, "ttl_ms", ttl.ms);
	if (stays)
		kz_json_set_bool(o, "stays", true);
	rc = kz_wire_call(w, "POST", "/v1/bind", o, until, &answer, err);
	if (rc == KZ_OK && out)
		*out = kz_take(answer);
	return rc;
}

enum kz_rc kz_wk_bind(struct kz_wk *w, const char *lease, int64_t fence, struct kz_ms ttl,
		      struct kz_deadline until, struct kz_json **answer, struct kz_err *err)
{
	return bind_as(w, lease, fence, ttl, false, until, answer, err);
}

enum kz_rc kz_wk_bind_staying(struct kz_wk *w, const char *lease, int64_t fence, struct kz_ms ttl,
			      struct kz_deadline until, struct kz_err *err)
{
	return bind_as(w, lease, fence, ttl, true, until, NULL, err);
}

enum kz_rc kz_wk_extend(struct kz_wk *w, const char *lease, int64_t clock_ms, struct kz_ms ttl,
			struct kz_deadline until, struct kz_err *err)
{
	struct kz_json *o = kz_wire_of_lease(lease);
	kz_auto_json struct kz_json *answer = NULL;

	kz_json_set_int(o, "clock_ms", clock_ms);
	kz_json_set_int(o, "ttl_ms", ttl.ms);
	return kz_wire_call(w, "POST", "/v1/extend", o, until, &answer, err);
}

/* out: sha256 of what went out, which is what counts when the file changes meanwhile; NULL: not wanted */
static enum kz_rc send_file(struct kz_wk *w, int fd, int64_t size, struct kz_deadline until,
			    char *sha256, struct kz_err *err)
{
	struct kz_sha256 h;
	char t[CHUNK];

	kz_sha256_start(&h);

	for (int64_t at = 0; at < size;) {
		ssize_t n = pread(fd, t, size - at < CHUNK ? (size_t)(size - at) : CHUNK, at);
		enum kz_rc rc;

		if (n <= 0) {
			/* the promise of size cannot be kept, so the connection is of no more use */
			w->is_broken = true;
			return n < 0 ? kz_err_sys(err, KZ_E_IO, "cannot read the file") :
				       kz_err_set(err, KZ_E_IO,
						  "the file became shorter while it was read");
		}
		rc = kz_wire_send(w, t, (size_t)n, until, err);
		if (rc != KZ_OK)
			return rc;
		if (sha256)
			kz_sha256_add(&h, t, (size_t)n);
		at += n;
	}
	if (sha256)
		kz_sha256_end(&h, sha256);
	return KZ_OK;
}

enum kz_rc kz_wk_put(struct kz_wk *w, const char *lease, enum kz_wk_place place, const char *name,
		     int fd, int64_t size, mode_t mode, struct kz_deadline until, char *sha256,
		     struct kz_err *err)
{
	static const char *const places[] = {
		[KZ_WK_SPACE] = "space", [KZ_WK_CODE] = "code", [KZ_WK_SHARED] = "shared"
	};
	kz_auto_json struct kz_json *o = kz_wire_of_lease(lease), *answer = NULL;
	kz_auto_buf struct kz_buf head = KZ_BUF_INIT(8192);
	int status = 0;
	int64_t length = 0;
	enum kz_rc rc;

	kz_json_set_str(o, "place", places[place]);
	kz_json_set_str(o, "name", name);
	kz_json_set_int(o, "mode", (int64_t)mode);
	kz_json_set_int(o, "size", size);
	rc = kz_wire_prefixed(o, &head, err);
	if (rc != KZ_OK)
		return rc;
	rc = kz_wire_head(w, "POST", "/v1/put", (int64_t)head.len + size, until, err);
	if (rc == KZ_OK)
		rc = kz_wire_send(w, head.data, head.len, until, err);
	if (rc == KZ_OK)
		rc = send_file(w, fd, size, until, sha256, err);
	if (rc == KZ_OK)
		rc = kz_wire_answer(w, until, &status, &length, err);
	if (rc != KZ_OK)
		return rc;
	return status == 200 ? kz_wire_json(w, length, until, &answer, err) :
			       kz_wire_refusal(w, status, length, until, err);
}

enum kz_rc kz_wk_shared_begin(struct kz_wk *w, const char *lease, const char *manifest_sha256,
			      const char *audience_version, bool is_private,
			      struct kz_deadline until, struct kz_err *err)
{
	struct kz_json *o = kz_wire_of_lease(lease);
	kz_auto_json struct kz_json *answer = NULL;

	kz_json_set_bool(o, "private", is_private);
	kz_json_set_str(o, "manifest_sha256", manifest_sha256 ? manifest_sha256 : "");
	kz_json_set_str(o, "audience_version", audience_version ? audience_version : "");
	return kz_wire_call(w, "POST", "/v1/shared", o, until, &answer, err);
}

enum kz_rc kz_wk_get(struct kz_wk *w, const char *lease, const char *name, int64_t max,
		     kz_wk_sink sink, void *arg, int64_t *size, struct kz_deadline until,
		     struct kz_err *err)
{
	kz_auto_json struct kz_json *o = kz_wire_of_lease(lease);
	int64_t n = 0;
	enum kz_rc rc;

	kz_json_set_str(o, "name", name);
	kz_json_set_int(o, "max", max);
	rc = kz_wire_ask(w, "POST", "/v1/get", o, until, &n, err);
	if (rc != KZ_OK)
		return rc;
	/* the bound is ours, whatever the worker says */
	if (n > max) {
		w->is_broken = true;
		return kz_refuse(err, KZ_R_OUTPUT_TOO_LARGE, NULL);
	}
	*size = n;
	return kz_wire_drain(w, n, sink, arg, until, err);
}

enum kz_rc kz_wk_reset(struct kz_wk *w, const char *lease, const char *token,
		       struct kz_deadline until, struct kz_json **readings, struct kz_err *err)
{
	struct kz_json *o = kz_wire_of_lease(lease);
	enum kz_rc rc;

	kz_json_set_str(o, "token", token);
#ifdef KZ_FAULT_BUILD
	/* tests of the evidence: the surface that the worker is to make dirty */
	if (getenv("KZ_FAULT_DIRTY"))
		kz_json_set_str(o, "dirty", getenv("KZ_FAULT_DIRTY"));
#endif
	rc = kz_wire_call(w, "POST", "/v1/reset", o, until, readings, err);
	if (rc != KZ_OK && kz_deadline_passed(until))
		return kz_refuse(err, KZ_R_RESET_TIMEOUT, NULL);
	return rc;
}
