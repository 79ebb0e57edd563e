/*
 * STATE/public: what anybody may read of a deployment's keys, 0755.  keys.json (0644) holds
 * the public halves of grant.key and receipt.key as PASERK texts:
 * {"v":1,"grant":[{"kid":"k4.pid....","key":"k4.public...."}],"receipt":[...]}.  Layer 3.
 * src: GRANT-5, GRANT-6, PROXY-9, DEP-7
 */
#ifndef KZ_CORE_CONF_PUBLIC_H
#define KZ_CORE_CONF_PUBLIC_H

#include "base/err.h"

#define KZ_PUBLIC_KEYS "public/keys.json" /* below STATE */

/*
 * Write STATE/public/keys.json from the private keys, whole or not at all; nothing is
 * written when it says so already.  Links port/seal-sign.
 * err: as kz_keys_read; no_permission when the directory is not the caller's; KZ_E_CANTCREAT, KZ_E_IO
 */
enum kz_rc kz_public_write(const char *state, struct kz_err *err);

#endif
