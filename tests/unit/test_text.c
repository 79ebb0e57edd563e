/* base: error records, strings, numbers, buffers; hostile, empty and huge. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/base64.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"

static void err_null_record_returns_the_code(void **state)
{
	(void)state;
	assert_int_equal(kz_err_set(NULL, KZ_E_DATA, "x"), KZ_E_DATA);
	assert_int_equal(kz_err_sys(NULL, KZ_E_IO, "x"), KZ_E_IO);
	assert_int_equal(kz_err_wrap(NULL, "x"), KZ_E_SOFTWARE);
	assert_int_equal(kz_err_reason(NULL, "x"), KZ_E_SOFTWARE);
}

static void err_text_is_one_clean_line(void **state)
{
	struct kz_err err = KZ_ERR_INIT;

	(void)state;
	kz_err_set(&err, KZ_E_DATA, "name %s", "a\nb\x1b[2J\x7f");
	assert_string_equal(err.text, "name a?b?[2J?");
	assert_int_equal(kz_err_wrap(&err, "reading\r%s", "f"), KZ_E_DATA);
	assert_string_equal(err.text, "reading?f: name a?b?[2J?");
}

static void err_huge_text_is_cut(void **state)
{
	struct kz_err err = KZ_ERR_INIT;
	char *huge = malloc(1000001);

	(void)state;
	assert_non_null(huge);
	memset(huge, 'a', 1000000);
	huge[1000000] = '\0';
	kz_err_set(&err, KZ_E_DATA, "%s", huge);
	assert_int_equal(strlen(err.text), sizeof(err.text) - 1);
	for (int i = 0; i < 10; i++)
		assert_int_equal(kz_err_wrap(&err, "%s", huge), KZ_E_DATA);
	kz_err_reason(&err, huge);
	assert_int_equal(strlen(err.reason), sizeof(err.reason) - 1);
	free(huge);
}

static void err_sys_keeps_errno(void **state)
{
	struct kz_err err = KZ_ERR_INIT;

	(void)state;
	errno = EACCES;
	assert_int_equal(kz_err_sys(&err, KZ_E_NOPERM, "cannot open %s", "/x"), KZ_E_NOPERM);
	assert_int_equal(errno, EACCES);
	assert_int_equal(err.sys_errno, EACCES);
	assert_string_equal(err.text, "cannot open /x: permission denied");
}

static void err_wrap_of_no_failure_is_a_bug(void **state)
{
	struct kz_err err = KZ_ERR_INIT;

	(void)state;
	assert_int_equal(kz_err_wrap(&err, "x"), KZ_E_SOFTWARE);
}

static void err_a_new_failure_forgets_the_old_reason(void **state)
{
	struct kz_err err = KZ_ERR_INIT;

	(void)state;
	kz_err_set(&err, KZ_E_DATA, "a");
	kz_err_reason(&err, "path_rejected");
	kz_err_set(&err, KZ_E_IO, "b");
	assert_string_equal(err.reason, "");
}

static void err_statuses_go_both_ways(void **state)
{
	static const int all[] = { 0, 1, 64, 65, 66, 69, 70, 71, 73, 74, 75, 76, 77, 78 };

	(void)state;
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		assert_int_equal(kz_rc_status(kz_rc_of_status(all[i])), all[i]);
	assert_int_equal(kz_rc_of_status(2), KZ_E_SOFTWARE);
	assert_int_equal(kz_rc_status((enum kz_rc) - 99), 70);
	assert_string_equal(kz_rc_name(KZ_E_TEMPFAIL), "tempfail");
	assert_string_equal(kz_rc_name((enum kz_rc)5), "software");
}

static void str_copy_fits_or_leaves_nothing(void **state)
{
	char b[4] = "zzz";

	(void)state;
	assert_int_equal(kz_str_copy(b, sizeof(b), "abc", NULL), KZ_OK);
	assert_string_equal(b, "abc");
	assert_int_equal(kz_str_copy(b, sizeof(b), "abcd", NULL), KZ_E_DATA);
	assert_string_equal(b, "");
	assert_int_equal(kz_str_copy(b, 0, "", NULL), KZ_E_DATA);
	assert_int_equal(kz_str_format(b, sizeof(b), NULL, "%d", 123), KZ_OK);
	assert_int_equal(kz_str_format(b, sizeof(b), NULL, "%d", 1234), KZ_E_DATA);
	assert_string_equal(b, "");
}

static void str_null_is_handled(void **state)
{
	(void)state;
	assert_null(kz_str_dup(NULL));
	assert_true(kz_str_eq(NULL, NULL));
	assert_false(kz_str_eq("a", NULL));
	assert_true(kz_str_has_prefix("abc", ""));
	assert_false(kz_str_has_prefix("ab", "abc"));
}

static void int_takes_whole_numbers_only(void **state)
{
	static const char *const bad[] = { "",
					   "-",
					   "+1",
					   " 1",
					   "1 ",
					   "1k",
					   "0x1",
					   "1.0",
					   "--1",
					   "1e3",
					   "9223372036854775808",
					   "-9223372036854775809",
					   "99999999999999999999999999999999",
					   "\xd9\xa1" };
	int64_t n = 7;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(kz_str_int(bad[i], INT64_MIN, INT64_MAX, &n, NULL), KZ_E_DATA);
		assert_int_equal(n, 7);
	}
	assert_int_equal(kz_str_int("9223372036854775807", INT64_MIN, INT64_MAX, &n, NULL), KZ_OK);
	assert_true(n == INT64_MAX);
	assert_int_equal(kz_str_int("-9223372036854775808", INT64_MIN, INT64_MAX, &n, NULL), KZ_OK);
	assert_true(n == INT64_MIN);
	assert_int_equal(kz_str_int("11", 0, 10, &n, NULL), KZ_E_DATA);
	assert_int_equal(kz_str_int("-1", 0, 10, &n, NULL), KZ_E_DATA);
	assert_int_equal(kz_str_int("0", 0, 10, &n, NULL), KZ_OK);
	assert_int_equal(n, 0);
}

static void hex_round_trip_and_refusals(void **state)
{
	unsigned char in[256], out[256];
	char text[513];

	(void)state;
	for (int i = 0; i < 256; i++)
		in[i] = (unsigned char)i;
	kz_hex_encode(in, sizeof(in), text);
	assert_int_equal(kz_hex_decode(text, out, sizeof(out), NULL), KZ_OK);
	assert_memory_equal(in, out, sizeof(in));
	assert_int_equal(kz_hex_decode("AbCd", out, 2, NULL), KZ_OK);
	assert_int_equal(out[0], 0xab);
	assert_int_equal(kz_hex_decode("abc", out, 2, NULL), KZ_E_DATA);
	assert_int_equal(kz_hex_decode("abcde", out, 2, NULL), KZ_E_DATA);
	assert_int_equal(kz_hex_decode("abcg", out, 2, NULL), KZ_E_DATA);
	assert_int_equal(kz_hex_decode("", out, 0, NULL), KZ_OK);
}

static void hex_error_does_not_quote_a_secret(void **state)
{
	struct kz_err err = KZ_ERR_INIT;
	char out[4];

	(void)state;
	kz_hex_decode("canary00", out, 4, &err);
	assert_null(strstr(err.text, "canary"));
}

static void utf8_follows_rfc_3629(void **state)
{
	static const struct {
		const char *s;
		size_t n;
		bool ok;
	} cases[] = {
		{ "", 0, true },
		{ "abc", 3, true },
		{ "\xc3\xa9", 2, true },
		{ "\xe2\x82\xac", 3, true },
		{ "\xf0\x9f\x98\x80", 4, true },
		{ "\xf4\x8f\xbf\xbf", 4, true },
		{ "\0", 1, true },
		{ "\x80", 1, false },
		{ "\xc3", 1, false },
		{ "\xc0\x80", 2, false },
		{ "\xc1\xbf", 2, false },
		{ "\xe0\x9f\xbf", 3, false },
		{ "\xed\xa0\x80", 3, false },
		{ "\xf0\x8f\xbf\xbf", 4, false },
		{ "\xf4\x90\x80\x80", 4, false },
		{ "\xf5\x80\x80\x80", 4, false },
		{ "\xff", 1, false },
		{ "\xe2\x82", 2, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(kz_utf8_valid(cases[i].s, cases[i].n), cases[i].ok);
}

static void names_are_narrow(void **state)
{
	char longest[65];

	(void)state;
	memset(longest, 'a', sizeof(longest));
	longest[63] = '\0';
	assert_true(kz_str_is_name(longest));
	longest[63] = 'a';
	longest[64] = '\0';
	assert_false(kz_str_is_name(longest));
	assert_true(kz_str_is_name("a"));
	assert_true(kz_str_is_name("w-1_x"));
	assert_false(kz_str_is_name(""));
	assert_false(kz_str_is_name("1a"));
	assert_false(kz_str_is_name("A"));
	assert_false(kz_str_is_name("a/b"));
	assert_false(kz_str_is_name("a\n"));
	assert_false(kz_str_is_name("-a"));
	assert_true(kz_str_has_control("a\tb"));
	assert_false(kz_str_has_control("ab \xc3\xa9"));
}

static void buf_never_passes_its_maximum(void **state)
{
	kz_auto_buf struct kz_buf b = KZ_BUF_INIT(10);

	(void)state;
	assert_string_equal(kz_buf_str(&b), "");
	assert_int_equal(kz_buf_add(&b, NULL, 0, NULL), KZ_OK);
	assert_int_equal(kz_buf_add(&b, "0123456789", 10, NULL), KZ_OK);
	assert_int_equal(kz_buf_add(&b, "x", 1, NULL), KZ_E_DATA);
	assert_int_equal(kz_buf_printf(&b, NULL, "%s", "x"), KZ_E_DATA);
	assert_int_equal(kz_buf_add(&b, "x", SIZE_MAX, NULL), KZ_E_DATA);
	assert_string_equal(kz_buf_str(&b), "0123456789");
	kz_buf_drop(&b, 3);
	assert_string_equal(kz_buf_str(&b), "3456789");
	assert_int_equal(kz_buf_puts(&b, "abc", NULL), KZ_OK);
	kz_buf_drop(&b, 100);
	assert_int_equal(b.len, 0);
	assert_string_equal(kz_buf_str(&b), "");
}

static void buf_grows_in_small_steps_to_a_large_size(void **state)
{
	kz_auto_buf struct kz_buf b = KZ_BUF_INIT(3000000);

	(void)state;
	for (int i = 0; i < 1000000; i++)
		assert_int_equal(kz_buf_add(&b, "abc", 3, NULL), KZ_OK);
	assert_int_equal(b.len, 3000000);
	assert_int_equal(b.data[b.len], '\0');
	assert_int_equal(kz_buf_add(&b, "a", 1, NULL), KZ_E_DATA);
}

static void buf_without_memory_fails_and_keeps_its_content(void **state)
{
	kz_auto_buf struct kz_buf b = KZ_BUF_INIT(SIZE_MAX);

	(void)state;
	assert_int_equal(kz_buf_puts(&b, "kept", NULL), KZ_OK);
	assert_int_equal(kz_buf_add(&b, "x", SIZE_MAX - 4, NULL), KZ_E_OS);
	assert_string_equal(kz_buf_str(&b), "kept");
}

static void buf_steal_leaves_it_usable(void **state)
{
	kz_auto_buf struct kz_buf b = KZ_BUF_INIT(100);
	char *s;

	(void)state;
	s = kz_buf_steal(&b);
	assert_string_equal(s, "");
	free(s);
	kz_buf_puts(&b, "one", NULL);
	s = kz_buf_steal(&b);
	assert_string_equal(s, "one");
	free(s);
	assert_int_equal(kz_buf_printf(&b, NULL, "%d", 2), KZ_OK);
	assert_string_equal(kz_buf_str(&b), "2");
}

/* The vectors of RFC 4648, and that no text has a second spelling. */
static void base64_has_one_spelling(void **state)
{
	static const char *const pairs[][2] = { { "", "" },
						{ "f", "Zg==" },
						{ "fo", "Zm8=" },
						{ "foo", "Zm9v" },
						{ "foob", "Zm9vYg==" },
						{ "fooba", "Zm9vYmE=" },
						{ "foobar", "Zm9vYmFy" } };
	static const char *const bad[] = { "Z",    "Zg",   "Zg=",      "Zh==",  "Zm9=",
					   "=",    "====", "Zg==Zg==", " Zg==", "Zg==\n",
					   "Z=g=", "-_8=", "\x80g==" };
	unsigned char out[16];
	size_t n;

	(void)state;
	for (size_t i = 0; i < sizeof(pairs) / sizeof(*pairs); i++) {
		const char *text = pairs[i][1];
		size_t len = strlen(text), bare = strcspn(text, "=");

		assert_true(kz_base64_decode(KZ_BASE64_STANDARD, text, len, out, sizeof(out), &n));
		assert_int_equal(n, strlen(pairs[i][0]));
		assert_memory_equal(out, pairs[i][0], n);
		assert_true(kz_base64_decode(KZ_BASE64_URL, text, bare, out, n, &n));
		assert_int_equal(n, strlen(pairs[i][0]));
		if (n > 0)
			assert_false(kz_base64_decode(KZ_BASE64_URL, text, bare, out, n - 1, &n));
		if (bare != len)
			assert_false(
				kz_base64_decode(KZ_BASE64_URL, text, len, out, sizeof(out), &n));
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_false(kz_base64_decode(KZ_BASE64_STANDARD, bad[i], strlen(bad[i]), out,
					      sizeof(out), &n));
	assert_true(kz_base64_decode(KZ_BASE64_URL, "-_8", 3, out, sizeof(out), &n));
	assert_memory_equal(out, "\xfb\xff", 2);
	assert_true(kz_base64_decode(KZ_BASE64_STANDARD, "+/8=", 4, out, sizeof(out), &n));
	assert_memory_equal(out, "\xfb\xff", 2);
	/* of two digits, those that hold one byte: the lower four bits of the second are 0 */
	n = 0;
	for (int a = 0; a < 256; a++)
		for (int b = 0; b < 256; b++) {
			char text[2] = { (char)a, (char)b };
			size_t len;

			n += kz_base64_decode(KZ_BASE64_URL, text, 2, out, sizeof(out), &len);
		}
	assert_int_equal(n, 256);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(err_null_record_returns_the_code),
		cmocka_unit_test(err_text_is_one_clean_line),
		cmocka_unit_test(err_huge_text_is_cut),
		cmocka_unit_test(err_sys_keeps_errno),
		cmocka_unit_test(err_wrap_of_no_failure_is_a_bug),
		cmocka_unit_test(err_a_new_failure_forgets_the_old_reason),
		cmocka_unit_test(err_statuses_go_both_ways),
		cmocka_unit_test(str_copy_fits_or_leaves_nothing),
		cmocka_unit_test(str_null_is_handled),
		cmocka_unit_test(int_takes_whole_numbers_only),
		cmocka_unit_test(hex_round_trip_and_refusals),
		cmocka_unit_test(hex_error_does_not_quote_a_secret),
		cmocka_unit_test(utf8_follows_rfc_3629),
		cmocka_unit_test(names_are_narrow),
		cmocka_unit_test(buf_never_passes_its_maximum),
		cmocka_unit_test(buf_grows_in_small_steps_to_a_large_size),
		cmocka_unit_test(buf_without_memory_fails_and_keeps_its_content),
		cmocka_unit_test(base64_has_one_spelling),
		cmocka_unit_test(buf_steal_leaves_it_usable),
	};

	return cmocka_run_group_tests_name("text", tests, NULL, NULL);
}
