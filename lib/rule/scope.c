/* Settings to the effective scope: no default, and what cannot be held is isolated. */
#include "rule/scope.h"

#include <string.h>

static const char *const mode_names[] = {
	[KZ_SCOPE_ISOLATED] = "isolated",
	[KZ_SCOPE_PUBLIC_INTERNET] = "public_internet",
	[KZ_SCOPE_PRIVATE_NETWORK] = "private_network",
	[KZ_SCOPE_HOST_ALLOWLIST] = "host_allowlist",
};

const char *kz_scope_mode_name(enum kz_scope_mode mode)
{
	return mode_names[mode];
}

bool kz_scope_mode_parse(const char *name, enum kz_scope_mode *out)
{
	for (size_t i = 0; name && i < sizeof mode_names / sizeof *mode_names; i++) {
		if (strcmp(mode_names[i], name) == 0) {
			*out = (enum kz_scope_mode)i;
			return true;
		}
	}
	return false;
}

/* A whole number of digits alone. out: -1 when it is not one or has more than 9 digits */
static int32_t digits(const char *p, size_t n)
{
	int32_t v = 0;

	if (n == 0 || n > 9 || (n > 1 && p[0] == '0'))
		return -1;
	for (size_t i = 0; i < n; i++) {
		if (p[i] < '0' || p[i] > '9')
			return -1;
		v = v * 10 + (p[i] - '0');
	}
	return v;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* Take an entry of a list into the scope. out: false when it is bad or one too many */
typedef bool take_entry(struct kz_scope *s, const char *p, size_t n);

/* All entries of a comma-separated list, blanks around them off. out: false when one is bad */
static bool each_entry(const char *text, struct kz_scope *s, take_entry *take)
{
	for (;;) {
		size_t n = strcspn(text, ","), from = 0, to = n;

		while (from < to && is_blank(text[from]))
			from++;
		while (to > from && is_blank(text[to - 1]))
			to--;
		if (!take(s, text + from, to - from))
			return false;
		if (text[n] == '\0')
			return true;
		text += n + 1;
	}
}

static bool take_port(struct kz_scope *s, const char *p, size_t n)
{
	int32_t v = digits(p, n);
	size_t at = 0;

	if (v < 1 || v > 65535)
		return false;
	while (at < s->port_count && s->ports[at] < v)
		at++;
	if (at < s->port_count && s->ports[at] == v)
		return true;
	if (s->port_count == KZ_SCOPE_PORTS)
		return false;
	memmove(s->ports + at + 1, s->ports + at, (s->port_count - at) * sizeof *s->ports);
	s->ports[at] = (uint16_t)v;
	s->port_count++;
	return true;
}

static bool take_host(struct kz_scope *s, const char *p, size_t n)
{
	struct kz_target t;

	if (kz_host_parse(p, n, &t) != KZ_R_NONE)
		return false;
	if (kz_scope_has_host(s, &t))
		return true;
	if (s->host_count == KZ_SCOPE_HOSTS)
		return false;
	s->hosts[s->host_count++] = t;
	return true;
}

/* Any range, as of a list of denied ones. */
static bool take_range(struct kz_scope *s, const char *p, size_t n)
{
	if (s->cidr_count == KZ_SCOPE_CIDRS || !kz_cidr_parse(p, n, &s->cidrs[s->cidr_count]))
		return false;
	s->cidr_count++;
	return true;
}

static bool take_private(struct kz_scope *s, const char *p, size_t n)
{
	return take_range(s, p, n) && kz_cidr_is_private(&s->cidrs[s->cidr_count - 1]);
}

static bool is_empty(const char *text)
{
	return !text || text[strspn(text, " \t")] == '\0';
}

bool kz_scope_deny_parse(const char *text, struct kz_cidr out[KZ_SCOPE_CIDRS], size_t *count)
{
	struct kz_scope s = { 0 };

	*count = 0;
	if (is_empty(text))
		return true;
	if (!each_entry(text, &s, take_range))
		return false;
	memcpy(out, s.cidrs, s.cidr_count * sizeof *out);
	*count = s.cidr_count;
	return true;
}

/* A life in seconds; longer than the most is cut to it. [GRANT-4] */
static bool take_ttl(struct kz_scope *s, const char *text)
{
	int32_t v = text ? digits(text, strlen(text)) : -1;

	s->ttl_s = v > KZ_GRANT_TTL_MOST ? KZ_GRANT_TTL_MOST : v;
	return v >= 1;
}

/* The lists that the mode uses. */
static enum kz_reason take_lists(const struct kz_scope_config *c, struct kz_scope *s)
{
	bool is_hosts = s->mode == KZ_SCOPE_HOST_ALLOWLIST;

	if (!c->ports || !each_entry(c->ports, s, take_port))
		return KZ_R_PORTS_UNUSABLE;
	if (is_hosts && (!c->hosts || !each_entry(c->hosts, s, take_host)))
		return KZ_R_HOSTS_UNUSABLE;
	if (s->mode == KZ_SCOPE_PRIVATE_NETWORK &&
	    (!c->cidrs || !each_entry(c->cidrs, s, take_private)))
		return KZ_R_CIDRS_UNUSABLE;
	/* Here ranges are an extra: none is no fault, a bad one is. [POL-14] */
	if (is_hosts && c->is_cidrs_own && !is_empty(c->cidrs) &&
	    !each_entry(c->cidrs, s, take_private))
		return KZ_R_CIDRS_UNUSABLE;
	return KZ_R_NONE;
}

static enum kz_reason resolve(const struct kz_scope_config *c, struct kz_scope *s)
{
	struct kz_cidr deny[KZ_SCOPE_CIDRS];
	enum kz_reason r;
	size_t count;

	if (!c->enabled || strcmp(c->enabled, "true") != 0)
		return KZ_R_EGRESS_DISABLED;
	if (!kz_scope_mode_parse(c->mode, &s->mode))
		return KZ_R_MODE_UNKNOWN;
	if (s->mode == KZ_SCOPE_ISOLATED)
		return KZ_R_NONE;
	r = take_lists(c, s);
	if (r != KZ_R_NONE)
		return r;
	if (!take_ttl(s, c->ttl))
		return KZ_R_TTL_UNUSABLE;
	if (!kz_scope_deny_parse(c->deny_cidrs, deny, &count))
		return KZ_R_DENY_UNUSABLE;
	if (!c->has_proxy)
		return KZ_R_PROXY_UNSET;
	return c->has_field_key ? KZ_R_NONE : KZ_R_FIELD_KEY_MISSING;
}

enum kz_reason kz_scope_resolve(const struct kz_scope_config *c, struct kz_scope *out)
{
	struct kz_scope s = { 0 };
	enum kz_reason r = resolve(c, &s);

	if (r != KZ_R_NONE || s.mode == KZ_SCOPE_ISOLATED)
		s = (struct kz_scope){ .mode = KZ_SCOPE_ISOLATED };
	*out = s;
	return r;
}

void kz_scope_narrow(struct kz_scope *s, const char *const *hosts, size_t count)
{
	size_t kept = 0;

	if (!hosts || s->mode != KZ_SCOPE_HOST_ALLOWLIST)
		return;
	for (size_t i = 0; i < s->host_count; i++) {
		bool is_hinted = false;

		for (size_t k = 0; k < count; k++) {
			struct kz_target t;

			if (kz_host_parse(hosts[k], strlen(hosts[k]), &t) == KZ_R_NONE &&
			    kz_target_same_host(&s->hosts[i], &t))
				is_hinted = true;
		}
		if (is_hinted)
			s->hosts[kept++] = s->hosts[i];
	}
	s->host_count = kept;
	if (kept == 0)
		*s = (struct kz_scope){ .mode = KZ_SCOPE_ISOLATED };
}

bool kz_scope_canonical(const struct kz_scope_config *c, struct kz_buf *out)
{
	const char *const values[] = { c->enabled, c->mode, c->hosts,     c->cidrs,
				       c->ports,   c->ttl,  c->deny_cidrs };
	static const char *const names[] = { "enabled", "mode", "hosts",     "cidrs",
					     "ports",   "ttl",  "deny_cidrs" };

	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		const char *v = values[i];
		/* With its length, so that no value can look like two. */
		enum kz_rc rc =
			v ? kz_buf_printf(out, NULL, "%s %zu:%s\n", names[i], strlen(v), v) :
			    kz_buf_printf(out, NULL, "%s -\n", names[i]);

		if (rc != KZ_OK)
			return false;
	}
	return kz_buf_printf(out, NULL, "own_cidrs %d\n", c->is_cidrs_own) == KZ_OK;
}
