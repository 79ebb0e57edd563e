/* base: child processes, their identity, signals, log lines, time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/log.h"
#include "base/proc.h"
#include "base/sig.h"
#include "base/sys.h"

static enum kz_rc run(const char *script, const char *in, size_t n, struct kz_buf *out,
		      struct kz_buf *err, int ms, int *status)
{
	const char *const argv[] = { "sh", "-c", script, NULL };

	return kz_proc_run(argv, in, n, out, err, kz_deadline_in(KZ_MS(ms)), status, NULL);
}

static void run_collects_output_and_status(void **state)
{
	kz_auto_buf struct kz_buf out = KZ_BUF_INIT(100);
	kz_auto_buf struct kz_buf err = KZ_BUF_INIT(100);
	int status = -1;

	(void)state;
	assert_int_equal(run("cat; echo e >&2; exit 7", "in", 2, &out, &err, 10000, &status),
			 KZ_OK);
	assert_int_equal(status, 7);
	assert_string_equal(kz_buf_str(&out), "in");
	assert_string_equal(kz_buf_str(&err), "e\n");
	assert_int_equal(run("kill -9 $$", NULL, 0, NULL, NULL, 10000, &status), KZ_OK);
	assert_int_equal(status, 137);
}

static void run_takes_large_input_that_nobody_reads(void **state)
{
	size_t n = 4 << 20;
	char *in = calloc(1, n);
	int status;

	(void)state;
	assert_int_equal(run("true", in, n, NULL, NULL, 10000, &status), KZ_OK);
	assert_int_equal(status, 0);
	free(in);
}

static void run_drops_output_over_the_maximum_and_goes_on(void **state)
{
	kz_auto_buf struct kz_buf out = KZ_BUF_INIT(1000);
	int status = -1;

	(void)state;
	assert_int_equal(
		run("head -c 5000000 /dev/zero; exit 3", NULL, 0, &out, NULL, 20000, &status),
		KZ_OK);
	assert_int_equal(status, 3);
	assert_int_equal(out.len, 1000);
}

static void run_is_not_delayed_by_a_grandchild_with_the_pipe(void **state)
{
	kz_auto_buf struct kz_buf out = KZ_BUF_INIT(1000);
	int64_t start = kz_time_boot_ms();
	int status;

	(void)state;
	assert_int_equal(run("sleep 20 & echo $!", NULL, 0, &out, NULL, 15000, &status), KZ_OK);
	assert_true(kz_time_boot_ms() - start < 10000);
	kill((pid_t)strtol(kz_buf_str(&out), NULL, 10), SIGKILL);
}

static void run_past_the_deadline_kills_the_group(void **state)
{
	kz_auto_buf struct kz_buf out = KZ_BUF_INIT(1000);
	int status;
	pid_t child;

	(void)state;
	/* A slow machine may need longer until the shell has said something. */
	for (int64_t ms = 300; out.len == 0 && ms < 60000; ms *= 4)
		assert_int_equal(run("sleep 90 & echo $!; wait", NULL, 0, &out, NULL, ms, &status),
				 KZ_E_TEMPFAIL);
	child = (pid_t)strtol(kz_buf_str(&out), NULL, 10);
	assert_true(child > 1);
	for (int i = 0; i < 1500 && kill(child, 0) == 0; i++) {
		char path[64], line[256] = "";
		kz_auto_close int fd = -1;

		/* Killed, but perhaps nobody has waited for it here. */
		snprintf(path, sizeof(path), "/proc/%d/stat", child);
		fd = open(path, O_RDONLY);
		if (fd >= 0 && read(fd, line, sizeof(line) - 1) > 0 && strstr(line, ") Z"))
			return;
		kz_time_sleep(KZ_MS(20), KZ_NEVER);
	}
	assert_int_not_equal(kill(child, 0), 0);
}

static void spawn_missing_program_is_noinput(void **state)
{
	const char *const argv[] = { "/nonexistent/program", NULL };
	const char *const not_exec[] = { "/etc/passwd", NULL };
	struct kz_spawn s = { .argv = argv, .stdin_fd = -1, .stdout_fd = -1, .stderr_fd = -1 };
	struct kz_err err = KZ_ERR_INIT;
	pid_t pid;
	int pidfd;

	(void)state;
	assert_int_equal(kz_proc_spawn(&s, &pid, &pidfd, &err), KZ_E_NOINPUT);
	s.argv = not_exec;
	assert_int_equal(kz_proc_spawn(&s, &pid, &pidfd, &err), KZ_E_OS);
	s.argv = (const char *const[]){ "true", NULL };
	s.cwd = "/nonexistent";
	assert_int_equal(kz_proc_spawn(&s, &pid, &pidfd, &err), KZ_E_NOINPUT);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
}

static void exec1_spawn_passes_exactly_the_named_descriptors(void **state)
{
	/* Sources on purpose where targets go, and swapped. */
	const char *const argv[] = { "sh", "-c",
				     "ls /proc/self/fd | tr '\\n' ' '; cat <&3; cat <&4", NULL };
	int a[2], b[2], out[2], keep[2], status;
	kz_auto_buf struct kz_buf got = KZ_BUF_INIT(200);
	struct kz_spawn s = {
		.argv = argv, .stdin_fd = -1, .stderr_fd = -1, .keep_fds = keep, .keep_count = 2
	};
	pid_t pid;
	int pidfd, leak = open("/dev/null", O_RDONLY);

	(void)state;
	assert_int_equal(pipe(a), 0);
	assert_int_equal(pipe(b), 0);
	assert_int_equal(pipe(out), 0);
	assert_int_equal(write(a[1], "A", 1), 1);
	assert_int_equal(write(b[1], "B", 1), 1);
	close(a[1]);
	close(b[1]);
	dup2(a[0], 4);
	dup2(b[0], 3);
	keep[0] = 4;
	keep[1] = 3;
	s.stdout_fd = out[1];
	assert_int_equal(kz_proc_spawn(&s, &pid, &pidfd, NULL), KZ_OK);
	close(out[1]);
	assert_int_equal(kz_fd_read_all(out[0], &got, NULL), KZ_OK);
	assert_int_equal(kz_proc_wait(pid, pidfd, KZ_NEVER, &status, NULL), KZ_OK);
	assert_int_equal(status, 0);
	/* ls has one more of its own, for the directory it reads. */
	assert_string_equal(kz_buf_str(&got), "0 1 2 3 4 5 AB");
	close(pidfd);
	close(leak);
}

static void spawn_gives_default_signals(void **state)
{
	const char *const argv[] = { "sh", "-c",
				     "grep -E 'Sig(Blk|Ign)' /proc/self/status | tr -d '\\t\\n'",
				     NULL };
	kz_auto_buf struct kz_buf out = KZ_BUF_INIT(200);
	sigset_t all, old;
	int status;

	(void)state;
	signal(SIGPIPE, SIG_IGN);
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &old);
	assert_int_equal(kz_proc_run(argv, NULL, 0, &out, NULL, kz_deadline_in(KZ_SECONDS(10)),
				     &status, NULL),
			 KZ_OK);
	sigprocmask(SIG_SETMASK, &old, NULL);
	assert_string_equal(kz_buf_str(&out), "SigBlk:0000000000000000SigIgn:0000000000000000");
}

static void wait_at_the_deadline_leaves_the_child(void **state)
{
	const char *const argv[] = { "sleep", "30", NULL };
	struct kz_spawn s = { .argv = argv, .stdin_fd = -1, .stdout_fd = -1, .stderr_fd = -1 };
	int pidfd, status;
	pid_t pid;

	(void)state;
	assert_int_equal(kz_proc_spawn(&s, &pid, &pidfd, NULL), KZ_OK);
	assert_int_equal(kz_proc_wait(pid, pidfd, kz_deadline_in(KZ_MS(10)), &status, NULL),
			 KZ_E_TEMPFAIL);
	assert_int_equal(kill(pid, SIGTERM), 0);
	assert_int_equal(kz_proc_wait(pid, pidfd, KZ_NEVER, &status, NULL), KZ_OK);
	assert_int_equal(status, 128 + SIGTERM);
	close(pidfd);
}

static void identity_survives_text_and_tells_life(void **state)
{
	struct kz_proc_id id, again;
	char text[96];

	(void)state;
	assert_int_equal(kz_proc_self_id(&id, NULL), KZ_OK);
	kz_proc_id_format(&id, text, sizeof(text));
	assert_int_equal(kz_proc_id_parse(text, &again, NULL), KZ_OK);
	assert_int_equal(kz_proc_id_alive(&again), 1);
	again.start_ticks++;
	assert_int_equal(kz_proc_id_alive(&again), 0);
	again = id;
	again.boot_id[0] = again.boot_id[0] == '0' ? '1' : '0';
	assert_int_equal(kz_proc_id_alive(&again), -1);
	again = id;
	again.pid_ns++;
	assert_int_equal(kz_proc_id_alive(&again), -1);
}

static void identity_of_the_dead_and_of_zombies_is_gone(void **state)
{
	struct kz_proc_id id;
	int ends[2];
	pid_t child;

	(void)state;
	assert_int_equal(pipe(ends), 0);
	child = fork();
	if (child == 0) {
		struct kz_proc_id own;

		(void)!write(ends[1], &own, kz_proc_self_id(&own, NULL) ? 0 : sizeof(own));
		_exit(0);
	}
	assert_int_equal(read(ends[0], &id, sizeof(id)), sizeof(id));
	for (int i = 0; i < 3000 && kz_proc_id_alive(&id) == 1; i++)
		kz_time_sleep(KZ_MS(10), KZ_NEVER);
	assert_int_equal(kz_proc_id_alive(&id), 0);
	waitpid(child, NULL, 0);
	assert_int_equal(kz_proc_id_alive(&id), 0);
	close(ends[0]);
	close(ends[1]);
}

static void identity_refuses_malformed_text(void **state)
{
	static const char *const bad[] = {
		"",
		":",
		"1:2:3",
		"1:2:3:",
		"0:2:3:00000000-0000-0000-0000-000000000000",
		"-1:2:3:00000000-0000-0000-0000-000000000000",
		"1:2:3:00000000-0000-0000-0000-00000000000",
		"1:2:3:00000000-0000-0000-0000-0000000000000",
		"1:2:x:00000000-0000-0000-0000-000000000000",
		"99999999999:2:3:00000000-0000-0000-0000-000000000000",
		"1:99999999999999999999999999:3:00000000-0000-0000-0000-000000000000",
		"1:2:3:0000000/-0000-0000-0000-000000000000"
	};
	struct kz_proc_id id;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(kz_proc_id_parse(bad[i], &id, NULL), KZ_E_DATA);
}

static void signals_come_by_descriptor(void **state)
{
	const int want[] = { SIGUSR1, SIGTERM, 0 };
	int fd;

	(void)state;
	assert_int_equal(kz_sig_open(want, &fd, NULL), KZ_OK);
	assert_int_equal(kz_sig_next(fd), 0);
	kill(getpid(), SIGUSR1);
	kill(getpid(), SIGTERM);
	assert_int_not_equal(kz_sig_next(fd), 0);
	assert_int_not_equal(kz_sig_next(fd), 0);
	assert_int_equal(kz_sig_next(fd), 0);
	close(fd);
}

/* What kz_log writes to standard error. */
static void capture(struct kz_buf *b, const char *phrase, const char *value)
{
	int saved = dup(2), ends[2];

	assert_int_equal(pipe(ends), 0);
	dup2(ends[1], 2);
	errno = ENOENT;
	kz_log(KZ_LOG_INFO, phrase, "key", value, "none", NULL, "n", kz_log_int(-5), NULL);
	kz_log(KZ_LOG_DEBUG, "not written", NULL);
	assert_int_equal(errno, ENOENT);
	dup2(saved, 2);
	close(saved);
	close(ends[1]);
	assert_int_equal(kz_fd_read_all(ends[0], b, NULL), KZ_OK);
	close(ends[0]);
}

static void log_line_is_one_and_escaped(void **state)
{
	static const struct {
		const char *in, *out;
	} cases[] = {
		{ "plain", "plain" },          { "", "\"\"" },
		{ "a b", "\"a b\"" },          { "a\nb=c\"d\\", "\"a\\x0ab=c\\\"d\\\\\"" },
		{ "\x1b[2J", "\"\\x1b[2J\"" }, { "\xc2\x9b", "\\xc2\\x9b" },
		{ "\xff", "\\xff" },           { "\xc3\xa9", "\xc3\xa9" },
	};

	(void)state;
	kz_log_init("kz-test", KZ_LOG_INFO);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		kz_auto_buf struct kz_buf got = KZ_BUF_INIT(10000);
		char want[200];

		capture(&got, "it happened", cases[i].in);
		snprintf(want, sizeof(want), "kz-test: info: it happened key=%s n=-5\n",
			 cases[i].out);
		assert_string_equal(kz_buf_str(&got), want);
	}
}

static void log_line_has_a_bound(void **state)
{
	kz_auto_buf struct kz_buf got = KZ_BUF_INIT(100000);
	char *huge = malloc(50001);

	(void)state;
	memset(huge, '\n', 50000);
	huge[50000] = '\0';
	capture(&got, "it happened", huge);
	assert_int_equal(got.len, 4096);
	assert_int_equal(memchr(got.data, '\n', got.len) == got.data + 4095, 1);
	free(huge);
}

static void deadlines_do_not_overflow(void **state)
{
	(void)state;
	assert_true(kz_deadline_in(KZ_MS(INT64_MAX)).boot_ms == INT64_MAX);
	assert_true(kz_deadline_passed(kz_deadline_in(KZ_MS(-5))));
	assert_false(kz_deadline_passed(KZ_NEVER));
	assert_int_equal(kz_deadline_poll_ms(KZ_NEVER), -1);
	assert_int_equal(kz_deadline_poll_ms((struct kz_deadline){ 0 }), 0);
	assert_int_equal(kz_deadline_poll_ms(kz_deadline_in(KZ_MS(INT64_MAX / 2))), INT32_MAX);
	assert_true(kz_deadline_min(KZ_NEVER, (struct kz_deadline){ 5 }).boot_ms == 5);
	kz_time_sleep(KZ_SECONDS(100), kz_deadline_in(KZ_MS(5)));
}

static void sys_points_have_names(void **state)
{
	(void)state;
	for (int i = 0; i < KZ_SYS_COUNT; i++)
		assert_true(strlen(kz_sys_name((enum kz_sys_point)i)) > 2);
	assert_string_equal(kz_sys_name(KZ_SYS_COUNT), "?");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(run_collects_output_and_status),
		cmocka_unit_test(run_takes_large_input_that_nobody_reads),
		cmocka_unit_test(run_drops_output_over_the_maximum_and_goes_on),
		cmocka_unit_test(run_is_not_delayed_by_a_grandchild_with_the_pipe),
		cmocka_unit_test(run_past_the_deadline_kills_the_group),
		cmocka_unit_test(spawn_missing_program_is_noinput),
		cmocka_unit_test(exec1_spawn_passes_exactly_the_named_descriptors),
		cmocka_unit_test(spawn_gives_default_signals),
		cmocka_unit_test(wait_at_the_deadline_leaves_the_child),
		cmocka_unit_test(identity_survives_text_and_tells_life),
		cmocka_unit_test(identity_of_the_dead_and_of_zombies_is_gone),
		cmocka_unit_test(identity_refuses_malformed_text),
		cmocka_unit_test(signals_come_by_descriptor),
		cmocka_unit_test(log_line_is_one_and_escaped),
		cmocka_unit_test(log_line_has_a_bound),
		cmocka_unit_test(deadlines_do_not_overflow),
		cmocka_unit_test(sys_points_have_names),
	};

	return cmocka_run_group_tests_name("child", tests, NULL, NULL);
}
