/* KZ_OBJECTS_URL: which forms are supported. */
#include "core/conf/objects_url.h"

#include <string.h>

#include "base/str.h"
#include "rule/reason.h"

#define LOWER "abcdefghijklmnopqrstuvwxyz"
#define DIGITS "0123456789"
#define UPPER "ABCDEFGHIJKLMNOPQRSTUVWXYZ"

static enum kz_rc invalid(struct kz_err *err, const char *why)
{
	return kz_refuse(err, KZ_R_SETTING_INVALID, "KZ_OBJECTS_URL: %s", why);
}

/* Parts between slashes: none empty, none "." or "..", of these letters only. */
static bool are_parts(const char *s, size_t n, const char *letters)
{
	while (n > 0) {
		const char *slash = memchr(s, '/', n);
		size_t len = slash ? (size_t)(slash - s) : n;

		if (len == 0 || (s[0] == '.' && (len == 1 || (len == 2 && s[1] == '.'))))
			return false;
		for (size_t i = 0; letters && i < len; i++)
			if (!strchr(letters, s[i]))
				return false;
		if (!slash)
			return true;
		s += len + 1;
		n -= len + 1;
	}
	return false;
}

static enum kz_rc read_dir(const struct kz_conf *c, const char *path, struct kz_objects_url *out,
			   struct kz_err *err)
{
	out->is_absolute = *path == '/';
	if (!are_parts(path + out->is_absolute, strlen(path + out->is_absolute), NULL))
		return invalid(err, "dir: needs a path without empty parts, . and ..");
	if (out->is_absolute)
		return kz_str_copy(out->dir, sizeof(out->dir), path, err);
	if (!kz_str_has_prefix(path, "objects"))
		return invalid(err,
			       "dir: a path below the state directory begins with \"objects\"");
	return kz_str_format(out->dir, sizeof(out->dir), err, "%s/%s", c->state, path);
}

/* HOST[:PORT], of n bytes. */
static bool is_host(const char *s, size_t n)
{
	char text[256];
	size_t len;
	int64_t port;

	if (n == 0 || n >= sizeof(text))
		return false;
	memcpy(text, s, n);
	text[n] = '\0';
	if (*text == '[') {
		len = 1 + strspn(text + 1, DIGITS "abcdefABCDEF:.");
		if (len < 4 || text[len++] != ']')
			return false;
	} else {
		len = strspn(text, LOWER UPPER DIGITS ".-");
		if (len == 0 || *text == '.' || *text == '-')
			return false;
	}
	return !text[len] ||
	       (text[len] == ':' && kz_str_int(text + len + 1, 1, 65535, &port, NULL) == KZ_OK);
}

static bool is_bucket(const char *s, size_t n)
{
	return n >= 3 && n <= 63 && *s != '.' && *s != '-' && s[n - 1] != '.' && s[n - 1] != '-' &&
	       are_parts(s, n, LOWER DIGITS ".-") && !memchr(s, '/', n);
}

static enum kz_rc read_region(const char *query, struct kz_objects_url *out, struct kz_err *err)
{
	size_t n;

	if (!*query)
		return kz_str_copy(out->region, sizeof(out->region), "us-east-1", err);
	if (!kz_str_has_prefix(query, "?region="))
		return invalid(err, "after ? only region=REGION may follow");
	query += strlen("?region=");
	n = strspn(query, LOWER DIGITS "-");
	if (n == 0 || query[n] || n >= sizeof(out->region))
		return invalid(err, "a region is of letters, digits and -");
	return kz_str_copy(out->region, sizeof(out->region), query, err);
}

/* What follows "s3+http://" or "s3+https://". */
static enum kz_rc read_s3(const char *scheme, const char *s, struct kz_objects_url *out,
			  struct kz_err *err)
{
	size_t host = strcspn(s, "/?"), bucket, prefix;
	enum kz_rc rc;

	out->is_s3 = true;
	if (!is_host(s, host) || s[host] != '/')
		return invalid(err, "s3 needs HOST[:PORT]/BUCKET, without a user");
	bucket = strcspn(s + host + 1, "/?");
	if (!is_bucket(s + host + 1, bucket))
		return invalid(err,
			       "a bucket has 3 to 63 lower case letters, digits, dots and hyphens");
	rc = kz_str_format(out->base, sizeof(out->base), err, "%s://%.*s", scheme,
			   (int)(host + 1 + bucket), s);
	if (rc)
		return rc;
	s += host + 1 + bucket;
	if (*s == '/')
		s++;
	prefix = strcspn(s, "?");
	if (prefix > 0 && s[prefix - 1] == '/')
		return invalid(err, "a prefix does not end with /");
	if (prefix > 0 && (prefix > 250 || !are_parts(s, prefix, LOWER UPPER DIGITS "._-/")))
		return invalid(err, "a prefix is of parts of letters, digits, dots, _ and -");
	if (prefix > 0)
		rc = kz_str_format(out->prefix, sizeof(out->prefix), err, "%.*s/", (int)prefix, s);
	return rc ? rc : read_region(s + prefix, out, err);
}

enum kz_rc kz_conf_objects_url(const struct kz_conf *c, struct kz_objects_url *out,
			       struct kz_err *err)
{
	const char *url = c->set.kz_objects_url;

	memset(out, 0, sizeof(*out));
	if (kz_str_has_prefix(url, "dir:"))
		return read_dir(c, url + strlen("dir:"), out, err);
	if (kz_str_has_prefix(url, "s3+http://"))
		return read_s3("http", url + strlen("s3+http://"), out, err);
	if (kz_str_has_prefix(url, "s3+https://"))
		return read_s3("https", url + strlen("s3+https://"), out, err);
	return kz_refuse(err, KZ_R_URL_UNSUPPORTED,
			 "KZ_OBJECTS_URL: dir:PATH, s3+http:// and s3+https:// are supported");
}
