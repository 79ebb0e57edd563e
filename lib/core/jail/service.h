/*
 * The calls that a service gives up once it serves.  As root it leaves the file system
 * (base/cell), but the service of a user who is not root keeps that user's id: by a Unix socket
 * it could ask Valkey, or the user's own services, for what it may not open itself.  Layer 3.
 * src: PROXY-9, INV-30, BRK-5
 */
#ifndef KZ_CORE_JAIL_SERVICE_H
#define KZ_CORE_JAIL_SERVICE_H

#include "base/err.h"

/*
 * No new Unix socket, no other program, no signal to another process and no bound for it (others.h), no io_uring
 * (which makes sockets past a filter): EPERM.
 * in: one thread, no_new_privs is set. err: KZ_E_SOFTWARE, KZ_E_OS
 */
enum kz_rc kz_jail_service(struct kz_err *err);

#endif
