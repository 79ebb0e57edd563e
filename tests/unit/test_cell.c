/* What a service of a user who is not root leaves behind: all files but those shown, by Landlock [PROXY-9, INV-30]. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/cell.h"
#include "base/fd.h"
#include "base/landlock.h"
#include "base/log.h"

#define SOMEBODY 65534

static char top[] = "/tmp/kz-cell.XXXXXX";
static char shown[64], written[64], code[64], one[64], other[64], link_out[64];

static void make_file(const char *path, mode_t mode, const char *text)
{
	int fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, mode);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	close(fd);
	assert_int_equal(chmod(path, mode), 0);
}

static int make_tree(void **state)
{
	char path[128];

	(void)state;
	if (!mkdtemp(top) || chmod(top, 0777) != 0)
		return -1;
	snprintf(shown, sizeof shown, "%s/shown", top);
	snprintf(written, sizeof written, "%s/written", top);
	snprintf(code, sizeof code, "%s/code", top);
	snprintf(one, sizeof one, "%s/keys/one.key", top);
	snprintf(other, sizeof other, "%s/keys/other.key", top);
	snprintf(link_out, sizeof link_out, "%s/shown/out", top);
	snprintf(path, sizeof path, "%s/keys", top);
	if (mkdir(shown, 0777) || mkdir(written, 0777) || mkdir(code, 0777) || mkdir(path, 0777) ||
	    chmod(written, 0777) || symlink(other, link_out))
		return -1;
	make_file(one, 0644, "1");
	make_file(other, 0644, "2");
	snprintf(path, sizeof path, "%s/in", shown);
	make_file(path, 0644, "3");
	snprintf(path, sizeof path, "%s/run", shown);
	make_file(path, 0755, "#!/bin/sh\n");
	return 0;
}

static int remove_tree(void **state)
{
	(void)state;
	return kz_tree_remove(AT_FDCWD, top, NULL) == KZ_OK ? 0 : -1;
}

/* In a cell of somebody who is not root. out: 0 it works, else its errno; 255: no cell */
static int in_cell(int (*what)(void))
{
	const struct kz_cell_show show[] = { { .path = shown },
					     { .path = written, .is_written = true },
					     { .path = code, .is_code = true },
					     { .path = one, .is_file = true } };
	const struct kz_cell cell = { "cell", top, show, 4, SOMEBODY, SOMEBODY };
	int status = -1;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0) {
		kz_log_init("test_cell", KZ_LOG_ERROR);
		if ((geteuid() == 0 && (setresgid(SOMEBODY, SOMEBODY, SOMEBODY) != 0 ||
					setresuid(SOMEBODY, SOMEBODY, SOMEBODY) != 0)) ||
		    kz_cell_enter(&cell, NULL) != KZ_OK)
			_exit(255);
		_exit(what());
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static int opens(const char *path, int flags)
{
	int fd = open(path, flags | O_CLOEXEC, 0600);

	if (fd < 0)
		return errno;
	close(fd);
	return 0;
}

static const char *path_of(const char *folder, const char *name)
{
	static char path[128];

	snprintf(path, sizeof path, "%s/%s", folder, name);
	return path;
}

static int read_shown(void)
{
	return opens(path_of(shown, "in"), O_RDONLY);
}
static int list_shown(void)
{
	return opens(shown, O_RDONLY | O_DIRECTORY);
}
static int write_shown(void)
{
	return opens(path_of(shown, "new"), O_WRONLY | O_CREAT);
}
static int read_one(void)
{
	return opens(one, O_RDONLY);
}
static int read_other(void)
{
	return opens(other, O_RDONLY);
}
static int read_by_link(void)
{
	return opens(link_out, O_RDONLY);
}
static int read_etc(void)
{
	return opens("/etc/passwd", O_RDONLY);
}
static int read_version(void)
{
	return opens("/proc/version", O_RDONLY);
}
static int list_top(void)
{
	return opens(top, O_RDONLY | O_DIRECTORY);
}
static int signal_parent(void)
{
	return kill(getppid(), 0) == 0 ? 0 : errno;
}
static int signal_self(void)
{
	return kill(getpid(), 0) == 0 ? 0 : errno;
}

static int change_written(void)
{
	char from[128], to[128];

	snprintf(from, sizeof from, "%s/a", written);
	snprintf(to, sizeof to, "%s/b", written);
	if (opens(from, O_RDWR | O_CREAT) || truncate(from, 10) || rename(from, to) || unlink(to))
		return errno ? errno : 1;
	return 0;
}

static int execute_shown(void)
{
	const char *path = path_of(shown, "run");
	char *const args[] = { NULL };

	execve(path, args, args);
	return errno;
}

static void test_what_is_shown_works(void **state)
{
	(void)state;
	assert_int_equal(in_cell(read_shown), 0);
	assert_int_equal(in_cell(list_shown), 0);
	assert_int_equal(in_cell(read_one), 0);
	assert_int_equal(in_cell(change_written), 0);
	assert_int_equal(in_cell(read_etc), 0);
	assert_int_equal(in_cell(signal_self), 0);
}

/* Without Landlock, which kz doctor tells, nothing of it is out of reach. */
static void test_nothing_else_does(void **state)
{
	const int no = kz_landlock_version() > 0 ? EACCES : 0;

	(void)state;
	assert_int_equal(in_cell(read_other), no);
	assert_int_equal(in_cell(read_by_link), no);
	assert_int_equal(in_cell(read_version), no);
	assert_int_equal(in_cell(list_top), no);
	assert_int_equal(in_cell(execute_shown), no);
	/* the folder is not that user's */
	assert_int_equal(in_cell(write_shown), EACCES);
}

/* Another process, of the same user: outside of the cell by Landlock's word (version 6). */
static void test_no_signal_leaves_it(void **state)
{
	pid_t pid = fork();
	int status = -1;

	(void)state;
	assert_true(pid >= 0);
	if (pid == 0) {
		if (geteuid() == 0 && setresuid(SOMEBODY, SOMEBODY, SOMEBODY) != 0)
			_exit(255);
		_exit(in_cell(signal_parent));
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), kz_landlock_version() >= 6 ? EPERM : 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_is_shown_works),
		cmocka_unit_test(test_nothing_else_does),
		cmocka_unit_test(test_no_signal_leaves_it),
	};

	return cmocka_run_group_tests(tests, make_tree, remove_tree);
}
