/*
 * Lookup tables of the audit store: the codes that a column may hold, made from
 * the tables that the rest of kz is made from.  Layer 3.
 */
#ifndef KZ_CORE_AUDIT_LOOKUP_H
#define KZ_CORE_AUDIT_LOOKUP_H

#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

/* Names of the lookup tables, NULL-terminated. */
extern const char *const kz_audit_lookups[];
/* SQL that makes and completes them; may be run again. */
enum kz_rc kz_audit_lookup_sql(struct kz_buf *b, struct kz_err *err);
/* Mix everything that the SQL is made from into h, without making it. */
uint64_t kz_audit_lookup_mix(uint64_t h, uint64_t (*mix)(uint64_t h, const char *s));

#endif
