/* rule/entry and its reader: what a stream may be, however it is cut [WS-15]. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/buf.h"
#include "rule/entry_reader.h"

struct seen {
	int entries;
	char names[256];
	char data[256];
	bool fails;
};

static enum kz_rc on_entry(void *arg, const struct kz_entry *e, const char *name,
			   struct kz_err *err)
{
	struct seen *s = arg;
	size_t at = strlen(s->names);

	assert_int_equal(strlen(name), e->name_len);
	s->entries++;
	snprintf(s->names + at, sizeof s->names - at, "%s;", name);
	return s->fails ? kz_err_set(err, KZ_E_IO, "no") : KZ_OK;
}

static enum kz_rc on_data(void *arg, const void *p, size_t n, struct kz_err *err)
{
	struct seen *s = arg;
	size_t at = strlen(s->data);

	(void)err;
	assert_true(n > 0 && at + n < sizeof s->data);
	memcpy(s->data + at, p, n);
	return KZ_OK;
}

static void add(struct kz_buf *b, struct kz_entry e, const char *name, const char *data)
{
	uint8_t head[KZ_ENTRY_HEAD];

	e.name_len = strlen(name);
	kz_entry_head(&e, head);
	assert_int_equal(kz_buf_add(b, head, sizeof head, NULL), KZ_OK);
	assert_int_equal(kz_buf_puts(b, name, NULL), KZ_OK);
	assert_int_equal(kz_buf_puts(b, data, NULL), KZ_OK);
}

static void add_three(struct kz_buf *b)
{
	add(b, (struct kz_entry){ .kind = KZ_ENTRY_DIR, .mode = 07777, .mtime_s = -1 }, "d", "");
	add(b, (struct kz_entry){ .kind = KZ_ENTRY_FILE, .size = 5 }, "d/f", "hello");
	add(b, (struct kz_entry){ .kind = KZ_ENTRY_LINK, .size = 2 }, "l", "..");
}

static enum kz_rc feed(struct kz_buf *b, size_t piece, struct seen *s, bool *whole)
{
	const struct kz_entry_sink to = { s, on_entry, on_data };
	struct kz_entry_reader r;
	enum kz_rc rc = KZ_OK;

	kz_entry_start(&r);
	for (size_t at = 0; at < b->len && rc == KZ_OK; at += piece) {
		size_t n = b->len - at < piece ? b->len - at : piece;

		rc = kz_entry_feed(&r, b->data + at, n, &to, NULL);
	}
	*whole = kz_entry_is_whole(&r);
	return rc;
}

static void test_ws15_any_split_gives_the_same_entries(void **state)
{
	kz_auto_buf struct kz_buf b = KZ_BUF_INIT(4096);

	(void)state;
	add_three(&b);
	add(&b, (struct kz_entry){ .kind = KZ_ENTRY_END, .size = 3, .mtime_s = 7 }, "", "");
	for (size_t piece = 1; piece <= b.len; piece++) {
		struct seen s = { 0 };
		bool whole;

		assert_int_equal(feed(&b, piece, &s, &whole), KZ_OK);
		assert_true(whole);
		assert_int_equal(s.entries, 3);
		assert_string_equal(s.names, "d;d/f;l;");
		assert_string_equal(s.data, "hello..");
	}
}

static void test_ws15_a_cut_or_longer_stream_is_not_whole(void **state)
{
	kz_auto_buf struct kz_buf b = KZ_BUF_INIT(4096);
	size_t full;
	bool whole;

	(void)state;
	add_three(&b);
	add(&b, (struct kz_entry){ .kind = KZ_ENTRY_END, .size = 3 }, "", "");
	full = b.len;
	for (b.len = 0; b.len < full; b.len++) {
		struct seen s = { 0 };

		assert_int_equal(feed(&b, 7, &s, &whole), KZ_OK);
		assert_false(whole);
	}
	assert_int_equal(kz_buf_add(&b, "", 1, NULL), KZ_OK);
	assert_int_equal(feed(&b, full, &(struct seen){ 0 }, &whole), KZ_E_DATA);
	assert_false(whole);
}

static void test_ws15_the_end_tells_the_right_count(void **state)
{
	kz_auto_buf struct kz_buf b = KZ_BUF_INIT(4096);
	bool whole;

	(void)state;
	add_three(&b);
	add(&b, (struct kz_entry){ .kind = KZ_ENTRY_END, .size = 2 }, "", "");
	assert_int_equal(feed(&b, 100, &(struct seen){ 0 }, &whole), KZ_E_DATA);
	assert_false(whole);
}

static void test_ws15_a_failure_of_the_sink_ends_it(void **state)
{
	kz_auto_buf struct kz_buf b = KZ_BUF_INIT(4096);
	struct seen s = { .fails = true };
	bool whole;

	(void)state;
	add_three(&b);
	assert_int_equal(feed(&b, b.len, &s, &whole), KZ_E_IO);
	assert_int_equal(s.entries, 1);
}

static void test_ws15_heads_are_exact(void **state)
{
	const struct kz_entry e = { .kind = KZ_ENTRY_FILE,
				    .mode = 06755,
				    .mtime_s = INT64_MIN,
				    .mtime_ns = 999999999,
				    .size = INT64_MAX,
				    .name_len = KZ_ENTRY_NAME_MAX };
	uint8_t h[KZ_ENTRY_HEAD];
	struct kz_entry back;

	(void)state;
	kz_entry_head(&e, h);
	assert_true(kz_entry_parse(h, &back));
	assert_int_equal(back.mode, e.mode);
	assert_true(back.mtime_s == e.mtime_s && back.mtime_ns == e.mtime_ns);
	assert_true(back.size == e.size && back.name_len == e.name_len && back.kind == e.kind);
}

static void test_ws15_malformed_heads_are_none(void **state)
{
	const struct kz_entry bad[] = {
		{ .kind = 0, .name_len = 1 },
		{ .kind = 5, .name_len = 1 },
		{ .kind = KZ_ENTRY_FILE, .name_len = 0 },
		{ .kind = KZ_ENTRY_FILE, .name_len = KZ_ENTRY_NAME_MAX + 1 },
		{ .kind = KZ_ENTRY_FILE, .name_len = 1, .mode = 010000 },
		{ .kind = KZ_ENTRY_FILE, .name_len = 1, .mtime_ns = 1000000000 },
		{ .kind = KZ_ENTRY_FILE, .name_len = 1, .size = -1 },
		{ .kind = KZ_ENTRY_DIR, .name_len = 1, .size = 1 },
		{ .kind = KZ_ENTRY_LINK, .name_len = 1, .size = 0 },
		{ .kind = KZ_ENTRY_LINK, .name_len = 1, .size = KZ_ENTRY_TARGET_MAX + 1 },
		{ .kind = KZ_ENTRY_END, .name_len = 1 },
		{ .kind = KZ_ENTRY_END, .mode = 1 },
		{ .kind = KZ_ENTRY_END, .mtime_s = -1 },
	};
	struct kz_entry good = { .kind = KZ_ENTRY_FILE, .name_len = 1 }, out;
	uint8_t h[KZ_ENTRY_HEAD];

	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		kz_entry_head(&bad[i], h);
		assert_false(kz_entry_parse(h, &out));
	}
	kz_entry_head(&good, h);
	h[1] = 1;
	assert_false(kz_entry_parse(h, &out));
	h[1] = 0;
	h[23] = 1;
	assert_false(kz_entry_parse(h, &out));
}

static void test_ws15_names(void **state)
{
	static const char *const bad[] = { "",   "/",   "/a",  "a/",     "a//b", ".",
					   "..", "./a", "a/.", "a/../b", "a/.." };
	static const char *const good[] = { "a",    "a/b",      "...", "..a", ".a",
					    "a\nb", "\xff\xfe", "a b", "-" };
	char deep[2 * (KZ_ENTRY_DEPTH_MAX + 1)], wide[257];

	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		assert_false(kz_entry_name_ok(bad[i], strlen(bad[i])));
	for (size_t i = 0; i < sizeof good / sizeof *good; i++)
		assert_true(kz_entry_name_ok(good[i], strlen(good[i])));
	assert_false(kz_entry_name_ok("a\0b", 3));
	memset(wide, 'w', sizeof wide);
	assert_true(kz_entry_name_ok(wide, 255));
	assert_false(kz_entry_name_ok(wide, 256));
	for (size_t i = 0; i < sizeof deep; i++)
		deep[i] = i % 2 ? '/' : 'd';
	assert_true(kz_entry_name_ok(deep, 2 * KZ_ENTRY_DEPTH_MAX - 1));
	assert_false(kz_entry_name_ok(deep, 2 * KZ_ENTRY_DEPTH_MAX + 1));
}

static int cmp(const char *a, const char *b)
{
	return kz_entry_name_cmp(a, strlen(a), b, strlen(b));
}

static void test_ws15_what_is_below_a_directory_follows_it(void **state)
{
	(void)state;
	assert_true(cmp("a", "a/b") < 0);
	assert_true(cmp("a/b", "a-") < 0);
	assert_true(cmp("a/b", "a\x01") < 0);
	assert_true(cmp("a/z", "aa") < 0);
	assert_true(cmp("B", "a") < 0);
	assert_true(cmp("a", "\xff") < 0);
	assert_int_equal(cmp("a/b", "a/b"), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ws15_any_split_gives_the_same_entries),
		cmocka_unit_test(test_ws15_a_cut_or_longer_stream_is_not_whole),
		cmocka_unit_test(test_ws15_the_end_tells_the_right_count),
		cmocka_unit_test(test_ws15_a_failure_of_the_sink_ends_it),
		cmocka_unit_test(test_ws15_heads_are_exact),
		cmocka_unit_test(test_ws15_malformed_heads_are_none),
		cmocka_unit_test(test_ws15_names),
		cmocka_unit_test(test_ws15_what_is_below_a_directory_follows_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
