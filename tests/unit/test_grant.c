/* core/egress: a grant verifies in one spelling, for one deployment, in its time, and in no other way. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/date.h"
#include "base/fd.h"
#include "base/str.h"
#include "core/conf/keys.h"
#include "core/conf/public.h"
#include "core/egress/grant.h"
#include "core/egress/grant_text.h"
#include "port/json.h"
#include "port/seal-sign.h"

#define NOW INT64_C(1790000000)
#define ID_A "0123456789abcdef0123456789abcdef"
#define ID_B "fedcba9876543210fedcba9876543210"
#define REVISION "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"

static char state_dir[64], audience[KZ_AUDIENCE_TEXT];
static struct kz_secret grant_key, receipt_key;
static struct kz_keyring *ring;

static void read_keys(void)
{
	char path[128];

	assert_int_equal(kz_keys_read(state_dir, KZ_KEY_GRANT, &grant_key, NULL), KZ_OK);
	assert_int_equal(kz_keys_read(state_dir, KZ_KEY_RECEIPT, &receipt_key, NULL), KZ_OK);
	assert_int_equal(kz_public_write(state_dir, NULL), KZ_OK);
	snprintf(path, sizeof(path), "%s/public/keys.json", state_dir);
	kz_keyring_free(ring);
	ring = NULL;
	assert_int_equal(kz_keyring_read(path, &ring, NULL), KZ_OK);
}

static int start(void **state)
{
	(void)state;
	kz_str_copy(state_dir, sizeof(state_dir), "/tmp/kz-unit.XXXXXX", NULL);
	if (!mkdtemp(state_dir) || kz_keys_make(state_dir, (gid_t)-1, NULL))
		return -1;
	kz_grant_audience("d0123", audience);
	read_keys();
	return 0;
}

static int stop(void **state)
{
	(void)state;
	kz_keyring_free(ring);
	return kz_tree_remove(AT_FDCWD, state_dir, NULL);
}

static struct kz_grant example(void)
{
	struct kz_grant g = {
		.scope = { .mode = KZ_SCOPE_HOST_ALLOWLIST,
			   .host_count = 2,
			   .cidr_count = 1,
			   .port_count = 2,
			   .ports = { 80, 443 },
			   .ttl_s = 600 },
		.execution = ID_A,
		.run = ID_B,
		.actor = ID_A,
		.worker = "w1",
		.uid_base = 1879048192,
		.uid_count = 65536,
		.revision = REVISION,
		.issued_s = NOW,
		.expires_s = NOW + 600,
	};

	assert_int_equal(kz_host_parse("pypi.example", 12, &g.scope.hosts[0]), KZ_R_NONE);
	assert_int_equal(kz_host_parse("2001:db9::1", 11, &g.scope.hosts[1]), KZ_R_NONE);
	assert_true(kz_cidr_parse("10.1.0.0/16", 11, &g.scope.cidrs[0]));
	return g;
}

static void mint(const struct kz_grant *g, struct kz_buf *out)
{
	kz_buf_clear(out);
	assert_int_equal(kz_grant_mint(&grant_key, audience, g, out, NULL), KZ_OK);
}

/* Sign any payload as if it were a grant's. */
static void forge(const struct kz_secret *key, const char *payload, size_t n, const char *assertion,
		  struct kz_buf *out)
{
	char footer[KZ_FOOTER_TEXT];
	struct kz_public own;

	kz_sign_public(key, &own);
	kz_key_footer(&own, footer);
	kz_buf_clear(out);
	assert_int_equal(kz_token_sign(key, payload, n, footer, assertion, out, NULL), KZ_OK);
}

/* The reason that a token is refused for, "" when it verifies; what is refused leaves the grant alone. */
static const char *verdict_at(const char *p, size_t n, int64_t now_s)
{
	static struct kz_err err;
	struct kz_grant g = { .worker = "untouched" };

	err = (struct kz_err)KZ_ERR_INIT;
	if (!kz_grant_verify(ring, audience, p, n, now_s, &g, &err))
		return "";
	assert_string_equal(g.worker, "untouched");
	return err.reason;
}

static const char *verdict(const struct kz_buf *token)
{
	return verdict_at(token->data, token->len, NOW + 1);
}

/* The claims of a token as JSON text, verified with its own key. */
static void payload_of(const struct kz_buf *token, struct kz_buf *out)
{
	struct kz_public own;

	kz_sign_public(&grant_key, &own);
	assert_int_equal(
		kz_token_verify(&own, KZ_GRANT_ASSERTION, token->data, token->len, out, NULL),
		KZ_OK);
}

static void grant_1_what_is_minted_comes_back(void **state)
{
	kz_auto_buf struct kz_buf token = KZ_BUF_INIT(KZ_GRANT_MAX);
	struct kz_grant g = example(), back;

	(void)state;
	mint(&g, &token);
	assert_int_equal(kz_grant_verify(ring, audience, token.data, token.len, NOW, &back, NULL),
			 KZ_OK);
	assert_string_equal(back.execution, g.execution);
	assert_string_equal(back.run, g.run);
	assert_string_equal(back.actor, g.actor);
	assert_string_equal(back.worker, g.worker);
	assert_string_equal(back.revision, g.revision);
	assert_int_equal(back.uid_base, g.uid_base);
	assert_int_equal(back.uid_count, g.uid_count);
	assert_int_equal(back.issued_s, g.issued_s);
	assert_int_equal(back.expires_s, g.expires_s);
	assert_int_equal(back.scope.ttl_s, 600);
	assert_true(kz_scope_is_within(&back.scope, &g.scope));
	assert_true(kz_scope_is_within(&g.scope, &back.scope));
}

static void grant_10_the_same_grant_is_the_same_token(void **state)
{
	kz_auto_buf struct kz_buf a = KZ_BUF_INIT(KZ_GRANT_MAX);
	kz_auto_buf struct kz_buf b = KZ_BUF_INIT(KZ_GRANT_MAX);
	struct kz_grant g = example();

	(void)state;
	mint(&g, &a);
	mint(&g, &b);
	assert_string_equal(kz_buf_str(&a), kz_buf_str(&b));
	kz_str_copy(g.execution, sizeof(g.execution), ID_B, NULL);
	mint(&g, &b);
	assert_string_not_equal(kz_buf_str(&a), kz_buf_str(&b));
}

static void grant_10_no_byte_may_change(void **state)
{
	kz_auto_buf struct kz_buf token = KZ_BUF_INIT(KZ_GRANT_MAX);
	struct kz_grant g = example();
	char *copy;

	(void)state;
	mint(&g, &token);
	copy = malloc(token.len + 1);
	assert_non_null(copy);
	memcpy(copy, token.data, token.len);
	for (size_t i = 0; i < token.len; i++) {
		for (unsigned bit = 0; bit < 8; bit++) {
			copy[i] = (char)((unsigned char)copy[i] ^ (1U << bit));
			assert_string_not_equal(verdict_at(copy, token.len, NOW), "");
			copy[i] = token.data[i];
		}
		assert_string_not_equal(verdict_at(copy, i, NOW), "");
	}
	for (unsigned c = 0; c < 256; c++) {
		copy[token.len] = (char)c;
		assert_string_not_equal(verdict_at(copy, token.len + 1, NOW), "");
	}
	free(copy);
}

static void grant_10_other_kinds_of_token_are_malformed(void **state)
{
	kz_auto_buf struct kz_buf token = KZ_BUF_INIT(KZ_GRANT_MAX);
	static const char *const heads[] = {
		"v3.public.",        "v4.local.", "v2.public.", "v4.public", "V4.public.",
		"Bearer v4.public.", ""
	};
	char text[KZ_GRANT_MAX + 64], long_text[KZ_GRANT_MAX + 2];
	struct kz_grant g = example();

	(void)state;
	mint(&g, &token);
	for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++) {
		int n = snprintf(text, sizeof(text), "%s%s", heads[i], token.data + 10);

		assert_string_equal(verdict_at(text, (size_t)n, NOW), "grant_malformed");
	}
	memset(long_text, 'A', sizeof(long_text));
	assert_string_equal(verdict_at(long_text, sizeof(long_text), NOW), "grant_malformed");
	assert_string_equal(verdict_at("", 0, NOW), "grant_malformed");
}

/* A claim that is missing, there twice, of another kind, or in another place. */
static void grant_10_claims_have_one_form(void **state)
{
	kz_auto_buf struct kz_buf token = KZ_BUF_INIT(KZ_GRANT_MAX);
	kz_auto_buf struct kz_buf payload = KZ_BUF_INIT(KZ_GRANT_MAX);
	kz_auto_buf struct kz_buf text = KZ_BUF_INIT(KZ_GRANT_MAX);
	kz_auto_json struct kz_json *o = NULL;
	struct kz_grant g = example();
	size_t count;

	(void)state;
	mint(&g, &token);
	payload_of(&token, &payload);
	forge(&grant_key, payload.data, payload.len, KZ_GRANT_ASSERTION, &token);
	assert_string_equal(verdict(&token), "");
	assert_int_equal(kz_json_parse(payload.data, payload.len, &o, NULL), KZ_OK);
	count = kz_json_count(o);
	assert_int_equal(count, 16);
	for (size_t i = 0; i < count; i++) {
		for (int change = 0; change < 9; change++) {
			kz_auto_json struct kz_json *changed = kz_json_object();

			for (size_t k = 0; k < count; k++) {
				/* change 1: this one comes after its neighbour */
				size_t at = change == 1 && k == i               ? (i + 1) % count :
					    change == 1 && k == (i + 1) % count ? i :
										  k;
				const char *key = kz_json_key(o, at);
				struct kz_json *v = kz_json_ref(kz_json_get(o, key));

				if (k == i && change != 1) {
					kz_json_free(v);
					v = change == 2 ? kz_json_null() :
					    change == 3 ? kz_json_int(-1) :
					    change == 4 ? kz_json_string("x!") :
					    change == 5 ? kz_json_object() :
					    change == 6 ? kz_json_bool(true) :
					    change == 7 ? kz_json_string("") :
							  kz_json_int(INT64_MAX);
				}
				if (k == i && change == 0)
					kz_json_free(v);
				else if (k == i && change == 8)
					kz_json_set(changed, "other", v);
				else
					kz_json_set(changed, key, v);
			}
			kz_buf_clear(&text);
			assert_int_equal(kz_json_write(changed, &text, NULL), KZ_OK);
			forge(&grant_key, text.data, text.len, KZ_GRANT_ASSERTION, &token);
			assert_string_equal(verdict(&token),
					    i == 1 && (change == 4 || change == 7) ?
						    "grant_audience" :
						    "grant_claims");
		}
	}
}

/* Payloads that differ from the good one in one place of their text. */
static void grant_10_payloads_that_are_nearly_right(void **state)
{
	static const struct {
		const char *from, *to;
	} cases[] = {
		{ "{\"iss\"", "{ \"iss\"" },
		{ "{\"iss\":\"kz\"", "{\"iss\":\"kz\",\"iss\":\"kz\"" },
		{ "{\"iss\":\"kz\"", "{\"iss\":\"kx\"" },
		{ "{\"iss\":\"kz\"", "{\"x\":1,\"iss\":\"kz\"" },
		{ "\"run\"", "\"\\u0072un\"" },
		{ "\"mode\":\"host_allowlist\"", "\"mode\":\"isolated\"" },
		{ "\"mode\":\"host_allowlist\"", "\"mode\":\"public_internet\"" },
		{ "\"mode\":\"host_allowlist\"", "\"mode\":\"private_network\"" },
		{ "\"mode\":\"host_allowlist\"", "\"mode\":\"Host_allowlist\"" },
		{ "\"mode\":\"host_allowlist\"", "\"mode\":\"host_allowlist\\u0000\"" },
		{ "pypi.example", "PyPI.example" },
		{ "pypi.example", "pypi.example." },
		{ "pypi.example", "*.example" },
		{ "pypi.example", "pypi.example:443" },
		{ "[\"pypi.example\",", "[\"pypi.example\",\"pypi.example\"," },
		{ "2001:db9::1", "2001:0db9::1" },
		{ "2001:db9::1", "2001:DB9::1" },
		{ "10.1.0.0/16", "10.1.0.1/16" },
		{ "10.1.0.0/16", "10.1.0.0/016" },
		{ "10.1.0.0/16", "8.8.0.0/16" },
		{ "10.1.0.0/16", "0.0.0.0/0" },
		{ "10.1.0.0/16", "127.0.0.0/8" },
		{ "[80,443]", "[443,80]" },
		{ "[80,443]", "[80,80,443]" },
		{ "[80,443]", "[]" },
		{ "[80,443]", "[0,443]" },
		{ "[80,443]", "[80,65536]" },
		{ "[80,443]", "[80,443.0]" },
		{ "[80,443]", "[\"80\",443]" },
		{ "[80,443]", "80" },
		{ "\"uid_base\":1879048192", "\"uid_base\":4294967296" },
		{ "\"uid_base\":1879048192", "\"uid_base\":4294967295" },
		{ "\"uid_count\":65536", "\"uid_count\":-1" },
		{ "\"worker\":\"w1\"", "\"worker\":\"W1\"" },
		{ "\"worker\":\"w1\"", "\"worker\":\"../w1\"" },
		{ "\"jti\":\"0", "\"jti\":\"" },
		{ "\"jti\":\"0", "\"jti\":\"A" },
		{ "\"rev\":\"0", "\"rev\":\"00" },
		{ "+00:00\",\"nbf\"", "Z\",\"nbf\"" },
		{ "+00:00\",\"nbf\"", "+01:00\",\"nbf\"" },
	};
	kz_auto_buf struct kz_buf token = KZ_BUF_INIT(KZ_GRANT_MAX);
	kz_auto_buf struct kz_buf payload = KZ_BUF_INIT(KZ_GRANT_MAX);
	struct kz_grant g = example();

	(void)state;
	mint(&g, &token);
	payload_of(&token, &payload);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		kz_auto_buf struct kz_buf text = KZ_BUF_INIT(KZ_GRANT_MAX);
		const char *at = strstr(payload.data, cases[i].from);

		assert_non_null(at);
		assert_int_equal(kz_buf_printf(&text, NULL, "%.*s%s%s", (int)(at - payload.data),
					       payload.data, cases[i].to,
					       at + strlen(cases[i].from)),
				 KZ_OK);
		forge(&grant_key, text.data, text.len, KZ_GRANT_ASSERTION, &token);
		assert_string_equal(verdict(&token), "grant_claims");
	}
	forge(&grant_key, "", 0, KZ_GRANT_ASSERTION, &token);
	assert_string_equal(verdict(&token), "grant_claims");
	forge(&grant_key, "[]", 2, KZ_GRANT_ASSERTION, &token);
	assert_string_equal(verdict(&token), "grant_claims");
}

/* Claims of a life that is none, too long, or whose begin is not its issue. */
/* What is taken is what would have been written, whatever byte is changed, lost or doubled. */
static void taken_as_written(const char *p, size_t n)
{
	kz_auto_buf struct kz_buf again = KZ_BUF_INIT(KZ_GRANT_MAX);
	char is_for[KZ_AUDIENCE_TEXT];
	struct kz_grant g;

	if (kz_grant_read(p, n, &g, is_for, NULL))
		return;
	assert_int_equal(kz_grant_write(is_for, &g, &again, NULL), KZ_OK);
	assert_int_equal(again.len, n);
	assert_memory_equal(again.data, p, n);
}

static void grant_10_one_text_one_grant(void **state)
{
	kz_auto_buf struct kz_buf text = KZ_BUF_INIT(KZ_GRANT_MAX);
	struct kz_grant g = example(), back;
	char copy[KZ_GRANT_MAX + 1], is_for[KZ_AUDIENCE_TEXT];

	(void)state;
	assert_int_equal(kz_grant_write(audience, &g, &text, NULL), KZ_OK);
	assert_int_equal(kz_grant_read(text.data, text.len, &back, is_for, NULL), KZ_OK);
	for (size_t i = 0; i < text.len; i++) {
		for (int c = 0; c < 256; c++) {
			memcpy(copy, text.data, text.len);
			copy[i] = (char)c;
			taken_as_written(copy, text.len);
		}
		memcpy(copy, text.data, i);
		memcpy(copy + i, text.data + i + 1, text.len - i - 1);
		taken_as_written(copy, text.len - 1);
		memcpy(copy + i + 1, text.data + i, text.len - i);
		copy[i] = text.data[i];
		taken_as_written(copy, text.len + 1);
		assert_int_not_equal(kz_grant_read(text.data, i, &back, is_for, NULL), KZ_OK);
	}
}

static void inv_31_a_verifier_refuses_a_long_life(void **state)
{
	static const struct {
		int64_t iat, nbf, exp;
		const char *reason;
	} cases[] = {
		{ NOW, NOW, NOW + 14400, "" },
		{ NOW, NOW, NOW + 14401, "grant_claims" },
		{ NOW, NOW, NOW, "grant_claims" },
		{ NOW, NOW, NOW - 1, "grant_claims" },
		{ NOW, NOW - 1, NOW + 600, "grant_claims" },
		{ NOW, NOW + 1, NOW + 600, "grant_claims" },
		{ NOW - 20000, NOW, NOW + 600, "grant_claims" },
	};
	kz_auto_buf struct kz_buf token = KZ_BUF_INIT(KZ_GRANT_MAX);
	kz_auto_buf struct kz_buf payload = KZ_BUF_INIT(KZ_GRANT_MAX);
	struct kz_grant g = example();
	const char *rest;

	(void)state;
	mint(&g, &token);
	payload_of(&token, &payload);
	rest = strstr(payload.data, ",\"jti\"");
	assert_non_null(rest);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		kz_auto_buf struct kz_buf text = KZ_BUF_INIT(KZ_GRANT_MAX);
		char iat[KZ_DATE_TEXT], nbf[KZ_DATE_TEXT], exp[KZ_DATE_TEXT];

		kz_date_print(cases[i].iat, iat);
		kz_date_print(cases[i].nbf, nbf);
		kz_date_print(cases[i].exp, exp);
		assert_int_equal(
			kz_buf_printf(
				&text, NULL,
				"{\"iss\":\"kz\",\"aud\":\"%s\",\"iat\":\"%s\",\"nbf\":\"%s\",\"exp\":\"%s\"%s",
				audience, iat, nbf, exp, rest),
			KZ_OK);
		forge(&grant_key, text.data, text.len, KZ_GRANT_ASSERTION, &token);
		assert_string_equal(verdict(&token), cases[i].reason);
	}
}

static void grant_11_time_is_judged_with_a_bounded_tolerance(void **state)
{
	kz_auto_buf struct kz_buf token = KZ_BUF_INIT(KZ_GRANT_MAX);
	struct kz_grant g = example();

	(void)state;
	mint(&g, &token);
	assert_string_equal(verdict_at(token.data, token.len, NOW - KZ_GRANT_SKEW_S - 1),
			    "grant_early");
	assert_string_equal(verdict_at(token.data, token.len, NOW - KZ_GRANT_SKEW_S), "");
	assert_string_equal(verdict_at(token.data, token.len, NOW + 599), "");
	assert_string_equal(verdict_at(token.data, token.len, NOW + 600), "grant_expired");
	assert_string_equal(verdict_at(token.data, token.len, INT64_MAX / 2), "grant_expired");
	assert_string_equal(verdict_at(token.data, token.len, 0), "grant_early");
}

static void a_grant_of_another_deployment_is_refused(void **state)
{
	kz_auto_buf struct kz_buf token = KZ_BUF_INIT(KZ_GRANT_MAX);
	struct kz_grant g = example();
	char other[KZ_AUDIENCE_TEXT];

	(void)state;
	kz_grant_audience("d0124", other);
	assert_int_equal(kz_grant_mint(&grant_key, other, &g, &token, NULL), KZ_OK);
	assert_string_equal(verdict(&token), "grant_audience");
}

static void a_token_of_another_kind_is_no_grant(void **state)
{
	kz_auto_buf struct kz_buf token = KZ_BUF_INIT(KZ_GRANT_MAX);
	kz_auto_buf struct kz_buf payload = KZ_BUF_INIT(KZ_GRANT_MAX);
	struct kz_grant g = example();
	struct kz_secret stranger = { .is_set = true };

	(void)state;
	mint(&g, &token);
	payload_of(&token, &payload);
	/* signed by the grant key for another use */
	forge(&grant_key, payload.data, payload.len, KZ_RECEIPT_ASSERTION, &token);
	assert_string_equal(verdict(&token), "grant_signature");
	forge(&grant_key, payload.data, payload.len, KZ_REVOCATION_ASSERTION, &token);
	assert_string_equal(verdict(&token), "grant_signature");
	forge(&grant_key, payload.data, payload.len, "", &token);
	assert_string_equal(verdict(&token), "grant_signature");
	/* a receipt, and a receipt that claims to be a grant: their key is none of grants */
	forge(&receipt_key, payload.data, payload.len, KZ_RECEIPT_ASSERTION, &token);
	assert_string_equal(verdict(&token), "grant_key_unknown");
	forge(&receipt_key, payload.data, payload.len, KZ_GRANT_ASSERTION, &token);
	assert_string_equal(verdict(&token), "grant_key_unknown");
	forge(&stranger, payload.data, payload.len, KZ_GRANT_ASSERTION, &token);
	assert_string_equal(verdict(&token), "grant_key_unknown");
}

/* A stranger's signature under our key's name, and footers that name none. */
static void the_footer_names_the_key_in_one_spelling(void **state)
{
	kz_auto_buf struct kz_buf token = KZ_BUF_INIT(KZ_GRANT_MAX);
	kz_auto_buf struct kz_buf payload = KZ_BUF_INIT(KZ_GRANT_MAX);
	struct kz_grant g = example();
	struct kz_secret stranger = { .is_set = true };
	char ours[KZ_FOOTER_TEXT], footer[5][128];
	struct kz_public own;

	(void)state;
	mint(&g, &token);
	payload_of(&token, &payload);
	kz_sign_public(&grant_key, &own);
	kz_key_footer(&own, ours);
	kz_buf_clear(&token);
	assert_int_equal(kz_token_sign(&stranger, payload.data, payload.len, ours,
				       KZ_GRANT_ASSERTION, &token, NULL),
			 KZ_OK);
	assert_string_equal(verdict(&token), "grant_signature");
	snprintf(footer[0], sizeof(footer[0]), " %s", ours);
	snprintf(footer[1], sizeof(footer[1]), "{\"a\":1,%s", ours + 1);
	snprintf(footer[2], sizeof(footer[2]), "{\"kid\":\"x\",%s", ours + 1);
	snprintf(footer[3], sizeof(footer[3]), "%s", "{}");
	footer[4][0] = '\0';
	for (size_t i = 0; i < 5; i++) {
		kz_buf_clear(&token);
		assert_int_equal(kz_token_sign(&grant_key, payload.data, payload.len, footer[i],
					       KZ_GRANT_ASSERTION, &token, NULL),
				 KZ_OK);
		assert_string_equal(verdict(&token), "grant_malformed");
	}
}

static void proxy_11_a_rotated_key_ends_former_grants(void **state)
{
	kz_auto_buf struct kz_buf token = KZ_BUF_INIT(KZ_GRANT_MAX);
	struct kz_grant g = example();

	(void)state;
	mint(&g, &token);
	assert_string_equal(verdict(&token), "");
	assert_int_equal(kz_keys_rotate(state_dir, (gid_t)-1, NULL), KZ_OK);
	read_keys();
	assert_string_equal(verdict(&token), "grant_key_unknown");
	mint(&g, &token);
	assert_string_equal(verdict(&token), "");
}

/* DEP-7, GRANT-5: the key derives from the field key alone, and every replica derives the same. */
static void grant_5_the_key_derives_from_the_field_key(void **state)
{
	struct kz_secret field, derived;

	(void)state;
	assert_int_equal(kz_keys_read(state_dir, KZ_KEY_FIELD, &field, NULL), KZ_OK);
	kz_derive(&field, "grant.key", &derived);
	assert_true(kz_equal(derived.bytes, grant_key.bytes, KZ_KEY_BYTES));
	kz_derive(&field, "receipt.key", &derived);
	assert_true(kz_equal(derived.bytes, receipt_key.bytes, KZ_KEY_BYTES));
}

static void grant_4_no_grant_is_made_that_no_verifier_takes(void **state)
{
	kz_auto_buf struct kz_buf token = KZ_BUF_INIT(KZ_GRANT_MAX);
	struct kz_grant good = example();

	(void)state;
	for (int i = 0; i < 10; i++) {
		struct kz_grant g = good;

		switch (i) {
		case 0: g.expires_s = g.issued_s + KZ_GRANT_TTL_MOST + 1; break;
		case 1: g.expires_s = g.issued_s; break;
		case 2: g.expires_s = g.issued_s - 5; break;
		case 3: g.scope = (struct kz_scope){ .mode = KZ_SCOPE_ISOLATED }; break;
		case 4: g.scope.port_count = 0; break;
		case 5: g.scope.host_count = 0; break;
		case 6: g.execution[3] = 'G'; break;
		case 7: g.run[0] = '\0'; break;
		case 8: g.worker[0] = '\0'; break;
		default: g.revision[10] = '\0'; break;
		}
		assert_int_equal(kz_grant_mint(&grant_key, audience, &g, &token, NULL),
				 KZ_E_SOFTWARE);
		assert_int_equal(token.len, 0);
	}
}

static void a_scope_that_does_not_fit_is_refused(void **state)
{
	kz_auto_buf struct kz_buf token = KZ_BUF_INIT(KZ_GRANT_MAX);
	struct kz_grant g = example();
	struct kz_err err = KZ_ERR_INIT;
	char host[128];
	int n;

	(void)state;
	for (size_t i = 0; i < KZ_SCOPE_HOSTS; i++) {
		n = snprintf(host, sizeof(host), "%060zu.%030zu.example", i, i);
		assert_int_equal(kz_host_parse(host, (size_t)n, &g.scope.hosts[i]), KZ_R_NONE);
	}
	g.scope.host_count = KZ_SCOPE_HOSTS;
	kz_grant_mint(&grant_key, audience, &g, &token, &err);
	assert_string_equal(err.reason, "grant_too_large");
	assert_int_equal(token.len, 0);
	g.scope.host_count = 20;
	assert_int_equal(kz_grant_mint(&grant_key, audience, &g, &token, NULL), KZ_OK);
	assert_string_equal(verdict(&token), "");
}

static const char *ring_reason(const char *text)
{
	static struct kz_err err;
	struct kz_keyring *k = NULL;
	char path[128];

	err = (struct kz_err)KZ_ERR_INIT;
	snprintf(path, sizeof(path), "%s/ring.json", state_dir);
	assert_int_equal(kz_file_replace(AT_FDCWD, path, text, strlen(text), 0600, (gid_t)-1, NULL),
			 KZ_OK);
	if (kz_keyring_read(path, &k, &err))
		return err.reason;
	kz_keyring_free(k);
	return "";
}

static void a_file_of_keys_is_read_strictly(void **state)
{
#define KEY "k4.public.cHFyc3R1dnd4eXp7fH1-f4CBgoOEhYaHiImKi4yNjo8"
#define KID "k4.pid.9ShR3xc8-qVJ_di0tc9nx0IDIqbatdeM2mqLFBJsKRHs"
	static const char *const bad[] = {
		"",
		"[]",
		"{}",
		"{\"v\":1}",
		"{\"v\":1,\"grant\":[]}",
		"{\"v\":2,\"grant\":[],\"receipt\":[]}",
		"{\"v\":1,\"grant\":[],\"receipt\":[],\"more\":[]}",
		"{\"v\":1,\"grant\":[{}],\"receipt\":[]}",
		"{\"v\":1,\"grant\":[{\"kid\":\"" KID "\"}],\"receipt\":[]}",
		"{\"v\":1,\"grant\":[{\"kid\":\"x\",\"key\":\"" KEY "\"}],\"receipt\":[]}",
		"{\"v\":1,\"grant\":[{\"kid\":\"" KID "\",\"key\":\"" KEY
		"\",\"x\":1}],\"receipt\":[]}",
		"{\"v\":1,\"grant\":[{\"kid\":\"" KID "\",\"key\":\"" KEY "\"}],\"receipt\":{}}",
	};
	struct kz_grant g;
	struct kz_keyring *k = NULL;
	struct kz_err err = KZ_ERR_INIT;
	char path[128];

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_string_equal(ring_reason(bad[i]), "keys_invalid");
	assert_string_equal(ring_reason("{\"v\":1,\"grant\":[{\"kid\":\"" KID "\",\"key\":\"" KEY
					"\"}],\"receipt\":[]}"),
			    "");
	assert_string_equal(ring_reason("{\"v\":1,\"grant\":[],\"receipt\":[]}"), "");
	/* PROXY-10: with no key, and without a ring, everything is refused. */
	snprintf(path, sizeof(path), "%s/ring.json", state_dir);
	assert_int_equal(kz_keyring_read(path, &k, NULL), KZ_OK);
	assert_int_equal(kz_keyring_count(k), 0);
	assert_int_not_equal(kz_grant_verify(k, audience, "x", 1, NOW, &g, &err), KZ_OK);
	assert_string_equal(err.reason, "keys_missing");
	assert_int_not_equal(kz_grant_verify(NULL, audience, "x", 1, NOW, &g, &err), KZ_OK);
	assert_string_equal(err.reason, "keys_missing");
	kz_keyring_free(k);
	k = NULL;
	kz_keyring_read("/nonexistent/keys.json", &k, &err);
	assert_string_equal(err.reason, "keys_missing");
	assert_null(k);
}

static void dates_have_one_spelling(void **state)
{
	static const char *const bad[] = {
		"",
		"2026-01-31",
		"2026-01-31T23:59:59",
		"2026-01-31T23:59:59+01:00",
		"2026-01-31T23:59:59+00:00x",
		"2026-01-31 23:59:59+00:00",
		"2026-02-30T00:00:00+00:00",
		"2026-13-01T00:00:00+00:00",
		"2026-00-01T00:00:00+00:00",
		"2026-01-31T24:00:00+00:00",
		"2026-01-31T23:60:00+00:00",
		"2026-01-31T23:59:60+00:00",
		"1969-12-31T23:59:59+00:00",
		" 2026-01-31T23:59:59Z",
		"2026-01-31t23:59:59z",
		"+026-01-31T23:59:59Z",
	};
	static const int64_t times[] = { 0, 1, 951782400, NOW, 4102444800, 253402300799 };
	char text[KZ_DATE_TEXT];
	int64_t s = 7;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_false(kz_date_parse(bad[i], &s));
	assert_int_equal(s, 7);
	for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
		kz_date_print(times[i], text);
		assert_true(kz_date_parse(text, &s));
		assert_int_equal(s, times[i]);
	}
	assert_true(kz_date_parse("2000-02-29T00:00:00Z", &s));
	assert_int_equal(s, 951782400);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(grant_1_what_is_minted_comes_back),
		cmocka_unit_test(grant_10_the_same_grant_is_the_same_token),
		cmocka_unit_test(grant_10_no_byte_may_change),
		cmocka_unit_test(grant_10_other_kinds_of_token_are_malformed),
		cmocka_unit_test(grant_10_claims_have_one_form),
		cmocka_unit_test(grant_10_payloads_that_are_nearly_right),
		cmocka_unit_test(grant_10_one_text_one_grant),
		cmocka_unit_test(inv_31_a_verifier_refuses_a_long_life),
		cmocka_unit_test(grant_11_time_is_judged_with_a_bounded_tolerance),
		cmocka_unit_test(a_grant_of_another_deployment_is_refused),
		cmocka_unit_test(a_token_of_another_kind_is_no_grant),
		cmocka_unit_test(the_footer_names_the_key_in_one_spelling),
		cmocka_unit_test(proxy_11_a_rotated_key_ends_former_grants),
		cmocka_unit_test(grant_5_the_key_derives_from_the_field_key),
		cmocka_unit_test(grant_4_no_grant_is_made_that_no_verifier_takes),
		cmocka_unit_test(a_scope_that_does_not_fit_is_refused),
		cmocka_unit_test(a_file_of_keys_is_read_strictly),
		cmocka_unit_test(dates_have_one_spelling),
	};

	return cmocka_run_group_tests(tests, start, stop);
}
