/*
 * HTTP requests, one after the other.  The only user of libcurl, which is loaded when
 * the first client is made: who asks nobody pays nothing for it.
 *
 * No redirect is followed, no proxy is used and no netrc is read, whatever the
 * environment says; https is verified against the machine's trust store.  No error
 * text holds a URL, a header, a credential or a byte of an answer.  Layer 1.
 */
#ifndef KZ_PORT_HTTP_H
#define KZ_PORT_HTTP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/auto.h"
#include "base/err.h"
#include "base/time.h"

#define KZ_HTTP_HEADERS 8

struct kz_http;
/* own: kz_http_free. err: KZ_E_UNAVAILABLE when libcurl is not there, KZ_E_OS */
enum kz_rc kz_http_new(struct kz_http **out, struct kz_err *err);
void kz_http_free(struct kz_http *h);
KZ_AUTO(kz_auto_http_, struct kz_http *, kz_http_free)
#define kz_auto_http kz_auto(kz_auto_http_)

/* With what a request is signed (AWS Signature Version 4). */
struct kz_http_sign {
	const char *access, *secret;
	const char *scope; /* "aws:amz:REGION:SERVICE" */
};

struct kz_http_ask {
	const char *method;
	const char *url; /* a query in canonical form: sorted, every byte encoded that may be */
	const char *headers[KZ_HTTP_HEADERS + 1]; /* "Name: value", NULL-terminated */
	const struct kz_http_sign *sign;          /* NULL: not signed */
	int body_fd;                              /* sent from its start; -1: no body */
	int64_t body_size;
	int64_t max; /* bytes of the answer's body that are taken at most */
	/*
	 * A piece of the answer's body, with its status and announced length (-1: none).
	 * Return non-KZ_OK to stop.
	 */
	enum kz_rc (*body)(void *arg, int status, int64_t length, const void *p, size_t n,
			   struct kz_err *err);
	void *arg;
};

/* How a request ended. */
enum kz_http_end {
	KZ_HTTP_WHOLE,     /* an answer, whole by its own framing */
	KZ_HTTP_NO_ANSWER, /* no connection, no TLS, no answer, deadline */
	KZ_HTTP_CUT,       /* the head of an answer and not all of its body */
	KZ_HTTP_TOO_LARGE, /* more than max */
	KZ_HTTP_STOPPED,   /* by body, or the request's own body could not be read */
};

struct kz_http_answer {
	enum kz_http_end end;
	int status;     /* 0 without an answer */
	int64_t length; /* as announced, -1: not */
	int64_t came;
};

/*
 * Send one request and read its answer; 5 seconds to connect, and the deadline for all.
 * out: a is always set.
 * err: KZ_E_UNAVAILABLE (NO_ANSWER, CUT), KZ_E_DATA (TOO_LARGE), what body returned or
 *   KZ_E_IO (STOPPED); KZ_OK is WHOLE with any status. wait: until the deadline
 */
enum kz_rc kz_http_do(struct kz_http *h, const struct kz_http_ask *ask, struct kz_http_answer *a,
		      struct kz_deadline until, struct kz_err *err);

#endif
