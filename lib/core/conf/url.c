/* KZ_VALKEY_URL: which forms are supported. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/str.h"
#include "core/conf/conf.h"
#include "rule/reason.h"

/* "HOST:PORT" after "valkey://": no user, no path, no query. */
static bool is_host_port(const char *s)
{
	const char *colon = strrchr(s, ':');
	const char *host_end = colon;
	int64_t port;

	if (!colon || colon == s || strpbrk(s, "/?#@ ,"))
		return false;
	/* An IPv6 address stands in brackets. */
	if (*s == '[') {
		if (colon[-1] != ']' ||
		    strspn(s + 1, "0123456789abcdefABCDEF:.") + 2 != (size_t)(host_end - s))
			return false;
	} else if (memchr(s, ':', (size_t)(colon - s))) {
		return false;
	}
	return kz_str_int(colon + 1, 1, 65535, &port, NULL) == KZ_OK;
}

enum kz_rc kz_conf_valkey_url(const struct kz_conf *c, char *out, size_t size, struct kz_err *err)
{
	const char *url = c->set.kz_valkey_url;

	if (!*url)
		return kz_str_format(out, size, err, "unix:%s/run/valkey.sock", c->state);
	if (kz_str_has_prefix(url, "unix:")) {
		if (url[5] != '/')
			return kz_refuse(err, KZ_R_SETTING_INVALID,
					 "KZ_VALKEY_URL: unix: needs an absolute path");
		if (strlen(url + 5) > 107)
			return kz_refuse(
				err, KZ_R_SETTING_INVALID,
				"KZ_VALKEY_URL: the path of a socket has at most 107 bytes");
		return kz_str_copy(out, size, url, err);
	}
	if (kz_str_has_prefix(url, "valkey://")) {
		/* The address may hold a password: it is not told. */
		if (!is_host_port(url + 9))
			return kz_refuse(
				err, KZ_R_URL_UNSUPPORTED,
				"KZ_VALKEY_URL: valkey://HOST:PORT is needed, without user, path or query");
		return kz_str_copy(out, size, url, err);
	}
	return kz_refuse(
		err, KZ_R_URL_UNSUPPORTED,
		"KZ_VALKEY_URL: unix:PATH and valkey://HOST:PORT are supported, not \"%.*s\"",
		(int)strcspn(url, ":"), url);
}

enum kz_rc kz_conf_valkey_there(const struct kz_conf *c, char *out, size_t size, struct kz_err *err)
{
	enum kz_rc rc = kz_conf_valkey_url(c, out, size, err);
	char told[300];

	if (rc == KZ_OK)
		rc = kz_conf_path(c, "run/controller.json", told, sizeof(told), err);
	if (rc != KZ_OK || *c->set.kz_valkey_url)
		return rc;
	/* kz down empties run/; where the controller's word is left, Valkey alone is gone. */
	if (access(out + strlen("unix:"), F_OK) != 0 && errno == ENOENT &&
	    access(told, F_OK) != 0 && errno == ENOENT)
		return kz_refuse(err, KZ_R_NOT_RUNNING, "kz is not running; start it with: kz up");
	return KZ_OK;
}
