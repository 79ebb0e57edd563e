/* Signing of v4.public tokens over libsodium. */
#include "port/seal-sign.h"

#include <sodium.h>
#include <string.h>

_Static_assert(crypto_sign_SEEDBYTES == KZ_KEY_BYTES, "a key is a seed");

void kz_sign_public(const struct kz_secret *key, struct kz_public *out)
{
	unsigned char pair[crypto_sign_SECRETKEYBYTES];

	crypto_sign_ed25519_seed_keypair(out->bytes, pair, key->bytes);
	sodium_memzero(pair, sizeof(pair));
}

static void sign(const struct kz_secret *key, const struct kz_buf *message,
		 unsigned char signature[KZ_SIGNATURE_BYTES])
{
	unsigned char pair[crypto_sign_SECRETKEYBYTES];
	struct kz_public own;

	crypto_sign_ed25519_seed_keypair(own.bytes, pair, key->bytes);
	crypto_sign_ed25519_detached(signature, NULL, (const unsigned char *)message->data,
				     message->len, pair);
	sodium_memzero(pair, sizeof(pair));
}

enum kz_rc kz_token_sign(const struct kz_secret *key, const void *payload, size_t n,
			 const char *footer, const char *implicit, struct kz_buf *out,
			 struct kz_err *err)
{
	kz_auto_buf struct kz_buf body =
		KZ_BUF_INIT(n + strlen(footer) + strlen(implicit) + KZ_SIGNATURE_BYTES + 64);
	unsigned char signature[KZ_SIGNATURE_BYTES];
	enum kz_rc rc = kz_token_message(payload, n, footer, implicit, &body, err);

	if (!rc) {
		sign(key, &body, signature);
		kz_buf_clear(&body);
		rc = kz_buf_add(&body, payload, n, err);
	}
	if (!rc)
		rc = kz_buf_add(&body, signature, sizeof(signature), err);
	if (!rc)
		rc = kz_buf_puts(out, KZ_TOKEN_HEADER, err);
	if (!rc)
		rc = kz_token_base64(body.data, body.len, out, err);
	if (!rc && *footer)
		rc = kz_buf_puts(out, ".", err);
	return rc || !*footer ? rc : kz_token_base64(footer, strlen(footer), out, err);
}
