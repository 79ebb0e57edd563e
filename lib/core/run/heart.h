/*
 * Heartbeats: a thread that renews a lease while its holder is busy [LEASE-11].
 *
 * Each beat reads the worker's clock, renews at Valkey, then extends the worker's
 * own deadline from that reading, so that the worker always ends first.  The time
 * until which the lease certainly holds is counted on CLOCK_BOOTTIME from before
 * the renewal was sent: a holder that stops then has stopped before the lease can
 * be given to anybody else, whatever hangs.  Layer 3.
 */
#ifndef KZ_CORE_RUN_HEART_H
#define KZ_CORE_RUN_HEART_H

#include <stdbool.h>

#include "base/auto.h"
#include "base/err.h"
#include "base/time.h"
#include "core/conf/conf.h"
#include "core/pool/authority.h"

struct kz_heart;

/*
 * Start beating. in: conf and lease are copied; sure is until when the lease holds
 *   (boot time before the acquire or renewal was sent, plus its ttl); period.
 */
enum kz_rc kz_heart_start(struct kz_heart **out, const struct kz_conf *conf,
			  const struct kz_lease *lease, struct kz_deadline sure,
			  struct kz_ms period, struct kz_err *err);
/* Readable once Valkey said that the lease is lost (borrowed). */
int kz_heart_lost_fd(const struct kz_heart *h);
/* Until when the lease certainly holds. */
struct kz_deadline kz_heart_sure_until(struct kz_heart *h);
/* Stop and free; waits for a beat under way, which is bounded. */
void kz_heart_free(struct kz_heart *h);
KZ_AUTO(kz_auto_heart_, struct kz_heart *, kz_heart_free)
#define kz_auto_heart kz_auto(kz_auto_heart_)

/* Connect to the worker of a lease; its place and secret come from the state directory. err: as kz_wk_open and kz_keys_read */
struct kz_wk;
enum kz_rc kz_lease_connect(const struct kz_conf *conf, const struct kz_lease *lease,
			    struct kz_deadline until, struct kz_wk **out, struct kz_err *err);

#endif
