/* rule/native: names, types, and what may be claimed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "rule/native.h"

#define COUNT(x) (sizeof(x) / sizeof((x)[0]))

/* NAT-7, NAT-9 */
static void kinds_of_names_in_any_dress(void **state)
{
	static const struct {
		const char *name;
		enum kz_native_kind kind;
	} cases[] = {
		{ "report.pdf", KZ_NATIVE_PDF },
		{ "REPORT.PDF", KZ_NATIVE_PDF },
		{ "a/b.c/deck.PpTx", KZ_NATIVE_PPTX },
		{ "report.docx.", KZ_NATIVE_DOCX },
		{ "report.docx...", KZ_NATIVE_DOCX },
		{ "report.docx ", KZ_NATIVE_DOCX },
		{ "report.docx . .", KZ_NATIVE_DOCX },
		{ "report.docx\t", KZ_NATIVE_DOCX },
		{ "report. xlsx", KZ_NATIVE_XLSX },
		{ "report.pdf\xc2\xa0", KZ_NATIVE_PDF },     /* no-break space */
		{ "report.\xe2\x80\x8bpdf", KZ_NATIVE_PDF }, /* zero-width space */
		{ "report.p\xe2\x80\xae"
		  "df",
		  KZ_NATIVE_PDF },                           /* right-to-left override */
		{ "report.pdf\xe3\x80\x80", KZ_NATIVE_PDF }, /* ideographic space */
		{ "report.pdf\xef\xbb\xbf", KZ_NATIVE_PDF },
		{ "report.txt.pdf", KZ_NATIVE_PDF },
		{ "report.pdf.pdf", KZ_NATIVE_PDF },
		{ ".pdf", KZ_NATIVE_PDF },
		{ "report.pdf.txt", KZ_NATIVE_NONE },
		{ "report.docm", KZ_NATIVE_NONE },
		{ "report.pdfx", KZ_NATIVE_NONE },
		{ "report.xlsxlsx", KZ_NATIVE_NONE },
		{ "pdf", KZ_NATIVE_NONE },
		{ "x.pdf/notes", KZ_NATIVE_NONE },
		{ "x.pdf/", KZ_NATIVE_NONE },
		{ "report.csv", KZ_NATIVE_NONE },
		{ "", KZ_NATIVE_NONE },
		{ "...", KZ_NATIVE_NONE },
		{ "\xe2", KZ_NATIVE_NONE },
		{ "a.\xe2\x80", KZ_NATIVE_NONE },
		{ NULL, KZ_NATIVE_NONE },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++)
		assert_int_equal(kz_native_kind_of_name(cases[i].name), cases[i].kind);
}

/* NAT-4 */
static void main_parts_fit_one_kind_only(void **state)
{
	(void)state;
	for (int k = KZ_NATIVE_DOCX; k < KZ_NATIVE_KINDS; k++) {
		assert_int_equal(kz_native_kind_find(kz_native_kind_word((enum kz_native_kind)k)),
				 k);
		assert_int_equal(kz_native_root_fits((enum kz_native_kind)k,
						     "http://schemas.openxmlformats.org/"
						     "spreadsheetml/2006/main workbook"),
				 k == KZ_NATIVE_XLSX);
		assert_int_equal(kz_native_root_fits((enum kz_native_kind)k,
						     "http://purl.oclc.org/ooxml/"
						     "wordprocessingml/main document"),
				 k == KZ_NATIVE_DOCX);
		assert_false(kz_native_root_fits((enum kz_native_kind)k, "document"));
	}
	assert_int_equal(
		kz_native_kind_of_main_type("application/vnd.openxmlformats-officedocument."
					    "presentationml.presentation.main+xml"),
		KZ_NATIVE_PPTX);
	assert_int_equal(
		kz_native_kind_of_main_type("application/vnd.openxmlformats-officedocument."
					    "presentationml.template.main+xml"),
		KZ_NATIVE_NONE);
	assert_int_equal(
		kz_native_kind_of_main_type("application/vnd.ms-excel.sheet.macroEnabled.main+xml"),
		KZ_NATIVE_NONE);
}

/* NAT-6, INV-45 */
static void a_claim_needs_a_durable_validated_fitting_attachment(void **state)
{
	static const struct {
		struct kz_native_attachment a;
		bool counts; /* for a PDF */
	} cases[] = {
		{ { "r.pdf", "application/pdf", true, true }, true },
		{ { "R.PDF.", NULL, true, true }, true },
		{ { NULL, "Application/PDF; version=1.7", true, true }, true },
		{ { "report", "application/pdf", true, true }, true },
		{ { "r.pdf", "application/octet-stream", true, true }, true },
		{ { "r.pdf", "application/pdf", false, true }, false },
		{ { "r.pdf", "application/pdf", true, false }, false },
		{ { "r.docx", "application/pdf", true, true }, false },
		{ { "r.pdf.txt", "text/plain", true, true }, false },
		{ { "r.txt", "application/pdfx", true, true }, false },
		{ { NULL, NULL, true, true }, false },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		assert_int_equal(kz_native_gate(KZ_NATIVE_PDF, &cases[i].a, 1), cases[i].counts);
		assert_false(kz_native_gate(KZ_NATIVE_XLSX, &cases[i].a, 1));
		assert_true(kz_native_gate(KZ_NATIVE_NONE, &cases[i].a, 1));
	}
	assert_false(kz_native_gate(KZ_NATIVE_PDF, NULL, 0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kinds_of_names_in_any_dress),
		cmocka_unit_test(main_parts_fit_one_kind_only),
		cmocka_unit_test(a_claim_needs_a_durable_validated_fitting_attachment),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
