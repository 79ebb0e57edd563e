/*
 * TCP listeners at an ADDRESS:PORT of the settings or the command line.  Layer 3.
 */
#ifndef KZ_CORE_CONF_LISTEN_H
#define KZ_CORE_CONF_LISTEN_H

#include "base/err.h"

/*
 * Listen; descriptors taken there inherit keep-alive, no delay, and that unsent data ends a connection after a minute.
 * in: where: a literal address with a port, IPv6 in brackets.  out: fd, non-blocking, close-on-exec
 * err: KZ_E_DATA (no ADDRESS:PORT), KZ_E_CANTCREAT (taken, not this machine's, not allowed)
 */
enum kz_rc kz_tcp_listen(const char *where, int backlog, int *fd, struct kz_err *err);

#endif
