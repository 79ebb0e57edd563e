/* rule/shorten: what is kept of a text that is too long, and what stands in the place of the rest [CMP-6, CMP-8]. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "base/str.h"
#include "rule/shorten.h"

/* Numbered lines, and among them those of extra at line at. */
static char *lines(int count, int at, const char *extra)
{
	size_t used = 0, room = (size_t)count * 16 + strlen(extra) + 1;
	char *text = malloc(room);

	assert_non_null(text);
	for (int i = 0; i < count; i++)
		used += (size_t)snprintf(text + used, room - used, "%sline %d\n",
					 i == at ? extra : "", i);
	return text;
}

static void shorten(const char *text, size_t n, size_t limit, struct kz_buf *out)
{
	assert_int_equal(kz_shorten(text, n, limit, out, NULL), KZ_OK);
	assert_true(out->len <= limit);
}

/* The bytes that the marks say were left out, and those that are there, are all. */
static size_t told(const char *text)
{
	size_t sum = 0;

	for (const char *p = text; (p = strstr(p, "[... ")); p++) {
		size_t n = 0;

		assert_int_equal(sscanf(p, "[... %zu bytes left out ...]", &n), 1);
		sum += n;
	}
	return sum;
}

static void what_fits_stays_as_it_is(void **state)
{
	char text[KZ_SHORTEN_LEAST + 1];

	(void)state;
	memset(text, 'a', sizeof(text));
	for (size_t n = 0; n <= sizeof(text); n += n < sizeof(text) - 2 ? 51 : 1) {
		kz_auto_buf struct kz_buf out = KZ_BUF_INIT(4096);

		shorten(text, n, KZ_SHORTEN_LEAST, &out);
		assert_int_equal(out.len == n && (!n || memcmp(out.data, text, n) == 0),
				 n <= KZ_SHORTEN_LEAST);
	}
}

static void begin_and_end_are_whole_lines_with_the_gap_told(void **state)
{
	kz_auto_buf struct kz_buf out = KZ_BUF_INIT(4096);
	kz_auto_free char *text = lines(1000, -1, "");
	const char *mark;
	size_t n = strlen(text);

	(void)state;
	shorten(text, n, 512, &out);
	assert_true(kz_str_has_prefix(kz_buf_str(&out), "line 0\nline 1\n"));
	assert_non_null(strstr(kz_buf_str(&out), "line 998\nline 999\n"));
	mark = strstr(kz_buf_str(&out), "\n[... ");
	assert_non_null(mark);
	assert_null(strstr(mark + 1, "[... 0 "));
	mark = strstr(mark, " bytes left out ...]\nline ");
	assert_non_null(mark);
	/* the begin, the mark's line and the end */
	mark = strstr(kz_buf_str(&out), "[... ");
	assert_int_equal(told(kz_buf_str(&out)) + out.len - (strcspn(mark, "\n") + 1), n);
}

static void lines_that_look_like_errors_are_kept_from_between(void **state)
{
	static const struct {
		const char *line;
		bool is_kept;
	} cases[] = {
		{ "ValueError: x\n", true },  { "UNDEFINED symbol y\n", true },
		{ "cc: fatal: z\n", true },   { "Traceback (most recent call last):\n", true },
		{ "page not found\n", true }, { "3 tests failed\n", true },
		{ "myerror\n", false }, /* inside of a word */
		{ "all is well\n", false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		kz_auto_buf struct kz_buf out = KZ_BUF_INIT(4096);
		kz_auto_free char *text = lines(1000, 500, cases[i].line);

		shorten(text, strlen(text), 1024, &out);
		assert_int_equal(strstr(kz_buf_str(&out), cases[i].line) != NULL, cases[i].is_kept);
	}
}

static void the_same_line_over_and_over_is_kept_once(void **state)
{
	kz_auto_buf struct kz_buf out = KZ_BUF_INIT(8192);
	kz_auto_free char *text = lines(1000, 500, "error: a\nerror: a\nerror: a\nerror: b\n");
	const char *at;

	(void)state;
	shorten(text, strlen(text), 2048, &out);
	at = strstr(kz_buf_str(&out), "error: a\n");
	assert_non_null(at);
	assert_null(strstr(at + 1, "error: a\n"));
	assert_non_null(strstr(at, "error: b\n"));
}

static void a_line_that_is_long_is_cut_and_no_character_is(void **state)
{
	kz_auto_buf struct kz_buf out = KZ_BUF_INIT(65536);
	size_t n = 40000;
	char *text = malloc(n);

	(void)state;
	assert_non_null(text);
	for (size_t i = 0; i < n; i += 2)
		memcpy(text + i, "\xc3\xa4", 2); /* one line, of a letter of two bytes */
	for (size_t limit = KZ_SHORTEN_LEAST; limit < KZ_SHORTEN_LEAST + 8; limit++) {
		kz_auto_buf struct kz_buf again = KZ_BUF_INIT(65536);

		kz_buf_clear(&out);
		shorten(text, n, limit, &out);
		assert_true(kz_utf8_valid(out.data, out.len));
		assert_memory_equal(out.data, "\xc3\xa4", 2);
		assert_memory_equal(out.data + out.len - 2, "\xc3\xa4", 2);
		/* where the begin has no end of line, the mark has one before it */
		assert_non_null(strstr(kz_buf_str(&out), "\xa4\n[... "));
		shorten(text, n, limit, &again);
		assert_int_equal(again.len, out.len);
		assert_memory_equal(again.data, out.data, out.len);
	}
	free(text);
}

static void bytes_that_are_no_text_are_shortened_as_well(void **state)
{
	kz_auto_buf struct kz_buf out = KZ_BUF_INIT(4096);
	char bytes[2000];

	(void)state;
	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (char)(i * 7);
	shorten(bytes, sizeof(bytes), 300, &out);
	assert_memory_equal(out.data, bytes, 50);
	/* nothing but what continues a character: it has no end that could be kept */
	kz_buf_clear(&out);
	memset(bytes, '\x80', sizeof(bytes));
	shorten(bytes, sizeof(bytes), 300, &out);
	assert_true(out.len > 0);
}

static void a_buffer_without_room_is_an_error(void **state)
{
	kz_auto_buf struct kz_buf out = KZ_BUF_INIT(100);
	kz_auto_free char *text = lines(1000, -1, "");

	(void)state;
	assert_int_not_equal(kz_shorten(text, strlen(text), 512, &out, NULL), KZ_OK);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_fits_stays_as_it_is),
		cmocka_unit_test(begin_and_end_are_whole_lines_with_the_gap_told),
		cmocka_unit_test(lines_that_look_like_errors_are_kept_from_between),
		cmocka_unit_test(the_same_line_over_and_over_is_kept_once),
		cmocka_unit_test(a_line_that_is_long_is_cut_and_no_character_is),
		cmocka_unit_test(bytes_that_are_no_text_are_shortened_as_well),
		cmocka_unit_test(a_buffer_without_room_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
