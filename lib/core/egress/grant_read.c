/*
 * Claims from text.  There is one spelling, so no general parser is needed: each piece is
 * what kz_grant_write puts there or the claims are refused.  A grant is verified once, in
 * the way of a connection; this is a small part of what its signature costs.
 */
#include "core/egress/grant_text.h"

#include <string.h>

#include "base/date.h"
#include "base/str.h"
#include "rule/reason.h"

struct reader {
	const char *at, *end;
};

/* Exactly these bytes. */
static bool take(struct reader *r, const char *literal)
{
	size_t n = strlen(literal);

	if ((size_t)(r->end - r->at) < n || memcmp(r->at, literal, n) != 0)
		return false;
	r->at += n;
	return true;
}

/* "text" of printable ASCII that needs no escape, and is not too long. */
static bool take_text(struct reader *r, char *out, size_t size)
{
	size_t n = 0;

	if (!take(r, "\""))
		return false;
	for (; r->at < r->end && *r->at != '"'; r->at++) {
		if (*r->at < 0x20 || *r->at > 0x7e || *r->at == '\\' || n + 1 >= size)
			return false;
		out[n++] = *r->at;
	}
	out[n] = '\0';
	return take(r, "\"");
}

/* A decimal number without sign and leading zeros. */
static bool take_number(struct reader *r, uint32_t most, uint32_t *out)
{
	const char *first = r->at;
	uint64_t n = 0;

	for (; r->at < r->end && *r->at >= '0' && *r->at <= '9' && n <= most; r->at++)
		n = n * 10 + (uint64_t)(*r->at - '0');
	*out = (uint32_t)n;
	return r->at > first && n <= most && (*first != '0' || r->at == first + 1);
}

/* kz_date_parse knows a second spelling of the zone. */
static bool take_time(struct reader *r, int64_t *out)
{
	char text[KZ_DATE_TEXT], again[KZ_DATE_TEXT];

	if (!take_text(r, text, sizeof(text)) || !kz_date_parse(text, out))
		return false;
	kz_date_print(*out, again);
	return strcmp(text, again) == 0;
}

static bool take_host(struct reader *r, struct kz_scope *s)
{
	char text[sizeof(s->hosts[0].host)];
	struct kz_target *t = &s->hosts[s->host_count];

	return s->host_count++ < KZ_SCOPE_HOSTS && take_text(r, text, sizeof(text)) &&
	       kz_host_parse(text, strlen(text), t) == KZ_R_NONE && strcmp(t->host, text) == 0;
}

static bool take_cidr(struct reader *r, struct kz_scope *s)
{
	char text[KZ_CIDR_TEXT], again[KZ_CIDR_TEXT];
	struct kz_cidr *c = &s->cidrs[s->cidr_count];

	if (s->cidr_count++ >= KZ_SCOPE_CIDRS || !take_text(r, text, sizeof(text)) ||
	    !kz_cidr_parse(text, strlen(text), c))
		return false;
	kz_cidr_print(c, again);
	return strcmp(text, again) == 0;
}

static bool take_port(struct reader *r, struct kz_scope *s)
{
	uint32_t port;

	if (s->port_count >= KZ_SCOPE_PORTS || !take_number(r, UINT16_MAX, &port) || port == 0)
		return false;
	s->ports[s->port_count++] = (uint16_t)port;
	return true;
}

/* [] or [one,two]. */
static bool take_list(struct reader *r, struct kz_scope *s,
		      bool (*one)(struct reader *, struct kz_scope *))
{
	if (take(r, "[]"))
		return true;
	if (!take(r, "["))
		return false;
	do {
		if (!one(r, s))
			return false;
	} while (take(r, ","));
	return take(r, "]");
}

static bool take_times(struct reader *r, struct kz_grant *g)
{
	int64_t begin;

	return take(r, ",\"iat\":") && take_time(r, &g->issued_s) && take(r, ",\"nbf\":") &&
	       take_time(r, &begin) && begin == g->issued_s && take(r, ",\"exp\":") &&
	       take_time(r, &g->expires_s);
}

static bool take_names(struct reader *r, struct kz_grant *g)
{
	return take(r, ",\"jti\":") && take_text(r, g->execution, sizeof(g->execution)) &&
	       take(r, ",\"run\":") && take_text(r, g->run, sizeof(g->run)) &&
	       take(r, ",\"actor\":") && take_text(r, g->actor, sizeof(g->actor)) &&
	       take(r, ",\"worker\":") && take_text(r, g->worker, sizeof(g->worker)) &&
	       take(r, ",\"uid_base\":") && take_number(r, UINT32_MAX, &g->uid_base) &&
	       take(r, ",\"uid_count\":") && take_number(r, UINT32_MAX, &g->uid_count);
}

static bool take_scope(struct reader *r, struct kz_scope *s)
{
	char mode[32];

	return take(r, ",\"mode\":") && take_text(r, mode, sizeof(mode)) &&
	       kz_scope_mode_parse(mode, &s->mode) && take(r, ",\"hosts\":") &&
	       take_list(r, s, take_host) && take(r, ",\"cidrs\":") && take_list(r, s, take_cidr) &&
	       take(r, ",\"ports\":") && take_list(r, s, take_port);
}

enum kz_rc kz_grant_read(const char *p, size_t n, struct kz_grant *g,
			 char audience[KZ_AUDIENCE_TEXT], struct kz_err *err)
{
	struct reader r = { p, p + n };

	memset(g, 0, sizeof(*g));
	if (!take(&r, "{\"iss\":\"kz\",\"aud\":") || !take_text(&r, audience, KZ_AUDIENCE_TEXT) ||
	    !take_times(&r, g) || !take_names(&r, g) || !take_scope(&r, &g->scope) ||
	    !take(&r, ",\"rev\":") || !take_text(&r, g->revision, sizeof(g->revision)) ||
	    !take(&r, "}") || r.at != r.end)
		return kz_refuse(err, KZ_R_GRANT_CLAIMS,
				 "the claims of the grant are not in their one form");
	if (!kz_grant_is_sound(g))
		return kz_refuse(err, KZ_R_GRANT_CLAIMS, "a claim of the grant is out of range");
	g->scope.ttl_s = (int32_t)(g->expires_s - g->issued_s);
	return KZ_OK;
}
