/*
 * Test-only ways past the walls: each makes exactly one surface of evidence dirty,
 * so that a test can show the reset refused for that surface and no other.  They
 * exist in the fault build only.
 */
#ifndef KZ_WORKER_DIRTY_H
#define KZ_WORKER_DIRTY_H

#include <stdbool.h>

#include "rule/evidence.h"
#include "worker/boot.h"
#include "worker/space.h"

#ifdef KZ_FAULT_BUILD
/* Before the census, in process 1. out: false when it could not be done */
bool kz_dirty_outside(enum kz_surface s, const struct kz_boot *b, const struct kz_space *space);
/* In the next tenant's first process. */
void kz_dirty_inside(int surface);
/* Processes that were put there for another surface's sake. */
int kz_dirty_processes(void);
#else
static inline bool kz_dirty_outside(enum kz_surface s, const struct kz_boot *b,
				    const struct kz_space *space)
{
	(void)s;
	(void)b;
	(void)space;
	return false;
}
static inline void kz_dirty_inside(int surface)
{
	(void)surface;
}
static inline int kz_dirty_processes(void)
{
	return 0;
}
#endif

#endif
