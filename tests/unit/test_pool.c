/* The pool rule against tests/golden/pool.tsv, which the Valkey library is held to as well. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "rule/pool.h"

static void pool_3_4_5_6_7_19_21_26_every_row_of_the_table(void **state)
{
	FILE *f = fopen("tests/golden/pool.tsv", "r");
	char line[512];
	int rows = 0;

	(void)state;
	assert_non_null(f);
	while (fgets(line, sizeof(line), f)) {
		struct kz_pool p;
		long long v[14];
		char *numbers = strchr(line, '\t');

		if (line[0] == '#')
			continue;
		assert_non_null(numbers);
		assert_int_equal(14,
				 sscanf(numbers,
					"%lld%lld%lld%lld%lld%lld%lld%lld%lld%lld%lld%lld%lld%lld",
					&v[0], &v[1], &v[2], &v[3], &v[4], &v[5], &v[6], &v[7],
					&v[8], &v[9], &v[10], &v[11], &v[12], &v[13]));
		p = (struct kz_pool){ .warm_min = v[0],
				      .target_idle = v[1],
				      .ceiling = v[2],
				      .create_bound = v[3],
				      .creating = v[4],
				      .warm = v[5],
				      .leased = v[6],
				      .resetting = v[7],
				      .retiring = v[8],
				      .waiting = v[9],
				      .idle_long = v[10] };
		if (kz_pool_desired(&p) != v[11] || kz_pool_creates(&p) != v[12] ||
		    kz_pool_retires(&p) != v[13])
			fail_msg("%s: desired %lld creates %lld retires %lld", line,
				 (long long)kz_pool_desired(&p), (long long)kz_pool_creates(&p),
				 (long long)kz_pool_retires(&p));
		rows++;
	}
	fclose(f);
	assert_true(rows >= 29);
}

/* The table is a sample; the bounds hold over a whole box of small numbers. */
static void pool_5_6_26_no_create_over_a_bound(void **state)
{
	(void)state;
	for (int n = 0; n < 5 * 5 * 4 * 4 * 4 * 4 * 4; n++) {
		struct kz_pool p = { .warm_min = 3,
				     .target_idle = 1,
				     .ceiling = 1 + n % 5,
				     .create_bound = 1 + n / 5 % 3,
				     .creating = n / 25 % 4,
				     .warm = n / 100 % 4,
				     .leased = n / 400 % 4,
				     .resetting = n / 1600 % 2,
				     .retiring = n / 3200 % 4,
				     .waiting = n % 7,
				     .idle_long = n % 3 };
		int64_t c = kz_pool_creates(&p);

		assert_true(c >= 0);
		if (c > 0) {
			assert_true(kz_pool_allocated(&p) + c <= p.ceiling);
			assert_true(p.creating + c <= p.create_bound);
		}
		assert_true(kz_pool_retires(&p) >= 0 && kz_pool_retires(&p) <= p.warm);
		/* What was just retired would not be created again. */
		if (kz_pool_retires(&p) > 0)
			assert_int_equal(0, c);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pool_3_4_5_6_7_19_21_26_every_row_of_the_table),
		cmocka_unit_test(pool_5_6_26_no_create_over_a_bound),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
