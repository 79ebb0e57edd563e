/* port/xml: what a document says, and what is not taken. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "base/buf.h"
#include "port/xml.h"

struct said {
	struct kz_buf text;
	const char *stop_at; /* element that ends the reading, or NULL */
};

static enum kz_rc on_start(void *arg, const char *name, const char *const *attributes,
			   struct kz_err *err)
{
	struct said *s = arg;

	if (s->stop_at && strcmp(s->stop_at, name) == 0)
		return kz_err_set(err, KZ_E_NOPERM, "stopped at %s", name);
	kz_buf_printf(&s->text, NULL, "<%s", name);
	for (; *attributes; attributes += 2)
		kz_buf_printf(&s->text, NULL, " %s=%s", attributes[0], attributes[1]);
	return kz_buf_puts(&s->text, ">", err);
}

static enum kz_rc on_end(void *arg, const char *name, struct kz_err *err)
{
	(void)name;
	return kz_buf_puts(&((struct said *)arg)->text, "</>", err);
}

static enum kz_rc on_text(void *arg, const char *p, size_t n, struct kz_err *err)
{
	return kz_buf_add(&((struct said *)arg)->text, p, n, err);
}

/* Reads p[0..n) in pieces of that many bytes. */
static enum kz_rc read_by(const char *p, size_t n, size_t piece, struct said *s, struct kz_err *err)
{
	const struct kz_xml_sink to = { s, on_start, on_end, on_text };
	struct kz_xml *x = NULL;
	enum kz_rc rc = kz_xml_open(&to, &x, err);

	kz_buf_clear(&s->text);
	for (size_t at = 0; rc == KZ_OK && at < n; at += piece)
		rc = kz_xml_add(x, p + at, n - at < piece ? n - at : piece, err);
	if (rc == KZ_OK)
		rc = kz_xml_end(x, err);
	else
		assert_int_equal(kz_xml_add(x, "<a/>", 4, NULL), rc);
	kz_xml_free(x);
	return rc;
}

static void reads_names_attributes_and_text_in_any_pieces(void **state)
{
	static const char doc[] =
		"<?xml version=\"1.0\"?>\r\n<a xmlns='urn:x' xmlns:y='urn:y' b='1&amp;2' "
		"y:c='&#xe4;'>t&lt;<y:d/><![CDATA[<&]]>\r\n</a>\n";
	static const char says[] = "<urn:x a b=1&2 urn:y c=\xc3\xa4>t<<urn:y d></><&\n</>";
	struct said s = { .text = KZ_BUF_INIT(4096) };
	struct kz_err err = KZ_ERR_INIT;

	(void)state;
	for (size_t piece = 1; piece < sizeof doc; piece++) {
		assert_int_equal(read_by(doc, sizeof doc - 1, piece, &s, &err), KZ_OK);
		assert_string_equal(kz_buf_str(&s.text), says);
	}
	kz_buf_release(&s.text);
}

static void refuses_what_is_not_plain_xml(void **state)
{
	static const char *const bad[] = {
		"",
		" ",
		"text",
		"<a>",
		"<a></b>",
		"<a/><b/>",
		"<a b='1' b='2'/>",
		"<x:a/>",
		"<a>&b;</a>",
		"<a>\xff</a>",
		"<a>\x01</a>",
		"<!DOCTYPE a><a/>",
		"<!DOCTYPE a SYSTEM 'file:///etc/passwd'><a/>",
		"<!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>",
		"<!DOCTYPE a [<!ENTITY % b SYSTEM 'http://127.0.0.1/'> %b;]><a/>",
		"<?xml version='1.0' encoding='x-unheard'?><a/>",
		"<a xmlns='urn:x y' />",
	};
	struct said s = { .text = KZ_BUF_INIT(4096) };

	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		struct kz_err err = KZ_ERR_INIT;
		assert_int_equal(read_by(bad[i], strlen(bad[i]), 4096, &s, &err), KZ_E_DATA);
		assert_non_null(strstr(err.text, "line "));
	}
	kz_buf_release(&s.text);
}

/* depth and attribute bounds are inclusive [BOUND-12] */
static void bounds_depth_and_attributes(void **state)
{
	struct said s = { .text = KZ_BUF_INIT(1 << 20) };
	kz_auto_buf struct kz_buf doc = KZ_BUF_INIT(1 << 20);
	struct kz_err err = KZ_ERR_INIT;

	(void)state;
	for (int past = 0; past < 2; past++) {
		kz_buf_clear(&doc);
		for (int i = 0; i < KZ_XML_DEPTH_MAX + past; i++)
			kz_buf_puts(&doc, "<a>", NULL);
		for (int i = 0; i < KZ_XML_DEPTH_MAX + past; i++)
			kz_buf_puts(&doc, "</a>", NULL);
		assert_int_equal(read_by(doc.data, doc.len, doc.len, &s, &err),
				 past ? KZ_E_DATA : KZ_OK);
		kz_buf_clear(&doc);
		kz_buf_puts(&doc, "<a", NULL);
		for (int i = 0; i < 1024 + past; i++)
			kz_buf_printf(&doc, NULL, " a%d=''", i);
		kz_buf_puts(&doc, "/>", NULL);
		assert_int_equal(read_by(doc.data, doc.len, doc.len, &s, &err),
				 past ? KZ_E_DATA : KZ_OK);
	}
	kz_buf_release(&s.text);
}

static void stops_where_the_sink_says(void **state)
{
	static const char doc[] = "<a><b/><c/>after</a>";
	struct said s = { .text = KZ_BUF_INIT(4096), .stop_at = "c" };
	struct kz_err err = KZ_ERR_INIT;

	(void)state;
	assert_int_equal(read_by(doc, sizeof doc - 1, sizeof doc, &s, &err), KZ_E_NOPERM);
	assert_string_equal(err.text, "stopped at c");
	assert_string_equal(kz_buf_str(&s.text), "<a><b></>");
	kz_buf_release(&s.text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_names_attributes_and_text_in_any_pieces),
		cmocka_unit_test(refuses_what_is_not_plain_xml),
		cmocka_unit_test(bounds_depth_and_attributes),
		cmocka_unit_test(stops_where_the_sink_says),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
