/* Verifying capabilities. */
#include "core/files/capability.h"

#include <fcntl.h>
#include <string.h>

#include "base/date.h"
#include "base/fd.h"
#include "base/str.h"

#define KEYS_MAX 65536

static bool take_line(char *line, struct kz_app_keys *k)
{
	size_t n = strlen(line);

	while (n && (line[n - 1] == ' ' || line[n - 1] == '\t' || line[n - 1] == '\r'))
		line[--n] = '\0';
	if (!n || line[0] == '#')
		return true;
	return k->count < KZ_APP_KEYS_MOST &&
	       kz_paserk_parse(line, &k->keys[k->count++], NULL) == KZ_OK;
}

enum kz_rc kz_app_keys_read(const char *path, struct kz_app_keys *out, struct kz_err *err)
{
	kz_auto_buf struct kz_buf text = KZ_BUF_INIT(KEYS_MAX);
	struct kz_err why = KZ_ERR_INIT;
	char *save = NULL;

	*out = (struct kz_app_keys){ .count = 0 };
	if (!path || !*path)
		return kz_refuse(err, KZ_R_APP_KEYS_MISSING, NULL);
	if (kz_file_read(AT_FDCWD, path, &text, &why) != KZ_OK)
		return kz_refuse(err, KZ_R_APP_KEYS_MISSING, "the application's keys: %s",
				 why.text);
	if (text.len && strlen(text.data) == text.len)
		for (char *line = strtok_r(text.data, "\n", &save); line;
		     line = strtok_r(NULL, "\n", &save))
			if (!take_line(line, out))
				return kz_refuse(err, KZ_R_APP_KEYS_MISSING,
						 "%s is not a file of k4.public keys", path);
	return out->count ? KZ_OK : kz_refuse(err, KZ_R_APP_KEYS_MISSING, "%s holds no key", path);
}

static void set_time(struct kz_json *o, const char *key, int64_t s)
{
	char text[KZ_DATE_TEXT];

	kz_date_print(s, text);
	kz_json_set_str(o, key, text);
}

enum kz_rc kz_capability_claims(const struct kz_json *document, int64_t issued_s, int64_t expires_s,
				struct kz_buf *out, struct kz_err *err)
{
	kz_auto_json struct kz_json *o = kz_json_object();
	char sha256[KZ_SHA256_HEX];
	enum kz_rc rc = kz_turn_document_digest(document, sha256, err);

	if (rc != KZ_OK)
		return rc;
	kz_json_set_int(o, "v", 1);
	kz_json_set_str(o, "actor", kz_json_str(document, "actor", ""));
	kz_json_set_str(o, "conversation", kz_json_str(document, "conversation", ""));
	kz_json_set_str(o, "turn", kz_json_str(document, "turn", ""));
	kz_json_set_int(o, "position", kz_json_num(document, "admission_position", -1));
	kz_json_set_str(o, "audience_version", kz_json_str(document, "audience_version", ""));
	kz_json_set_str(o, "manifest_sha256", kz_json_str(document, "manifest_sha256", ""));
	kz_json_set_str(o, "document_sha256", sha256);
	set_time(o, "iat", issued_s);
	set_time(o, "exp", expires_s);
	return kz_json_write(o, out, err);
}

static enum kz_rc invalid(struct kz_err *err, const char *why)
{
	return kz_refuse(err, KZ_R_CAPABILITY_INVALID, "the capability %s", why);
}

/* The footer finds the key and is believed for nothing else: the signature covers it. */
static enum kz_rc check_signature(const struct kz_app_keys *keys, const char *token,
				  struct kz_capability *out, struct kz_buf *payload,
				  struct kz_err *err)
{
	kz_auto_buf struct kz_buf footer = KZ_BUF_INIT(KZ_FOOTER_TEXT);
	const struct kz_public *key = NULL;
	char text[KZ_FOOTER_TEXT];
	enum kz_rc rc = kz_token_footer(token, strlen(token), &footer, err);

	if (rc == KZ_E_OS)
		return rc;
	for (size_t i = 0; rc == KZ_OK && i < keys->count && !key; i++) {
		kz_key_footer(&keys->keys[i], text);
		if (strcmp(text, kz_buf_str(&footer)) == 0)
			key = &keys->keys[i];
	}
	if (rc != KZ_OK)
		return invalid(err, "is not a v4.public token");
	if (!key)
		return invalid(err, "names a key that is not the application's");
	kz_paserk_pid(key, out->kid);
	rc = kz_token_verify(key, KZ_CAPABILITY_ASSERTION, token, strlen(token), payload, err);
	if (rc == KZ_E_OS)
		return rc;
	return rc == KZ_OK ? KZ_OK : invalid(err, "has a signature that does not verify");
}

static enum kz_rc check_time(const struct kz_json *o, int64_t now_s, struct kz_capability *out,
			     struct kz_err *err)
{
	if (!kz_date_parse(kz_json_str(o, "iat", ""), &out->issued_s) ||
	    !kz_date_parse(kz_json_str(o, "exp", ""), &out->expires_s))
		return invalid(err, "has a time that is none");
	if (out->expires_s <= out->issued_s ||
	    out->expires_s - out->issued_s > KZ_CAPABILITY_LIFE_MOST)
		return invalid(err, "lives too long, or not at all");
	if (out->issued_s > now_s + KZ_GRANT_SKEW_S)
		return invalid(err, "begins later");
	if (now_s >= out->expires_s)
		return invalid(err, "has ended");
	return KZ_OK;
}

/* Which claim it is, for a person: that they differ is known already. */
static enum kz_rc tell_difference(const struct kz_json *claims, const struct kz_json *want,
				  struct kz_err *err)
{
	const char *key;

	for (size_t i = 0; (key = kz_json_key(want, i)); i++) {
		kz_auto_buf struct kz_buf a = KZ_BUF_INIT(KZ_CAPABILITY_MAX),
					  b = KZ_BUF_INIT(KZ_CAPABILITY_MAX);
		const struct kz_json *has = kz_json_get(claims, key);

		if (!has)
			return kz_refuse(err, KZ_R_CAPABILITY_MISSING, "the capability has no %s",
					 key);
		if (kz_json_write_canonical(has, &a, NULL) ||
		    kz_json_write_canonical(kz_json_get(want, key), &b, NULL) ||
		    strcmp(kz_buf_str(&a), kz_buf_str(&b)) != 0)
			return kz_refuse(err, KZ_R_CAPABILITY_INVALID,
					 "the capability is of another %s", key);
	}
	return invalid(err, "is not in its one form");
}

enum kz_rc kz_capability_verify(const struct kz_app_keys *keys, const struct kz_turn *t,
				int64_t now_s, struct kz_capability *out, struct kz_err *err)
{
	kz_auto_buf struct kz_buf payload = KZ_BUF_INIT(KZ_CAPABILITY_MAX),
				  want = KZ_BUF_INIT(2 * KZ_CAPABILITY_MAX);
	kz_auto_json struct kz_json *claims = NULL, *wanted = NULL;
	enum kz_rc rc;

	*out = (struct kz_capability){ .issued_s = 0 };
	rc = check_signature(keys, t->capability, out, &payload, err);
	if (rc != KZ_OK)
		return rc;
	kz_sha256_hex(t->capability, strlen(t->capability), out->sha256);
	if (kz_json_parse(kz_buf_str(&payload), payload.len, &claims, NULL) ||
	    !kz_json_is_object(claims))
		return invalid(err, "holds no claims");
	if (!kz_json_get(claims, "iat") || !kz_json_get(claims, "exp"))
		return kz_refuse(err, KZ_R_CAPABILITY_MISSING, "the capability has no %s",
				 kz_json_get(claims, "iat") ? "exp" : "iat");
	rc = check_time(claims, now_s, out, err);
	if (rc == KZ_OK)
		rc = kz_capability_claims(t->json, out->issued_s, out->expires_s, &want, err);
	if (rc != KZ_OK)
		return rc;
	if (want.len == payload.len && memcmp(want.data, payload.data, want.len) == 0)
		return KZ_OK;
	rc = kz_json_parse(kz_buf_str(&want), want.len, &wanted, err);
	return rc == KZ_OK ? tell_difference(claims, wanted, err) : rc;
}
