/* What several verbs show and read. */
#include <stdio.h>
#include <string.h>

#include "verbs.h"
#include "base/date.h"
#include "base/str.h"
#include "core/audit/audit.h"
#include "core/conf/public.h"
#include "rule/reason.h"

const struct kz_column kz_grant_columns[] = {
	{ "execution", "execution", NULL },
	{ "run", "run", NULL },
	{ "actor", "actor", NULL },
	{ "worker", "worker", NULL },
	{ "uid_base", "uid base", NULL },
	{ "uid_count", "uid count", NULL },
	{ "mode", "mode", NULL },
	{ "hosts", "hosts", kz_format_list },
	{ "cidrs", "ranges", kz_format_list },
	{ "ports", "ports", kz_format_list },
	{ "revision", "revision", NULL },
	{ "issued_ms", "issued", kz_out_format_time },
	{ "expires_ms", "expires", kz_out_format_time },
	{ NULL, NULL, NULL },
};

void kz_format_list(const struct kz_json *value, char *out, size_t size)
{
	size_t at = 0;

	snprintf(out, size, "-");
	for (size_t i = 0; i < kz_json_count(value) && at < size; i++) {
		const struct kz_json *v = kz_json_at(value, i);
		const char *text = kz_json_str_value(v);
		int n = text ? snprintf(out + at, size - at, "%s%s", i ? ", " : "", text) :
			       snprintf(out + at, size - at, "%s%lld", i ? ", " : "",
					(long long)kz_json_int_value(v));

		at += n > 0 ? (size_t)n : 0;
	}
}

struct kz_json *kz_grant_object(const struct kz_grant *g, const char *token)
{
	struct kz_json *o = kz_out_object("grant"), *hosts = kz_json_array(),
		       *cidrs = kz_json_array(), *ports = kz_json_array();
	char text[KZ_CIDR_TEXT];

	for (size_t i = 0; i < g->scope.host_count; i++)
		kz_json_append(hosts, kz_json_string(g->scope.hosts[i].host));
	for (size_t i = 0; i < g->scope.cidr_count; i++) {
		kz_cidr_print(&g->scope.cidrs[i], text);
		kz_json_append(cidrs, kz_json_string(text));
	}
	for (size_t i = 0; i < g->scope.port_count; i++)
		kz_json_append(ports, kz_json_int(g->scope.ports[i]));
	kz_json_set_str(o, "execution", g->execution);
	kz_json_set_str(o, "run", g->run);
	kz_json_set_str(o, "actor", g->actor);
	kz_json_set_str(o, "worker", g->worker);
	kz_json_set_int(o, "uid_base", g->uid_base);
	kz_json_set_int(o, "uid_count", g->uid_count);
	kz_json_set_str(o, "mode", kz_scope_mode_name(g->scope.mode));
	kz_json_set(o, "hosts", hosts);
	kz_json_set(o, "cidrs", cidrs);
	kz_json_set(o, "ports", ports);
	kz_json_set_str(o, "revision", g->revision);
	kz_json_set_int(o, "issued_ms", g->issued_s * 1000);
	kz_json_set_int(o, "expires_ms", g->expires_s * 1000);
	if (token)
		kz_json_set_str(o, "token", token);
	return o;
}

enum kz_rc kz_grant_ring(const struct kz_conf *c, struct kz_keyring **out, struct kz_err *err)
{
	char path[512];
	enum kz_rc rc = kz_conf_path(c, KZ_PUBLIC_KEYS, path, sizeof(path), err);

	return rc ? rc : kz_keyring_read(path, out, err);
}

enum kz_rc kz_grant_time(const char *text, int64_t *s, struct kz_err *err)
{
	if (kz_date_parse(text, s))
		return KZ_OK;
	return kz_refuse(err, KZ_R_USAGE,
			 "a time is given as 2026-01-31T23:59:59Z, in UTC, not as %.40s", text);
}

enum kz_rc kz_grant_audit(const struct kz_conf *c, struct kz_audit **out, struct kz_err *err)
{
	char path[512];
	enum kz_rc rc = kz_conf_path(c, "audit/audit.db", path, sizeof(path), err);

	return rc ? rc : kz_audit_open(out, path, err);
}
