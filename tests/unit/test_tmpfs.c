/* What files take in memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "rule/tmpfs.h"

/* BOUND-11: whatever files there are, each with its last page begun, they fit */
static void size_holds_every_last_page(void **state)
{
	(void)state;
	assert_int_equal(kz_tmpfs_bytes(0, 0, 4096), 0);
	assert_int_equal(kz_tmpfs_bytes(1, 0, 4096), 4096);
	assert_int_equal(kz_tmpfs_bytes(4096, 1, 4096), 8192);
	assert_int_equal(kz_tmpfs_bytes(268435456, 65536, 4096), 536870912);
	assert_int_equal(kz_tmpfs_bytes(1000000, 200, 4096), (245 + 200) * 4096);
	assert_int_equal(kz_tmpfs_bytes(1, 1, 65536), 131072);
	/* n files of one byte more than whole pages */
	for (int64_t n = 1; n < 100; n++)
		assert_true(kz_tmpfs_bytes(n * 4097, n, 4096) >= n * 8192);
}

/* BOUND-11: inodes are memory too */
static void memory_counts_inodes(void **state)
{
	(void)state;
	assert_int_equal(kz_tmpfs_memory(0, 0), 0);
	assert_int_equal(kz_tmpfs_memory(4096, 1), 5120);
	assert_int_equal(kz_tmpfs_memory(536870912, 65536), 603979776);
}

/* BOUND-11: a sum that is too large is the largest, never a small one */
static void sums_do_not_overflow(void **state)
{
	const int64_t most = INT64_MAX / 2;

	(void)state;
	assert_int_equal(kz_tmpfs_bytes(INT64_MAX, INT64_MAX, 1), most);
	assert_int_equal(kz_tmpfs_bytes(INT64_MAX, 0, 4096), most / 4096 * 4096);
	assert_int_equal(kz_tmpfs_bytes(0, INT64_MAX, 4096), most / 4096 * 4096);
	assert_int_equal(kz_tmpfs_memory(0, INT64_MAX), most);
	assert_int_equal(kz_tmpfs_memory(INT64_MAX, 1), most);
	assert_int_equal(kz_tmpfs_memory(most - 1024, 1), most);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(size_holds_every_last_page),
		cmocka_unit_test(memory_counts_inodes),
		cmocka_unit_test(sums_do_not_overflow),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
