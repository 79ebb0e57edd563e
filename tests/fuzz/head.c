/*
 * Request heads: what is read writes a head that reads the same; in pieces as at once; every
 * slice lies in the head and holds no line end [RFC 9112, PROXY-19].
 */
#include <string.h>

#include "fuzz.h"
#include "rule/httphead.h"

static void check_slice(const char *p, const struct kz_httphead *h, struct kz_slice s)
{
	CLAIM(s.p >= p && s.p + s.n <= p + h->bytes);
	for (size_t i = 0; i < s.n; i++)
		CLAIM(s.p[i] == '\t' || ((unsigned char)s.p[i] >= 0x20 && s.p[i] != 0x7f));
}

static bool same(struct kz_slice a, struct kz_slice b)
{
	return a.n == b.n && memcmp(a.p, b.p, a.n) == 0;
}

static char *put(char *at, struct kz_slice s, const char *after)
{
	memcpy(at, s.p, s.n);
	memcpy(at + s.n, after, strlen(after));
	return at + s.n + strlen(after);
}

/* The head written again from its parts. out: bytes */
static size_t print(const struct kz_httphead *h, char *out)
{
	char *at = put(out, h->method, " ");

	at = put(at, h->target, h->minor ? " HTTP/1.1\r\n" : " HTTP/1.0\r\n");
	for (size_t i = 0; i < h->count; i++) {
		at = put(at, h->fields[i].name, ":");
		at = put(at, h->fields[i].value, "\r\n");
	}
	memcpy(at, "\r\n", 2);
	return (size_t)(at + 2 - out);
}

static void check_again(const struct kz_httphead *h)
{
	static char text[KZ_HEAD_MAX + 16];
	struct kz_httphead b;
	size_t n = print(h, text);

	CLAIM(n <= h->bytes);
	CLAIM(kz_httphead_parse(text, n, &b) == KZ_HEAD_OK);
	CLAIM(b.bytes == n && b.count == h->count && b.minor == h->minor);
	CLAIM(b.content_length == h->content_length && b.is_close == h->is_close);
	CLAIM(b.has_transfer_encoding == h->has_transfer_encoding);
	CLAIM(same(h->method, b.method) && same(h->target, b.target));
	for (size_t i = 0; i < b.count; i++)
		CLAIM(same(h->fields[i].name, b.fields[i].name) &&
		      same(h->fields[i].value, b.fields[i].value));
}

static void check_pieces(const char *p, size_t size, enum kz_head_rc rc,
			 const struct kz_httphead *h)
{
	size_t at = 0, step = 1 + size / 7;
	enum kz_head_rc piece = KZ_HEAD_MORE;

	for (size_t n = step; piece == KZ_HEAD_MORE && n < size; n += step) {
		piece = kz_httphead_find(p, n, &at);
		CLAIM(piece != KZ_HEAD_OK || at <= n);
	}
	if (piece == KZ_HEAD_MORE)
		piece = kz_httphead_find(p, size, &at);
	if (rc == KZ_HEAD_OK)
		CLAIM(piece == KZ_HEAD_OK && at == h->bytes);
	if (rc == KZ_HEAD_MORE)
		CLAIM(piece == KZ_HEAD_MORE);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *p = (const char *)data;
	struct kz_httphead h;
	enum kz_head_rc rc = kz_httphead_parse(p, size, &h);

	check_pieces(p, size, rc, &h);
	if (rc != KZ_HEAD_OK)
		return 0;
	CLAIM(h.bytes <= size && h.bytes <= KZ_HEAD_MAX && h.count <= KZ_HEAD_FIELDS);
	CLAIM(h.method.n > 0 && h.target.n > 0);
	CLAIM(!(h.has_transfer_encoding && h.content_length >= 0));
	CLAIM(h.minor == 0 || kz_httphead_field(&h, "HOST"));
	check_slice(p, &h, h.method);
	check_slice(p, &h, h.target);
	for (size_t i = 0; i < h.count; i++) {
		check_slice(p, &h, h.fields[i].name);
		check_slice(p, &h, h.fields[i].value);
	}
	check_again(&h);
	return 0;
}
