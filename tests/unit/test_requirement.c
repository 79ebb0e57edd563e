/* rule/requirement, rule/version, rule/imports: what may be asked of an installer, and what a program asks for [BRK-9, BRK-10]. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/str.h"
#include "rule/imports.h"
#include "rule/requirement.h"
#include "rule/version.h"

static void test_brk9_what_is_asked_comes_to_one_form(void **state)
{
	static const struct {
		enum kz_ecosystem eco;
		const char *text, *canonical, *key, *versions;
		bool is_pin;
	} cases[] = {
		{ KZ_ECO_PYTHON, "pandas", "pandas", "pandas", "", false },
		{ KZ_ECO_PYTHON, "pandas==2.2.3", "pandas==2.2.3", "pandas", "==2.2.3", true },
		{ KZ_ECO_PYTHON, "Ruamel.Yaml  >= 0.17 , < 1", "Ruamel.Yaml>=0.17,<1",
		  "ruamel-yaml", ">=0.17,<1", false },
		{ KZ_ECO_PYTHON, "requests[ socks, use_chardet ]~=2.31",
		  "requests[socks,use_chardet]~=2.31", "requests", "~=2.31", false },
		{ KZ_ECO_PYTHON, "a__b--c..d", "a__b--c..d", "a-b-c-d", "", false },
		{ KZ_ECO_PYTHON, "x==1.*", "x==1.*", "x", "==1.*", false },
		{ KZ_ECO_PYTHON, "x==1.0+cpu.1", "x==1.0+cpu.1", "x", "==1.0+cpu.1", true },
		{ KZ_ECO_PYTHON, "x==2!1.0rc1.post2.dev3", "x==2!1.0rc1.post2.dev3", "x",
		  "==2!1.0rc1.post2.dev3", true },
		{ KZ_ECO_NODE, "left-pad", "left-pad", "left-pad", "", false },
		{ KZ_ECO_NODE, "left-pad@1.3.0", "left-pad@1.3.0", "left-pad", "1.3.0", true },
		{ KZ_ECO_NODE, "@types/node@^20", "@types/node@^20", "@types/node", "^20", false },
		{ KZ_ECO_NODE, "JSONStream@>=1 <2 || 3.x", "JSONStream@>=1 <2 || 3.x", "JSONStream",
		  ">=1 <2 || 3.x", false },
		{ KZ_ECO_NODE, "vite@latest", "vite@latest", "vite", "latest", false },
		{ KZ_ECO_NODE, "x@1.0.0-rc.1+build", "x@1.0.0-rc.1+build", "x", "1.0.0-rc.1+build",
		  true },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct kz_requirement r, again;
		struct kz_err err = KZ_ERR_INIT;

		if (kz_requirement_parse(cases[i].eco, cases[i].text, strlen(cases[i].text), &r,
					 &err))
			fail_msg("%s: %s", cases[i].text, err.text);
		assert_string_equal(r.text, cases[i].canonical);
		assert_string_equal(r.key, cases[i].key);
		assert_string_equal(r.versions, cases[i].versions);
		assert_int_equal(r.is_pin, cases[i].is_pin);
		/* the one form is its own */
		assert_int_equal(kz_requirement_parse(r.eco, r.text, strlen(r.text), &again, &err),
				 KZ_OK);
		assert_string_equal(again.text, r.text);
	}
}

static const char *const refused_python[] = {
	"",
	" ",
	"-r req.txt",
	"--index-url=http://x",
	"-e .",
	"http://x/y.whl",
	"https://x/y.whl",
	"git+https://x/y",
	"git+ssh://git@x/y",
	"hg+http://x",
	"svn+http://x",
	"bzr+http://x",
	"x @ http://y",
	"x@http://y",
	"x @ file:///etc/passwd",
	"file:///x",
	"./x",
	"../x",
	"/x",
	".",
	"x/y",
	"x.whl/../y",
	"~/x",
	"x\\y",
	"c:x",
	"x; python_version<'3'",
	"x ;os_name=='posix'",
	"x==1; extra == 'a'",
	"x --global-option=y",
	"x==1 --hash=sha256:00",
	"x==1 y==2",
	"x y",
	"x,y",
	"x (==1)",
	"x===1",
	"x=1",
	"x=>1",
	"x==",
	"x==1,",
	"x,==1",
	"x==1,,==2",
	"x>1.*",
	"x~=1",
	"x==1 .0",
	"x==1/2",
	"x== 1;",
	"x[",
	"x[]",
	"x[a",
	"x[a,]",
	"x[a b]",
	"x[-a]",
	"x[a]]",
	"_x",
	".x",
	"x_",
	"x.",
	"x\n",
	"x\t==1",
	"x\r",
	"x\x1b[0m",
	"x\x7f",
	"$(id)",
	"x`id`",
	"x'",
	"x\"",
	"x#y",
	"x?y",
	"x%2fy",
	"x*",
	"caf\xc3\xa9",
	"\xd0\xb0",
	"x==\xd9\xa1",
	"x==1\xc2\xa0",
};

static const char *const refused_node[] = {
	"",
	" x",
	"x ",
	"-g",
	"--registry=http://x",
	"http://x/y.tgz",
	"git://x/y",
	"git+https://x/y",
	"git@x:y",
	"user/repo",
	"github:user/repo",
	"x@github:user/repo",
	"x@user/repo",
	"x@npm:y",
	"x@file:y",
	"x@link:y",
	"x@workspace:*",
	"x@http://y",
	"x@./y",
	"x@.",
	"x@..",
	"x@~/y",
	"x@",
	"x@@y",
	"x@1@2",
	"x@1 ",
	"x@ 1",
	"x@-1",
	"x@y.tgz",
	"x@1.tar.gz",
	"x.tgz",
	"x.TGZ",
	"x.tar",
	"@x",
	"@x/",
	"@/x",
	"@x/y/z",
	"@x/.y",
	"@.x/y",
	"@@x/y",
	"./x",
	"../x",
	"/x",
	".",
	".x",
	"_x",
	"~x",
	"x y",
	"x\n",
	"x@1\n",
	"x;y",
	"x$(id)",
	"x@$(id)",
	"x%2fy",
	"x?y",
	"x#y",
	"caf\xc3\xa9",
};

static void refuse_all(enum kz_ecosystem eco, const char *const *list, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct kz_requirement r;
		struct kz_err err = KZ_ERR_INIT;

		if (kz_requirement_parse(eco, list[i], strlen(list[i]), &r, &err) == KZ_OK)
			fail_msg("taken: \"%s\" as \"%s\"", list[i], r.text);
		assert_string_equal(err.reason, "dependency_request_invalid");
		assert_string_equal(r.text, "");
	}
}

static void test_brk9_everything_else_is_refused(void **state)
{
	char nul[] = "x\0y", longest[KZ_REQUIREMENT_MAX + 2];
	struct kz_requirement r;
	struct kz_err err = KZ_ERR_INIT;

	(void)state;
	refuse_all(KZ_ECO_PYTHON, refused_python, sizeof refused_python / sizeof *refused_python);
	refuse_all(KZ_ECO_NODE, refused_node, sizeof refused_node / sizeof *refused_node);
	for (int eco = 0; eco < KZ_ECOS; eco++) {
		assert_int_not_equal(kz_requirement_parse((enum kz_ecosystem)eco, nul, 3, &r, &err),
				     KZ_OK);
		memset(longest, 'x', sizeof longest);
		assert_int_not_equal(kz_requirement_parse((enum kz_ecosystem)eco, longest,
							  sizeof longest - 1, &r, &err),
				     KZ_OK);
		assert_int_not_equal(kz_requirement_parse((enum kz_ecosystem)eco, longest,
							  KZ_REQUIREMENT_NAME, &r, &err),
				     KZ_OK);
		assert_int_equal(kz_requirement_parse((enum kz_ecosystem)eco, longest,
						      KZ_REQUIREMENT_NAME - 1, &r, &err),
				 KZ_OK);
	}
}

static void test_brk24_order_of_versions(void **state)
{
	/* each below the next; PEP 440 */
	static const char *const rising[] = { "0",
					      "1.dev0",
					      "1.0.dev456",
					      "1.0a1",
					      "1.0a2.dev456",
					      "1.0a12.dev456",
					      "1.0a12",
					      "1.0b1.dev456",
					      "1.0b2",
					      "1.0b2.post345.dev456",
					      "1.0b2.post345",
					      "1.0rc1.dev456",
					      "1.0rc1",
					      "1.0",
					      "1.0+abc.5",
					      "1.0.post456.dev34",
					      "1.0.post456",
					      "1.0.15",
					      "1.1.dev1",
					      "1.1",
					      "1.10",
					      "2",
					      "1!0" };
	static const char *const same[][2] = {
		{ "1.0", "1.0.0" },       { "v1.0", "1" },         { "1.0-1", "1.0.post1" },
		{ "1.0.ALPHA_1", "1a1" }, { "1.0c1", "1rc1" },     { "1.0-preview.2", "1rc2" },
		{ "1+A_b", "1+a.b" },     { "1.0.rev", "1.post0" }
	};
	static const char *const none[] = { "",
					    "x",
					    "1.",
					    "1..0",
					    "1.0a1b1",
					    "1+",
					    "1+a!",
					    "1.0 ",
					    "1,0",
					    "1.*",
					    "99999999999999999999" };
	struct kz_version a, b;

	(void)state;
	for (size_t i = 0; i < sizeof rising / sizeof *rising; i++)
		for (size_t k = 0; k < sizeof rising / sizeof *rising; k++) {
			int c;

			assert_true(kz_version_parse(rising[i], strlen(rising[i]), &a));
			assert_true(kz_version_parse(rising[k], strlen(rising[k]), &b));
			c = kz_version_compare(&a, &b);
			if (i < k ? c >= 0 : i > k ? c <= 0 : c != 0)
				fail_msg("%s against %s is %d", rising[i], rising[k], c);
		}
	for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
		assert_true(kz_version_parse(same[i][0], strlen(same[i][0]), &a));
		assert_true(kz_version_parse(same[i][1], strlen(same[i][1]), &b));
		if (kz_version_compare(&a, &b))
			fail_msg("%s is not %s", same[i][0], same[i][1]);
	}
	for (size_t i = 0; i < sizeof none / sizeof *none; i++)
		if (kz_version_parse(none[i], strlen(none[i]), &a))
			fail_msg("taken: \"%s\"", none[i]);
}

static void test_brk22_what_an_installed_version_satisfies(void **state)
{
	static const struct {
		const char *requirement, *version;
		bool allows;
	} cases[] = {
		{ "x", "1.0", true },
		{ "x", "1.0rc1", true },
		{ "x", "no version", true },
		{ "x==1.0", "1.0.0", true },
		{ "x==1.0", "1.0+debian1", true },
		{ "x==1.0+a", "1.0+b", false },
		{ "x==1.0", "1.0.1", false },
		{ "x==1.0", "1.0rc1", false },
		{ "x==1.0rc1", "1.0rc1", true },
		{ "x==1.*", "1.9.9", true },
		{ "x==1.*", "10", false },
		{ "x!=1.*", "2", true },
		{ "x!=1.5", "1.5", false },
		{ "x>=1,<2", "1.9", true },
		{ "x>=1,<2", "2.0", false },
		{ "x>=1,<2", "2.0rc1", false },
		{ "x>=1", "2.0rc1", false },
		{ "x>=1rc1", "2.0rc1", true },
		{ "x~=1.4.2", "1.4.9", true },
		{ "x~=1.4.2", "1.5", false },
		{ "x~=1.4", "1.9", true },
		{ "x~=1.4", "2.0", false },
		{ "x>1.0", "1.0.post1", false },
		{ "x>1.0", "1.0.1", true },
		{ "x<=1.0", "1.0", true },
		{ "x>=1rc1,<1.0.post2", "1.0.post1", true },
		{ "x>=1rc1,<1.0.post2", "1.0.post1.dev1", false },
		{ "x<1.0.post1.dev3", "1.0rc1", true },
		{ "x>=1", "no version", false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct kz_requirement r;
		struct kz_err err = KZ_ERR_INIT;

		assert_int_equal(kz_requirement_parse(KZ_ECO_PYTHON, cases[i].requirement,
						      strlen(cases[i].requirement), &r, &err),
				 KZ_OK);
		if (kz_requirement_allows(&r, cases[i].version) != cases[i].allows)
			fail_msg("%s with %s", cases[i].requirement, cases[i].version);
	}
}

static void expect(enum kz_ecosystem eco, const char *text, const char *wanted)
{
	struct kz_imports found;
	char got[4096] = "";

	kz_imports_find(eco, text, strlen(text), &found);
	for (size_t i = 0; i < found.count; i++) {
		size_t n = strlen(got);

		snprintf(got + n, sizeof got - n, "%s%s", n ? " " : "", found.list[i].package);
	}
	if (strcmp(got, wanted))
		fail_msg("of\n%s\n found \"%s\", not \"%s\"", text, got, wanted);
}

static void test_brk10_imports_of_python(void **state)
{
	(void)state;
	expect(KZ_ECO_PYTHON, "import docx, pptx\nfrom PIL import Image\nimport bs4\nimport yaml",
	       "python-docx python-pptx Pillow beautifulsoup4 PyYAML");
	expect(KZ_ECO_PYTHON, "import a.b as c, d\nfrom e.f import g, h", "a d e");
	expect(KZ_ECO_PYTHON,
	       "import os, sys, json, asyncio.subprocess\nfrom __future__ import annotations", "");
	expect(KZ_ECO_PYTHON, "from . import x\nfrom .y import z\nfrom .. import w", "");
	expect(KZ_ECO_PYTHON, "# import a\nx = 'import b'\ny = \"\"\"\nimport c\n\"\"\"\nimport d",
	       "d");
	expect(KZ_ECO_PYTHON, "import a, \\\n  b\nfrom c import (d,\n e)\nimport f; import g",
	       "a b c f g");
	expect(KZ_ECO_PYTHON,
	       "try:\n    import a\nexcept ImportError:\n    import b\nelse:\n    import c\nimport d",
	       "d");
	expect(KZ_ECO_PYTHON,
	       "if x:\n    import a\ndef f():\n    import b\n    try:\n        import c\n    finally:\n        pass\n    import d",
	       "a b d");
	expect(KZ_ECO_PYTHON, "try: import a\nexcept ImportError: a = None\nimport b", "b");
	expect(KZ_ECO_PYTHON,
	       "if 1: import a\nx = {1: b}\ny = [z for z in (1, 2)]\nimport_x = 1\nq.import_(y)",
	       "a");
	expect(KZ_ECO_PYTHON, "raise X from e\nyield from gen\nimport a\nimport a.b", "a");
	expect(KZ_ECO_PYTHON, "\xef\xbb\xbfimport a\n!pip install b\nimport c", "c");
	expect(KZ_ECO_PYTHON, "import", "");
	expect(KZ_ECO_PYTHON, "from", "");
}

static void test_brk10_imports_of_node(void **state)
{
	(void)state;
	expect(KZ_ECO_NODE, "const a = require('left-pad'), b = require(\"@s/n/sub\")",
	       "left-pad @s/n");
	expect(KZ_ECO_NODE,
	       "import a from 'a'\nimport {b, c as d} from \"b/x.js\"\nimport * as e from 'e'\nimport 'f'\nimport g, {h} from 'g'",
	       "a b e f g");
	expect(KZ_ECO_NODE, "export * from 'a'; export {x} from 'b'; export const from = 'c'",
	       "a b");
	expect(KZ_ECO_NODE,
	       "const x = await import('a'); import.meta.url; x.require('b'); y.import('c')", "a");
	expect(KZ_ECO_NODE,
	       "require('fs'); require('node:test'); require('fs/promises'); require('./a'); require('/b'); require('#c')",
	       "");
	expect(KZ_ECO_NODE,
	       "// require('a')\n/* import 'b' */ const s = \"require('c')\"; `${require('d')}`; /require('e')/.test(s)\nrequire('f')",
	       "f");
	expect(KZ_ECO_NODE, "require(name); require('a' + b); require(`c`); import(`d`)", "a");
	expect(KZ_ECO_NODE, "try { require('a') } catch (e) { require('b') }\nrequire('c')", "b c");
	expect(KZ_ECO_NODE,
	       "import x from 'https://h/x'; import y from 'data:text/javascript,1'; import z from 'file:///z'",
	       "");
	expect(KZ_ECO_NODE, "const from = 'a'; f({ from: 'b' }); Array.from('c')", "");
}

static void test_brk10_the_table_and_the_interpreters_own(void **state)
{
	(void)state;
	assert_string_equal(kz_imports_package("docx"), "python-docx");
	assert_string_equal(kz_imports_package("pptx"), "python-pptx");
	assert_string_equal(kz_imports_package("PIL"), "Pillow");
	assert_string_equal(kz_imports_package("bs4"), "beautifulsoup4");
	assert_string_equal(kz_imports_package("yaml"), "PyYAML");
	assert_string_equal(kz_imports_package("numpy"), "numpy");
	assert_true(kz_imports_is_builtin(KZ_ECO_PYTHON, "zoneinfo"));
	assert_true(kz_imports_is_builtin(KZ_ECO_PYTHON, "__future__"));
	assert_false(kz_imports_is_builtin(KZ_ECO_PYTHON, "numpy"));
	assert_true(kz_imports_is_builtin(KZ_ECO_NODE, "zlib"));
	assert_true(kz_imports_is_builtin(KZ_ECO_NODE, "node:anything"));
	assert_false(kz_imports_is_builtin(KZ_ECO_NODE, "left-pad"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_brk9_what_is_asked_comes_to_one_form),
		cmocka_unit_test(test_brk9_everything_else_is_refused),
		cmocka_unit_test(test_brk24_order_of_versions),
		cmocka_unit_test(test_brk22_what_an_installed_version_satisfies),
		cmocka_unit_test(test_brk10_imports_of_python),
		cmocka_unit_test(test_brk10_imports_of_node),
		cmocka_unit_test(test_brk10_the_table_and_the_interpreters_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
