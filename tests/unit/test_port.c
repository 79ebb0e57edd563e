/* port: JSON and cryptography. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "port/json.h"
#include "port/seal.h"

static enum kz_rc parse(const char *text, struct kz_err *err)
{
	kz_auto_json struct kz_json *j = NULL;

	return kz_json_parse(text, strlen(text), &j, err);
}

static void json_refuses_what_is_not_strict(void **state)
{
	static const char *const bad[] = {
		"",
		" ",
		"{",
		"{}x",
		"{} {}",
		"{\"a\":1,\"a\":2}",
		"[1,]",
		"{\"a\":\"\\u0000\"}",
		"\"\xff\"",
		"\"\xed\xa0\x80\"",
		"'a'",
		"NaN",
		"{\"a\":1,}",
		"01",
		"\"\n\"",
		"99999999999999999999",
		"[1 2]",
		"{\"\\u0001kz-broken\":true}",
		"[[{\"\\u0001kz-broken\":1}]]",
	};
	struct kz_err err;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(parse(bad[i], &err), KZ_E_DATA);
	assert_int_equal(kz_json_parse(NULL, 0, &(struct kz_json *){ NULL }, &err), KZ_E_DATA);
	assert_int_equal(kz_json_parse("1\0", 2, &(struct kz_json *){ NULL }, &err), KZ_E_DATA);
}

static void json_refuses_depth_over_64(void **state)
{
	char text[200001];
	kz_auto_json struct kz_json *j = NULL;

	(void)state;
	memset(text, '[', 64);
	memset(text + 64, ']', 64);
	assert_int_equal(kz_json_parse(text, 128, &j, NULL), KZ_OK);
	memset(text, '[', 65);
	memset(text + 65, ']', 65);
	text[130] = '\0';
	assert_int_equal(parse(text, NULL), KZ_E_DATA);
	memset(text, '[', 100000);
	memset(text + 100000, ']', 100000);
	text[200000] = '\0';
	assert_int_equal(parse(text, NULL), KZ_E_DATA);
}

static void json_error_names_the_place_and_quotes_nothing(void **state)
{
	struct kz_err err = KZ_ERR_INIT;

	(void)state;
	assert_int_equal(parse("{\"a\":\n canary}", &err), KZ_E_DATA);
	assert_non_null(strstr(err.text, "line 2"));
	assert_null(strstr(err.text, "canary"));
}

static void json_reads_what_it_wrote(void **state)
{
	kz_auto_json struct kz_json *o = kz_json_object();
	kz_auto_json struct kz_json *back = NULL;
	kz_auto_buf struct kz_buf b = KZ_BUF_INIT(10000);
	kz_auto_buf struct kz_buf c = KZ_BUF_INIT(10000);
	struct kz_json *a = kz_json_array();

	(void)state;
	kz_json_set_str(o, "z", "line\n\"\\\xc3\xa9");
	kz_json_set_int(o, "min", INT64_MIN);
	kz_json_set_bool(o, "yes", true);
	kz_json_set_str(o, "none", NULL);
	kz_json_append(a, kz_json_int(1));
	kz_json_append(a, kz_json_null());
	kz_json_set(o, "a", a);
	assert_int_equal(kz_json_write(o, &b, NULL), KZ_OK);
	assert_string_equal(kz_buf_str(&b),
			    "{\"z\":\"line\\n\\\"\\\\\xc3\xa9\",\"min\":-9223372036854775808,"
			    "\"yes\":true,\"none\":null,\"a\":[1,null]}");
	assert_int_equal(kz_json_parse(b.data, b.len, &back, NULL), KZ_OK);
	assert_int_equal(kz_json_write_canonical(back, &c, NULL), KZ_OK);
	assert_string_equal(
		kz_buf_str(&c),
		"{\"a\":[1,null],\"min\":-9223372036854775808,\"none\":null,\"yes\":true,"
		"\"z\":\"line\\n\\\"\\\\\xc3\xa9\"}");
	assert_string_equal(kz_json_key(back, 1), "min");
	assert_null(kz_json_key(back, 5));
	assert_int_equal(kz_json_count(back), 5);
	assert_int_equal(kz_json_int_value(kz_json_at(kz_json_get(back, "a"), 0)), 1);
	assert_null(kz_json_at(kz_json_get(back, "a"), 2));
}

static void json_access_never_trusts_a_type(void **state)
{
	kz_auto_json struct kz_json *o = NULL;
	const char *text = "{\"s\":\"x\",\"n\":5,\"b\":true,\"r\":1.5,\"o\":{}}";

	(void)state;
	assert_int_equal(kz_json_parse(text, strlen(text), &o, NULL), KZ_OK);
	assert_string_equal(kz_json_str(o, "n", "fallback"), "fallback");
	assert_string_equal(kz_json_str(NULL, "n", "fallback"), "fallback");
	assert_int_equal(kz_json_num(o, "s", 9), 9);
	assert_int_equal(kz_json_num(o, "r", 9), 9);
	assert_int_equal(kz_json_num(o, "absent", 9), 9);
	assert_true(kz_json_flag(o, "n", true));
	assert_false(kz_json_flag(o, "absent", false));
	assert_null(kz_json_str_value(kz_json_get(o, "o")));
	assert_null(kz_json_get(NULL, "a"));
	assert_null(kz_json_get(kz_json_get(o, "s"), "a"));
	assert_int_equal(kz_json_count(NULL), 0);
	assert_false(kz_json_is_object(NULL));
	assert_true(kz_json_is_object(kz_json_get(o, "o")));
	kz_json_free(NULL);
}

static void json_builder_failure_is_told_at_the_end(void **state)
{
	kz_auto_json struct kz_json *o = kz_json_object();
	kz_auto_json struct kz_json *deep = kz_json_object();
	kz_auto_buf struct kz_buf b = KZ_BUF_INIT(100);
	struct kz_json *a = kz_json_array();

	(void)state;
	kz_buf_puts(&b, "kept", NULL);
	kz_json_set_str(o, "bad", "\xff");
	assert_int_equal(kz_json_write(o, &b, NULL), KZ_E_OS);
	assert_string_equal(kz_buf_str(&b), "kept");
	kz_json_append(a, kz_json_string("\xff"));
	kz_json_set(deep, "a", a);
	assert_int_equal(kz_json_write(deep, &b, NULL), KZ_E_OS);
	assert_int_equal(kz_json_write(NULL, &b, NULL), KZ_E_OS);
	kz_json_set_int(NULL, "x", 1);
	kz_json_append(NULL, kz_json_int(1));
}

static void json_write_over_the_maximum_leaves_the_buffer(void **state)
{
	kz_auto_json struct kz_json *s = kz_json_string("0123456789");
	kz_auto_buf struct kz_buf b = KZ_BUF_INIT(8);

	(void)state;
	kz_buf_puts(&b, "ab", NULL);
	assert_int_equal(kz_json_write(s, &b, NULL), KZ_E_DATA);
	assert_string_equal(kz_buf_str(&b), "ab");
}

static void json_only_names_the_stranger(void **state)
{
	kz_auto_json struct kz_json *o = kz_json_object();
	const char *const keys[] = { "a", "b", NULL };
	struct kz_err err = KZ_ERR_INIT;

	(void)state;
	kz_json_set_int(o, "a", 1);
	assert_int_equal(kz_json_only(o, keys, &err), KZ_OK);
	kz_json_set_int(o, "c\n", 1);
	assert_int_equal(kz_json_only(o, keys, &err), KZ_E_DATA);
	assert_non_null(strstr(err.text, "\"c?\""));
}

static void sha256_has_the_published_values(void **state)
{
	char hex[KZ_SHA256_HEX], streamed[KZ_SHA256_HEX];
	struct kz_sha256 h;
	char *million = malloc(1000000);

	(void)state;
	memset(million, 'a', 1000000);
	kz_sha256_hex(NULL, 0, hex);
	assert_string_equal(hex,
			    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
	kz_sha256_hex("abc", 3, hex);
	assert_string_equal(hex,
			    "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
	kz_sha256_start(&h);
	for (int i = 0; i < 1000; i++)
		kz_sha256_add(&h, million + i * 1000, 1000);
	kz_sha256_add(&h, NULL, 0);
	kz_sha256_end(&h, streamed);
	assert_string_equal(streamed,
			    "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
	free(million);
}

static void lease17_identifiers_depend_on_every_part(void **state)
{
	struct kz_secret a = { .is_set = true }, b = { .is_set = true };
	const char *const one[] = { "ab", "c" }, *const two[] = { "a", "bc" },
			  *const three[] = { "abc" };
	char x[KZ_ID_HEX], y[KZ_ID_HEX];

	(void)state;
	b.bytes[31] = 1;
	kz_keyed_id(&a, "actor", one, 2, x);
	assert_int_equal(strlen(x), 32);
	kz_keyed_id(&a, "actor", one, 2, y);
	assert_string_equal(x, y);
	kz_keyed_id(&a, "actor", two, 2, y);
	assert_string_not_equal(x, y);
	kz_keyed_id(&a, "actor", three, 1, y);
	assert_string_not_equal(x, y);
	kz_keyed_id(&a, "actorab", one + 1, 1, y);
	assert_string_not_equal(x, y);
	kz_keyed_id(&a, "conversation", one, 2, y);
	assert_string_not_equal(x, y);
	kz_keyed_id(&b, "actor", one, 2, y);
	assert_string_not_equal(x, y);
}

static void derived_keys_differ_by_context_and_key(void **state)
{
	struct kz_secret a = { .is_set = true }, b = { .is_set = true }, x, y;

	(void)state;
	b.bytes[0] = 1;
	kz_derive(&a, "worker", &x);
	kz_derive(&a, "worker", &y);
	assert_true(x.is_set && kz_equal(x.bytes, y.bytes, KZ_KEY_BYTES));
	kz_derive(&a, "grant", &y);
	assert_false(kz_equal(x.bytes, y.bytes, KZ_KEY_BYTES));
	kz_derive(&b, "worker", &y);
	assert_false(kz_equal(x.bytes, y.bytes, KZ_KEY_BYTES));
	kz_secret_release(&x);
	assert_false(x.is_set);
	assert_true(kz_equal(x.bytes, a.bytes, KZ_KEY_BYTES));
}

static void random_ids_do_not_repeat(void **state)
{
	char a[KZ_ID_HEX], b[KZ_ID_HEX];

	(void)state;
	kz_random_id(a);
	kz_random_id(b);
	assert_int_equal(strspn(a, "0123456789abcdef"), 32);
	assert_string_not_equal(a, b);
}

static int start(void **state)
{
	(void)state;
	return kz_seal_init(NULL) || kz_seal_init(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(json_refuses_what_is_not_strict),
		cmocka_unit_test(json_refuses_depth_over_64),
		cmocka_unit_test(json_error_names_the_place_and_quotes_nothing),
		cmocka_unit_test(json_reads_what_it_wrote),
		cmocka_unit_test(json_access_never_trusts_a_type),
		cmocka_unit_test(json_builder_failure_is_told_at_the_end),
		cmocka_unit_test(json_write_over_the_maximum_leaves_the_buffer),
		cmocka_unit_test(json_only_names_the_stranger),
		cmocka_unit_test(sha256_has_the_published_values),
		cmocka_unit_test(lease17_identifiers_depend_on_every_part),
		cmocka_unit_test(derived_keys_differ_by_context_and_key),
		cmocka_unit_test(random_ids_do_not_repeat),
	};

	return cmocka_run_group_tests_name("port", tests, start, NULL);
}
