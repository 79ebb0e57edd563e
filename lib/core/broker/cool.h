/*
 * Hosts that could not be reached are left alone for a while: 15 s in which nobody dials,
 * then one probe whose success opens the host again.  Shared by the gateways of a
 * deployment through core/broker/share; where nothing is to be had from there, each keeps
 * its own.  Layer 3.
 * src: BRK-14, BRK-15, BRK-31
 */
#ifndef KZ_CORE_BROKER_COOL_H
#define KZ_CORE_BROKER_COOL_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/time.h"
#include "core/broker/share.h"
#include "rule/host.h"

struct kz_cool;

/* in: share: borrowed. own: kz_cool_free; NULL when memory is out */
struct kz_cool *kz_cool_new(struct kz_share *share);
void kz_cool_free(struct kz_cool *c);
/* May this host be dialled now? True also for the one who probes. wait: as kz_share_ask, twice */
bool kz_cool_may(struct kz_cool *c, const struct kz_target *t);
/* It could not be reached; it was reached. wait: as kz_share_ask */
void kz_cool_failed(struct kz_cool *c, const struct kz_target *t);
void kz_cool_reached(struct kz_cool *c, const struct kz_target *t);

#endif
