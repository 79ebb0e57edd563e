/* core/broker: package tokens; the one spelling that passes, and everything that is nearly it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "core/broker/token.h"

#define RUN "00112233445566778899aabbccddeeff"
#define EXECUTION "ffeeddccbbaa99887766554433221100"
#define NOW 1800000000

static struct kz_secret key = { .bytes = { 7 }, .is_set = true };

static void mint(char out[KZ_PKG_TOKEN_TEXT], int64_t expires_s)
{
	assert_int_equal(kz_pkg_token_mint(&key, RUN, EXECUTION, expires_s, out, NULL), KZ_OK);
}

static void refused(const char *p, size_t n, int64_t now_s)
{
	struct kz_pkg_claims c = { .run = "untouched" };
	struct kz_err err = KZ_ERR_INIT;

	assert_int_equal(kz_pkg_token_verify(&key, p, n, now_s, &c, &err), KZ_E_NOPERM);
	assert_string_equal(err.reason, "package_token");
	assert_string_equal(c.run, "untouched");
	assert_null(strstr(err.text, "kzp1"));
}

static void test_round(void **state)
{
	char token[KZ_PKG_TOKEN_TEXT], again[KZ_PKG_TOKEN_TEXT];
	struct kz_pkg_claims c;

	(void)state;
	mint(token, NOW + 300);
	mint(again, NOW + 300);
	assert_string_equal(token, again);
	assert_int_equal(strlen(token), KZ_PKG_TOKEN_TEXT - 1);
	assert_int_equal(strncmp(token, "kzp1.", 5), 0);
	assert_int_equal(strspn(token + 5,
				"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_"),
			 KZ_PKG_TOKEN_TEXT - 6);
	assert_int_equal(kz_pkg_token_verify(&key, token, strlen(token), NOW, &c, NULL), KZ_OK);
	assert_string_equal(c.run, RUN);
	assert_string_equal(c.execution, EXECUTION);
	assert_int_equal(c.expires_s, NOW + 300);
}

/* BRK-2, BRK-28: it ends at its second, and none lives for ever. */
static void test_life(void **state)
{
	char token[KZ_PKG_TOKEN_TEXT];
	struct kz_pkg_claims c;

	(void)state;
	mint(token, NOW + 300);
	assert_int_equal(kz_pkg_token_verify(&key, token, strlen(token), NOW + 299, &c, NULL),
			 KZ_OK);
	refused(token, strlen(token), NOW + 300);
	refused(token, strlen(token), NOW + 100000);
	mint(token, NOW + KZ_PKG_TOKEN_MOST + 1);
	refused(token, strlen(token), NOW);
	mint(token, INT64_MAX);
	refused(token, strlen(token), NOW);
}

/* Each character altered, each length but one, another key. */
static void test_altered(void **state)
{
	char token[KZ_PKG_TOKEN_TEXT], bad[KZ_PKG_TOKEN_TEXT + 4];
	struct kz_secret other = { .bytes = { 8 }, .is_set = true };
	struct kz_pkg_claims c;

	(void)state;
	mint(token, NOW + 300);
	for (size_t i = 0; i < sizeof token - 1; i++) {
		memcpy(bad, token, sizeof token);
		bad[i] = bad[i] == 'A' ? 'B' : 'A';
		refused(bad, sizeof token - 1, NOW);
		refused(token, i, NOW);
	}
	memcpy(bad, token, sizeof token);
	memcpy(bad + sizeof token - 1, "=", 2);
	refused(bad, sizeof token, NOW);
	assert_int_equal(kz_pkg_token_verify(&other, token, strlen(token), NOW, &c, NULL),
			 KZ_E_NOPERM);
}

static void test_ids(void **state)
{
	static const char *const bad[] = { "", "00", RUN "0", "00112233445566778899AABBCCDDEEFF",
					   "00112233445566778899aabbccddeefg" };
	char token[KZ_PKG_TOKEN_TEXT];

	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		assert_int_equal(kz_pkg_token_mint(&key, bad[i], EXECUTION, NOW, token, NULL),
				 KZ_E_SOFTWARE);
		assert_int_equal(kz_pkg_token_mint(&key, RUN, bad[i], NOW, token, NULL),
				 KZ_E_SOFTWARE);
		assert_string_equal(token, "");
	}
	assert_int_equal(kz_pkg_token_mint(&key, RUN, EXECUTION, -1, token, NULL), KZ_E_SOFTWARE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round),
		cmocka_unit_test(test_life),
		cmocka_unit_test(test_altered),
		cmocka_unit_test(test_ids),
	};

	return kz_seal_init(NULL) ? 1 : cmocka_run_group_tests(tests, NULL, NULL);
}
