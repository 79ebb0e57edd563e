/*
 * Signals: one blocked set and one signalfd; no handlers in the library.  Layer 0.
 */
#ifndef KZ_BASE_SIG_H
#define KZ_BASE_SIG_H

#include "base/err.h"

/* Block the given signals (0-terminated list) and return a non-blocking, close-on-exec signalfd for them. */
enum kz_rc kz_sig_open(const int *signals, int *fd, struct kz_err *err);
/* Next pending signal number, 0 when there is none. */
int kz_sig_next(int fd);
/* In a child before exec: default actions, nothing blocked. safe: async-signal-safe */
void kz_sig_reset(void);

#endif
