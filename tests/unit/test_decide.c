/* rule/decide: what may be reached [POL-1, POL-3, POL-4, PROXY-5, INV-27, INV-32].  Destinations are in tests/golden/egress-authority.tsv. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "rule/decide.h"

static unsigned seed;

static struct kz_addr address(const char *text)
{
	struct kz_addr a;

	if (!kz_addr_parse(text, strlen(text), &a))
		fail_msg("%s is no address", text);
	return a;
}

static struct kz_target target(const char *text)
{
	struct kz_target t;

	if (kz_target_parse(text, strlen(text), 443, &t) != KZ_R_NONE)
		fail_msg("%s is no target", text);
	return t;
}

static struct kz_scope scope(const char *mode)
{
	struct kz_scope_config c = { .enabled = "true",
				     .mode = mode,
				     .hosts = "pub.test,git.internal,8.8.8.8,10.1.1.1",
				     .cidrs = "10.0.0.0/8,fc00::/7",
				     .ports = "443",
				     .ttl = "600",
				     .is_cidrs_own = true,
				     .has_field_key = true,
				     .has_proxy = true };
	struct kz_scope s;

	assert_int_equal(kz_scope_resolve(&c, &s), KZ_R_NONE);
	return s;
}

static const char *const modes[] = { "isolated", "public_internet", "private_network",
				     "host_allowlist" };

static void test_pol4_denied_ranges_hold_in_every_mode(void **state)
{
	struct kz_cidr deny[2];
	struct kz_decide_env e = { .deny = deny, .deny_count = 2 };
	struct kz_target pub = target("pub.test"), lit = target("8.8.8.8"),
			 inner = target("10.1.1.1");

	(void)state;
	assert_true(kz_cidr_parse("8.8.8.0/24", 10, &deny[0]));
	assert_true(kz_cidr_parse("10.1.0.0/16", 11, &deny[1]));
	for (size_t i = 1; i < 4; i++) {
		struct kz_scope s = scope(modes[i]);
		struct kz_addr a[] = { address("8.8.8.9"), address("10.1.2.3") };

		assert_int_equal(kz_decide_answers(&s, &e, &pub, &a[0], 1), KZ_R_ADDRESS_DENIED);
		assert_int_equal(kz_decide_answers(&s, &e, &pub, &a[1], 1), KZ_R_ADDRESS_DENIED);
		assert_int_equal(kz_decide_target(&s, &e, &lit), KZ_R_ADDRESS_DENIED);
		assert_int_equal(kz_decide_target(&s, &e, &inner), KZ_R_ADDRESS_DENIED);
	}
	/* One that cannot be read denies all. */
	e = (struct kz_decide_env){ .is_deny_unusable = true };
	for (size_t i = 1; i < 4; i++) {
		struct kz_scope s = scope(modes[i]);

		assert_int_equal(kz_decide_target(&s, &e, &pub), KZ_R_DENY_UNUSABLE);
	}
}

/* A registry that the operator named: his own networks too, and nothing that is protected. */
static void test_brk8_a_named_registry_may_stand_in_ones_own_network(void **state)
{
	static const struct {
		const char *target, *answer;
		enum kz_reason want;
	} cases[] = {
		{ "pypi.example.test", "8.8.4.4", KZ_R_NONE },
		{ "pypi.example.test", "192.168.7.7", KZ_R_NONE },
		{ "pypi.example.test", "100.64.0.1", KZ_R_NONE },
		{ "pypi.example.test", "fd00::7", KZ_R_NONE },
		{ "pypi.example.test", "127.0.0.1", KZ_R_ADDRESS_LOOPBACK },
		{ "pypi.example.test", "::1", KZ_R_ADDRESS_LOOPBACK },
		{ "pypi.example.test", "169.254.169.254", KZ_R_ADDRESS_METADATA },
		{ "pypi.example.test", "::ffff:8.8.4.4", KZ_R_ADDRESS_EMBEDDED },
		{ "pypi.example.test", "224.0.0.1", KZ_R_ADDRESS_MULTICAST },
		{ "pypi.example.test", "192.168.9.9", KZ_R_ADDRESS_SELF },
		{ "pypi.example.test", "10.66.0.1", KZ_R_ADDRESS_DENIED },
		{ "pypi", "8.8.4.4", KZ_R_SPECIAL_NAME },
		{ "127.0.0.1:8081", NULL, KZ_R_NONE },
		{ "10.1.1.1", NULL, KZ_R_NONE },
		{ "10.66.0.1", NULL, KZ_R_ADDRESS_DENIED },
		{ "169.254.169.254", NULL, KZ_R_ADDRESS_METADATA },
	};
	static const struct {
		const char *range, *answer;
		enum kz_reason want;
	} own[] = {
		{ "203.0.113.0/24", "203.0.113.80", KZ_R_NONE },
		{ "127.0.0.0/8", "127.0.0.1", KZ_R_NONE },
		{ "169.254.0.0/16", "169.254.169.254", KZ_R_ADDRESS_METADATA },
		{ "169.254.0.0/16", "169.254.1.1", KZ_R_ADDRESS_LINK_LOCAL },
		{ "10.66.0.0/16", "10.66.0.1", KZ_R_ADDRESS_DENIED },
		{ "203.0.113.0/28", "203.0.113.80", KZ_R_ADDRESS_DOCUMENTATION },
	};
	struct kz_cidr deny[1];
	struct kz_addr self[] = { address("192.168.9.9") };
	struct kz_decide_env e = { .deny = deny, .deny_count = 1, .self = self, .self_count = 1 };

	(void)state;
	assert_true(kz_cidr_parse("10.66.0.0/16", 12, &deny[0]));
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct kz_target t = target(cases[i].target);
		struct kz_addr a[] = { address("8.8.8.8"),
				       address(cases[i].answer ? cases[i].answer : "8.8.8.8") };
		enum kz_reason got = kz_decide_named(&e, &t, NULL, 0, a, cases[i].answer ? 2 : 0);

		if (got != cases[i].want)
			fail_msg("%s at %s: %s", cases[i].target, cases[i].answer,
				 kz_reason_code(got));
	}
	/* What he named with it passes; what no registry ever has does not, and neither does what he denies. */
	for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++) {
		struct kz_target t = target("pypi.example.test");
		struct kz_addr a = address(own[i].answer);
		struct kz_cidr range;

		assert_true(kz_cidr_parse(own[i].range, strlen(own[i].range), &range));
		assert_int_equal(kz_decide_named(&e, &t, NULL, 0, &a, 1) == KZ_R_NONE, false);
		assert_int_equal(kz_decide_named(&e, &t, &range, 1, &a, 1), own[i].want);
	}
	e.is_deny_unusable = true;
	assert_int_equal(
		kz_decide_named(&e, &(struct kz_target){ .host = "a.test" }, NULL, 0, self, 1),
		KZ_R_DENY_UNUSABLE);
}

static void test_inv27_this_machine_is_refused(void **state)
{
	struct kz_addr self[] = { address("8.8.8.8"), address("10.1.1.1"),
				  address("2606:4700::1") };
	struct kz_decide_env e = { .self = self, .self_count = 3 };
	struct kz_target pub = target("pub.test"), lit = target("8.8.8.8");

	(void)state;
	for (size_t i = 1; i < 4; i++) {
		struct kz_scope s = scope(modes[i]);

		for (size_t k = 0; k < 3; k++)
			assert_int_equal(kz_decide_answers(&s, &e, &pub, &self[k], 1),
					 KZ_R_ADDRESS_SELF);
		assert_int_equal(kz_decide_target(&s, &e, &lit), KZ_R_ADDRESS_SELF);
	}
	/* Told as such even where it is not in the list. */
	lit = target("[2606:4700::1]");
	{
		struct kz_scope s = scope("host_allowlist");

		assert_int_equal(kz_decide_target(&s, &e, &lit), KZ_R_ADDRESS_SELF);
		e.self_count = 0;
		assert_int_equal(kz_decide_target(&s, &e, &lit), KZ_R_LITERAL_NOT_ALLOWED);
	}
}

static void test_proxy5_the_worst_answer_is_told(void **state)
{
	struct kz_addr self = address("8.8.8.8");
	struct kz_cidr deny;
	struct kz_decide_env e = { .deny = &deny, .deny_count = 1, .self = &self, .self_count = 1 };
	/* From the mildest to the worst; each is told before those in front of it. */
	static const char *const rising[] = { "1.1.1.1",        "192.168.1.1", "100.64.1.1",
					      "8.8.8.8",        "9.9.9.9",     "192.88.99.1",
					      "198.18.0.1",     "192.0.2.1",   "240.0.0.1",
					      "::ffff:8.8.8.8", "224.0.0.1",   "169.254.0.1",
					      "0.0.0.0",        "127.0.0.1",   "169.254.169.254" };
	static const enum kz_reason reasons[] = { KZ_R_NONE,
						  KZ_R_ADDRESS_PRIVATE,
						  KZ_R_ADDRESS_SHARED,
						  KZ_R_ADDRESS_SELF,
						  KZ_R_ADDRESS_DENIED,
						  KZ_R_ADDRESS_SPECIAL,
						  KZ_R_ADDRESS_BENCHMARKING,
						  KZ_R_ADDRESS_DOCUMENTATION,
						  KZ_R_ADDRESS_RESERVED,
						  KZ_R_ADDRESS_EMBEDDED,
						  KZ_R_ADDRESS_MULTICAST,
						  KZ_R_ADDRESS_LINK_LOCAL,
						  KZ_R_ADDRESS_UNSPECIFIED,
						  KZ_R_ADDRESS_LOOPBACK,
						  KZ_R_ADDRESS_METADATA };
	struct kz_scope s = scope("public_internet");
	struct kz_target pub = target("pub.test");
	const size_t count = sizeof rising / sizeof *rising;

	(void)state;
	assert_true(kz_cidr_parse("9.9.9.9/32", 10, &deny));
	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; k < count; k++) {
			struct kz_addr a[] = { address(rising[i]), address(rising[k]) };

			assert_int_equal(kz_decide_answers(&s, &e, &pub, a, 2),
					 reasons[i > k ? i : k]);
		}
}

static void test_proxy8_a_literal_has_no_other_address(void **state)
{
	struct kz_decide_env e = { 0 };
	struct kz_scope s = scope("public_internet");
	struct kz_target t = target("8.8.8.8");
	struct kz_addr a[] = { address("8.8.8.8"), address("1.1.1.1") };

	(void)state;
	assert_int_equal(kz_decide_answers(&s, &e, &t, a, 1), KZ_R_NONE);
	assert_int_equal(kz_decide_answers(&s, &e, &t, a, 2), KZ_R_INVALID_TARGET);
	assert_int_equal(kz_decide_answers(&s, &e, &t, a + 1, 1), KZ_R_INVALID_TARGET);
}

static void test_proxy4_answers_count_only_for_an_allowed_target(void **state)
{
	struct kz_decide_env e = { 0 };
	struct kz_addr a = address("1.1.1.1");
	struct kz_target t = target("pub.test:22"), other = target("other.test"),
			 single = target("intranet");
	struct kz_scope s = scope("host_allowlist"), isolated = scope("isolated");

	(void)state;
	assert_int_equal(kz_decide_answers(&s, &e, &t, &a, 1), KZ_R_PORT_NOT_ALLOWED);
	assert_int_equal(kz_decide_answers(&s, &e, &other, &a, 1), KZ_R_HOST_NOT_ALLOWED);
	assert_int_equal(kz_decide_answers(&s, &e, &single, &a, 1), KZ_R_SPECIAL_NAME);
	assert_int_equal(kz_decide_answers(&isolated, &e, &other, &a, 1), KZ_R_MODE_ISOLATED);
}

static struct kz_addr random_address(void)
{
	static const char *const near[] = { "1.1.1.1",         "8.8.8.8",     "10.1.2.3",
					    "10.1.1.1",        "192.168.0.1", "2606:4700::1",
					    "fd12::1",         "127.0.0.1",   "::1",
					    "169.254.169.254", "100.64.0.1",  "fe80::1" };
	struct kz_addr a = { .family = rand_r(&seed) % 2 ? 4 : 6 };

	if (rand_r(&seed) % 3)
		return address(near[(unsigned)rand_r(&seed) % (sizeof near / sizeof *near)]);
	for (int i = 0; i < (a.family == 4 ? 4 : 16); i++)
		a.bytes[i] = (uint8_t)(rand_r(&seed) >> 4);
	return a;
}

/*
 * What is allowed, however it came about, keeps to the invariant: each answer by itself is allowed, none is
 * protected, denied or this machine's, the port is in the scope; the order of answers does not matter; and
 * a narrower scope allows no more.
 */
static void test_inv27_inv32_whatever_is_allowed_keeps_to_the_rules(void **state)
{
	static const char *const names[] = { "pub.test",    "git.internal",      "other.test",
					     "x.local",     "intranet",          "8.8.8.8",
					     "10.1.1.1",    "1.1.1.1",           "[fd12::1]",
					     "pub.test:22", "[2606:4700::1]:443" };
	static const char *const hint[] = { "pub.test" };
	int allowed = 0;

	(void)state;
	for (int i = 0; i < 200000; i++) {
		struct kz_scope s = scope(modes[(unsigned)rand_r(&seed) % 4]), narrow = s;
		struct kz_cidr deny = { { 4, { 10, 1 } }, 24 };
		struct kz_addr a[6], b[6], self = address("10.1.2.3");
		struct kz_decide_env e = { .deny = &deny,
					   .deny_count = (size_t)rand_r(&seed) % 2,
					   .self = &self,
					   .self_count = (size_t)rand_r(&seed) % 2 };
		struct kz_target t =
			target(names[(unsigned)rand_r(&seed) % (sizeof names / sizeof *names)]);
		size_t n = (size_t)rand_r(&seed) % 6;
		enum kz_reason r;

		for (size_t k = 0; k < n; k++)
			a[k] = b[n - 1 - k] = t.is_literal ? t.addr : random_address();
		r = kz_decide_answers(&s, &e, &t, a, n);
		assert_int_equal(r, kz_decide_answers(&s, &e, &t, b, n));
		kz_scope_narrow(&narrow, hint, 1);
		if (kz_decide_answers(&narrow, &e, &t, a, n) == KZ_R_NONE)
			assert_int_equal(r, KZ_R_NONE);
		if (r != KZ_R_NONE)
			continue;
		allowed++;
		assert_int_equal(kz_decide_target(&s, &e, &t), KZ_R_NONE);
		assert_true(n > 0 && s.mode != KZ_SCOPE_ISOLATED && kz_scope_has_port(&s, t.port));
		for (size_t k = 0; k < n; k++) {
			assert_int_equal(kz_decide_answers(&s, &e, &t, &a[k], 1), KZ_R_NONE);
			assert_false(kz_addr_class_is_protected(kz_addr_classify(&a[k])));
			assert_false(e.deny_count && kz_cidr_has(&deny, &a[k]));
			assert_false(e.self_count && kz_addr_equal(&self, &a[k]));
			if (kz_addr_classify(&a[k]) != KZ_ADDR_PUBLIC)
				assert_true(s.mode != KZ_SCOPE_PUBLIC_INTERNET &&
					    (kz_cidr_has(&s.cidrs[0], &a[k]) ||
					     kz_cidr_has(&s.cidrs[1], &a[k])));
		}
	}
	assert_true(allowed > 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pol4_denied_ranges_hold_in_every_mode),
		cmocka_unit_test(test_brk8_a_named_registry_may_stand_in_ones_own_network),
		cmocka_unit_test(test_inv27_this_machine_is_refused),
		cmocka_unit_test(test_proxy5_the_worst_answer_is_told),
		cmocka_unit_test(test_proxy8_a_literal_has_no_other_address),
		cmocka_unit_test(test_proxy4_answers_count_only_for_an_allowed_target),
		cmocka_unit_test(test_inv27_inv32_whatever_is_allowed_keeps_to_the_rules),
	};
	const char *given = getenv("SEED");

	seed = given ? (unsigned)strtoul(given, NULL, 10) : (unsigned)getpid();
	print_message("# SEED=%u\n", seed);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
