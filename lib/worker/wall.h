/*
 * The tenant's wall: a process in pid, mount, net, ipc and uts namespaces of its
 * own, around one tenant's file system.  Killing that process ends everything in
 * it by the kernel's own guarantee.
 */
#ifndef KZ_WORKER_WALL_H
#define KZ_WORKER_WALL_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/time.h"
#include "worker/deny.h"
#include "worker/init.h"
#include "worker/space.h"

struct kz_wall {
	pid_t pid; /* 0: there is none */
	int pidfd;
	int sock;     /* process 1's end, non-blocking */
	bool is_used; /* a program was started in it: it serves one */
	bool by_life; /* pidfd is no pidfd: the other end of a pipe that it holds */
};

#define KZ_WALL_INIT                                                                               \
	{                                                                                          \
		0, -1, -1, false, false                                                            \
	}

/*
 * Make the namespaces around the file system mounted on space (KZ_SPACE_*), and wait
 * until their first process stands: begin and await are the two halves of start.
 * err: KZ_E_OS with the step; nothing is left then
 */
enum kz_rc kz_wall_begin(struct kz_wall *w, const char *space, struct kz_boot *b,
			 const struct kz_deny *deny, struct kz_err *err);
enum kz_rc kz_wall_await(struct kz_wall *w, struct kz_deadline until, struct kz_err *err);
enum kz_rc kz_wall_start(struct kz_wall *w, const char *space, struct kz_boot *b,
			 const struct kz_deny *deny, struct kz_deadline until, struct kz_err *err);
/* Ask its first process to measure, and take its answer. err: KZ_E_UNAVAILABLE, KZ_E_TEMPFAIL */
enum kz_rc kz_wall_view_ask(struct kz_wall *w, struct kz_err *err);
enum kz_rc kz_wall_view(struct kz_wall *w, struct kz_deadline until, struct kz_view *out,
			struct kz_err *err);
/* Fault build: let it dirty a surface. */
enum kz_rc kz_wall_dirty(struct kz_wall *w, int surface, struct kz_deadline until,
			 struct kz_err *err);
/* Let it enter the tenant's cgroup; its work goes on while the caller's does. */
enum kz_rc kz_wall_join(struct kz_wall *w, struct kz_err *err);
/* Start the program. in: fds as KZ_RUN_*, borrowed */
enum kz_rc kz_wall_run(struct kz_wall *w, const struct kz_init_ask *ask, const int fds[KZ_RUN_FDS],
		       struct kz_err *err);
/* The next message without waiting. out: 1 one, 0 none yet, -1 it is gone; fd: the descriptor it carried (own), or -1 */
int kz_wall_hear(struct kz_wall *w, struct kz_init_say *s, int *fd);
/* Kill it; its pidfd becomes readable when the last process inside is gone. */
void kz_wall_kill(struct kz_wall *w);
/* Collect its death. out: true when it is dead (or there was none): w is empty then. wait: never */
bool kz_wall_reap(struct kz_wall *w);
/* Kill and wait. out: false when it is not dead in time */
bool kz_wall_end(struct kz_wall *w, struct kz_deadline until);

#endif
