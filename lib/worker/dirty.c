/* One dirty surface at a time, for tests of the evidence. */
#include "worker/dirty.h"

#ifdef KZ_FAULT_BUILD

#include <arpa/inet.h>
#include <fcntl.h>
#include <mqueue.h>
#include <netinet/in.h>
#include <sys/ipc.h>
#include <sys/mount.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static int extra; /* processes that the CGROUP surface needs; the fault build is allowed a global */

int kz_dirty_processes(void)
{
	return extra;
}

static bool linger(const struct kz_boot *b, bool in_cgroup)
{
	int ready[2];
	char c = 0;
	pid_t pid;

	if (pipe2(ready, O_CLOEXEC) < 0 || (pid = fork()) < 0)
		return false;
	if (pid == 0) {
		for (int i = 0; in_cgroup && i < b->fds.tenant_procs_count; i++)
			if (write(b->fds.tenant_procs[i], "0", 1) != 1)
				_exit(1);
		if (write(ready[1], "y", 1) != 1)
			_exit(1);
		syscall(SYS_close_range, 0, ~0U, 0);
		for (;;)
			pause();
	}
	close(ready[1]);
	if (read(ready[0], &c, 1) != 1)
		c = 0;
	close(ready[0]);
	return c == 'y';
}

static bool touch(const struct kz_space *space, const char *path)
{
	int fd = openat(space->dir, path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);

	if (fd < 0)
		return false;
	close(fd);
	return true;
}

bool kz_dirty_outside(enum kz_surface s, const struct kz_boot *b, const struct kz_space *space)
{
	switch ((int)s) {
	case KZ_SURFACE_PROCESSES: return linger(b, false);
	case KZ_SURFACE_CGROUP: extra++; return linger(b, true);
	case KZ_SURFACE_WORKSPACE: return touch(space, KZ_SPACE_HOME "/.left");
	case KZ_SURFACE_PACKAGES: return touch(space, KZ_SPACE_PACKAGES "/left");
	case KZ_SURFACE_TMP: return touch(space, KZ_SPACE_VTMP "/left");
	case KZ_SURFACE_SHM_FILES: return touch(space, KZ_SPACE_SHM "/left");
	case KZ_SURFACE_PROJECTION:
		return mkdirat(space->dir, KZ_SPACE_WORK "/attachments", 0755) == 0;
	case KZ_SURFACE_SYSV_SHM: return shmget(IPC_PRIVATE, 4096, 0600) >= 0;
	case KZ_SURFACE_MOUNTS: return mount("none", "/run", "tmpfs", 0, "mode=755") == 0;
	case KZ_SURFACE_KEYS:
		return syscall(SYS_add_key, "user", "left", "x", 1, -2 /* process keyring */) >= 0;
	case KZ_SURFACE_MODES: return fchmodat(space->dir, KZ_SPACE_SHM, 0777, 0) == 0;
	case KZ_SURFACE_DESCRIPTORS: return open("/dev/null", O_RDONLY | O_CLOEXEC) >= 0;
	default: return true; /* made inside */
	}
}

static void leave_unlinked(void)
{
	int fd = open("/tmp/left", O_CREAT | O_RDWR | O_CLOEXEC, 0600);

	if (fd >= 0 && unlink("/tmp/left") == 0 && write(fd, "x", 1) != 1)
		close(fd);
}

static void leave_socket(void)
{
	struct sockaddr_in a = { .sin_family = AF_INET };
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (bind(fd, (struct sockaddr *)&a, sizeof a) < 0)
		close(fd);
}

/* a failure shows as a test that finds nothing dirty */
void kz_dirty_inside(int surface)
{
	int fd;

	switch (surface) {
	case KZ_SURFACE_SYSV_MSG: (void)msgget(IPC_PRIVATE, 0600); break;
	case KZ_SURFACE_SYSV_SEM: (void)semget(IPC_PRIVATE, 1, 0600); break;
	case KZ_SURFACE_MQUEUE:
		fd = open("/dev/mqueue/left", O_CREAT | O_RDWR | O_CLOEXEC, 0600);
		if (fd >= 0)
			close(fd);
		break;
	case KZ_SURFACE_SOCKETS: leave_socket(); break;
	case KZ_SURFACE_DISK: leave_unlinked(); break;
	case KZ_SURFACE_LIMITS: (void)!sethostname("left", 4); break;
	default: break;
	}
}

#endif
