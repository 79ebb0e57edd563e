#include "core/driver/oci_part.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/proc.h"
#include "base/sig.h"
#include "base/str.h"
#include "base/sys.h"
#include "core/driver/oci_boot.h"
#include "core/driver/oci_rootless.h"
#include "rule/reason.h"

#define ARGS_MAX 48
#define ABOVE 100 /* descriptors are first moved out of the way of their final numbers */
#define WORDS_MAX 300

/* The command line of "run", for each flavor. */
struct args {
	const char *v[ARGS_MAX];
	char text[KZ_BOOT_FDS][24];
	int n;
};

static void add(struct args *a, const char *s)
{
	if (a->n < ARGS_MAX - 1)
		a->v[a->n++] = s;
}

static void build_args(const struct kz_oci_launch *l, struct args *a)
{
	const struct kz_oci_runtime *rt = &l->r->rt;

	memset(a, 0, sizeof *a);
	add(a, rt->path);
	add(a, "--root");
	add(a, l->state_dir);
	if (rt->flavor == KZ_OCI_RUNSC) {
		add(a, "--network=none");
		add(a, "--ignore-cgroups"); /* it runs inside UNIT/worker, whose limits hold */
		add(a, "--host-uds=create");
		add(a, "run");
		for (int i = 0; i < l->fd_count; i++) {
			if (kz_str_format(a->text[i], sizeof a->text[i], NULL, "--pass-fd=%d:%d",
					  3 + i, 3 + i))
				continue;
			add(a, a->text[i]);
		}
	} else {
		add(a, "run");
		add(a, "--preserve-fds");
		if (!kz_str_format(a->text[0], sizeof a->text[0], NULL, "%d", l->fd_count))
			add(a, a->text[0]);
		add(a, "--no-new-keyring");
	}
	add(a, "--detach");
	add(a, "--bundle");
	add(a, l->bundle);
	add(a, l->unit);
}

/* fds become 3, 4, ...; report stays open until exec. */
static enum kz_rc place_fds(const struct kz_oci_launch *l, int *report, struct kz_err *err)
{
	int high[KZ_BOOT_FDS];
	int empty[2] = { -1, -1 };
	int out = fcntl(l->output, F_DUPFD_CLOEXEC, ABOVE);
	int up = fcntl(*report, F_DUPFD_CLOEXEC, ABOVE);

	/*
	 * Nothing to read, by a pipe of this worker's own: crun and runsc give the worker's
	 * root whatever stands at 0 to 2, and /dev/null is everybody's inode.
	 */
	if (pipe2(empty, O_CLOEXEC) != 0 || out < 0 || up < 0)
		return kz_err_sys(err, KZ_E_OS, "cannot pass descriptors");
	for (int i = 0; i < l->fd_count; i++) {
		high[i] = fcntl(l->fds[i], F_DUPFD_CLOEXEC, ABOVE);
		if (high[i] < 0)
			return kz_err_sys(err, KZ_E_OS, "cannot pass descriptors");
	}
	*report = up;
	if (dup2(empty[0], 0) < 0 || dup2(out, 1) < 0 || dup2(out, 2) < 0)
		return kz_err_sys(err, KZ_E_OS, "cannot pass descriptors");
	for (int i = 0; i < l->fd_count; i++)
		if (dup2(high[i], 3 + i) < 0)
			return kz_err_sys(err, KZ_E_OS, "cannot pass descriptors");
	if (syscall(SYS_close_range, (unsigned)(3 + l->fd_count), ~0U,
		    4U /* CLOSE_RANGE_CLOEXEC */) != 0)
		return kz_err_sys(err, KZ_E_OS, "cannot close descriptors");
	return KZ_OK;
}

static enum kz_rc detach_ways(const struct kz_oci_launch *l, struct kz_err *err)
{
	enum kz_rc rc = KZ_OK;

	for (int i = 0; i < KZ_WAYS && l->ways_at >= 0 && !rc; i++)
		rc = kz_oci_way_detach(l->o, (enum kz_way)i, l->fds[l->ways_at + i], err);
	return rc;
}

/* In the child, up to exec.  Returns only on failure. */
static enum kz_rc become_runtime(const struct kz_oci_launch *l, pid_t driver, int *report,
				 struct kz_err *err)
{
	char path[] = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
	char *envp[] = { path, NULL };
	struct args a;
	bool is_runsc = l->r->rt.flavor == KZ_OCI_RUNSC;

	kz_sig_reset();
	umask(022);
	/* A runtime whose driver died must not finish what nobody waits for. */
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != driver)
		return kz_err_set(err, KZ_E_OS, "the driver is gone");
	/* In UNIT first, so that whoever ends UNIT ends the runtime in whatever it is doing. */
	if ((is_runsc ? kz_cg_join_worker : kz_cg_join)(&l->r->cg, err) ||
	    (l->o->is_rootless && kz_rootless_enter(l, err)) ||
	    kz_oci_root_mount(l->o, l->root, err) ||
	    (l->r->rt.single_use && kz_oci_control_mount(l->o, l->r, l->control, err)) ||
	    detach_ways(l, err) || place_fds(l, report, err))
		return err->rc;
	if (chdir("/") != 0)
		return kz_err_sys(err, KZ_E_OS, "cannot enter /");
	build_args(l, &a);
	execve(a.v[0], (char *const *)(uintptr_t)a.v, envp);
	return kz_err_sys(err, KZ_E_UNAVAILABLE, "cannot execute %s", a.v[0]);
}

static void words_copy(char *out, size_t size, const char *from)
{
	size_t n = 0;

	for (; *from && *from != '\n' && n + 1 < size; from++)
		if (*from != '"' && *from != '\\')
			out[n++] = *from;
	out[n] = '\0';
}

/* The last complaint of the runtime: what follows msg= in its last line, or that line. */
static void last_words(int output, char *out, size_t size)
{
	char text[4096];
	ssize_t n = pread(output, text, sizeof text - 1, 0);
	char *start = text;
	char *msg;

	out[0] = '\0';
	if (n <= 0)
		return;
	text[n] = '\0';
	n = (ssize_t)strlen(text);
	while (n > 0 && text[n - 1] == '\n')
		text[--n] = '\0';
	for (char *p = text; (p = strchr(p, '\n')) != NULL; p++)
		start = p + 1;
	msg = strstr(start, "msg=");
	words_copy(out, size, msg ? msg + 4 : start);
}

static enum kz_rc start_failed(const struct kz_oci_launch *l, int report, int status,
			       struct kz_err *err)
{
	struct kz_err inner = KZ_ERR_INIT;
	char words[WORDS_MAX];

	if (read(report, &inner, sizeof inner) == (ssize_t)sizeof inner && inner.rc) {
		if (err)
			*err = inner;
		if (!inner.reason[0])
			kz_err_reason(err, kz_reason_code(KZ_R_DRIVER_FAILED));
		return inner.rc;
	}
	last_words(l->output, words, sizeof words);
	return kz_refuse(err, KZ_R_RUNTIME_UNAVAILABLE, "%s ended with %d: %s", l->r->rt.path,
			 status, words[0] ? words : "it said nothing");
}

/* No pid of a child is ever lost: it is waited for even after the deadline killed it. */
static enum kz_rc wait_runtime(const struct kz_oci_launch *l, pid_t pid, int report,
			       struct kz_deadline until, struct kz_err *err)
{
	kz_auto_close int pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	int status = -1;
	enum kz_rc rc;

	if (pidfd < 0)
		rc = kz_err_sys(err, KZ_E_OS, "cannot watch the runtime");
	else
		rc = kz_proc_wait(pid, pidfd, until, &status, err);
	if (rc) {
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
		kz_err_wrap(err, "%s", l->r->rt.path);
		return kz_err_reason(err, kz_reason_code(KZ_R_RUNTIME_UNAVAILABLE));
	}
	return status ? start_failed(l, report, status, err) : KZ_OK;
}

enum kz_rc kz_oci_runtime_start(const struct kz_oci_launch *l, struct kz_deadline until,
				struct kz_err *err)
{
	struct kz_err inner = KZ_ERR_INIT;
	kz_auto_close int report = -1;
	pid_t driver = getpid();
	int ends[2];
	pid_t pid;
	enum kz_rc rc;

	if (kz_sys_before(KZ_SYS_RT_RUN))
		return kz_refuse(err, KZ_R_RUNTIME_UNAVAILABLE, "the runtime cannot be started");
	if (pipe2(ends, O_CLOEXEC) != 0)
		return kz_err_sys(err, KZ_E_OS, "cannot make a pipe");
	report = ends[0];
	pid = fork();
	if (pid == 0) {
		become_runtime(l, driver, &ends[1], &inner);
		/* One write below PIPE_BUF; if nobody reads it, the exit status says enough. */
		_exit(write(ends[1], &inner, sizeof inner) == (ssize_t)sizeof inner ? 125 : 126);
	}
	close(ends[1]);
	if (pid < 0)
		return kz_err_sys(err, KZ_E_OS, "cannot fork");
	rc = wait_runtime(l, pid, report, until, err);
	if (!rc)
		kz_sys_after(KZ_SYS_RT_RUN);
	return rc;
}
