/* Grants of a Project: every combination against what the rows say. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "rule/pointer.h"

/* INV-61: in force exactly when shared, not withdrawn and the reader is a member now; PROJ-6: of reading, here. */
static void inv_61_every_combination(void **state)
{
	(void)state;
	for (unsigned bits = 0; bits < 64; bits++) {
		bool is_member = bits & 1, is_shared = bits & 2, is_withdrawn = bits & 4;
		bool is_read = bits & 8, is_here = bits & 16, is_item = bits & 32;
		struct kz_pointer p = { "doc", "one", is_shared, is_withdrawn };
		struct kz_pointer_request r = { is_item ? "doc" : "other", is_here ? "one" : "two",
						is_read };
		enum kz_reason got = kz_pointer_decide(&p, is_member, &r);
		bool is_in_force = is_member && is_shared && !is_withdrawn;

		assert_int_equal(got == KZ_R_NONE, is_in_force && is_read && is_here && is_item);
		if (!is_member)
			assert_int_equal(got, KZ_R_GRANT_NOT_MEMBER);
		else if (!is_here || !is_item)
			assert_int_equal(got, KZ_R_GRANT_OTHER_PROJECT);
		else if (!is_shared)
			assert_int_equal(got, KZ_R_GRANT_POINTER_PRIVATE);
		else if (is_withdrawn)
			assert_int_equal(got, KZ_R_GRANT_WITHDRAWN);
		else if (!is_read)
			assert_int_equal(got, KZ_R_GRANT_READ_ONLY);
	}
}

static void proj_6_only_reading_is_a_right_that_is_given(void **state)
{
	bool is_read = false;

	(void)state;
	assert_true(kz_pointer_right("read", &is_read));
	assert_true(is_read);
	assert_true(kz_pointer_right("reshare", &is_read));
	assert_false(is_read);
	assert_false(kz_pointer_right("", &is_read));
	assert_false(kz_pointer_right("READ", &is_read));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(inv_61_every_combination),
		cmocka_unit_test(proj_6_only_reading_is_a_right_that_is_given),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
