/*
 * The tenant's system call filter, from denied.tbl.  Built once in process 1,
 * installed by each tenant's program before it is executed [RT-1].
 */
#ifndef KZ_WORKER_DENY_H
#define KZ_WORKER_DENY_H

#include <stddef.h>

#include "base/err.h"

struct kz_deny {
	void *program; /* BPF instructions */
	size_t count;
};

/* Build the filter. out: d->program is new. err: KZ_E_SOFTWARE */
enum kz_rc kz_deny_build(struct kz_deny *d, struct kz_err *err);
void kz_deny_release(struct kz_deny *d);

#endif
