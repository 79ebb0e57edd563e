/* Reading revocations. */
#include "core/egress/revoke.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/date.h"
#include "base/fd.h"
#include "base/str.h"
#include "core/egress/revoked.h"
#include "port/json.h"
#include "rule/reason.h"

enum kz_rc kz_revoked_write(const struct kz_revoked *r, struct kz_buf *out, struct kz_err *err)
{
	kz_auto_json struct kz_json *o = kz_json_object();
	struct kz_json *list = kz_json_array();
	char text[KZ_DATE_TEXT];

	kz_json_set_int(o, "serial", r->serial);
	if (r->before_s > 0) {
		kz_date_print(r->before_s, text);
		kz_json_set_str(o, "before", text);
	}
	for (size_t i = 0; i < r->count; i++) {
		struct kz_json *one = kz_json_object();

		kz_date_print(r->list[i].expires_s, text);
		kz_json_set_str(one, "jti", r->list[i].execution);
		kz_json_set_str(one, "exp", text);
		kz_json_append(list, one);
	}
	kz_json_set(o, "executions", list);
	return kz_json_write(o, out, err);
}

static bool take_one(const struct kz_json *o, struct kz_revoked_one *out)
{
	const char *jti = kz_json_str(o, "jti", ""), *exp = kz_json_str(o, "exp", "");

	return strlen(jti) == KZ_ID_HEX - 1 && strspn(jti, "0123456789abcdef") == KZ_ID_HEX - 1 &&
	       kz_date_parse(exp, &out->expires_s) &&
	       !kz_str_copy(out->execution, sizeof(out->execution), jti, NULL);
}

static bool take_payload(const struct kz_json *o, struct kz_revoked *out)
{
	const struct kz_json *list = kz_json_get(o, "executions"), *before;

	out->serial = kz_json_num(o, "serial", 0);
	out->before_s = 0;
	before = kz_json_get(o, "before");
	if (before && (!kz_json_is_string(before) ||
		       !kz_date_parse(kz_json_str_value(before), &out->before_s)))
		return false;
	out->count = kz_json_count(list);
	if (out->serial < 1 || !kz_json_is_array(list) || out->count > KZ_REVOKED_MOST)
		return false;
	for (size_t i = 0; i < out->count; i++)
		if (!take_one(kz_json_at(list, i), &out->list[i]) ||
		    (i > 0 && strcmp(out->list[i - 1].execution, out->list[i].execution) >= 0))
			return false;
	return true;
}

bool kz_revoked_take(const struct kz_public *key, const char *p, size_t n, struct kz_revoked *out)
{
	kz_auto_buf struct kz_buf payload = KZ_BUF_INIT(KZ_REVOKED_BYTES);
	kz_auto_buf struct kz_buf again = KZ_BUF_INIT(KZ_REVOKED_BYTES);
	kz_auto_json struct kz_json *o = NULL;

	if (n > 0 && p[n - 1] == '\n')
		n--;
	return !kz_token_verify(key, KZ_REVOCATION_ASSERTION, p, n, &payload, NULL) &&
	       !kz_json_parse(kz_buf_str(&payload), payload.len, &o, NULL) &&
	       take_payload(o, out) &&
	       /* nothing more than what was understood */
	       !kz_revoked_write(out, &again, NULL) && again.len == payload.len &&
	       memcmp(again.data, payload.data, again.len) == 0;
}

enum kz_rc kz_revoked_read(const char *path, const struct kz_keyring *keys, int64_t serial,
			   struct kz_revoked **out, struct kz_err *err)
{
	kz_auto_buf struct kz_buf text = KZ_BUF_INIT(KZ_REVOKED_BYTES);
	kz_auto_revoked struct kz_revoked *r = NULL;
	const struct kz_public *key = NULL;
	struct kz_err why = KZ_ERR_INIT;
	size_t n;

	if (kz_file_read(AT_FDCWD, path, &text, &why))
		return kz_refuse(err, KZ_R_REVOCATION_INVALID, "%s", why.text);
	r = malloc(sizeof(*r));
	if (!r)
		return kz_err_set(err, KZ_E_OS, "out of memory");
	n = text.len > 0 && text.data[text.len - 1] == '\n' ? text.len - 1 : text.len;
	if (kz_keyring_find(keys, KZ_KEY_USE_GRANT, kz_buf_str(&text), n, &key, NULL) ||
	    !kz_revoked_take(key, text.data, text.len, r))
		return kz_refuse(err, KZ_R_REVOCATION_INVALID,
				 "%s is not signed by the grant key of this deployment", path);
	if (r->serial < serial)
		return kz_refuse(err, KZ_R_REVOCATION_INVALID,
				 "%s has serial %" PRId64 ", which is older than %" PRId64, path,
				 r->serial, serial);
	*out = kz_take(r);
	return KZ_OK;
}

void kz_revoked_free(struct kz_revoked *r)
{
	free(r);
}

int64_t kz_revoked_serial(const struct kz_revoked *r)
{
	return r->serial;
}

size_t kz_revoked_count(const struct kz_revoked *r)
{
	return r->count;
}

int64_t kz_revoked_before(const struct kz_revoked *r)
{
	return r->before_s;
}

static int by_execution(const void *a, const void *b)
{
	return strcmp(a, ((const struct kz_revoked_one *)b)->execution);
}

bool kz_revoked_has(const struct kz_revoked *r, const struct kz_grant *g)
{
	return !r || g->issued_s < r->before_s ||
	       bsearch(g->execution, r->list, r->count, sizeof(r->list[0]), by_execution) != NULL;
}
