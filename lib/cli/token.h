/*
 * The token of a lease as a caller gives it: never in an argument list, where any
 * process of the machine could read it.  Layer 4.
 */
#ifndef KZ_CLI_TOKEN_H
#define KZ_CLI_TOKEN_H

#include <stdint.h>

#include "base/err.h"

#define KZ_TOKEN_TEXT 33

/* Read it from descriptor fd, or from KZ_LEASE_TOKEN when fd is -1. err: token_missing */
enum kz_rc kz_token_read(int64_t fd, char out[KZ_TOKEN_TEXT], struct kz_err *err);

#endif
