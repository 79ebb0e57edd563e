/* port/http_flow: what cannot be asked as it was meant is not asked. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "port/http_flow.h"

#define TOO_MUCH (9 << 20) /* libcurl takes no more than 8,000,000 bytes of certificates */

static void watch(void *arg, int fd, bool is_read, bool is_write)
{
	(void)arg;
	(void)fd;
	(void)is_read;
	(void)is_write;
}

static void timer(void *arg, int64_t ms)
{
	(void)arg;
	(void)ms;
}

/* out: was a download begun, with these certificates alone? */
static bool is_begun(const char *ca)
{
	static const struct kz_http_addr here = { 4, { 127, 0, 0, 1 } };
	const struct kz_get_ask ask = { .url = "https://127.0.0.1:9/",
					.port = 9,
					.addrs = &here,
					.addr_count = 1,
					.ca = ca,
					.connect = KZ_SECONDS(1) };
	struct kz_http_flow *f = NULL;
	struct kz_http_get *g;
	bool is;

	assert_int_equal(KZ_OK, kz_http_flow_new(&f, watch, timer, NULL, NULL));
	g = kz_http_get(f, &ask);
	is = g != NULL;
	if (g)
		kz_http_get_cancel(g);
	kz_http_flow_free(f);
	return is;
}

/* A registry's own certificates that are not taken would leave those of the machine [BRK-8]. */
static void brk8_certificates_that_are_not_taken_ask_nobody(void **state)
{
	char *ca = malloc(TOO_MUCH + 1);

	(void)state;
	assert_non_null(ca);
	memset(ca, '\n', TOO_MUCH);
	ca[TOO_MUCH] = '\0';
	assert_true(is_begun("\n"));
	assert_false(is_begun(ca));
	free(ca);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(brk8_certificates_that_are_not_taken_ask_nobody),
	};

	return cmocka_run_group_tests_name("http_flow", tests, NULL, NULL);
}
