/*
 * What a new installation is allowed.  Layer 3, for core/front only.
 */
#ifndef KZ_CORE_FRONT_SEED_H
#define KZ_CORE_FRONT_SEED_H

#include "core/conf/conf.h"

/*
 * The policy of a state directory: a new one (it has no deployment id yet) gets what is packaged
 * where nothing is set, and the vintage "fresh" last of all; one that stood before there was a
 * policy gets the vintage "upgrade" and nothing else, and so stays without network [POL-22].
 * err: as kz_conf_store
 */
enum kz_rc kz_front_seed(const struct kz_conf *c, const char *state, struct kz_err *err);

#endif
