/* The form of a request, its credentials, and the answers of the proxy's own. */
#include "core/egress/proxy_request.h"

#include <string.h>
#include <strings.h>

#include "base/base64.h"

static bool slice_is_word(struct kz_slice s, const char *word)
{
	return s.n == strlen(word) && strncasecmp(s.p, word, s.n) == 0;
}

static size_t count_fields(const struct kz_httphead *h, const char *name)
{
	size_t count = 0;

	for (size_t i = 0; i < h->count; i++)
		count += slice_is_word(h->fields[i].name, name);
	return count;
}

static enum kz_reason read_connect(const struct kz_httphead *h, struct kz_px_request *r)
{
	enum kz_reason why = kz_target_parse(h->target.p, h->target.n, 0, &r->target);

	r->is_connect = true;
	r->has_target = why == KZ_R_NONE;
	if (why != KZ_R_NONE)
		return why;
	/* it has no content, so it says none [RFC 9110 section 9.3.6] */
	return h->content_length >= 0 || h->has_transfer_encoding ? KZ_R_HEAD_MALFORMED : KZ_R_NONE;
}

/* Has the text the form SCHEME:? Then it is a request that somebody might serve, but not we. */
static bool has_scheme(struct kz_slice s)
{
	size_t i = 0;

	while (i < s.n && ((s.p[i] >= 'a' && s.p[i] <= 'z') || (s.p[i] >= 'A' && s.p[i] <= 'Z')))
		i++;
	return i > 0 && i + 2 < s.n && memcmp(s.p + i, "://", 3) == 0;
}

/* http://AUTHORITY[/...][?...], without user-info and fragment */
static enum kz_reason read_url(struct kz_slice url, struct kz_px_request *r)
{
	static const char scheme[] = "http://";
	const size_t n = sizeof scheme - 1;
	const char *host = url.p + n, *end = url.p + url.n, *at = host;
	enum kz_reason why;

	if (url.n < n || strncasecmp(url.p, scheme, n) != 0)
		return has_scheme(url) ? KZ_R_REQUEST_UNSUPPORTED : KZ_R_INVALID_TARGET;
	while (at < end && *at != '/' && *at != '?')
		at++;
	/* an '@', '#' or '\\' in it is malformed there */
	why = kz_target_parse(host, (size_t)(at - host), 80, &r->target);
	if (why != KZ_R_NONE)
		return why;
	r->has_target = true;
	r->path = (struct kz_slice){ at, (size_t)(end - at) };
	return memchr(at, '#', r->path.n) ? KZ_R_INVALID_TARGET : KZ_R_NONE;
}

static enum kz_reason read_framing(const struct kz_httphead *h, struct kz_px_request *r)
{
	const struct kz_slice *coding = kz_httphead_field(h, "transfer-encoding");

	if (coding && (h->minor == 0 || h->content_length >= 0))
		return KZ_R_HEAD_MALFORMED;
	if (coding &&
	    (count_fields(h, "transfer-encoding") != 1 || !slice_is_word(*coding, "chunked")))
		return KZ_R_REQUEST_UNSUPPORTED;
	if (coding)
		r->body = KZ_PX_BODY_CHUNKED;
	else if (h->content_length >= 0)
		r->body = KZ_PX_BODY_LENGTH;
	r->length = h->content_length;
	return KZ_R_NONE;
}

static enum kz_reason read_plain(const struct kz_httphead *h, struct kz_px_request *r)
{
	const struct kz_slice *host = kz_httphead_field(h, "host");
	enum kz_reason why = read_url(h->target, r);
	struct kz_target t;

	r->is_head = kz_slice_is(h->method, "HEAD");
	if (why == KZ_R_NONE)
		why = read_framing(h, r);
	if (why != KZ_R_NONE || !host)
		return why;
	if (kz_target_parse(host->p, host->n, 80, &t) != KZ_R_NONE)
		return KZ_R_HEAD_MALFORMED;
	return kz_target_same_host(&t, &r->target) && t.port == r->target.port ? KZ_R_NONE :
										 KZ_R_HOST_MISMATCH;
}

enum kz_reason kz_px_request_read(const struct kz_httphead *h, struct kz_px_request *r)
{
	size_t hosts = count_fields(h, "host");

	*r = (struct kz_px_request){ .length = -1 };
	r->is_head = kz_slice_is(h->method, "HEAD");
	if (hosts > 1 || (hosts == 0 && h->minor > 0))
		return KZ_R_HEAD_MALFORMED;
	return kz_slice_is(h->method, "CONNECT") ? read_connect(h, r) : read_plain(h, r);
}

/* -- credentials -- */

static enum kz_reason basic(struct kz_slice s, char token[KZ_GRANT_MAX], size_t *n)
{
	static const char user[] = "grant:";
	const size_t un = sizeof user - 1;
	char text[KZ_GRANT_MAX + 16];
	size_t len;

	if (!kz_base64_decode(KZ_BASE64_STANDARD, s.p, s.n, text, sizeof text, &len) || len <= un ||
	    memcmp(text, user, un) != 0 || len - un > KZ_GRANT_MAX)
		return KZ_R_GRANT_MALFORMED;
	*n = len - un;
	memcpy(token, text + un, *n);
	return KZ_R_NONE;
}

enum kz_reason kz_px_token(const struct kz_httphead *h, char token[KZ_GRANT_MAX], size_t *n)
{
	const struct kz_slice *f = kz_httphead_field(h, "proxy-authorization");
	const char *blank;
	struct kz_slice scheme, rest = { "", 0 };

	*n = 0;
	if (!f)
		return KZ_R_GRANT_MISSING;
	if (count_fields(h, "proxy-authorization") > 1)
		return KZ_R_HEAD_MALFORMED;
	blank = memchr(f->p, ' ', f->n);
	scheme = (struct kz_slice){ f->p, blank ? (size_t)(blank - f->p) : f->n };
	if (blank) {
		while (blank < f->p + f->n && *blank == ' ')
			blank++;
		rest = (struct kz_slice){ blank, (size_t)(f->p + f->n - blank) };
	}
	if (slice_is_word(scheme, "basic"))
		return basic(rest, token, n);
	if (!slice_is_word(scheme, "bearer"))
		return KZ_R_GRANT_MISSING;
	if (rest.n == 0 || rest.n > KZ_GRANT_MAX)
		return KZ_R_GRANT_MALFORMED;
	memcpy(token, rest.p, rest.n);
	*n = rest.n;
	return KZ_R_NONE;
}

/* -- answers -- */

int kz_px_status(enum kz_reason reason)
{
	static const struct {
		enum kz_reason reason;
		int status;
	} told[] = {
		{ KZ_R_GRANT_MISSING, 407 },  { KZ_R_HEAD_MALFORMED, 400 },
		{ KZ_R_INVALID_TARGET, 400 }, { KZ_R_INVALID_PORT, 400 },
		{ KZ_R_NUMERIC_HOST, 400 },   { KZ_R_HOST_MISMATCH, 400 },
		{ KZ_R_HEAD_TOO_LARGE, 431 }, { KZ_R_REQUEST_UNSUPPORTED, 501 },
	};

	for (size_t i = 0; i < sizeof told / sizeof *told; i++)
		if (told[i].reason == reason)
			return told[i].status;
	return 403;
}

#define ANSWER(line, more, length)                                                                 \
	"HTTP/1.1 " line "\r\n" more "Content-Type: text/plain\r\nContent-Length: " length         \
	"\r\nConnection: close\r\n\r\n"
#define ASK "Proxy-Authenticate: Basic realm=\"kz\"\r\n"

const char *kz_px_answer(int status, bool is_head)
{
	static const struct {
		int status;
		const char *head, *whole;
	} answers[] = {
		{ 400, ANSWER("400 Bad Request", "", "12"),
		  ANSWER("400 Bad Request", "", "12") "bad request\n" },
		{ 407, ANSWER("407 Proxy Authentication Required", ASK, "19"),
		  ANSWER("407 Proxy Authentication Required", ASK, "19") "no grant was given\n" },
		{ 431, ANSWER("431 Request Header Fields Too Large", "", "10"),
		  ANSWER("431 Request Header Fields Too Large", "", "10") "too large\n" },
		{ 501, ANSWER("501 Not Implemented", "", "14"),
		  ANSWER("501 Not Implemented", "", "14") "not supported\n" },
		{ 403, ANSWER("403 Refused", "", "8"), ANSWER("403 Refused", "", "8") "refused\n" },
	};
	size_t i = 0;

	while (i + 1 < sizeof answers / sizeof *answers && answers[i].status != status)
		i++;
	return is_head ? answers[i].head : answers[i].whole;
}
