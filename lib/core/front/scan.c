/* The s6 tree: start, ask, stop. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/proc.h"
#include "base/str.h"
#include "core/front/parts.h"

#define TOOL_TIME KZ_SECONDS(20)

const char *const kz_front_services[KZ_FRONT_SERVICES] = { "valkey", "kz-controller", "kz-proxy",
							   "kz-gateway" };

bool kz_front_is_scanning(const struct kz_front *f)
{
	char path[KZ_FRONT_PATH];
	int fd;

	if (kz_front_path(f, "service/.s6-svscan/control", path, sizeof path, NULL))
		return false;
	/* the control fifo has a reader exactly as long as s6-svscan lives */
	fd = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return errno == EACCES; /* a caller who may not look; then the authority tells */
	close(fd);
	return true;
}

/* Run one of the s6 tools; its words become the error. */
static enum kz_rc run_tool(const char *const *argv, struct kz_buf *out, struct kz_err *err)
{
	kz_auto_buf struct kz_buf said = KZ_BUF_INIT(4096);
	int status = 0;
	enum kz_rc rc =
		kz_proc_run(argv, NULL, 0, out, &said, kz_deadline_in(TOOL_TIME), &status, err);

	if (rc)
		return kz_err_wrap(err, "%s", argv[0]);
	if (status != 0)
		return kz_err_set(err, KZ_E_UNAVAILABLE, "%s ended with %d: %s", argv[0], status,
				  kz_buf_str(&said));
	return KZ_OK;
}

/* The folder of each service, and of its log, and the private server only when it is wanted. */
static enum kz_rc copy_services(const struct kz_front *f, const struct kz_conf *c,
				struct kz_err *err)
{
	static const char *const names[] = { "common", "kz-controller", "kz-proxy", "kz-gateway",
					     "valkey" };
	char from[KZ_FRONT_PATH + 64], to[KZ_FRONT_PATH], log[KZ_FRONT_PATH];
	enum kz_rc rc;

	if ((rc = kz_front_path(f, "service", to, sizeof to, err)) ||
	    (rc = kz_tree_remove(AT_FDCWD, to, err)) ||
	    (rc = kz_dir_make(AT_FDCWD, to, 0755, (gid_t)-1, err)))
		return rc;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		bool is_common = strcmp(names[i], "common") == 0;

		if (strcmp(names[i], "valkey") == 0 && c->set.kz_valkey_url[0])
			continue;
		snprintf(from, sizeof from, "%s/%s", f->supervise, names[i]);
		if ((rc = kz_str_format(to, sizeof to, err, "%s/service/%s%s", f->state,
					is_common ? "." : "", names[i])) ||
		    (rc = kz_front_copy(from, to, err)))
			return rc;
		if (is_common)
			continue;
		if ((rc = kz_str_format(log, sizeof log, err, "%s/log/%s", f->state, names[i])) ||
		    (rc = kz_dir_make(AT_FDCWD, log, 02750, kz_front_gid(&c->set), err)))
			return rc;
	}
	if ((rc = kz_front_path(f, "log/s6-svscan", log, sizeof log, err)))
		return rc;
	return kz_dir_make(AT_FDCWD, log, 02750, kz_front_gid(&c->set), err);
}

/* A process of the stack: own session, environment from empty. */
static enum kz_rc start(const struct kz_front *f, const struct kz_conf *c, const char *const *argv,
			int in, int out, pid_t *pid, int *pidfd, struct kz_err *err)
{
	char path[3 * KZ_FRONT_PATH], state[300], mark[64], size[64], id[40];
	const char *env[8] = { path, state, mark, size, "LC_ALL=C.UTF-8", NULL };
	struct kz_spawn s = { .argv = argv,
			      .envp = env,
			      .cwd = "/",
			      .stdin_fd = in,
			      .stdout_fd = out,
			      .stderr_fd = out,
			      .new_session = true };
#ifdef KZ_FAULT_BUILD
	char fault[128];

	if (getenv("KZ_FAULT")) {
		snprintf(fault, sizeof fault, "KZ_FAULT=%s", getenv("KZ_FAULT"));
		env[5] = fault;
	}
#endif
	kz_front_stack_id(f, id);
	snprintf(path, sizeof path,
		 "PATH=%s:%s:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", f->bin,
		 f->libexec);
	snprintf(state, sizeof state, "KZ_STATE=%s", f->state);
	snprintf(mark, sizeof mark, "KZ_STACK=%s", id);
	snprintf(size, sizeof size, "KZ_LOG_FILE_BYTES=%lld",
		 (long long)c->set.kz_log_keep_bytes / 8);
	return kz_proc_spawn(&s, pid, pidfd, err);
}

enum kz_rc kz_front_scan_start(const struct kz_front *f, const struct kz_conf *c, pid_t *pid,
			       int *pidfd, struct kz_err *err)
{
	char scan[KZ_FRONT_PATH], log[KZ_FRONT_PATH], size[40];
	const char *logger[] = { "s6-log", "-b", "--", "n7", size, "T", log, NULL };
	const char *svscan[] = { "s6-svscan", scan, NULL };
	struct kz_deadline until = kz_deadline_in(KZ_SECONDS(10));
	kz_auto_close int read_end = -1, write_end = -1, log_pidfd = -1;
	struct kz_service s;
	pid_t log_pid;
	int ends[2];
	mode_t mask;
	enum kz_rc rc;

	if ((rc = copy_services(f, c, err)) ||
	    (rc = kz_front_path(f, "service", scan, sizeof scan, err)) ||
	    (rc = kz_front_path(f, "log/s6-svscan", log, sizeof log, err)))
		return rc;
	snprintf(size, sizeof size, "s%lld", (long long)c->set.kz_log_keep_bytes / 8);
	if (pipe2(ends, O_CLOEXEC) != 0)
		return kz_err_sys(err, KZ_E_OS, "no pipe");
	read_end = ends[0];
	write_end = ends[1];
	/* group kz may read logs; the logger ends by itself when nothing of the tree holds the pipe any more */
	mask = umask(027);
	rc = start(f, c, logger, read_end, -1, &log_pid, &log_pidfd, err);
	umask(mask);
	if (rc || (rc = start(f, c, svscan, -1, write_end, pid, pidfd, err)))
		return kz_err_wrap(err, "cannot start the supervisor (is the package s6 there?)");
	while (!kz_front_is_scanning(f) || kz_front_service(f, "kz-controller", &s, NULL)) {
		struct pollfd p = { .fd = *pidfd, .events = POLLIN };

		if (poll(&p, 1, 20) > 0)
			return kz_err_set(err, KZ_E_OS, "s6-svscan ended at once; see %s/current",
					  log);
		if (kz_deadline_passed(until))
			return kz_err_set(err, KZ_E_OS, "s6-svscan does not start; see %s/current",
					  log);
	}
	return KZ_OK;
}

enum kz_rc kz_front_scan_stop(const struct kz_front *f, struct kz_deadline until,
			      struct kz_err *err)
{
	char scan[KZ_FRONT_PATH];
	const char *argv[] = { "s6-svscanctl", "-t", scan, NULL };
	enum kz_rc rc = kz_front_path(f, "service", scan, sizeof scan, err);

	if (rc || !kz_front_is_scanning(f))
		return rc;
	if ((rc = run_tool(argv, NULL, err)))
		return rc;
	while (kz_front_is_scanning(f)) {
		if (kz_deadline_passed(until))
			return kz_err_set(err, KZ_E_TEMPFAIL, "s6-svscan does not end");
		kz_time_sleep(KZ_MS(20), until);
	}
	return KZ_OK;
}

enum kz_rc kz_front_control(const struct kz_front *f, const char *name, const char *option,
			    struct kz_err *err)
{
	char dir[KZ_FRONT_PATH];
	const char *argv[] = { "s6-svc", option, dir, NULL };
	enum kz_rc rc = kz_str_format(dir, sizeof dir, err, "%s/service/%s", f->state, name);

	return rc ? rc : run_tool(argv, NULL, err);
}

enum kz_rc kz_front_service(const struct kz_front *f, const char *name, struct kz_service *out,
			    struct kz_err *err)
{
	char dir[KZ_FRONT_PATH], up[8], wants[8], ready[8];
	const char *argv[] = { "s6-svstat", "-o", "up,wantedup,ready,pid,exitcode,updownfor", dir,
			       NULL };
	kz_auto_buf struct kz_buf said = KZ_BUF_INIT(1024);
	long long pid, since;
	enum kz_rc rc = kz_str_format(dir, sizeof dir, err, "%s/service/%s", f->state, name);

	if (rc || (rc = run_tool(argv, &said, err)))
		return rc;
	memset(out, 0, sizeof *out);
	if (sscanf(kz_buf_str(&said), "%7s %7s %7s %lld %d %lld", up, wants, ready, &pid,
		   &out->exit_code, &since) != 6)
		return kz_err_set(err, KZ_E_PROTOCOL, "s6-svstat says %s", kz_buf_str(&said));
	out->is_up = strcmp(up, "true") == 0;
	out->wants_up = strcmp(wants, "true") == 0;
	out->is_ready = strcmp(ready, "true") == 0;
	out->pid = pid;
	out->since_s = since;
	return KZ_OK;
}
