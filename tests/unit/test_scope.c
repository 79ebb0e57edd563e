/* rule/scope: settings to the effective scope [POL-7 to POL-18, POL-21, POL-23, GRANT-4, INV-28, INV-29]. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "rule/scope.h"

static unsigned seed;

static struct kz_scope_config config(const char *mode)
{
	return (struct kz_scope_config){ .enabled = "true",
					 .mode = mode,
					 .hosts = "pub.test, 1.1.1.1",
					 .cidrs = "10.0.0.0/8,fc00::/7",
					 .ports = "443, 80",
					 .ttl = "600",
					 .deny_cidrs = "10.96.0.0/12",
					 .is_cidrs_own = true,
					 .has_field_key = true,
					 .has_proxy = true };
}

static const char *const modes[] = { "public_internet", "private_network", "host_allowlist" };

/* in: what must come out; anything but none leaves an empty, isolated scope */
static void expect(const struct kz_scope_config *c, enum kz_reason want)
{
	static struct kz_scope s, empty;

	memset(&s, 0xa5, sizeof s);
	assert_string_equal(kz_scope_resolve(c, &s) == KZ_R_NONE ?
				    "none" :
				    kz_reason_code(kz_scope_resolve(c, &s)),
			    want == KZ_R_NONE ? "none" : kz_reason_code(want));
	assert_true(kz_scope_is_sound(&s));
	if (want == KZ_R_NONE)
		return;
	assert_int_equal(s.mode, KZ_SCOPE_ISOLATED);
	assert_int_equal(s.host_count + s.cidr_count + s.port_count, 0);
	assert_true(kz_scope_is_within(&s, &empty));
}

static void test_pol1_each_mode_takes_its_own_lists(void **state)
{
	struct kz_scope_config c = config("public_internet");
	struct kz_scope s;

	(void)state;
	assert_int_equal(kz_scope_resolve(&c, &s), KZ_R_NONE);
	assert_int_equal(s.mode, KZ_SCOPE_PUBLIC_INTERNET);
	assert_int_equal(s.host_count + s.cidr_count, 0);
	assert_int_equal(s.port_count, 2);
	assert_int_equal(s.ports[0], 80);
	assert_int_equal(s.ports[1], 443);
	assert_int_equal(s.ttl_s, 600);
	c = config("private_network");
	assert_int_equal(kz_scope_resolve(&c, &s), KZ_R_NONE);
	assert_int_equal(s.cidr_count, 2);
	assert_int_equal(s.host_count, 0);
	c = config("host_allowlist");
	assert_int_equal(kz_scope_resolve(&c, &s), KZ_R_NONE);
	assert_int_equal(s.host_count, 2);
	assert_string_equal(s.hosts[0].host, "pub.test");
	assert_true(s.hosts[1].is_literal);
	assert_int_equal(s.cidr_count, 2);
	c = config("isolated");
	expect(&c, KZ_R_NONE);
	assert_int_equal(kz_scope_resolve(&c, &s), KZ_R_NONE);
	assert_int_equal(s.port_count, 0);
}

static void test_pol9_pol10_a_missing_or_unknown_mode_is_isolated(void **state)
{
	static const char *const bad[] = { NULL,
					   "",
					   "Public_Internet",
					   "public_internet ",
					   "public-internet",
					   "public_internetx",
					   "all",
					   "public_internet,isolated" };

	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		struct kz_scope_config c = config(bad[i]);

		expect(&c, KZ_R_MODE_UNKNOWN);
	}
}

static void test_pol21_pol22_only_true_enables(void **state)
{
	static const char *const bad[] = { NULL, "", "false", "TRUE", "1", "yes", "true ", "on" };

	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		struct kz_scope_config c = config("public_internet");

		c.enabled = bad[i];
		expect(&c, KZ_R_EGRESS_DISABLED);
	}
}

static void test_pol11_missing_prerequisites(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
		struct kz_scope_config c = config(modes[i]);

		c.has_proxy = false;
		expect(&c, KZ_R_PROXY_UNSET);
		c = config(modes[i]);
		c.has_field_key = false;
		expect(&c, KZ_R_FIELD_KEY_MISSING);
		c = (struct kz_scope_config){ 0 };
		expect(&c, KZ_R_EGRESS_DISABLED);
	}
}

static void test_pol12_one_bad_port_makes_the_list_unusable(void **state)
{
	static const char *const bad[] = { NULL,         "",
					   " ",          ",",
					   "80,",        ",80",
					   "80,,443",    "0",
					   "80,0",       "65536",
					   "80,65536",   "-1",
					   "+80",        "080",
					   "80-443",     "80 443",
					   "http",       "80;443",
					   "0x50",       "80,443x",
					   "4294967376", "18446744073709551696" };
	static const char *const good[] = { "80", "1,65535", " 80 ,\t443 ", "443,80,443,80" };

	(void)state;
	for (size_t m = 0; m < sizeof modes / sizeof *modes; m++)
		for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
			struct kz_scope_config c = config(modes[m]);

			c.ports = bad[i];
			expect(&c, KZ_R_PORTS_UNUSABLE);
		}
	for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
		struct kz_scope_config c = config("public_internet");

		c.ports = good[i];
		expect(&c, KZ_R_NONE);
	}
}

static void test_pol13_one_bad_range_makes_the_list_unusable(void **state)
{
	static const char *const bad[] = { "10.0.0.0",           "10.0.0.0/8,",
					   "10.0.0.0/8,x",       "10.0.0.1/8",
					   "8.8.8.0/24",         "10.0.0.0/8,8.8.8.0/24",
					   "0.0.0.0/0",          "::/0",
					   "127.0.0.0/8",        "169.254.0.0/16",
					   "10.0.0.0/8,::1/128", "fd00:ec2::/32",
					   "100.100.100.200/32", "10.0.0.0/8;172.16.0.0/12" };

	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		struct kz_scope_config c = config("private_network");

		c.cidrs = bad[i];
		expect(&c, KZ_R_CIDRS_UNUSABLE);
		/* Where it is the operator's own it counts in a host list too; the packaged one is not read there. */
		c = config("host_allowlist");
		c.cidrs = bad[i];
		expect(&c, KZ_R_CIDRS_UNUSABLE);
		c.is_cidrs_own = false;
		expect(&c, KZ_R_NONE);
		c = config("public_internet");
		c.cidrs = bad[i];
		expect(&c, KZ_R_NONE);
	}
}

static void test_pol13_no_range_at_all(void **state)
{
	static const char *const none[] = { NULL, "", " \t" };

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		struct kz_scope_config c = config("private_network");
		struct kz_scope s;

		c.cidrs = none[i];
		expect(&c, KZ_R_CIDRS_UNUSABLE);
		/* Ranges are an extra of a host list. */
		c = config("host_allowlist");
		c.cidrs = none[i];
		assert_int_equal(kz_scope_resolve(&c, &s), KZ_R_NONE);
		assert_int_equal(s.cidr_count, 0);
	}
}

static void test_pol14_packaged_ranges_are_not_the_operators(void **state)
{
	struct kz_scope_config c = config("host_allowlist");
	struct kz_scope s;

	(void)state;
	c.is_cidrs_own = false;
	assert_int_equal(kz_scope_resolve(&c, &s), KZ_R_NONE);
	assert_int_equal(s.cidr_count, 0);
	c = config("private_network");
	c.is_cidrs_own = false;
	assert_int_equal(kz_scope_resolve(&c, &s), KZ_R_NONE);
	assert_int_equal(s.cidr_count, 2);
}

static void test_pol13_pol15_one_bad_host_makes_the_list_unusable(void **state)
{
	static const char *const bad[] = { NULL,
					   "",
					   " ",
					   "a.test,",
					   "*.test",
					   "a.test,*",
					   "a.test:443",
					   "https://a.test",
					   "a.test b.test",
					   "127.1",
					   "[::1]",
					   "a..test",
					   ".test",
					   "b\xc3\xbc.test",
					   "a.test/x",
					   "a@b.test" };

	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		struct kz_scope_config c = config("host_allowlist");

		c.hosts = bad[i];
		expect(&c, KZ_R_HOSTS_UNUSABLE);
		c = config("private_network");
		c.hosts = bad[i];
		expect(&c, KZ_R_NONE);
	}
}

static void test_pol4_a_bad_denied_range_is_isolated(void **state)
{
	static const char *const bad[] = { "x",       "10.0.0.0/8,", "10.0.0.1/8",
					   "1.2.3.4", ",",           "10.0.0.0/8 ::/0" };
	static const char *const good[] = { NULL, "", " ", "8.8.8.8/32", "127.0.0.0/8, ::/0" };

	(void)state;
	for (size_t m = 0; m < sizeof modes / sizeof *modes; m++) {
		struct kz_scope_config c = config(modes[m]);

		for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
			c.deny_cidrs = bad[i];
			expect(&c, KZ_R_DENY_UNUSABLE);
		}
		for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
			c.deny_cidrs = good[i];
			expect(&c, KZ_R_NONE);
		}
	}
}

static void test_grant4_lives(void **state)
{
	static const char *const bad[] = { NULL,   "",     "0",    "-1",   "600s",      "1e3",
					   " 600", "+600", "0600", "0x10", "9999999999" };
	static const struct {
		const char *text;
		int s;
	} good[] = { { "1", 1 },
		     { "600", 600 },
		     { "14400", 14400 },
		     { "14401", 14400 },
		     { "999999999", 14400 } };

	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		struct kz_scope_config c = config("public_internet");

		c.ttl = bad[i];
		expect(&c, KZ_R_TTL_UNUSABLE);
	}
	for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
		struct kz_scope_config c = config("public_internet");
		struct kz_scope s;

		c.ttl = good[i].text;
		assert_int_equal(kz_scope_resolve(&c, &s), KZ_R_NONE);
		assert_int_equal(s.ttl_s, good[i].s);
	}
}

/* A list of n entries made by a format with one number. */
static const char *list(char *out, size_t size, const char *before, int n, const char *after)
{
	size_t used = 0;

	for (int i = 0; i < n; i++)
		used += (size_t)snprintf(out + used, size - used, "%s%s%d%s", i ? "," : "", before,
					 i + 1, after);
	assert_true(used < size);
	return out;
}

static void test_pol12_pol13_lists_have_a_bound(void **state)
{
	static char text[4096];
	struct kz_scope_config c = config("host_allowlist");

	(void)state;
	c.hosts = list(text, sizeof text, "h", KZ_SCOPE_HOSTS, ".test");
	expect(&c, KZ_R_NONE);
	c.hosts = list(text, sizeof text, "h", KZ_SCOPE_HOSTS + 1, ".test");
	expect(&c, KZ_R_HOSTS_UNUSABLE);
	c = config("private_network");
	c.cidrs = list(text, sizeof text, "10.", KZ_SCOPE_CIDRS, ".0.0/16");
	expect(&c, KZ_R_NONE);
	c.cidrs = list(text, sizeof text, "10.", KZ_SCOPE_CIDRS + 1, ".0.0/16");
	expect(&c, KZ_R_CIDRS_UNUSABLE);
	c = config("public_internet");
	c.ports = list(text, sizeof text, "", KZ_SCOPE_PORTS, "");
	expect(&c, KZ_R_NONE);
	c.ports = list(text, sizeof text, "", KZ_SCOPE_PORTS + 1, "");
	expect(&c, KZ_R_PORTS_UNUSABLE);
}

static void test_pol16_pol17_pol18_hints_narrow(void **state)
{
	static const char *const one[] = { "PUB.test." },
				 *const both[] = { "pub.test", "1.1.1.1", "other.test" },
				 *const unknown[] = { "elsewhere" },
				 *const bad[] = { "*", "", "pub.test:443" };
	struct kz_scope_config c = config("host_allowlist");
	struct kz_scope s, before;

	(void)state;
	kz_scope_resolve(&c, &before);
	s = before;
	kz_scope_narrow(&s, NULL, 0);
	assert_memory_equal(&s, &before, sizeof s);
	kz_scope_narrow(&s, both, 3);
	assert_int_equal(s.host_count, 2);
	kz_scope_narrow(&s, one, 1);
	assert_int_equal(s.host_count, 1);
	assert_string_equal(s.hosts[0].host, "pub.test");
	assert_true(kz_scope_is_sound(&s) && kz_scope_is_within(&s, &before));
	assert_false(kz_scope_is_within(&before, &s));
	/* An unknown, an empty or a malformed hint is an empty list, never the full one. */
	s = before;
	kz_scope_narrow(&s, unknown, 1);
	assert_int_equal(s.mode, KZ_SCOPE_ISOLATED);
	s = before;
	kz_scope_narrow(&s, bad, 3);
	assert_int_equal(s.mode, KZ_SCOPE_ISOLATED);
	s = before;
	kz_scope_narrow(&s, one, 0);
	assert_int_equal(s.mode, KZ_SCOPE_ISOLATED);
	/* Inert in other modes. */
	for (size_t i = 0; i < 2; i++) {
		c = config(modes[i]);
		kz_scope_resolve(&c, &before);
		s = before;
		kz_scope_narrow(&s, unknown, 1);
		assert_memory_equal(&s, &before, sizeof s);
	}
}

static void test_grant10_unsound_scopes(void **state)
{
	struct kz_scope_config c = config("host_allowlist");
	struct kz_scope good, s;

	(void)state;
	kz_scope_resolve(&c, &good);
	assert_true(kz_scope_is_sound(&good));
	s = good, s.host_count = 0;
	assert_false(kz_scope_is_sound(&s));
	s = good, s.hosts[1] = s.hosts[0];
	assert_false(kz_scope_is_sound(&s));
	s = good, s.port_count = 0;
	assert_false(kz_scope_is_sound(&s));
	s = good, s.ports[0] = 443;
	assert_false(kz_scope_is_sound(&s));
	s = good, s.ports[0] = 0;
	assert_false(kz_scope_is_sound(&s));
	s = good, kz_cidr_parse("8.8.8.0/24", 10, &s.cidrs[0]);
	assert_false(kz_scope_is_sound(&s));
	s = good, s.mode = KZ_SCOPE_PUBLIC_INTERNET;
	assert_false(kz_scope_is_sound(&s));
	s.host_count = 0;
	assert_false(kz_scope_is_sound(&s));
	s.cidr_count = 0;
	assert_true(kz_scope_is_sound(&s));
	s.mode = KZ_SCOPE_PRIVATE_NETWORK;
	assert_false(kz_scope_is_sound(&s));
	s.mode = KZ_SCOPE_ISOLATED;
	assert_false(kz_scope_is_sound(&s));
}

static void test_pol23_the_canonical_text_differs_whenever_a_value_does(void **state)
{
	enum { FIELDS = 7 };
	static const char *const values[] = { NULL, "", "a", "b", "1:a\nmode 1:b", "-" };
	char *seen[FIELDS * 6 + 8] = { 0 };
	size_t count = 0;

	(void)state;
	for (size_t f = 0; f <= FIELDS; f++)
		for (size_t v = 0; v < sizeof values / sizeof *values; v++) {
			struct kz_scope_config c = config("isolated");
			const char **field[FIELDS] = { &c.enabled, &c.mode, &c.hosts,     &c.cidrs,
						       &c.ports,   &c.ttl,  &c.deny_cidrs };
			kz_auto_buf struct kz_buf b = KZ_BUF_INIT(4096);

			if (f < FIELDS)
				*field[f] = values[v];
			else if (v < 2)
				c.is_cidrs_own = v == 0;
			else
				break;
			assert_true(kz_scope_canonical(&c, &b));
			for (size_t i = 0; i < count; i++)
				assert_string_not_equal(seen[i], kz_buf_str(&b));
			seen[count++] = kz_buf_steal(&b);
		}
	for (size_t i = 0; i < count; i++)
		free(seen[i]);
}

/* Text that moves from one value to the next is another policy. */
static void test_pol23_values_do_not_run_into_each_other(void **state)
{
	static const char *const pairs[][2] = { { "a\nmode 0:b", "c" }, { "a", "b\nmode 0:c" } };
	kz_auto_buf struct kz_buf one = KZ_BUF_INIT(4096), two = KZ_BUF_INIT(4096);
	struct kz_scope_config c = config(pairs[0][1]);

	(void)state;
	c.enabled = pairs[0][0];
	assert_true(kz_scope_canonical(&c, &one));
	c.enabled = pairs[1][0];
	c.mode = pairs[1][1];
	assert_true(kz_scope_canonical(&c, &two));
	assert_string_not_equal(kz_buf_str(&one), kz_buf_str(&two));
	/* Without their lengths they would be the same. */
	assert_int_equal(one.len, two.len);
}

static void test_inv28_within_means_mode_ports_hosts_and_whole_ranges(void **state)
{
	struct kz_scope_config c = config("private_network");
	struct kz_scope wide, narrow, other;

	(void)state;
	c.cidrs = "10.0.0.0/8";
	assert_int_equal(kz_scope_resolve(&c, &wide), KZ_R_NONE);
	c.cidrs = "10.0.0.0/16,10.1.0.0/24";
	assert_int_equal(kz_scope_resolve(&c, &narrow), KZ_R_NONE);
	assert_true(kz_scope_is_within(&narrow, &wide));
	assert_false(kz_scope_is_within(&wide, &narrow));
	c.ports = "80,8080";
	assert_int_equal(kz_scope_resolve(&c, &other), KZ_R_NONE);
	assert_false(kz_scope_is_within(&other, &wide));
	c = config("public_internet");
	assert_int_equal(kz_scope_resolve(&c, &other), KZ_R_NONE);
	assert_false(kz_scope_is_within(&other, &wide) || kz_scope_is_within(&wide, &other));
	c = config("host_allowlist");
	c.cidrs = "";
	assert_int_equal(kz_scope_resolve(&c, &wide), KZ_R_NONE);
	c.hosts = "pub.test,2.2.2.2";
	assert_int_equal(kz_scope_resolve(&c, &other), KZ_R_NONE);
	assert_false(kz_scope_is_within(&other, &wide) || kz_scope_is_within(&wide, &other));
}

/* A random list out of some good and some bad entries. */
static const char *some(const char *const *entries, size_t count, char out[256])
{
	size_t n = (size_t)rand_r(&seed) % 4;

	*out = '\0';
	if (rand_r(&seed) % 9 == 0)
		return NULL;
	for (size_t i = 0; i <= n; i++)
		snprintf(out + strlen(out), 256 - strlen(out), "%s%s", i ? "," : "",
			 entries[(unsigned)rand_r(&seed) % count]);
	return out;
}

#define SOME(out, ...)                                                                             \
	some((const char *const[]){ __VA_ARGS__ },                                                 \
	     sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(char *), out)

/* Is every entry of the scope one of the configured text? */
static bool names_entry(const char *text, const char *entry)
{
	size_t n = strlen(entry);

	for (const char *p = text; p && *p; p = strchr(p, ',') ? strchr(p, ',') + 1 : NULL)
		if (strncmp(p, entry, n) == 0 && (p[n] == ',' || p[n] == '\0'))
			return true;
	return false;
}

static void test_inv28_inv29_never_more_than_configured(void **state)
{
	int open = 0;

	(void)state;
	for (int i = 0; i < 100000; i++) {
		char hosts[256], cidrs[256], ports[256], deny[256], mode[256], hint[256];
		struct kz_scope_config c = config(NULL);
		const char *const hints[] = { hint };
		static struct kz_scope s, narrow;

		c.mode = SOME(mode, "public_internet", "private_network", "host_allowlist",
			      "isolated", "open");
		c.hosts = SOME(hosts, "a.test", "b.test", "1.2.3.4", "2606:4700::1", "c.test",
			       "d.test", "*.test");
		c.cidrs = SOME(cidrs, "10.0.0.0/8", "fd00::/8", "192.168.0.0/16", "10.1.0.0/16",
			       "100.64.0.0/10", "8.8.8.0/24");
		c.ports = SOME(ports, "80", "443", "8443", "22", "1", "65535", "0");
		c.deny_cidrs = SOME(deny, "10.0.0.0/8", "1.2.3.4/32", "::/0", "1.0.0.0/8", "x");
		c.enabled = rand_r(&seed) % 8 ? "true" : "false";
		c.has_proxy = rand_r(&seed) % 8;
		c.is_cidrs_own = rand_r(&seed) % 2;
		if (kz_scope_resolve(&c, &s) != KZ_R_NONE)
			assert_int_equal(s.mode, KZ_SCOPE_ISOLATED);
		assert_true(kz_scope_is_sound(&s) && kz_scope_is_within(&s, &s));
		for (size_t k = 0; k < s.host_count; k++)
			assert_true(names_entry(c.hosts, s.hosts[k].host));
		for (size_t k = 0; k < s.cidr_count; k++) {
			char text[KZ_CIDR_TEXT];

			kz_cidr_print(&s.cidrs[k], text);
			assert_true(names_entry(c.cidrs, text));
		}
		for (size_t k = 0; k < s.port_count; k++) {
			char text[8];

			snprintf(text, sizeof text, "%u", s.ports[k]);
			assert_true(names_entry(c.ports, text));
		}
		if (s.mode != KZ_SCOPE_ISOLATED) {
			assert_string_equal(kz_scope_mode_name(s.mode), c.mode);
			assert_string_equal(c.enabled, "true");
			open++;
		}
		narrow = s;
		SOME(hint, "a.test", "b.test", "e.test", "1.2.3.4");
		kz_scope_narrow(&narrow, hints, 1);
		assert_true(kz_scope_is_sound(&narrow) && kz_scope_is_within(&narrow, &s));
	}
	assert_true(open > 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pol1_each_mode_takes_its_own_lists),
		cmocka_unit_test(test_pol9_pol10_a_missing_or_unknown_mode_is_isolated),
		cmocka_unit_test(test_pol21_pol22_only_true_enables),
		cmocka_unit_test(test_pol11_missing_prerequisites),
		cmocka_unit_test(test_pol12_one_bad_port_makes_the_list_unusable),
		cmocka_unit_test(test_pol13_one_bad_range_makes_the_list_unusable),
		cmocka_unit_test(test_pol13_no_range_at_all),
		cmocka_unit_test(test_pol14_packaged_ranges_are_not_the_operators),
		cmocka_unit_test(test_pol13_pol15_one_bad_host_makes_the_list_unusable),
		cmocka_unit_test(test_pol4_a_bad_denied_range_is_isolated),
		cmocka_unit_test(test_grant4_lives),
		cmocka_unit_test(test_pol12_pol13_lists_have_a_bound),
		cmocka_unit_test(test_pol16_pol17_pol18_hints_narrow),
		cmocka_unit_test(test_grant10_unsound_scopes),
		cmocka_unit_test(test_pol23_the_canonical_text_differs_whenever_a_value_does),
		cmocka_unit_test(test_pol23_values_do_not_run_into_each_other),
		cmocka_unit_test(test_inv28_within_means_mode_ports_hosts_and_whole_ranges),
		cmocka_unit_test(test_inv28_inv29_never_more_than_configured),
	};
	const char *given = getenv("SEED");

	seed = given ? (unsigned)strtoul(given, NULL, 10) : (unsigned)getpid();
	print_message("# SEED=%u\n", seed);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
