/* Strict parsing of request heads. */
#include "rule/httphead.h"

#include <string.h>

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* RFC 9110 section 5.6.2 */
static bool is_token_byte(char c)
{
	return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       (c != 0 && strchr("!#$%&'*+-.^_`|~", c));
}

static bool is_token(struct kz_slice s)
{
	for (size_t i = 0; i < s.n; i++)
		if (!is_token_byte(s.p[i]))
			return false;
	return s.n > 0;
}

static char lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c;
}

static bool same_name(struct kz_slice s, const char *name)
{
	size_t i;

	for (i = 0; i < s.n && name[i]; i++)
		if (lower(s.p[i]) != lower(name[i]))
			return false;
	return i == s.n && !name[i];
}

bool kz_slice_is(struct kz_slice s, const char *text)
{
	return strlen(text) == s.n && memcmp(s.p, text, s.n) == 0;
}

/* No control byte but tabs. */
static bool is_text(char c)
{
	return ((unsigned char)c >= 0x20 && c != 0x7f) || c == '\t';
}

/* May this byte stand behind that one in a head? CR only with LF. */
static bool follows(char before, char c)
{
	if (c == '\n' || before == '\r')
		return c == '\n' && before == '\r';
	return is_text(c) || c == '\r';
}

enum kz_head_rc kz_httphead_find(const char *p, size_t n, size_t *at)
{
	size_t most = n < KZ_HEAD_MAX ? n : KZ_HEAD_MAX;

	for (size_t i = *at; i < most; i++) {
		/* behind text nearly always comes text */
		while (i > 0 && i < most && is_text(p[i]) && p[i - 1] != '\r')
			i++;
		if (i == most)
			break;
		if (!follows(i ? p[i - 1] : 0, p[i]))
			return KZ_HEAD_BAD;
		if (p[i] == '\n' && i >= 3 && p[i - 2] == '\n') {
			*at = i + 1;
			return KZ_HEAD_OK;
		}
	}
	*at = most;
	return n >= KZ_HEAD_MAX ? KZ_HEAD_LARGE : KZ_HEAD_MORE;
}

/* METHOD SP TARGET SP HTTP/1.x, single blanks */
static bool request_line(struct kz_slice l, struct kz_httphead *h)
{
	static const char version[] = "HTTP/1.";
	const size_t vn = sizeof version - 1;
	const char *a = memchr(l.p, ' ', l.n);
	const char *b = a ? memchr(a + 1, ' ', (size_t)(l.p + l.n - a - 1)) : NULL;
	const char *v;

	if (!b || b == a + 1)
		return false;
	h->method = (struct kz_slice){ l.p, (size_t)(a - l.p) };
	h->target = (struct kz_slice){ a + 1, (size_t)(b - a - 1) };
	v = b + 1;
	if ((size_t)(l.p + l.n - v) != vn + 1 || memcmp(v, version, vn) != 0)
		return false;
	if (v[vn] != '0' && v[vn] != '1')
		return false;
	h->minor = v[vn] - '0';
	for (size_t i = 0; i < h->target.n; i++)
		if ((unsigned char)h->target.p[i] <= 0x20 || (unsigned char)h->target.p[i] >= 0x7f)
			return false;
	return is_token(h->method);
}

static struct kz_slice trim(struct kz_slice s)
{
	while (s.n && (*s.p == ' ' || *s.p == '\t')) {
		s.p++;
		s.n--;
	}
	while (s.n && (s.p[s.n - 1] == ' ' || s.p[s.n - 1] == '\t'))
		s.n--;
	return s;
}

static bool length(struct kz_slice v, int64_t *out)
{
	int64_t n = 0;

	if (!v.n || v.n > 18)
		return false;
	for (size_t i = 0; i < v.n; i++) {
		if (!is_digit(v.p[i]))
			return false;
		n = n * 10 + (v.p[i] - '0');
	}
	*out = n;
	return true;
}

static bool has_word(struct kz_slice v, const char *word)
{
	while (v.n) {
		const char *comma = memchr(v.p, ',', v.n);
		size_t n = comma ? (size_t)(comma - v.p) : v.n;

		if (same_name(trim((struct kz_slice){ v.p, n }), word))
			return true;
		n += comma ? 1 : 0;
		v.p += n;
		v.n -= n;
	}
	return false;
}

/* Twice is two readers' chance to differ. */
static bool is_repeated(const struct kz_httphead *h, struct kz_slice name)
{
	static const char *const once[] = { "host", "content-length", "transfer-encoding",
					    "authorization", "proxy-authorization" };

	for (size_t i = 0; i < sizeof once / sizeof *once; i++)
		if (same_name(name, once[i]))
			return kz_httphead_field(h, once[i]) != NULL;
	return false;
}

static bool known_field(struct kz_httphead *h, struct kz_slice name, struct kz_slice value)
{
	if (is_repeated(h, name))
		return false;
	if (same_name(name, "content-length"))
		return length(value, &h->content_length);
	if (same_name(name, "transfer-encoding")) {
		h->has_transfer_encoding = true;
		return value.n > 0 && h->minor > 0;
	}
	if (same_name(name, "connection") && has_word(value, "close"))
		h->is_close = true;
	return true;
}

static enum kz_head_rc field_line(struct kz_slice l, struct kz_httphead *h)
{
	const char *colon = memchr(l.p, ':', l.n);
	struct kz_slice name, value;

	if (!colon)
		return KZ_HEAD_BAD;
	name = (struct kz_slice){ l.p, (size_t)(colon - l.p) };
	value = trim((struct kz_slice){ colon + 1, (size_t)(l.p + l.n - colon - 1) });
	if (!is_token(name) || !known_field(h, name, value))
		return KZ_HEAD_BAD;
	if (h->count == KZ_HEAD_FIELDS)
		return KZ_HEAD_LARGE;
	h->fields[h->count].name = name;
	h->fields[h->count++].value = value;
	return KZ_HEAD_OK;
}

/* What only the whole head shows. */
static bool is_whole(const struct kz_httphead *h)
{
	if (h->has_transfer_encoding && h->content_length >= 0)
		return false;
	return h->minor == 0 || kz_httphead_field(h, "host");
}

enum kz_head_rc kz_httphead_parse(const char *p, size_t n, struct kz_httphead *h)
{
	size_t end = 0;
	enum kz_head_rc rc = kz_httphead_find(p, n, &end);

	return rc == KZ_HEAD_OK ? kz_httphead_read(p, end, h) : rc;
}

enum kz_head_rc kz_httphead_read(const char *p, size_t end, struct kz_httphead *h)
{
	enum kz_head_rc rc = KZ_HEAD_OK;

	*h = (struct kz_httphead){ .bytes = end, .content_length = -1 };
	/* Every line ends in CR LF by now, the last is empty. */
	for (size_t at = 0; at < end - 2;) {
		const char *lf = memchr(p + at, '\n', end - at);
		struct kz_slice l = { p + at, (size_t)(lf - p) - at - 1 };

		if (at == 0 && !request_line(l, h))
			return KZ_HEAD_BAD;
		if (at > 0)
			rc = field_line(l, h);
		if (rc != KZ_HEAD_OK)
			return rc;
		at += l.n + 2;
	}
	h->is_close = h->is_close || h->minor == 0;
	return is_whole(h) ? KZ_HEAD_OK : KZ_HEAD_BAD;
}

const struct kz_slice *kz_httphead_field(const struct kz_httphead *h, const char *name)
{
	for (size_t i = 0; i < h->count; i++)
		if (same_name(h->fields[i].name, name))
			return &h->fields[i].value;
	return NULL;
}
