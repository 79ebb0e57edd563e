/*
 * Dates in text: ISO 8601 in UTC with seconds, in the one spelling of PASETO's claims
 * (2026-01-31T23:59:59+00:00).  Reads no clock.  Layer 0.
 */
#ifndef KZ_BASE_DATE_H
#define KZ_BASE_DATE_H

#include <stdbool.h>
#include <stdint.h>

#define KZ_DATE_TEXT 26 /* with the final 0 */

/* Unix time as text. in: second 0 to the end of year 9999; others are shown as the nearest of these */
void kz_date_print(int64_t s, char out[KZ_DATE_TEXT]);
/* The Unix time that kz_date_print would write so; "Z" at the end is taken for "+00:00". out: false for any other text, *s untouched */
bool kz_date_parse(const char *text, int64_t *s);

#endif
