/*
 * Readings of the tenant's cgroup through descriptors that the driver opened.
 * Everything is read with pread, so no file position is shared with anybody.
 */
#ifndef KZ_WORKER_GAUGE_H
#define KZ_WORKER_GAUGE_H

#include <stdint.h>

#include "worker/boot.h"

/* Each returns -1 when it cannot be read. wait: never */
int64_t kz_gauge_pids(const struct kz_boot *b);        /* tasks now */
int64_t kz_gauge_processes(const struct kz_boot *b);   /* processes now */
int64_t kz_gauge_pids_denied(const struct kz_boot *b); /* forks denied at the limit, ever */
int64_t kz_gauge_memory(const struct kz_boot *b);      /* memory now */
int64_t kz_gauge_oom_kills(const struct kz_boot *b);   /* processes killed for memory, ever */
int64_t kz_gauge_cpu_us(const struct kz_boot *b);      /* processor time, ever */
int64_t kz_gauge_peak(const struct kz_boot *b); /* highest memory since kz_gauge_peak_reset */
/*
 * Start the peak anew where the kernel can; no effect elsewhere.
 * out: what is charged already and counts in it from the beginning: files of the image that tenants before read
 * stay in memory, and on their account, until somebody needs the room
 */
int64_t kz_gauge_peak_reset(const struct kz_boot *b);
/*
 * Change the memory bound of the tenant's group: what packages take while it installs them, and afterwards in its
 * account, comes on top of what a program may have.
 * in: was: the bound now. out: 0, or -1 and errno: the bound is then as it was. No effect where the driver gave no file for it
 */
int kz_gauge_memory_bound(const struct kz_boot *b, int64_t was, int64_t bytes);

#endif
