/* The tenant's first process. */
#include "worker/init.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <net/if.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/auto.h"
#include "worker/dirty.h"
#include "worker/forward.h"
#include "worker/guest.h"
#include "worker/launch.h"
#include "worker/mounts.h"
#include "worker/view.h"

#define SOCK_FD 3 /* and the cgroup descriptors from 4 on */

struct init {
	struct kz_boot *boot;
	const struct kz_deny *deny;
	int join_errno; /* why the cgroup could not be entered */
	bool has_joined;
};

static void say(struct kz_init_say *s, uint32_t what, int32_t value)
{
	s->what = what;
	s->value = value;
	/* process 1 is gone: nobody is left to serve */
	if (send(SOCK_FD, s, sizeof *s, MSG_NOSIGNAL) < 0)
		_exit(1);
}

/* Hand the listener to process 1; it stands in this network namespace, which process 1 never enters. */
static int say_listener(enum kz_way way)
{
	kz_auto_close int fd = kz_forward_listen(way);
	union {
		struct cmsghdr h;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control;
	struct kz_init_say s = { .what = KZ_SAY_LISTENS };
	struct iovec io = { &s, sizeof s };
	struct msghdr m = { .msg_iov = &io,
			    .msg_iovlen = 1,
			    .msg_control = &control,
			    .msg_controllen = sizeof control };

	if (fd < 0)
		return -1;
	memset(&control, 0, sizeof control);
	control.h.cmsg_level = SOL_SOCKET;
	control.h.cmsg_type = SCM_RIGHTS;
	control.h.cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(&control.h), &fd, sizeof(int));
	return sendmsg(SOCK_FD, &m, MSG_NOSIGNAL) == (ssize_t)sizeof s ? 0 : -1;
}

static void say_failure(uint32_t what, const char *step, int sys_errno)
{
	struct kz_init_say s = { .sys_errno = sys_errno };

	for (size_t i = 0; step[i] && i < sizeof s.step - 1; i++)
		s.step[i] = step[i];
	say(&s, what, 0);
}

/* Only the socket and the cgroup descriptors stay, at known numbers. */
static int keep_descriptors(struct kz_boot *b, int sock)
{
	int high[KZ_BOOT_PROCS + 1];
	int life = b->fds.life;
	int n = b->fds.tenant_procs_count;

	/* signed on some kernels, so not ~0U */
	if ((high[n] = fcntl(sock, F_DUPFD_CLOEXEC, 512)) < 0 ||
	    (life >= 0 && (life = fcntl(life, F_DUPFD_CLOEXEC, 512)) < 0))
		return -1;
	for (int i = 0; i < n; i++)
		if ((high[i] = fcntl(b->fds.tenant_procs[i], F_DUPFD_CLOEXEC, 512)) < 0)
			return -1;
	if (dup3(high[n], SOCK_FD, O_CLOEXEC) < 0)
		return -1;
	for (int i = 0; i < n; i++) {
		b->fds.tenant_procs[i] = SOCK_FD + 1 + i;
		if (dup3(high[i], b->fds.tenant_procs[i], O_CLOEXEC) < 0)
			return -1;
	}
	if (life >= 0 && dup3(life, SOCK_FD + 1 + n++, O_CLOEXEC) < 0)
		return -1;
	return (int)syscall(SYS_close_range, SOCK_FD + 1 + n, INT_MAX, 0);
}

static int loopback_up(void)
{
	kz_auto_close int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct ifreq r = { .ifr_name = "lo", .ifr_flags = IFF_UP | IFF_RUNNING };

	if (fd < 0)
		return -1;
	if (ioctl(fd, SIOCSIFFLAGS, &r) == 0)
		return 0;
	/* one that is up from the start cannot be set up everywhere */
	return ioctl(fd, SIOCGIFFLAGS, &r) < 0 || !(r.ifr_flags & IFF_UP) ? -1 : 0;
}

/* connections in TIME_WAIT outlive their processes and are counted for the whole host */
static int no_time_wait(void)
{
	kz_auto_close int fd = open("/proc/sys/net/ipv4/tcp_max_tw_buckets", O_WRONLY | O_CLOEXEC);

	return fd >= 0 && write(fd, "0", 1) == 1 ? 0 : -1;
}

static const char *set_up(struct init *in, int sock, const char *space)
{
	const char *bad;

	kz_boot_forget(in->boot);
	if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0 || prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0)
		return "prctl";
	if (keep_descriptors(in->boot, sock) < 0)
		return "descriptors";
	if (setsid() < 0)
		return "session";
	bad = in->boot->single_use ? kz_guest_enter_tenant() : kz_mounts_enter_tenant(space);
	if (bad)
		return bad;
	if (sethostname("kz", 2) < 0)
		return "hostname";
	if (loopback_up() < 0)
		return "loopback";
	/* a network stack of its own ends with the worker */
	return !in->boot->single_use && no_time_wait() < 0 ? "tcp_max_tw_buckets" : NULL;
}

static void join(struct init *in)
{
	const struct kz_boot_fds *f = &in->boot->fds;

	in->has_joined = true;
	for (int i = 0; i < f->tenant_procs_count; i++)
		if (write(f->tenant_procs[i], "0", 1) != 1) {
			in->join_errno = errno ? errno : EIO;
			return;
		}
}

static void reap_until(pid_t pid, int *status)
{
	for (;;) {
		int st;
		pid_t got = waitpid(-1, &st, 0);

		if (got == pid) {
			*status = st;
			return;
		}
	}
}

static void run(struct init *in, const struct kz_init_ask *ask, const int fds[KZ_RUN_FDS])
{
	int report[2], status = 0;
	struct kz_launch_failure bad = { 0 };
	struct kz_init_say s = { 0 };
	struct kz_launch l = { .boot = in->boot,
			       .deny = in->deny,
			       .open_files = ask->open_files,
			       .file_bytes = ask->file_bytes,
			       .in = fds[KZ_RUN_IN],
			       .out = fds[KZ_RUN_OUT],
			       .err_fd = fds[KZ_RUN_ERR],
			       .vectors = fds[KZ_RUN_VECTORS],
			       .channel = fds[KZ_RUN_CHANNEL] };
	pid_t pid;
	ssize_t n;

	if (in->join_errno || !in->has_joined) {
		say_failure(KZ_SAY_REFUSED, "cgroup", in->join_errno);
		return;
	}
	/* the step that installs, which is the one with the way to the gateway */
	if (ask->value - 1 == KZ_WAY_GATEWAY && kz_mounts_open_packages() < 0) {
		say_failure(KZ_SAY_REFUSED, "packages", errno);
		return;
	}
	if (ask->value && say_listener((enum kz_way)(ask->value - 1)) < 0) {
		say_failure(KZ_SAY_REFUSED, "listener", errno);
		return;
	}
	if (pipe2(report, O_CLOEXEC) < 0 || (pid = fork()) < 0) {
		say_failure(KZ_SAY_REFUSED, "fork", errno);
		return;
	}
	if (pid == 0) {
		l.report = report[1];
		kz_launch(&l);
	}
	close(report[1]);
	for (int i = 0; i < KZ_RUN_FDS; i++)
		if (fds[i] >= 0)
			close(fds[i]);
	do
		n = read(report[0], &bad, sizeof bad);
	while (n < 0 && errno == EINTR);
	close(report[0]);
	if (n == (ssize_t)sizeof bad) {
		reap_until(pid, &status);
		bad.step[sizeof bad.step - 1] = 0;
		say_failure(KZ_SAY_REFUSED, bad.step, bad.sys_errno);
		return;
	}
	reap_until(pid, &status);
	say(&s, KZ_SAY_ENDED, status);
}

static ssize_t receive(struct kz_init_ask *ask, int fds[KZ_RUN_FDS], int *count)
{
	union {
		struct cmsghdr h;
		char bytes[CMSG_SPACE(sizeof(int) * KZ_RUN_FDS)];
	} control;
	struct iovec io = { ask, sizeof *ask };
	struct msghdr m = { .msg_iov = &io,
			    .msg_iovlen = 1,
			    .msg_control = &control,
			    .msg_controllen = sizeof control };
	ssize_t n = recvmsg(SOCK_FD, &m, MSG_CMSG_CLOEXEC);
	struct cmsghdr *c = n > 0 ? CMSG_FIRSTHDR(&m) : NULL;

	*count = 0;
	fds[KZ_RUN_CHANNEL] = -1;
	if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS) {
		*count = (int)((c->cmsg_len - CMSG_LEN(0)) / sizeof(int));
		for (int i = 0; i < *count && i < KZ_RUN_FDS; i++)
			memcpy(&fds[i], CMSG_DATA(c) + i * (int)sizeof(int), sizeof(int));
	}
	return n;
}

static void serve(struct init *in)
{
	struct kz_init_ask ask;
	struct kz_init_say s = { 0 };
	int fds[KZ_RUN_FDS], count;

	for (;;) {
		ssize_t n = receive(&ask, fds, &count);

		if (n < 0 && errno == EINTR)
			continue;
		if (n != (ssize_t)sizeof ask)
			_exit(0);
		switch (ask.what) {
		case KZ_ASK_VIEW:
			kz_view_take(&s.view, true);
			say(&s, KZ_SAY_VIEW, 0);
			break;
		case KZ_ASK_JOIN: join(in); break;
		case KZ_ASK_RUN:
			if (count != KZ_RUN_FDS && count != KZ_RUN_CHANNEL)
				_exit(1);
			run(in, &ask, fds);
			break;
		case KZ_ASK_DIRTY:
			kz_dirty_inside(ask.value);
			say(&s, KZ_SAY_READY, 0);
			break;
		default: _exit(1);
		}
	}
}

_Noreturn void kz_init_main(int sock, struct kz_boot *b, const struct kz_deny *deny,
			    const char *space)
{
	struct init in = { .boot = b, .deny = deny };
	struct kz_init_say s = { 0 };
	const char *bad = set_up(&in, sock, space);

	if (bad) {
		int e = errno;

		/* before the descriptors were placed nobody could be told */
		if (strcmp(bad, "prctl") != 0 && strcmp(bad, "descriptors") != 0)
			say_failure(KZ_SAY_FAILED, bad, e);
		_exit(1);
	}
	say(&s, KZ_SAY_READY, 0);
	serve(&in);
	_exit(0);
}
