/* Signals: one blocked set and one signalfd. */
#include "base/sig.h"

#include <errno.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

enum kz_rc kz_sig_open(const int *signals, int *fd, struct kz_err *err)
{
	sigset_t set;
	int sfd;

	sigemptyset(&set);
	for (const int *s = signals; *s; s++)
		if (sigaddset(&set, *s) < 0)
			return kz_err_sys(err, KZ_E_SOFTWARE, "signal %d", *s);
	sfd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (sfd < 0)
		return kz_err_sys(err, KZ_E_OS, "cannot make a signal descriptor");
	if (sigprocmask(SIG_BLOCK, &set, NULL) < 0) {
		kz_err_sys(err, KZ_E_OS, "cannot block signals");
		close(sfd);
		return KZ_E_OS;
	}
	*fd = sfd;
	return KZ_OK;
}

int kz_sig_next(int fd)
{
	struct signalfd_siginfo info;
	ssize_t n;

	do
		n = read(fd, &info, sizeof(info));
	while (n < 0 && errno == EINTR);
	return n == (ssize_t)sizeof(info) ? (int)info.ssi_signo : 0;
}

void kz_sig_reset(void)
{
	sigset_t none;

	/* KILL and STOP refuse, which is what they should do. */
	for (int s = 1; s < NSIG; s++)
		signal(s, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}
