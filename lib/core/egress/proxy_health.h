/*
 * The health answer of the proxy, on a thread and a socket of its own.  Layer 3.
 * src: GRANT-7, GRANT-8
 */
#ifndef KZ_CORE_EGRESS_PROXY_HEALTH_H
#define KZ_CORE_EGRESS_PROXY_HEALTH_H

#include "core/egress/proxy_conn.h"

struct kz_px_health {
	struct kz_px_shared *shared;
	pthread_t thread;
	int listener;
};

/* Answer GET /v1/health at the listener until shared->is_over. err: KZ_E_OS */
enum kz_rc kz_px_health_start(struct kz_px_health *h, struct kz_px_shared *s, int listener,
			      struct kz_err *err);
void kz_px_health_stop(struct kz_px_health *h);

#endif
