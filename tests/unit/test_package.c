/* rule/package and rule/url: names, files, paths of the broker, links of registries. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "rule/package.h"
#include "rule/url.h"

static void test_normal(void **state)
{
	static const struct {
		const char *text, *normal; /* NULL: none */
	} rows[] = {
		{ "Foo", "foo" },  { "foo.Bar_baz--qux", "foo-bar-baz-qux" },
		{ "a", "a" },      { "a-._-b", "a-b" },
		{ "", NULL },      { "-a", NULL },
		{ "a-", NULL },    { "a b", NULL },
		{ "a/b", NULL },   { "..", NULL },
		{ "a\x01", NULL }, { "a\xc3\xa9", NULL },
		{ "a%2d", NULL },
	};
	char out[KZ_PKG_NAME], longest[300];

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		bool is = kz_pkg_normal(rows[i].text, strlen(rows[i].text), out);

		assert_int_equal(is, rows[i].normal != NULL);
		if (is)
			assert_string_equal(out, rows[i].normal);
	}
	memset(longest, 'a', sizeof longest);
	assert_true(kz_pkg_normal(longest, KZ_PKG_NAME - 1, out));
	assert_false(kz_pkg_normal(longest, KZ_PKG_NAME, out));
}

static void test_file(void **state)
{
	static const struct {
		const char *file, *project;
		int is; /* 0 none, 1 source, 2 wheel */
	} rows[] = {
		{ "foo_bar-1.0-py3-none-any.whl", "foo-bar", 2 },
		{ "Foo.Bar-1.0-py3-none-any.whl", "foo-bar", 2 },
		{ "foo-1.0+cpu.1-1-cp311-cp311-linux_x86_64.whl", "foo", 2 },
		{ "foo-1!2.0-py3-none-any.whl", "foo", 2 },
		{ "foo-1.0-x-py3-none-any.whl", "foo", 0 }, /* a build begins with a digit */
		{ "foo-1.0-py3-none.whl", "foo", 0 },
		{ "foo-1.0-1-2-py3-none-any.whl", "foo", 0 },
		{ "foo-bar-1.0-py3-none-any.whl", "foo-bar", 0 }, /* a wheel's name has no hyphen */
		{ "foo--py3-none-any.whl", "foo", 0 },
		{ "bar-1.0-py3-none-any.whl", "foo", 0 },
		{ "foo-1.0.tar.gz", "foo", 1 },
		{ "foo-bar-1.0.zip", "foo-bar", 1 },
		{ "foo-bar-1.0.zip", "foo", 1 }, /* version "bar-1.0": no grammar can tell */
		{ "foo-1.0.exe", "foo", 0 },
		{ "foo-1.0.WHL", "foo", 0 },
		{ "foo.tar.gz", "foo", 0 },
		{ "foo-1.0.tar.gz/..", "foo", 0 },
		{ "../foo-1.0.tar.gz", "foo", 0 },
		{ "foo-1.0 .tar.gz", "foo", 0 },
		{ "foo-1.0-py3-none-any.whl.metadata", "foo", 0 },
		{ ".whl", "foo", 0 },
		{ "", "foo", 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		bool is_wheel = false,
		     is = kz_pkg_is_file_of(rows[i].file, rows[i].project, &is_wheel);

		if (rows[i].is != (is ? is_wheel ? 2 : 1 : 0))
			fail_msg("%s of %s", rows[i].file, rows[i].project);
	}
}

/* BRK-1, BRK-6, BRK-7: the paths there are, and what comes of them. */
static void test_path_taken(void **state)
{
	static const struct {
		const char *path;
		enum kz_registry registry;
		enum kz_pkg_what what;
		const char *name, *file;
	} rows[] = {
		{ "/pypi/simple/Foo.Bar/", KZ_REGISTRY_PYPI, KZ_PKG_AN_INDEX, "foo-bar", "" },
		{ "/pypi/files/foo/foo-1.0-py3-none-any.whl", KZ_REGISTRY_PYPI, KZ_PKG_A_FILE,
		  "foo", "foo-1.0-py3-none-any.whl" },
		{ "/pypi/files/FOO/foo-1.0%2Bcpu-py3-none-any.whl", KZ_REGISTRY_PYPI, KZ_PKG_A_FILE,
		  "foo", "foo-1.0+cpu-py3-none-any.whl" },
		{ "/pypi/files/foo/foo-1.0+cpu-py3-none-any.whl.metadata", KZ_REGISTRY_PYPI,
		  KZ_PKG_A_METADATA, "foo", "foo-1.0+cpu-py3-none-any.whl" },
		{ "/pypi/files/foo/foo-1.0.tar.gz", KZ_REGISTRY_PYPI, KZ_PKG_A_FILE, "foo",
		  "foo-1.0.tar.gz" },
		{ "/npm/left-pad", KZ_REGISTRY_NPM, KZ_PKG_AN_INDEX, "left-pad", "" },
		{ "/npm/JSONStream", KZ_REGISTRY_NPM, KZ_PKG_AN_INDEX, "JSONStream", "" },
		{ "/npm/@types%2fnode", KZ_REGISTRY_NPM, KZ_PKG_AN_INDEX, "@types/node", "" },
		{ "/npm/%40types%2Fnode", KZ_REGISTRY_NPM, KZ_PKG_AN_INDEX, "@types/node", "" },
		{ "/npm/left-pad/-/left-pad-1.3.0.tgz", KZ_REGISTRY_NPM, KZ_PKG_A_FILE, "left-pad",
		  "left-pad-1.3.0.tgz" },
		{ "/npm/@types/node/-/node-20.1.0-rc.1.tgz", KZ_REGISTRY_NPM, KZ_PKG_A_FILE,
		  "@types/node", "node-20.1.0-rc.1.tgz" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct kz_pkg_path p;

		if (!kz_pkg_path_parse(rows[i].path, strlen(rows[i].path), &p))
			fail_msg("%s", rows[i].path);
		assert_int_equal(p.registry, rows[i].registry);
		assert_int_equal(p.what, rows[i].what);
		assert_string_equal(p.name, rows[i].name);
		assert_string_equal(p.file, rows[i].file);
	}
}

/* Everything that some reader could take for another path. */
static void test_path_refused(void **state)
{
	static const char *const rows[] = {
		"",
		"/",
		"/pypi",
		"/pypi/",
		"/pypi/simple",
		"/pypi/simple/",
		"/pypi/simple/foo",
		"/pypi/simple//foo/",
		"/pypi/simple/foo//",
		"/pypi/simple/../foo/",
		"/pypi/simple/foo/../bar/",
		"/pypi/simple/foo%2fbar/",
		"/pypi/simple/foo%00/",
		"/pypi/simple/foo\\/",
		"/pypi/simple/foo%5c/",
		"/PYPI/simple/foo/",
		"/pypi/Simple/foo/",
		"//pypi/simple/foo/",
		"/pypi//simple/foo/",
		"/./pypi/simple/foo/",
		"http://127.0.0.1:8000/pypi/simple/foo/",
		"/pypi/simple/%66oo/",
		"/pypi/simple/foo/?x",
		"/pypi/files/foo/",
		"/pypi/files/foo",
		"/pypi/files/foo/bar-1.0.tar.gz",
		"/pypi/files/foo//foo-1.0.tar.gz",
		"/pypi/files/foo/../foo-1.0.tar.gz",
		"/pypi/files/foo%2ffoo-1.0.tar.gz",
		"/pypi/files/foo/foo-1.0.tar.gz.metadata",
		"/pypi/files/foo/foo-1.0-py3-none-any.whl.provenance",
		"/pypi/files/foo/foo-1.0-py3-none-any.whl.metadata.metadata",
		"/pypi/files/foo/foo-1.0-py3-none-any.whl.METADATA",
		"/pypi/files/foo/foo-1.0-py3-none-any.whl%2emetadata",
		"/pypi/files/foo/foo-1.0%252Bcpu-py3-none-any.whl",
		"/pypi/files/foo/x/foo-1.0-py3-none-any.whl",
		"/pypi/files/@foo%2fx",
		"/pypi/files/foo/.metadata",
		"/npm/",
		"/npm/..",
		"/npm/.bin",
		"/npm/_all",
		"/npm/-",
		"/npm/a/b",
		"/npm/a%2fb",
		"/npm/@a",
		"/npm/@a/b",
		"/npm/@a%2f",
		"/npm/@%2fb",
		"/npm/@a%2fb%2fc",
		"/npm/@a%2f..",
		"/npm/@a%252fb",
		"/npm/a/-/b-1.0.0.tgz",
		"/npm/a/-/a-.tgz",
		"/npm/a/-/a-1.0.0.tar",
		"/npm/a/-/../a-1.0.0.tgz",
		"/npm/a/-/a-1.0.0.tgz/",
		"/npm/a//-/a-1.0.0.tgz",
		"/npm/@a/b/-/b-1%2f0.tgz",
		"/npm/@a%2fb/-/a-1.0.0.tgz",
		"/npm/a%00",
		"/npm/a\\b",
		"/npm/a%5cb",
		"/npm/-/ping",
		"/npm/%2e%2e",
		"/npm/a%",
		"/npm/a%2",
		"/npm/%2fa",
		"/npm/a b",
		"/npm/\xc3\xa9",
	};
	struct kz_pkg_path p;

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		if (kz_pkg_path_parse(rows[i], strlen(rows[i]), &p))
			fail_msg("taken: %s", rows[i]);
	assert_false(kz_pkg_path_parse("/npm/a\0b", 8, &p));
}

/* BRK-6: a link is read back as what it was made of. */
static void test_link(void **state)
{
	struct kz_pkg_path p;
	char link[KZ_PKG_LINK], file[KZ_PKG_FILE];

	(void)state;
	kz_pkg_link(KZ_REGISTRY_PYPI, "foo", "foo-1!1.0+cpu-py3-none-any.whl", link);
	assert_string_equal(link, "/pypi/files/foo/foo-1%211.0%2Bcpu-py3-none-any.whl");
	assert_true(kz_pkg_path_parse(link, strlen(link), &p));
	assert_string_equal(p.file, "foo-1!1.0+cpu-py3-none-any.whl");
	assert_true(kz_pkg_npm_file("@s/foo", "1.0.0+b", file));
	kz_pkg_link(KZ_REGISTRY_NPM, "@s/foo", file, link);
	assert_string_equal(link, "/npm/@s/foo/-/foo-1.0.0%2Bb.tgz");
	assert_true(kz_pkg_path_parse(link, strlen(link), &p));
	assert_string_equal(p.name, "@s/foo");
	assert_string_equal(p.file, "foo-1.0.0+b.tgz");
	assert_false(kz_pkg_npm_file("foo", "1/../2", file));
	assert_false(kz_pkg_npm_file("foo", "", file));
}

static void test_url(void **state)
{
	static const struct {
		const char *text, *printed; /* NULL: refused */
	} rows[] = {
		{ "https://a.test/x", "https://a.test/x" },
		{ "HTTPS://A.test", "https://a.test/" },
		{ "http://a.test:80/", "http://a.test/" },
		{ "https://a.test:80/", "https://a.test:80/" },
		{ "https://[2606:4700::1]:8443/x?y=1#z", "https://[2606:4700::1]:8443/x?y=1" },
		{ "https://a.test/a/../b/./c", "https://a.test/b/c" },
		{ "https://a.test/../../b", "https://a.test/b" },
		{ "https://a.test/a/..", "https://a.test/" },
		{ "https://a.test/a/.", "https://a.test/a/" },
		{ "https://a.test/a?x=../..", "https://a.test/a?x=../.." },
		{ "https://a.test?x", "https://a.test/?x" },
		{ "https://user@a.test/", NULL },
		{ "https://user:pw@a.test/", NULL },
		{ "ftp://a.test/", NULL },
		{ "file:///etc/passwd", NULL },
		{ "https:///x", NULL },
		{ "https://a.test\\@b.test/", NULL },
		{ "https://a.test/\\x", NULL },
		{ "https://a.test/ x", NULL },
		{ "https://a.test/\x80", NULL },
		{ "https://a.test:0/", NULL },
		{ "https://a.test:99999/", NULL },
		{ "https://0x7f.1/", NULL },
		{ "https://2130706433/", NULL },
		{ "//a.test/", NULL },
		{ "", NULL },
	};
	char out[KZ_URL_TEXT];
	struct kz_url u;

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		bool is = kz_url_parse(rows[i].text, strlen(rows[i].text), &u);

		if (is != (rows[i].printed != NULL))
			fail_msg("%s", rows[i].text);
		if (!is)
			continue;
		kz_url_print(&u, out);
		assert_string_equal(out, rows[i].printed);
	}
}

/* RFC 3986 section 5.4, as far as http goes. */
static void test_resolve(void **state)
{
	static const struct {
		const char *ref, *is;
	} rows[] = {
		{ "g", "http://a/b/c/g" },
		{ "./g", "http://a/b/c/g" },
		{ "g/", "http://a/b/c/g/" },
		{ "/g", "http://a/g" },
		{ "//g.test", "http://g.test/" },
		{ "?y", "http://a/b/c/d;p?y" },
		{ "g?y", "http://a/b/c/g?y" },
		{ "", "http://a/b/c/d;p?q" },
		{ "#s", "http://a/b/c/d;p?q" },
		{ ".", "http://a/b/c/" },
		{ "./", "http://a/b/c/" },
		{ "..", "http://a/b/" },
		{ "../", "http://a/b/" },
		{ "../g", "http://a/b/g" },
		{ "../..", "http://a/" },
		{ "../../g", "http://a/g" },
		{ "../../../g", "http://a/g" },
		{ "/./g", "http://a/g" },
		{ "/../g", "http://a/g" },
		{ "g.", "http://a/b/c/g." },
		{ "..g", "http://a/b/c/..g" },
		{ "./../g", "http://a/b/g" },
		{ "g/./h", "http://a/b/c/g/h" },
		{ "g/../h", "http://a/b/c/h" },
		{ "http://b/x", "http://b/x" },
		{ "javascript:x", NULL },
		{ "data:,x", NULL },
		{ "//u@b/", NULL },
	};
	struct kz_url base, u;
	char out[KZ_URL_TEXT];

	(void)state;
	assert_true(kz_url_parse("http://a/b/c/d;p?q", 18, &base));
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		bool is = kz_url_resolve(&base, rows[i].ref, strlen(rows[i].ref), &u);

		if (is != (rows[i].is != NULL))
			fail_msg("%s", rows[i].ref);
		if (!is)
			continue;
		kz_url_print(&u, out);
		if (strcmp(out, rows[i].is) != 0)
			fail_msg("%s: %s, not %s", rows[i].ref, out, rows[i].is);
	}
	assert_true(kz_url_parse("https://a.test/x/f.whl?t=1#sha256=00", 36, &u));
	assert_string_equal(u.fragment, "sha256=00");
	assert_true(kz_url_append(&u, ".metadata"));
	kz_url_print(&u, out);
	assert_string_equal(out, "https://a.test/x/f.whl.metadata?t=1");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_normal),     cmocka_unit_test(test_file),
		cmocka_unit_test(test_path_taken), cmocka_unit_test(test_path_refused),
		cmocka_unit_test(test_link),       cmocka_unit_test(test_url),
		cmocka_unit_test(test_resolve),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
