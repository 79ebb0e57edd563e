/* Making grants: for who holds grant.key. */
#include <string.h>

#include "core/egress/grant_text.h"
#include "port/seal-sign.h"
#include "rule/reason.h"

enum kz_rc kz_grant_mint(const struct kz_secret *key, const char *audience,
			 const struct kz_grant *g, struct kz_buf *out, struct kz_err *err)
{
	kz_auto_buf struct kz_buf payload = KZ_BUF_INIT(64 * 1024);
	kz_auto_buf struct kz_buf token = KZ_BUF_INIT(128 * 1024);
	char footer[KZ_FOOTER_TEXT];
	struct kz_public own;
	enum kz_rc rc;

	if (!kz_grant_is_sound(g))
		return kz_err_set(err, KZ_E_SOFTWARE,
				  "a grant with claims that no proxy takes is not made");
	kz_sign_public(key, &own);
	kz_key_footer(&own, footer);
	rc = kz_grant_write(audience, g, &payload, err);
	if (!rc)
		rc = kz_token_sign(key, payload.data, payload.len, footer, KZ_GRANT_ASSERTION,
				   &token, err);
	if (rc && rc != KZ_E_DATA)
		return rc;
	if (rc || token.len > KZ_GRANT_MAX)
		return kz_refuse(err, KZ_R_GRANT_TOO_LARGE,
				 "%zu hosts and %zu ranges do not fit into a grant of %d bytes",
				 g->scope.host_count, g->scope.cidr_count, KZ_GRANT_MAX);
	return kz_buf_add(out, token.data, token.len, err);
}
