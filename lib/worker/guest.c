/* Making inside what a kernel of its own does not get from outside. */
#include "worker/guest.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/klog.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/str.h"
#include "rule/reason.h"
#include "worker/places.h"

#define BACKLOG 16
#define PATH_BYTES 4096 /* the longest name of an entry */
#define LOG_READ_ALL 3  /* syslog(2) */
#define NEW_ROOT "/tmp"
#define SAFE (MS_NOSUID | MS_NODEV | MS_NOEXEC)

const char *kz_guest_kernel(void)
{
	char text[16384];
	int n = klogctl(LOG_READ_ALL, text, sizeof text - 1);

	text[n > 0 ? n : 0] = '\0';
	return strstr(text, "gVisor") ? "gvisor" : "other";
}

static enum kz_rc lacks(struct kz_err *err, const char *what)
{
	return kz_refuse(err, KZ_R_POSTURE_FAILED, "the runtime's kernel does not give %s: %s",
			 what, strerror(errno));
}

/* The tenant's group of one controller, mounted for as long as its files are being opened. */
struct group {
	const char *controller;
	int64_t limit;          /* into CONTROLLER.max; 0: none */
	const char *limit_file; /* NULL: none */
	struct {
		const char *file;
		int *fd;
	} gauges[2];
};

static int open_gauges(const struct group *g, struct kz_boot *b)
{
	kz_auto_close int limit = -1;
	char path[128], text[24];
	int *procs = &b->fds.tenant_procs[b->fds.tenant_procs_count];

	if (g->limit_file) {
		if (kz_str_format(path, sizeof path, NULL, KZ_SPACE_AT "/tenant/%s",
				  g->limit_file) ||
		    kz_str_format(text, sizeof text, NULL, "%lld", (long long)g->limit))
			return -1;
		limit = open(path, O_WRONLY | O_CLOEXEC);
		if (limit < 0 || write(limit, text, strlen(text)) < 0)
			return -1;
	}
	*procs = open(KZ_SPACE_AT "/tenant/cgroup.procs", O_WRONLY | O_CLOEXEC);
	if (*procs < 0)
		return -1;
	b->fds.tenant_procs_count++;
	for (int i = 0; i < 2 && g->gauges[i].file; i++) {
		if (kz_str_format(path, sizeof path, NULL, KZ_SPACE_AT "/tenant/%s",
				  g->gauges[i].file))
			return -1;
		*g->gauges[i].fd = open(path, O_RDONLY | O_CLOEXEC);
		if (*g->gauges[i].fd < 0)
			return -1;
	}
	return 0;
}

static int make_group(const struct group *g, struct kz_boot *b)
{
	int rc = -1, e;

	if (mount("cgroup", KZ_SPACE_AT, "cgroup", SAFE, g->controller) < 0)
		return -1;
	if (mkdir(KZ_SPACE_AT "/tenant", 0755) == 0)
		rc = open_gauges(g, b);
	e = errno;
	if (umount2(KZ_SPACE_AT, MNT_DETACH) < 0)
		return -1;
	errno = e;
	return rc;
}

enum kz_rc kz_guest_prepare(struct kz_boot *b, struct kz_err *err)
{
	/* Its bound on tasks is coarse, so that the one by user (RLIMIT_NPROC) comes first. */
	const struct group groups[] = {
		{ "pids",
		  2 * b->pids + 16,
		  "pids.max",
		  { { "pids.current", &b->fds.pids_current },
		    { "cgroup.procs", &b->fds.procs_read } } },
		{ "memory",
		  0,
		  NULL,
		  { { "memory.usage_in_bytes", &b->fds.memory_current }, { NULL, NULL } } },
		{ "cpuacct", 0, NULL, { { "cpuacct.usage", &b->fds.cpu_usage }, { NULL, NULL } } },
	};
	enum kz_rc rc;

	for (size_t i = 0; i < sizeof groups / sizeof *groups; i++)
		if (make_group(&groups[i], b) < 0)
			return lacks(err, groups[i].controller);
	/* Who may connect is decided by the driver outside, on the file and its directory. */
	rc = kz_unix_listen(b->control_path, 0600, (gid_t)-1, BACKLOG, &b->fds.control, err);
	if (rc != KZ_OK)
		return kz_err_reason(err, kz_reason_code(KZ_R_POSTURE_FAILED));
	return KZ_OK;
}

static const char *bind_all(void)
{
	static const char *const places[][2] = {
		{ KZ_SPACE_AT "/" KZ_SPACE_WORK, "work" },
		{ KZ_SPACE_AT "/" KZ_SPACE_TMP, "tmp" },
		{ KZ_SPACE_AT "/" KZ_SPACE_VTMP, "var/tmp" },
		{ KZ_SPACE_AT "/" KZ_SPACE_SHM, "dev/shm" },
	};

	for (size_t i = 0; i < sizeof places / sizeof *places; i++)
		if (mount(places[i][0], places[i][1], NULL, MS_BIND, NULL) < 0)
			return places[i][1];
	if (mount(KZ_SPACE_AT "/" KZ_SPACE_SHARED, KZ_SPACE_SHARED, NULL, MS_BIND, NULL) < 0 ||
	    mount(NULL, KZ_SPACE_SHARED, NULL, MS_REMOUNT | MS_BIND | MS_RDONLY | SAFE, NULL) < 0)
		return KZ_SPACE_SHARED;
	if (mount(KZ_SPACE_AT "/" KZ_SPACE_PACKAGES, KZ_SPACE_PACKAGES, NULL, MS_BIND, NULL) < 0 ||
	    mount(NULL, KZ_SPACE_PACKAGES, NULL,
		  MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID | MS_NODEV, NULL) < 0)
		return KZ_SPACE_PACKAGES;
	return NULL;
}

static int bind_device(const char *name)
{
	char from[32], to[32];
	int fd;

	if (kz_str_format(from, sizeof from, NULL, "/dev/%s", name) ||
	    kz_str_format(to, sizeof to, NULL, "dev/%s", name))
		return -1;
	fd = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0444);
	if (fd < 0)
		return -1;
	close(fd);
	return mount(from, to, NULL, MS_BIND, NULL);
}

static const char *mount_dev(void)
{
	static const char *const nodes[] = { "null", "zero", "full", "random", "urandom" };
	static const char *const links[][2] = { { "/proc/self/fd", "dev/fd" },
						{ "/proc/self/fd/0", "dev/stdin" },
						{ "/proc/self/fd/1", "dev/stdout" },
						{ "/proc/self/fd/2", "dev/stderr" } };

	if (mount("dev", "dev", "tmpfs", MS_NOSUID | MS_NOEXEC, "size=65536,mode=0755") < 0)
		return "dev";
	for (size_t i = 0; i < sizeof nodes / sizeof *nodes; i++)
		if (bind_device(nodes[i]) < 0)
			return "device";
	for (size_t i = 0; i < sizeof links / sizeof *links; i++)
		if (symlink(links[i][0], links[i][1]) < 0)
			return "device";
	if (mkdir("dev/shm", 0755) < 0 || mkdir("dev/mqueue", 0755) < 0 ||
	    mount("mqueue", "dev/mqueue", "mqueue", SAFE, NULL) < 0)
		return "dev/mqueue";
	return mount(NULL, "dev", NULL, MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID | MS_NOEXEC,
		     NULL) < 0 ?
		       "dev" :
		       NULL;
}

const char *kz_guest_enter_tenant(void)
{
	/* what is process 1's alone; /run is where it has its control socket */
	static const char *const own[] = { "proc", "dev", "sys", "work", "tmp", "run" };
	static const char *const gone[] = { "/sys/kernel", "/run/control.sock", "/tmp/work" };
	const char *bad;

	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		return "private";
	if (mount("/", NEW_ROOT, NULL, MS_BIND | MS_REC, NULL) < 0 || chdir(NEW_ROOT) < 0)
		return "root";
	for (size_t i = 0; i < sizeof own / sizeof *own; i++)
		if (umount2(own[i], MNT_DETACH) < 0 && errno != EINVAL && errno != ENOENT)
			return own[i];
	if (mount("proc", "proc", "proc", SAFE, "hidepid=2") < 0)
		return "proc";
	/* the root from the host shows through what was mounted on it outside: cover it */
	if (mount("none", "run", "tmpfs", MS_RDONLY | SAFE, "size=4096,mode=0555") < 0)
		return "run";
	if ((bad = mount_dev()) || (bad = bind_all()))
		return bad;
	if (syscall(SYS_pivot_root, ".", ".") < 0 || umount2(".", MNT_DETACH) < 0 || chdir("/") < 0)
		return "pivot";
	/* what must not be there is looked for, not taken for gone */
	for (size_t i = 0; i < sizeof gone / sizeof *gone; i++)
		if (access(gone[i], F_OK) == 0) {
			errno = EEXIST;
			return gone[i];
		}
	return NULL;
}

static int same_mount(int fd, dev_t dev)
{
	struct stat st;

	if (fstat(fd, &st) == 0 && st.st_dev == dev)
		return 0;
	errno = EXDEV;
	return -1;
}

int kz_guest_open(int dir, const char *path, int flags, unsigned mode)
{
	kz_auto_close int at = fcntl(dir, F_DUPFD_CLOEXEC, 3);
	char copy[PATH_BYTES];
	char *save = NULL, *part, *next;
	struct stat top;
	int fd = -1;

	if (at < 0 || fstat(dir, &top) < 0)
		return -1;
	if (*path == '/' || kz_str_copy(copy, sizeof copy, path, NULL) != KZ_OK) {
		errno = *path == '/' ? EXDEV : ENAMETOOLONG;
		return -1;
	}
	for (part = strtok_r(copy, "/", &save); part; part = next) {
		next = strtok_r(NULL, "/", &save);
		if (kz_str_eq(part, "..")) {
			errno = EXDEV;
			return -1;
		}
		fd = next ? openat(at, part, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) :
			    openat(at, part, flags | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC, mode);
		if (fd < 0)
			return -1;
		if (same_mount(fd, top.st_dev) < 0) {
			close(fd);
			return -1;
		}
		if (next) {
			close(at);
			at = fd;
		}
	}
	return fd;
}
