/* Public keys of receipts: one text, one a line, or keys.json. */
#include "core/receipt/keys.h"

#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "port/json.h"
#include "rule/reason.h"

static enum kz_rc add(struct kz_receipt_keys *k, const char *text, const char *kid,
		      struct kz_err *err)
{
	char pid[KZ_PASERK_PID_TEXT];
	struct kz_public *to = &k->keys[k->count];

	if (k->count == KZ_RECEIPT_KEYS)
		return kz_refuse(err, KZ_R_KEYS_INVALID, "more than %d keys", KZ_RECEIPT_KEYS);
	if (!text || kz_paserk_parse(text, to, NULL) != KZ_OK)
		return kz_refuse(err, KZ_R_KEYS_INVALID,
				 "key %zu is not a k4.public key, nor is this the name of a file",
				 k->count + 1);
	kz_paserk_pid(to, pid);
	if (kid && strcmp(kid, pid) != 0)
		return kz_refuse(err, KZ_R_KEYS_INVALID, "key %zu has the name of another key",
				 k->count + 1);
	k->count++;
	return KZ_OK;
}

static enum kz_rc take_json(struct kz_receipt_keys *k, const char *p, size_t n, struct kz_err *err)
{
	kz_auto_json struct kz_json *o = NULL;
	const struct kz_json *list;
	enum kz_rc rc = kz_json_parse(p, n, &o, NULL);

	list = kz_json_get(o, "receipt");
	if (rc == KZ_OK && (kz_json_num(o, "v", 0) != 1 || !kz_json_is_array(list)))
		rc = KZ_E_DATA;
	if (rc != KZ_OK)
		return kz_refuse(err, KZ_R_KEYS_INVALID, "not the JSON of kz-grant keys");
	for (size_t i = 0; rc == KZ_OK && i < kz_json_count(list); i++) {
		const struct kz_json *one = kz_json_at(list, i);

		rc = add(k, kz_json_str(one, "key", NULL), kz_json_str(one, "kid", ""), err);
	}
	return rc;
}

static enum kz_rc take_lines(struct kz_receipt_keys *k, const char *p, size_t n, struct kz_err *err)
{
	kz_auto_free char *text = calloc(n + 1, 1);
	char *save = NULL;
	enum kz_rc rc = KZ_OK;

	if (!text)
		return kz_err_set(err, KZ_E_OS, "memory is out");
	memcpy(text, p, n);
	if (strlen(text) != n)
		return kz_refuse(err, KZ_R_KEYS_INVALID, "the text of the keys holds a zero byte");
	for (char *line = strtok_r(text, "\r\n", &save); rc == KZ_OK && line;
	     line = strtok_r(NULL, "\r\n", &save))
		if (*line != '#')
			rc = add(k, line, NULL, err);
	return rc;
}

enum kz_rc kz_receipt_keys_parse(const char *text, size_t n, struct kz_receipt_keys **out,
				 struct kz_err *err)
{
	kz_auto_receipt_keys struct kz_receipt_keys *k = calloc(1, sizeof(*k));
	enum kz_rc rc = kz_seal_init(err);

	if (!k)
		return kz_err_set(err, KZ_E_OS, "memory is out");
	if (rc == KZ_OK)
		rc = n && text[0] == '{' ? take_json(k, text, n, err) : take_lines(k, text, n, err);
	if (rc == KZ_OK && k->count == 0)
		rc = kz_refuse(err, KZ_R_KEYS_INVALID, "there is no key of receipts in it");
	if (rc == KZ_OK)
		*out = kz_take(k);
	return rc;
}

void kz_receipt_keys_free(struct kz_receipt_keys *k)
{
	free(k);
}

const struct kz_public *kz_receipt_key_find(const struct kz_receipt_keys *k, const char *kid)
{
	char pid[KZ_PASERK_PID_TEXT];

	for (size_t i = 0; i < k->count; i++) {
		kz_paserk_pid(&k->keys[i], pid);
		if (strcmp(pid, kid) == 0)
			return &k->keys[i];
	}
	return NULL;
}
