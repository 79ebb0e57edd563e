/* Taking a Valkey URL apart. */
#include "port/vk_url.h"

#include <string.h>

#include "base/str.h"

static enum kz_rc unsupported(struct kz_err *err, const char *what)
{
	/* The URL itself may hold a password, so it is never quoted. */
	kz_err_set(err, KZ_E_CONFIG, "KZ_VALKEY_URL: %s; use unix:PATH or valkey://HOST:PORT",
		   what);
	return kz_err_reason(err, "url_unsupported");
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* Copy s[0..n) with %XX decoded; false when it does not fit or is malformed. */
static bool take(const char *s, size_t n, char *out, size_t size)
{
	size_t w = 0;

	for (size_t i = 0; i < n; i++) {
		char c = s[i];

		if (c == '%') {
			int hi = n - i > 2 ? hex_digit(s[i + 1]) : -1;
			int lo = n - i > 2 ? hex_digit(s[i + 2]) : -1;

			if (hi < 0 || lo < 0 || hi + lo == 0)
				return false;
			c = (char)(hi * 16 + lo);
			i += 2;
		}
		if (w + 1 >= size)
			return false;
		out[w++] = c;
	}
	out[w] = 0;
	return true;
}

static bool number(const char *s, size_t n, int most, int *out)
{
	char text[16];
	int64_t v;

	if (n == 0 || n >= sizeof(text))
		return false;
	memcpy(text, s, n);
	text[n] = 0;
	if (kz_str_int(text, 0, most, &v, NULL))
		return false;
	*out = (int)v;
	return true;
}

static enum kz_rc parse_unix(const char *s, struct kz_vk_url *out, struct kz_err *err)
{
	const char *query = strchr(s, '?');
	size_t n = query ? (size_t)(query - s) : strlen(s);

	if (strncmp(s, "///", 3) == 0) { /* unix:///path is the same as unix:/path */
		s += 2;
		n -= 2;
	}
	if (*s != '/' || n >= sizeof(out->path))
		return unsupported(err,
				   "the socket path must be absolute and shorter than 108 bytes");
	memcpy(out->path, s, n);
	out->path[n] = 0;
	if (query &&
	    (strncmp(query, "?db=", 4) || !number(query + 4, strlen(query + 4), 65535, &out->db)))
		return unsupported(err, "malformed database number");
	return KZ_OK;
}

static enum kz_rc parse_login(const char *s, size_t n, struct kz_vk_url *out, struct kz_err *err)
{
	const char *colon = memchr(s, ':', n);

	if (!colon)
		return unsupported(err, "a login needs a password");
	if (!take(s, (size_t)(colon - s), out->user, sizeof(out->user)) ||
	    !take(colon + 1, n - (size_t)(colon + 1 - s), out->password, sizeof(out->password)) ||
	    !out->password[0])
		return unsupported(err, "malformed login");
	return KZ_OK;
}

static enum kz_rc parse_host(const char *s, size_t n, struct kz_vk_url *out, struct kz_err *err)
{
	const char *end = s + n, *port = NULL;
	size_t length;

	if (*s == '[') { /* IPv6 */
		const char *close = memchr(s, ']', n);

		if (!close || (close + 1 < end && close[1] != ':'))
			return unsupported(err, "malformed host");
		length = (size_t)(close - s) - 1;
		port = close + 1 < end ? close + 2 : NULL;
		s++;
	} else {
		const char *colon = memchr(s, ':', n);

		length = colon ? (size_t)(colon - s) : n;
		port = colon ? colon + 1 : NULL;
	}
	if (length == 0 || !take(s, length, out->host, sizeof(out->host)))
		return unsupported(err, "malformed host");
	out->port = 6379;
	if (port && (!number(port, (size_t)(end - port), 65535, &out->port) || out->port == 0))
		return unsupported(err, "malformed port");
	return KZ_OK;
}

enum kz_rc kz_vk_url_parse(const char *url, struct kz_vk_url *out, struct kz_err *err)
{
	const char *s, *slash, *at;
	size_t n;
	enum kz_rc rc;

	memset(out, 0, sizeof(*out));
	if (kz_str_has_control(url))
		return unsupported(err, "control character");
	if (kz_str_has_prefix(url, "unix:"))
		return parse_unix(url + 5, out, err);
	if (!kz_str_has_prefix(url, "valkey://"))
		return unsupported(err, "this form is not supported");
	s = url + 9;
	slash = strchr(s, '/');
	n = slash ? (size_t)(slash - s) : strlen(s);
	if (strchr(s, '?') || strchr(s, '#'))
		return unsupported(err, "options are not supported");
	at = memrchr(s, '@', n);
	if (at) {
		rc = parse_login(s, (size_t)(at - s), out, err);
		if (rc)
			return rc;
		n -= (size_t)(at + 1 - s);
		s = at + 1;
	}
	rc = parse_host(s, n, out, err);
	if (rc)
		return rc;
	if (slash && slash[1] && !number(slash + 1, strlen(slash + 1), 65535, &out->db))
		return unsupported(err, "malformed database number");
	return KZ_OK;
}
