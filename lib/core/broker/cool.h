/*
 * Hosts that could not be reached are left alone for a while: 15 s in which nobody dials,
 * then one probe whose success opens the host again.  Shared by the gateways of a
 * deployment through Valkey (KEY expires by itself); where Valkey does not answer, each
 * keeps its own.  Waits for Valkey for a tenth of a second at most, and then not
 * again for some seconds.  Layer 3.
 * src: BRK-14, BRK-15, BRK-31
 */
#ifndef KZ_CORE_BROKER_COOL_H
#define KZ_CORE_BROKER_COOL_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/time.h"
#include "rule/host.h"

#define KZ_COOL_MS 15000

struct kz_cool;

/* in: url of Valkey as kz_vk_open takes it, "" none; deployment: scope of the keys; both copied; it connects. wait: 1 s. own: kz_cool_free; NULL when memory is out */
struct kz_cool *kz_cool_new(const char *url, const char *deployment);
void kz_cool_free(struct kz_cool *c);
/* May this host be dialled now? True also for the one who probes. wait: 100 ms */
bool kz_cool_may(struct kz_cool *c, const struct kz_target *t);
/* It could not be reached; it was reached. wait: 100 ms */
void kz_cool_failed(struct kz_cool *c, const struct kz_target *t);
void kz_cool_reached(struct kz_cool *c, const struct kz_target *t);

#endif
