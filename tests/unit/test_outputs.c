/* Rules of what leaves a run: excerpts, text in pieces, names but for case, a member's words. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "rule/excerpt.h"
#include "rule/media.h"
#include "rule/member.h"
#include "rule/path.h"
#include "rule/reason.h"
#include "rule/text.h"

#define P KZ_EXCERPT_PART

/* The excerpt of p[0..n), added in pieces of that size. */
static int64_t excerpt(const char *p, size_t n, size_t piece, struct kz_buf *head,
		       struct kz_buf *tail)
{
	struct kz_excerpt *e = calloc(1, sizeof(*e));
	int64_t omitted = -1;

	kz_buf_init(head, 6 * P);
	kz_buf_init(tail, 6 * P);
	for (size_t at = 0; at < n; at += piece)
		kz_excerpt_add(e, p + at, n - at < piece ? n - at : piece);
	assert_int_equal(e->bytes, n);
	assert_int_equal(kz_excerpt_text(e, head, tail, &omitted, NULL), KZ_OK);
	free(e);
	return omitted;
}

/* Whatever its length and however it comes: all of it, or its begin and its end and how much is between. */
static void test_out12_excerpt(void **state)
{
	static const size_t sizes[] = { 0,         1,     P - 1,     P,         P + 1,
					2 * P - 1, 2 * P, 2 * P + 1, 3 * P + 7, 100000 };
	static const size_t pieces[] = { 1, 7, P - 1, P, P + 1, 200000 };
	char *all = malloc(100000);
	struct kz_buf head, tail;

	(void)state;
	for (size_t i = 0; i < 100000; i++)
		all[i] = (char)('a' + i % 23);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++)
		for (size_t k = 0; k < sizeof(pieces) / sizeof(*pieces); k++) {
			size_t n = sizes[i];
			int64_t omitted = excerpt(all, n, pieces[k], &head, &tail);

			assert_int_equal(omitted, n > 2 * P ? n - 2 * P : 0);
			assert_int_equal(head.len, n > 2 * P ? P : n);
			assert_int_equal(tail.len, n > 2 * P ? P : 0);
			assert_memory_equal(kz_buf_str(&head), all, head.len);
			assert_memory_equal(kz_buf_str(&tail), all + n - tail.len, tail.len);
			kz_buf_release(&head);
			kz_buf_release(&tail);
		}
	free(all);
}

/* What is no text is told as such; a cut leaves no half character. */
static void test_out12_excerpt_text(void **state)
{
	struct kz_buf head, tail;
	char *long_one = malloc(3 * P);
	int64_t omitted;

	(void)state;
	assert_int_equal(excerpt("a\0\xff\xc3\xa4\xe2\x82", 7, 3, &head, &tail), 0);
	assert_string_equal(kz_buf_str(&head),
			    "a\xef\xbf\xbd\xef\xbf\xbd\xc3\xa4\xef\xbf\xbd\xef\xbf\xbd");
	kz_buf_release(&head);
	/* characters of three bytes: neither part has a whole number of them */
	for (size_t i = 0; i < 3 * P; i++)
		long_one[i] = "\xe2\x82\xac"[i % 3];
	omitted = excerpt(long_one, 3 * P, 4096, &head, &tail);
	assert_int_equal(omitted, 3 * P - head.len - tail.len);
	assert_int_equal(head.len % 3 + tail.len % 3, 0);
	assert_true(head.len > P - 3 && tail.len > P - 3);
	assert_null(strstr(kz_buf_str(&head), "\xef\xbf\xbd"));
	assert_null(strstr(kz_buf_str(&tail), "\xef\xbf\xbd"));
	kz_buf_release(&head);
	kz_buf_release(&tail);
	/* the worst: each byte becomes three, and still has its place */
	memset(long_one, 0xff, 3 * P);
	assert_int_equal(excerpt(long_one, 2 * P, 999, &head, &tail), 0);
	assert_int_equal(head.len, 6 * P);
	kz_buf_release(&head);
	kz_buf_release(&tail);
	free(long_one);
}

static bool is_text(const char *p, size_t n, size_t piece)
{
	struct kz_text_scan t = { 0 };

	for (size_t at = 0; at < n; at += piece)
		kz_text_scan(&t, p + at, n - at < piece ? n - at : piece);
	return kz_text_is_whole(&t);
}

/* A canvas is text in whatever pieces it comes [OUT-2]. */
static void test_out2_text(void **state)
{
	static const struct {
		const char *p;
		size_t n;
		bool want;
	} rows[] = { { "", 0, true },
		     { "<p>\xe2\x82\xac \xf0\x9f\x99\x82 \xc3\xa4</p>\n", 19, true },
		     { "a\0b", 3, false },
		     { "\xe2\x82", 2, false },
		     { "a\xc3", 2, false },
		     { "\xe2\x82\x41", 3, false },
		     { "\xed\xa0\x80", 3, false },
		     { "\xc0\x80", 2, false },
		     { "\xf4\x90\x80\x80", 4, false },
		     { "\x80", 1, false },
		     { "\xff\xfe", 2, false } };

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		for (size_t piece = 1; piece <= rows[i].n + 1; piece++)
			assert_int_equal(is_text(rows[i].p, rows[i].n, piece), rows[i].want);
}

static void test_out2_canvas(void **state)
{
	static const char *const texts[] = { "a.html", "d/B.MD", "x.svg", "y.txt", "z.pdf.txt" };
	static const char *const others[] = { "a",      "a.pdf", "a.PDF", "b.docx",  "c.png",
					      "d.txt.", "html",  ".zip",  "d.html/a" };

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		assert_true(kz_media_is_text_name(texts[i]));
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		assert_false(kz_media_is_text_name(others[i]));
	assert_true(kz_media_is_document("%PDF-1.7\n", 9));
	assert_true(kz_media_is_document("\xef\xbb\xbf \n%PDF-1.7", 13));
	assert_true(kz_media_is_document("PK\x03\x04", 4));
	assert_true(kz_media_is_document("\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", 8));
	assert_false(kz_media_is_document("<p>%PDF-</p>", 12));
	assert_false(kz_media_is_document("%PDF", 4));
	assert_false(kz_media_is_document("", 0));
}

static void test_out3_case(void **state)
{
	static const char *const same[][2] = { { "a", "a" },
					       { "Report.PDF", "rEPORT.pdf" },
					       { "d/\xc3\x84.txt", "D/\xc3\xa4.txt" },
					       { "\xd0\x96", "\xd0\xb6" },
					       { "\xce\xa3", "\xcf\x82" },
					       { "\xef\xbc\xa1", "\xef\xbd\x81" } };
	static const char *const others[][2] = { { "a", "b" },
						 { "a", "aa" },
						 { "", "a" },
						 { "[", "{" },
						 { "\xc3\x97", "\xc3\xb7" },
						 { "\xe2\x82\xac", "\xe2\x82\xad" } };

	(void)state;
	for (size_t i = 0; i < sizeof(same) / sizeof(*same); i++)
		assert_true(kz_path_same_but_case(same[i][0], same[i][1]));
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++) {
		assert_false(kz_path_same_but_case(others[i][0], others[i][1]));
		assert_false(kz_path_same_but_case(others[i][1], others[i][0]));
	}
}

static void expect_word(const struct kz_run_facts *f, const char *told, const char *state,
			const char *reason, const char *text)
{
	struct kz_verdict v;
	struct kz_member_word w;

	kz_result_judge(f, &v);
	kz_member_word(&v, told, &w);
	assert_string_equal(w.state, state);
	assert_string_equal(w.reason ? w.reason : "-", reason);
	assert_string_equal(w.text ? w.text : "-", text);
}

#define RAN .is_dispatched = true, .has_record = true, .is_started = true, .cause = KZ_CAUSE_EXIT
#define GONE "code execution is unavailable at this time"

/* Refused with a reason of its own, or unavailable and no more; never what was told to the model [ADM-6, OUT-13, PRJ-47, PRJ-49]. */
static void test_adm6_member(void **state)
{
	const char *secret = "output CANARY.pdf: object 7 is cut";

	(void)state;
	expect_word(&(struct kz_run_facts){ RAN }, "", "ran", "-", "-");
	expect_word(&(struct kz_run_facts){ RAN, .exit = 3 }, "", "ran", "-", "-");
	expect_word(
		&(struct kz_run_facts){ RAN, .has_failure = true, .failure = KZ_R_NATIVE_INVALID },
		secret, "ran", "native_invalid", kz_reason_text(KZ_R_NATIVE_INVALID));
	expect_word(&(struct kz_run_facts){ .has_failure = true, .failure = KZ_R_QUEUE_FULL },
		    secret, "refused", "queue_full", kz_reason_text(KZ_R_QUEUE_FULL));
	expect_word(
		&(struct kz_run_facts){ .has_failure = true, .failure = KZ_R_RESOURCE_OVER_BYTES },
		"my.pdf: 9 MiB, at most 8", "refused", "resource_over_bytes",
		"my.pdf: 9 MiB, at most 8");
	expect_word(&(struct kz_run_facts){ .has_failure = true,
					    .failure = KZ_R_COORDINATION_UNAVAILABLE },
		    secret, "unavailable", "-", GONE);
	expect_word(
		&(struct kz_run_facts){ .has_failure = true, .failure = KZ_R_AUDIT_UNAVAILABLE },
		secret, "unavailable", "-", GONE);
	expect_word(&(struct kz_run_facts){ .is_dispatched = true }, secret, "unknown", "-",
		    "it is not known how the run ended");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_out12_excerpt), cmocka_unit_test(test_out12_excerpt_text),
		cmocka_unit_test(test_out2_text),     cmocka_unit_test(test_out2_canvas),
		cmocka_unit_test(test_out3_case),     cmocka_unit_test(test_adm6_member),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
