/* What a request to the gateway comes to before any route sees it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "rule/ask.h"

#define LINE "KZ-EXECUTION 0123456789abcdef0123456789abcdef\n"

static void brk_5_execution_line(void **state)
{
	static const char *const bad[] = {
		"GET / HTTP/1.1\r\n",
		"KZ-EXECUTION 0123456789ABCDEF0123456789abcdef\n",
		"KZ-EXECUTION 0123456789abcdef0123456789abcde\n",
		"KZ-EXECUTION 0123456789abcdef0123456789abcdef0\n",
		"KZ-EXECUTION 0123456789abcdef0123456789abcdef\r\n",
		"kz-EXECUTION 0123456789abcdef0123456789abcdef\n",
		"KZ-EXECUTION  123456789abcdef0123456789abcdef\n",
	};
	char execution[KZ_EXECUTION_HEX];

	(void)state;
	assert_int_equal(KZ_EXECUTION_LINE, strlen(LINE));
	for (size_t n = 0; n < strlen(LINE); n++) {
		char *p = malloc(n ? n : 1);

		memcpy(p, LINE, n);
		assert_int_equal(kz_execution_line(p, n, execution), KZ_HEAD_MORE);
		free(p);
	}
	assert_int_equal(kz_execution_line(LINE "GET", strlen(LINE) + 3, execution), KZ_HEAD_OK);
	assert_string_equal(execution, "0123456789abcdef0123456789abcdef");
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		assert_int_equal(kz_execution_line(bad[i], strlen(bad[i]), execution), KZ_HEAD_BAD);
}

static int ask(const char *line, const char *fields, struct kz_ask *out)
{
	static char head[600];
	struct kz_httphead h;

	(void)snprintf(head, sizeof head, "%s HTTP/1.1\r\nHost: a\r\n%s\r\n", line, fields);
	assert_int_equal(kz_httphead_parse(head, strlen(head), &h), KZ_HEAD_OK);
	return kz_ask_read(&h, out);
}

static void dep_5_methods_targets_bodies(void **state)
{
	static const char *const methods[] = { "POST",  "PUT",     "DELETE", "PATCH", "OPTIONS",
					       "TRACE", "CONNECT", "get",    "Get",   "HEADS" };
	struct kz_ask a;
	char line[40];

	(void)state;
	assert_int_equal(ask("GET /a%2fb?c=d?e", "", &a), 0);
	assert_true(kz_slice_is(a.path, "/a%2fb") && kz_slice_is(a.query, "c=d?e") && !a.is_head);
	assert_int_equal(ask("HEAD /", "", &a), 0);
	assert_true(kz_slice_is(a.path, "/") && a.query.n == 0 && a.is_head);
	for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
		(void)snprintf(line, sizeof line, "%s /", methods[i]);
		assert_int_equal(ask(line, "", &a), 405);
	}
	assert_int_equal(ask("GET http://a/", "", &a), 400);
	assert_int_equal(ask("GET *", "", &a), 400);
	assert_int_equal(ask("GET a:80", "", &a), 400);
	assert_int_equal(ask("GET /#x", "", &a), 400);
	assert_int_equal(ask("GET /", "Content-Length: 1\r\n", &a), 413);
	assert_int_equal(ask("GET /", "Transfer-Encoding: chunked\r\n", &a), 413);
	assert_int_equal(ask("GET /", "Content-Length: 0\r\n", &a), 0);
}

static bool host(const char *value, const char *names, const char *listen)
{
	static char head[600];
	struct kz_httphead h;

	(void)snprintf(head, sizeof head, "GET / HTTP/1.1\r\nHost: %s\r\n\r\n", value);
	assert_int_equal(kz_httphead_parse(head, strlen(head), &h), KZ_HEAD_OK);
	return kz_ask_host(&h, names, listen);
}

static void dep_5_only_our_hosts(void **state)
{
	static const char *const good[] = { "localhost",      "localhost:8000", "LOCALHOST:1",
					    "127.0.0.1:8000", "127.1.2.3",      "[::1]:8000" };
	static const char *const bad[] = { "",
					   "a.example",
					   "localhost.a.example",
					   "10.0.0.1:8000",
					   "[::2]",
					   "[::]",
					   "0.0.0.0:8000",
					   "127.0.0.1.a.example",
					   "0x7f.1",
					   "localhost:0",
					   "localhost:99999",
					   "localhost, a.example",
					   "user@localhost" };
	struct kz_httphead none;
	const char *old = "GET / HTTP/1.0\r\n\r\n";

	(void)state;
	for (size_t i = 0; i < sizeof good / sizeof *good; i++)
		assert_true(host(good[i], "", "127.0.0.1:8000"));
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		assert_false(host(bad[i], "", "127.0.0.1:8000"));
	assert_true(host("10.0.0.1:8000", "", "10.0.0.1:8000"));
	assert_false(host("10.0.0.2:8000", "", "10.0.0.1:8000"));
	/* no name can be made to lead to a literal address */
	assert_true(host("10.0.0.2:8000", "", "0.0.0.0:8000"));
	assert_true(host("[fd00::1]:8000", "", "[::]:8000"));
	assert_false(host("a.example", "", "0.0.0.0:8000"));
	assert_true(host("a.example", "b.example,A.example", ""));
	assert_true(host("b.example:81", "b.example,a.example", ""));
	assert_false(host("c.example", "b.example,a.example", ""));
	assert_false(host("a.example", ",", "nonsense"));
	assert_int_equal(kz_httphead_parse(old, strlen(old), &none), KZ_HEAD_OK);
	assert_false(kz_ask_host(&none, "", "127.0.0.1:8000"));
}

static bool fits(const char *path, const char *prefix)
{
	return kz_ask_fits((struct kz_slice){ path, strlen(path) }, prefix);
}

static void brk_5_prefixes(void **state)
{
	(void)state;
	assert_true(fits("/pypi/", "/pypi/") && fits("/pypi/simple/x/", "/pypi/"));
	assert_false(fits("/pypi", "/pypi/") || fits("/pypix/", "/pypi/") ||
		     fits("//pypi/", "/pypi/"));
	assert_true(fits("/keys", "/keys"));
	assert_false(fits("/keys/", "/keys") || fits("/keysx", "/keys") || fits("/Keys", "/keys"));
	assert_true(fits("/", "/"));
	assert_false(fits("/x", "/") || fits("", "/"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(brk_5_execution_line),
		cmocka_unit_test(dep_5_methods_targets_bodies),
		cmocka_unit_test(dep_5_only_our_hosts),
		cmocka_unit_test(brk_5_prefixes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
