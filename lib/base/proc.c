/* Child processes: spawn and wait. */
#include "base/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/sig.h"
#include "base/sys.h"

#define KEEP_MAX 64

extern char **environ;

/* Between fork and exec everything is async-signal-safe: the parent may have threads. */

/* Give the child exactly its descriptors. report: the pipe for a failed exec; moves. */
static int child_descriptors(const struct kz_spawn *s, int *report)
{
	const int standard[3] = { s->stdin_fd, s->stdout_fd, s->stderr_fd };
	int total = 3 + s->keep_count;
	int from[3 + KEEP_MAX];

	/* Copies above every target first, so that no move covers another source. */
	for (int i = 0; i < total; i++) {
		int fd = i < 3 ? standard[i] : s->keep_fds[i - 3];

		if (fd < 0)
			fd = open("/dev/null", O_RDWR | O_CLOEXEC);
		from[i] = fcntl(fd, F_DUPFD_CLOEXEC, total + 1);
		if (from[i] < 0)
			return -1;
	}
	if (*report != total) {
		if (dup3(*report, total, O_CLOEXEC) < 0)
			return -1;
		*report = total;
	}
	for (int i = 0; i < total; i++)
		if (dup2(from[i], i) < 0)
			return -1;
	return close_range((unsigned)total + 1, ~0U, 0);
}

static int child_setup(const struct kz_spawn *s, pid_t parent, int *report)
{
	kz_sig_reset();
	if (s->parent_death_signal && prctl(PR_SET_PDEATHSIG, s->parent_death_signal) < 0)
		return -1;
	/* The parent may have died before that took hold. */
	if (s->parent_death_signal && getppid() != parent)
		_exit(127);
	if (s->new_session && setsid() < 0)
		return -1;
	if (s->cwd && chdir(s->cwd) < 0)
		return -1;
	return child_descriptors(s, report);
}

static void child_run(const struct kz_spawn *s, pid_t parent, int report)
{
	if (child_setup(s, parent, &report) == 0)
		/* exec takes pointers to const but its prototype cannot say so. */
		execvpe(s->argv[0], (char *const *)(uintptr_t)s->argv,
			s->envp ? (char *const *)(uintptr_t)s->envp : environ);
	(void)!write(report, &errno, sizeof(errno));
	_exit(127);
}

/* What the child could not do, 0 when it runs the program. */
static int spawn_outcome(int report)
{
	int why = 0;
	ssize_t n;

	do
		n = read(report, &why, sizeof(why));
	while (n < 0 && errno == EINTR);
	return n == (ssize_t)sizeof(why) ? why : 0;
}

static enum kz_rc spawn_failed(pid_t pid, const char *program, int why, struct kz_err *err)
{
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	errno = why;
	return kz_err_sys(err, why == ENOENT || why == ENOTDIR ? KZ_E_NOINPUT : KZ_E_OS,
			  "cannot run %s", program);
}

enum kz_rc kz_proc_spawn(const struct kz_spawn *s, pid_t *pid, int *pidfd, struct kz_err *err)
{
	pid_t parent = getpid();
	int ends[2], why, fd;
	pid_t child;

	if (s->keep_count < 0 || s->keep_count > KEEP_MAX)
		return kz_err_set(err, KZ_E_SOFTWARE, "too many descriptors for a child");
	if (kz_sys_before(KZ_SYS_SPAWN)) {
		errno = EIO;
		return kz_err_sys(err, KZ_E_OS, "cannot run %s", s->argv[0]);
	}
	if (pipe2(ends, O_CLOEXEC) < 0)
		return kz_err_sys(err, KZ_E_OS, "cannot make a pipe");
	child = fork();
	if (child == 0)
		child_run(s, parent, ends[1]);
	close(ends[1]);
	if (child < 0) {
		kz_err_sys(err, KZ_E_OS, "cannot make a process");
		close(ends[0]);
		return KZ_E_OS;
	}
	why = spawn_outcome(ends[0]);
	close(ends[0]);
	if (why)
		return spawn_failed(child, s->argv[0], why, err);
	fd = (int)syscall(SYS_pidfd_open, child, 0);
	if (fd < 0) {
		why = errno;
		kill(child, SIGKILL);
		return spawn_failed(child, s->argv[0], why, err);
	}
	kz_sys_after(KZ_SYS_SPAWN);
	*pid = child;
	*pidfd = fd;
	return KZ_OK;
}

enum kz_rc kz_proc_wait(pid_t pid, int pidfd, struct kz_deadline until, int *status,
			struct kz_err *err)
{
	siginfo_t info;
	enum kz_rc rc = kz_fd_wait(pidfd, POLLIN, until, err);

	if (rc)
		return rc;
	while (waitid(P_PID, (id_t)pid, &info, WEXITED) < 0)
		if (errno != EINTR)
			return kz_err_sys(err, KZ_E_OS, "cannot wait for a process");
	*status = info.si_code == CLD_EXITED ? info.si_status : 128 + info.si_status;
	return KZ_OK;
}
