/* cli: option tables, output, the end of a program, who may call. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/log.h"
#include "cli/caller.h"
#include "cli/main.h"
#include "cli/opt.h"
#include "cli/out.h"
#include "rule/reason.h"

struct options {
	bool force;
	int64_t ms;
	const char *actor;
	struct kz_opt_list inputs;
};

/* Parse a command line; what it printed stays in cli->out. */
static bool parse(struct kz_cli *cli, struct options *o, int argc, const char *const *argv,
		  int most)
{
	const struct kz_opt opts[] = {
		{ 'f', "force", KZ_OPT_FLAG, &o->force, NULL, "do it", 0, 0 },
		{ 't', "timeout", KZ_OPT_INT, &o->ms, "MS", "longest time", 1, 1000 },
		{ 'A', "actor", KZ_OPT_TEXT, &o->actor, "ACTOR", "who", 0, 0 },
		{ 'i', "input", KZ_OPT_LIST, &o->inputs, "FILE", "input", 0, 0 },
		{ 0, "token-fd", KZ_OPT_INT, &o->ms, "N", "token", 0, 1000 },
		KZ_OPT_JSON(cli),
		KZ_OPT_END,
	};
	const struct kz_usage u = { .program = "kz-test",
				    .synopsis = "[-f] FILE",
				    .what = "test",
				    .opts = opts,
				    .least = 1,
				    .most = most };

	kz_opt_list_release(&o->inputs);
	memset(o, 0, sizeof(*o));
	kz_buf_release(&cli->out);
	memset(cli, 0, sizeof(*cli));
	cli->program = "kz-test";
	kz_buf_init(&cli->out, 1 << 20);
	return kz_opt_parse(cli, &u, argc, (char **)(uintptr_t)argv);
}

#define ARGV(...)                                                                                  \
	(const char *const[])                                                                      \
	{                                                                                          \
		"kz-test", __VA_ARGS__, NULL                                                       \
	}
#define PARSE(cli, o, ...)                                                                         \
	parse(cli, o, (int)(sizeof(ARGV(__VA_ARGS__)) / sizeof(char *)) - 1, ARGV(__VA_ARGS__), -1)

static void options_in_every_form(void **state)
{
	struct kz_cli cli = { 0 };
	struct options o = { 0 };

	(void)state;
	assert_true(
		PARSE(&cli, &o, "-ft5", "-A", "x", "--input=a", "--input", "b", "-ic", "op", "-f"));
	assert_true(o.force);
	assert_int_equal(o.ms, 5);
	assert_string_equal(o.actor, "x");
	assert_int_equal(o.inputs.count, 3);
	assert_string_equal(o.inputs.items[0], "a");
	assert_string_equal(o.inputs.items[2], "c");
	assert_int_equal(cli.operand_count, 2);
	assert_string_equal(cli.operands[1], "-f");
	assert_true(PARSE(&cli, &o, "-A", "", "--", "--force"));
	assert_string_equal(o.actor, "");
	assert_string_equal(cli.operands[0], "--force");
	assert_true(PARSE(&cli, &o, "-"));
	assert_string_equal(cli.operands[0], "-");
	assert_true(PARSE(&cli, &o, "-A", "--force", "--actor=--", "--token-fd", "3", "x"));
	assert_string_equal(o.actor, "--");
	kz_opt_list_release(&o.inputs);
	kz_buf_release(&cli.out);
}

static void options_that_are_wrong_are_usage(void **state)
{
	static const char *const bad[][4] = {
		{ "-x", "op", NULL },
		{ "--unknown", "op", NULL },
		{ "--forc", "op", NULL },
		{ "--force=1", "op", NULL },
		{ "-t", NULL },
		{ "--timeout", NULL },
		{ "-t", "0", "op", NULL },
		{ "-t", "1001", "op", NULL },
		{ "-t", "1s", "op", NULL },
		{ "-t", "", "op", NULL },
		{ "--timeout=", "op", NULL },
		{ "--=x", "op", NULL },
		{ NULL },
		{ "-f", NULL },
		{ "--", NULL },
		{ "-\n", "op", NULL },
		{ "---force", "op", NULL },
		{ "-f-", "op", NULL },
	};
	struct kz_cli cli = { 0 };
	struct options o = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		const char *argv[6] = { "kz-test" };
		int argc = 1;

		for (; bad[i][argc - 1]; argc++)
			argv[argc] = bad[i][argc - 1];
		assert_false(parse(&cli, &o, argc, argv, -1));
		assert_int_equal(cli.err.rc, KZ_E_USAGE);
		assert_string_equal(cli.err.reason, "usage");
		assert_null(strchr(cli.err.text, '\n'));
		assert_non_null(strstr(cli.err.text, "kz-test -h"));
	}
	kz_opt_list_release(&o.inputs);
	kz_buf_release(&cli.out);
}

static void options_no_arguments_at_all(void **state)
{
	struct kz_cli cli = { 0 };
	struct options o = { 0 };

	(void)state;
	assert_false(parse(&cli, &o, 0, (const char *const[]){ NULL }, -1));
	assert_int_equal(cli.err.rc, KZ_E_USAGE);
	assert_false(parse(&cli, &o, 3, ARGV("a", "b"), 1));
	assert_non_null(strstr(cli.err.text, "unexpected operand: b"));
	kz_buf_release(&cli.out);
}

static void options_json_counts_also_after_a_mistake(void **state)
{
	struct kz_cli cli = { 0 };
	struct options o = { 0 };

	(void)state;
	assert_false(PARSE(&cli, &o, "--bad", "-j", "op"));
	assert_true(cli.json);
	assert_non_null(strstr(cli.err.text, "--bad"));
	kz_buf_release(&cli.out);
}

static void options_a_huge_argument_is_told_in_short(void **state)
{
	struct kz_cli cli = { 0 };
	struct options o = { 0 };
	char *huge = malloc(1000003);

	(void)state;
	memset(huge, '-', 1000002);
	huge[1000002] = '\0';
	assert_false(PARSE(&cli, &o, huge, "op"));
	assert_true(strlen(cli.err.text) < 200);
	assert_false(PARSE(&cli, &o, "-t", huge, "op"));
	assert_true(strlen(cli.err.text) < 400);
	free(huge);
	kz_buf_release(&cli.out);
}

static void options_fuzzed_never_crash(void **state)
{
	static const char *const words[] = {
		"-",      "--",      "-f", "-t", "-t7",   "--timeout=9", "--input", "-j",
		"-h",     "-V",      "x",  "",   "-\xff", "--\xff=\n",   "-ffff",   "-fjt",
		"--json", "--json=", "-A", "=",  "-i",    "---",         "--h",     "-Ah"
	};
	struct kz_cli cli = { 0 };
	struct options o = { 0 };
	unsigned seed = 20240607;

	(void)state;
	for (int round = 0; round < 20000; round++) {
		const char *argv[12] = { "kz-test" };
		int argc = 1;

		for (seed = seed * 1103515245U + 12345U; argc < (int)((seed >> 16) % 11) + 1;
		     argc++)
			argv[argc] = words[(seed = seed * 1103515245U + 12345U, seed >> 16) %
					   (sizeof(words) / sizeof(words[0]))];
		if (parse(&cli, &o, argc, argv, -1))
			assert_int_equal(cli.err.rc, KZ_OK);
		else
			assert_true(cli.err.rc == KZ_E_USAGE ||
				    (cli.err.rc == KZ_OK && cli.out.len > 0));
	}
	kz_log_init("kz-test", KZ_LOG_INFO);
	kz_opt_list_release(&o.inputs);
	kz_buf_release(&cli.out);
}

static void help_has_every_option(void **state)
{
	struct kz_cli cli = { 0 };
	struct options o = { 0 };
	static const char *const wanted[] = { "usage: kz-test [-f] FILE\n",
					      "-f, --force",
					      "-t, --timeout MS",
					      "    --token-fd N",
					      "-j, --json",
					      "-h, --help",
					      "-V, --version",
					      "-v, --verbose" };

	(void)state;
	assert_false(PARSE(&cli, &o, "-h"));
	assert_int_equal(cli.err.rc, KZ_OK);
	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
		assert_non_null(strstr(kz_buf_str(&cli.out), wanted[i]));
	kz_buf_release(&cli.out);
}

/* Run a program's body in a child; collect stdout, stderr and status. */
static int child(int (*body)(void), const char *stdout_path, struct kz_buf *out, struct kz_buf *err)
{
	int o[2], e[2], status;
	pid_t pid;

	assert_int_equal(pipe(o) | pipe(e), 0);
	pid = fork();
	if (pid == 0) {
		dup2(stdout_path ? open(stdout_path, O_WRONLY) : o[1], 1);
		dup2(e[1], 2);
		close(o[0]);
		close(o[1]);
		close(e[0]);
		close(e[1]);
		_exit(body());
	}
	close(o[1]);
	close(e[1]);
	if (!out)
		close(o[0]);
	else
		kz_fd_read_all(o[0], out, NULL);
	kz_fd_read_all(e[0], err, NULL);
	if (out)
		close(o[0]);
	close(e[0]);
	waitpid(pid, &status, 0);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static int body_prints(void)
{
	struct kz_cli cli;

	kz_main_start(&cli, "kz-test");
	for (int i = 0; i < 10000; i++)
		kz_out_text(&cli, "line %d of ten thousand\n", i);
	return kz_main_end(&cli, KZ_OK);
}

static int body_refuses(void)
{
	struct kz_cli cli;

	kz_main_start(&cli, "kz-test");
	cli.json = true;
	return kz_main_end(&cli,
			   kz_refuse(&cli.err, KZ_R_QUEUE_FULL, "256 of 256 tickets \"x\"\n\xff"));
}

static int body_bare_code(void)
{
	struct kz_cli cli;

	kz_main_start(&cli, "kz-test");
	return kz_main_end(&cli, KZ_E_UNAVAILABLE);
}

static int body_own_status(void)
{
	struct kz_cli cli;

	kz_main_start(&cli, "kz-test");
	cli.verb = "do";
	return kz_main_end_as(&cli, kz_refuse(&cli.err, KZ_R_WALL_EXCEEDED, NULL), 124);
}

static void end_tells_stdout_that_did_not_go_out(void **state)
{
	kz_auto_buf struct kz_buf out = KZ_BUF_INIT(1 << 20);
	kz_auto_buf struct kz_buf err = KZ_BUF_INIT(1000);

	(void)state;
	assert_int_equal(child(body_prints, NULL, &out, &err), 0);
	assert_non_null(strstr(kz_buf_str(&out), "line 9999 of"));
	assert_int_equal(child(body_prints, "/dev/full", &out, &err), 74);
	assert_string_equal(
		kz_buf_str(&err),
		"kz-test: stdout_failed: cannot write standard output: no space left on device\n");
	kz_buf_clear(&err);
	/* The reader is gone. */
	assert_int_equal(child(body_prints, NULL, NULL, &err), 141);
	assert_string_equal(kz_buf_str(&err), "");
}

static void exec16_end_tells_a_failure_once_with_its_reason(void **state)
{
	kz_auto_buf struct kz_buf out = KZ_BUF_INIT(1000);
	kz_auto_buf struct kz_buf err = KZ_BUF_INIT(1000);

	(void)state;
	assert_int_equal(child(body_refuses, NULL, &out, &err), 75);
	assert_string_equal(kz_buf_str(&err),
			    "kz-test: queue_full: 256 of 256 tickets \"x\"?\xff\n");
	assert_string_equal(
		kz_buf_str(&out),
		"{\"v\":1,\"type\":\"error\",\"reason\":\"queue_full\",\"status\":75,\"text\":\"queue_full\"}\n");
	kz_buf_clear(&err);
	kz_buf_clear(&out);
	assert_int_equal(child(body_bare_code, NULL, &out, &err), 69);
	assert_string_equal(kz_buf_str(&err),
			    "kz-test: service_unavailable: a needed service does not answer\n");
	kz_buf_clear(&err);
	assert_int_equal(child(body_own_status, NULL, &out, &err), 124);
	assert_non_null(strstr(kz_buf_str(&err), "kz-test do: wall_exceeded: "));
	assert_int_equal(out.len, 0);
}

static int body_start_closed(void)
{
	struct kz_cli cli;
	struct stat a, b;

	close(0);
	close(1);
	signal(SIGCHLD, SIG_IGN);
	kz_main_start(&cli, "kz-test");
	/* What is opened next must not become standard output. */
	if (fstat(0, &a) || fstat(1, &b) || open("/dev/null", O_RDONLY) < 3 || umask(077) != 077)
		return 1;
	return signal(SIGPIPE, SIG_DFL) == SIG_IGN && signal(SIGCHLD, SIG_DFL) == SIG_DFL ? 0 : 2;
}

static void start_opens_what_was_closed(void **state)
{
	kz_auto_buf struct kz_buf err = KZ_BUF_INIT(1000);

	(void)state;
	assert_int_equal(child(body_start_closed, NULL, NULL, &err), 0);
}

static void rows(struct kz_cli *cli, bool json)
{
	const struct kz_column columns[] = { { "name", "NAME", NULL },
					     { "size", "SIZE", kz_out_format_bytes },
					     { "none", "NONE", NULL },
					     { NULL, NULL, NULL } };
	kz_auto_table struct kz_table t;
	struct kz_json *j = kz_out_object("row");

	memset(cli, 0, sizeof(*cli));
	kz_buf_init(&cli->out, 1 << 20);
	cli->json = json;
	kz_table_start(&t, cli, columns);
	kz_json_set_str(j, "name", "a\x1b[2J\n\xc3\xa9");
	kz_json_set_int(j, "size", 1536);
	assert_int_equal(kz_table_row(&t, j), KZ_OK);
	j = kz_out_object("row");
	kz_json_set_str(j, "name", "b");
	assert_int_equal(kz_table_row(&t, j), KZ_OK);
	assert_int_equal(kz_table_end(&t, "nothing"), KZ_OK);
}

/* A digest of which a half is missing must not look whole, and a character is never halved. */
static void long_cells_say_so(void **state)
{
	const struct kz_column columns[] = { { "name", "NAME", NULL }, { NULL, NULL, NULL } };
	char text[400], want[400];
	struct kz_cli cli;

	(void)state;
	for (size_t n = 254; n <= 257; n++) {
		for (int two = 0; two < 2; two++) {
			struct kz_json *j = kz_out_object("row");

			memset(text, 'x', n);
			if (two)
				memcpy(text + 251, "\xc3\xa9", 2);
			text[n] = '\0';
			memcpy(want, text, n + 1);
			if (n > 255)
				memcpy(want + (two ? 251 : 252), "...", 4);
			memset(&cli, 0, sizeof(cli));
			kz_buf_init(&cli.out, 1 << 20);
			kz_json_set_str(j, "name", text);
			assert_int_equal(kz_out_record(&cli, columns, j), KZ_OK);
			assert_non_null(strstr(kz_buf_str(&cli.out), want));
			assert_string_equal(strstr(kz_buf_str(&cli.out), want) + strlen(want),
					    "\n");
			kz_buf_release(&cli.out);
		}
	}
}

static void tables_are_lines_or_columns(void **state)
{
	struct kz_cli cli;

	(void)state;
	rows(&cli, false);
	assert_string_equal(kz_buf_str(&cli.out), "NAME     SIZE     NONE\n"
						  "a?[2J?\xc3\xa9  1.5 KiB  -\n"
						  "b        -        -\n");
	kz_buf_release(&cli.out);
	rows(&cli, true);
	assert_string_equal(
		kz_buf_str(&cli.out),
		"{\"v\":1,\"type\":\"row\",\"name\":\"a\\u001B[2J\\n\xc3\xa9\",\"size\":1536}\n"
		"{\"v\":1,\"type\":\"row\",\"name\":\"b\"}\n");
	kz_buf_release(&cli.out);
}

static void values_have_a_form_for_people(void **state)
{
	kz_auto_json struct kz_json *n = kz_json_int(1700000000123);
	kz_auto_json struct kz_json *s = kz_json_string("x");
	char out[64];

	(void)state;
	kz_out_format_time(n, out, sizeof(out));
	assert_string_equal(out, "2023-11-14 22:13:20");
	kz_out_format_ms(n, out, sizeof(out));
	assert_string_equal(out, "1700000000.123 s");
	kz_out_format_time(s, out, sizeof(out));
	assert_string_equal(out, "-");
	kz_out_format_bytes(NULL, out, sizeof(out));
	assert_string_equal(out, "-");
}

static int body_stranger(void)
{
	struct kz_err err = KZ_ERR_INIT;

	if (setgid(54321) || setuid(54321))
		return 9;
	if (kz_caller_check("/root", "", &err) != KZ_E_NOPERM ||
	    strcmp(err.reason, "no_permission") != 0)
		return 1;
	if (kz_caller_check("/root", "root", &err) != KZ_E_NOPERM ||
	    !strstr(err.text, "usermod -aG root 54321"))
		return 2;
	if (kz_caller_check("/root", "no-such-group", &err) != KZ_E_NOPERM ||
	    !strstr(err.text, "groupadd"))
		return 3;
	return 0;
}

static int body_member(void)
{
	const gid_t adm[] = { 4 };

	if (setgroups(1, adm) || setgid(54321) || setuid(54321))
		return 9;
	return kz_caller_check("/root", "adm", NULL) == KZ_OK ? 0 : 1;
}

static void only_root_owner_and_group_may_call(void **state)
{
	kz_auto_buf struct kz_buf err = KZ_BUF_INIT(1000);

	(void)state;
	if (geteuid() != 0)
		return;
	assert_int_equal(kz_caller_check("/nonexistent", "", NULL), KZ_OK);
	assert_int_equal(child(body_stranger, NULL, NULL, &err), 0);
	assert_int_equal(child(body_member, NULL, NULL, &err), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(options_in_every_form),
		cmocka_unit_test(options_that_are_wrong_are_usage),
		cmocka_unit_test(options_no_arguments_at_all),
		cmocka_unit_test(options_json_counts_also_after_a_mistake),
		cmocka_unit_test(options_a_huge_argument_is_told_in_short),
		cmocka_unit_test(options_fuzzed_never_crash),
		cmocka_unit_test(help_has_every_option),
		cmocka_unit_test(end_tells_stdout_that_did_not_go_out),
		cmocka_unit_test(exec16_end_tells_a_failure_once_with_its_reason),
		cmocka_unit_test(start_opens_what_was_closed),
		cmocka_unit_test(long_cells_say_so),
		cmocka_unit_test(tables_are_lines_or_columns),
		cmocka_unit_test(values_have_a_form_for_people),
		cmocka_unit_test(only_root_owner_and_group_may_call),
	};

	return cmocka_run_group_tests_name("cli", tests, NULL, NULL);
}
