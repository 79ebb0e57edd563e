/*
 * Effects that tests can fail or crash at: every external effect passes a named
 * point (lib/base/sys.tbl).  In a normal build a point is nothing; in the fault
 * build (make FAULT=1) the environment KZ_FAULT="POINT:N:before|after|fail" ends
 * the process with SIGKILL, or makes the call fail with EIO, at its Nth passing;
 * "PROGRAM/POINT:N:..." does so only in the program of that name.  KZ_FAULT_TRACE=FILE
 * appends one line "PROGRAM/POINT:N" a passing, so that a test can walk them.
 * Layer 0.
 */
#ifndef KZ_BASE_SYS_H
#define KZ_BASE_SYS_H

#include <stdbool.h>

enum kz_sys_point {
#define X(name, what) KZ_SYS_##name,
#include "base/sys.tbl"
#undef X
	KZ_SYS_COUNT
};

#ifdef KZ_FAULT_BUILD
/* Pass a point before its effect; true: the effect must fail with errno EIO instead. */
bool kz_sys_before(enum kz_sys_point p);
/* Pass a point after its effect. */
void kz_sys_after(enum kz_sys_point p);
#else
static inline bool kz_sys_before(enum kz_sys_point p)
{
	(void)p;
	return false;
}
static inline void kz_sys_after(enum kz_sys_point p)
{
	(void)p;
}
#endif

/* The name of a point, static. */
const char *kz_sys_name(enum kz_sys_point p);

#endif
