/* The first judgement of a request to the gateway. */
#include "rule/ask.h"

#include <string.h>

#include "rule/host.h"

#define PREAMBLE "KZ-EXECUTION "
#define PREAMBLE_BYTES (sizeof PREAMBLE - 1)

enum kz_head_rc kz_execution_line(const char *p, size_t n, char execution[KZ_EXECUTION_HEX])
{
	for (size_t i = 0; i < n && i < KZ_EXECUTION_LINE; i++) {
		bool is_good = i < PREAMBLE_BYTES ? p[i] == PREAMBLE[i] :
			       i == KZ_EXECUTION_LINE - 1 ?
						    p[i] == '\n' :
						    p[i] && strchr("0123456789abcdef", p[i]);

		if (!is_good)
			return KZ_HEAD_BAD;
	}
	if (n < KZ_EXECUTION_LINE)
		return KZ_HEAD_MORE;
	memcpy(execution, p + PREAMBLE_BYTES, KZ_EXECUTION_HEX - 1);
	execution[KZ_EXECUTION_HEX - 1] = 0;
	return KZ_HEAD_OK;
}

int kz_ask_read(const struct kz_httphead *h, struct kz_ask *ask)
{
	const char *mark;

	*ask = (struct kz_ask){ .is_head = kz_slice_is(h->method, "HEAD"), .path = h->target };
	if (!ask->is_head && !kz_slice_is(h->method, "GET"))
		return 405;
	if (h->content_length > 0 || h->has_transfer_encoding)
		return 413;
	if (h->target.p[0] != '/' || memchr(h->target.p, '#', h->target.n))
		return 400;
	mark = memchr(h->target.p, '?', h->target.n);
	if (mark) {
		ask->path.n = (size_t)(mark - h->target.p);
		ask->query = (struct kz_slice){ mark + 1, h->target.n - ask->path.n - 1 };
	}
	return 0;
}

static bool is_among(const struct kz_target *t, const char *names)
{
	while (*names) {
		size_t n = strcspn(names, ",");
		struct kz_target one;

		if (kz_host_parse(names, n, &one) == KZ_R_NONE && kz_target_same_host(t, &one))
			return true;
		names += n + (names[n] == ',');
	}
	return false;
}

static bool is_unspecified(const struct kz_addr *a)
{
	static const struct kz_addr zero;

	return memcmp(a->bytes, zero.bytes, a->family == 4 ? 4 : 16) == 0;
}

static bool is_loopback(const struct kz_addr *a)
{
	static const unsigned char six[16] = { [15] = 1 };

	return a->family == 4 ? a->bytes[0] == 127 : memcmp(a->bytes, six, 16) == 0;
}

bool kz_ask_host(const struct kz_httphead *h, const char *names, const char *listen)
{
	const struct kz_slice *host = kz_httphead_field(h, "host");
	struct kz_target t, here;

	if (!host || kz_target_parse(host->p, host->n, 80, &t) != KZ_R_NONE)
		return false;
	if (!t.is_literal)
		return strcmp(t.host, "localhost") == 0 || is_among(&t, names);
	if (is_loopback(&t.addr))
		return true;
	if (is_among(&t, names))
		return true;
	return *listen && kz_target_parse(listen, strlen(listen), 0, &here) == KZ_R_NONE &&
	       here.is_literal && (is_unspecified(&here.addr) || kz_target_same_host(&t, &here));
}

bool kz_ask_fits(struct kz_slice path, const char *prefix)
{
	size_t n = strlen(prefix);

	if (path.n < n || memcmp(path.p, prefix, n) != 0)
		return false;
	return path.n == n || (n > 1 && prefix[n - 1] == '/');
}
