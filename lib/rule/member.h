/*
 * What a member is told of a run's end: whether it was refused, with the reason of its
 * own, or whether code execution is not to be had at all; of the latter, and of kz's
 * own faults, no more than that [ADM-6, OUT-13, PRJ-49].  Layer 2, pure.
 */
#ifndef KZ_RULE_MEMBER_H
#define KZ_RULE_MEMBER_H

#include "rule/result.h"

struct kz_member_word {
	const char *state;  /* "ran", "refused", "unavailable", "unknown" */
	const char *reason; /* a reason code; NULL: none, or one that is not theirs to know */
	const char *
		text; /* a sentence; NULL where reason is NULL, but for "unavailable" and "unknown" */
};

/*
 * in: told: what kz said of the failure that the verdict names. It is passed on where it is
 * meant for the member, who knows the file or package that it names [PRJ-47, BRK-20]: reasons
 * of selected files and of packages. Of all others the general text of the reason is.
 * out: strings static or told itself
 */
void kz_member_word(const struct kz_verdict *v, const char *told, struct kz_member_word *out);

#endif
