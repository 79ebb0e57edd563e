/* Addresses and ranges: their text forms. */
#include "rule/address.h"

#include <stdio.h>
#include <string.h>

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Value of a hexadecimal digit, or -1. */
static int hex_digit(char c)
{
	if (is_digit(c))
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

/* A decimal number of p[0..n) without leading zeros, at most most. out: -1 when it is not one */
static int decimal(const char *p, size_t n, int most)
{
	int v = 0;

	if (n == 0 || n > 3 || (n > 1 && p[0] == '0'))
		return -1;
	for (size_t i = 0; i < n; i++) {
		if (!is_digit(p[i]))
			return -1;
		v = v * 10 + (p[i] - '0');
	}
	return v <= most ? v : -1;
}

/* Four decimal parts. */
static bool parse4(const char *p, size_t n, uint8_t out[4])
{
	for (int i = 0; i < 4; i++) {
		const char *dot = memchr(p, '.', n);
		size_t part = dot && i < 3 ? (size_t)(dot - p) : n;
		int v = decimal(p, part, 255);

		if (v < 0 || (i < 3 && !dot))
			return false;
		out[i] = (uint8_t)v;
		p += part + (i < 3);
		n -= part + (i < 3);
	}
	return true;
}

/* One to four hexadecimal digits at p[*at..n) as the group at out. */
static bool parse_group(const char *p, size_t n, size_t *at, uint8_t *out)
{
	unsigned v = 0;
	size_t from = *at;

	while (*at < n && hex_digit(p[*at]) >= 0 && *at - from < 4)
		v = v * 16 + (unsigned)hex_digit(p[(*at)++]);
	out[0] = (uint8_t)(v >> 8);
	out[1] = (uint8_t)v;
	return *at > from;
}

#define NO_GAP 17

/* What was read of an IPv6 address: its bytes in order, and before which of them "::" stood. */
struct groups {
	uint8_t bytes[16];
	size_t used, gap;
};

/* Does a part of decimal digits end in a dot here? */
static bool is_quad(const char *p, size_t n)
{
	size_t i = 0;

	while (i < n && is_digit(p[i]))
		i++;
	return i < n && p[i] == '.';
}

/* The colons behind a group: one, or the only "::". */
static bool skip_colons(const char *p, size_t n, size_t *at, struct groups *g)
{
	if (p[(*at)++] != ':' || *at == n)
		return false;
	if (p[*at] != ':')
		return true;
	if (g->gap != NO_GAP)
		return false;
	g->gap = g->used;
	(*at)++;
	return true;
}

/* Groups between colons; the last two may be four decimal parts. */
static bool read_groups(const char *p, size_t n, struct groups *g)
{
	size_t at = 0;

	if (n >= 2 && p[0] == ':' && p[1] == ':') {
		g->gap = 0;
		at = 2;
	}
	while (at < n) {
		if (is_quad(p + at, n - at)) {
			g->used += 4;
			return g->used <= 16 && parse4(p + at, n - at, g->bytes + g->used - 4);
		}
		if (g->used > 14 || !parse_group(p, n, &at, g->bytes + g->used))
			return false;
		g->used += 2;
		if (at < n && !skip_colons(p, n, &at, g))
			return false;
	}
	return true;
}

static bool parse6(const char *p, size_t n, uint8_t out[16])
{
	struct groups g = { .gap = NO_GAP };

	if (!read_groups(p, n, &g))
		return false;
	/* Without "::" all eight groups, with it at least one less. */
	if (g.gap == NO_GAP ? g.used != 16 : g.used > 14)
		return false;
	if (g.gap == NO_GAP)
		g.gap = g.used;
	memcpy(out, g.bytes, g.gap);
	memcpy(out + 16 - (g.used - g.gap), g.bytes + g.gap, g.used - g.gap);
	return true;
}

bool kz_addr_parse(const char *p, size_t n, struct kz_addr *out)
{
	struct kz_addr a = { 0 };
	bool is_six = memchr(p, ':', n) != NULL;

	a.family = is_six ? 6 : 4;
	if (n >= KZ_ADDR_TEXT || !(is_six ? parse6 : parse4)(p, n, a.bytes))
		return false;
	*out = a;
	return true;
}

static unsigned group(const struct kz_addr *a, int i)
{
	return (unsigned)a->bytes[2 * i] << 8 | a->bytes[2 * i + 1];
}

/* The first longest run of at least two zero groups. out: its length, 0 when there is none */
static int zero_run(const struct kz_addr *a, int *from)
{
	int best = 1, run = 0;

	*from = 8;
	for (int i = 0; i < 8; i++) {
		run = group(a, i) == 0 ? run + 1 : 0;
		if (run > best) {
			best = run;
			*from = i - run + 1;
		}
	}
	return best > 1 ? best : 0;
}

static void print4(const uint8_t *b, char *out)
{
	snprintf(out, 16, "%d.%d.%d.%d", b[0], b[1], b[2], b[3]);
}

static void print6(const struct kz_addr *a, char *out)
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };
	int from, run = zero_run(a, &from);
	char *p = out;

	if (memcmp(a->bytes, mapped, sizeof mapped) == 0) {
		print4(a->bytes + 12, out + snprintf(out, 8, "::ffff:"));
		return;
	}
	for (int i = 0; i < 8;) {
		if (i == from) {
			p += snprintf(p, 3, "::");
			i += run;
			continue;
		}
		p += snprintf(p, 6, "%s%x", i == 0 || i == from + run ? "" : ":", group(a, i));
		i++;
	}
}

void kz_addr_print(const struct kz_addr *a, char out[KZ_ADDR_TEXT])
{
	if (a->family == 6)
		print6(a, out);
	else
		print4(a->bytes, out);
}

bool kz_addr_equal(const struct kz_addr *a, const struct kz_addr *b)
{
	return a->family == b->family && memcmp(a->bytes, b->bytes, a->family == 4 ? 4 : 16) == 0;
}

/* Is a bit set behind the prefix? */
static bool has_bits_behind(const struct kz_addr *a, int bits)
{
	for (int i = bits; i < 128; i++)
		if (a->bytes[i / 8] & 0x80 >> i % 8)
			return true;
	return false;
}

bool kz_cidr_parse(const char *p, size_t n, struct kz_cidr *out)
{
	const char *slash = memchr(p, '/', n);
	struct kz_cidr c = { 0 };
	int bits;

	if (!slash || !kz_addr_parse(p, (size_t)(slash - p), &c.base))
		return false;
	bits = decimal(slash + 1, (size_t)(p + n - slash - 1), c.base.family == 4 ? 32 : 128);
	if (bits < 0)
		return false;
	if (has_bits_behind(&c.base, bits))
		return false;
	c.bits = (uint8_t)bits;
	*out = c;
	return true;
}

void kz_cidr_print(const struct kz_cidr *c, char out[KZ_CIDR_TEXT])
{
	kz_addr_print(&c->base, out);
	snprintf(out + strlen(out), 5, "/%d", c->bits);
}
