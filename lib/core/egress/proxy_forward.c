/* Heads as they go on. */
#include "core/egress/proxy_forward.h"

#include <string.h>
#include <strings.h>

#define VIA "Via: 1.1 kz\r\n"
#define CLOSE "Connection: close\r\n\r\n"

static bool is_name(struct kz_slice s, const char *name)
{
	return s.n == strlen(name) && strncasecmp(s.p, name, s.n) == 0;
}

static bool is_any(struct kz_slice s, const char *const *names)
{
	for (; *names; names++)
		if (is_name(s, *names))
			return true;
	return false;
}

/* Is name one of the words of a list, "a, b ,c"? */
static bool is_listed(struct kz_slice list, struct kz_slice name)
{
	const char *at = list.p, *end = list.p + list.n;

	while (at < end) {
		const char *stop = memchr(at, ',', (size_t)(end - at));
		const char *last = stop ? stop : end;

		while (at < last && (*at == ' ' || *at == '\t'))
			at++;
		while (last > at && (last[-1] == ' ' || last[-1] == '\t'))
			last--;
		if ((size_t)(last - at) == name.n && name.n && strncasecmp(at, name.p, name.n) == 0)
			return true;
		at = stop ? stop + 1 : end;
	}
	return false;
}

/* Does a Connection field of the head name this one? */
static bool is_connection_named(const struct kz_httphead *h, struct kz_slice name)
{
	for (size_t i = 0; i < h->count; i++)
		if (is_name(h->fields[i].name, "connection") && is_listed(h->fields[i].value, name))
			return true;
	return false;
}

static bool add(struct kz_buf *out, const char *p, size_t n)
{
	return kz_buf_add(out, p, n, NULL) == KZ_OK;
}

static bool add_field(struct kz_buf *out, struct kz_slice name, struct kz_slice value)
{
	return add(out, name.p, name.n) && add(out, ": ", 2) && add(out, value.p, value.n) &&
	       add(out, "\r\n", 2);
}

/* What stands before the path: OPTIONS without one is about the server, others about its root [RFC 9112 3.2.1, 3.2.4]. */
static const char *before_path(const struct kz_httphead *h, const struct kz_px_request *r)
{
	if (r->path.n > 0)
		return r->path.p[0] == '/' ? " " : " /";
	return h->method.n == 7 && memcmp(h->method.p, "OPTIONS", 7) == 0 ? " *" : " /";
}

static bool add_line(const struct kz_httphead *h, const struct kz_px_request *r, struct kz_buf *out)
{
	char authority[KZ_AUTHORITY_TEXT];

	kz_target_print(&r->target, authority);
	if (r->target.port == 80)
		*strrchr(authority, ':') = 0;
	return add(out, h->method.p, h->method.n) &&
	       kz_buf_puts(out, before_path(h, r), NULL) == KZ_OK &&
	       add(out, r->path.p, r->path.n) &&
	       kz_buf_printf(out, NULL, " HTTP/1.%d\r\nHost: %s\r\n", h->minor, authority) == KZ_OK;
}

/* One length, written by us. */
static bool add_framing(const struct kz_px_request *r, struct kz_buf *out)
{
	if (r->body == KZ_PX_BODY_CHUNKED)
		return kz_buf_puts(out, "Transfer-Encoding: chunked\r\n", NULL) == KZ_OK;
	if (r->body == KZ_PX_BODY_LENGTH)
		return kz_buf_printf(out, NULL, "Content-Length: %lld\r\n", (long long)r->length) ==
		       KZ_OK;
	return true;
}

bool kz_px_forward(const struct kz_httphead *h, const struct kz_px_request *r, struct kz_buf *out)
{
	static const char *const dropped[] = {
		"host", "connection", "content-length", "transfer-encoding", "keep-alive",
		"te",   "trailer",    "upgrade",        "http2-settings",    NULL
	};

	if (!add_line(h, r, out))
		return false;
	for (size_t i = 0; i < h->count; i++) {
		struct kz_slice name = h->fields[i].name;

		if (is_any(name, dropped) || is_connection_named(h, name) ||
		    (name.n >= 6 && strncasecmp(name.p, "proxy-", 6) == 0))
			continue;
		if (!add_field(out, name, h->fields[i].value))
			return false;
	}
	return add_framing(r, out) && kz_buf_puts(out, VIA CLOSE, NULL) == KZ_OK;
}

/* -- answers -- */

struct reply {
	struct kz_slice connection[8];
	size_t connection_count;
	int code;
	int64_t length; /* -1: none that can be counted */
	bool has_length, has_coding;
};

/* A line of the head at *at, without its CR LF. out: false when it does not end in CR LF, or holds a control byte */
static bool next_line(const char **at, const char *end, struct kz_slice *out)
{
	const char *lf = memchr(*at, '\n', (size_t)(end - *at));

	if (!lf || lf == *at || lf[-1] != '\r')
		return false;
	*out = (struct kz_slice){ *at, (size_t)(lf - 1 - *at) };
	*at = lf + 1;
	for (size_t i = 0; i < out->n; i++)
		if (((unsigned char)out->p[i] < 0x20 && out->p[i] != '\t') || out->p[i] == 0x7f)
			return false;
	return true;
}

/* HTTP/1.x SP CODE [SP text] */
static bool status_line(struct kz_slice l, struct reply *r)
{
	if (l.n < 12 || memcmp(l.p, "HTTP/1.", 7) != 0 || (l.p[7] != '0' && l.p[7] != '1') ||
	    l.p[8] != ' ' || (l.n > 12 && l.p[12] != ' '))
		return false;
	for (int i = 9; i < 12; i++) {
		if (l.p[i] < '0' || l.p[i] > '9')
			return false;
		r->code = r->code * 10 + (l.p[i] - '0');
	}
	return r->code >= 100 && r->code != 101;
}

static bool split(struct kz_slice l, struct kz_slice *name, struct kz_slice *value)
{
	const char *colon = memchr(l.p, ':', l.n);

	if (!colon || colon == l.p)
		return false;
	*name = (struct kz_slice){ l.p, (size_t)(colon - l.p) };
	/* folded, or a blank before the colon */
	if (memchr(name->p, ' ', name->n) || memchr(name->p, '\t', name->n))
		return false;
	*value = (struct kz_slice){ colon + 1, (size_t)(l.p + l.n - colon - 1) };
	while (value->n && (*value->p == ' ' || *value->p == '\t')) {
		value->p++;
		value->n--;
	}
	while (value->n && (value->p[value->n - 1] == ' ' || value->p[value->n - 1] == '\t'))
		value->n--;
	return true;
}

/* The value of a length. out: false when it is no number */
static bool length(struct kz_slice v, int64_t *out)
{
	int64_t n = 0;

	for (size_t i = 0; i < v.n; i++) {
		if (v.p[i] < '0' || v.p[i] > '9')
			return false;
		n = i < 18 ? n * 10 + (v.p[i] - '0') : -1; /* nobody sends that many */
	}
	*out = n;
	return v.n > 0;
}

/* Notes what frames the answer. out: false when it is framed twice */
static bool note(struct reply *r, struct kz_slice name, struct kz_slice value)
{
	bool *is_there = is_name(name, "content-length")    ? &r->has_length :
			 is_name(name, "transfer-encoding") ? &r->has_coding :
							      NULL;

	if (is_name(name, "connection")) {
		if (r->connection_count == 8)
			return false;
		r->connection[r->connection_count++] = value;
	}
	if (!is_there)
		return true;
	if (*is_there)
		return false;
	*is_there = true;
	if (is_there == &r->has_length && !length(value, &r->length))
		return false;
	return value.n > 0 && !(r->has_length && r->has_coding);
}

static bool is_kept(const struct reply *r, struct kz_slice name)
{
	static const char *const framing[] = { "content-length", "transfer-encoding", NULL };
	static const char *const dropped[] = { "connection", "keep-alive", "upgrade", "te", NULL };

	if (is_any(name, framing))
		return true;
	if (is_any(name, dropped) || (name.n >= 6 && strncasecmp(name.p, "proxy-", 6) == 0))
		return false;
	for (size_t i = 0; i < r->connection_count; i++)
		if (is_listed(r->connection[i], name))
			return false;
	return true;
}

/* Once to check and note, once to write. in: out NULL: the first time */
static bool each_field(const char *at, const char *end, struct reply *r, struct kz_buf *out)
{
	while (at < end) {
		struct kz_slice line, name, value;

		if (!next_line(&at, end, &line))
			return false;
		if (line.n == 0)
			return at == end;
		if (!split(line, &name, &value) || (!out && !note(r, name, value)))
			return false;
		if (out && is_kept(r, name) && !add_field(out, name, value))
			return false;
	}
	return false;
}

/* out: where the head ends, NULL when its empty line has not come; a bare LF ends the search */
static const char *find_end(const char *p, size_t n, bool *is_bad)
{
	const char *at = p, *end = p + n;

	*is_bad = false;
	while ((at = memchr(at, '\n', (size_t)(end - at)))) {
		*is_bad = at == p || at[-1] != '\r';
		if (*is_bad || (at - p >= 3 && at[-2] == '\n'))
			return at + 1;
		at++;
	}
	return NULL;
}

/* Answers without content, whatever length they say. */
static bool has_none(int code)
{
	return code == 204 || code == 304;
}

enum kz_px_reply kz_px_reply_read(const char *p, size_t n, struct kz_buf *out, size_t *used,
				  int64_t *content)
{
	bool is_bad;
	const char *end = find_end(p, n < KZ_PX_REPLY_MAX ? n : KZ_PX_REPLY_MAX, &is_bad), *at = p;
	struct reply r = { .length = -1 };
	struct kz_slice line;

	if (is_bad)
		return KZ_PX_REPLY_BAD;
	if (!end)
		return n >= KZ_PX_REPLY_MAX ? KZ_PX_REPLY_BAD : KZ_PX_REPLY_MORE;
	*used = (size_t)(end - p);
	if (!next_line(&at, end, &line) || !status_line(line, &r) ||
	    !each_field(at, end, &r, NULL) || !add(out, line.p, line.n) || !add(out, "\r\n", 2) ||
	    !each_field(at, end, &r, out))
		return KZ_PX_REPLY_BAD;
	*content = has_none(r.code) ? 0 : r.length;
	if (r.code < 200)
		return add(out, "\r\n", 2) ? KZ_PX_REPLY_INFO : KZ_PX_REPLY_BAD;
	return kz_buf_puts(out, VIA CLOSE, NULL) == KZ_OK ? KZ_PX_REPLY_OK : KZ_PX_REPLY_BAD;
}
