/*
 * The system call filter of a worker, policy/seccomp/worker.json, in OCI form.
 * Everything that it does not name fails with ENOSYS, as on an older kernel, so
 * that programs fall back.  The tenant gets a stricter one on top from kz-worker.  Layer 3.
 */
#ifndef KZ_CORE_DRIVER_SECCOMP_H
#define KZ_CORE_DRIVER_SECCOMP_H

#include <stddef.h>

/* The file's text; not terminated. */
const char *kz_seccomp_worker(void);
size_t kz_seccomp_worker_size(void);

#endif
