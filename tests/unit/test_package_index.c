/* rule/jsonflow, rule/packument, rule/simple: what is read, what is refused, what is handed out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "rule/packument.h"
#include "rule/simple.h"

#define BASE "http://127.0.0.1:8000"

static enum kz_jsonflow_say on_json(void *arg, enum kz_jsonflow_what what, const char *text,
				    size_t n)
{
	static const char *const marks[] = { "{", "}", "[", "]", "k:", "s:", "o:" };

	assert_int_equal(strlen(text), n);
	assert_int_equal(kz_buf_puts(arg, marks[what], NULL), KZ_OK);
	if (what >= KZ_JSON_KEY)
		assert_int_equal(kz_buf_add(arg, text, n, NULL), KZ_OK);
	return what == KZ_JSON_KEY && strcmp(text, "pass") == 0 ? KZ_JSON_PASS : KZ_JSON_GO;
}

/* In pieces of one byte. out: was it one value? */
static bool flow(const char *text, struct kz_buf *out)
{
	struct kz_jsonflow j;
	bool is;

	kz_jsonflow_init(&j, 64, on_json, out);
	for (size_t i = 0; i < strlen(text); i++)
		(void)kz_jsonflow_add(&j, text + i, 1);
	is = kz_jsonflow_end(&j);
	kz_jsonflow_release(&j);
	return is;
}

static void test_json_taken(void **state)
{
	static const struct {
		const char *text, *told;
	} rows[] = {
		{ "{}", "{}" },
		{ " [ ] ", "[]" },
		{ "-0.5e+3", "o:-0.5e+3" },
		{ "[0,true,false,null]", "[o:0o:trueo:falseo:null]" },
		{ "{\"a\":{\"b\":[1]}}", "{k:a{k:b[o:1]}}" },
		{ "\"\\u0041\\n\\/\\ud83d\\ude00\\u20ac\"", "s:A\n/\xf0\x9f\x98\x80\xe2\x82\xac" },
		{ "{\"pass\":{\"x\":[1,\"\\u0041\"]},\"y\":2}", "{k:passk:yo:2}" },
		{ "{\"pass\":\"\xff\",\"y\":2}", "{k:passk:yo:2}" },
		{ "{\"pass\":1}", "{k:pass}" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		kz_auto_buf struct kz_buf told = KZ_BUF_INIT(1000);

		if (!flow(rows[i].text, &told))
			fail_msg("%s", rows[i].text);
		assert_string_equal(kz_buf_str(&told), rows[i].told);
	}
}

static void test_json_refused(void **state)
{
	static const char *const rows[] = {
		"",
		"{",
		"}",
		"[1",
		"[1,]",
		"{\"a\"}",
		"{\"a\":}",
		"{\"a\":1,}",
		"{a:1}",
		"{1:1}",
		"01",
		"1.",
		".5",
		"+1",
		"1e",
		"-",
		"nul",
		"truex",
		"NaN",
		"\"",
		"\"\\x\"",
		"\"\\u12g4\"",
		"\"\\ud83d\"",
		"\"\\ud83dx\"",
		"\"\\ud83d\\u0041\"",
		"\"\\ude00\"",
		"\"\x01\"",
		"\"\xff\"",
		"\"\xc3\"",
		"1 2",
		"{}{}",
		"[]]",
		"[}",
		"{]",
		"'a'",
		"// x",
		"\xef\xbb\xbf{}",
		"\"0123456789012345678901234567890123456789012345678901234567890123456789\"",
	};
	char deep[200];

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		kz_auto_buf struct kz_buf told = KZ_BUF_INIT(1000);

		if (flow(rows[i], &told))
			fail_msg("%s", rows[i]);
	}
	memset(deep, '[', 65);
	memset(deep + 65, ']', 65);
	deep[130] = 0;
	{
		kz_auto_buf struct kz_buf told = KZ_BUF_INIT(1000);

		assert_false(flow(deep, &told));
		deep[129] = 0;
		assert_true(flow(deep + 1, &told));
	}
}

static bool on_npm(void *arg, const struct kz_packument_file *f)
{
	(void)arg;
	return strncmp(f->tarball, "https:", 6) == 0;
}

static enum kz_pkg_read npm(const char *text, struct kz_buf *out)
{
	struct kz_packument p;
	enum kz_pkg_read read;

	kz_packument_init(&p, "a", BASE, out, on_npm, NULL);
	(void)kz_packument_add(&p, text, strlen(text));
	read = kz_packument_end(&p);
	kz_packument_release(&p);
	return read;
}

/* BRK-6: what is not known is dropped, also a version that leads nowhere. */
static void test_packument(void **state)
{
	static const struct {
		const char *text, *out; /* NULL: refused */
	} rows[] = {
		{ "{\"_id\":\"a\",\"name\":\"a\",\"versions\":{\"1.0.0\":{\"version\":\"1.0.0\",\"readme\":\"x\",\"os\":[\"linux\",{}],"
		  "\"dist\":{\"tarball\":\"https://r.test/x\",\"shasum\":\"0\",\"more\":[1]}}}}",
		  "{\"name\":\"a\",\"versions\":{\"1.0.0\":{\"version\":\"1.0.0\",\"os\":[\"linux\",{}],\"dist\":{\"shasum\":\"0\","
		  "\"tarball\":\"" BASE "/npm/a/-/a-1.0.0.tgz\"}}}}" },
		{ "{\"name\":\"a\",\"versions\":{\"1\":{\"dist\":{\"tarball\":\"ftp:x\"}},\"2\":{\"dist\":{\"tarball\":\"https:x\"}},\"3\":{}}}",
		  "{\"name\":\"a\",\"versions\":{\"2\":{\"dist\":{\"tarball\":\"" BASE
		  "/npm/a/-/a-2.tgz\"}}}}" },
		{ "{\"name\":\"a\",\"versions\":{\"../1\":{\"dist\":{\"tarball\":\"https:x\"}}}}",
		  "{\"name\":\"a\",\"versions\":{}}" },
		{ "{\"name\":\"b\",\"versions\":{}}", NULL },
		{ "{\"versions\":{}}", NULL },
		{ "{\"name\":\"a\"}", NULL },
		{ "{\"name\":[],\"versions\":{}}", NULL },
		{ "{\"name\":\"a\",\"versions\":[]}", NULL },
		{ "{\"name\":\"a\",\"versions\":{},\"versions\":{}}", NULL },
		{ "{\"name\":\"a\",\"versions\":{\"1\":[]}}", NULL },
		{ "{\"name\":\"a\",\"versions\":{\"1\":{\"dist\":{\"tarball\":{}}}}}", NULL },
		{ "[]", NULL },
		{ "<html>", NULL },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		kz_auto_buf struct kz_buf out = KZ_BUF_INIT(1000);
		enum kz_pkg_read read = npm(rows[i].text, &out);

		if (read != (rows[i].out ? KZ_PKG_READ : KZ_PKG_READ_BAD))
			fail_msg("%s: %d", rows[i].text, (int)read);
		if (rows[i].out)
			assert_string_equal(kz_buf_str(&out), rows[i].out);
	}
	{
		kz_auto_buf struct kz_buf out = KZ_BUF_INIT(20);

		assert_int_equal(npm(rows[0].text, &out), KZ_PKG_READ_LARGE);
	}
}

static bool on_pypi(void *arg, const struct kz_simple_file *f, const char *page)
{
	(void)page;
	assert_int_equal(kz_buf_printf(arg, NULL, "%s %s;", f->name, f->url), KZ_OK);
	return true;
}

/* Tags in every spelling, and what only looks like one. */
static void test_html(void **state)
{
	static const struct {
		const char *text, *files; /* NULL: refused */
	} rows[] = {
		{ "<a href=\"x/a-1.tar.gz#sha256=00\">a</a>", "a-1.tar.gz x/a-1.tar.gz;" },
		{ "<A\nHREF='a-1.tar.gz'>", "a-1.tar.gz a-1.tar.gz;" },
		{ "<a href=a-1.tar.gz>", "a-1.tar.gz a-1.tar.gz;" },
		{ "<a data-requires-python=\">=3\" href=\"a-1.tar.gz\">",
		  "a-1.tar.gz a-1.tar.gz;" },
		{ "<a href=\"a-1.tar.gz?x=1&amp;y=2\">", "a-1.tar.gz a-1.tar.gz?x=1&y=2;" },
		{ "<a href=\"a-1%2Bx.tar.gz\">", "a-1+x.tar.gz a-1%2Bx.tar.gz;" },
		{ "<a href=\"a-1&#46;tar&#x2e;gz\">", "a-1.tar.gz a-1.tar.gz;" },
		{ "<!-- <a href='a-1.tar.gz'> --><p>", "" },
		{ "<script>\"<a href='a-1.tar.gz'>\"</script><p>", "" },
		{ "<style><a href='a-1.tar.gz'></style><a href='a-2.zip'>", "a-2.zip a-2.zip;" },
		{ "<abbr href='a-1.tar.gz'>", "" },
		{ "<a href='b-1.tar.gz'><a href='a-1.exe'><a href='../../a'><a>", "" },
		{ "<meta name='pypi:repository-version' content='1.9'>", "" },
		{ "<meta name='pypi:repository-version' content='2.0'>", NULL },
		{ "plain text", NULL },
		{ "", NULL },
		{ "<p><a href='a-1.tar.gz'", NULL },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		kz_auto_buf struct kz_buf out = KZ_BUF_INIT(4000), files = KZ_BUF_INIT(4000);
		struct kz_simple s;
		enum kz_pkg_read read;

		kz_simple_init(&s, "a", BASE, KZ_SIMPLE_HTML, KZ_SIMPLE_JSON, &out, on_pypi,
			       &files);
		for (size_t k = 0; k < strlen(rows[i].text); k++)
			(void)kz_simple_add(&s, rows[i].text + k, 1);
		read = kz_simple_end(&s);
		kz_simple_release(&s);
		if (read != (rows[i].files ? KZ_PKG_READ : KZ_PKG_READ_BAD))
			fail_msg("%s: %d", rows[i].text, (int)read);
		if (rows[i].files)
			assert_string_equal(kz_buf_str(&files), rows[i].files);
	}
}

/* Of PEP 592 in the JSON form: true, or a text that is not empty. */
static void test_yanked(void **state)
{
	static const struct {
		const char *is, *out;
	} rows[] = {
		{ "true", ",\"yanked\":true}" },       { "false", "\"hashes\":{}}" },
		{ "null", "\"hashes\":{}}" },          { "\"\"", "\"hashes\":{}}" },
		{ "\"bad\"", ",\"yanked\":\"bad\"}" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		kz_auto_buf struct kz_buf text = KZ_BUF_INIT(1000), out = KZ_BUF_INIT(1000),
					  files = KZ_BUF_INIT(1000);
		struct kz_simple s;

		assert_int_equal(
			kz_buf_printf(&text, NULL,
				      "{\"name\":\"a\",\"files\":[{\"filename\":\"a-1.zip\","
				      "\"url\":\"a-1.zip\",\"yanked\":%s}]}",
				      rows[i].is),
			KZ_OK);
		kz_simple_init(&s, "a", BASE, KZ_SIMPLE_JSON, KZ_SIMPLE_JSON, &out, on_pypi,
			       &files);
		(void)kz_simple_add(&s, text.data, text.len);
		assert_int_equal(kz_simple_end(&s), KZ_PKG_READ);
		kz_simple_release(&s);
		if (!strstr(kz_buf_str(&out), rows[i].out))
			fail_msg("%s: %s", rows[i].is, kz_buf_str(&out));
	}
}

static void test_accept(void **state)
{
	static const struct {
		const char *accept;
		enum kz_simple_form form;
	} rows[] = {
		{ "", KZ_SIMPLE_HTML },
		{ "*/*", KZ_SIMPLE_HTML },
		{ "text/html", KZ_SIMPLE_HTML },
		{ "application/vnd.pypi.simple.v1+json", KZ_SIMPLE_JSON },
		{ "application/vnd.pypi.simple.v1+json, application/vnd.pypi.simple.v1+html; q=0.1, text/html; q=0.01",
		  KZ_SIMPLE_JSON },
		{ "application/vnd.pypi.simple.v1+json;q=0.1,text/html", KZ_SIMPLE_HTML },
		{ "application/vnd.pypi.simple.v1+json;q=0", KZ_SIMPLE_HTML },
		{ "application/vnd.pypi.simple.v2+json", KZ_SIMPLE_HTML },
	};
	enum kz_simple_form f;

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		assert_int_equal(kz_simple_accepts(rows[i].accept, strlen(rows[i].accept)),
				 rows[i].form);
	assert_true(kz_simple_is_form("text/html; charset=\"UTF-8\"", &f) && f == KZ_SIMPLE_HTML);
	assert_false(kz_simple_is_form("text/html; charset=latin1", &f));
	assert_false(kz_simple_is_form("text/htmlx", &f));
	assert_false(kz_simple_is_form("", &f));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_json_taken), cmocka_unit_test(test_json_refused),
		cmocka_unit_test(test_packument),  cmocka_unit_test(test_html),
		cmocka_unit_test(test_yanked),     cmocka_unit_test(test_accept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
