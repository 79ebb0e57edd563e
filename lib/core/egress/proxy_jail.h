/*
 * What the proxy leaves behind before it takes the first byte.  Layer 3.
 * src: PROXY-9, INV-30
 */
#ifndef KZ_CORE_EGRESS_PROXY_JAIL_H
#define KZ_CORE_EGRESS_PROXY_JAIL_H

#include <sys/types.h>

#include "base/err.h"

/* Descriptors: as many as the hard limit bears, 65536 at most. out: how many */
size_t kz_px_raise_limit(void);
/*
 * As root: a mount namespace with STATE/public, STATE/env, STATE/audit and /etc alone (all
 * but the audit read-only), another user id, one group, no capability, no way to a new one.
 * For another user: no new privileges only.
 * in: one thread. err: KZ_E_OS; then the caller must end
 */
enum kz_rc kz_px_jail(const char *state, uid_t uid, gid_t gid, struct kz_err *err);

#endif
