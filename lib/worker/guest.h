/*
 * A worker whose kernel is its runtime's own (gVisor): what the driver cannot hand
 * in from outside is made inside.  Such a worker is used once, because this kernel
 * gives no evidence that could be compared.
 *
 * That kernel has namespaces and cgroups, but neither the new mount calls nor
 * pidfds nor openat2 (release-20240729), so the classic calls do that work here.
 */
#ifndef KZ_WORKER_GUEST_H
#define KZ_WORKER_GUEST_H

#include <stdbool.h>

#include "base/err.h"
#include "worker/boot.h"

/* What the kernel says of itself in its log: "gvisor", or "other"; static. */
const char *kz_guest_kernel(void);
/*
 * Make the listening control socket and the tenant's cgroups, and name their
 * descriptors in b.  err: posture_failed naming what this kernel does not give
 */
enum kz_rc kz_guest_prepare(struct kz_boot *b, struct kz_err *err);
/* As kz_mounts_enter_tenant, by mount(2). out: NULL, or the step that failed (static) and errno */
const char *kz_guest_enter_tenant(void);
/* Open a path beneath dir one component after the other, following no link and crossing no mount. out: descriptor or -1 and errno */
int kz_guest_open(int dir, const char *path, int flags, unsigned mode);

#endif
