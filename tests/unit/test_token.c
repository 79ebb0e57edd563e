/* port: v4.public tokens against the published test vectors, and against everything that is nearly one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "base/str.h"
#include "port/seal-sign.h"
#include "port/seal.h"
#include "port/seal-token.h"

/* Of the vectors that the PASETO standard publishes (v4.json): one key pair, three good tokens, four bad ones. */
#define SEED "b4cbfb43df4ce210727d953e4a713307fa19bb7d9f85041438d9e11b942a3774"
#define PUBLIC "1eb9dbbbbc047c03fd70604e0071f0987e16b28b757225c11f00415d0e20b1a2"
#define PAYLOAD "{\"data\":\"this is a signed message\",\"exp\":\"2022-01-01T00:00:00+00:00\"}"
#define BODY                                                                                       \
	"v4.public.eyJkYXRhIjoidGhpcyBpcyBhIHNpZ25lZCBtZXNzYWdlIiwiZXhwIjoiMjAyMi0wMS0wMVQwMDow"   \
	"MDowMCswMDowMCJ9"
#define KID "{\"kid\":\"zVhMiPBP9fRf2snEcT7gFTioeA9COcNy9DfgL1W60haN\"}"
#define KID_64 ".eyJraWQiOiJ6VmhNaVBCUDlmUmYyc25FY1Q3Z0ZUaW9lQTlDT2NOeTlEZmdMMVc2MGhhTiJ9"
#define NOT_JSON_64 ".YXJiaXRyYXJ5LXN0cmluZy10aGF0LWlzbid0LWpzb24"

static const struct vector {
	const char *name, *footer, *implicit, *token;
} good[] = {
	{ "4-S-1", "", "",
	  BODY
	  "bg_XBBzds8lTZShVlwwKSgeKpLT3yukTw6JUz3W4h_ExsQV-P0V54zemZDcAxFaSeef1QlXEFtkqxT1ciiQEDA" },
	{ "4-S-2", KID, "",
	  BODY
	  "v3Jt8mx_TdM2ceTGoqwrh4yDFn0XsHvvV_D0DtwQxVrJEBMl0F2caAdgnpKlt4p7xBnx1HcO-SPo8FPp214HDw" KID_64 },
	{ "4-S-3", KID, "{\"test-vector\":\"4-S-3\"}",
	  BODY
	  "NPWciuD3d0o5eXJXG5pJy-DiVEoyPYWs1YSTwWHNJq6DZD3je5gf-0M4JR9ipdUSJbIovzmBECeaWmaqcaP0DQ" KID_64 },
};

static const struct {
	const char *name, *implicit, *token;
	enum kz_rc rc;
} bad[] = {
	{ "4-F-1", "{\"test-vector\":\"4-F-1\"}",
	  "v4.local.vngXfCISbnKgiP6VWGuOSlYrFYU300fy9ijW33rznDYgxHNPwWluAY2Bgb0z54CUs6aYYkIJ-bOOOmJH"
	  "PuX_34Agt_IPlNdGDpRdGNnBz2MpWJvB3cttheEc1uyCEYltj7wBQQYX" NOT_JSON_64,
	  KZ_E_DATA },
	{ "4-F-2", "{\"test-vector\":\"4-F-2\"}",
	  "v4.public.eyJpbnZhbGlkIjoidGhpcyBzaG91bGQgbmV2ZXIgZGVjb2RlIn22Sp4gjCaUw0c7EH84ZSm_jN_Qr41M"
	  "rgLNu5LIBCzUr1pn3Z-Wukg9h3ceplWigpoHaTLcwxj0NsI1vjTh67YB" KID_64,
	  KZ_E_NO },
	{ "4-F-3", "{\"test-vector\":\"4-F-3\"}",
	  "v3.local.23e_2PiqpQBPvRFKzB0zHhjmxK3sKo2grFZRRLM-U7L0a8uHxuF9RlVz3Ic6WmdUUWTxCaYycwWV1yM8g"
	  "KbZB2JhygDMKvHQ7eBf8GtF0r3K0Q_gF1PXOxcOgztak1eD1dPe9rLVMSgR0nHJXeIGYVuVrVoLWQ" NOT_JSON_64,
	  KZ_E_DATA },
	{ "4-F-4", "",
	  "v4.local.AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAQAr68PS4AXe7If_ZgesdkUMvSwscFlAl1pk5HC"
	  "0e8kApeaqMfGo_7OpBnwJOAbY9V7WU6abu74MmcUE8YWAiaArVI8XJ5hOb_4v9RmDkneN0S92dx0OW4pgy7omxgf3S8c3"
	  "LlQh",
	  KZ_E_DATA },
};

static struct kz_secret seed;
static struct kz_public pair;

static int start(void **state)
{
	(void)state;
	seed.is_set = true;
	return kz_seal_init(NULL) || kz_hex_decode(SEED, seed.bytes, sizeof(seed.bytes), NULL) ||
	       kz_hex_decode(PUBLIC, pair.bytes, sizeof(pair.bytes), NULL);
}

static enum kz_rc verify(const char *implicit, const char *token, size_t n)
{
	kz_auto_buf struct kz_buf payload = KZ_BUF_INIT(4096);
	enum kz_rc rc = kz_token_verify(&pair, implicit, token, n, &payload, NULL);

	if (rc)
		assert_int_equal(payload.len, 0);
	return rc;
}

static void good_vectors_verify_and_are_made_alike(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		const struct vector *v = &good[i];
		kz_auto_buf struct kz_buf out = KZ_BUF_INIT(4096);

		assert_int_equal(
			kz_token_verify(&pair, v->implicit, v->token, strlen(v->token), &out, NULL),
			KZ_OK);
		assert_string_equal(kz_buf_str(&out), PAYLOAD);
		assert_int_equal(kz_token_footer(v->token, strlen(v->token), &out, NULL), KZ_OK);
		assert_string_equal(kz_buf_str(&out), v->footer);
		kz_buf_clear(&out);
		assert_int_equal(kz_token_sign(&seed, PAYLOAD, strlen(PAYLOAD), v->footer,
					       v->implicit, &out, NULL),
				 KZ_OK);
		assert_string_equal(kz_buf_str(&out), v->token);
	}
}

static void bad_vectors_fail(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(verify(bad[i].implicit, bad[i].token, strlen(bad[i].token)),
				 bad[i].rc);
}

static void a_seed_has_the_published_public_key(void **state)
{
	struct kz_public own;

	(void)state;
	kz_sign_public(&seed, &own);
	assert_memory_equal(own.bytes, pair.bytes, sizeof(own.bytes));
}

/* No other token than the signed one verifies: none with a byte changed, cut off, or added anywhere. */
static void no_byte_may_change(void **state)
{
	char token[1024];

	(void)state;
	for (size_t v = 0; v < sizeof(good) / sizeof(good[0]); v++) {
		size_t n = strlen(good[v].token);

		memcpy(token, good[v].token, n);
		for (size_t i = 0; i < n; i++) {
			for (unsigned bit = 0; bit < 8; bit++) {
				token[i] = (char)((unsigned char)token[i] ^ (1U << bit));
				assert_int_not_equal(verify(good[v].implicit, token, n), KZ_OK);
				token[i] = good[v].token[i];
			}
			assert_int_not_equal(verify(good[v].implicit, token, i), KZ_OK);
		}
		assert_int_equal(verify(good[v].implicit, token, n), KZ_OK);
		for (unsigned c = 0; c < 256; c++) {
			token[n] = (char)c;
			assert_int_not_equal(verify(good[v].implicit, token, n + 1), KZ_OK);
		}
	}
}

static void the_assertion_is_part_of_what_is_signed(void **state)
{
	(void)state;
	assert_int_equal(verify("x", good[0].token, strlen(good[0].token)), KZ_E_NO);
	assert_int_equal(verify("", good[2].token, strlen(good[2].token)), KZ_E_NO);
	/* Footer and assertion do not run into each other. */
	assert_int_equal(verify(KID, good[0].token, strlen(good[0].token)), KZ_E_NO);
}

static void another_key_does_not_verify(void **state)
{
	kz_auto_buf struct kz_buf out = KZ_BUF_INIT(4096);
	struct kz_secret other = seed;
	struct kz_public theirs;

	(void)state;
	other.bytes[31] ^= 1;
	kz_sign_public(&other, &theirs);
	assert_int_equal(
		kz_token_verify(&theirs, "", good[0].token, strlen(good[0].token), &out, NULL),
		KZ_E_NO);
}

static void base64_has_one_spelling(void **state)
{
	static const char *const forms[] = {
		"v4.public.",
		"v4.public..",
		"v4.public.A",
		"v4.public",
		"",
		"V4.public.AAAA",
		"v4.public.AAAA=",
		"v4.public.AA==",
		"v4.public.AA AA",
		"v4.public.AA\nAA",
		"v4.public.AA+A",
		"v4.public.AA/A",
		"v4.public.AB", /* bits behind the end */
		"v4.secret.AAAA",
		"v2.public.AAAA",
		"v3.public.AAAA",
		"v4.public.AAAA.AAAA.AAAA",
	};
	char token[1024];

	(void)state;
	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++)
		assert_int_equal(verify("", forms[i], strlen(forms[i])), KZ_E_DATA);
	/* A dot without a footer behind it spells 4-S-1 a second time. */
	assert_int_equal(kz_str_format(token, sizeof(token), NULL, "%s.", good[0].token), KZ_OK);
	assert_int_equal(verify("", token, strlen(token)), KZ_E_DATA);
}

/* The signature's S is below the group order in its one form: S + L verifies nowhere. */
static void a_signature_has_one_form(void **state)
{
	static const unsigned char order[32] = { 0xed, 0xd3, 0xf5, 0x5c, 0x1a, 0x63, 0x12, 0x58,
						 0xd6, 0x9c, 0xf7, 0xa2, 0xde, 0xf9, 0xde, 0x14,
						 0,    0,    0,    0,    0,    0,    0,    0,
						 0,    0,    0,    0,    0,    0,    0,    0x10 };
	unsigned char body[256];
	kz_auto_buf struct kz_buf out = KZ_BUF_INIT(4096);
	kz_auto_buf struct kz_buf signature = KZ_BUF_INIT(4096);
	unsigned carry = 0;
	size_t n = strlen(PAYLOAD);

	(void)state;
	/* The footer decoder gives the bytes of any base64url text: "v4.public.x." and the body. */
	assert_int_equal(kz_buf_printf(&out, NULL, "v4.public.x.%s", good[0].token + 10), KZ_OK);
	assert_int_equal(kz_token_footer(out.data, out.len, &signature, NULL), KZ_OK);
	assert_int_equal(signature.len, n + 64);
	memcpy(body, signature.data, signature.len);
	for (size_t i = 0; i < 32; i++) {
		carry += body[n + 32 + i] + order[i];
		body[n + 32 + i] = (unsigned char)carry;
		carry >>= 8;
	}
	kz_buf_clear(&out);
	assert_int_equal(kz_buf_puts(&out, "v4.public.", NULL), KZ_OK);
	assert_int_equal(kz_token_base64(body, n + 64, &out, NULL), KZ_OK);
	assert_int_equal(verify("", out.data, out.len), KZ_E_NO);
}

static void any_payload_and_footer_come_back(void **state)
{
	char payload[200], footer[100];

	(void)state;
	for (size_t n = 0; n < sizeof(payload); n++) {
		kz_auto_buf struct kz_buf token = KZ_BUF_INIT(1024);
		kz_auto_buf struct kz_buf back = KZ_BUF_INIT(1024);

		kz_random(payload, n);
		memset(footer, 'f', n / 2);
		footer[n / 2] = '\0';
		assert_int_equal(kz_token_sign(&seed, payload, n, footer, "i", &token, NULL),
				 KZ_OK);
		assert_int_equal(kz_token_verify(&pair, "i", token.data, token.len, &back, NULL),
				 KZ_OK);
		assert_int_equal(back.len, n);
		if (n > 0)
			assert_memory_equal(back.data, payload, n);
		assert_int_equal(kz_token_footer(token.data, token.len, &back, NULL), KZ_OK);
		assert_string_equal(kz_buf_str(&back), footer);
	}
}

static void a_buffer_bounds_what_comes_back(void **state)
{
	kz_auto_buf struct kz_buf small = KZ_BUF_INIT(8);

	(void)state;
	assert_int_equal(
		kz_token_verify(&pair, "", good[0].token, strlen(good[0].token), &small, NULL),
		KZ_E_DATA);
	assert_int_equal(kz_token_footer(good[1].token, strlen(good[1].token), &small, NULL),
			 KZ_E_DATA);
	assert_int_equal(kz_token_sign(&seed, "x", 1, "", "", &small, NULL), KZ_E_DATA);
}

/* The published PASERK vectors k4.public-1 to -3 and k4.pid-1 to -3. */
static const struct {
	const char *key, *public_, *pid;
} paserk[] = {
	{ "0000000000000000000000000000000000000000000000000000000000000000",
	  "k4.public.AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
	  "k4.pid.S_XQmeEwHbbvRmiyfXfHYpLGjXGzjTRSDoT1YtTakWFE" },
	{ "707172737475767778797a7b7c7d7e7f808182838485868788898a8b8c8d8e8f",
	  "k4.public.cHFyc3R1dnd4eXp7fH1-f4CBgoOEhYaHiImKi4yNjo8",
	  "k4.pid.9ShR3xc8-qVJ_di0tc9nx0IDIqbatdeM2mqLFBJsKRHs" },
	{ "707172737475767778797a7b7c7d7e7f808182838485868788898a8b8c8d8e90",
	  "k4.public.cHFyc3R1dnd4eXp7fH1-f4CBgoOEhYaHiImKi4yNjpA",
	  "k4.pid.-nyvbaTz8U6TQz7OZWW-iB3va31iAxIpUgzUcVQVmW9A" },
};

static void keys_have_their_published_texts(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(paserk) / sizeof(paserk[0]); i++) {
		char text[KZ_PASERK_PUBLIC_TEXT], pid[KZ_PASERK_PID_TEXT];
		struct kz_public key, back;

		assert_int_equal(kz_hex_decode(paserk[i].key, key.bytes, sizeof(key.bytes), NULL),
				 KZ_OK);
		kz_paserk_public(&key, text);
		assert_string_equal(text, paserk[i].public_);
		kz_paserk_pid(&key, pid);
		assert_string_equal(pid, paserk[i].pid);
		assert_int_equal(kz_paserk_parse(text, &back, NULL), KZ_OK);
		assert_memory_equal(back.bytes, key.bytes, sizeof(key.bytes));
	}
}

static void a_key_text_is_read_strictly(void **state)
{
	static const char *const texts[] = {
		"",
		"k4.public.",
		"k4.public.AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
		"k4.public.AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
		"k4.public.AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAB", /* bits behind the end */
		"k4.public.AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=",
		"k4.secret.AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
		"k4.pid.AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
		"k3.public.AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
		/* the failing vectors: too short, and of another version (33 bytes and more) */
		"k4.public.cHFyc3R1dnd4eXp7fH1-f4CBgoOEhYaHiImKi4yNjg",
		"k4.public.AnBxcnN0dXZ3eHl6e3x9fn-AgYKDhIWGh4iJiouMjY6P",
	};
	struct kz_public key;

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		assert_int_equal(kz_paserk_parse(texts[i], &key, NULL), KZ_E_DATA);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(good_vectors_verify_and_are_made_alike),
		cmocka_unit_test(bad_vectors_fail),
		cmocka_unit_test(a_seed_has_the_published_public_key),
		cmocka_unit_test(no_byte_may_change),
		cmocka_unit_test(the_assertion_is_part_of_what_is_signed),
		cmocka_unit_test(another_key_does_not_verify),
		cmocka_unit_test(base64_has_one_spelling),
		cmocka_unit_test(a_signature_has_one_form),
		cmocka_unit_test(any_payload_and_footer_come_back),
		cmocka_unit_test(a_buffer_bounds_what_comes_back),
		cmocka_unit_test(keys_have_their_published_texts),
		cmocka_unit_test(a_key_text_is_read_strictly),
	};

	return cmocka_run_group_tests(tests, start, NULL);
}
