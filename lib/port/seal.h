/*
 * Cryptography: digests, keyed hashes, derivation, random bytes, comparison.
 * The only user of libsodium.  kz_seal_init must have succeeded first.  Layer 1.
 */
#ifndef KZ_PORT_SEAL_H
#define KZ_PORT_SEAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

#define KZ_KEY_BYTES 32
#define KZ_SHA256_BYTES 32
#define KZ_SHA256_HEX 65 /* with the final 0 */
#define KZ_ID_HEX 33     /* 128 bits in hex, with the final 0 */

/* A key in memory; has no printer.  kz_secret_release wipes it. */
struct kz_secret {
	uint8_t bytes[KZ_KEY_BYTES];
	bool is_set;
};

/* Start the library; may be called again. err: KZ_E_OS */
enum kz_rc kz_seal_init(struct kz_err *err);
/* Wipe a key. */
void kz_secret_release(struct kz_secret *s);

/* Fill p[0..n) with random bytes. */
void kz_random(void *p, size_t n);
/* A fresh 128-bit identifier or token in hex. */
void kz_random_id(char out[KZ_ID_HEX]);
/* Constant-time comparison of n bytes. */
bool kz_equal(const void *a, const void *b, size_t n);

/* SHA-256 (FIPS 180-4) of p[0..n), lower-case hex. */
void kz_sha256_hex(const void *p, size_t n, char out[KZ_SHA256_HEX]);
/* Streaming form. */
struct kz_sha256 {
	_Alignas(16) unsigned char state[128];
};
void kz_sha256_start(struct kz_sha256 *h);
void kz_sha256_add(struct kz_sha256 *h, const void *p, size_t n);
void kz_sha256_end(struct kz_sha256 *h, char out[KZ_SHA256_HEX]);
/* The same of SHA-512, for digests that others give. */
#define KZ_SHA512_HEX 129 /* with the final 0 */
struct kz_sha512 {
	_Alignas(16) unsigned char state[256];
};
void kz_sha512_start(struct kz_sha512 *h);
void kz_sha512_add(struct kz_sha512 *h, const void *p, size_t n);
void kz_sha512_end(struct kz_sha512 *h, char out[KZ_SHA512_HEX]);

/*
 * BLAKE2b keyed hash over length-prefixed fields (so that no two lists of fields
 * hash alike), hex of 16 bytes.  For identifiers [LEASE-17, WS-2].
 * in: context separates uses ("actor", "conversation", ...); fields are strings.
 */
void kz_keyed_id(const struct kz_secret *key, const char *context, const char *const *fields,
		 size_t count, char out[KZ_ID_HEX]);
/* Derive a sub-key from key for a context (BLAKE2b, one way). */
void kz_derive(const struct kz_secret *key, const char *context, struct kz_secret *out);

#endif
