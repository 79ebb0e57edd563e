/*
 * Which lines of one text are still in another: the longest common subsequence, by
 * Myers' O(ND) with a bound on the work.  Layer 2, pure.
 */
#ifndef KZ_RULE_HASHLINE_DIFF_H
#define KZ_RULE_HASHLINE_DIFF_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "rule/hashline_text.h"

#define KZ_DIFF_WORK 20000000u /* lines times differences */
#define KZ_DIFF_MOST 2000u     /* differences; their square is held in memory */

struct kz_diff {
	uint32_t *map; /* of line i + 1 of the old text: its number in the new one, 0: gone */
	uint32_t *id;  /* of the same line: lines with the same bytes have the same number */
	uint32_t *in_old, *in_new; /* by number: how often it occurs */
	bool is_capped;            /* too different: map says nothing */
};

/* Compare; line ends do not count. out: d, to be released in any case. err: KZ_E_OS */
enum kz_rc kz_diff_make(const struct kz_text *old, const struct kz_text *now, struct kz_diff *d,
			struct kz_err *err);
void kz_diff_release(struct kz_diff *d);
#define kz_auto_diff kz_auto(kz_diff_release)

#endif
