#include "core/driver/doctor.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/landlock.h"
#include "base/str.h"
#include "core/driver/oci_part.h"
#include "core/driver/oci_rootless.h"

#define LITTLE_BYTES (256LL << 20)
#define INOTIFY_EACH 4 /* instances a worker may have, see oci_limit.c */

static void say(struct kz_check *c, enum kz_check_level level, const char *fix, const char *fmt,
		...) __attribute__((format(printf, 4, 5)));
static void say(struct kz_check *c, enum kz_check_level level, const char *fix, const char *fmt,
		...)
{
	va_list ap;

	c->level = level;
	va_start(ap, fmt);
	if (vsnprintf(c->text, sizeof c->text, fmt, ap) < 0)
		c->text[0] = '\0';
	va_end(ap);
	if (kz_str_copy(c->fix, sizeof c->fix, fix, NULL))
		c->fix[0] = '\0';
}

void kz_check_cgroups(const struct kz_conf *c, struct kz_check *out)
{
	static const struct kz_cg_limits some = { 64 << 20, 16, 1000, 0 };
	struct kz_err err = KZ_ERR_INIT;
	struct kz_rootless_find lacks;
	struct kz_cg cg;
	char unit[64];
	enum kz_rc rc;

	(void)c;
	if (geteuid() != 0 &&
	    kz_rootless_cgroup_look("/proc/self/cgroup", "/proc/self/mountinfo", &lacks)) {
		say(out, KZ_CHECK_FAIL, lacks.fix, "%s", lacks.text);
		return;
	}
	rc = kz_str_format(unit, sizeof unit, &err, "kz-doctor.%d", getpid());
	if (!rc)
		rc = kz_cg_find(&cg, unit, "/proc/self/cgroup", "/proc/self/mountinfo", &err);
	if (rc) {
		say(out, KZ_CHECK_FAIL,
		    "add systemd.unified_cgroup_hierarchy=1 to the kernel command line", "%s",
		    err.text);
		return;
	}
	rc = kz_cg_place(&cg, &err);
	if (!rc)
		rc = kz_cg_make(&cg, "tenant", &some, &err);
	if (rc)
		say(out, KZ_CHECK_FAIL, "run kz from a systemd unit with Delegate=yes", "%s",
		    err.text);
	else
		say(out, KZ_CHECK_OK, "", "cgroup %s: memory, pids, cpu%s", cg.is_v2 ? "v2" : "v1",
		    cg.is_v2 ? "" : ", cpuacct");
	/* Whatever was made goes, after a failure too. */
	if (kz_cg_end(&cg, kz_deadline_in(KZ_SECONDS(5)), &err) && !rc)
		say(out, KZ_CHECK_WARN, "", "%s", err.text);
}

/* In a child: a user namespace is only good for workers if it can be made at all. */
static int try_userns(void)
{
	int status = 0;
	pid_t child = fork();

	if (child == 0)
		_exit(unshare(CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC |
			      CLONE_NEWUTS | CLONE_NEWNS) == 0 ?
			      0 :
			      errno);
	if (child < 0 || waitpid(child, &status, 0) != child)
		return errno;
	return WIFEXITED(status) ? WEXITSTATUS(status) : EINTR;
}

static int64_t read_number(const char *path)
{
	kz_auto_buf struct kz_buf text = KZ_BUF_INIT(64);
	int64_t n;

	if (kz_file_read(AT_FDCWD, path, &text, NULL) || !text.len)
		return -1;
	text.data[strcspn(text.data, "\n")] = '\0';
	return kz_str_int(text.data, 0, INT64_MAX, &n, NULL) ? -1 : n;
}

void kz_check_userns(const struct kz_conf *c, struct kz_check *out)
{
	int why = try_userns();
	int64_t instances = read_number("/proc/sys/user/max_inotify_instances");
	int64_t wanted = INOTIFY_EACH * c->set.sandbox_pool_max_allocated;

	if (why)
		say(out, KZ_CHECK_FAIL, "sysctl -w user.max_user_namespaces=15000",
		    "no user namespace can be made: %s", strerror(why));
	else if (instances >= 0 && instances < wanted)
		/* What workers use counts for root too. */
		say(out, KZ_CHECK_WARN, "sysctl -w fs.inotify.max_user_instances=1024",
		    "user namespaces work; %lld workers may use %lld inotify instances, the host "
		    "allows %lld",
		    (long long)c->set.sandbox_pool_max_allocated, (long long)wanted,
		    (long long)instances);
	else
		say(out, KZ_CHECK_OK, "", "user namespaces work; uids from %lld on",
		    (long long)c->set.kz_uid_base);
}

size_t kz_check_user(const struct kz_conf *c, struct kz_check *lines)
{
	struct kz_rootless_find finds[KZ_ROOTLESS_FINDS];
	size_t n = kz_rootless_look(finds);
	size_t blocks = n ? 0 : kz_rootless_blocks();
	int64_t wanted = c->set.sandbox_pool_max_allocated;

	_Static_assert(KZ_CHECK_USER_LINES >= KZ_ROOTLESS_FINDS, "a line for each");
	for (size_t i = 0; i < n; i++)
		say(&lines[i], KZ_CHECK_FAIL, finds[i].fix, "%s", finds[i].text);
	if (n)
		return n;
	if ((int64_t)blocks < wanted)
		say(&lines[0], KZ_CHECK_WARN, "kz up --set SANDBOX_POOL_MAX_ALLOCATED=N",
		    "user namespaces work; your ids are enough for %zu workers, not for %lld",
		    blocks, (long long)wanted);
	else
		say(&lines[0], KZ_CHECK_OK, "",
		    "user namespaces work; your ids are enough for %zu workers", blocks);
	return 1;
}

void kz_check_seccomp(const struct kz_conf *c, struct kz_check *out)
{
	static const unsigned int actions[] = { SECCOMP_RET_ERRNO, SECCOMP_RET_KILL_PROCESS,
						SECCOMP_RET_ALLOW };

	(void)c;
	if (prctl(PR_GET_SECCOMP) < 0) {
		say(out, KZ_CHECK_FAIL, "", "this kernel has no seccomp");
		return;
	}
	for (size_t i = 0; i < sizeof actions / sizeof actions[0]; i++)
		if (syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &actions[i]) != 0) {
			say(out, KZ_CHECK_FAIL, "", "seccomp lacks action %#x: %s", actions[i],
			    strerror(errno));
			return;
		}
	say(out, KZ_CHECK_OK, "", "seccomp filters work");
}

void kz_check_landlock(const struct kz_conf *c, struct kz_check *out)
{
	int version = kz_landlock_version();

	(void)c;
	if (version)
		say(out, KZ_CHECK_OK, "", "Landlock works, version %d", version);
	else
		say(out, KZ_CHECK_WARN, "",
		    "no Landlock (Linux 5.13 and later, named in lsm= where that is given): %skz-archive "
		    "and kz-native have their filter alone, and no program of KZ_COMPRESS is run",
		    geteuid() ? "kz-proxy and kz-gateway can read all files of yours, " : "");
}

/* Layers need an attribute of root, or of the user who is not root; without it /usr/local is hidden by a device node. */
static bool has_attributes(int dir)
{
	const char *name = geteuid() ? "user.kz.probe" : "trusted.kz.probe";
	char path[64];

	return !kz_str_format(path, sizeof path, NULL, "/proc/self/fd/%d", dir) &&
	       (setxattr(path, name, "y", 1, 0) == 0 || errno != EOPNOTSUPP) &&
	       (removexattr(path, name) == 0 || errno != EOPNOTSUPP);
}

void kz_check_disk(const struct kz_conf *c, struct kz_check *out)
{
	kz_auto_close int dir = -1;
	char place[256];
	struct statvfs v;
	char *slash;

	/* Before kz was up the nearest directory above stands for it. */
	if (kz_str_copy(place, sizeof place, c->state, NULL))
		place[0] = '\0';
	while (place[0] && access(place, F_OK) != 0 && (slash = strrchr(place, '/')) != NULL)
		*slash = '\0';
	dir = open(place[0] ? place : "/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0 || fstatvfs(dir, &v) != 0)
		say(out, KZ_CHECK_FAIL,
		    geteuid() && errno == EACCES ? "sudo usermod -aG kz USER" : "kz up --state DIR",
		    "cannot look at %s: %s", c->state, strerror(errno));
	else if (faccessat(dir, ".", W_OK, 0) != 0)
		say(out, KZ_CHECK_FAIL, "name a directory of your own: kz up --state DIR",
		    "%s cannot be written: %s", place, strerror(errno));
	else if ((int64_t)v.f_bavail * (int64_t)v.f_frsize < LITTLE_BYTES)
		say(out, KZ_CHECK_WARN, "kz up --set KZ_AUDIT_KEEP_DAYS=30",
		    "only %lld MiB free below %s", (long long)(v.f_bavail * v.f_frsize >> 20),
		    c->state);
	else if (!has_attributes(dir))
		say(out, KZ_CHECK_WARN, "",
		    "the file system of %s has no such attributes as overlays use; a device node hides "
		    "/usr/local instead",
		    c->state);
	else
		say(out, KZ_CHECK_OK, "", "%lld MiB free below %s",
		    (long long)(v.f_bavail * v.f_frsize >> 20), c->state);
}
