/*
 * One GET to a service of kz itself over its Unix socket: who asks kz-proxy or kz-gateway
 * how it is.  Not for strangers' servers.  Layer 0.
 */
#ifndef KZ_BASE_GET_H
#define KZ_BASE_GET_H

#include "base/buf.h"
#include "base/time.h"

/*
 * in: socket: its path; target: "/v1/health"
 * out: status of HTTP; body appended, as far as it came before the end of the connection
 * err: KZ_E_UNAVAILABLE (not there, no whole answer until the deadline; sys_errno EACCES when it may not be asked); KZ_E_DATA past b->max
 * wait: until the deadline
 */
enum kz_rc kz_unix_get(const char *socket, const char *target, struct kz_deadline until,
		       int *status, struct kz_buf *body, struct kz_err *err);

#endif
