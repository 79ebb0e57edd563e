/* Package tokens. */
#include "core/broker/token.h"

#include <inttypes.h>
#include <string.h>

#include "base/base64.h"
#include "base/str.h"
#include "rule/reason.h"

#define PREFIX "kzp1."
#define PREFIX_LEN (sizeof PREFIX - 1)
#define ID_BYTES 16
#define BODY_BYTES (ID_BYTES + ID_BYTES + 8 + ID_BYTES)

/* The bytes of a token, in their order. */
struct body {
	uint8_t run[ID_BYTES], execution[ID_BYTES], expires[8], mac[ID_BYTES];
};
_Static_assert(sizeof(struct body) == BODY_BYTES, "a token has no padding");
_Static_assert(PREFIX_LEN + (BODY_BYTES * 4 + 2) / 3 + 1 == KZ_PKG_TOKEN_TEXT,
	       "KZ_PKG_TOKEN_TEXT is what a token takes");

static void mac_of(const struct kz_secret *key, const struct kz_pkg_claims *c,
		   uint8_t mac[ID_BYTES])
{
	char end[24], hex[KZ_ID_HEX];
	const char *const fields[] = { c->run, c->execution, end };

	(void)kz_str_format(end, sizeof end, NULL, "%" PRId64, c->expires_s);
	kz_keyed_id(key, "package token", fields, 3, hex);
	(void)kz_hex_decode(hex, mac, ID_BYTES, NULL);
}

/* Lower-case hex alone: another spelling would be another token of the same run. */
static bool id_read(const char *text, char out[KZ_ID_HEX], uint8_t bytes[ID_BYTES])
{
	if (strlen(text) != KZ_ID_HEX - 1 || strspn(text, "0123456789abcdef") != KZ_ID_HEX - 1)
		return false;
	memcpy(out, text, KZ_ID_HEX);
	return kz_hex_decode(text, bytes, ID_BYTES, NULL) == KZ_OK;
}

enum kz_rc kz_pkg_token_mint(const struct kz_secret *key, const char *run, const char *execution,
			     int64_t expires_s, char out[KZ_PKG_TOKEN_TEXT], struct kz_err *err)
{
	struct kz_pkg_claims c = { .expires_s = expires_s };
	char text[KZ_BASE64_TEXT(BODY_BYTES) + 1];
	struct body b;

	out[0] = '\0';
	if (!id_read(run, c.run, b.run) || !id_read(execution, c.execution, b.execution) ||
	    expires_s < 0)
		return kz_err_set(err, KZ_E_SOFTWARE, "a package token needs two ids and an end");
	for (size_t i = 0; i < 8; i++)
		b.expires[i] = (uint8_t)((uint64_t)expires_s >> (56 - 8 * i));
	mac_of(key, &c, b.mac);
	kz_base64_encode(&b, sizeof b, text);
	text[strcspn(text, "=")] = '\0';
	for (char *p = text; *p; p++)
		*p = (char)(*p == '+' ? '-' : *p == '/' ? '_' : *p);
	return kz_str_format(out, KZ_PKG_TOKEN_TEXT, err, "%s%s", PREFIX, text);
}

static bool body_read(const char *p, size_t n, struct body *b)
{
	size_t len;

	return n == KZ_PKG_TOKEN_TEXT - 1 && memcmp(p, PREFIX, PREFIX_LEN) == 0 &&
	       kz_base64_decode(KZ_BASE64_URL, p + PREFIX_LEN, n - PREFIX_LEN, b, sizeof *b,
				&len) &&
	       len == sizeof *b;
}

enum kz_rc kz_pkg_token_verify(const struct kz_secret *key, const char *p, size_t n, int64_t now_s,
			       struct kz_pkg_claims *out, struct kz_err *err)
{
	struct kz_pkg_claims c;
	uint8_t mac[ID_BYTES];
	uint64_t end = 0;
	struct body b;

	if (!body_read(p, n, &b))
		return kz_refuse(err, KZ_R_PACKAGE_TOKEN, "this is no package token");
	for (size_t i = 0; i < 8; i++)
		end = end << 8 | b.expires[i];
	if (end > INT64_MAX)
		return kz_refuse(err, KZ_R_PACKAGE_TOKEN, "this is no package token");
	c.expires_s = (int64_t)end;
	kz_hex_encode(b.run, ID_BYTES, c.run);
	kz_hex_encode(b.execution, ID_BYTES, c.execution);
	mac_of(key, &c, mac);
	if (!kz_equal(mac, b.mac, ID_BYTES))
		return kz_refuse(err, KZ_R_PACKAGE_TOKEN, "the package token is not of this key");
	if (c.expires_s <= now_s)
		return kz_refuse(err, KZ_R_PACKAGE_TOKEN, "the package token has ended");
	if (c.expires_s - now_s > KZ_PKG_TOKEN_MOST)
		return kz_refuse(err, KZ_R_PACKAGE_TOKEN, "the package token lives too long");
	*out = c;
	return KZ_OK;
}
