/*
 * Child processes: spawn without a shell, bounded output, pidfd waits, and the
 * identity of a process that survives the reuse of its number.  Layer 0.
 */
#ifndef KZ_BASE_PROC_H
#define KZ_BASE_PROC_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/time.h"

struct kz_spawn {
	/* NULL-terminated; argv[0] is looked up in PATH unless it holds '/'. */
	const char *const *argv;
	const char *const *envp; /* NULL: inherit */
	const char *cwd;         /* NULL: inherit */
	/* -1: /dev/null; never closed here. */
	int stdin_fd, stdout_fd, stderr_fd;
	const int *keep_fds; /* further descriptors that become 3, 4, ... in order */
	int keep_count;
	bool new_session;        /* setsid */
	int parent_death_signal; /* 0: none */
	/* Of kz_proc_run_as: readable ends the program as the deadline does; NULL: nothing else ends it. */
	const int *cancel_fd;
};

/* Start a child; every descriptor not named is closed. out: pid and pidfd (close-on-exec, caller closes). err: KZ_E_OS, KZ_E_NOINPUT when the program is missing */
enum kz_rc kz_proc_spawn(const struct kz_spawn *s, pid_t *pid, int *pidfd, struct kz_err *err);
/* Wait for a child; status: 0..255, or 128+n for death by signal n. err: KZ_E_TEMPFAIL at the deadline (child still runs) */
enum kz_rc kz_proc_wait(pid_t pid, int pidfd, struct kz_deadline until, int *status,
			struct kz_err *err);
/*
 * Run a program to its end with input in[0..n) and collect output (bounded by the
 * buffers' maxima; more is read and dropped).  At the deadline its process group is
 * killed and KZ_E_TEMPFAIL returned.  outbuf or errbuf may be NULL (discarded).
 */
enum kz_rc kz_proc_run(const char *const *argv, const void *in, size_t n, struct kz_buf *outbuf,
		       struct kz_buf *errbuf, struct kz_deadline until, int *status,
		       struct kz_err *err);
/* As kz_proc_run for a program with its own environment and standard input; of s, stdout_fd, stderr_fd and new_session do not count. */
enum kz_rc kz_proc_run_as(const struct kz_spawn *s, struct kz_buf *outbuf, struct kz_buf *errbuf,
			  struct kz_deadline until, int *status, struct kz_err *err);

/* A process named so that a later one with the same number is not mistaken for it. */
struct kz_proc_id {
	int64_t pid;
	uint64_t start_ticks; /* field 22 of /proc/PID/stat */
	uint64_t pid_ns;      /* inode of its pid namespace */
	char boot_id[37];     /* /proc/sys/kernel/random/boot_id */
};
enum kz_rc kz_proc_self_id(struct kz_proc_id *out, struct kz_err *err);
/* "pid:start:ns:boot" in out[0..size), size >= 96. */
void kz_proc_id_format(const struct kz_proc_id *id, char *out, size_t size);
enum kz_rc kz_proc_id_parse(const char *s, struct kz_proc_id *out, struct kz_err *err);
/* 1 alive, 0 gone, -1 cannot tell (another boot, another pid namespace, no permission). */
int kz_proc_id_alive(const struct kz_proc_id *id);

#endif
