/*
 * Capabilities: the application's signature over one turn, PASETO v4.public under its own
 * key.  Without one no scope document counts for anything.  Verifying links no signer
 * (capability_mint.c does).  Layer 3.
 * src: EXEC-19, PRJ-46, docs/files.md
 */
#ifndef KZ_CORE_FILES_CAPABILITY_H
#define KZ_CORE_FILES_CAPABILITY_H

#include <stdint.h>

#include "core/egress/grant.h"
#include "core/files/turn.h"

#define KZ_CAPABILITY_ASSERTION "kz scope 1"
#define KZ_CAPABILITY_LIFE_MOST 86400 /* s */
#define KZ_CAPABILITY_MAX 4096        /* bytes of a token */
#define KZ_APP_KEYS_MOST 16

/* The public keys of the application. */
struct kz_app_keys {
	struct kz_public keys[KZ_APP_KEYS_MOST];
	size_t count;
};
/* Read a file of k4.public texts, one a line; empty lines and lines of '#' are passed over. in: path "" or NULL: none is configured. err: app_keys_missing, also for a file that is not one or has none */
enum kz_rc kz_app_keys_read(const char *path, struct kz_app_keys *out, struct kz_err *err);

/* What a run remembers of a verified one; never the token itself [AUD-3]. */
struct kz_capability {
	char sha256[KZ_SHA256_HEX]; /* of the token */
	char kid[KZ_PASERK_PID_TEXT];
	int64_t issued_s, expires_s;
};
/*
 * Verify the capability of a document at now_s: signature, time, and every claim against
 * the document.
 * err: capability_missing (a claim is not there), capability_invalid. wait: never
 */
enum kz_rc kz_capability_verify(const struct kz_app_keys *keys, const struct kz_turn *t,
				int64_t now_s, struct kz_capability *out, struct kz_err *err);

/* The one spelling of the claims over a document. in: document: an object with the members of the claims. err: KZ_E_OS */
enum kz_rc kz_capability_claims(const struct kz_json *document, int64_t issued_s, int64_t expires_s,
				struct kz_buf *out, struct kz_err *err);
/*
 * Make one, for an application: over a document whose member "capability" does not count.
 * in: key: seed of an Ed25519 key. out: appended. Links port/seal-sign. err: KZ_E_OS
 */
enum kz_rc kz_capability_mint(const struct kz_secret *key, const struct kz_json *document,
			      int64_t issued_s, int64_t expires_s, struct kz_buf *out,
			      struct kz_err *err);

#endif
