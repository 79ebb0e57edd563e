/* rule/path: the one normal form of names [OUT-3]. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "rule/media.h"
#include "rule/path.h"

static void expect(const char *name, size_t n, enum kz_path_fault want, const char *form)
{
	char out[KZ_PATH_MAX + 1];

	memset(out, 'x', sizeof(out));
	assert_int_equal(kz_path_normal(name, n, out), want);
	assert_string_equal(out, form);
}

static void test_out3_accepts_and_normalises(void **state)
{
	static const char *const cases[][2] = {
		{ "report.pptx", "report.pptx" },
		{ "./a", "a" },
		{ "a//b", "a/b" },
		{ "././a/./b", "a/b" },
		{ "-rf", "-rf" },
		{ "$(id)", "$(id)" },
		{ "...", "..." },
		{ "..a", "..a" },
		{ "a..", "a.." },
		{ ".hidden", ".hidden" },
		{ "a b", "a b" },
		{ "\xd7\xa9.txt", "\xd7\xa9.txt" },
		{ "\xc2\xa0", "\xc2\xa0" },
		{ "C:\\x", "C:\\x" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		expect(cases[i][0], strlen(cases[i][0]), KZ_PATH_OK, cases[i][1]);
}

static void test_out3_refuses(void **state)
{
	static const struct {
		const char *name;
		size_t n;
		enum kz_path_fault want;
	} cases[] = {
		{ "", 0, KZ_PATH_EMPTY },
		{ ".", 1, KZ_PATH_EMPTY },
		{ "./", 2, KZ_PATH_EMPTY },
		{ "/", 1, KZ_PATH_ABSOLUTE },
		{ "/etc/passwd", 11, KZ_PATH_ABSOLUTE },
		{ "..", 2, KZ_PATH_PARENT },
		{ "../a", 4, KZ_PATH_PARENT },
		{ "a/../b", 6, KZ_PATH_PARENT },
		{ "a/..", 4, KZ_PATH_PARENT },
		{ "a/", 2, KZ_PATH_DIRECTORY },
		{ "a/.", 3, KZ_PATH_DIRECTORY },
		{ "a\nb", 3, KZ_PATH_CONTROL },
		{ "a\x7f", 2, KZ_PATH_CONTROL },
		{ "\xc2\x85", 2, KZ_PATH_CONTROL },
		{ "a\x1b[2J", 5, KZ_PATH_CONTROL },
		{ "a\0b", 3, KZ_PATH_NUL },
		{ "\xff", 1, KZ_PATH_ENCODING },
		{ "a\xed\xa0\x80", 4, KZ_PATH_ENCODING },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		expect(cases[i].name, cases[i].n, cases[i].want, "");
}

static void test_bound12_both_edges(void **state)
{
	char name[KZ_PATH_MAX + 2];

	(void)state;
	memset(name, 'a', sizeof(name));
	name[255] = 0;
	expect(name, 255, KZ_PATH_OK, name);
	name[255] = 'a';
	expect(name, 256, KZ_PATH_COMPONENT, "");
	for (size_t i = 200; i < sizeof(name); i += 200)
		name[i] = '/';
	name[KZ_PATH_MAX] = 0;
	expect(name, KZ_PATH_MAX, KZ_PATH_OK, name);
	name[KZ_PATH_MAX] = 'a';
	expect(name, KZ_PATH_MAX + 1, KZ_PATH_LONG, "");
}

static void test_exec5_media_types_do_not_believe_names(void **state)
{
	(void)state;
	assert_string_equal(kz_media_type("a/b.PNG", "\x89PNG\r\n\x1a\n..", 10), "image/png");
	assert_string_equal(kz_media_type("b.png", "MZ", 2), "application/octet-stream");
	assert_string_equal(kz_media_type("b.png", "", 0), "application/octet-stream");
	assert_string_equal(kz_media_type("t.csv", "a,b\n", 4), "text/csv");
	assert_string_equal(kz_media_type("t.csv", "", 0), "text/csv");
	assert_string_equal(kz_media_type("t.csv", "a\0b", 3), "application/octet-stream");
	assert_string_equal(kz_media_type("t.html", "\xff\xfe", 2), "application/octet-stream");
	assert_string_equal(kz_media_type("x.y/noext", "abc", 3), "application/octet-stream");
	assert_string_equal(kz_media_type("r.xlsx", "PK\x03\x04", 4),
			    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet");
}

static void test_exec5_a_head_cut_inside_a_character_is_text(void **state)
{
	char head[KZ_MEDIA_HEAD];

	(void)state;
	memset(head, 'a', sizeof(head));
	memcpy(head + sizeof(head) - 2, "\xe2\x82", 2);
	assert_string_equal(kz_media_type("a.txt", head, sizeof(head)), "text/plain");
	assert_string_equal(kz_media_type("a.txt", head + 1, sizeof(head) - 1),
			    "application/octet-stream");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_out3_accepts_and_normalises),
		cmocka_unit_test(test_out3_refuses),
		cmocka_unit_test(test_bound12_both_edges),
		cmocka_unit_test(test_exec5_media_types_do_not_believe_names),
		cmocka_unit_test(test_exec5_a_head_cut_inside_a_character_is_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
