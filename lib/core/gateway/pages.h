/*
 * What operators get from kz-gateway: /healthz, /metrics, /keys, /status.json,
 * /gateway.json and the page at /.  To be looked at, and nothing else: there is no path
 * that changes anything.  Layer 3.
 * src: ADM-1 to ADM-3, ADM-5, ADM-8, DEP-5, GRANT-5
 */
#ifndef KZ_CORE_GATEWAY_PAGES_H
#define KZ_CORE_GATEWAY_PAGES_H

#include "core/gateway/facts.h"
#include "core/gateway/server.h"

/* How the TCP listener is. */
struct kz_gw_address {
	char at[64]; /* KZ_GATEWAY_LISTEN; "" for none */
	bool is_listening;
	enum kz_reason reason; /* why not; KZ_R_NONE: it is, or none is wanted */
	char text[160];        /* the same in words */
};

struct kz_pages;

/* Add the routes. in: state: the state directory; all borrowed. To be called before rights are given up. out: new. err: KZ_E_OS */
enum kz_rc kz_pages_new(struct kz_pages **out, struct kz_gw *g, struct kz_facts *f,
			const struct kz_gw_address *address, const char *state, struct kz_err *err);
/* After kz_gw_free. NULL is fine. */
void kz_pages_free(struct kz_pages *p);

/* Pure parts, for the routes and their tests. in: t: members NULL when not known */

/* {"v":1,"type":"health","ok":...,"reasons":[{"part","reason","text"}]}. own: new */
struct kz_json *kz_pages_health(const struct kz_told *t, const struct kz_gw_address *a);
/* The gauges of the pool, the queue, the services and the scope, in the text form of Prometheus. err: KZ_E_DATA, KZ_E_OS */
enum kz_rc kz_pages_gauges(const struct kz_told *t, struct kz_buf *b, struct kz_err *err);

#endif
