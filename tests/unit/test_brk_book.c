/* What the broker remembers of executions: by a clock that nobody sets (BRK-2, BRK-28, BOUND-8). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "core/broker/book.h"

/* How far each clock was moved. */
static time_t day_s, boot_s;

int clock_gettime(clockid_t id, struct timespec *t)
{
	int rc = (int)syscall(SYS_clock_gettime, id, t);

	t->tv_sec += id == CLOCK_REALTIME ? day_s : boot_s;
	return rc;
}

static struct kz_brk_book_run *ask(struct kz_brk_book *b, int i)
{
	char execution[KZ_ID_HEX];

	snprintf(execution, sizeof(execution), "%032x", i);
	return kz_brk_book_run(b, execution, kz_deadline_in(KZ_SECONDS(300)));
}

/* All places are taken, the clock of the day is set back a year, and the tokens end: there is room for others. */
static void test_brk28_a_clock_that_is_set_back_keeps_no_execution(void **state)
{
	struct kz_brk_book *b = kz_brk_book_new();
	struct kz_brk_book_run *first;

	(void)state;
	assert_non_null(b);
	for (int i = 0; i < KZ_BRK_BOOK_EXECUTIONS; i++)
		assert_non_null(ask(b, i));
	assert_null(ask(b, KZ_BRK_BOOK_EXECUTIONS));
	first = ask(b, 0);
	kz_brk_book_fare(first)->jobs = 1;
	day_s = -365 * 86400;
	boot_s = 301;
	assert_non_null(ask(b, KZ_BRK_BOOK_EXECUTIONS));
	/* one that still has a request under way is kept */
	assert_ptr_equal(ask(b, 0), first);
	day_s = boot_s = 0;
	kz_brk_book_free(b);
}

/* A clock that is set forward takes nobody's files away under its hands. */
static void test_brk6_a_clock_that_is_set_forward_forgets_nothing(void **state)
{
	struct kz_brk_book *b = kz_brk_book_new();
	struct kz_brk_book_run *r = ask(b, 1);

	(void)state;
	assert_non_null(r);
	day_s = 365 * 86400;
	kz_brk_book_sweep(b);
	assert_ptr_equal(ask(b, 1), r);
	day_s = 0;
	kz_brk_book_free(b);
}

static bool write_down(struct kz_brk_book *b, struct kz_brk_book_run *r, const char *project,
		       int files)
{
	struct kz_brk_book_pages *p = kz_brk_book_open();
	struct kz_brk_book_file f = { .size = -1 };
	static char url[2001];
	char name[40];

	memset(url, 'u', sizeof(url) - 1);
	f.url = url;
	assert_non_null(p);
	for (int i = 0; i < files; i++) {
		snprintf(name, sizeof(name), "%s-%d.tgz", project, i);
		assert_true(kz_brk_book_add(p, name, &f));
	}
	return kz_brk_book_close(b, r, KZ_REGISTRY_NPM, project, p);
}

/* BRK-5: executions that have whatever they can written down, again and again, take nothing from one that asked for little. */
static void test_brk5_who_asks_for_much_loses_it_himself(void **state)
{
	struct kz_brk_book *b = kz_brk_book_new();
	struct kz_brk_book_file f;
	char project[20];

	(void)state;
	assert_true(write_down(b, ask(b, 1), "little", 3));
	for (int round = 0; round < 3; round++)
		for (int i = 0; i < 48; i++) {
			snprintf(project, sizeof(project), "much%d", i % 8);
			assert_true(write_down(b, ask(b, 2 + i / 8), project, 1500));
		}
	assert_true(kz_brk_book_find(ask(b, 1), KZ_REGISTRY_NPM, "little", "little-2.tgz", &f));
	/* what was asked for last is there */
	assert_true(kz_brk_book_find(ask(b, 7), KZ_REGISTRY_NPM, "much7", "much7-1499.tgz", &f));
	kz_brk_book_free(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_brk28_a_clock_that_is_set_back_keeps_no_execution),
		cmocka_unit_test(test_brk6_a_clock_that_is_set_forward_forgets_nothing),
		cmocka_unit_test(test_brk5_who_asks_for_much_loses_it_himself),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
