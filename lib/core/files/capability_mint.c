/* Making capabilities: for who holds the application's key. */
#include "core/files/capability.h"
#include "port/seal-sign.h"

enum kz_rc kz_capability_mint(const struct kz_secret *key, const struct kz_json *document,
			      int64_t issued_s, int64_t expires_s, struct kz_buf *out,
			      struct kz_err *err)
{
	kz_auto_buf struct kz_buf payload = KZ_BUF_INIT(2 * KZ_CAPABILITY_MAX);
	char footer[KZ_FOOTER_TEXT];
	struct kz_public own;
	enum kz_rc rc = kz_capability_claims(document, issued_s, expires_s, &payload, err);

	if (rc != KZ_OK)
		return rc;
	kz_sign_public(key, &own);
	kz_key_footer(&own, footer);
	return kz_token_sign(key, payload.data, payload.len, footer, KZ_CAPABILITY_ASSERTION, out,
			     err);
}
