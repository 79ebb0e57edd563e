/* core/run/source: which language a program is in, and how it is started [EXEC-3]. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "core/run/source.h"

static char dir[] = "/tmp/kz-test.XXXXXX";

static int enter(void **state)
{
	(void)state;
	return mkdtemp(dir) && chdir(dir) == 0 ? 0 : -1;
}

static int leave(void **state)
{
	(void)state;
	return chdir("/") == 0 && rmdir(dir) == 0 ? 0 : -1;
}

static void write_file(const char *name, const void *p, size_t n)
{
	int fd = open(name, O_CREAT | O_TRUNC | O_WRONLY, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, p, n), n);
	close(fd);
}

/* Read a file of this content; the reason of the failure, "" for none. */
static const char *read_as(const char *name, const char *text, const char *language,
			   struct kz_source *s)
{
	static struct kz_err err;

	memset(&err, 0, sizeof(err));
	write_file(name, text, strlen(text));
	if (!kz_source_read(s, name, NULL, language, -1, &err))
		err.reason[0] = 0;
	unlink(name);
	return err.reason;
}

static void test_exec3_language_by_option_suffix_shebang_else_python(void **state)
{
	static const struct {
		const char *name, *text, *option;
		enum kz_language want;
	} rows[] = {
		{ "a.py", "", NULL, KZ_LANG_PYTHON },
		{ "a.js", "", NULL, KZ_LANG_NODE },
		{ "a.mjs", "#!/bin/sh\n", NULL, KZ_LANG_NODE },
		{ "a.sh", "", NULL, KZ_LANG_SHELL },
		{ "a.sh", "", "python", KZ_LANG_PYTHON },
		{ "a", "#!/usr/bin/env node\n1", NULL, KZ_LANG_NODE },
		{ "a", "#!/usr/bin/env -S python3.11 -u\n", NULL, KZ_LANG_PYTHON },
		{ "a", "#! /bin/sh -e", NULL, KZ_LANG_SHELL },
		{ "a", "#!/bin/bash\r\n", NULL, KZ_LANG_SHELL },
		{ "a", "#!", NULL, KZ_LANG_PYTHON },
		{ "a", "#", NULL, KZ_LANG_PYTHON },
		{ "a", "", NULL, KZ_LANG_PYTHON },
		{ "a.txt", "print(1)", NULL, KZ_LANG_PYTHON },
		{ ".py", "", NULL, KZ_LANG_PYTHON },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct kz_source s;

		assert_string_equal(read_as(rows[i].name, rows[i].text, rows[i].option, &s), "");
		assert_int_equal(s.language, rows[i].want);
		kz_source_release(&s);
	}
}

static void test_exec3_unsupported_languages_are_refused(void **state)
{
	struct kz_source s;

	(void)state;
	assert_string_equal(read_as("a", "", "ruby", &s), "unsupported_language");
	kz_source_release(&s);
	assert_string_equal(read_as("a", "", "", &s), "unsupported_language");
	kz_source_release(&s);
	assert_string_equal(read_as("a", "#!/usr/bin/perl\n", NULL, &s), "unsupported_language");
	kz_source_release(&s);
}

static void test_exec3_the_command(void **state)
{
	const char *args[] = { "-x", "" };
	char path[300];
	struct kz_source s;
	const char **argv;

	(void)state;
	assert_string_equal(read_as("my prog", "#!/bin/sh\n", NULL, &s), "");
	argv = kz_source_argv(&s, args, 2, path);
	assert_string_equal(argv[0], "/bin/sh");
	assert_string_equal(argv[1], "/work/code/my prog");
	assert_string_equal(argv[2], "-x");
	assert_string_equal(argv[3], "");
	assert_null(argv[4]);
	free(argv);
	kz_source_release(&s);

	/* A name that says another language than asked for would mislead the interpreter. */
	assert_string_equal(read_as("a.py", "1", "node", &s), "");
	assert_string_equal(s.name, "main.js");
	kz_source_release(&s);
}

static void test_exec3_code_of_an_option_goes_by_argument(void **state)
{
	struct kz_err err = KZ_ERR_INIT;
	char path[300], *big = malloc(40001);
	struct kz_source s;
	const char **argv;

	(void)state;
	assert_int_equal(kz_source_read(&s, NULL, "print(1)", NULL, -1, &err), KZ_OK);
	argv = kz_source_argv(&s, NULL, 0, path);
	assert_string_equal(argv[0], "/usr/bin/python3");
	assert_string_equal(argv[1], "-B");
	assert_string_equal(argv[2], "-c");
	assert_string_equal(argv[3], "print(1)");
	assert_null(argv[4]);
	free(argv);
	kz_source_release(&s);
	/* too long for an argument, not UTF-8, or an option in node's eyes: a file */
	memset(big, 'a', 40000);
	big[40000] = 0;
	assert_int_equal(kz_source_read(&s, NULL, big, NULL, -1, &err), KZ_OK);
	assert_null(s.text);
	assert_int_equal(s.size, 40000);
	kz_source_release(&s);
	assert_int_equal(kz_source_read(&s, NULL, "\xff", "node", -1, &err), KZ_OK);
	assert_null(s.text);
	assert_string_equal(s.name, "main.js");
	kz_source_release(&s);
	assert_int_equal(kz_source_read(&s, NULL, "-1", "node", -1, &err), KZ_OK);
	assert_null(s.text);
	kz_source_release(&s);
	free(big);
}

static void test_bound12_program_size_at_both_edges(void **state)
{
	struct kz_err err = KZ_ERR_INIT;
	struct kz_source s;
	char *text = malloc(KZ_SOURCE_MAX + 1);

	(void)state;
	assert_non_null(text);
	memset(text, '#', KZ_SOURCE_MAX + 1);
	write_file("a.py", text, KZ_SOURCE_MAX);
	assert_int_equal(kz_source_read(&s, "a.py", NULL, NULL, -1, &err), KZ_OK);
	assert_int_equal(s.size, KZ_SOURCE_MAX);
	kz_source_release(&s);
	write_file("a.py", text, KZ_SOURCE_MAX + 1);
	assert_int_not_equal(kz_source_read(&s, "a.py", NULL, NULL, -1, &err), KZ_OK);
	assert_string_equal(err.reason, "code_unreadable");
	kz_source_release(&s);
	free(text);
	unlink("a.py");
}

static void test_exec3_unreadable_programs(void **state)
{
	struct kz_err err = KZ_ERR_INIT;
	struct kz_source s;
	int cancel[2];

	(void)state;
	assert_int_not_equal(kz_source_read(&s, "missing", NULL, NULL, -1, &err), KZ_OK);
	assert_string_equal(err.reason, "code_unreadable");
	kz_source_release(&s);
	assert_int_not_equal(kz_source_read(&s, "/", NULL, NULL, -1, &err), KZ_OK);
	assert_string_equal(err.reason, "code_unreadable");
	kz_source_release(&s);
	/* a named pipe that nobody writes to can be given up */
	assert_int_equal(mkfifo("fifo", 0600), 0);
	assert_int_equal(pipe(cancel), 0);
	assert_int_equal(write(cancel[1], "x", 1), 1);
	assert_int_not_equal(kz_source_read(&s, "fifo", NULL, NULL, cancel[0], &err), KZ_OK);
	assert_string_equal(err.reason, "cancelled");
	kz_source_release(&s);
	close(cancel[0]);
	close(cancel[1]);
	unlink("fifo");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_exec3_language_by_option_suffix_shebang_else_python),
		cmocka_unit_test(test_exec3_unsupported_languages_are_refused),
		cmocka_unit_test(test_exec3_the_command),
		cmocka_unit_test(test_exec3_code_of_an_option_goes_by_argument),
		cmocka_unit_test(test_bound12_program_size_at_both_edges),
		cmocka_unit_test(test_exec3_unreadable_programs),
	};

	return cmocka_run_group_tests(tests, enter, leave);
}
