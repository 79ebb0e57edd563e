/*
 * A jail for a program that is not ours: it reads its own file and the system's
 * libraries, and what was open before; it has no other file, no network, no other
 * process, no privilege, and bounded memory and processor time.  Called by the process
 * that then executes it.  Without Landlock (before Linux 5.13) there is no such jail, and
 * it is refused.  Layer 3.
 * src: CMP-5
 */
#ifndef KZ_CORE_JAIL_FOREIGN_H
#define KZ_CORE_JAIL_FOREIGN_H

#include "base/err.h"
#include "core/jail/jail.h"

/*
 * Enter, for good.  From then on execute works for the program, for the interpreter that its first line names, and for
 * the loader of libraries; /usr/lib and its kin can be read; a thread can be started, a process cannot.
 * A process of root becomes nobody (65534).  The working directory is "/".
 * in: program: absolute path. err: code_unreadable (no such file), system_failed
 */
enum kz_rc kz_jail_foreign(const char *program, const struct kz_jail_bounds *b, struct kz_err *err);

#endif
