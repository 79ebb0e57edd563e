/* rule/address: text forms, classes, ranges [POL-3 to POL-6, PROXY-8]. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "rule/address.h"

static unsigned seed;

static bool is_address(const char *text)
{
	struct kz_addr a;

	return kz_addr_parse(text, strlen(text), &a);
}

static void test_proxy8_one_form_in_one_form_out(void **state)
{
	static const char *const cases[][2] = {
		{ "0.0.0.0", "0.0.0.0" },
		{ "255.255.255.255", "255.255.255.255" },
		{ "::", "::" },
		{ "0:0:0:0:0:0:0:0", "::" },
		{ "::1", "::1" },
		{ "1::", "1::" },
		{ "2001:DB8::1", "2001:db8::1" },
		{ "2001:0db8:0:0:1:0:0:1", "2001:db8::1:0:0:1" },
		{ "2001:db8:0:1:1:1:1:1", "2001:db8:0:1:1:1:1:1" },
		{ "1:0:0:2:0:0:0:3", "1:0:0:2::3" },
		{ "1:2:3:4:5:6:7::", "1:2:3:4:5:6:7:0" },
		{ "::2:3:4:5:6:7:8", "0:2:3:4:5:6:7:8" },
		{ "1:2:3:4:5:6:7:8", "1:2:3:4:5:6:7:8" },
		{ "1:2:3:4:5:6:1.2.3.4", "1:2:3:4:5:6:102:304" },
		{ "::ffff:1.2.3.4", "::ffff:1.2.3.4" },
		{ "::FFFF:102:304", "::ffff:1.2.3.4" },
		{ "::1.2.3.4", "::102:304" },
		{ "ffff:ffff:ffff:ffff:ffff:ffff:255.255.255.255",
		  "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct kz_addr a;
		char text[KZ_ADDR_TEXT];

		assert_true(kz_addr_parse(cases[i][0], strlen(cases[i][0]), &a));
		kz_addr_print(&a, text);
		assert_string_equal(text, cases[i][1]);
	}
}

static void test_proxy8_other_forms_are_no_addresses(void **state)
{
	static const char *const cases[] = {
		"",
		"1",
		"1.2.3",
		"1.2.3.",
		".1.2.3",
		"1..2.3",
		"1.2.3.4.",
		"1.2.3.4.5",
		"01.2.3.4",
		"1.2.3.04",
		"1.2.3.256",
		"1.2.3.1000",
		"0x1.2.3.4",
		"1.2.3.4 ",
		" 1.2.3.4",
		"+1.2.3.4",
		"1.2.3.-4",
		"1.2.3.4/8",
		":",
		":::",
		"1:",
		":1",
		"1:2",
		"1:2:3:4:5:6:7",
		"1:2:3:4:5:6:7:8:",
		":1:2:3:4:5:6:7:8",
		"1:2:3:4:5:6:7:8:9",
		"::1:2:3:4:5:6:7:8",
		"1:2:3:4:5:6:7:8::",
		"1:2:3:4::5:6:7:8",
		"1::2::3",
		"1:::2",
		"12345::",
		"g::",
		"::1%lo",
		"[::1]",
		"::1.2.3",
		"::1.2.3.4.5",
		"::1.2.3.4:5",
		"1.2.3.4::",
		"1:2:3:4:5:6:7:1.2.3.4",
		"::ffff:01.2.3.4",
		"::ffff:1.2.3.256",
		"::ffff:0x1.2.3.4",
		"0000:0000:0000:0000:0000:0000:0000:0000:0000",
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		if (is_address(cases[i]))
			fail_msg("%s was taken for an address", cases[i]);
	/* Bytes are counted, not ended by a 0. */
	assert_false(kz_addr_parse("1.2.3.4\0", 8, &(struct kz_addr){ 0 }));
	assert_true(kz_addr_parse("1.2.3.45", 7, &(struct kz_addr){ 0 }));
}

static void test_proxy8_print_then_parse_is_the_same(void **state)
{
	(void)state;
	for (int i = 0; i < 200000; i++) {
		struct kz_addr a = { .family = i % 2 ? 4 : 6 }, b;
		char text[KZ_ADDR_TEXT];

		for (int k = 0; k < (i % 2 ? 4 : 16); k++)
			if (rand_r(&seed) % 3)
				a.bytes[k] = (uint8_t)(rand_r(&seed) >> 3);
		kz_addr_print(&a, text);
		assert_true(kz_addr_parse(text, strlen(text), &b));
		assert_true(kz_addr_equal(&a, &b));
		assert_memory_equal(a.bytes, b.bytes, 16);
	}
}

static struct kz_cidr range(const char *text)
{
	struct kz_cidr c;

	if (!kz_cidr_parse(text, strlen(text), &c))
		fail_msg("%s is no range", text);
	return c;
}

static void test_pol13_ranges_are_read_strictly(void **state)
{
	static const char *const good[] = { "0.0.0.0/0", "10.0.0.0/8",    "10.1.2.3/32", "::/0",
					    "fc00::/7",  "2001:db8::/32", "fd00::1/128" };
	static const char *const bad[] = { "",
					   "10.0.0.0",
					   "10.0.0.0/",
					   "/8",
					   "10.0.0.0/33",
					   "10.0.0.0/08",
					   "10.0.0.0/-1",
					   "10.0.0.0/+8",
					   "10.0.0.0/8 ",
					   "10.0.0.1/8",
					   "10.0.0.0/8/",
					   "10/8",
					   "fc00::/129",
					   "fc00::1/7",
					   "fc00::/007",
					   "10.0.0.0/8,b",
					   "fe00::/6",
					   "::ffff:1.2.3.4/95",
					   "10.0.0.0/1000" };

	(void)state;
	for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
		struct kz_cidr c = range(good[i]);
		char text[KZ_CIDR_TEXT];

		kz_cidr_print(&c, text);
		assert_string_equal(text, good[i]);
	}
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		if (kz_cidr_parse(bad[i], strlen(bad[i]), &(struct kz_cidr){ 0 }))
			fail_msg("%s was taken for a range", bad[i]);
}

static void test_pol13_ranges_hold_and_overlap(void **state)
{
	struct kz_cidr ten = range("10.0.0.0/8"), one = range("10.1.0.0/16"),
		       all4 = range("0.0.0.0/0"), all6 = range("::/0"),
		       half = range("10.128.0.0/9");
	struct kz_addr a;

	(void)state;
	assert_true(kz_addr_parse("10.1.255.255", 12, &a));
	assert_true(kz_cidr_has(&ten, &a) && kz_cidr_has(&one, &a) && kz_cidr_has(&all4, &a));
	assert_false(kz_cidr_has(&half, &a) || kz_cidr_has(&all6, &a));
	assert_true(kz_cidr_overlaps(&ten, &one) && kz_cidr_overlaps(&one, &ten));
	assert_false(kz_cidr_overlaps(&half, &one) || kz_cidr_overlaps(&all6, &ten));
	/* 10.0.0.0 and a00:: begin with the same byte and are of two families. */
	all6 = range("a00::/8");
	assert_false(kz_cidr_overlaps(&all6, &ten) || kz_cidr_has(&all6, &a));
}

static void test_pol3_pol13_only_private_ranges_can_be_given(void **state)
{
	static const char *const good[] = {
		"10.0.0.0/8", "10.1.2.3/32", "172.16.0.0/12", "192.168.0.0/16",    "100.64.0.0/10",
		"fc00::/7",   "fd00::/8",    "fd12::/64",     "100.100.100.201/32"
	};
	static const char *const bad[] = { "0.0.0.0/0",
					   "10.0.0.0/7",
					   "172.0.0.0/8",
					   "192.0.0.0/8",
					   "8.8.8.0/24",
					   "127.0.0.0/8",
					   "127.0.0.1/32",
					   "169.254.0.0/16",
					   "169.254.169.254/32",
					   "168.63.129.16/32",
					   "100.100.100.200/32",
					   "100.0.0.0/8",
					   "224.0.0.0/4",
					   "240.0.0.0/4",
					   "192.0.2.0/24",
					   "198.18.0.0/15",
					   "::/0",
					   "::1/128",
					   "::ffff:10.0.0.0/104",
					   "64:ff9b::/96",
					   "2000::/3",
					   "2606:4700::/32",
					   "fc00::/6",
					   "fe80::/10",
					   "fd00:ec2::/32",
					   "fd00:ec2::254/128",
					   "fd00:42::42/128",
					   "ff00::/8" };

	(void)state;
	for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
		struct kz_cidr c = range(good[i]);

		if (!kz_cidr_is_private(&c))
			fail_msg("%s cannot be given", good[i]);
	}
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		struct kz_cidr c = range(bad[i]);

		if (kz_cidr_is_private(&c))
			fail_msg("%s can be given", bad[i]);
	}
}

static void test_pol3_an_address_of_no_family_is_reserved(void **state)
{
	struct kz_addr a = { .family = 0, .bytes = { 8, 8, 8, 8 } };

	(void)state;
	assert_int_equal(kz_addr_classify(&a), KZ_ADDR_RESERVED);
	assert_false(kz_cidr_is_private(&(struct kz_cidr){ .base = a, .bits = 32 }));
	assert_true(kz_addr_class_is_protected(KZ_ADDR_RESERVED));
	assert_string_equal(kz_addr_class_name(KZ_ADDR_LINK_LOCAL), "link_local");
	assert_int_equal(kz_addr_class_reason(KZ_ADDR_LINK_LOCAL), KZ_R_ADDRESS_LINK_LOCAL);
	for (int c = 0; c < KZ_ADDR_CLASS_COUNT; c++)
		assert_int_equal(kz_addr_class_is_protected((enum kz_addr_class)c),
				 c >= KZ_ADDR_SPECIAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_proxy8_one_form_in_one_form_out),
		cmocka_unit_test(test_proxy8_other_forms_are_no_addresses),
		cmocka_unit_test(test_proxy8_print_then_parse_is_the_same),
		cmocka_unit_test(test_pol13_ranges_are_read_strictly),
		cmocka_unit_test(test_pol13_ranges_hold_and_overlap),
		cmocka_unit_test(test_pol3_pol13_only_private_ranges_can_be_given),
		cmocka_unit_test(test_pol3_an_address_of_no_family_is_reserved),
	};
	const char *given = getenv("SEED");

	seed = given ? (unsigned)strtoul(given, NULL, 10) : (unsigned)getpid();
	print_message("# SEED=%u\n", seed);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
