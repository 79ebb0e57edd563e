/* Public keys by key id, and the footer that names one. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fd.h"
#include "base/str.h"
#include "core/egress/grant.h"
#include "port/json.h"
#include "rule/reason.h"

#define FILE_MAX (64 * 1024)
#define KEYS_MOST 16 /* of one use: today's, and former ones if they are ever kept */
#define USES 2

#define FOOTER_HEAD "{\"kid\":\"k4.pid."
#define FOOTER_TAIL "\"}"

_Static_assert(sizeof(FOOTER_HEAD) - 1 + 44 + sizeof(FOOTER_TAIL) <= KZ_FOOTER_TEXT, "it fits");
_Static_assert(KZ_PASERK_PID_TEXT <= KZ_KID_TEXT, "a key id fits");

struct key {
	struct kz_public key;
	char kid[KZ_KID_TEXT];
	char footer[KZ_FOOTER_TEXT];
};

struct kz_keyring {
	struct key keys[USES][KEYS_MOST];
	size_t count[USES];
};

void kz_key_footer(const struct kz_public *key, char out[KZ_FOOTER_TEXT])
{
	char kid[KZ_PASERK_PID_TEXT];

	kz_paserk_pid(key, kid);
	snprintf(out, KZ_FOOTER_TEXT, "{\"kid\":\"%s\"}", kid);
}

/* One {"kid","key"}; the id must be the one of the key. */
static bool take_key(const struct kz_json *o, struct key *out)
{
	static const char *const members[] = { "kid", "key", NULL };
	char kid[KZ_PASERK_PID_TEXT];

	if (!kz_json_is_object(o) || kz_json_only(o, members, NULL) ||
	    kz_paserk_parse(kz_json_str(o, "key", ""), &out->key, NULL))
		return false;
	kz_paserk_pid(&out->key, kid);
	kz_key_footer(&out->key, out->footer);
	return strcmp(kid, kz_json_str(o, "kid", "")) == 0 &&
	       !kz_str_copy(out->kid, sizeof(out->kid), kid, NULL);
}

static bool take_keys(const struct kz_json *list, struct kz_keyring *k, enum kz_key_use use)
{
	size_t count = kz_json_count(list);

	if (!kz_json_is_array(list) || count > KEYS_MOST)
		return false;
	for (size_t i = 0; i < count; i++)
		if (!take_key(kz_json_at(list, i), &k->keys[use][k->count[use]++]))
			return false;
	return true;
}

static bool take_file(const struct kz_json *o, struct kz_keyring *k)
{
	static const char *const members[] = { "v", "grant", "receipt", NULL };

	return kz_json_is_object(o) && !kz_json_only(o, members, NULL) &&
	       kz_json_num(o, "v", 0) == 1 &&
	       take_keys(kz_json_get(o, "grant"), k, KZ_KEY_USE_GRANT) &&
	       take_keys(kz_json_get(o, "receipt"), k, KZ_KEY_USE_RECEIPT);
}

enum kz_rc kz_keyring_read(const char *path, struct kz_keyring **out, struct kz_err *err)
{
	kz_auto_buf struct kz_buf text = KZ_BUF_INIT(FILE_MAX);
	kz_auto_json struct kz_json *o = NULL;
	kz_auto_keyring struct kz_keyring *k = NULL;
	struct kz_err why = KZ_ERR_INIT;
	enum kz_rc rc = kz_seal_init(err);

	if (rc)
		return rc;
	rc = kz_file_read(AT_FDCWD, path, &text, &why);
	if (rc && rc != KZ_E_DATA)
		return kz_refuse(err, KZ_R_KEYS_MISSING, "the public keys cannot be read: %s",
				 why.text);
	k = calloc(1, sizeof(*k));
	if (!k)
		return kz_err_set(err, KZ_E_OS, "out of memory");
	if (rc || kz_json_parse(kz_buf_str(&text), text.len, &o, NULL) || !take_file(o, k))
		return kz_refuse(err, KZ_R_KEYS_INVALID, "%s is not a file of public keys", path);
	*out = kz_take(k);
	return KZ_OK;
}

void kz_keyring_free(struct kz_keyring *k)
{
	free(k);
}

size_t kz_keyring_count(const struct kz_keyring *k)
{
	return k->count[KZ_KEY_USE_GRANT];
}

const char *kz_keyring_kid(const struct kz_keyring *k, size_t index)
{
	return k->keys[KZ_KEY_USE_GRANT][index].kid;
}

bool kz_keyring_key(const struct kz_keyring *k, enum kz_key_use use, size_t index,
		    char kid[KZ_KID_TEXT], char key[KZ_PASERK_PUBLIC_TEXT])
{
	if (index >= k->count[use])
		return false;
	memcpy(kid, k->keys[use][index].kid, KZ_KID_TEXT);
	kz_paserk_public(&k->keys[use][index].key, key);
	return true;
}

/* Is it a footer that names some key, in the one spelling? */
static bool is_footer(const struct kz_buf *footer)
{
	static const size_t head = sizeof(FOOTER_HEAD) - 1, tail = sizeof(FOOTER_TAIL) - 1;
	static const char alphabet[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

	return footer->len == head + 44 + tail && memcmp(footer->data, FOOTER_HEAD, head) == 0 &&
	       memcmp(footer->data + head + 44, FOOTER_TAIL, tail) == 0 &&
	       strspn(footer->data + head, alphabet) == 44;
}

enum kz_rc kz_keyring_find(const struct kz_keyring *k, enum kz_key_use use, const char *p, size_t n,
			   const struct kz_public **out, struct kz_err *err)
{
	kz_auto_buf struct kz_buf footer = KZ_BUF_INIT(KZ_FOOTER_TEXT);
	enum kz_rc rc = kz_token_footer(p, n, &footer, err);

	if (rc == KZ_E_OS)
		return rc;
	if (rc || !is_footer(&footer))
		return kz_refuse(err, KZ_R_GRANT_MALFORMED,
				 "it is not a v4.public token whose footer names a key");
	for (size_t i = 0; i < k->count[use]; i++) {
		if (strcmp(k->keys[use][i].footer, footer.data) == 0) {
			*out = &k->keys[use][i].key;
			return KZ_OK;
		}
	}
	return kz_refuse(err, KZ_R_GRANT_KEY_UNKNOWN, "the key %.60s is not among the public keys",
			 footer.data);
}
