/* Process 1's side of the tenant's wall. */
#include "worker/wall.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/fd.h"

#define LIFE_PATIENCE KZ_SECONDS(2)
#define NAMESPACES (CLONE_NEWPID | CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS)

/*
 * clone, not clone3: profiles answer ENOSYS to clone3 because they cannot see its
 * flags.  The third argument is where the pidfd goes on every architecture.
 */
static pid_t clone_into(int *pidfd, bool by_life)
{
	if (by_life)
		return (pid_t)syscall(SYS_clone, NAMESPACES | SIGCHLD, NULL, NULL, NULL, NULL);
	return (pid_t)syscall(SYS_clone, NAMESPACES | CLONE_PIDFD | SIGCHLD, NULL, pidfd, NULL,
			      NULL);
}

int kz_wall_hear(struct kz_wall *w, struct kz_init_say *s, int *fd)
{
	union {
		struct cmsghdr h;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control;
	struct iovec io = { s, sizeof *s };
	struct msghdr m = { .msg_iov = &io,
			    .msg_iovlen = 1,
			    .msg_control = &control,
			    .msg_controllen = sizeof control };
	struct cmsghdr *c;
	ssize_t n;

	*fd = -1;
	do
		n = recvmsg(w->sock, &m, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR);
	c = n > 0 ? CMSG_FIRSTHDR(&m) : NULL;
	if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS)
		memcpy(fd, CMSG_DATA(c), sizeof(int));
	if (n == (ssize_t)sizeof *s) {
		s->step[sizeof s->step - 1] = 0;
		return 1;
	}
	return n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK) ? 0 : -1;
}

static enum kz_rc await(struct kz_wall *w, uint32_t what, struct kz_deadline until,
			struct kz_init_say *s, struct kz_err *err)
{
	enum kz_rc rc = kz_fd_wait(w->sock, POLLIN, until, err);
	kz_auto_close int none = -1;
	int got = rc == KZ_OK ? kz_wall_hear(w, s, &none) : 0;

	if (rc != KZ_OK)
		return rc;
	if (got == 1 && s->what == KZ_SAY_FAILED) {
		errno = s->sys_errno;
		return kz_err_sys(err, KZ_E_OS, "tenant namespaces: %s", s->step);
	}
	if (got != 1 || s->what != what)
		return kz_err_set(err, KZ_E_UNAVAILABLE, "the tenant's first process is gone");
	return KZ_OK;
}

static enum kz_rc ask(struct kz_wall *w, const struct kz_init_ask *a, const int *fds, int count,
		      struct kz_err *err)
{
	union {
		struct cmsghdr h;
		char bytes[CMSG_SPACE(sizeof(int) * KZ_RUN_FDS)];
	} control;
	struct kz_init_ask copy = *a;
	struct iovec io = { &copy, sizeof copy };
	struct msghdr m = { .msg_iov = &io, .msg_iovlen = 1 };

	if (count) {
		memset(&control, 0, sizeof control);
		m.msg_control = &control;
		m.msg_controllen = CMSG_SPACE(sizeof(int) * (size_t)count);
		control.h.cmsg_level = SOL_SOCKET;
		control.h.cmsg_type = SCM_RIGHTS;
		control.h.cmsg_len = CMSG_LEN(sizeof(int) * (size_t)count);
		memcpy(CMSG_DATA(&control.h), fds, sizeof(int) * (size_t)count);
	}
	if (sendmsg(w->sock, &m, MSG_NOSIGNAL | MSG_DONTWAIT) != (ssize_t)sizeof copy)
		return kz_err_sys(err, KZ_E_UNAVAILABLE,
				  "the tenant's first process does not listen");
	return KZ_OK;
}

enum kz_rc kz_wall_begin(struct kz_wall *w, const char *space, struct kz_boot *b,
			 const struct kz_deny *deny, struct kz_err *err)
{
	int pair[2];
	int life[2] = { -1, -1 };

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return kz_err_sys(err, KZ_E_OS, "cannot make a socket pair");
	*w = (struct kz_wall)KZ_WALL_INIT;
	w->by_life = b->single_use;
	if (w->by_life && pipe2(life, O_CLOEXEC) < 0) {
		close(pair[0]);
		close(pair[1]);
		return kz_err_sys(err, KZ_E_OS, "cannot make a pipe");
	}
	b->fds.life = life[1];
	w->pid = clone_into(&w->pidfd, w->by_life);
	if (w->pid == 0)
		kz_init_main(pair[1], b, deny, space);
	close(pair[1]);
	b->fds.life = -1;
	if (w->by_life) {
		close(life[1]);
		w->pidfd = life[0];
	}
	w->sock = pair[0];
	if (w->pid < 0) {
		kz_err_sys(err, KZ_E_OS, "cannot make the tenant's namespaces");
		close(w->sock);
		if (w->by_life)
			close(w->pidfd);
		*w = (struct kz_wall)KZ_WALL_INIT;
		return KZ_E_OS;
	}
	return KZ_OK;
}

enum kz_rc kz_wall_await(struct kz_wall *w, struct kz_deadline until, struct kz_err *err)
{
	struct kz_init_say s;
	enum kz_rc rc = await(w, KZ_SAY_READY, until, &s, err);

	if (rc != KZ_OK)
		kz_wall_end(w, kz_deadline_in(KZ_SECONDS(2)));
	return rc;
}

enum kz_rc kz_wall_start(struct kz_wall *w, const char *space, struct kz_boot *b,
			 const struct kz_deny *deny, struct kz_deadline until, struct kz_err *err)
{
	enum kz_rc rc = kz_wall_begin(w, space, b, deny, err);

	return rc == KZ_OK ? kz_wall_await(w, until, err) : rc;
}

enum kz_rc kz_wall_view_ask(struct kz_wall *w, struct kz_err *err)
{
	const struct kz_init_ask a = { .what = KZ_ASK_VIEW };

	return ask(w, &a, NULL, 0, err);
}

enum kz_rc kz_wall_view(struct kz_wall *w, struct kz_deadline until, struct kz_view *out,
			struct kz_err *err)
{
	struct kz_init_say s;
	enum kz_rc rc = await(w, KZ_SAY_VIEW, until, &s, err);

	if (rc == KZ_OK)
		*out = s.view;
	return rc;
}

enum kz_rc kz_wall_dirty(struct kz_wall *w, int surface, struct kz_deadline until,
			 struct kz_err *err)
{
	const struct kz_init_ask a = { .what = KZ_ASK_DIRTY, .value = surface };
	struct kz_init_say s;
	enum kz_rc rc = ask(w, &a, NULL, 0, err);

	return rc == KZ_OK ? await(w, KZ_SAY_READY, until, &s, err) : rc;
}

enum kz_rc kz_wall_join(struct kz_wall *w, struct kz_err *err)
{
	const struct kz_init_ask a = { .what = KZ_ASK_JOIN };

	return ask(w, &a, NULL, 0, err);
}

enum kz_rc kz_wall_run(struct kz_wall *w, const struct kz_init_ask *a, const int fds[KZ_RUN_FDS],
		       struct kz_err *err)
{
	w->is_used = true;
	return ask(w, a, fds, fds[KZ_RUN_CHANNEL] < 0 ? KZ_RUN_CHANNEL : KZ_RUN_FDS, err);
}

void kz_wall_kill(struct kz_wall *w)
{
	/* a child that was not waited for keeps its number */
	if (w->pid > 0 && w->by_life)
		kill(w->pid, SIGKILL);
	else if (w->pid > 0)
		syscall(SYS_pidfd_send_signal, w->pidfd, SIGKILL, NULL, 0);
}

/* Its descriptors close a moment before it can be waited for. */
static bool reap_by_life(struct kz_wall *w)
{
	struct kz_deadline soon = kz_deadline_in(LIFE_PATIENCE);

	for (;;) {
		struct pollfd p = { w->pidfd, POLLIN, 0 };
		pid_t got = waitpid(w->pid, NULL, WNOHANG);

		if (got != 0)
			return got == w->pid;
		if (poll(&p, 1, 0) <= 0 || kz_deadline_passed(soon))
			return false;
		kz_time_sleep(KZ_MS(1), soon);
	}
}

bool kz_wall_reap(struct kz_wall *w)
{
	siginfo_t info = { 0 };

	if (w->pid <= 0)
		return true;
	if (w->by_life ? !reap_by_life(w) :
			 waitid(P_PIDFD, (id_t)w->pidfd, &info, WEXITED | WNOHANG) < 0 ||
				 info.si_pid == 0)
		return false;
	close(w->pidfd);
	close(w->sock);
	*w = (struct kz_wall)KZ_WALL_INIT;
	return true;
}

bool kz_wall_end(struct kz_wall *w, struct kz_deadline until)
{
	kz_wall_kill(w);
	while (!kz_wall_reap(w))
		if (kz_fd_wait(w->pidfd, POLLIN, until, NULL) != KZ_OK)
			return kz_wall_reap(w);
	return true;
}
