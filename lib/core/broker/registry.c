/* SANDBOX_PACKAGE_REGISTRIES. */
#include "core/broker/registry.h"

#include <string.h>

#include "base/str.h"
#include "port/json.h"
#include "rule/reason.h"

static enum kz_rc invalid(struct kz_err *err, enum kz_registry which, const char *what)
{
	return kz_refuse(err, KZ_R_REGISTRY_INVALID, "SANDBOX_PACKAGE_REGISTRIES: %s: %s",
			 kz_registry_name(which), what);
}

static bool take_url(const char *text, struct kz_url *u)
{
	size_t n;

	if (!text || !kz_url_parse(text, strlen(text), u) || *u->fragment || strchr(u->path, '?'))
		return false;
	n = strlen(u->path);
	if (u->path[n - 1] == '/')
		return true;
	return kz_url_append(u, "/");
}

static bool take_hosts(const struct kz_json *list, struct kz_registry_conf *r)
{
	if (!list)
		return true;
	if (!kz_json_is_array(list) || kz_json_count(list) > KZ_REGISTRY_HOSTS)
		return false;
	for (size_t i = 0; i < kz_json_count(list); i++) {
		const char *text = kz_json_str_value(kz_json_at(list, i));
		struct kz_target *t = &r->hosts[r->host_count];

		if (!kz_json_is_string(kz_json_at(list, i)))
			return false;
		if (kz_host_parse(text, strlen(text), t) != KZ_R_NONE &&
		    kz_target_parse(text, strlen(text), 0, t) != KZ_R_NONE)
			return false;
		r->host_count++;
	}
	return true;
}

static bool take_ranges(const struct kz_json *list, struct kz_registry_conf *r)
{
	if (!list)
		return true;
	if (!kz_json_is_array(list) || kz_json_count(list) > KZ_REGISTRY_RANGES)
		return false;
	for (size_t i = 0; i < kz_json_count(list); i++) {
		const char *text = kz_json_str_value(kz_json_at(list, i));

		if (!kz_json_is_string(kz_json_at(list, i)) ||
		    !kz_cidr_parse(text, strlen(text), &r->own[r->own_count]))
			return false;
		r->own_count++;
	}
	return true;
}

/* A text that may be left out. */
static bool take_text(const struct kz_json *o, const char *key, bool is_path, char *out,
		      size_t size)
{
	const struct kz_json *v = kz_json_get(o, key);
	const char *text = v ? kz_json_str_value(v) : "";

	out[0] = '\0';
	if (v && !kz_json_is_string(v))
		return false;
	return (!is_path || !*text || *text == '/') && !kz_str_has_control(text) &&
	       kz_str_copy(out, size, text, NULL) == KZ_OK;
}

static enum kz_rc take(const struct kz_json *o, enum kz_registry which, struct kz_registry_conf *r,
		       struct kz_err *err)
{
	const char *index = which == KZ_REGISTRY_PYPI ? "index" : "registry";
	const char *const keys[] = { index,           "hosts", "addresses", "user",
				     "password_file", "ca",    NULL };

	if (!o)
		return KZ_OK;
	if (!kz_json_is_object(o) || kz_json_only(o, keys, NULL) != KZ_OK)
		return invalid(err, which, "an unknown member, or no object");
	if (!take_url(kz_json_str(o, index, NULL), &r->index))
		return invalid(
			err, which,
			"its address is no http or https URL without user, query and fragment");
	if (!take_hosts(kz_json_get(o, "hosts"), r))
		return invalid(err, which, "hosts is no list of HOST and HOST:PORT");
	if (!take_ranges(kz_json_get(o, "addresses"), r))
		return invalid(err, which, "addresses is no list of ADDRESS/BITS");
	if (!take_text(o, "user", false, r->user, sizeof r->user) || strchr(r->user, ':'))
		return invalid(err, which, "user is no name");
	if (!take_text(o, "password_file", true, r->password_file, sizeof r->password_file) ||
	    !take_text(o, "ca", true, r->ca, sizeof r->ca))
		return invalid(err, which, "password_file and ca are absolute paths");
	if (*r->user && !*r->password_file)
		return invalid(err, which, "a user without password_file");
	r->is_set = true;
	return KZ_OK;
}

enum kz_rc kz_registries_parse(const char *json, struct kz_registries *out, struct kz_err *err)
{
	static const char *const keys[] = { "pypi", "npm", NULL };
	kz_auto_json struct kz_json *j = NULL;
	struct kz_registries r;
	enum kz_rc rc = KZ_OK;

	memset(&r, 0, sizeof r);
	memset(out, 0, sizeof *out);
	if (kz_json_parse(json, strlen(json), &j, NULL) != KZ_OK || !kz_json_is_object(j) ||
	    kz_json_only(j, keys, NULL) != KZ_OK)
		return kz_refuse(
			err, KZ_R_REGISTRY_INVALID,
			"SANDBOX_PACKAGE_REGISTRIES is no JSON object of \"pypi\" and \"npm\"");
	for (int k = 0; rc == KZ_OK && k < KZ_REGISTRIES; k++)
		rc = take(kz_json_get(j, keys[k]), (enum kz_registry)k, &r.of[k], err);
	if (rc == KZ_OK)
		*out = r;
	return rc;
}

bool kz_registries_any(const struct kz_registries *r)
{
	return r->of[KZ_REGISTRY_PYPI].is_set || r->of[KZ_REGISTRY_NPM].is_set;
}

bool kz_registry_allows(const struct kz_registry_conf *r, const struct kz_url *u)
{
	if (!r->is_set || (r->index.is_https && !u->is_https))
		return false;
	if (kz_target_same_host(&r->index.at, &u->at) && r->index.at.port == u->at.port)
		return true;
	for (size_t i = 0; i < r->host_count; i++) {
		uint16_t port = r->hosts[i].port ? r->hosts[i].port : u->is_https ? 443 : 80;

		if (kz_target_same_host(&r->hosts[i], &u->at) && port == u->at.port)
			return true;
	}
	return false;
}
