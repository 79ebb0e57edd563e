/*
 * The package broker: routes of kz-gateway that front the registries of Python and npm for
 * the installers of runs.  Nothing but what an index of the run's own named is handed
 * out, nothing leads elsewhere, and no worker learns where anything came from.
 * Layer 3.
 * src: BRK-1 to BRK-8, BRK-12 to BRK-15, BRK-27, BRK-28, BRK-30 to BRK-33
 */
#ifndef KZ_CORE_BROKER_BROKER_H
#define KZ_CORE_BROKER_BROKER_H

#include "core/broker/share.h"
#include "core/gateway/server.h"

struct kz_broker;

/*
 * Add /pypi/, /npm/ and /broker/ to a gateway; settings and keys of the state directory are
 * read now, before any jail, and again whenever they change.  Settings that make no sense refuse
 * what is asked, with their reason.
 * When share is lost, and nothing is under way, the loop is stopped, to be started anew.
 * in: all borrowed. own: kz_broker_free, before the gateway's. err: KZ_E_OS, KZ_E_UNAVAILABLE (no libcurl), KZ_E_SOFTWARE
 */
enum kz_rc kz_broker_new(struct kz_broker **out, struct kz_serve *s, struct kz_gw *g,
			 struct kz_share *share, const char *state, struct kz_err *err);
/*
 * A setting may have changed: look now, not at the next request.  When files changed that
 * are out of reach by then (a password, a key), the loop is stopped, to be started anew.
 */
void kz_broker_changed(struct kz_broker *b);
/* Give up what is under way. NULL is fine. */
void kz_broker_free(struct kz_broker *b);

#endif
