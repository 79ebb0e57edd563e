/*
 * Sets of line numbers as sorted ranges that neither touch nor overlap: which lines
 * of a text were shown [HL-11].  Layer 2, pure.
 */
#ifndef KZ_RULE_HASHLINE_SPANS_H
#define KZ_RULE_HASHLINE_SPANS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct kz_span {
	uint32_t from, to; /* 1-based, both included */
};

struct kz_spans {
	struct kz_span *span; /* own */
	size_t count, room;
};

/* Free what it holds; it is empty then. */
void kz_spans_release(struct kz_spans *s);
#define kz_auto_spans kz_auto(kz_spans_release)
/* Add from..to; a range that ends before it begins adds nothing. err: KZ_E_OS */
enum kz_rc kz_spans_add(struct kz_spans *s, uint32_t from, uint32_t to, struct kz_err *err);
/* Add every line whose byte in mark[0..count) is not 0; byte 0 is line 1. err: KZ_E_OS */
enum kz_rc kz_spans_add_marks(struct kz_spans *s, const uint8_t *mark, uint32_t count,
			      struct kz_err *err);
/* Set the bytes of mark[0..count) whose line is in the set. */
void kz_spans_mark(const struct kz_spans *s, uint8_t *mark, uint32_t count);
/* The first line of from..to that is not in the set, 0 when all are. */
uint32_t kz_spans_missing(const struct kz_spans *s, uint32_t from, uint32_t to);
/* Are they sorted, apart, and within 1..lines? */
bool kz_spans_sound(const struct kz_spans *s, uint32_t lines);

#endif
