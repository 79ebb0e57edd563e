/*
 * A jail for a program that reads what a tenant made: no file system (Landlock), no
 * network, no new process, no new descriptor to anything (seccomp), bounded memory and
 * processor time.  Called by the program itself, once its descriptors are open and before
 * its first byte of input.  What a kernel cannot do (Landlock before 5.13) is left out
 * and told (kz_landlock_version); the filter never is.  Layer 3.
 * src: WS-15
 */
#ifndef KZ_CORE_JAIL_JAIL_H
#define KZ_CORE_JAIL_JAIL_H

#include <stdint.h>

#include "base/err.h"

struct kz_jail_bounds {
	int64_t memory_bytes; /* address space; 0: none */
	int64_t cpu_seconds;  /* 0: none */
};
/*
 * Enter, for good.  What is allowed from then on: reading and writing what is open,
 * memory that is not executable, the clock, and to end.  All else fails with EPERM,
 * and a call of another architecture kills.  Descriptors above 2 stay open only when keep names them.
 * in: keep[0..count), need not be sorted. err: system_failed
 */
enum kz_rc kz_jail_enter(const struct kz_jail_bounds *b, const int *keep, size_t count,
			 struct kz_err *err);

#endif
