/* The verdict: every way in which a reading can be missing or off, for every surface. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "rule/evidence.h"

static struct kz_evidence clean(void)
{
	struct kz_evidence e = { .init_dead = true, .kill_before_wipe = true, .names_match = true };

	for (int i = 0; i < KZ_SURFACE_COUNT; i++) {
		e.surfaces[i] = (struct kz_reading){ .is_present = true, .now = i, .baseline = i };
		memcpy(e.surfaces[i].digest, "abc", 4);
		memcpy(e.surfaces[i].baseline_digest, "abc", 4);
	}
	return e;
}

static void reset_4_all_equal_is_clean(void **state)
{
	struct kz_evidence e = clean();
	int bad = 99;

	(void)state;
	assert_true(kz_evidence_clean(&e, &bad));
	assert_int_equal(bad, 99);
}

static void reset_4_each_surface_alone(void **state)
{
	(void)state;
	for (int i = 0; i < KZ_SURFACE_COUNT; i++)
		for (int way = 0; way < 6; way++) {
			struct kz_evidence e = clean();
			struct kz_reading *r = &e.surfaces[i];
			int bad = -2;

			switch (way) {
			case 0: r->is_present = false; break;
			case 1: r->now++; break;
			case 2:
				r->now = r->baseline = -1; /* equal, but neither was read */
				break;
			case 3: r->digest[0] = 'x'; break;
			case 4: r->digest[0] = 0; break;
			default: r->baseline--; break;
			}
			assert_false(kz_evidence_clean(&e, &bad));
			assert_int_equal(bad, i);
		}
}

static void reset_6_order_and_names(void **state)
{
	struct kz_evidence e;
	int bad = 0;

	(void)state;
	e = clean();
	e.init_dead = false;
	assert_false(kz_evidence_clean(&e, &bad));
	assert_int_equal(bad, -1);
	e = clean();
	e.kill_before_wipe = false;
	assert_false(kz_evidence_clean(&e, &bad));
	e = clean();
	e.names_match = false;
	assert_false(kz_evidence_clean(&e, &bad));
}

static void reset_5_nothing_is_not_clean(void **state)
{
	struct kz_evidence e = { .init_dead = false };
	int bad = -2;

	(void)state;
	assert_false(kz_evidence_clean(&e, &bad));
	assert_int_equal(bad, 0);
}

static void codes_and_back(void **state)
{
	(void)state;
	for (int i = 0; i < KZ_SURFACE_COUNT; i++)
		assert_int_equal(kz_surface_find(kz_surface_code((enum kz_surface)i)), i);
	assert_int_equal(kz_surface_find("nothing"), -1);
	assert_string_equal(kz_surface_code(KZ_SURFACE_COUNT), "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reset_4_all_equal_is_clean),
		cmocka_unit_test(reset_4_each_surface_alone),
		cmocka_unit_test(reset_6_order_and_names),
		cmocka_unit_test(reset_5_nothing_is_not_clean),
		cmocka_unit_test(codes_and_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
