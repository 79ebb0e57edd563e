/* Hosts and authorities: strict reading, one normal form. */
#include "rule/host.h"

#include <stdio.h>
#include <string.h>

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static char lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c;
}

/* Printable, and nothing that begins user-info, a path, a query, an escape or a list. */
static bool is_plain(const char *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (p[i] < 0x21 || p[i] > 0x7e || strchr("@/?#\\%,", p[i]))
			return false;
	return true;
}

/* One to five digits, no leading zero, 1 to 65535. */
static bool parse_port(const char *p, size_t n, uint16_t *out)
{
	unsigned v = 0;

	if (n == 0 || n > 5 || p[0] == '0')
		return false;
	for (size_t i = 0; i < n; i++) {
		if (!is_digit(p[i]))
			return false;
		v = v * 10 + (unsigned)(p[i] - '0');
	}
	*out = (uint16_t)v;
	return v <= 65535;
}

/*
 * Would some reader take a host with this last label for an IPv4 address?  All of
 * them look at the last label: digits, or 0x and hexadecimal digits.
 */
static bool ends_in_number(const char *p, size_t n)
{
	const char *label;
	size_t at = 0;
	bool is_hex;

	if (n && p[n - 1] == '.')
		n--;
	for (label = p + n; label > p && label[-1] != '.';)
		label--;
	n -= (size_t)(label - p);
	is_hex = n >= 2 && label[0] == '0' && lower(label[1]) == 'x';
	for (at = is_hex ? 2 : 0; at < n; at++)
		if (!is_digit(label[at]) &&
		    !(is_hex && lower(label[at]) >= 'a' && lower(label[at]) <= 'f'))
			return false;
	return n > 0;
}

static bool is_label(const char *p, size_t n)
{
	if (n == 0 || n > 63 || p[0] == '-' || p[n - 1] == '-')
		return false;
	for (size_t i = 0; i < n; i++)
		if (!is_digit(p[i]) && (lower(p[i]) < 'a' || lower(p[i]) > 'z') && p[i] != '-' &&
		    p[i] != '_')
			return false;
	return true;
}

/* A name of labels; one final dot says that it is absolute and goes. */
static bool parse_name(const char *p, size_t n, char out[KZ_HOST_MAX + 1])
{
	if (n && p[n - 1] == '.')
		n--;
	if (n == 0 || n > KZ_HOST_MAX)
		return false;
	for (size_t at = 0; at <= n;) {
		const char *dot = memchr(p + at, '.', n - at);
		size_t end = dot ? (size_t)(dot - p) : n;

		if (!is_label(p + at, end - at))
			return false;
		at = end + 1;
	}
	for (size_t i = 0; i < n; i++)
		out[i] = lower(p[i]);
	out[n] = '\0';
	return true;
}

/* An address of the family, as the target's host. */
static bool parse_literal(const char *p, size_t n, int family, struct kz_target *t)
{
	if (!kz_addr_parse(p, n, &t->addr) || t->addr.family != family)
		return false;
	t->is_literal = true;
	kz_addr_print(&t->addr, t->host);
	return true;
}

/* A host without brackets and colons: an IPv4 address or a name. */
static enum kz_reason parse_plain(const char *p, size_t n, struct kz_target *t)
{
	if (ends_in_number(p, n))
		return parse_literal(p, n, 4, t) ? KZ_R_NONE : KZ_R_NUMERIC_HOST;
	return parse_name(p, n, t->host) ? KZ_R_NONE : KZ_R_INVALID_TARGET;
}

enum kz_reason kz_target_parse(const char *p, size_t n, uint16_t default_port, struct kz_target *t)
{
	struct kz_target new = { .port = default_port };
	const char *end = p + n, *host_end;
	enum kz_reason r = KZ_R_NONE;

	if (n == 0 || n > KZ_AUTHORITY_MAX || !is_plain(p, n))
		return KZ_R_INVALID_TARGET;
	if (*p == '[') {
		host_end = memchr(p, ']', n);
		if (!host_end || !parse_literal(p + 1, (size_t)(host_end - p - 1), 6, &new))
			return KZ_R_INVALID_TARGET;
		host_end++;
		if (host_end < end && *host_end != ':')
			return KZ_R_INVALID_TARGET;
	} else {
		host_end = memchr(p, ':', n);
		if (!host_end)
			host_end = end;
		if (host_end < end && memchr(host_end + 1, ':', (size_t)(end - host_end - 1)))
			return KZ_R_INVALID_TARGET;
		r = parse_plain(p, (size_t)(host_end - p), &new);
	}
	if (r != KZ_R_NONE)
		return r;
	if (host_end < end ? !parse_port(host_end + 1, (size_t)(end - host_end - 1), &new.port) :
			     default_port == 0)
		return KZ_R_INVALID_PORT;
	*t = new;
	return KZ_R_NONE;
}

enum kz_reason kz_host_parse(const char *p, size_t n, struct kz_target *t)
{
	struct kz_target new = { 0 };
	enum kz_reason r;

	if (n == 0 || n > KZ_AUTHORITY_MAX || !is_plain(p, n))
		return KZ_R_INVALID_TARGET;
	if (memchr(p, ':', n))
		r = parse_literal(p, n, 6, &new) ? KZ_R_NONE : KZ_R_INVALID_TARGET;
	else
		r = parse_plain(p, n, &new);
	if (r == KZ_R_NONE)
		*t = new;
	return r;
}

void kz_target_print(const struct kz_target *t, char out[KZ_AUTHORITY_TEXT])
{
	bool is_six = t->is_literal && t->addr.family == 6;

	snprintf(out, KZ_AUTHORITY_TEXT, "%s%s%s:%u", is_six ? "[" : "", t->host, is_six ? "]" : "",
		 t->port);
}

bool kz_target_same_host(const struct kz_target *a, const struct kz_target *b)
{
	if (a->is_literal != b->is_literal)
		return false;
	return a->is_literal ? kz_addr_equal(&a->addr, &b->addr) : strcmp(a->host, b->host) == 0;
}

/* Is host this domain or below it? */
static bool is_below(const char *host, const char *domain)
{
	size_t n = strlen(host), d = strlen(domain);

	if (n < d || strcmp(host + n - d, domain) != 0)
		return false;
	return n == d || host[n - d - 1] == '.';
}

enum kz_host_kind kz_host_kind(const char *host)
{
	/* RFC 6761, RFC 7686, RFC 9476 */
	static const char *const never[] = { "localhost", "localdomain", "onion", "invalid",
					     "alt" };
	/* RFC 6762 with its appendix G, RFC 8375, and what ICANN reserves for private use */
	static const char *const inner[] = { "local", "internal", "intranet", "private",
					     "corp",  "home",     "lan",      "home.arpa" };

	if (!strchr(host, '.'))
		return KZ_HOST_NEVER;
	for (size_t i = 0; i < sizeof never / sizeof *never; i++)
		if (is_below(host, never[i]))
			return KZ_HOST_NEVER;
	for (size_t i = 0; i < sizeof inner / sizeof *inner; i++)
		if (is_below(host, inner[i]))
			return KZ_HOST_INNER;
	return KZ_HOST_PUBLIC;
}
