/*
 * What the proxy makes of a plain request: the head that goes to the server parses, names the judged host and
 * no other, has one framing and nothing meant for the proxy; its body decodes to the bytes that the client sent, in pieces
 * as at once, and what follows it is nobody's [PROXY-3, PROXY-18].
 */
#include <string.h>
#include <strings.h>

#include "core/egress/proxy_body.h"
#include "core/egress/proxy_forward.h"
#include "fuzz.h"

static bool is_word(struct kz_slice s, const char *word)
{
	return s.n == strlen(word) && strncasecmp(s.p, word, s.n) == 0;
}

static void check_forwarded(const struct kz_httphead *h, const struct kz_px_request *r)
{
	kz_auto_buf struct kz_buf out = KZ_BUF_INIT(1 << 20);
	const struct kz_slice *host, *coding;
	struct kz_httphead b;
	struct kz_target t;

	CLAIM(kz_px_forward(h, r, &out));
	CLAIM(out.len < KZ_HEAD_MAX - 64 || h->bytes > KZ_HEAD_MAX - 2048);
	if (out.len > KZ_HEAD_MAX || h->count > KZ_HEAD_FIELDS - 4)
		return;
	CLAIM(kz_httphead_parse(out.data, out.len, &b) == KZ_HEAD_OK && b.bytes == out.len);
	CLAIM(b.is_close && b.target.n > 0);
	CLAIM(b.target.p[0] == '/' || (b.target.p[0] == '*' && b.target.n == 1 && r->path.n == 0 &&
				       is_word(h->method, "OPTIONS")));
	host = kz_httphead_field(&b, "host");
	CLAIM(host && kz_target_parse(host->p, host->n, 80, &t) == KZ_R_NONE);
	CLAIM(kz_target_same_host(&t, &r->target) && t.port == r->target.port);
	coding = kz_httphead_field(&b, "transfer-encoding");
	CLAIM((coding && is_word(*coding, "chunked")) == (r->body == KZ_PX_BODY_CHUNKED));
	CLAIM(b.content_length == (r->body == KZ_PX_BODY_LENGTH ? r->length : -1));
	for (size_t i = 0; i < b.count; i++) {
		CLAIM(b.fields[i].name.n < 6 || strncasecmp(b.fields[i].name.p, "proxy-", 6) != 0);
		CLAIM(!is_word(b.fields[i].name, "upgrade") &&
		      !is_word(b.fields[i].name, "keep-alive"));
		CLAIM(!is_word(b.fields[i].name, "connection") ||
		      is_word(b.fields[i].value, "close"));
	}
}

/* Another reader of chunks: sizes without zeros in front, no extensions. out: bytes of data appended, or -1 */
static bool unchunk(const char *p, size_t n, struct kz_buf *out)
{
	const char *end = p + n;

	for (;;) {
		char *after;
		size_t size = strtoul(p, &after, 16);

		if (after == p || end - after < 2 || memcmp(after, "\r\n", 2) != 0)
			return false;
		p = after + 2;
		if (size == 0)
			return end - p == 2 && memcmp(p, "\r\n", 2) == 0;
		if ((size_t)(end - p) < size + 2 || memcmp(p + size, "\r\n", 2) != 0 ||
		    kz_buf_add(out, p, size, NULL) != KZ_OK)
			return false;
		p += size + 2;
	}
}

static void check_body(const struct kz_px_request *r, const char *p, size_t n)
{
	kz_auto_buf struct kz_buf once = KZ_BUF_INIT(1 << 20), piece = KZ_BUF_INIT(1 << 20),
				  a = KZ_BUF_INIT(1 << 20), b = KZ_BUF_INIT(1 << 20);
	struct kz_px_framer f, g;
	size_t taken, at = 0, step = 1 + n / 5;

	kz_px_framer_start(&f, r->body, r->length);
	taken = kz_px_framer_take(&f, p, n, &once);
	CLAIM(taken <= n && (taken == n || f.is_done || f.is_bad));
	kz_px_framer_start(&g, r->body, r->length);
	while (at < n && !g.is_done && !g.is_bad) {
		size_t now = n - at < step ? n - at : step,
		       took = kz_px_framer_take(&g, p + at, now, &piece);

		CLAIM(took <= now && (took == now || g.is_done || g.is_bad));
		at += took;
	}
	CLAIM(f.is_done == g.is_done && f.is_bad == g.is_bad && (f.is_bad || at == taken));
	if (!f.is_done || f.is_bad)
		return;
	CLAIM(kz_px_framer_take(&f, "x", 1, &b) == 0);
	if (r->body == KZ_PX_BODY_LENGTH)
		CLAIM(once.len == taken && (!taken || memcmp(once.data, p, taken) == 0) &&
		      (r->length < 0 || taken == (size_t)r->length));
	if (r->body != KZ_PX_BODY_CHUNKED)
		return;
	CLAIM(unchunk(kz_buf_str(&once), once.len, &a) &&
	      unchunk(kz_buf_str(&piece), piece.len, &b));
	CLAIM(a.len == b.len && (!a.len || memcmp(a.data, b.data, a.len) == 0));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *p = (const char *)data;
	char token[KZ_GRANT_MAX];
	struct kz_httphead h;
	struct kz_px_request r;
	size_t n;

	if (kz_httphead_parse(p, size, &h) != KZ_HEAD_OK)
		return 0;
	if (kz_px_token(&h, token, &n) == KZ_R_NONE)
		CLAIM(n > 0 && n <= sizeof token);
	if (kz_px_request_read(&h, &r) != KZ_R_NONE)
		return 0;
	CLAIM(r.has_target && r.target.port > 0);
	if (r.is_connect) {
		CLAIM(h.content_length < 0 && !h.has_transfer_encoding);
		return 0;
	}
	check_forwarded(&h, &r);
	check_body(&r, p + h.bytes, size - h.bytes);
	return 0;
}
