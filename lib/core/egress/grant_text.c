/* Claims to JSON and back. */
#include "core/egress/grant_text.h"

#include <string.h>

#include "base/date.h"
#include "base/str.h"
#include "port/json.h"
#include "rule/reason.h"

static enum kz_rc bad_claims(struct kz_err *err, const char *what)
{
	return kz_refuse(err, KZ_R_GRANT_CLAIMS, "the claims of the grant are not in order: %s",
			 what);
}

static bool is_hex(const char *s, size_t n)
{
	return strlen(s) == n && strspn(s, "0123456789abcdef") == n;
}

bool kz_grant_is_sound(const struct kz_grant *g)
{
	int64_t life = g->expires_s - g->issued_s;

	return is_hex(g->execution, KZ_ID_HEX - 1) && is_hex(g->run, KZ_ID_HEX - 1) &&
	       is_hex(g->actor, KZ_ID_HEX - 1) && is_hex(g->revision, KZ_REVISION_TEXT - 1) &&
	       kz_str_is_name(g->worker) && g->issued_s > 0 && life >= 1 &&
	       life <= KZ_GRANT_TTL_MOST &&
	       (uint64_t)g->uid_base + g->uid_count <= (uint64_t)UINT32_MAX &&
	       g->scope.mode != KZ_SCOPE_ISOLATED && kz_scope_is_sound(&g->scope);
}

static void set_time(struct kz_json *o, const char *key, int64_t s)
{
	char text[KZ_DATE_TEXT];

	kz_date_print(s, text);
	kz_json_set_str(o, key, text);
}

static void set_lists(struct kz_json *o, const struct kz_scope *s)
{
	struct kz_json *hosts = kz_json_array(), *cidrs = kz_json_array(), *ports = kz_json_array();
	char text[KZ_CIDR_TEXT];

	for (size_t i = 0; i < s->host_count; i++)
		kz_json_append(hosts, kz_json_string(s->hosts[i].host));
	for (size_t i = 0; i < s->cidr_count; i++) {
		kz_cidr_print(&s->cidrs[i], text);
		kz_json_append(cidrs, kz_json_string(text));
	}
	for (size_t i = 0; i < s->port_count; i++)
		kz_json_append(ports, kz_json_int(s->ports[i]));
	kz_json_set(o, "hosts", hosts);
	kz_json_set(o, "cidrs", cidrs);
	kz_json_set(o, "ports", ports);
}

enum kz_rc kz_grant_write(const char *audience, const struct kz_grant *g, struct kz_buf *out,
			  struct kz_err *err)
{
	kz_auto_json struct kz_json *o = kz_json_object();

	kz_json_set_str(o, "iss", "kz");
	kz_json_set_str(o, "aud", audience);
	set_time(o, "iat", g->issued_s);
	set_time(o, "nbf", g->issued_s);
	set_time(o, "exp", g->expires_s);
	kz_json_set_str(o, "jti", g->execution);
	kz_json_set_str(o, "run", g->run);
	kz_json_set_str(o, "actor", g->actor);
	kz_json_set_str(o, "worker", g->worker);
	kz_json_set_int(o, "uid_base", g->uid_base);
	kz_json_set_int(o, "uid_count", g->uid_count);
	kz_json_set_str(o, "mode", kz_scope_mode_name(g->scope.mode));
	set_lists(o, &g->scope);
	kz_json_set_str(o, "rev", g->revision);
	return kz_json_write(o, out, err);
}

static bool get_text(const struct kz_json *o, const char *key, char *out, size_t size)
{
	const char *s = kz_json_str(o, key, NULL);

	return s && !kz_str_copy(out, size, s, NULL);
}

static bool get_time(const struct kz_json *o, const char *key, int64_t *out)
{
	const char *s = kz_json_str(o, key, NULL);

	return s && kz_date_parse(s, out);
}

static bool get_id(const struct kz_json *o, const char *key, uint32_t *out)
{
	int64_t n = kz_json_num(o, key, -1);

	*out = (uint32_t)n;
	return n >= 0 && n <= (int64_t)UINT32_MAX;
}

static bool get_hosts(const struct kz_json *list, struct kz_scope *s)
{
	s->host_count = kz_json_count(list);
	if (s->host_count > KZ_SCOPE_HOSTS)
		return false;
	for (size_t i = 0; i < s->host_count; i++) {
		const char *text = kz_json_str_value(kz_json_at(list, i));

		if (!text || kz_host_parse(text, strlen(text), &s->hosts[i]) != KZ_R_NONE)
			return false;
	}
	return true;
}

static bool get_cidrs(const struct kz_json *list, struct kz_scope *s)
{
	s->cidr_count = kz_json_count(list);
	if (s->cidr_count > KZ_SCOPE_CIDRS)
		return false;
	for (size_t i = 0; i < s->cidr_count; i++) {
		const char *text = kz_json_str_value(kz_json_at(list, i));

		if (!text || !kz_cidr_parse(text, strlen(text), &s->cidrs[i]))
			return false;
	}
	return true;
}

static bool get_ports(const struct kz_json *list, struct kz_scope *s)
{
	s->port_count = kz_json_count(list);
	if (s->port_count > KZ_SCOPE_PORTS)
		return false;
	for (size_t i = 0; i < s->port_count; i++) {
		int64_t n = kz_json_int_value(kz_json_at(list, i));

		if (n < 1 || n > 65535)
			return false;
		s->ports[i] = (uint16_t)n;
	}
	return true;
}

static bool get_scope(const struct kz_json *o, struct kz_scope *s)
{
	return kz_scope_mode_parse(kz_json_str(o, "mode", NULL), &s->mode) &&
	       get_hosts(kz_json_get(o, "hosts"), s) && get_cidrs(kz_json_get(o, "cidrs"), s) &&
	       get_ports(kz_json_get(o, "ports"), s);
}

static bool get_all(const struct kz_json *o, struct kz_grant *g, char audience[KZ_AUDIENCE_TEXT])
{
	return get_text(o, "aud", audience, KZ_AUDIENCE_TEXT) && get_time(o, "iat", &g->issued_s) &&
	       get_time(o, "exp", &g->expires_s) &&
	       get_text(o, "jti", g->execution, sizeof(g->execution)) &&
	       get_text(o, "run", g->run, sizeof(g->run)) &&
	       get_text(o, "actor", g->actor, sizeof(g->actor)) &&
	       get_text(o, "worker", g->worker, sizeof(g->worker)) &&
	       get_id(o, "uid_base", &g->uid_base) && get_id(o, "uid_count", &g->uid_count) &&
	       get_text(o, "rev", g->revision, sizeof(g->revision)) && get_scope(o, &g->scope);
}

enum kz_rc kz_grant_read(const char *p, size_t n, struct kz_grant *g,
			 char audience[KZ_AUDIENCE_TEXT], struct kz_err *err)
{
	kz_auto_json struct kz_json *o = NULL;
	kz_auto_buf struct kz_buf again = KZ_BUF_INIT(KZ_GRANT_MAX);
	enum kz_rc rc;

	memset(g, 0, sizeof(*g));
	if (kz_json_parse(p, n, &o, NULL) || !kz_json_is_object(o))
		return bad_claims(err, "they are no JSON object");
	if (!get_all(o, g, audience))
		return bad_claims(err, "one is missing or of another kind");
	if (!kz_grant_is_sound(g))
		return bad_claims(err, "one is out of range");
	/* What was not taken above (a claim too many, another order, another spelling) shows here. */
	rc = kz_grant_write(audience, g, &again, err);
	if (rc == KZ_E_OS)
		return rc;
	if (rc || again.len != n || memcmp(again.data, p, n) != 0)
		return bad_claims(err, "they are not in their one form");
	g->scope.ttl_s = (int32_t)(g->expires_s - g->issued_s);
	return KZ_OK;
}
