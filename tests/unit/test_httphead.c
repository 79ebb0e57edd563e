/* Request heads: what is taken, what is refused, and that every prefix asks for more. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "rule/httphead.h"

static enum kz_head_rc parse(const char *s, struct kz_httphead *h)
{
	return kz_httphead_parse(s, strlen(s), h);
}

static void exec_1_a_good_head(void **state)
{
	static const char s[] = "POST /v1/bind HTTP/1.1\r\nHost: a\r\nAuthorization:  Bearer x \r\n"
				"content-length: 12\r\nConnection: keep-alive, close\r\n\r\nbody";
	struct kz_httphead h;

	(void)state;
	assert_int_equal(parse(s, &h), KZ_HEAD_OK);
	assert_true(kz_slice_is(h.method, "POST"));
	assert_true(kz_slice_is(h.target, "/v1/bind"));
	assert_int_equal(h.minor, 1);
	assert_int_equal(h.content_length, 12);
	assert_int_equal(h.bytes, sizeof s - 1 - 4);
	assert_true(h.is_close);
	assert_false(h.has_transfer_encoding);
	assert_true(kz_slice_is(*kz_httphead_field(&h, "AUTHORIZATION"), "Bearer x"));
	assert_null(kz_httphead_field(&h, "author"));
}

static void exec_1_every_prefix_asks_for_more(void **state)
{
	static const char s[] = "GET / HTTP/1.1\r\nHost: a\r\nA: b\r\n\r\n";
	struct kz_httphead h;

	(void)state;
	for (size_t n = 0; n < sizeof s - 1; n++) {
		/* in memory of exactly that size, so that a sanitizer sees a byte too far */
		char *p = malloc(n ? n : 1);

		memcpy(p, s, n);
		assert_int_equal(kz_httphead_parse(p, n, &h), KZ_HEAD_MORE);
		free(p);
	}
}

static void proxy_refuses(void **state)
{
	static const char *const bad[] = {
		"\r\n\r\n",
		"GET\r\n\r\n",
		"GET /\r\n\r\n",
		"GET / \r\n\r\n",
		"GET  / HTTP/1.1\r\nHost: a\r\n\r\n",
		"GET / HTTP/1.1 \r\nHost: a\r\n\r\n",
		"GET / HTTP/2.0\r\nHost: a\r\n\r\n",
		"GET / HTTP/1.2\r\nHost: a\r\n\r\n",
		"GET / http/1.1\r\nHost: a\r\n\r\n",
		" GET / HTTP/1.1\r\nHost: a\r\n\r\n",
		"G\tT / HTTP/1.1\r\nHost: a\r\n\r\n",
		"GET /\x7f HTTP/1.1\r\nHost: a\r\n\r\n",
		"GET /\xc3\xa9 HTTP/1.1\r\nHost: a\r\n\r\n",
		"GET / HTTP/1.1\nHost: a\n\n",
		"GET / HTTP/1.1\r\nHost: a\n\r\n",
		"GET / HTTP/1.1\r\nHost : a\r\n\r\n",
		"GET / HTTP/1.1\r\n Host: a\r\n\r\n",
		"GET / HTTP/1.1\r\nHost: a\r\nA: b\r\n c\r\n\r\n",
		"GET / HTTP/1.1\r\nHost: a\r\n: b\r\n\r\n",
		"GET / HTTP/1.1\r\nHost: a\r\nA\r\n\r\n",
		"GET / HTTP/1.1\r\nHost: a\r\nA: b\rc\r\n\r\n",
		"GET / HTTP/1.1\r\nHost: a\r\nA: b\x01\r\n\r\n",
		"GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\n",
		"GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 1, 1\r\n\r\n",
		"GET / HTTP/1.1\r\nHost: a\r\nContent-Length: +1\r\n\r\n",
		"GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 0x1\r\n\r\n",
		"GET / HTTP/1.1\r\nHost: a\r\nContent-Length:\r\n\r\n",
		"GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 9999999999999999999\r\n\r\n",
		"GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
		"GET / HTTP/1.1\r\nHost: a\r\nhost: a\r\n\r\n",
		"GET / HTTP/1.1\r\n\r\n",
		"GET / HTTP/1.1\r\nA: b\r\n\r\n",
		"GET / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n",
		"GET / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding:\r\n\r\n",
		"GET / HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n",
		"GET / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nContent-Length: 1\r\n\r\n",
		"GET / HTTP/1.1\r\nHost: a\r\nAuthorization: a\r\nAuthorization: a\r\n\r\n",
		"GET / HTTP/1.1\r\nHost: a\r\nProxy-Authorization: a\r\nproxy-authorization: b\r\n\r\n",
		"GET / HTTP/1.1\r\nHost: a\r\nA: b\r\r\n\r\n",
		"GET / HTTP/1.1\r\nHost: a\r\nA: b\r\n\tc\r\n\r\n",
		"GET / HTTP/1.1\r\r\nHost: a\r\n\r\n",
		"GET / HTTP/1.1\r\nHost: a\r\nA\tb: c\r\n\r\n",
		"GET / HTTP/1.1\r\nHost: a\r\nA b: c\r\n\r\n",
		"GET / HTTP/1.1\r\nHost: a\r\nA\xc3\xa9: c\r\n\r\n",
		"GET / HTTP/1.1\r\nHost: a\r\nA: b\x7f\r\n\r\n",
		"GET / HTTP/1.1\r\nHost: a\r\n\tA: b\r\n\r\n",
		"G@T / HTTP/1.1\r\nHost: a\r\n\r\n",
		"GET /a b HTTP/1.1\r\nHost: a\r\n\r\n",
		"GET / HTTP/1.11\r\nHost: a\r\n\r\n",
		"GET / HTTP/01.1\r\nHost: a\r\n\r\n",
		"PRI * HTTP/2.0\r\n\r\n",
		"\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n",
	};
	struct kz_httphead h;

	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		if (parse(bad[i], &h) != KZ_HEAD_BAD)
			fail_msg("taken: %s", bad[i]);
}

/* What cannot become a head is told before the empty line. */
static void proxy_refuses_early(void **state)
{
	static const char *const bad[] = { "\n",
					   "\r\r",
					   "G\n",
					   "GET / HTTP/1.1\n",
					   "GET / HTTP/1.1\rH",
					   "GET\x01",
					   "\x16\x03\x01\x02",
					   "GET / HTTP/1.1\r\nHost: a\n" };
	struct kz_httphead h;

	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		assert_int_equal(parse(bad[i], &h), KZ_HEAD_BAD);
	assert_int_equal(kz_httphead_parse("\0", 1, &h), KZ_HEAD_BAD);
}

static void proxy_takes_codings_and_extra_fields(void **state)
{
	static const char s[] =
		"POST http://a/ HTTP/1.1\r\nHost:a\r\nTransfer-Encoding:\tcow \r\nX:\r\nX: \xff\tb\r\n\r\n";
	struct kz_httphead h;

	(void)state;
	assert_int_equal(parse(s, &h), KZ_HEAD_OK);
	assert_true(h.has_transfer_encoding);
	assert_true(kz_slice_is(*kz_httphead_field(&h, "transfer-encoding"), "cow"));
	assert_int_equal(h.count, 4);
	assert_true(kz_slice_is(h.fields[2].value, ""));
	assert_true(kz_slice_is(h.fields[3].name, "X"));
	assert_true(kz_slice_is(h.fields[3].value, "\xff\tb"));
	assert_true(kz_slice_is(*kz_httphead_field(&h, "x"), ""));
}

/* A byte at a time comes to the same end, and no byte is looked at twice. */
static void proxy_finds_the_end_in_pieces(void **state)
{
	static const char s[] = "GET / HTTP/1.1\r\nHost: a\r\n\r\nGET /smuggled HTTP/1.1\r\n\r\n";
	const size_t end = strlen("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
	size_t at = 0;

	(void)state;
	for (size_t n = 0; n < end; n++) {
		assert_int_equal(kz_httphead_find(s, n, &at), KZ_HEAD_MORE);
		assert_int_equal(at, n);
	}
	assert_int_equal(kz_httphead_find(s, sizeof s - 1, &at), KZ_HEAD_OK);
	assert_int_equal(at, end);
}

static void proxy_refuses_nul(void **state)
{
	static const char a[] = "GET /\0 HTTP/1.1\r\nHost: a\r\n\r\n",
			  b[] = "GET / HTTP/1.1\r\nHost: a\r\nA: \0\r\n\r\n";
	struct kz_httphead h;

	(void)state;
	assert_int_equal(kz_httphead_parse(a, sizeof a - 1, &h), KZ_HEAD_BAD);
	assert_int_equal(kz_httphead_parse(b, sizeof b - 1, &h), KZ_HEAD_BAD);
}

static void bound_12_size_and_count(void **state)
{
	char *s = malloc(KZ_HEAD_MAX + 8);
	struct kz_httphead h;
	size_t n = 0;

	(void)state;
	memset(s, 'a', KZ_HEAD_MAX + 8);
	memcpy(s, "GET /", 5);
	/* a head of exactly the bound, and one byte more */
	memcpy(s + KZ_HEAD_MAX - 13, " HTTP/1.0\r\n\r\n", 13);
	assert_int_equal(kz_httphead_parse(s, KZ_HEAD_MAX, &h), KZ_HEAD_OK);
	memset(s + 5, 'a', KZ_HEAD_MAX);
	memcpy(s + KZ_HEAD_MAX - 12, " HTTP/1.0\r\n\r\n", 13);
	assert_int_equal(kz_httphead_parse(s, KZ_HEAD_MAX + 1, &h), KZ_HEAD_LARGE);
	for (int over = 0; over < 2; over++) {
		n = 16;
		memcpy(s, "GET / HTTP/1.0\r\n", n);
		for (int i = 0; i < KZ_HEAD_FIELDS + over; i++, n += 6)
			memcpy(s + n, "A: b\r\n", 6);
		memcpy(s + n, "\r\n", 2);
		assert_int_equal(kz_httphead_parse(s, n + 2, &h),
				 over ? KZ_HEAD_LARGE : KZ_HEAD_OK);
	}
	free(s);
}

static void http_1_0_closes(void **state)
{
	struct kz_httphead h;

	(void)state;
	assert_int_equal(parse("GET / HTTP/1.0\r\n\r\n", &h), KZ_HEAD_OK);
	assert_true(h.is_close);
	assert_int_equal(h.content_length, -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(exec_1_a_good_head),
		cmocka_unit_test(exec_1_every_prefix_asks_for_more),
		cmocka_unit_test(proxy_refuses),
		cmocka_unit_test(proxy_refuses_nul),
		cmocka_unit_test(proxy_refuses_early),
		cmocka_unit_test(proxy_takes_codings_and_extra_fields),
		cmocka_unit_test(proxy_finds_the_end_in_pieces),
		cmocka_unit_test(bound_12_size_and_count),
		cmocka_unit_test(http_1_0_closes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
