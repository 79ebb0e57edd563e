/* A run's end in a member's words. */
#include "rule/member.h"

#include <stddef.h>
#include <string.h>

#include "rule/reason.h"

/* Reasons of packages that the member's program asks for [BRK-20]. */
static bool is_of_a_package(enum kz_reason r)
{
	return !strncmp(kz_reason_code(r), "dependency_", 11);
}

/* Reasons of files that the member chose, and of packages. */
static bool is_passed_on(enum kz_reason r)
{
	return !strncmp(kz_reason_code(r), "resource_", 9) || is_of_a_package(r);
}

static void not_started(const struct kz_verdict *v, struct kz_member_word *out)
{
	if (kz_reason_is_refusal(v->reason) || is_of_a_package(v->reason)) {
		out->state = "refused";
		return;
	}
	*out = (struct kz_member_word){ .state = "unavailable",
					.text = "code execution is unavailable at this time" };
}

void kz_member_word(const struct kz_verdict *v, const char *told, struct kz_member_word *out)
{
	*out = (struct kz_member_word){ .state = "ran" };
	if (v->has_reason) {
		out->reason = kz_reason_code(v->reason);
		out->text =
			is_passed_on(v->reason) && told && *told ? told : kz_reason_text(v->reason);
	}
	switch (v->outcome) {
	case KZ_OUTCOME_COMPLETED:
	case KZ_OUTCOME_FAILED:
	case KZ_OUTCOME_BOUNDED: break;
	case KZ_OUTCOME_REFUSED:
	case KZ_OUTCOME_NOT_RUN: not_started(v, out); break;
	case KZ_OUTCOME_UNKNOWN:
		*out = (struct kz_member_word){ .state = "unknown",
						.text = "it is not known how the run ended" };
		break;
	}
}
