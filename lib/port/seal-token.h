/*
 * Public tokens: PASETO v4.public (Ed25519 over a payload, a footer and an assertion
 * that is not in the token) and PASERK texts of public keys.  Verifying only: who
 * links this alone can make no token (the signer is port/seal-sign).  Strict: one
 * header, base64url without padding and in its one spelling, no empty footer.  Layer 1.
 * src: GRANT-5, GRANT-10, INV-30; the PASETO and PASERK specifications, version 4
 */
#ifndef KZ_PORT_SEAL_TOKEN_H
#define KZ_PORT_SEAL_TOKEN_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

#define KZ_TOKEN_HEADER "v4.public."
#define KZ_PUBLIC_BYTES 32
#define KZ_SIGNATURE_BYTES 64
#define KZ_PASERK_PUBLIC_TEXT 54 /* "k4.public." and 43, with the final 0 */
#define KZ_PASERK_PID_TEXT 52    /* "k4.pid." and 44, with the final 0 */

/* An Ed25519 public key. */
struct kz_public {
	uint8_t bytes[KZ_PUBLIC_BYTES];
};

/*
 * The footer of a token, decoded and NOT verified: only to find the key by.
 * in: p[0..n). out: replaces what is in footer; empty when the token has none.
 * err: KZ_E_DATA when p is not of the form of a v4.public token, or over footer->max; KZ_E_OS
 */
enum kz_rc kz_token_footer(const char *p, size_t n, struct kz_buf *footer, struct kz_err *err);
/*
 * The payload of a token that nobody vouches for: for what may be asked of a stranger's word alone.
 * out: payload replaces what is in the buffer; empty on any failure. err: KZ_E_DATA when p is not of that form, KZ_E_OS. wait: never
 */
enum kz_rc kz_token_payload_unverified(const char *p, size_t n, struct kz_buf *payload,
				       struct kz_err *err);
/*
 * Verify a token and take its payload.
 * in: p[0..n); implicit is the assertion that signer and verifier agree on, "" for none.
 * out: payload replaces what is in the buffer; empty on any failure.
 * err: KZ_E_DATA when p is not of that form, KZ_E_NO when the signature does not verify, KZ_E_OS. wait: never
 */
enum kz_rc kz_token_verify(const struct kz_public *key, const char *implicit, const char *p,
			   size_t n, struct kz_buf *payload, struct kz_err *err);

/* PASERK: k4.public.KEY of a key, the key of that text (err: KZ_E_DATA), and k4.pid.ID, which names it. */
void kz_paserk_public(const struct kz_public *key, char out[KZ_PASERK_PUBLIC_TEXT]);
enum kz_rc kz_paserk_parse(const char *text, struct kz_public *out, struct kz_err *err);
void kz_paserk_pid(const struct kz_public *key, char out[KZ_PASERK_PID_TEXT]);

/* For the signer: append the bytes that are signed (PASETO's pre-authentication encoding). in: payload[0..n). err: KZ_E_OS, KZ_E_DATA past out->max */
enum kz_rc kz_token_message(const void *payload, size_t n, const char *footer, const char *implicit,
			    struct kz_buf *out, struct kz_err *err);
/* For the signer: append base64url without padding of p[0..n). err: as kz_token_message */
enum kz_rc kz_token_base64(const void *p, size_t n, struct kz_buf *out, struct kz_err *err);

#endif
