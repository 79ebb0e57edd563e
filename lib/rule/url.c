/* URLs of upstreams. */
#include "rule/url.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

/* What may stand in a path or a query; '#' ends them. */
static bool is_sound(const char *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (p[i] <= ' ' || p[i] >= 0x7f || strchr("\"<>\\^`{|}", p[i]))
			return false;
	return true;
}

static size_t span_to(const char *p, size_t n, const char *ends)
{
	size_t i = 0;

	while (i < n && !strchr(ends, p[i]))
		i++;
	return i;
}

static bool has_prefix(const char *p, size_t n, const char *prefix)
{
	size_t len = strlen(prefix);

	return n >= len && strncasecmp(p, prefix, len) == 0;
}

/* Does it begin with a scheme, "NAME:"? */
static bool has_scheme(const char *p, size_t n)
{
	size_t i = span_to(p, n, ":/?#");

	return i > 0 && i < n && p[i] == ':';
}

/* Take "/a/../b?query#fragment" apart. */
static bool set_rest(struct kz_url *u, const char *p, size_t n)
{
	size_t whole = span_to(p, n, "#"), path = span_to(p, whole, "?");
	size_t fragment = whole < n ? n - whole - 1 : 0, at = 0, i = 0;

	if (whole + 1 >= sizeof u->path || fragment >= sizeof u->fragment)
		return false;
	while (i < path) {
		size_t next = i + 1 + span_to(p + i + 1, path - i - 1, "/");
		size_t len = next - i - 1;
		bool is_last = next >= path;

		if (len == 2 && memcmp(p + i, "/..", 3) == 0) {
			while (at > 0 && u->path[--at] != '/')
				;
		} else if (!(len == 1 && p[i + 1] == '.')) {
			memcpy(u->path + at, p + i, len + 1);
			at += len + 1;
			is_last = false;
		}
		if (is_last)
			u->path[at++] = '/';
		i = next;
	}
	if (at == 0)
		u->path[at++] = '/';
	memcpy(u->path + at, p + path, whole - path);
	u->path[at + whole - path] = '\0';
	if (fragment)
		memcpy(u->fragment, p + whole + 1, fragment);
	u->fragment[fragment] = '\0';
	return true;
}

/* After "//": HOST[:PORT] and the rest. */
static bool set_authority(struct kz_url *u, const char *p, size_t n)
{
	size_t host = span_to(p, n, "/?#");

	if (kz_target_parse(p, host, u->is_https ? 443 : 80, &u->at) != KZ_R_NONE)
		return false;
	return set_rest(u, p + host, n - host);
}

bool kz_url_parse(const char *p, size_t n, struct kz_url *u)
{
	struct kz_url made;

	if (!is_sound(p, n))
		return false;
	memset(&made, 0, sizeof made);
	made.is_https = has_prefix(p, n, "https://");
	if (!made.is_https && !has_prefix(p, n, "http://"))
		return false;
	p += made.is_https ? 8 : 7;
	n -= made.is_https ? 8 : 7;
	if (!set_authority(&made, p, n))
		return false;
	*u = made;
	return true;
}

/* The path of the page up to its last '/', then the reference. */
static bool set_merged(struct kz_url *u, const struct kz_url *base, const char *p, size_t n)
{
	char text[KZ_URL_PATH + KZ_URL_FRAGMENT];
	size_t path = strcspn(base->path, "?"), keep;

	if (n == 0 || *p == '#')
		keep = strlen(base->path);
	else if (*p == '?')
		keep = path;
	else
		for (keep = path; keep > 0 && base->path[keep - 1] != '/'; keep--)
			;
	if (keep + n >= sizeof text)
		return false;
	memcpy(text, base->path, keep);
	memcpy(text + keep, p, n);
	return set_rest(u, text, keep + n);
}

bool kz_url_resolve(const struct kz_url *base, const char *p, size_t n, struct kz_url *u)
{
	struct kz_url made;
	bool is_made;

	if (has_scheme(p, n))
		return kz_url_parse(p, n, u);
	if (!is_sound(p, n))
		return false;
	made = *base;
	if (n >= 2 && p[0] == '/' && p[1] == '/')
		is_made = set_authority(&made, p + 2, n - 2);
	else if (n > 0 && *p == '/')
		is_made = set_rest(&made, p, n);
	else
		is_made = set_merged(&made, base, p, n);
	if (is_made)
		*u = made;
	return is_made;
}

void kz_url_print(const struct kz_url *u, char out[KZ_URL_TEXT])
{
	char authority[KZ_AUTHORITY_TEXT];

	kz_target_print(&u->at, authority);
	if (u->at.port == (u->is_https ? 443 : 80))
		*strrchr(authority, ':') = '\0';
	(void)snprintf(out, KZ_URL_TEXT, "http%s://%s%s", u->is_https ? "s" : "", authority,
		       u->path);
}

bool kz_url_same_origin(const struct kz_url *a, const struct kz_url *b)
{
	return a->is_https == b->is_https && a->at.port == b->at.port &&
	       kz_target_same_host(&a->at, &b->at);
}

bool kz_url_append(struct kz_url *u, const char *text)
{
	size_t len = strlen(u->path), n = strlen(text), path = strcspn(u->path, "?");

	if (len + n >= sizeof u->path)
		return false;
	memmove(u->path + path + n, u->path + path, len - path + 1);
	memcpy(u->path + path, text, n);
	return true;
}
