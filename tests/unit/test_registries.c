/* What a new installation stores of the host's pip and npm. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/buf.h"
#include "core/front/registries.h"

static void is(const char *index, const char *files, const char *registry, const char *want)
{
	kz_auto_buf struct kz_buf b = KZ_BUF_INIT(4096);

	assert_int_equal(kz_front_registries_text(index, files, registry, &b, NULL), KZ_OK);
	assert_string_equal(kz_buf_str(&b), want);
}

static void brk_32_what_is_stored(void **state)
{
	(void)state;
	is("", "", "", "{}");
	is("https://a.example/simple", "f.example", "https://b.example/",
	   "{\"pypi\":{\"index\":\"https://a.example/simple/\",\"hosts\":[\"f.example\"]},"
	   "\"npm\":{\"registry\":\"https://b.example/\",\"hosts\":[]}}");
	is("http://127.0.0.1:9/x/", "", "",
	   "{\"pypi\":{\"index\":\"http://127.0.0.1:9/x/\",\"hosts\":[]}}");
}

/* Neither passwords nor anything that another reader could take for something else. */
static void brk_32_what_is_not(void **state)
{
	static const char *const bad[] = { "https://user:pass@a.example/",
					   "ftp://a.example/",
					   "file:///srv/x",
					   "https://",
					   "https:///x",
					   "undefined",
					   "https://a.example/?q",
					   "https://a.example/#f",
					   "https://a.example/\"x",
					   "https://a.example/ x",
					   "https://a.example/\x01",
					   "https://a.example/\xff" };

	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		is(bad[i], "", bad[i], "{}");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(brk_32_what_is_stored),
		cmocka_unit_test(brk_32_what_is_not),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
