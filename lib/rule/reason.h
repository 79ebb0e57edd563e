/*
 * Reasons: every refusal and fault has a code of its own from
 * policy/reasons.tbl, which also gives its exit status.  Layer 2, pure.
 */
#ifndef KZ_RULE_REASON_H
#define KZ_RULE_REASON_H

#include <stdbool.h>

#include "base/err.h"
#include "gen/reasons.h" /* enum kz_reason { KZ_R_QUEUE_FULL, ... } and its table */

/* Fail with a reason: code, status and (unless fmt is NULL) text are set. returns the code. */
enum kz_rc kz_refuse(struct kz_err *err, enum kz_reason r, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* The code ("queue_full"), the exit status and the fixed description of a reason; static. */
const char *kz_reason_code(enum kz_reason r);
int kz_reason_status(enum kz_reason r);
const char *kz_reason_text(enum kz_reason r);
/* Is it a refusal (policy or state said no) rather than a fault? [EXEC-16] */
bool kz_reason_is_refusal(enum kz_reason r);
/* By code; false when there is none of that name. */
bool kz_reason_find(const char *code, enum kz_reason *out);

#endif
