/* Verifying grants. */
#include "core/egress/grant.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/egress/grant_text.h"
#include "rule/reason.h"

void kz_grant_audience(const char *deployment, char out[KZ_AUDIENCE_TEXT])
{
	snprintf(out, KZ_AUDIENCE_TEXT, "kz-proxy:%s", deployment);
}

/* No grant begins later than the clocks may differ, and none outlives its end. */
static enum kz_rc check_time(const struct kz_grant *g, int64_t now_s, struct kz_err *err)
{
	if (g->issued_s > now_s + KZ_GRANT_SKEW_S)
		return kz_refuse(err, KZ_R_GRANT_EARLY, "the grant begins in %" PRId64 " s",
				 g->issued_s - now_s);
	if (now_s >= g->expires_s)
		return kz_refuse(err, KZ_R_GRANT_EXPIRED, "the grant ended %" PRId64 " s ago",
				 now_s - g->expires_s);
	return KZ_OK;
}

static enum kz_rc check_signature(const struct kz_keyring *keys, const char *p, size_t n,
				  struct kz_buf *payload, struct kz_err *err)
{
	const struct kz_public *key = NULL;
	enum kz_rc rc = kz_keyring_find(keys, KZ_KEY_USE_GRANT, p, n, &key, err);

	if (!rc)
		rc = kz_token_verify(key, KZ_GRANT_ASSERTION, p, n, payload, err);
	if (rc == KZ_E_NO)
		return kz_refuse(err, KZ_R_GRANT_SIGNATURE,
				 "the signature of the grant does not verify");
	if (rc == KZ_E_DATA)
		return kz_refuse(err, KZ_R_GRANT_MALFORMED, "it is not a v4.public token");
	return rc;
}

enum kz_rc kz_grant_verify(const struct kz_keyring *keys, const char *audience, const char *p,
			   size_t n, int64_t now_s, struct kz_grant *out, struct kz_err *err)
{
	kz_auto_buf struct kz_buf payload = KZ_BUF_INIT(KZ_GRANT_MAX);
	char is_for[KZ_AUDIENCE_TEXT];
	struct kz_grant g;
	enum kz_rc rc;

	if (!keys || kz_keyring_count(keys) == 0)
		return kz_refuse(err, KZ_R_KEYS_MISSING, "there is no public key to verify with");
	if (n > KZ_GRANT_MAX)
		return kz_refuse(err, KZ_R_GRANT_MALFORMED, "it is longer than a grant can be");
	rc = check_signature(keys, p, n, &payload, err);
	if (!rc)
		rc = kz_grant_read(kz_buf_str(&payload), payload.len, &g, is_for, err);
	if (rc)
		return rc;
	if (strcmp(is_for, audience) != 0)
		return kz_refuse(err, KZ_R_GRANT_AUDIENCE, "the grant is for another deployment");
	rc = check_time(&g, now_s, err);
	if (!rc)
		*out = g;
	return rc;
}
