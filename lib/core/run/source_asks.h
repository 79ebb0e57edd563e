/*
 * Does a program's code ask for attached files, by the names of their contract?  A part
 * of core/run, included by nobody else.  Layer 3.
 * src: PRJ-19, PRJ-27, KRN-13
 */
#ifndef KZ_CORE_RUN_SOURCE_ASKS_H
#define KZ_CORE_RUN_SOURCE_ASKS_H

#include <stdbool.h>

#include "core/run/source.h"

/* err: KZ_E_OS */
enum kz_rc kz_source_asks(const struct kz_source *s, bool *out, struct kz_err *err);

#endif
