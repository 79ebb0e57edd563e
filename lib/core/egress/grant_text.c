/* Claims to text. */
#include "core/egress/grant_text.h"

#include <string.h>

#include "base/date.h"
#include "base/str.h"
#include "port/json.h"

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
