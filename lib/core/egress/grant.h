/*
 * Egress grants: PASETO v4.public tokens over what one execution may reach.  Only
 * who holds the grant key can make one; the proxy holds public keys alone.  Layer 3.
 * src: GRANT-1 to GRANT-15, PROXY-9 to PROXY-11, INV-30, INV-31
 */
#ifndef KZ_CORE_EGRESS_GRANT_H
#define KZ_CORE_EGRESS_GRANT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/auto.h"
#include "base/buf.h"
#include "base/err.h"
#include "port/seal-token.h"
#include "port/seal.h"
#include "rule/scope.h"

#define KZ_GRANT_MAX 4096   /* bytes of a token; it fits a proxy's URL */
#define KZ_GRANT_SKEW_S 30  /* tolerance of clocks for the begin [GRANT-11]; none for the end */
#define KZ_KID_TEXT 64      /* PASERK k4.pid, with the final 0 */
#define KZ_REVISION_TEXT 65 /* SHA-256 of the canonical policy, hex, with the final 0 */

/* What a grant says. */
struct kz_grant {
	struct kz_scope scope;     /* mode, hosts, ranges, ports; narrowed if a hint did */
	char execution[KZ_ID_HEX]; /* jti: of this grant alone */
	char run[KZ_ID_HEX], actor[KZ_ID_HEX];
	char worker[64]; /* its name */
	uint32_t uid_base,
		uid_count; /* host ids of the worker; count 0: another identity than a peer's uid holds */
	char revision[KZ_REVISION_TEXT];
	int64_t issued_s, expires_s; /* Unix time */
};

struct kz_keyring; /* public keys by key id */

/* The assertions that are signed and not in the token: none verifies in another's place. */
#define KZ_GRANT_ASSERTION "kz grant 1"
#define KZ_RECEIPT_ASSERTION "kz receipt 1"
#define KZ_REVOCATION_ASSERTION "kz revocation 1"

#define KZ_AUDIENCE_TEXT 64 /* of a deployment, with the final 0 */
/* The audience of the proxies of a deployment: "kz-proxy:DEPLOYMENT". */
void kz_grant_audience(const char *deployment, char out[KZ_AUDIENCE_TEXT]);

/*
 * Make a token, canonical: the same grant gives the same bytes.
 * in: key is grant.key; audience as kz_grant_audience gives it; g->issued_s is now;
 * out: empty. err: grant_too_large; KZ_E_SOFTWARE for claims that no verifier would take
 * (a life over KZ_GRANT_TTL_MOST, an isolated scope, a malformed id). Links port/seal-sign
 */
enum kz_rc kz_grant_mint(const struct kz_secret *key, const char *audience,
			 const struct kz_grant *g, struct kz_buf *out, struct kz_err *err);
/*
 * Verify p[0..n) at now_s (Unix time) and take its claims; the only spelling that passes
 * is the one that kz_grant_mint writes.
 * out: filled on KZ_OK only. err (the operator's reasons):
 * grant_malformed, grant_key_unknown, grant_signature, grant_audience,
 * grant_early, grant_expired, grant_claims; keys_missing for an empty keyring. wait: never; safe: any thread
 */
enum kz_rc kz_grant_verify(const struct kz_keyring *keys, const char *audience, const char *p,
			   size_t n, int64_t now_s, struct kz_grant *out, struct kz_err *err);

/* Read STATE/public/keys.json (what "kz-grant keys" prints). own: kz_keyring_free. err: keys_missing, keys_invalid */
enum kz_rc kz_keyring_read(const char *path, struct kz_keyring **out, struct kz_err *err);
void kz_keyring_free(struct kz_keyring *k);
KZ_AUTO(kz_auto_keyring_, struct kz_keyring *, kz_keyring_free)
#define kz_auto_keyring kz_auto(kz_auto_keyring_)
/* The ids of the grant keys, for the health answer: index below count. */
size_t kz_keyring_count(const struct kz_keyring *k);
const char *kz_keyring_kid(const struct kz_keyring *k, size_t index);

/* What a key of the file signs. */
enum kz_key_use { KZ_KEY_USE_GRANT, KZ_KEY_USE_RECEIPT };
/* The texts of the index-th key of one use. out: false past the last */
bool kz_keyring_key(const struct kz_keyring *k, enum kz_key_use use, size_t index,
		    char kid[KZ_KID_TEXT], char key[KZ_PASERK_PUBLIC_TEXT]);
/*
 * The key that a token's footer {"kid":"k4.pid...."} names, among those of one use.
 * out: borrowed from k. err: grant_malformed (no such token or footer), grant_key_unknown
 */
enum kz_rc kz_keyring_find(const struct kz_keyring *k, enum kz_key_use use, const char *p, size_t n,
			   const struct kz_public **out, struct kz_err *err);
/* The footer that names a key. */
#define KZ_FOOTER_TEXT 64
void kz_key_footer(const struct kz_public *key, char out[KZ_FOOTER_TEXT]);

#endif
