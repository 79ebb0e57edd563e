/*
 * The addresses of this machine, which nobody reaches through the proxy.  Layer 3.
 * src: PROXY-8
 */
#ifndef KZ_CORE_EGRESS_SELF_H
#define KZ_CORE_EGRESS_SELF_H

#include <stdbool.h>
#include <stddef.h>

#include "rule/address.h"

/* The addresses of the interfaces, as they are now. out: false when they cannot be listed, or are more than most: then nothing may be dialled */
bool kz_self_addresses(struct kz_addr *out, size_t most, size_t *count);

#endif
