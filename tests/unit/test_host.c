/* rule/host: authorities and names, one reading of each [POL-15, PROXY-7, PROXY-8]. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "rule/host.h"

static unsigned seed;

static enum kz_reason parse(const char *text, uint16_t port, struct kz_target *t)
{
	return kz_target_parse(text, strlen(text), port, t);
}

static void test_pol15_authorities_come_to_one_form(void **state)
{
	static const struct {
		const char *text, *host;
		uint16_t port;
		bool is_literal;
	} cases[] = {
		{ "Pub.Test.:443", "pub.test", 443, false },
		{ "a_b-c.d:1", "a_b-c.d", 1, false },
		{ "localhost:65535", "localhost", 65535, false },
		{ "1.2.3.4:80", "1.2.3.4", 80, true },
		{ "[2001:DB8:0::1]:80", "2001:db8::1", 80, true },
		{ "[::ffff:1.2.3.4]:80", "::ffff:1.2.3.4", 80, true },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct kz_target t;

		assert_int_equal(parse(cases[i].text, 0, &t), KZ_R_NONE);
		assert_string_equal(t.host, cases[i].host);
		assert_int_equal(t.port, cases[i].port);
		assert_int_equal(t.is_literal, cases[i].is_literal);
	}
}

static void test_proxy3_a_port_may_be_left_out_only_with_a_default(void **state)
{
	struct kz_target t;

	(void)state;
	assert_int_equal(parse("pub.test", 80, &t), KZ_R_NONE);
	assert_int_equal(t.port, 80);
	assert_int_equal(parse("[::1]", 80, &t), KZ_R_NONE);
	assert_int_equal(t.port, 80);
	assert_int_equal(parse("pub.test:8080", 80, &t), KZ_R_NONE);
	assert_int_equal(t.port, 8080);
	assert_int_equal(parse("pub.test:", 80, &t), KZ_R_INVALID_PORT);
	assert_int_equal(parse("pub.test", 0, &t), KZ_R_INVALID_PORT);
	assert_int_equal(parse("[::1]", 0, &t), KZ_R_INVALID_PORT);
	assert_int_equal(parse("127.1", 80, &t), KZ_R_NUMERIC_HOST);
}

static void test_pol15_entries_of_a_list_are_exact(void **state)
{
	static const char *const good[][2] = {
		{ "Pub.Test.", "pub.test" },
		{ "pub.test", "pub.test" },
		{ "1.2.3.4", "1.2.3.4" },
		{ "2606:4700::1", "2606:4700::1" },
		{ "xn--bcher-kva.test", "xn--bcher-kva.test" },
	};
	static const char *const bad[] = {
		"",      "*",      "*.pub.test",     ".pub.test", "pub.test:443",
		"[::1]", "::1%lo", "1.2.3.4:80",     "127.1",     "http://x.y",
		"x.y/",  "a b",    "b\xc3\xbc.test", "pub..test", "1.2.3.4/32",
		"x@y.z"
	};

	(void)state;
	for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
		struct kz_target t;

		assert_int_equal(kz_host_parse(good[i][0], strlen(good[i][0]), &t), KZ_R_NONE);
		assert_string_equal(t.host, good[i][1]);
		assert_int_equal(t.port, 0);
	}
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		if (kz_host_parse(bad[i], strlen(bad[i]), &(struct kz_target){ 0 }) == KZ_R_NONE)
			fail_msg("%s was taken for a host", bad[i]);
}

static void test_pol15_a_literal_is_only_itself(void **state)
{
	struct kz_target a, b, c, d;

	(void)state;
	assert_int_equal(parse("1.2.3.4:1", 0, &a), KZ_R_NONE);
	assert_int_equal(parse("1.2.3.4:2", 0, &b), KZ_R_NONE);
	assert_int_equal(parse("[::ffff:1.2.3.4]:1", 0, &c), KZ_R_NONE);
	assert_int_equal(parse("pub.test:1", 0, &d), KZ_R_NONE);
	assert_true(kz_target_same_host(&a, &b));
	assert_false(kz_target_same_host(&a, &c) || kz_target_same_host(&a, &d));
	/* Even a name that would read the same. */
	memcpy(d.host, a.host, sizeof d.host);
	assert_false(kz_target_same_host(&a, &d));
}

static void test_proxy8_a_refused_target_is_untouched(void **state)
{
	struct kz_target t = { .host = "before", .port = 7 };

	(void)state;
	assert_int_equal(parse("127.1:80", 0, &t), KZ_R_NUMERIC_HOST);
	assert_int_equal(parse("[::1]:0", 0, &t), KZ_R_INVALID_PORT);
	assert_int_equal(parse("a b:80", 0, &t), KZ_R_INVALID_TARGET);
	assert_string_equal(t.host, "before");
	assert_int_equal(t.port, 7);
	assert_false(t.is_literal);
}

static void test_proxy7_kinds_of_names(void **state)
{
	static const struct {
		const char *host;
		enum kz_host_kind kind;
	} cases[] = {
		{ "pub.test", KZ_HOST_PUBLIC },
		{ "local.test", KZ_HOST_PUBLIC },
		{ "xlocal", KZ_HOST_NEVER },
		{ "a.xlocal", KZ_HOST_PUBLIC },
		{ "local", KZ_HOST_NEVER },
		{ "a.local", KZ_HOST_INNER },
		{ "b.a.local", KZ_HOST_INNER },
		{ "localhost", KZ_HOST_NEVER },
		{ "a.localhost", KZ_HOST_NEVER },
		{ "alocalhost.x", KZ_HOST_PUBLIC },
		{ "x.onion", KZ_HOST_NEVER },
		{ "x.internal", KZ_HOST_INNER },
		{ "x.home.arpa", KZ_HOST_INNER },
		{ "home.arpa", KZ_HOST_INNER },
		{ "xhome.arpa", KZ_HOST_PUBLIC },
		{ "1.0.0.127.in-addr.arpa", KZ_HOST_PUBLIC },
		{ "k.svc.cluster.local", KZ_HOST_INNER },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		if (kz_host_kind(cases[i].host) != cases[i].kind)
			fail_msg("%s is of another kind", cases[i].host);
}

/* Any bytes: what is read prints as something that reads the same; with and without a default port alike. */
static void test_proxy8_what_is_read_reads_the_same_again(void **state)
{
	static const char alphabet[] = "0123456789abcfxAX....::::[[]]--_%@/ \t\0\xef";
	int read = 0;

	(void)state;
	for (int i = 0; i < 400000; i++) {
		char text[24], printed[KZ_AUTHORITY_TEXT];
		size_t n = (size_t)rand_r(&seed) % sizeof text;
		struct kz_target t, again;
		enum kz_reason r;

		for (size_t k = 0; k < n; k++)
			text[k] = alphabet[(unsigned)rand_r(&seed) % (sizeof alphabet - 1)];
		/* Half of them end like an authority. */
		if (i % 2 && n > 3)
			memcpy(text + n - 3, ":80", 3);
		r = kz_target_parse(text, n, 0, &t);
		if (r != KZ_R_NONE)
			continue;
		read++;
		kz_target_print(&t, printed);
		assert_int_equal(kz_target_parse(printed, strlen(printed), 0, &again), KZ_R_NONE);
		assert_true(kz_target_same_host(&t, &again));
		assert_string_equal(t.host, again.host);
		assert_int_equal(t.port, again.port);
		assert_int_equal(kz_target_parse(text, n, 443, &again), KZ_R_NONE);
		assert_int_equal(t.port, again.port);
		assert_int_equal(kz_host_parse(t.host, strlen(t.host), &again), KZ_R_NONE);
		assert_true(kz_target_same_host(&t, &again));
	}
	assert_true(read > 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pol15_authorities_come_to_one_form),
		cmocka_unit_test(test_proxy3_a_port_may_be_left_out_only_with_a_default),
		cmocka_unit_test(test_pol15_entries_of_a_list_are_exact),
		cmocka_unit_test(test_pol15_a_literal_is_only_itself),
		cmocka_unit_test(test_proxy8_a_refused_target_is_untouched),
		cmocka_unit_test(test_proxy7_kinds_of_names),
		cmocka_unit_test(test_proxy8_what_is_read_reads_the_same_again),
	};
	const char *given = getenv("SEED");

	seed = given ? (unsigned)strtoul(given, NULL, 10) : (unsigned)getpid();
	print_message("# SEED=%u\n", seed);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
