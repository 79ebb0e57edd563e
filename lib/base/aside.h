/*
 * A process beside a service that keeps the rights which the service is about to give up:
 * it does one thing for it, when it is asked by the one descriptor that joins them, and
 * ends with it.  Layer 0.
 * src: INV-30
 */
#ifndef KZ_BASE_ASIDE_H
#define KZ_BASE_ASIDE_H

#include "base/err.h"

/* What it does; it ends when this returns. in: fd: blocking; its end means that the service is gone; arg: as it was at the start */
typedef void (*kz_aside_fn)(int fd, const void *arg);

/*
 * Start one. To be called with one thread, before rights are given up, and before anything is read that it need not hold.
 * It has none of the service's descriptors but 0 to 2, no blocked signals, and a name of its own.
 * in: name: at most 15 bytes; type: SOCK_STREAM or SOCK_SEQPACKET
 * out: fd: non-blocking, close-on-exec; the caller's, and its closing ends the process. err: KZ_E_OS
 */
enum kz_rc kz_aside_start(const char *name, int type, kz_aside_fn run, const void *arg, int *fd,
			  struct kz_err *err);

#endif
