/*
 * Asking kz-proxy how it is, over its health socket.  Layer 3.
 * src: GRANT-7, GRANT-8
 */
#ifndef KZ_CORE_EGRESS_HEALTH_H
#define KZ_CORE_EGRESS_HEALTH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/time.h"

#define KZ_PROXY_HEALTH_SOCKET "run/proxy-health.sock" /* below STATE */

/* What it said of itself. */
struct kz_proxy_health {
	bool is_ready;
	bool has_key;              /* the key id that was asked for is among its keys */
	int64_t revocation_serial; /* of the revocations it holds; 0: none */
	int64_t tunnels;
};

/*
 * GET /v1/health.
 * in: state directory; kid: the key id that must be there, NULL for none
 * out: filled on KZ_OK and on proxy_keyless
 * err: proxy_unreachable (no answer, or none that makes sense, until the deadline);
 * proxy_keyless (it holds no keys, or not that one); no_permission
 * wait: until the deadline
 */
enum kz_rc kz_proxy_health(const char *state, const char *kid, struct kz_deadline until,
			   struct kz_proxy_health *out, struct kz_err *err);

#endif
