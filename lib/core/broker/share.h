/*
 * Cooldowns that the gateways of a deployment share, for a gateway that may not speak to
 * Valkey itself: whoever may, may do everything there, and end as any user that has no
 * password.  A process that keeps its rights and reads no stranger's byte takes one of
 * four fixed questions about one host, and answers with a number.  It chooses the server,
 * the keys, their values and how long they live; of the host it takes nothing but the one
 * spelling that rule/host writes, and it makes no more than so many keys.  Layer 3.
 * src: BRK-31, INV-30
 */
#ifndef KZ_CORE_BROKER_SHARE_H
#define KZ_CORE_BROKER_SHARE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "rule/host.h"

#define KZ_COOL_MS 15000    /* a host is not dialled [BRK-14] */
#define KZ_SUSPECT_MS 60000 /* so long after that one probe at a time */
#define KZ_PROBE_MS 8000    /* longer than a connection may take */

enum kz_share_what {
	KZ_SHARE_LEFT =
		'l', /* how long will it be left alone or suspected? out: ms; 0 and below: it is not */
	KZ_SHARE_FAILED = 'f',  /* it could not be reached */
	KZ_SHARE_PROBE = 'p',   /* may I be the one who probes? out: 1 yes, 0 no */
	KZ_SHARE_REACHED = 'r', /* it could */
};

struct kz_share;

/*
 * Start the process. To be called with one thread, before rights are given up; it reads the
 * settings of the state directory itself, then and whenever they change.
 * in: state: copied. own: kz_share_free. err: KZ_E_OS
 */
enum kz_rc kz_share_start(struct kz_share **out, const char *state, struct kz_err *err);
/*
 * Ask. After a question without an answer in time the next ones have none for five seconds.
 * out: n. false: nobody knows: Valkey does not answer, or the process is gone. wait: 250 ms
 */
bool kz_share_ask(struct kz_share *s, enum kz_share_what what, const struct kz_target *t,
		  int64_t *n);
/* Is the process gone? Then nothing is shared any more. wait: never */
bool kz_share_is_lost(struct kz_share *s);
/* That process ends too. NULL is fine. */
void kz_share_free(struct kz_share *s);

#endif
