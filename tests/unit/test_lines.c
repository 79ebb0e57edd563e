/* The hashline record as bytes: what is written reads the same, what is not exactly so is damaged. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/str.h"
#include "core/files/lines.h"
#include "port/seal.h"

static void show(struct kz_book *b, const char *path, const char *text, uint32_t lines, uint32_t to)
{
	kz_auto_spans struct kz_spans seen = { NULL, 0, 0 };
	struct kz_err err = KZ_ERR_INIT;

	assert_int_equal(kz_spans_add(&seen, 1, to, &err), KZ_OK);
	assert_int_equal(kz_book_show(b, path, text, strlen(text), false, lines, &seen, NULL, &err),
			 KZ_OK);
}

static void fill(struct kz_book *b)
{
	const struct kz_row rows[] = { { "one", 3 }, { "", 0 } };
	struct kz_err err = KZ_ERR_INIT;

	show(b, "a.txt", "x\ny\n", 2, 1);
	show(b, "a.txt", "x\nz", 2, 2);
	show(b, "d/b.txt", "", 0, 0);
	assert_int_equal(kz_book_keep(b, "second", rows, 2, &err), KZ_OK);
	assert_int_equal(kz_book_keep(b, "first", rows, 1, &err), KZ_OK);
}

static char *copy(const char *p, size_t n)
{
	char *x = malloc(n ? n : 1);

	assert_non_null(x);
	memcpy(x, p, n);
	return x;
}

static enum kz_rc encode(struct kz_book *b, int64_t max, struct kz_buf *out, struct kz_err *err)
{
	return kz_lines_encode(b, UINT64_MAX, max, out, err);
}

static void hl_2_what_is_written_reads_the_same(void **state)
{
	kz_auto_book struct kz_book b = { .pages = 0 }, again = { .pages = 0 };
	kz_auto_buf struct kz_buf out = KZ_BUF_INIT(KZ_LINES_MAX),
				  twice = KZ_BUF_INIT(KZ_LINES_MAX);
	struct kz_err err = KZ_ERR_INIT;
	const struct kz_page *p;

	(void)state;
	fill(&b);
	assert_int_equal(encode(&b, KZ_LINES_MAX, &out, &err), KZ_OK);
	assert_int_equal(kz_lines_decode(copy(out.data, out.len), out.len, &again, &err), KZ_OK);
	assert_int_equal(encode(&again, KZ_LINES_MAX, &twice, &err), KZ_OK);
	assert_int_equal(out.len, twice.len);
	assert_memory_equal(out.data, twice.data, out.len);
	p = kz_book_find(&again, "a.txt");
	assert_int_equal(p->count, 2);
	assert_memory_equal(p->version[0].text, "x\nz", 3);
	assert_int_equal(kz_spans_missing(&p->version[1].seen, 1, 1), 0);
	assert_int_equal(kz_spans_missing(&p->version[1].seen, 1, 2), 2);
	assert_memory_equal(kz_book_register(&again, "second")->text, "one\n\n", 5);
}

/* Every bit of it, every shorter one, and one byte more. */
static void hl_2_inv_36_any_other_byte_is_damage(void **state)
{
	kz_auto_book struct kz_book b = { .pages = 0 };
	kz_auto_buf struct kz_buf out = KZ_BUF_INIT(KZ_LINES_MAX);
	struct kz_err err = KZ_ERR_INIT;

	(void)state;
	fill(&b);
	assert_int_equal(encode(&b, KZ_LINES_MAX, &out, &err), KZ_OK);
	for (size_t bit = 0; bit < out.len * 8; bit++) {
		kz_auto_book struct kz_book x = { .pages = 0 };
		char *p = copy(out.data, out.len);

		p[bit / 8] ^= (char)(1 << (bit % 8));
		err = (struct kz_err)KZ_ERR_INIT;
		assert_int_not_equal(kz_lines_decode(p, out.len, &x, &err), KZ_OK);
		assert_string_equal(err.reason, "object_damaged");
	}
	for (size_t n = 0; n <= out.len + 1; n++) {
		kz_auto_book struct kz_book x = { .pages = 0 };
		char *p = malloc(n ? n : 1);

		assert_non_null(p);
		memset(p, 0, n ? n : 1);
		memcpy(p, out.data, n < out.len ? n : out.len);
		assert_int_equal(kz_lines_decode(p, n, &x, &err) == KZ_OK, n == out.len);
	}
}

static void bound_7_hl_8_the_bound_is_inclusive(void **state)
{
	kz_auto_book struct kz_book b = { .pages = 0 };
	kz_auto_buf struct kz_buf out = KZ_BUF_INIT(KZ_LINES_MAX);
	struct kz_err err = KZ_ERR_INIT;
	int64_t size;

	(void)state;
	show(&b, "a.txt", "x\ny\n", 2, 1);
	assert_int_equal(kz_lines_encode(&b, 0, KZ_LINES_MAX, &out, &err), KZ_OK);
	size = (int64_t)out.len;
	assert_int_equal(kz_lines_encode(&b, 0, size, &out, &err), KZ_OK);
	assert_int_equal(kz_lines_encode(&b, 0, size - 1, &out, &err), KZ_E_DATA);
	assert_string_equal(err.reason, "lines_over_bound");
	assert_int_equal(b.pages, 1);
}

static void hl_8_others_make_room_oldest_first(void **state)
{
	kz_auto_book struct kz_book b = { .pages = 0 };
	kz_auto_buf struct kz_buf out = KZ_BUF_INIT(KZ_LINES_MAX);
	struct kz_err err = KZ_ERR_INIT;

	(void)state;
	show(&b, "old", "1\n", 1, 1);
	show(&b, "newer", "2\n", 1, 1);
	show(&b, "now", "3\n", 1, 1);
	assert_int_equal(kz_lines_encode(&b, 0, KZ_LINES_MAX, &out, &err), KZ_OK);
	assert_int_equal(kz_lines_encode(&b, kz_book_find(&b, "now")->used, (int64_t)out.len - 1,
					 &out, &err),
			 KZ_OK);
	assert_null(kz_book_find(&b, "old"));
	assert_non_null(kz_book_find(&b, "newer"));
	assert_non_null(kz_book_find(&b, "now"));
}

static void hl_2_at_most_256_paths_and_4_texts(void **state)
{
	kz_auto_book struct kz_book b = { .pages = 0 };
	char name[32], text[32];
	struct kz_err err = KZ_ERR_INIT;

	(void)state;
	for (int i = 0; i < 300; i++) {
		assert_int_equal(kz_str_format(name, sizeof name, &err, "f%d", i), KZ_OK);
		show(&b, name, "x\n", 1, 1);
		show(&b, "f0", "x\n", 1, 1); /* used all the time */
	}
	assert_int_equal(b.pages, KZ_BOOK_PAGES);
	assert_non_null(kz_book_find(&b, "f0"));
	assert_null(kz_book_find(&b, "f1"));
	for (int i = 0; i < 6; i++) {
		assert_int_equal(kz_str_format(text, sizeof text, &err, "%d\n", i), KZ_OK);
		show(&b, "f0", text, 1, 1);
	}
	assert_int_equal(kz_book_find(&b, "f0")->count, KZ_BOOK_VERSIONS);
	assert_memory_equal(kz_book_find(&b, "f0")->version[0].text, "5\n", 2);
}

static void inv_36_showing_the_same_again_changes_nothing(void **state)
{
	kz_auto_book struct kz_book b = { .pages = 0 };
	kz_auto_buf struct kz_buf out = KZ_BUF_INIT(KZ_LINES_MAX),
				  twice = KZ_BUF_INIT(KZ_LINES_MAX);
	struct kz_err err = KZ_ERR_INIT;

	(void)state;
	show(&b, "a", "x\n", 1, 1);
	assert_int_equal(encode(&b, KZ_LINES_MAX, &out, &err), KZ_OK);
	show(&b, "a", "x\n", 1, 1);
	assert_int_equal(encode(&b, KZ_LINES_MAX, &twice, &err), KZ_OK);
	assert_int_equal(out.len, twice.len);
	assert_memory_equal(out.data, twice.data, out.len);
}

static void hl_9_registers_are_bounded(void **state)
{
	kz_auto_book struct kz_book b = { .pages = 0 };
	static char much[KZ_REGISTER_MAX];
	struct kz_row row = { much, KZ_REGISTER_MAX - 1 };
	struct kz_err err = KZ_ERR_INIT;
	char name[8];

	(void)state;
	memset(much, 'x', sizeof much);
	for (int i = 0; i < 8; i++) {
		assert_int_equal(kz_str_format(name, sizeof name, &err, "r%d", i), KZ_OK);
		assert_int_equal(kz_book_keep(&b, name, &row, 1, &err), KZ_OK);
	}
	row.n = 0;
	assert_int_equal(kz_book_keep(&b, "more", &row, 1, &err), KZ_E_DATA);
	assert_string_equal(err.reason, "register_full");
	row.n = 5;
	assert_int_equal(kz_book_keep(&b, "r7", &row, 1, &err), KZ_OK);
	row.n = KZ_REGISTER_MAX;
	assert_int_equal(kz_book_keep(&b, "r7", &row, 1, &err), KZ_E_DATA);
	row.n = 1;
	for (int i = 8; i < KZ_BOOK_REGISTERS; i++) {
		assert_int_equal(kz_str_format(name, sizeof name, &err, "r%d", i), KZ_OK);
		assert_int_equal(kz_book_keep(&b, name, &row, 1, &err), KZ_OK);
	}
	assert_int_equal(kz_book_keep(&b, "s", &row, 1, &err), KZ_E_DATA);
	assert_int_equal(b.registers, KZ_BOOK_REGISTERS);
}

/* The JSON form makes of an edit what the text form makes of it. */
static void hl_3_json_says_the_same(void **state)
{
	static const char text[] =
		"[a#00ff]\nPUT 2.=3:\n+x\n+\nPUT >$:\n+e\nCUT 5.=5 @r\nPUT <1 @r\nMV b\n";
	static const char json[] =
		"{\"sections\":[{\"path\":\"./a\",\"tag\":\"00FF\",\"ops\":[{\"op\":\"PUT\",\"at\":\"2.=3\","
		"\"rows\":[\"x\",\"\"]},{\"op\":\"PUT\",\"at\":\">$\",\"rows\":[\"e\"]},{\"op\":\"CUT\",\"at\":"
		"\"5.=5\",\"register\":\"r\"},{\"op\":\"PUT\",\"at\":\"<1\",\"register\":\"r\"},{\"op\":\"MV\",\"to\":"
		"\"b\"}]}]}";
	kz_auto_edit struct kz_edit a = { .sections = 0 }, b = { .sections = 0 };
	kz_auto_json struct kz_json *j = NULL;
	struct kz_err err = KZ_ERR_INIT;

	(void)state;
	assert_int_equal(kz_edit_parse(text, sizeof text - 1, &a, &err), KZ_OK);
	assert_int_equal(kz_json_parse(json, sizeof json - 1, &j, &err), KZ_OK);
	assert_int_equal(kz_lines_edit_json(j, &b, &err), KZ_OK);
	assert_int_equal(a.sections, b.sections);
	assert_string_equal(a.section[0]->path, b.section[0]->path);
	assert_string_equal(a.section[0]->dest, b.section[0]->dest);
	assert_int_equal(a.section[0]->hunks, b.section[0]->hunks);
	assert_int_equal(a.rows, b.rows);
	for (size_t i = 0; i < a.section[0]->hunks; i++) {
		struct kz_hunk *x = &a.section[0]->hunk[i], *y = &b.section[0]->hunk[i];

		assert_int_equal(x->kind, y->kind);
		assert_int_equal(x->from, y->from);
		assert_int_equal(x->to, y->to);
		assert_int_equal(x->rows, y->rows);
		assert_int_equal(x->is_edge, y->is_edge);
		assert_int_equal(x->has_register, y->has_register);
		assert_string_equal(x->reg, y->reg);
	}
}

static void hl_3_json_forgives_nothing(void **state)
{
	static const char *const bad[][2] = {
		{ "{}", "edit_malformed" },
		{ "{\"sections\":[]}", "edit_malformed" },
		{ "{\"sections\":[],\"x\":1}", "edit_malformed" },
		{ "{\"sections\":[{\"path\":\"a\",\"ops\":[]}]}", "missing_tag" },
		{ "{\"sections\":[{\"path\":\"a\",\"tag\":\"12\",\"ops\":[]}]}", "edit_malformed" },
		{ "{\"sections\":[{\"path\":\"/a\",\"tag\":\"1234\",\"ops\":[]}]}",
		  "path_rejected" },
		{ "{\"sections\":[{\"path\":\"a\",\"tag\":\"1234\",\"ops\":[{\"op\":\"PUT\",\"at\":\"1-2\","
		  "\"rows\":[\"\"]}]}]}",
		  "edit_malformed" },
		{ "{\"sections\":[{\"path\":\"a\",\"tag\":\"1234\",\"ops\":[{\"op\":\"PUT\",\"at\":\"1.=2\"}]}]}",
		  "edit_malformed" },
		{ "{\"sections\":[{\"path\":\"a\",\"tag\":\"1234\",\"ops\":[{\"op\":\"PUT\",\"at\":\"1.=2\","
		  "\"rows\":[]}]}]}",
		  "edit_malformed" },
		{ "{\"sections\":[{\"path\":\"a\",\"tag\":\"1234\",\"ops\":[{\"op\":\"PUT\",\"at\":\"1.=2\","
		  "\"rows\":[\"a\\nb\"]}]}]}",
		  "edit_malformed" },
		{ "{\"sections\":[{\"path\":\"a\",\"tag\":\"1234\",\"ops\":[{\"op\":\"PUT\",\"at\":\"1*\","
		  "\"rows\":[\"a\"]}]}]}",
		  "block_unsupported" },
		{ "{\"sections\":[{\"path\":\"a\",\"tag\":\"1234\",\"ops\":[{\"op\":\"CUT\",\"at\":\"3.=2\"}]}]}",
		  "bad_range" },
		{ "{\"sections\":[{\"path\":\"a\",\"tag\":\"1234\",\"ops\":[{\"op\":\"REM\",\"at\":\"1.=1\"}]}]}",
		  "edit_malformed" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		kz_auto_edit struct kz_edit e = { .sections = 0 };
		kz_auto_json struct kz_json *j = NULL;
		struct kz_err err = KZ_ERR_INIT;

		assert_int_equal(kz_json_parse(bad[i][0], strlen(bad[i][0]), &j, &err), KZ_OK);
		assert_int_not_equal(kz_lines_edit_json(j, &e, &err), KZ_OK);
		assert_string_equal(err.reason, bad[i][1]);
	}
}

int main(void)
{
	struct kz_err err = KZ_ERR_INIT;
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hl_2_what_is_written_reads_the_same),
		cmocka_unit_test(hl_2_inv_36_any_other_byte_is_damage),
		cmocka_unit_test(bound_7_hl_8_the_bound_is_inclusive),
		cmocka_unit_test(hl_8_others_make_room_oldest_first),
		cmocka_unit_test(hl_2_at_most_256_paths_and_4_texts),
		cmocka_unit_test(inv_36_showing_the_same_again_changes_nothing),
		cmocka_unit_test(hl_9_registers_are_bounded),
		cmocka_unit_test(hl_3_json_says_the_same),
		cmocka_unit_test(hl_3_json_forgives_nothing),
	};

	if (kz_seal_init(&err) != KZ_OK)
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
