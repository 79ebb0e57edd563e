/* port/vk: URLs, and servers that answer, lie, stall or are not there. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/str.h"
#include "port/vk.h"
#include "port/vk_url.h"

static void urls_are_taken_apart(void **state)
{
	struct kz_vk_url u;
	struct kz_err err = KZ_ERR_INIT;

	(void)state;
	assert_int_equal(kz_vk_url_parse("unix:/run/kz/s", &u, &err), KZ_OK);
	assert_string_equal(u.path, "/run/kz/s");
	assert_int_equal(kz_vk_url_parse("unix:///run/kz/s?db=3", &u, &err), KZ_OK);
	assert_string_equal(u.path, "/run/kz/s");
	assert_int_equal(u.db, 3);
	assert_int_equal(kz_vk_url_parse("valkey://us%40er:p%3ass@host.test:7000/2", &u, &err),
			 KZ_OK);
	assert_string_equal(u.user, "us@er");
	assert_string_equal(u.password, "p:ss");
	assert_string_equal(u.host, "host.test");
	assert_int_equal(u.port, 7000);
	assert_int_equal(u.db, 2);
	assert_int_equal(kz_vk_url_parse("valkey://:secret@[::1]", &u, &err), KZ_OK);
	assert_string_equal(u.host, "::1");
	assert_string_equal(u.user, "");
	assert_int_equal(u.port, 6379);
}

static void other_urls_are_refused_without_being_quoted(void **state)
{
	static const char *const bad[] = { "",
					   "redis://h",
					   "rediss://h",
					   "valkeys://h",
					   "valkey://",
					   "valkey://h:0",
					   "valkey://h:99999",
					   "valkey://h:1x",
					   "valkey://user@h",
					   "valkey://u:@h",
					   "valkey://h/x",
					   "valkey://h?tls=1",
					   "valkey://u:hunter2@h:x",
					   "unix:relative",
					   "unix:/s?db=-1",
					   "unix:/s?x=1",
					   "valkey://h%0",
					   "valkey://h%00x",
					   "valkey://[::1",
					   "valkey://[::1]x",
					   "valkey://h\n",
					   "valkey+sentinel://h" };

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct kz_vk_url u;
		struct kz_err err = KZ_ERR_INIT;

		assert_int_equal(kz_vk_url_parse(bad[i], &u, &err), KZ_E_CONFIG);
		assert_string_equal(err.reason, "url_unsupported");
		assert_null(strstr(err.text, "hunter2"));
	}
}

static void a_long_socket_path_is_refused(void **state)
{
	struct kz_vk_url u;
	struct kz_err err = KZ_ERR_INIT;
	char url[200] = "unix:/";

	(void)state;
	memset(url + 6, 'a', 120);
	assert_int_equal(kz_vk_url_parse(url, &u, &err), KZ_E_CONFIG);
}

/* A server that answers each command of one connection with the same bytes (none: it stalls). */
static pid_t serve(const char *path, const char *answer)
{
	int listener, fd;
	char in[4096];
	pid_t pid;

	assert_int_equal(kz_unix_listen(path, 0600, (gid_t)-1, 4, &listener, NULL), KZ_OK);
	pid = fork();
	assert_true(pid >= 0);
	if (pid) {
		close(listener);
		return pid;
	}
	while ((fd = accept(listener, NULL, NULL)) < 0)
		kz_time_sleep(KZ_MS(1), KZ_NEVER);
	while (read(fd, in, sizeof(in)) > 0)
		if (*answer && write(fd, answer, strlen(answer)) < 0)
			_exit(1);
	_exit(0);
}

static enum kz_rc ask(const char *answer, struct kz_err *err, int64_t *number)
{
	char path[64], url[80];
	kz_auto_vk struct kz_vk *v = NULL;
	kz_auto_vk_reply struct kz_vk_reply *r = NULL;
	enum kz_rc rc;
	pid_t pid;

	snprintf(path, sizeof(path), "/tmp/kzvk.%d", (int)getpid());
	snprintf(url, sizeof(url), "unix:%s", path);
	pid = serve(path, answer);
	rc = kz_vk_open(&v, url, kz_deadline_in(KZ_SECONDS(5)), err);
	if (!rc)
		rc = kz_vk_call(v, (struct kz_vk_arg[]){ kz_vk_text("PING") }, 1,
				kz_deadline_in(KZ_MS(*answer ? 5000 : 100)), &r, err);
	*number = kz_vk_int(r);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	unlink(path);
	return rc;
}

static void answers_are_understood(void **state)
{
	struct kz_err err = KZ_ERR_INIT;
	int64_t n;

	(void)state;
	assert_int_equal(ask(":42\r\n", &err, &n), KZ_OK);
	assert_int_equal(n, 42);
	assert_int_equal(ask("$13\r\n1795962372298\r\n", &err, &n), KZ_OK);
	assert_true(n == 1795962372298);
}

static void failures_have_their_reasons(void **state)
{
	static const char *const rows[][2] = {
		{ "-LOADING data\r\n", "coordination_loading" },
		{ "-READONLY replica\r\n", "coordination_readonly" },
		{ "-OOM command\r\n", "coordination_memory" },
		{ "-BUSY script\r\n", "coordination_busy" },
		{ "-ERR Function not found\r\n", "library_missing" },
		{ "-NOAUTH first\r\n", "coordination_unavailable" },
		{ "-MISCONF disk\r\n", "coordination_readonly" },
		{ "", "coordination_unavailable" },
		{ "!not the protocol\r\n", "coordination_unavailable" },
		{ "-ERR anything\r\n", "internal" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct kz_err err = KZ_ERR_INIT;
		int64_t n;

		assert_int_not_equal(ask(rows[i][0], &err, &n), KZ_OK);
		assert_string_equal(err.reason, rows[i][1]);
	}
}

static void nobody_there_is_unavailable(void **state)
{
	struct kz_err err = KZ_ERR_INIT;
	struct kz_vk *v = NULL;

	(void)state;
	assert_int_equal(
		kz_vk_open(&v, "unix:/tmp/kzvk.nobody", kz_deadline_in(KZ_SECONDS(1)), &err),
		KZ_E_UNAVAILABLE);
	assert_string_equal(err.reason, "coordination_unavailable");
	assert_int_equal(
		kz_vk_open(&v, "valkey://127.0.0.1:1", kz_deadline_in(KZ_SECONDS(1)), &err),
		KZ_E_UNAVAILABLE);
	assert_null(v);
}

static void a_pop_ends_when_another_descriptor_is_readable(void **state)
{
	char path[64], url[80];
	kz_auto_vk struct kz_vk *v = NULL;
	struct kz_err err = KZ_ERR_INIT;
	bool taken, other;
	int p[2];
	pid_t pid;

	(void)state;
	assert_int_equal(pipe(p), 0);
	assert_int_equal(write(p[1], "x", 1), 1);
	snprintf(path, sizeof(path), "/tmp/kzvk.%d", (int)getpid());
	snprintf(url, sizeof(url), "unix:%s", path);
	pid = serve(path, "");
	assert_int_equal(kz_vk_open(&v, url, kz_deadline_in(KZ_SECONDS(5)), &err), KZ_OK);
	assert_int_equal(kz_vk_pop(v, "k", KZ_SECONDS(60), p[0], KZ_NEVER, &taken, &other, &err),
			 KZ_OK);
	assert_true(other);
	assert_false(taken);
	/* And at its deadline, the descriptor being silent. */
	assert_int_equal(kz_vk_pop(v, "k", KZ_SECONDS(60), -1, kz_deadline_in(KZ_MS(50)), &taken,
				   &other, &err),
			 KZ_OK);
	assert_false(other || taken);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	unlink(path);
	close(p[0]);
	close(p[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(urls_are_taken_apart),
		cmocka_unit_test(other_urls_are_refused_without_being_quoted),
		cmocka_unit_test(a_long_socket_path_is_refused),
		cmocka_unit_test(answers_are_understood),
		cmocka_unit_test(failures_have_their_reasons),
		cmocka_unit_test(nobody_there_is_unavailable),
		cmocka_unit_test(a_pop_ends_when_another_descriptor_is_readable),
	};

	signal(SIGPIPE, SIG_IGN);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
