/* core/egress: revocations are signed, only grow, and fail closed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/str.h"
#include "core/conf/keys.h"
#include "core/conf/public.h"
#include "core/egress/revoke.h"
#include "port/seal-sign.h"

#define NOW INT64_C(1790000000)
#define ID_A "0123456789abcdef0123456789abcdef"
#define ID_B "fedcba9876543210fedcba9876543210"

static char state_dir[64], file[128];
static struct kz_secret key;
static struct kz_keyring *ring;

static void read_keys(void)
{
	char path[128];

	assert_int_equal(kz_keys_read(state_dir, KZ_KEY_GRANT, &key, NULL), KZ_OK);
	assert_int_equal(kz_public_write(state_dir, NULL), KZ_OK);
	snprintf(path, sizeof(path), "%s/public/keys.json", state_dir);
	kz_keyring_free(ring);
	assert_int_equal(kz_keyring_read(path, &ring, NULL), KZ_OK);
}

static int setup(void **state)
{
	(void)state;
	ring = NULL;
	kz_str_copy(state_dir, sizeof(state_dir), "/tmp/kz-unit.XXXXXX", NULL);
	if (!mkdtemp(state_dir) || kz_keys_make(state_dir, (gid_t)-1, NULL))
		return -1;
	snprintf(file, sizeof(file), "%s/%s", state_dir, KZ_REVOKED_FILE);
	read_keys();
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	kz_keyring_free(ring);
	return kz_tree_remove(AT_FDCWD, state_dir, NULL);
}

static int64_t add_ms(const char *execution, int64_t before_s, int64_t now_ms)
{
	int64_t serial = 0;

	assert_int_equal(kz_revoke(state_dir, &key, execution, before_s, now_ms, &serial, NULL),
			 KZ_OK);
	return serial;
}

static int64_t add(const char *execution, int64_t before_s, int64_t now_s)
{
	return add_ms(execution, before_s, now_s * 1000);
}

static struct kz_revoked *reading(int64_t serial)
{
	struct kz_revoked *r = NULL;

	assert_int_equal(kz_revoked_read(file, ring, serial, &r, NULL), KZ_OK);
	return r;
}

static void refused(int64_t serial)
{
	struct kz_revoked *r = NULL;
	struct kz_err err = KZ_ERR_INIT;

	kz_revoked_read(file, ring, serial, &r, &err);
	assert_string_equal(err.reason, "revocation_invalid");
	assert_null(r);
}

static struct kz_grant grant(const char *execution, int64_t issued_s)
{
	struct kz_grant g = { .issued_s = issued_s, .expires_s = issued_s + 600 };

	kz_str_copy(g.execution, sizeof(g.execution), execution, NULL);
	return g;
}

/* Without the flushes of a real writer: this is done some thousand times. */
static void put(const char *text, size_t n)
{
	FILE *f = fopen(file, "we");

	assert_non_null(f);
	assert_int_equal(fwrite(text, 1, n, f), n);
	assert_int_equal(fclose(f), 0);
}

static void what_is_revoked_is_found_and_nothing_else(void **state)
{
	struct kz_grant a = grant(ID_A, NOW), b = grant(ID_B, NOW);
	struct stat st;

	(void)state;
	/* Without a file nothing is known, so nothing passes. */
	refused(0);
	assert_true(kz_revoked_has(NULL, &a));
	add(NULL, 0, NOW);
	kz_auto_revoked struct kz_revoked *none = reading(0);
	assert_false(kz_revoked_has(none, &a));
	add(ID_A, 0, NOW);
	kz_auto_revoked struct kz_revoked *one = reading(0);
	assert_true(kz_revoked_has(one, &a));
	assert_false(kz_revoked_has(one, &b));
	assert_int_equal(kz_revoked_count(one), 1);
	assert_int_equal(stat(file, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0644);
}

static void grant_13_a_time_revokes_what_was_issued_before(void **state)
{
	struct kz_grant before = grant(ID_A, NOW - 1), at = grant(ID_B, NOW);

	(void)state;
	add(NULL, NOW, NOW);
	kz_auto_revoked struct kz_revoked *r = reading(0);
	assert_true(kz_revoked_has(r, &before));
	assert_false(kz_revoked_has(r, &at));
	assert_int_equal(kz_revoked_before(r), NOW);
	/* it never moves back */
	add(NULL, NOW - 100, NOW);
	kz_auto_revoked struct kz_revoked *again = reading(0);
	assert_int_equal(kz_revoked_before(again), NOW);
}

static void the_serial_only_grows(void **state)
{
	kz_auto_buf struct kz_buf old = KZ_BUF_INIT(1 << 20);
	int64_t first, last;

	(void)state;
	first = add(ID_A, 0, NOW);
	assert_int_equal(kz_file_read(AT_FDCWD, file, &old, NULL), KZ_OK);
	/* also with a clock that went back */
	assert_true(add(ID_B, 0, NOW - 5000) > first);
	last = add(ID_B, 0, NOW);
	kz_auto_revoked struct kz_revoked *r = reading(last);
	assert_int_equal(kz_revoked_serial(r), last);
	/* an older file, put back, is refused by who has seen the newer one */
	put(old.data, old.len);
	refused(last);
	kz_auto_revoked struct kz_revoked *fresh = reading(first);
	assert_non_null(fresh);
	/* nothing to add leaves a file of ours as it is */
	assert_int_equal(add(NULL, 0, NOW + 50), first);
	/* a file that was lost is followed by a newer one */
	assert_int_equal(unlink(file), 0);
	assert_true(add(NULL, 0, NOW + 60) > last);
	last = add(ID_A, 0, NOW + 60);
	assert_int_equal(unlink(file), 0);
	/* within the second too, as when keys are rotated right after a revocation */
	for (int i = 1; i < 20; i++) {
		int64_t now_ms = (NOW + 60) * 1000 + 10 * i;

		assert_true(add_ms(ID_A, 0, now_ms) > last);
		last = add_ms(ID_B, 0, now_ms);
		assert_int_equal(unlink(file), 0);
	}
}

/* PROXY-11: keys are rotated after the clock was set back: who has seen the former file takes the new one. */
static void the_serial_grows_over_a_rotation(void **state)
{
	struct kz_grant a = grant(ID_A, NOW);
	char path[128];
	int64_t last;

	(void)state;
	last = add(ID_A, NOW, NOW + 86400);
	for (size_t i = 0; i < 2; i++) {
		snprintf(path, sizeof(path), "%s/keys/%s", state_dir,
			 i ? "grant.key" : "field.key");
		assert_int_equal(unlink(path), 0);
	}
	assert_int_equal(kz_keys_make(state_dir, (gid_t)-1, NULL), KZ_OK);
	read_keys();
	refused(0);
	assert_true(add(NULL, 0, NOW) > last);
	kz_auto_revoked struct kz_revoked *r = reading(last);
	/* and nothing else of it is taken over */
	assert_int_equal(kz_revoked_count(r), 0);
	assert_int_equal(kz_revoked_before(r), 0);
	assert_false(kz_revoked_has(r, &a));
	/* no text of any other kind raises it */
	put("v4.public.eyJzZXJpYWwiOjkyMjMzNzIwMzY4NTQ3NzU4MDd9", 51);
	assert_int_equal(add(NULL, 0, NOW), NOW * 1000);
}

static void an_altered_file_fails_closed(void **state)
{
	kz_auto_buf struct kz_buf good = KZ_BUF_INIT(1 << 20);

	(void)state;
	add(ID_A, NOW - 10, NOW);
	assert_int_equal(kz_file_read(AT_FDCWD, file, &good, NULL), KZ_OK);
	for (size_t i = 0; i + 1 < good.len; i++) {
		char c = good.data[i];

		for (unsigned bit = 0; bit < 8; bit++) {
			good.data[i] = (char)((unsigned char)c ^ (1U << bit));
			put(good.data, good.len);
			refused(0);
		}
		good.data[i] = c;
	}
	for (size_t n = 0; n + 1 < good.len; n += 7) {
		put(good.data, n);
		refused(0);
	}
	put("", 0);
	refused(0);
	put(good.data, good.len);
	kz_auto_revoked struct kz_revoked *r = reading(0);
	assert_int_equal(kz_revoked_count(r), 1);
}

/* Payloads that the key signed and that no file may have. */
static void the_payload_has_one_form(void **state)
{
	static const char *const bad[] = {
		"",
		"{}",
		"{\"serial\":0,\"executions\":[]}",
		"{\"serial\":1}",
		"{\"serial\":1,\"executions\":{}}",
		"{\"serial\":1,\"executions\":[],\"more\":1}",
		"{\"executions\":[],\"serial\":1}",
		"{\"serial\":1, \"executions\":[]}",
		"{\"serial\":1,\"before\":null,\"executions\":[]}",
		"{\"serial\":1,\"before\":\"2026-01-31\",\"executions\":[]}",
		"{\"serial\":1,\"before\":\"2026-01-31T00:00:00Z\",\"executions\":[]}",
		"{\"serial\":1,\"executions\":[{\"jti\":\"x\",\"exp\":\"2026-01-31T00:00:00+00:00\"}]}",
		"{\"serial\":1,\"executions\":[{\"jti\":\"" ID_A "\"}]}",
		"{\"serial\":1,\"executions\":[{\"jti\":\"" ID_B
		"\",\"exp\":\"2026-01-31T00:00:00+00:00\"},{\"jti\":\"" ID_A
		"\",\"exp\":\"2026-01-31T00:00:00+00:00\"}]}",
		"{\"serial\":1,\"executions\":[{\"jti\":\"" ID_A
		"\",\"exp\":\"2026-01-31T00:00:00+00:00\"},{\"jti\":\"" ID_A
		"\",\"exp\":\"2026-01-31T00:00:00+00:00\"}]}",
	};
	static const char fine[] =
		"{\"serial\":1,\"before\":\"2026-01-31T00:00:00+00:00\","
		"\"executions\":[{\"jti\":\"" ID_A "\",\"exp\":\"2026-01-31T00:00:00+00:00\"}]}";
	kz_auto_buf struct kz_buf token = KZ_BUF_INIT(1 << 20);
	char footer[KZ_FOOTER_TEXT];
	struct kz_public own;

	(void)state;
	kz_sign_public(&key, &own);
	kz_key_footer(&own, footer);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		kz_buf_clear(&token);
		assert_int_equal(kz_token_sign(&key, bad[i], strlen(bad[i]), footer,
					       KZ_REVOCATION_ASSERTION, &token, NULL),
				 KZ_OK);
		put(token.data, token.len);
		refused(0);
	}
	kz_buf_clear(&token);
	assert_int_equal(kz_token_sign(&key, fine, strlen(fine), footer, KZ_REVOCATION_ASSERTION,
				       &token, NULL),
			 KZ_OK);
	put(token.data, token.len);
	kz_auto_revoked struct kz_revoked *r = reading(0);
	assert_int_equal(kz_revoked_serial(r), 1);
	/* a grant's signature is none of a revocation */
	kz_buf_clear(&token);
	assert_int_equal(
		kz_token_sign(&key, fine, strlen(fine), footer, KZ_GRANT_ASSERTION, &token, NULL),
		KZ_OK);
	put(token.data, token.len);
	refused(0);
}

static void a_former_key_is_followed_by_a_file_of_the_new_one(void **state)
{
	struct kz_grant a = grant(ID_A, NOW);
	int64_t serial = 0;

	(void)state;
	serial = add(ID_A, 0, NOW);
	assert_int_equal(kz_keys_rotate(state_dir, (gid_t)-1, NULL), KZ_OK);
	read_keys();
	refused(serial);
	assert_true(add(NULL, 0, NOW + 1) > serial);
	kz_auto_revoked struct kz_revoked *r = reading(serial);
	/* its grants verify no more, so it need not list them */
	assert_false(kz_revoked_has(r, &a));
}

static void entries_go_when_no_grant_can_need_them(void **state)
{
	struct kz_grant a = grant(ID_A, NOW), b = grant(ID_B, NOW);

	(void)state;
	add(ID_A, 0, NOW);
	add(ID_B, 0, NOW + 2 * KZ_GRANT_TTL_MOST);
	kz_auto_revoked struct kz_revoked *both = reading(0);
	assert_true(kz_revoked_has(both, &a));
	add(ID_B, 0, NOW + 2 * KZ_GRANT_TTL_MOST + 1);
	kz_auto_revoked struct kz_revoked *one = reading(0);
	assert_false(kz_revoked_has(one, &a));
	assert_true(kz_revoked_has(one, &b));
	assert_int_equal(kz_revoked_count(one), 1);
}

static void bad_input_changes_nothing(void **state)
{
	static const char *const bad[] = { "", "x", "0123456789ABCDEF0123456789ABCDEF", ID_A "0",
					   "0123456789abcdef0123456789abcde" };
	struct kz_err err = KZ_ERR_INIT;
	int64_t serial = add(NULL, 0, NOW);

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		kz_revoke(state_dir, &key, bad[i], 0, NOW * 1000, NULL, &err);
		assert_string_equal(err.reason, "malformed_input");
	}
	kz_auto_revoked struct kz_revoked *r = reading(0);
	assert_int_equal(kz_revoked_serial(r), serial);
}

/* As many as the file holds, in any order; one more is refused and the file stays. */
static void a_full_file_says_so(void **state)
{
	struct kz_err err = KZ_ERR_INIT;
	char id[KZ_ID_HEX];
	kz_auto_buf struct kz_buf payload = KZ_BUF_INIT(1 << 20);
	kz_auto_buf struct kz_buf token = KZ_BUF_INIT(1 << 20);
	char footer[KZ_FOOTER_TEXT];
	struct kz_public own;

	(void)state;
	kz_sign_public(&key, &own);
	kz_key_footer(&own, footer);
	assert_int_equal(kz_buf_puts(&payload, "{\"serial\":5,\"executions\":[", NULL), KZ_OK);
	for (int i = 0; i < KZ_REVOKED_MOST; i++)
		assert_int_equal(
			kz_buf_printf(&payload, NULL,
				      "%s{\"jti\":\"%032x\",\"exp\":\"2027-01-31T00:00:00+00:00\"}",
				      i ? "," : "", i * 2),
			KZ_OK);
	assert_int_equal(kz_buf_puts(&payload, "]}", NULL), KZ_OK);
	assert_int_equal(kz_token_sign(&key, payload.data, payload.len, footer,
				       KZ_REVOCATION_ASSERTION, &token, NULL),
			 KZ_OK);
	put(token.data, token.len);
	kz_auto_revoked struct kz_revoked *full = reading(0);
	assert_int_equal(kz_revoked_count(full), KZ_REVOKED_MOST);
	for (int i = 0; i < KZ_REVOKED_MOST; i += 97) {
		struct kz_grant g;

		snprintf(id, sizeof(id), "%032x", i * 2);
		g = grant(id, NOW);
		assert_true(kz_revoked_has(full, &g));
		snprintf(id, sizeof(id), "%032x", i * 2 + 1);
		g = grant(id, NOW);
		assert_false(kz_revoked_has(full, &g));
	}
	kz_revoke(state_dir, &key, ID_B, 0, NOW * 1000, NULL, &err);
	assert_string_equal(err.reason, "revocations_full");
	kz_auto_revoked struct kz_revoked *still = reading(0);
	assert_int_equal(kz_revoked_serial(still), 5);
	/* one that is listed already, and a time, still go */
	snprintf(id, sizeof(id), "%032x", 0);
	add(id, 0, NOW);
	add(NULL, NOW, NOW);
}

#define FRESH(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		FRESH(what_is_revoked_is_found_and_nothing_else),
		FRESH(grant_13_a_time_revokes_what_was_issued_before),
		FRESH(the_serial_only_grows),
		FRESH(the_serial_grows_over_a_rotation),
		FRESH(an_altered_file_fails_closed),
		FRESH(the_payload_has_one_form),
		FRESH(a_former_key_is_followed_by_a_file_of_the_new_one),
		FRESH(entries_go_when_no_grant_can_need_them),
		FRESH(bad_input_changes_nothing),
		FRESH(a_full_file_says_so),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
