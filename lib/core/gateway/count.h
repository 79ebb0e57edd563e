/*
 * Counters that /metrics shows, in the text form of Prometheus.  A module asks for a
 * counter once, keeps the pointer and adds to it; nothing is ever taken away.  Layer 3.
 */
#ifndef KZ_CORE_GATEWAY_COUNT_H
#define KZ_CORE_GATEWAY_COUNT_H

#include <stdint.h>

#include "base/buf.h"

#define KZ_COUNTS 256

struct kz_counts;

/* out: new, NULL when memory is out */
struct kz_counts *kz_counts_new(void);
void kz_counts_free(struct kz_counts *c);
/*
 * The counter of this name and these labels, made at the first call.
 * in: name "kz_broker_files_total" and help static; labels "registry=\"pypi\"" or "", copied
 * out: borrowed as long as c lives; one that is shown nowhere when there are too many
 */
uint64_t *kz_count(struct kz_counts *c, const char *name, const char *labels, const char *help);
/* Append all of them, those of one name together, in the order of their making. err: KZ_E_DATA, KZ_E_OS */
enum kz_rc kz_counts_write(const struct kz_counts *c, struct kz_buf *b, struct kz_err *err);

#endif
