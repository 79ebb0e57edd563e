/* Every row of tests/tool/hashline.tsv through the rule: shown, changed behind its back, edited. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/fd.h"
#include "base/str.h"
#include "rule/hashline_apply.h"
#include "rule/hashline_show.h"
#include "rule/tag.h"

#define FIELDS 9
enum { NAME, BEFORE, READ, NOW, EDIT, ANSWER, AFTER, TAG, WARNED };

static char digit_of(char c)
{
	return (char)(c <= '9' ? c - '0' : c - 'a' + 10);
}

/* C escapes, "Ln", and TAG when there is one. */
static void expand(const char *s, const char *tag, struct kz_buf *out)
{
	struct kz_err err = KZ_ERR_INIT;

	if (*s == 'L' && s[1] >= '1' && s[1] <= '9') {
		for (int i = 1; i <= (int)strtol(s + 1, NULL, 10); i++)
			assert_int_equal(kz_buf_printf(out, &err, "line %d\n", i), KZ_OK);
		return;
	}
	while (*s) {
		char c = *s++;

		if (tag && strncmp(s - 1, "TAG", 3) == 0) {
			assert_int_equal(kz_buf_puts(out, tag, &err), KZ_OK);
			s += 2;
			continue;
		}
		if (c == '\\') {
			c = *s++;
			if (c == 'x') {
				c = (char)(digit_of(s[0]) * 16 + digit_of(s[1]));
				s += 2;
			} else {
				c = (char)(c == 'n' ? '\n' : c == 'r' ? '\r' : c == 't' ? '\t' : c);
			}
		}
		assert_int_equal(kz_buf_add(out, &c, 1, &err), KZ_OK);
	}
}

static void show(struct kz_book *b, const struct kz_buf *text, const char *read)
{
	kz_auto_text struct kz_text t = { NULL, 0, false };
	kz_auto_shown struct kz_shown s = { .rows = KZ_BUF_INIT(1) };
	kz_auto_spans struct kz_spans asked = { NULL, 0, 0 };
	kz_auto_buf struct kz_buf normal = KZ_BUF_INIT(KZ_TEXT_MAX);
	struct kz_err err = KZ_ERR_INIT;
	char *end;

	if (strcmp(read, "-") != 0) {
		uint32_t from = (uint32_t)strtoul(read, &end, 10);

		assert_int_equal(
			kz_spans_add(&asked, from, (uint32_t)strtoul(end + 1, NULL, 10), &err),
			KZ_OK);
	}
	assert_int_equal(kz_text_split(kz_buf_str(text), text->len, &t, &err), KZ_OK);
	assert_int_equal(kz_show(&t, &asked, &s, &err), KZ_OK);
	assert_int_equal(kz_text_normal(&t, &normal, &err), KZ_OK);
	assert_int_equal(kz_book_show(b, "f.txt", kz_buf_str(&normal), normal.len, t.has_bom,
				      t.count, &s.seen, NULL, &err),
			 KZ_OK);
}

static void tag_of(const struct kz_buf *text, char out[KZ_TAG_TEXT])
{
	kz_auto_text struct kz_text t = { NULL, 0, false };
	kz_auto_buf struct kz_buf normal = KZ_BUF_INIT(KZ_TEXT_MAX);
	struct kz_err err = KZ_ERR_INIT;

	assert_int_equal(kz_text_split(kz_buf_str(text), text->len, &t, &err), KZ_OK);
	assert_int_equal(kz_text_normal(&t, &normal, &err), KZ_OK);
	kz_tag_text(kz_tag(kz_buf_str(&normal), normal.len), out);
}

/* What came out against the row; says what differs. */
static int judge(char *const f[FIELDS], enum kz_rc rc, const struct kz_err *err,
		 const struct kz_effects *x)
{
	kz_auto_buf struct kz_buf after = KZ_BUF_INIT(1 << 20);
	const char *got = rc == KZ_OK ? "ok" : err->reason;
	char tag[KZ_TAG_TEXT];
	const struct kz_effect *e = x->effect;

	if (strcmp(got, f[ANSWER]) != 0) {
		print_error("%s: %s (%s), not %s\n", f[NAME], got, err->text, f[ANSWER]);
		return 1;
	}
	if (rc != KZ_OK)
		return 0;
	expand(f[AFTER], NULL, &after);
	kz_tag_text(e->tag, tag);
	if (after.len != e->bytes.len ||
	    memcmp(kz_buf_str(&after), kz_buf_str(&e->bytes), after.len) != 0) {
		print_error("%s: after it\n%s\n", f[NAME], kz_buf_str(&e->bytes));
		return 1;
	}
	if (strcmp(f[TAG], "?") != 0 && strcmp(f[TAG], tag) != 0) {
		print_error("%s: tag %s, not %s\n", f[NAME], tag, f[TAG]);
		return 1;
	}
	if ((e->notes.len > 0) != (strcmp(f[WARNED], "w") == 0)) {
		print_error("%s: warnings: %s\n", f[NAME], kz_buf_str(&e->notes));
		return 1;
	}
	return 0;
}

static int one_row(char *const f[FIELDS])
{
	kz_auto_buf struct kz_buf before = KZ_BUF_INIT(1 << 20), now = KZ_BUF_INIT(1 << 20);
	kz_auto_buf struct kz_buf text = KZ_BUF_INIT(1 << 20);
	kz_auto_book struct kz_book b = { .pages = 0 };
	kz_auto_edit struct kz_edit e = { .sections = 0 };
	kz_auto_effects struct kz_effects x = { NULL, 0 };
	struct kz_edit_file file = { .path = "f.txt", .exists = true };
	struct kz_err err = KZ_ERR_INIT;
	char tag[KZ_TAG_TEXT];
	enum kz_rc rc;

	expand(f[BEFORE], NULL, &before);
	expand(strcmp(f[NOW], "=") == 0 ? f[BEFORE] : f[NOW], NULL, &now);
	tag_of(&before, tag);
	expand(f[EDIT], tag, &text);
	if (strcmp(f[READ], "none") != 0)
		show(&b, &before, f[READ]);
	file.bytes = kz_buf_str(&now);
	file.n = now.len;
	rc = kz_edit_parse(kz_buf_str(&text), text.len, &e, &err);
	if (rc == KZ_OK)
		rc = kz_edit_apply(&e, &b, &file, 1, &x, &err);
	return judge(f, rc, &err, &x);
}

static void hl_3_hl_7_hl_11_hl_12_hl_13_every_row(void **state)
{
	kz_auto_buf struct kz_buf table = KZ_BUF_INIT(1 << 20);
	struct kz_err err = KZ_ERR_INIT;
	char *line, *rest, *f[FIELDS];
	int rows = 0, bad = 0;

	(void)state;
	assert_int_equal(kz_file_read(AT_FDCWD, "tests/tool/hashline.tsv", &table, &err), KZ_OK);
	rest = table.data;
	while ((line = strsep(&rest, "\n")) != NULL) {
		int n = 0;

		if (!*line || *line == '#')
			continue;
		while (n < FIELDS && (f[n] = strsep(&line, "\t")) != NULL)
			n++;
		assert_int_equal(n, FIELDS);
		bad += one_row(f);
		rows++;
	}
	assert_int_equal(bad, 0);
	assert_true(rows >= 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hl_3_hl_7_hl_11_hl_12_hl_13_every_row),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
