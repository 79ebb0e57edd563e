/* Signing a receipt. */
#include "core/receipt/receipt.h"

#include "base/str.h"
#include "port/json.h"
#include "port/seal-sign.h"

enum kz_rc kz_receipt_sign(const struct kz_secret *key, const struct kz_json *claims,
			   struct kz_buf *out, struct kz_err *err)
{
	kz_auto_buf struct kz_buf payload = KZ_BUF_INIT(KZ_RECEIPT_MAX);
	char pid[KZ_PASERK_PID_TEXT], footer[KZ_PASERK_PID_TEXT + 16];
	struct kz_public half;
	enum kz_rc rc = kz_json_write(claims, &payload, err);

	kz_sign_public(key, &half);
	kz_paserk_pid(&half, pid);
	if (rc == KZ_OK)
		rc = kz_str_format(footer, sizeof(footer), err, "{\"kid\":\"%s\"}", pid);
	return rc == KZ_OK ? kz_token_sign(key, payload.data, payload.len, footer,
					   KZ_RECEIPT_ASSERTION, out, err) :
			     rc;
}
