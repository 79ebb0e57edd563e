/* Cryptography over libsodium. */
#include "port/seal.h"

#include <sodium.h>
#include <string.h>

#include "base/str.h"

_Static_assert(sizeof(crypto_hash_sha256_state) <= sizeof(((struct kz_sha256 *)0)->state),
	       "the streaming state must hold libsodium's");
_Static_assert(crypto_hash_sha256_BYTES == KZ_SHA256_BYTES, "SHA-256 has 32 bytes");
_Static_assert(crypto_generichash_KEYBYTES == KZ_KEY_BYTES, "keys have 32 bytes");

enum kz_rc kz_seal_init(struct kz_err *err)
{
	if (sodium_init() < 0)
		return kz_err_set(err, KZ_E_OS, "cannot start the cryptography library");
	return KZ_OK;
}

void kz_secret_release(struct kz_secret *s)
{
	sodium_memzero(s, sizeof(*s));
}

void kz_random(void *p, size_t n)
{
	randombytes_buf(p, n);
}

void kz_random_id(char out[KZ_ID_HEX])
{
	unsigned char id[(KZ_ID_HEX - 1) / 2];

	randombytes_buf(id, sizeof(id));
	kz_hex_encode(id, sizeof(id), out);
}

bool kz_equal(const void *a, const void *b, size_t n)
{
	return sodium_memcmp(a, b, n) == 0;
}

void kz_sha256_hex(const void *p, size_t n, char out[KZ_SHA256_HEX])
{
	unsigned char digest[KZ_SHA256_BYTES];

	crypto_hash_sha256(digest, n > 0 ? p : (const void *)"", n);
	kz_hex_encode(digest, sizeof(digest), out);
}

static crypto_hash_sha256_state *sha_state(struct kz_sha256 *h)
{
	return (crypto_hash_sha256_state *)(void *)h->state;
}

void kz_sha256_start(struct kz_sha256 *h)
{
	crypto_hash_sha256_init(sha_state(h));
}

void kz_sha256_add(struct kz_sha256 *h, const void *p, size_t n)
{
	if (n > 0)
		crypto_hash_sha256_update(sha_state(h), p, n);
}

void kz_sha256_end(struct kz_sha256 *h, char out[KZ_SHA256_HEX])
{
	unsigned char digest[KZ_SHA256_BYTES];

	crypto_hash_sha256_final(sha_state(h), digest);
	kz_hex_encode(digest, sizeof(digest), out);
}

_Static_assert(sizeof(crypto_hash_sha512_state) <= sizeof(((struct kz_sha512 *)0)->state),
	       "the streaming state must hold libsodium's");

static crypto_hash_sha512_state *sha512_state(struct kz_sha512 *h)
{
	return (crypto_hash_sha512_state *)(void *)h->state;
}

void kz_sha512_start(struct kz_sha512 *h)
{
	crypto_hash_sha512_init(sha512_state(h));
}

void kz_sha512_add(struct kz_sha512 *h, const void *p, size_t n)
{
	if (n > 0)
		crypto_hash_sha512_update(sha512_state(h), p, n);
}

void kz_sha512_end(struct kz_sha512 *h, char out[KZ_SHA512_HEX])
{
	unsigned char digest[64];

	crypto_hash_sha512_final(sha512_state(h), digest);
	kz_hex_encode(digest, sizeof(digest), out);
}

/* Each field after its length in eight bytes, so that no two lists of fields hash alike. */
static void hash_field(crypto_generichash_state *st, const char *field)
{
	uint64_t n = strlen(field);
	unsigned char len[8];

	for (size_t i = 0; i < sizeof(len); i++)
		len[i] = (unsigned char)(n >> (8 * i));
	crypto_generichash_update(st, len, sizeof(len));
	crypto_generichash_update(st, (const unsigned char *)field, n);
}

void kz_keyed_id(const struct kz_secret *key, const char *context, const char *const *fields,
		 size_t count, char out[KZ_ID_HEX])
{
	unsigned char id[(KZ_ID_HEX - 1) / 2];
	crypto_generichash_state st;

	crypto_generichash_init(&st, key->bytes, sizeof(key->bytes), sizeof(id));
	hash_field(&st, context);
	for (size_t i = 0; i < count; i++)
		hash_field(&st, fields[i]);
	crypto_generichash_final(&st, id, sizeof(id));
	sodium_memzero(&st, sizeof(st));
	kz_hex_encode(id, sizeof(id), out);
}

void kz_derive(const struct kz_secret *key, const char *context, struct kz_secret *out)
{
	crypto_generichash_state st;

	crypto_generichash_init(&st, key->bytes, sizeof(key->bytes), sizeof(out->bytes));
	hash_field(&st, "kz derive");
	hash_field(&st, context);
	crypto_generichash_final(&st, out->bytes, sizeof(out->bytes));
	sodium_memzero(&st, sizeof(st));
	out->is_set = true;
}
