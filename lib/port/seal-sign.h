/*
 * Signing of public tokens.  A port's part of its own (a .deps names port/seal-sign),
 * so that a program that must not sign does not hold the code for it either.  Layer 1.
 * src: GRANT-5, INV-30
 */
#ifndef KZ_PORT_SEAL_SIGN_H
#define KZ_PORT_SEAL_SIGN_H

#include "base/buf.h"
#include "port/seal.h"
#include "port/seal-token.h"

/* The public half of the Ed25519 key whose seed is key. */
void kz_sign_public(const struct kz_secret *key, struct kz_public *out);
/*
 * Append a v4.public token over payload[0..n).
 * in: key is the seed; footer and implicit may be "".
 * err: KZ_E_DATA past out->max, KZ_E_OS; out may then hold a part, which verifies as nothing
 */
enum kz_rc kz_token_sign(const struct kz_secret *key, const void *payload, size_t n,
			 const char *footer, const char *implicit, struct kz_buf *out,
			 struct kz_err *err);

#endif
