/*
 * Package tokens: what lets the installer of one run ask the package broker, for a few
 * minutes, and is of no use anywhere else.  "kzp1." and base64url of run, execution, end
 * and a keyed hash over the three.  kz-run mints, kz-gateway verifies; both read
 * STATE/keys/package.key.  A token stands in credentials only, never in a path: so it is
 * in no lock file and in no log.  Layer 3.
 * src: BRK-2, BRK-28, BRK-30
 */
#ifndef KZ_CORE_BROKER_TOKEN_H
#define KZ_CORE_BROKER_TOKEN_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "port/seal.h"

#define KZ_PKG_TOKEN_TEXT 81 /* with the final 0 */
#define KZ_PKG_TOKEN_MOST                                                                          \
	3600 /* s: no longer life is taken, as of SANDBOX_PACKAGE_TOKEN_TTL_SECONDS */

/* What a token says. */
struct kz_pkg_claims {
	char run[KZ_ID_HEX], execution[KZ_ID_HEX];
	int64_t expires_s; /* Unix time */
};

/*
 * Make a token.
 * in: key is package.key; run and execution: 32 lower-case hex digits; expires_s: Unix time
 * out: out, terminated. err: KZ_E_SOFTWARE for a malformed id or a time below 0. wait: never
 */
enum kz_rc kz_pkg_token_mint(const struct kz_secret *key, const char *run, const char *execution,
			     int64_t expires_s, char out[KZ_PKG_TOKEN_TEXT], struct kz_err *err);
/*
 * Verify p[0..n) at now_s (Unix time); only the spelling that kz_pkg_token_mint writes passes.
 * out: filled on KZ_OK only. err: package_token, whatever is wrong. wait: never; safe: any thread
 */
enum kz_rc kz_pkg_token_verify(const struct kz_secret *key, const char *p, size_t n, int64_t now_s,
			       struct kz_pkg_claims *out, struct kz_err *err);

#endif
