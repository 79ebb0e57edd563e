/* Reading one DNS answer: the chain of aliases, then the addresses of its end. */
#include "port/dns_parts.h"

#include <ares.h>
#include <string.h>
#include <strings.h>

#define HEADER 12
#define RECORDS 512 /* of an answer; more is nobody's address */
#define TYPE_A 1
#define TYPE_CNAME 5
#define TYPE_AAAA 28
#define CLASS_IN 1
#define IS_ANSWER 0x80 /* in the third byte; clear in a question */

struct reader {
	const uint8_t *p;
	size_t n, at;
};

struct record {
	char owner[256];
	unsigned type, class;
	size_t data, data_len; /* in the message */
};

struct aliases {
	size_t count;
	char from[KZ_DNS_ALIASES + 1][256], to[KZ_DNS_ALIASES + 1][256];
};

static unsigned two(const uint8_t *p)
{
	return (unsigned)p[0] << 8 | p[1];
}

/* A name at r->at. in: limit: where it must have ended; out: text without the final dot, and r->at behind it */
static bool name(struct reader *r, size_t limit, char out[256])
{
	char *text = NULL;
	long used = 0;
	size_t len;

	if (r->at >= limit ||
	    ares_expand_name(r->p + r->at, r->p, (int)r->n, &text, &used) != ARES_SUCCESS)
		return false;
	len = strlen(text);
	if (len > 0 && text[len - 1] == '.')
		len--;
	if (len < 256) {
		memcpy(out, text, len);
		out[len] = 0;
	}
	ares_free_string(text);
	r->at += (size_t)used;
	return len < 256 && r->at <= limit;
}

static bool record(struct reader *r, struct record *out)
{
	if (!name(r, r->n, out->owner) || r->n - r->at < 10)
		return false;
	out->type = two(r->p + r->at);
	out->class = two(r->p + r->at + 2);
	out->data_len = two(r->p + r->at + 8);
	out->data = r->at + 10;
	if (r->n - out->data < out->data_len)
		return false;
	r->at = out->data + out->data_len;
	return true;
}

/* Place a reader on the first record. out: how many records the answer has; -1: malformed */
static int start(struct reader *r, const uint8_t *p, size_t n)
{
	char question[256];

	*r = (struct reader){ p, n, HEADER };
	if (n < HEADER || n > 65535 || !(p[2] & IS_ANSWER) || two(p + 4) != 1 ||
	    !name(r, n, question) || n - r->at < 4)
		return -1;
	r->at += 4;
	return two(p + 6) <= RECORDS ? (int)two(p + 6) : -1;
}

static enum kz_dns_rc read_aliases(const uint8_t *p, size_t n, struct aliases *a)
{
	struct reader r;
	struct record c;
	int left = start(&r, p, n);

	if (left < 0)
		return KZ_DNS_FAILED;
	while (left-- > 0) {
		struct reader data;

		if (!record(&r, &c))
			return KZ_DNS_FAILED;
		if (c.type != TYPE_CNAME || c.class != CLASS_IN)
			continue;
		if (a->count > KZ_DNS_ALIASES)
			return KZ_DNS_TOO_MANY;
		memcpy(a->from[a->count], c.owner, sizeof c.owner);
		data = (struct reader){ p, n, c.data };
		if (!name(&data, c.data + c.data_len, a->to[a->count++]))
			return KZ_DNS_FAILED;
	}
	return KZ_DNS_OK;
}

static const char *alias_of(const struct aliases *a, const char *from)
{
	for (size_t i = 0; i < a->count; i++)
		if (strcasecmp(a->from[i], from) == 0)
			return a->to[i];
	return NULL;
}

static bool is_known(const struct kz_dns_found *f, const struct kz_dns_addr *a)
{
	for (size_t i = 0; i < f->count; i++)
		if (memcmp(&f->addr[i], a, sizeof *a) == 0)
			return true;
	return false;
}

static enum kz_dns_rc read_addresses(const uint8_t *p, size_t n, const char *end, uint8_t family,
				     struct kz_dns_found *out)
{
	unsigned type = family == 4 ? TYPE_A : TYPE_AAAA;
	struct reader r;
	struct record c;
	int left = start(&r, p, n);

	while (left-- > 0) {
		struct kz_dns_addr a = { .family = family };

		if (!record(&r, &c))
			return KZ_DNS_FAILED;
		if (c.type != type || c.class != CLASS_IN)
			continue;
		if (c.data_len != (family == 4 ? 4 : 16) || strcasecmp(c.owner, end) != 0)
			return KZ_DNS_FAILED;
		memcpy(a.bytes, p + c.data, c.data_len);
		if (is_known(out, &a))
			continue;
		if (out->count == KZ_DNS_MOST)
			return KZ_DNS_TOO_MANY;
		out->addr[out->count++] = a;
	}
	return KZ_DNS_OK;
}

enum kz_dns_rc kz_dns_answer(const uint8_t *p, size_t n, const char *asked, uint8_t family,
			     struct kz_dns_found *out)
{
	struct aliases a = { .count = 0 };
	const char *end = asked, *next;
	enum kz_dns_rc rc = read_aliases(p, n, &a);
	int steps = 0;

	while (rc == KZ_DNS_OK && (next = alias_of(&a, end))) {
		end = next;
		if (++steps > KZ_DNS_ALIASES)
			rc = KZ_DNS_TOO_MANY;
	}
	return rc == KZ_DNS_OK ? read_addresses(p, n, end, family, out) : rc;
}
