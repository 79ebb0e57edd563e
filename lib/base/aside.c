/* A process that keeps the rights. */
#include "base/aside.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/sig.h"

static void be_aside(const char *name, int far, kz_aside_fn run, const void *arg)
{
	kz_sig_reset();
	(void)prctl(PR_SET_NAME, name, 0, 0, 0);
	/* nothing else that the service holds is this one's: not its notification, not its lock */
	if (far != 3 && dup2(far, 3) != 3)
		_exit(71);
	(void)syscall(SYS_close_range, 4u, ~0u, 0u);
	(void)fcntl(3, F_SETFD, FD_CLOEXEC);
	run(3, arg);
	_exit(0);
}

enum kz_rc kz_aside_start(const char *name, int type, kz_aside_fn run, const void *arg, int *fd,
			  struct kz_err *err)
{
	kz_auto_close int near = -1, far = -1;
	int ends[2];
	pid_t pid;

	if (socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, ends) != 0)
		return kz_err_sys(err, KZ_E_OS, "no pair of sockets");
	near = ends[0];
	far = ends[1];
	pid = fork();
	if (pid == 0)
		be_aside(name, far, run, arg);
	if (pid < 0)
		return kz_err_sys(err, KZ_E_OS, "cannot start %s", name);
	*fd = kz_take_fd(&near);
	return kz_fd_set_nonblock(*fd, err);
}
