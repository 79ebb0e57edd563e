/* rule/image_entry: lines of an image's list, and what is none [IMG-11]. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "rule/image_entry.h"

#define SUM "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static bool parses(const char *text, struct kz_image_line *line)
{
	return kz_image_line_parse(text, strlen(text), line);
}

static void test_taken(void **state)
{
	struct kz_image_line line;

	(void)state;
	assert_true(parses("f\t0755\t12\t" SUM "\tusr/bin/a b", &line));
	assert_int_equal(line.type, KZ_IMAGE_FILE);
	assert_int_equal(line.mode, 0755);
	assert_int_equal(line.size, 12);
	assert_string_equal(line.sum, SUM);
	assert_string_equal(line.name, "usr/bin/a b");
	assert_true(parses("d\t0755\t0\t-\tetc", &line));
	assert_int_equal(line.type, KZ_IMAGE_DIR);
	assert_true(parses("l\t0777\t7\tusr/bin\tbin", &line));
	assert_string_equal(line.sum, "usr/bin");
	/* names are bytes; dots are no harm where they are not alone */
	assert_true(parses("f\t0644\t0\t" SUM "\t\xc5\x91/...", &line));
	assert_true(parses("f\t0644\t0\t" SUM "\ta/..b/.c", &line));
}

static void test_refused(void **state)
{
	static const char *const lines[] = {
		"",
		"f",
		"f\t0755\t12\t" SUM,
		"f\t0755\t12\t" SUM "\t",
		"f\t0755\t12\t" SUM "\ta\tb",
		"c\t0755\t0\t-\tdev/null",
		"ff\t0755\t12\t" SUM "\ta",
		"f\t755\t12\t" SUM "\ta",
		"f\t0855\t12\t" SUM "\ta",
		"f\t0755\t-1\t" SUM "\ta",
		"f\t0755\t12a\t" SUM "\ta",
		"f\t0755\t12\t0" SUM "\ta",
		"f\t0755\t12\t-\ta",
		"d\t0755\t1\t-\ta",
		"d\t0755\t0\t" SUM "\ta",
		"l\t0777\t6\tusr/bin\tbin",
		"l\t0777\t0\t\tbin",
		"f\t0755\t12\t" SUM "\t/etc/passwd",
		"f\t0755\t12\t" SUM "\t../etc/passwd",
		"f\t0755\t12\t" SUM "\ta/../../b",
		"f\t0755\t12\t" SUM "\ta/./b",
		"f\t0755\t12\t" SUM "\ta//b",
		"f\t0755\t12\t" SUM "\ta/",
		"f\t0755\t12\t" SUM "\ta/..",
		"f\t0755\t12\t" SUM "\ta\rb",
	};
	struct kz_image_line line;

	(void)state;
	for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
		if (parses(lines[i], &line))
			fail_msg("taken: %s", lines[i]);
	assert_false(kz_image_line_parse("d\t0755\t0\t-\ta\0b", 14, &line));
}

static void test_bound(void **state)
{
	static char text[KZ_IMAGE_LINE + 16];
	struct kz_image_line line;
	const char *head = "d\t0755\t0\t-\t";

	(void)state;
	memset(text, 'a', sizeof text);
	memcpy(text, head, strlen(head));
	assert_true(kz_image_line_parse(text, KZ_IMAGE_LINE - 1, &line));
	assert_false(kz_image_line_parse(text, KZ_IMAGE_LINE, &line));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_taken),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_bound),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
