/* The client of drivers: three-valued answers from drivers of every kind of badness [POOL-25]. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/str.h"
#include "core/driver/driver.h"
#include "port/json.h"

static char program[64];

/* A driver written in shell: body sees the request as $r. */
static void write_driver(const char *body)
{
	char text[1024];

	snprintf(text, sizeof text, "#!/bin/sh\nread -r r\n%s\n", body);
	assert_int_equal(
		kz_file_replace(AT_FDCWD, program, text, strlen(text), 0755, (gid_t)-1, NULL), 0);
}

/* Ask it. out: the reason in its reply ("" for none) */
static enum kz_answer ask(const char *body, int64_t ms, char reason[64])
{
	kz_auto_json struct kz_json *q = kz_json_object();
	kz_auto_json struct kz_json *reply = NULL;
	enum kz_answer a = KZ_ANSWER_UNKNOWN;

	write_driver(body);
	kz_json_set_int(q, "v", 1);
	kz_json_set_str(q, "verb", "get");
	kz_json_set_str(q, "worker", "w");
	assert_int_equal(
		kz_driver_call(program, "/tmp", q, kz_deadline_in(KZ_MS(ms)), &reply, &a, NULL), 0);
	assert_non_null(reply);
	assert_int_equal(kz_str_copy(reason, 64, kz_json_str(reply, "reason", ""), NULL), 0);
	return a;
}

/* End the child whose number the driver left beside itself. */
static void end_child(void)
{
	char path[80];
	FILE *f;
	int pid = 0;

	snprintf(path, sizeof path, "%s.pid", program);
	f = fopen(path, "re");
	assert_non_null(f);
	assert_int_equal(fscanf(f, "%d", &pid), 1);
	fclose(f);
	assert_int_equal(kill(pid, SIGKILL), 0);
}

static void pool25_clear_words(void **state)
{
	char reason[64];

	(void)state;
	assert_int_equal(ask("echo '{\"answer\":\"absent\"}'", 60000, reason), KZ_ANSWER_ABSENT);
	assert_int_equal(ask("echo '{\"answer\":\"present\"}'", 60000, reason), KZ_ANSWER_PRESENT);
	assert_int_equal(ask("echo '{\"answer\":\"unknown\",\"reason\":\"x\"}'", 60000, reason),
			 KZ_ANSWER_UNKNOWN);
	assert_string_equal(reason, "x");
	assert_int_equal(ask("echo '{\"ok\":true}'", 60000, reason), KZ_ANSWER_PRESENT);
	assert_int_equal(ask("echo '{\"ok\":false}'", 60000, reason), KZ_ANSWER_UNKNOWN);
}

static void pool25_anything_else_is_unknown(void **state)
{
	static const char *const bodies[] = {
		"echo '{\"answer\":\"Absent\"}'",
		"echo '{\"answer\":true}'",
		"echo '{\"answer\":\"\"}'",
		"echo '{}'",
	};
	char reason[64];

	(void)state;
	for (size_t i = 0; i < sizeof bodies / sizeof bodies[0]; i++)
		assert_int_equal(ask(bodies[i], 60000, reason), KZ_ANSWER_UNKNOWN);
}

static void pool24_malformed_is_unknown_with_a_reason(void **state)
{
	static const char *const bodies[] = {
		"echo absent",
		"echo '[\"absent\"]'",
		"echo '{\"answer\":\"absent\"'",
		"echo '{\"answer\":\"absent\",\"answer\":\"present\"}'",
		"echo",
	};
	char reason[64];

	(void)state;
	for (size_t i = 0; i < sizeof bodies / sizeof bodies[0]; i++) {
		assert_int_equal(ask(bodies[i], 60000, reason), KZ_ANSWER_UNKNOWN);
		assert_string_equal(reason, "driver_protocol");
	}
}

static void fence4_death_is_unknown(void **state)
{
	static const char *const bodies[] = {
		"exit 0", "kill -9 $$",
		"printf '{\"answer\":\"absent\"}'; exit 1", /* no end of line: perhaps cut */
	};
	char reason[64];

	(void)state;
	for (size_t i = 0; i < sizeof bodies / sizeof bodies[0]; i++) {
		assert_int_equal(ask(bodies[i], 60000, reason), KZ_ANSWER_UNKNOWN);
		assert_string_equal(reason, "driver_failed");
	}
}

static void fence4_silence_is_unknown_and_ends(void **state)
{
	char reason[64];

	(void)state;
	assert_int_equal(
		ask("sleep 1000 & sleep 1000; echo '{\"answer\":\"absent\"}'", 300, reason),
		KZ_ANSWER_UNKNOWN);
	assert_string_equal(reason, "driver_failed");
}

static void pool24_an_answer_counts_although_the_driver_stays(void **state)
{
	char reason[64];

	(void)state;
	/* A child that keeps standard output open, and a driver that does not leave. */
	assert_int_equal(
		ask("sleep 1000 & echo $! >$0.pid; echo '{\"answer\":\"absent\"}'", 60000, reason),
		KZ_ANSWER_ABSENT);
	end_child();
	assert_int_equal(ask("echo '{\"answer\":\"present\"}'; sleep 1000", 60000, reason),
			 KZ_ANSWER_PRESENT);
}

static void pool24_the_request_arrives_and_the_state_too(void **state)
{
	char reason[64];

	(void)state;
	assert_int_equal(
		ask("[ \"$r\" = '{\"v\":1,\"verb\":\"get\",\"worker\":\"w\"}' ] && [ $KZ_STATE = /tmp ] && "
		    "[ -z \"$HOME\" ] && echo '{\"answer\":\"absent\"}'",
		    60000, reason),
		KZ_ANSWER_ABSENT);
}

static void pool24_a_missing_driver_is_told(void **state)
{
	kz_auto_json struct kz_json *q = kz_json_object();
	kz_auto_json struct kz_json *reply = NULL;
	struct kz_err err = KZ_ERR_INIT;
	enum kz_answer a;

	(void)state;
	assert_int_equal(kz_driver_call("/nonexistent/driver", "/tmp", q,
					kz_deadline_in(KZ_MS(1000)), &reply, &a, &err),
			 KZ_E_NOINPUT);
}

static int setup(void **state)
{
	static char dir[] = "/tmp/kz-driver.XXXXXX";

	if (!mkdtemp(dir))
		return -1;
	snprintf(program, sizeof program, "%s/driver", dir);
	*state = dir;
	return 0;
}

static int teardown(void **state)
{
	return kz_tree_remove(AT_FDCWD, *state, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pool25_clear_words),
		cmocka_unit_test(pool25_anything_else_is_unknown),
		cmocka_unit_test(pool24_malformed_is_unknown_with_a_reason),
		cmocka_unit_test(fence4_death_is_unknown),
		cmocka_unit_test(fence4_silence_is_unknown_and_ends),
		cmocka_unit_test(pool24_an_answer_counts_although_the_driver_stays),
		cmocka_unit_test(pool24_the_request_arrives_and_the_state_too),
		cmocka_unit_test(pool24_a_missing_driver_is_told),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
