/* core/jail from inside: what a program in it can still do [WS-15]. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <linux/sockios.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/landlock.h"
#include "core/jail/foreign.h"
#include "core/jail/jail.h"
#include "core/jail/service.h"

/* what a child does in the jail; its status is the answer */
static int in_jail(int (*what)(int arg), int arg, const struct kz_jail_bounds *b, const int *keep,
		   size_t count)
{
	static const struct kz_jail_bounds none;
	pid_t pid = fork();
	int status = -1;

	assert_true(pid >= 0);
	if (pid == 0) {
		if (kz_jail_enter(b ? b : &none, keep, count, NULL) != KZ_OK)
			_exit(99);
		_exit(what(arg));
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status;
}

struct attempt {
	const char *what;
	long call, a, b, c, d;
};

static const char own[] = "/proc/self/exe";
static char *const no_args[] = { NULL };

#define P(x) ((long)(uintptr_t)(x))

static const struct attempt attempts[] = {
	{ "open", SYS_openat, AT_FDCWD, P("/etc/passwd"), O_RDONLY, 0 },
	{ "create", SYS_openat, AT_FDCWD, P("/tmp/kz-jail-test"), O_CREAT | O_WRONLY, 0600 },
	{ "openat2", SYS_openat2, AT_FDCWD, P("/"), 0, 0 },
	{ "exec", SYS_execve, P(own), P(no_args), P(no_args), 0 },
	{ "execveat", SYS_execveat, AT_FDCWD, P(own), P(no_args), P(no_args) },
	{ "fork", SYS_clone, SIGCHLD, 0, 0, 0 },
	{ "clone3", SYS_clone3, 0, 0, 0, 0 },
	{ "socket", SYS_socket, AF_INET, SOCK_STREAM, 0, 0 },
	{ "unix socket", SYS_socket, AF_UNIX, SOCK_STREAM, 0, 0 },
	{ "socketpair", SYS_socketpair, AF_UNIX, SOCK_STREAM, 0, P(no_args) },
	{ "connect", SYS_connect, 0, 0, 0, 0 },
	{ "pipe", SYS_pipe2, P(no_args), 0, 0, 0 },
	{ "memfd", SYS_memfd_create, P("x"), 0, 0, 0 },
	{ "dup", SYS_dup, 0, 0, 0, 0 },
	{ "stat", SYS_newfstatat, AT_FDCWD, P("/etc"), P(no_args), 0 },
	{ "unlink", SYS_unlinkat, AT_FDCWD, P("/tmp/kz-jail-test"), 0, 0 },
	{ "mkdir", SYS_mkdirat, AT_FDCWD, P("/tmp/kz-jail-dir"), 0700, 0 },
	{ "rename", SYS_renameat2, AT_FDCWD, P("/tmp/a"), AT_FDCWD, P("/tmp/b") },
	{ "chmod", SYS_fchmodat, AT_FDCWD, P("/tmp"), 0777, 0 },
	{ "readlink", SYS_readlinkat, AT_FDCWD, P(own), P(no_args), 8 },
	{ "chdir", SYS_chdir, P("/"), 0, 0, 0 },
	{ "kill", SYS_kill, 1, 0, 0, 0 },
	{ "tgkill", SYS_tgkill, 1, 1, 0, 0 },
	{ "ptrace", SYS_ptrace, 0, 0, 0, 0 },
	{ "setuid", SYS_setuid, 0, 0, 0, 0 },
	{ "unshare", SYS_unshare, CLONE_NEWUSER, 0, 0, 0 },
	{ "mount", SYS_mount, 0, 0, 0, 0 },
	{ "bpf", SYS_bpf, 0, 0, 0, 0 },
	{ "io_uring", SYS_io_uring_setup, 1, 0, 0, 0 },
	{ "prctl", SYS_prctl, 0, 0, 0, 0 },
	{ "ioctl", SYS_ioctl, 0, 0, 0, 0 },
	{ "setrlimit", SYS_prlimit64, 0, 0, 0, 0 },
	{ "process_vm_readv", SYS_process_vm_readv, 1, 0, 0, 0 },
	{ "executable memory", SYS_mmap, 0, 4096, PROT_READ | PROT_EXEC,
	  MAP_PRIVATE | MAP_ANONYMOUS },
};

static int try_one(int i)
{
	const struct attempt *t = &attempts[i];

	errno = 0;
	return syscall(t->call, t->a, t->b, t->c, t->d, -1, 0) < 0 ? errno : 0;
}

static void test_ws15_nothing_is_allowed_that_was_not_open(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof attempts / sizeof *attempts; i++) {
		int status = in_jail(try_one, (int)i, NULL, NULL, 0);

		if (!WIFEXITED(status) || WEXITSTATUS(status) != EPERM)
			fail_msg("%s: status %#x", attempts[i].what, (unsigned)status);
	}
}

static int make_executable(int unused)
{
	void *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)unused;
	if (p == MAP_FAILED)
		return 1;
	return mprotect(p, 4096, PROT_READ | PROT_EXEC) < 0 && errno == EPERM ? 0 : 2;
}

static void test_ws15_memory_never_becomes_executable(void **state)
{
	(void)state;
	assert_int_equal(in_jail(make_executable, 0, NULL, NULL, 0), 0);
}

static int write_to(int fd)
{
	return write(fd, "x", 1) == 1 ? 0 : errno;
}

static void test_ws15_only_descriptors_that_are_named_stay(void **state)
{
	int a[2], b[2], keep[2];
	char c;

	(void)state;
	assert_int_equal(pipe(a), 0);
	assert_int_equal(pipe(b), 0);
	/* named out of order */
	keep[0] = b[1];
	keep[1] = a[0];
	assert_int_equal(in_jail(write_to, b[1], NULL, keep, 2), 0);
	assert_int_equal(read(b[0], &c, 1), 1);
	assert_int_equal(WEXITSTATUS(in_jail(write_to, a[1], NULL, keep, 2)), EBADF);
	assert_int_equal(WEXITSTATUS(in_jail(write_to, b[1], NULL, NULL, 0)), EBADF);
}

static int use_memory(int megabytes)
{
	char *p = malloc((size_t)megabytes << 20);

	if (!p)
		return ENOMEM;
	memset(p, 1, (size_t)megabytes << 20);
	return p[1] - 1;
}

static int use_time(int unused)
{
	volatile unsigned n = 0;

	(void)unused;
	for (;;)
		n++;
	return 0;
}

static void test_bound10_memory_and_time_are_bounded(void **state)
{
	const struct kz_jail_bounds b = { .memory_bytes = 256 << 20, .cpu_seconds = 1 };
	int status;

	(void)state;
	assert_int_equal(in_jail(use_memory, 32, &b, NULL, 0), 0);
#ifndef __SANITIZE_ADDRESS__
	assert_int_equal(WEXITSTATUS(in_jail(use_memory, 512, &b, NULL, 0)), ENOMEM);
#endif
	status = in_jail(use_time, 0, &b, NULL, 0);
	assert_true(WIFSIGNALED(status));
}

/* The filter is one wall, Landlock another: a child with Landlock alone is not made here, but its version is told. */
static void test_ws15_landlock_is_told(void **state)
{
	long v = syscall(444 /* landlock_create_ruleset */, NULL, 0, 1);

	(void)state;
	assert_int_equal(kz_landlock_version(), v < 0 ? 0 : v);
}

/* -- what a service and a foreign program may do to another process of the same user: nothing -- */

static int enter_service(void)
{
	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && kz_jail_service(NULL) == KZ_OK;
}

static int enter_foreign(void)
{
	static const struct kz_jail_bounds none;

	return kz_jail_foreign("/bin/true", &none, NULL) == KZ_OK;
}

/* out: which way is open, from 1; 0: none; 99: it was never there, 98: it cannot even end itself */
static int ways_to(pid_t other, int (*enter)(void))
{
	const struct rlimit r = { 0, 0 };
	char info[128] = { 0 };
	int fd[2];
	const struct attempt ways[] = {
		{ "kill", SYS_kill, other, 0, 0, 0 },
		{ "tkill", SYS_tkill, other, 0, 0, 0 },
		{ "tgkill", SYS_tgkill, other, other, 0, 0 },
		{ "rt_sigqueueinfo", SYS_rt_sigqueueinfo, other, 0, P(info), 0 },
		{ "rt_tgsigqueueinfo", SYS_rt_tgsigqueueinfo, other, other, 0, P(info) },
		{ "prlimit64", SYS_prlimit64, other, RLIMIT_CPU, P(&r), 0 },
		{ "F_SETOWN", SYS_fcntl, 0, F_SETOWN, other, 0 },
		{ "F_SETOWN_EX", SYS_fcntl, 0, F_SETOWN_EX, P(info), 0 },
		{ "FIOSETOWN", SYS_ioctl, 0, FIOSETOWN, P(&other), 0 },
		{ "SIOCSPGRP", SYS_ioctl, 0, SIOCSPGRP, P(&other), 0 },
	};

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, fd) != 0 || dup2(fd[0], 0) != 0 || !enter())
		return 99;
	for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
		const struct attempt *t = &ways[i];

		errno = 0;
		if (syscall(t->call, t->a, t->b, t->c, t->d) >= 0 || errno != EPERM)
			return 1 + (int)i;
	}
	return raise(0) == 0 && getrlimit(RLIMIT_CPU, &(struct rlimit){ 0 }) == 0 ? 0 : 98;
}

/* A process that waits, of the user that a foreign program of root becomes. */
static pid_t start_other(void)
{
	int ready[2];
	pid_t pid;
	char c;

	assert_int_equal(pipe(ready), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		if ((geteuid() == 0 && setresuid(65534, 65534, 65534) != 0) ||
		    write(ready[1], "x", 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	close(ready[1]);
	assert_int_equal(read(ready[0], &c, 1), 1);
	close(ready[0]);
	return pid;
}

static void no_way(int (*enter)(void))
{
	pid_t other = start_other(), pid;
	int status = -1, ended = -1;

	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0)
		_exit(ways_to(other, enter));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(kill(other, SIGKILL), 0);
	assert_int_equal(waitpid(other, &ended, 0), other);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
	assert_int_equal(WTERMSIG(ended), SIGKILL);
}

static void test_inv30_a_service_reaches_no_other_process(void **state)
{
	(void)state;
	no_way(enter_service);
}

static void test_cmp5_a_foreign_program_reaches_no_other_process(void **state)
{
	(void)state;
	if (kz_landlock_version()) /* without it there is no such jail */
		no_way(enter_foreign);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_inv30_a_service_reaches_no_other_process),
		cmocka_unit_test(test_cmp5_a_foreign_program_reaches_no_other_process),
		cmocka_unit_test(test_ws15_nothing_is_allowed_that_was_not_open),
		cmocka_unit_test(test_ws15_memory_never_becomes_executable),
		cmocka_unit_test(test_ws15_only_descriptors_that_are_named_stay),
		cmocka_unit_test(test_bound10_memory_and_time_are_bounded),
		cmocka_unit_test(test_ws15_landlock_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
