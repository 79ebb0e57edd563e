/* HTTP over libcurl, loaded on first use. */
#include "port/http_parts.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CONNECT_MS 5000

struct kz_http_lib kz_http_lib;

#define lib kz_http_lib

struct kz_http {
	CURL *easy;
};

/* One request under way. */
struct call {
	const struct kz_http *h;
	const struct kz_http_ask *ask;
	struct kz_http_answer *a;
	struct kz_err *err;
	enum kz_rc rc; /* of a stop */
	int64_t sent;
};

enum kz_rc kz_http_load(struct kz_err *err)
{
	void *so;

	if (lib.is_loaded)
		return KZ_OK;
	so = dlopen("libcurl.so.4", RTLD_NOW | RTLD_LOCAL);
	if (!so)
		return kz_err_set(err, KZ_E_UNAVAILABLE, "libcurl is not installed");
#define X(name)                                                                                    \
	*(void **)&lib.name = dlsym(so, "curl_" #name);                                            \
	if (!lib.name)                                                                             \
		return kz_err_set(err, KZ_E_UNAVAILABLE, "libcurl is of another kind");
	KZ_HTTP_SYMBOLS
#undef X
	if (lib.global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
		return kz_err_set(err, KZ_E_UNAVAILABLE, "libcurl does not start");
	lib.is_loaded = true;
	return KZ_OK;
}

enum kz_rc kz_http_new(struct kz_http **out, struct kz_err *err)
{
	struct kz_http *h;
	enum kz_rc rc = kz_http_load(err);

	if (rc)
		return rc;
	h = calloc(1, sizeof(*h));
	if (h)
		h->easy = lib.easy_init();
	if (!h || !h->easy) {
		free(h);
		return kz_err_set(err, KZ_E_OS, "out of memory");
	}
	*out = h;
	return KZ_OK;
}

void kz_http_free(struct kz_http *h)
{
	if (!h)
		return;
	lib.easy_cleanup(h->easy);
	free(h);
}

static size_t on_read(char *to, size_t size, size_t n, void *arg)
{
	struct call *c = arg;
	int64_t left = c->ask->body_size - c->sent;
	size_t want = size * n;
	ssize_t got;

	if ((int64_t)want > left)
		want = (size_t)left;
	if (want == 0)
		return 0;
	do {
		got = pread(c->ask->body_fd, to, want, c->sent);
	} while (got < 0 && errno == EINTR);
	if (got <= 0) {
		c->rc = kz_err_set(c->err, KZ_E_IO, "cannot read what is to be sent");
		return CURL_READFUNC_ABORT;
	}
	c->sent += got;
	return (size_t)got;
}

/* A connection that was kept and is dead now: the body is sent once more. */
static int on_seek(void *arg, curl_off_t at, int whence)
{
	struct call *c = arg;

	if (whence != SEEK_SET || at < 0 || at > c->ask->body_size)
		return CURL_SEEKFUNC_FAIL;
	c->sent = at;
	return CURL_SEEKFUNC_OK;
}

static void ask_head(struct call *c)
{
	long status = 0;
	curl_off_t length = -1;

	lib.easy_getinfo(c->h->easy, CURLINFO_RESPONSE_CODE, &status);
	lib.easy_getinfo(c->h->easy, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &length);
	c->a->status = (int)status;
	c->a->length = length;
}

static size_t on_body(char *p, size_t size, size_t n, void *arg)
{
	struct call *c = arg;

	n *= size;
	ask_head(c);
	if (c->a->length > c->ask->max || (int64_t)n > c->ask->max - c->a->came) {
		c->a->end = KZ_HTTP_TOO_LARGE;
		return 0;
	}
	c->a->came += (int64_t)n;
	if (c->ask->body)
		c->rc = c->ask->body(c->ask->arg, c->a->status, c->a->length, p, n, c->err);
	return c->rc ? 0 : n;
}

void kz_http_set_always(CURL *e)
{
	lib.easy_setopt(e, CURLOPT_NOSIGNAL, 1L);
	lib.easy_setopt(e, CURLOPT_PROTOCOLS_STR, "http,https");
	lib.easy_setopt(e, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
	lib.easy_setopt(e, CURLOPT_FOLLOWLOCATION, 0L);
	/* An empty text is no proxy, and neither is one of the environment. */
	lib.easy_setopt(e, CURLOPT_PROXY, "");
	lib.easy_setopt(e, CURLOPT_NOPROXY, "*");
	lib.easy_setopt(e, CURLOPT_NETRC, (long)CURL_NETRC_IGNORED);
	lib.easy_setopt(e, CURLOPT_SSL_VERIFYPEER, 1L);
	lib.easy_setopt(e, CURLOPT_SSL_VERIFYHOST, 2L);
	lib.easy_setopt(e, CURLOPT_PATH_AS_IS, 1L);
}

static void set_call(CURL *e, struct call *c, const struct curl_slist *headers)
{
	const struct kz_http_ask *ask = c->ask;

	lib.easy_setopt(e, CURLOPT_URL, ask->url);
	lib.easy_setopt(e, CURLOPT_WRITEDATA, c);
	lib.easy_setopt(e, CURLOPT_HTTPHEADER, headers);
	if (ask->body_fd >= 0) {
		lib.easy_setopt(e, CURLOPT_UPLOAD, 1L);
		lib.easy_setopt(e, CURLOPT_INFILESIZE_LARGE, (curl_off_t)ask->body_size);
		lib.easy_setopt(e, CURLOPT_READFUNCTION, on_read);
		lib.easy_setopt(e, CURLOPT_READDATA, c);
		lib.easy_setopt(e, CURLOPT_SEEKFUNCTION, on_seek);
		lib.easy_setopt(e, CURLOPT_SEEKDATA, c);
	}
	lib.easy_setopt(e, CURLOPT_CUSTOMREQUEST, ask->method);
	if (ask->sign) {
		lib.easy_setopt(e, CURLOPT_AWS_SIGV4, ask->sign->scope);
		lib.easy_setopt(e, CURLOPT_USERNAME, ask->sign->access);
		lib.easy_setopt(e, CURLOPT_PASSWORD, ask->sign->secret);
	}
}

static void set_times(CURL *e, struct kz_deadline until)
{
	int64_t left = kz_deadline_left(until).ms;

	/* 0 would mean no limit. */
	if (left < 1)
		left = 1;
	if (left > INT32_MAX)
		left = INT32_MAX;
	lib.easy_setopt(e, CURLOPT_TIMEOUT_MS, (long)left);
	lib.easy_setopt(e, CURLOPT_CONNECTTIMEOUT_MS,
			(long)(left < CONNECT_MS ? left : CONNECT_MS));
}

/* What the library's end means; its texts are fixed and name nothing of the request. */
static enum kz_rc judge(struct call *c, CURLcode code)
{
	struct kz_http_answer *a = c->a;

	if (code == CURLE_OK) {
		ask_head(c);
		a->end = KZ_HTTP_WHOLE;
		return KZ_OK;
	}
	if (a->end == KZ_HTTP_TOO_LARGE)
		return kz_err_set(c->err, KZ_E_DATA, "the answer is longer than it may be");
	if (c->rc) {
		a->end = KZ_HTTP_STOPPED;
		return c->rc;
	}
	ask_head(c);
	a->end = a->status >= 200 && (a->length >= 0 || a->came > 0) ? KZ_HTTP_CUT :
								       KZ_HTTP_NO_ANSWER;
	return kz_err_set(c->err, KZ_E_UNAVAILABLE, "%s: %s",
			  a->end == KZ_HTTP_CUT ? "the answer was cut" : "no answer",
			  lib.easy_strerror(code));
}

enum kz_rc kz_http_do(struct kz_http *h, const struct kz_http_ask *ask, struct kz_http_answer *a,
		      struct kz_deadline until, struct kz_err *err)
{
	struct call c = { .h = h, .ask = ask, .a = a, .err = err };
	/* None but what is sent: every header here is part of the signature. */
	struct curl_slist *headers = NULL;
	bool is_short = false;
	CURLcode code;

	*a = (struct kz_http_answer){ .end = KZ_HTTP_NO_ANSWER, .length = -1 };
	for (size_t i = 0; ask->headers[i]; i++) {
		struct curl_slist *more = lib.slist_append(headers, ask->headers[i]);

		is_short |= !more;
		headers = more ? more : headers;
	}
	if (is_short) {
		lib.slist_free_all(headers);
		return kz_err_set(err, KZ_E_OS, "out of memory");
	}
	lib.easy_reset(h->easy);
	kz_http_set_always(h->easy);
	lib.easy_setopt(h->easy, CURLOPT_WRITEFUNCTION, on_body);
	set_call(h->easy, &c, headers);
	set_times(h->easy, until);
	code = lib.easy_perform(h->easy);
	lib.slist_free_all(headers);
	return judge(&c, code);
}
