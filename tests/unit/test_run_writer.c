/* core/run/writer: output is kept and written by a thread; a slow or lost reader holds nobody. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/time.h"
#include "core/run/writer.h"

#define BIG (1 << 20)

static void test_exec5_a_slow_reader_holds_nobody_and_loses_nothing(void **state)
{
	struct kz_err err = KZ_ERR_INIT;
	struct kz_writer *w = NULL;
	char *data = malloc(BIG), *got = malloc(BIG + 1);
	size_t n = 0;
	ssize_t r;
	int p[2];

	(void)state;
	for (size_t i = 0; i < BIG; i++)
		data[i] = (char)(i * 7 >> 3);
	assert_int_equal(pipe(p), 0);
	assert_int_equal(kz_writer_start(&w, p[1], BIG, &err), KZ_OK);
	/* nobody reads yet, and still every add returns */
	for (size_t i = 0; i < BIG; i += 4096)
		assert_int_equal(kz_writer_add(w, data + i, 4096, &err), KZ_OK);
	while (n < BIG && (r = read(p[0], got + n, 1000)) > 0)
		n += (size_t)r;
	assert_int_equal(kz_writer_drain(w, -1, &err), KZ_OK);
	assert_int_equal(n, BIG);
	assert_memory_equal(data, got, BIG);
	kz_writer_free(w);
	close(p[0]);
	close(p[1]);
	free(data);
	free(got);
}

static void test_exec5_a_lost_reader_is_told(void **state)
{
	struct kz_err err = KZ_ERR_INIT;
	struct kz_writer *w = NULL;
	int p[2];

	(void)state;
	assert_int_equal(pipe(p), 0);
	close(p[0]);
	assert_int_equal(kz_writer_start(&w, p[1], BIG, &err), KZ_OK);
	assert_int_equal(kz_writer_errno(w), 0);
	assert_int_equal(kz_writer_add(w, "x", 1, &err), KZ_OK);
	assert_int_equal(kz_writer_drain(w, -1, &err), KZ_E_IO);
	assert_int_equal(kz_writer_errno(w), EPIPE);
	/* further bytes are dropped in silence */
	assert_int_equal(kz_writer_add(w, "x", 1, &err), KZ_OK);
	kz_writer_free(w);
	close(p[1]);
}

static void test_exec5_a_drain_can_be_given_up(void **state)
{
	struct kz_err err = KZ_ERR_INIT;
	struct kz_writer *w = NULL;
	char *data = calloc(1, BIG);
	int p[2], cancel[2];

	(void)state;
	assert_int_equal(pipe(p), 0);
	assert_int_equal(pipe(cancel), 0);
	assert_int_equal(kz_writer_start(&w, p[1], BIG, &err), KZ_OK);
	assert_int_equal(kz_writer_add(w, data, BIG, &err), KZ_OK);
	assert_int_equal(write(cancel[1], "x", 1), 1);
	assert_int_equal(kz_writer_drain(w, cancel[0], &err), KZ_E_TEMPFAIL);
	kz_writer_free(w);
	for (int i = 0; i < 2; i++) {
		close(p[i]);
		close(cancel[i]);
	}
	free(data);
}

static void test_bound12_it_holds_its_maximum_and_no_more(void **state)
{
	struct kz_err err = KZ_ERR_INIT;
	struct kz_writer *w = NULL;
	int p[2];

	(void)state;
	assert_int_equal(pipe(p), 0);
	assert_int_equal(kz_writer_start(&w, p[1], 16, &err), KZ_OK);
	assert_int_equal(kz_writer_add(w, "0123456789abcdef", 16, &err), KZ_OK);
	assert_int_equal(kz_writer_drain(w, -1, &err), KZ_OK);
	assert_int_equal(kz_writer_add(w, "0123456789abcdefg", 17, &err), KZ_E_DATA);
	kz_writer_free(w);
	close(p[0]);
	close(p[1]);
}

static void test_exec5_a_full_device_is_told(void **state)
{
	struct kz_err err = KZ_ERR_INIT;
	struct kz_writer *w = NULL;
	int fd = open("/dev/full", O_WRONLY);

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(kz_writer_start(&w, fd, 16, &err), KZ_OK);
	assert_int_equal(kz_writer_add(w, "x", 1, &err), KZ_OK);
	assert_int_equal(kz_writer_drain(w, -1, &err), KZ_E_IO);
	assert_int_equal(kz_writer_errno(w), ENOSPC);
	kz_writer_free(w);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_exec5_a_slow_reader_holds_nobody_and_loses_nothing),
		cmocka_unit_test(test_exec5_a_lost_reader_is_told),
		cmocka_unit_test(test_exec5_a_drain_can_be_given_up),
		cmocka_unit_test(test_bound12_it_holds_its_maximum_and_no_more),
		cmocka_unit_test(test_exec5_a_full_device_is_told),
	};

	signal(SIGPIPE, SIG_IGN);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
