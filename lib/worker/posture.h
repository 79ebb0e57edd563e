/*
 * The self-check of process 1: it looks at what the kernel says of it and of its
 * surroundings and believes nobody's configuration [RT-15].
 */
#ifndef KZ_WORKER_POSTURE_H
#define KZ_WORKER_POSTURE_H

#include "base/err.h"
#include "worker/boot.h"

struct kz_json;

/* Check everything. out: posture (new) as the driver and health report it. err: posture_failed naming the first thing that is off */
enum kz_rc kz_posture_check(const struct kz_boot *b, struct kz_json **posture, struct kz_err *err);

#endif
