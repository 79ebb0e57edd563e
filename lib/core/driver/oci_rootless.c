/* Entering the user's namespace of one worker. */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/fd.h"
#include "base/proc.h"
#include "base/str.h"
#include "core/driver/oci_part.h"
#include "core/driver/oci_rootless.h"
#include "rule/reason.h"

#define MAP_SECONDS 10
#define WORDS 160

/* newuidmap or newgidmap: 0 is the user, the worker's ids keep the numbers that the driver uses. */
static enum kz_rc map(const char *tool, pid_t pid, unsigned int own, uint32_t inside,
		      uint32_t outside, struct kz_err *err)
{
	kz_auto_buf struct kz_buf said = KZ_BUF_INIT(WORDS);
	char text[4][24];
	const char *argv[] = { tool, text[0], "0", text[1], "1", text[2], text[3], "3", NULL };
	int status = -1;

	_Static_assert(KZ_OCI_MAPPED == 3, "the last argument");
	snprintf(text[0], sizeof text[0], "%d", pid);
	snprintf(text[1], sizeof text[1], "%u", own);
	snprintf(text[2], sizeof text[2], "%u", inside);
	snprintf(text[3], sizeof text[3], "%u", outside);
	if (kz_proc_run(argv, NULL, 0, NULL, &said, kz_deadline_in(KZ_SECONDS(MAP_SECONDS)),
			&status, err))
		return kz_err_reason(err, kz_reason_code(KZ_R_USERNS_UNAVAILABLE));
	if (status == 0)
		return KZ_OK;
	return kz_refuse(err, KZ_R_USERNS_UNAVAILABLE, "%.*s",
			 (int)strcspn(kz_buf_str(&said), "\n"),
			 said.len ? kz_buf_str(&said) : "newuidmap fails without a word");
}

/*
 * A child that stayed outside: what it executes must not be in the new namespace,
 * where a set-user-id program gains nothing.
 */
static _Noreturn void map_from_outside(const struct kz_oci_launch *l, pid_t pid, int go, int report)
{
	struct kz_err err = KZ_ERR_INIT;
	char byte;

	if (read(go, &byte, 1) != 1)
		_exit(1); /* the namespace was not made */
	if (!map("/usr/bin/newuidmap", pid, geteuid(), l->r->uid_base, l->r->uid_base, &err))
		map("/usr/bin/newgidmap", pid, getegid(), l->r->uid_base, l->r->gid_base, &err);
	_exit(write(report, &err, sizeof err) == (ssize_t)sizeof err ? 0 : 1);
}

static enum kz_rc unshare_mapped(const struct kz_oci_launch *l, struct kz_err *err)
{
	struct kz_err told = KZ_ERR_INIT;
	pid_t self = getpid();
	int go[2];
	int report[2];
	ssize_t n;
	pid_t child;

	if (pipe2(go, O_CLOEXEC) != 0 || pipe2(report, O_CLOEXEC) != 0 || (child = fork()) < 0)
		return kz_err_sys(err, KZ_E_OS, "cannot fork");
	if (child == 0) {
		close(go[1]);
		close(report[0]);
		map_from_outside(l, self, go[0], report[1]);
	}
	close(go[0]);
	close(report[1]);
	if (unshare(CLONE_NEWUSER) != 0) {
		kz_err_sys(err, KZ_E_UNAVAILABLE, "cannot make a user namespace");
		return kz_err_reason(err, kz_reason_code(KZ_R_USERNS_UNAVAILABLE));
	}
	if (write(go[1], "", 1) != 1)
		return kz_err_sys(err, KZ_E_OS, "cannot ask for a mapping of ids");
	close(go[1]);
	n = read(report[0], &told, sizeof told);
	close(report[0]);
	while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
		;
	if (n != (ssize_t)sizeof told)
		return kz_refuse(err, KZ_R_USERNS_UNAVAILABLE, "newuidmap was ended");
	if (told.rc && err)
		*err = told;
	return told.rc;
}

/* Is this the tenant's cgroup.procs or tasks, to write?  out: link: a name to open it by, whatever the way there allows */
static bool is_tenant_procs(int fd, char link[40])
{
	static const char *const ends[] = { "/tenant/cgroup.procs", "/tenant/tasks" };
	char path[KZ_OCI_PATH];
	ssize_t n;

	if ((fcntl(fd, F_GETFL) & O_ACCMODE) != O_WRONLY ||
	    kz_str_format(link, 40, NULL, "/proc/self/fd/%d", fd))
		return false;
	n = readlink(link, path, KZ_OCI_PATH - 1);
	path[n > 0 ? n : 0] = '\0';
	for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++)
		if (n > (ssize_t)strlen(ends[i]) && kz_str_eq(path + n - strlen(ends[i]), ends[i]))
			return true;
	return false;
}

/* With the descriptors of the parent: replace each by one that the worker's root opened. 0 or errno */
static int reopen_as(const struct kz_oci_launch *l)
{
	char link[40];
	uid_t root = l->r->uid_base;

	for (int i = 0; i < l->fd_count; i++) {
		kz_auto_close int fd = -1;

		if (!is_tenant_procs(l->fds[i], link))
			continue;
		if (chown(link, root, (gid_t)-1) != 0 || seteuid(root) != 0)
			return errno;
		fd = open(link, O_WRONLY | O_CLOEXEC);
		if (fd < 0 || dup3(fd, l->fds[i], O_CLOEXEC) < 0 || seteuid(0) != 0)
			return errno;
	}
	return 0;
}

/*
 * Version 1 lets a process into a group only by a descriptor that root or that
 * process's own user opened.  A child does it, because a change of ids would take
 * this process's signal at its parent's death.
 */
static enum kz_rc reopen_procs(const struct kz_oci_launch *l, struct kz_err *err)
{
	int status = 0;
	pid_t child = (pid_t)syscall(SYS_clone, CLONE_FILES | SIGCHLD, NULL, NULL, NULL, NULL);

	if (child == 0)
		_exit(reopen_as(l));
	if (child < 0 || waitpid(child, &status, 0) != child)
		return kz_err_sys(err, KZ_E_OS, "cannot fork");
	if (status == 0)
		return KZ_OK;
	errno = WIFEXITED(status) ? WEXITSTATUS(status) : EINTR;
	kz_err_sys(err, KZ_E_UNAVAILABLE, "cannot open the tenant's cgroup as the worker's root");
	return kz_err_reason(err, kz_reason_code(KZ_R_CGROUP_UNAVAILABLE));
}

enum kz_rc kz_rootless_enter(const struct kz_oci_launch *l, struct kz_err *err)
{
	enum kz_rc rc = unshare_mapped(l, err);

	if (rc)
		return rc;
	if (setresgid(0, 0, 0) != 0 || setresuid(0, 0, 0) != 0) {
		kz_err_sys(err, KZ_E_UNAVAILABLE, "cannot be root of the user namespace");
		return kz_err_reason(err, kz_reason_code(KZ_R_USERNS_UNAVAILABLE));
	}
	return l->r->cg.is_v2 ? KZ_OK : reopen_procs(l, err);
}
