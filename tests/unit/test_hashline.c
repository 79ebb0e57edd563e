/* Hashline: tags, texts, and what must hold of every edit, tried with random ones against a plain list of lines. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/str.h"
#include "rule/hashline_apply.h"
#include "rule/hashline_diff.h"
#include "rule/hashline_show.h"
#include "rule/tag.h"

static void hl_10_tags_are_those_of_the_public_form(void **state)
{
	static const struct {
		const char *text;
		size_t n;
		const char *tag;
	} v[] = {
		{ "", 0, "5D05" },
		{ "a", 1, "7456" },
		{ "a\n", 2, "9585" },
		{ "a\r\n", 3, "9585" },
		{ "a  \t\n", 5, "9585" },
		{ "a\nb\n", 4, "9A46" },
		{ "a\r\nb\r\n", 6, "9A46" },
		{ "a\nb", 3, "6540" },
		{ "\xef\xbb\xbf"
		  "a\n",
		  5, "6132" },
		{ "a\x0b\n", 3, "7A1E" },
		{ "a\0b\n", 4, "775A" },
		{ "a\rb\n", 4, "128B" },
		{ "\ta\n", 3, "3E1F" },
		{ "\n\n\n", 3, "3BCB" },
		{ "a\x0c\n", 3, "9572" },
		{ "h\xc3\xa9llo \xe2\x9c\x93\n", 11, "B1DD" },
		{ "\xf0\x9f\x98\x80\n", 5, "B9DA" },
		{ "a\xc2\xa0\n", 4, "87E8" },
		{ "alpha\nbeta\ngamma\n", 17, "B6C1" },
		{ "alpha\nbeta\ngamma\nrow 3723\n", 26, "B6C1" },
		{ "line one 263\nline two 4471\n", 27, "1D84" },
		{ "line one 410\nline two 6970\n", 27, "1D84" },
	};
	char tag[KZ_TAG_TEXT];

	(void)state;
	for (size_t i = 0; i < sizeof v / sizeof *v; i++) {
		kz_tag_text(kz_tag(v[i].text, v[i].n), tag);
		assert_string_equal(tag, v[i].tag);
	}
	/* of the algorithm's own description */
	assert_int_equal(kz_xxh32("", 0, 0), 0x02CC5D05);
	assert_int_equal(kz_xxh32("Nobody inspects the spammish repetition", 39, 0), 0xE2293B2F);
}

/* A small generator; the same numbers in every run. */
static uint64_t seed = 88172645463325252u;
static uint32_t pick(uint32_t n)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (uint32_t)(seed >> 32) % n;
}

struct list {
	char line[64][16];
	size_t count;
};

static void write_list(const struct list *l, struct kz_buf *out)
{
	kz_buf_clear(out);
	for (size_t i = 0; i < l->count; i++)
		assert_int_equal(kz_buf_printf(out, NULL, "%s\n", l->line[i]), KZ_OK);
}

static void random_list(struct list *l, unsigned kinds)
{
	l->count = 1 + pick(24);
	for (size_t i = 0; i < l->count; i++)
		if (pick(4) == 0)
			snprintf(l->line[i], 16, "dup%u", pick(kinds));
		else
			snprintf(l->line[i], 16, "u%u", pick(1000000));
}

static void insert(struct list *l, size_t at, const char *text)
{
	memmove(l->line + at + 1, l->line + at, (l->count - at) * 16);
	memcpy(l->line[at], text, strlen(text) + 1);
	l->count++;
}

static void cut(struct list *l, size_t at)
{
	memmove(l->line + at, l->line + at + 1, (l->count - at - 1) * 16);
	l->count--;
}

/* Everything of a text was shown. */
static void show_all(struct kz_book *b, const struct kz_buf *text, const struct list *l)
{
	kz_auto_spans struct kz_spans all = { NULL, 0, 0 };

	assert_int_equal(kz_spans_add(&all, 1, (uint32_t)l->count, NULL), KZ_OK);
	assert_int_equal(kz_book_show(b, "f", kz_buf_str(text), text->len, false,
				      (uint32_t)l->count, &all, NULL, NULL),
			 KZ_OK);
}

static enum kz_rc apply(struct kz_book *b, const struct kz_buf *edit, const struct kz_buf *now,
			struct kz_effects *x, struct kz_err *err)
{
	kz_auto_edit struct kz_edit e = { .sections = 0 };
	struct kz_edit_file f = { "f", true, kz_buf_str(now), now->len };
	enum kz_rc rc = kz_edit_parse(kz_buf_str(edit), edit->len, &e, err);

	return rc == KZ_OK ? kz_edit_apply(&e, b, &f, 1, x, err) : rc;
}

/* One operation, as text and on the list; at is where it stands there. */
static void random_hunk(struct kz_buf *edit, struct list *l, size_t line, size_t at)
{
	char row[16];

	snprintf(row, sizeof row, "n%u", pick(1000000));
	switch (pick(4)) {
	case 0:
		kz_buf_printf(edit, NULL, "PUT %zu.=%zu:\n+%s\n", line, line, row);
		cut(l, at);
		insert(l, at, row);
		break;
	case 1:
		kz_buf_printf(edit, NULL, "CUT %zu.=%zu\n", line, line);
		cut(l, at);
		break;
	case 2:
		kz_buf_printf(edit, NULL, "PUT <%zu:\n+%s\n", line, row);
		insert(l, at, row);
		break;
	default:
		kz_buf_printf(edit, NULL, "PUT >%zu:\n+%s\n", line, row);
		insert(l, at + 1, row);
		break;
	}
}

static void begin(struct kz_buf *edit, const struct kz_buf *text)
{
	char tag[KZ_TAG_TEXT];

	kz_tag_text(kz_tag(kz_buf_str(text), text->len), tag);
	kz_buf_clear(edit);
	kz_buf_printf(edit, NULL, "[f#%s]\n", tag);
}

static void hl_3_random_edits_are_those_of_a_list(void **state)
{
	kz_auto_buf struct kz_buf text = KZ_BUF_INIT(1 << 16), edit = KZ_BUF_INIT(1 << 16);
	kz_auto_buf struct kz_buf want = KZ_BUF_INIT(1 << 16);

	(void)state;
	for (int round = 0; round < 3000; round++) {
		kz_auto_book struct kz_book b = { .pages = 0 };
		kz_auto_effects struct kz_effects x = { NULL, 0 };
		struct kz_err err = KZ_ERR_INIT;
		struct list l;

		random_list(&l, 3);
		write_list(&l, &text);
		show_all(&b, &text, &l);
		begin(&edit, &text);
		/* from the last line up, so that places on the list stay those of the text */
		for (size_t line = l.count; line > 0; line--)
			if (l.count < 60 && (pick(3) == 0 || line == 1))
				random_hunk(&edit, &l, line, line - 1);
		write_list(&l, &want);
		assert_int_equal(apply(&b, &edit, &text, &x, &err), KZ_OK);
		assert_int_equal(x.effect[0].bytes.len, want.len);
		assert_memory_equal(kz_buf_str(&x.effect[0].bytes), kz_buf_str(&want), want.len);
		assert_int_equal(x.effect[0].tag, kz_tag(kz_buf_str(&want), want.len));
	}
}

/*
 * Somebody else inserts and removes lines meanwhile.  The edit is refused, or it gives what
 * both together give: the list knows where each line went, so the outcome is known.
 */
static void hl_7_hl_12_hl_13_recovery_refuses_or_is_exact(void **state)
{
	kz_auto_buf struct kz_buf text = KZ_BUF_INIT(1 << 16), edit = KZ_BUF_INIT(1 << 16);
	kz_auto_buf struct kz_buf want = KZ_BUF_INIT(1 << 16), now = KZ_BUF_INIT(1 << 16);
	int done = 0, refused = 0;

	(void)state;
	for (int round = 0; round < 20000; round++) {
		kz_auto_book struct kz_book b = { .pages = 0 };
		kz_auto_effects struct kz_effects x = { NULL, 0 };
		struct kz_err err = KZ_ERR_INIT;
		size_t where[64], line;
		struct list l, other;
		char row[16];

		random_list(&l, 3);
		write_list(&l, &text);
		show_all(&b, &text, &l);
		other = l;
		for (size_t i = 0; i < l.count; i++)
			where[i] = i;
		for (uint32_t k = 1 + pick(4); k > 0; k--) {
			size_t at = pick((uint32_t)other.count + 1);
			bool removes = at < other.count && pick(2);

			for (size_t i = 0; i < l.count; i++) {
				if (where[i] == SIZE_MAX)
					continue;
				if (removes && where[i] == at)
					where[i] = SIZE_MAX;
				else if (where[i] >= at)
					where[i] += removes ? (size_t)-1 : 1;
			}
			/* never the text of another line: one put back is the same line for everybody */
			snprintf(row, sizeof row, "o%u", pick(1000000));
			if (removes)
				cut(&other, at);
			else
				insert(&other, at, row);
		}
		write_list(&other, &now);
		line = 1 + pick((uint32_t)l.count);
		begin(&edit, &text);
		if (where[line - 1] != SIZE_MAX)
			random_hunk(&edit, &other, line, where[line - 1]);
		else
			kz_buf_printf(&edit, NULL, "CUT %zu.=%zu\n", line, line);
		/* before the first line is the head of the file, which moves with nothing */
		if (strstr(kz_buf_str(&edit), "PUT <1:"))
			continue;
		write_list(&other, &want);
		if (apply(&b, &edit, &now, &x, &err) != KZ_OK) {
			assert_true(strcmp(err.reason, "stale_anchor") == 0);
			refused++;
			continue;
		}
		done++;
		if (where[line - 1] == SIZE_MAX) {
			print_error("round %d: a removed line was found again\n%s---\n%s---\n%s",
				    round, kz_buf_str(&text), kz_buf_str(&now), kz_buf_str(&edit));
			fail();
		}
		if (x.effect[0].bytes.len != want.len ||
		    memcmp(kz_buf_str(&x.effect[0].bytes), kz_buf_str(&want), want.len) != 0) {
			print_error("round %d:\n%s---\n%s---\n%s---\n%s---\n%s", round,
				    kz_buf_str(&text), kz_buf_str(&now), kz_buf_str(&edit),
				    kz_buf_str(&x.effect[0].bytes), kz_buf_str(&want));
			fail();
		}
	}
	assert_true(done > 1000);
	assert_true(refused > 1000);
}

/* Bytes of any kind, splits of any kind: joined they are the same; the normal form splits into as many. */
static void hl_10_splitting_and_joining_keeps_every_byte(void **state)
{
	static const char kinds[] = "ab\n\r \t\xff\xc3\xa9\xef\xbb\xbf";
	char p[40];

	(void)state;
	for (int round = 0; round < 20000; round++) {
		kz_auto_text struct kz_text t = { NULL, 0, false }, again = { NULL, 0, false };
		kz_auto_buf struct kz_buf joined = KZ_BUF_INIT(256), normal = KZ_BUF_INIT(256);
		size_t n = pick(sizeof p);

		for (size_t i = 0; i < n; i++)
			p[i] = kinds[pick(sizeof kinds - 1)];
		assert_int_equal(kz_text_split(p, n, &t, NULL), KZ_OK);
		assert_int_equal(kz_text_join(&t, &joined, NULL), KZ_OK);
		assert_int_equal(joined.len, n);
		assert_memory_equal(kz_buf_str(&joined), p, n);
		assert_int_equal(kz_text_normal(&t, &normal, NULL), KZ_OK);
		assert_null(normal.len ? memchr(normal.data, '\r', normal.len) : NULL);
		assert_int_equal(kz_text_split(kz_buf_str(&normal), normal.len, &again, NULL),
				 KZ_OK);
		/* a second byte order mark is text; it alone on the last line would be none any more */
		if (!again.has_bom)
			assert_int_equal(again.count, t.count);
	}
}

static void hl_11_spans_are_a_set(void **state)
{
	(void)state;
	for (int round = 0; round < 2000; round++) {
		kz_auto_spans struct kz_spans s = { NULL, 0, 0 }, again = { NULL, 0, 0 };
		uint8_t mark[40] = { 0 }, out[40] = { 0 };

		for (int k = 0; k < 6; k++) {
			uint32_t from = 1 + pick(40), to = from + pick(41 - from);

			memset(mark + from - 1, 1, to - from + 1);
			assert_int_equal(kz_spans_add(&s, from, to, NULL), KZ_OK);
			assert_true(kz_spans_sound(&s, 40));
		}
		kz_spans_mark(&s, out, 40);
		assert_memory_equal(mark, out, 40);
		assert_int_equal(kz_spans_add_marks(&again, mark, 40, NULL), KZ_OK);
		assert_int_equal(again.count, s.count);
		for (uint32_t n = 1; n <= 40; n++)
			assert_int_equal(kz_spans_missing(&s, n, n), mark[n - 1] ? 0 : n);
	}
}

static void hl_11_what_is_not_shown_exactly_is_not_seen(void **state)
{
	static const struct {
		const char *text, *row;
		bool exact;
	} v[] = {
		{ "a\tb", "7:a\tb\n", true },
		{ "\xff\xfe", "7:\\xff\\xfe\n", false },
		{ "a\x1b[31m", "7:a\\x1b[31m\n", false },
		{ "\x7f", "7:\\x7f\n", false },
		{ "\xc2\x9b"
		  "1m",
		  "7:\\xc2\\x9b1m\n", false },
		{ "\xc2\xa0\xf0\x9f\x98\x80", "7:\xc2\xa0\xf0\x9f\x98\x80\n", true },
		{ "\xed\xa0\x80", "7:\\xed\\xa0\\x80\n", false },
		{ "\\xff", "7:\\xff\n", true },
		{ "\xe2\x82", "7:\\xe2\\x82\n", false },
		{ "0123456789\xc3\xa9", "7:0123456789\xe2\x80\xa6\n", false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof v / sizeof *v; i++) {
		kz_auto_buf struct kz_buf out = KZ_BUF_INIT(256);
		bool exact;

		assert_int_equal(kz_show_row(7, (struct kz_row){ v[i].text, strlen(v[i].text) }, 11,
					     &out, &exact, NULL),
				 KZ_OK);
		assert_string_equal(kz_buf_str(&out), v[i].row);
		assert_int_equal(exact, v[i].exact);
	}
}

/* Two texts of one tag, both shown: told apart where they are the same, refused where they differ. */
static void hl_13_two_shown_texts_of_one_tag(void **state)
{
	static const char one[] = "alpha\nbeta\ngamma\n", two[] = "alpha\nbeta\ngamma\nrow 3723\n";
	static const struct {
		const char *edit, *answer;
	} v[] = {
		{ "[f#B6C1]\nPUT 1.=1:\n+A\n", "" },
		{ "[f#B6C1]\nPUT 2.=2:\n+B\n", "" },
		{ "[f#B6C1]\nPUT 3.=3:\n+G\n", "ambiguous_anchor" },
		{ "[f#B6C1]\nPUT >3:\n+G\n", "ambiguous_anchor" },
		{ "[f#B6C1]\nREM\n", "ambiguous_anchor" },
		{ "[f#B6C1]\nMV g\n", "ambiguous_anchor" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof v / sizeof *v; i++) {
		kz_auto_book struct kz_book b = { .pages = 0 };
		kz_auto_effects struct kz_effects x = { NULL, 0 };
		kz_auto_edit struct kz_edit e = { .sections = 0 };
		kz_auto_spans struct kz_spans all = { NULL, 0, 0 };
		struct kz_edit_file f[] = { { "f", true, one, sizeof one - 1 },
					    { "g", false, NULL, 0 } };
		struct kz_err err = KZ_ERR_INIT;

		assert_int_equal(kz_spans_add(&all, 1, 3, &err), KZ_OK);
		assert_int_equal(
			kz_book_show(&b, "f", one, sizeof one - 1, false, 3, &all, NULL, &err),
			KZ_OK);
		assert_int_equal(
			kz_book_show(&b, "f", two, sizeof two - 1, false, 4, &all, NULL, &err),
			KZ_OK);
		assert_int_equal(kz_edit_parse(v[i].edit, strlen(v[i].edit), &e, &err), KZ_OK);
		kz_edit_apply(&e, &b, f, 2, &x, &err);
		assert_string_equal(err.reason, v[i].answer);
	}
}

/* Complaints of users about other implementations: a second edit under the first tag, and under the new one. */
static void hl_6_a_second_edit_after_ones_own_first(void **state)
{
	static const struct {
		bool is_old; /* under the tag of the first text, else under the newest */
		const char *ops, *context;
	} v[] = {
		{ true, "PUT >1:\n+new\n", "2:new\n" },
		{ true, "PUT 5.=5:\n+FIVE\n", "6:FIVE\n" },
		{ false, "PUT 2.=2:\n+newer\nPUT 6.=6:\n+five\n", "2:newer\n" },
		{ true, "PUT 6.=6:\n+SIX\n", "7:SIX\n" },
	};
	kz_auto_buf struct kz_buf text = KZ_BUF_INIT(1 << 16), edit = KZ_BUF_INIT(1 << 16);
	kz_auto_book struct kz_book b = { .pages = 0 };
	struct list l = { .count = 6 };
	struct kz_err err = KZ_ERR_INIT;
	char first[KZ_TAG_TEXT] = "F305", tag[KZ_TAG_TEXT] = "F305";

	(void)state;
	for (size_t i = 0; i < 6; i++)
		snprintf(l.line[i], 16, "line %zu", i + 1);
	write_list(&l, &text);
	show_all(&b, &text, &l);
	for (size_t i = 0; i < sizeof v / sizeof *v; i++) {
		kz_auto_effects struct kz_effects x = { NULL, 0 };

		kz_buf_clear(&edit);
		kz_buf_printf(&edit, NULL, "[f#%s]\n%s", v[i].is_old ? first : tag, v[i].ops);
		assert_int_equal(apply(&b, &edit, &text, &x, &err), KZ_OK);
		kz_tag_text(x.effect[0].tag, tag);
		assert_non_null(strstr(kz_buf_str(&x.effect[0].context), v[i].context));
		kz_buf_clear(&text);
		assert_int_equal(
			kz_buf_add(&text, x.effect[0].bytes.data, x.effect[0].bytes.len, NULL),
			KZ_OK);
	}
}

/* As many lines as a large file has; nothing here is quadratic. */
static void hl_7_a_hundred_thousand_lines(void **state)
{
	kz_auto_buf struct kz_buf text = KZ_BUF_INIT(KZ_TEXT_MAX), now = KZ_BUF_INIT(KZ_TEXT_MAX);
	kz_auto_buf struct kz_buf edit = KZ_BUF_INIT(1 << 16);
	kz_auto_book struct kz_book b = { .pages = 0 };
	kz_auto_effects struct kz_effects x = { NULL, 0 };
	struct list l = { .count = 100000 };
	struct kz_err err = KZ_ERR_INIT;

	(void)state;
	for (int i = 1; i <= 100000; i++) {
		assert_int_equal(kz_buf_printf(&text, NULL, "line %d\n", i), KZ_OK);
		if (i % 1000 == 0)
			assert_int_equal(kz_buf_puts(&now, "more\n", NULL), KZ_OK);
		assert_int_equal(kz_buf_printf(&now, NULL, "line %d\n", i), KZ_OK);
	}
	show_all(&b, &text, &l);
	begin(&edit, &text);
	kz_buf_puts(&edit, "PUT 50500.=50510:\n+x\nPUT 50900.=50900:\n+y\n", NULL);
	assert_int_equal(apply(&b, &edit, &now, &x, &err), KZ_OK);
	assert_int_equal(x.effect[0].lines, 100090);
	assert_int_equal(x.effect[0].first_changed, 50550);
}

static void hl_8_texts_and_lines_are_bounded(void **state)
{
	char *p = malloc(KZ_TEXT_MAX + 1);
	struct kz_text t;
	struct kz_err err = KZ_ERR_INIT;

	(void)state;
	assert_non_null(p);
	memset(p, 'x', KZ_TEXT_MAX + 1);
	assert_int_equal(kz_text_split(p, KZ_TEXT_MAX, &t, &err), KZ_OK);
	assert_int_equal(t.count, 1);
	kz_text_release(&t);
	assert_int_equal(kz_text_split(p, KZ_TEXT_MAX + 1, &t, &err), KZ_E_DATA);
	assert_string_equal(err.reason, "file_too_large");
	memset(p, '\n', KZ_TEXT_LINES_MAX + 1);
	assert_int_equal(kz_text_split(p, KZ_TEXT_LINES_MAX, &t, &err), KZ_OK);
	kz_text_release(&t);
	assert_int_equal(kz_text_split(p, KZ_TEXT_LINES_MAX + 1, &t, &err), KZ_E_DATA);
	assert_string_equal(err.reason, "file_too_large");
	free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hl_10_tags_are_those_of_the_public_form),
		cmocka_unit_test(hl_3_random_edits_are_those_of_a_list),
		cmocka_unit_test(hl_7_hl_12_hl_13_recovery_refuses_or_is_exact),
		cmocka_unit_test(hl_10_splitting_and_joining_keeps_every_byte),
		cmocka_unit_test(hl_11_spans_are_a_set),
		cmocka_unit_test(hl_11_what_is_not_shown_exactly_is_not_seen),
		cmocka_unit_test(hl_13_two_shown_texts_of_one_tag),
		cmocka_unit_test(hl_6_a_second_edit_after_ones_own_first),
		cmocka_unit_test(hl_7_a_hundred_thousand_lines),
		cmocka_unit_test(hl_8_texts_and_lines_are_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
