/*
 * What the driver tells process 1 at its start (docs/worker-boot.md): one JSON
 * object on descriptor 3.  Refuses anything it does not know.
 */
#ifndef KZ_WORKER_BOOT_H
#define KZ_WORKER_BOOT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "rule/way.h"

struct kz_json;

#define KZ_BOOT_FD 3
#define KZ_BOOT_PROCS 8

/* The tenant's cgroup files, opened outside, or inside by kz_guest_prepare; -1 where there is none. */
struct kz_boot_fds {
	int control, ready;
	int tenant_procs[KZ_BOOT_PROCS];
	int tenant_procs_count;
	int procs_read, pids_current, pids_events;
	int memory_events, memory_current, memory_peak, cpu_usage;
	int memory_max, swap_max; /* to write the memory bound to; -1: it stays as it is */
	int way_dirs
		[KZ_WAYS]; /* the directory of each socket that programs are led to, a mount of its own; -1: no such way */
	int life; /* in a child without pidfd: open as long as it lives */
};

struct kz_boot {
	char worker[64], instance[64], secret[65], image[80];
	uid_t tenant_uid;
	gid_t tenant_gid;
	bool is_v1;             /* form of the cgroup files */
	bool single_use;        /* serves one lease, under a kernel of its own */
	char control_path[108]; /* where it makes its control socket, "" when it is passed */
	int64_t uid_count;
	uint64_t capabilities;                   /* bit mask that process 1 must hold exactly */
	int64_t packages_bytes, packages_inodes; /* of the file system of packages */
	int64_t disk_bytes, inodes, pids, memory_bytes, cpus, open_files, output_bytes;
	struct kz_boot_fds fds;
};

/* Read fd to its end, close it, parse. err: KZ_E_DATA */
enum kz_rc kz_boot_read(int fd, struct kz_boot *b, struct kz_err *err);
/* The bounds it was made with, as they stand in the boot object. out: new, NULL when memory is out */
struct kz_json *kz_boot_limits(const struct kz_boot *b);
/* Wipe the secret from memory; for children. */
void kz_boot_forget(struct kz_boot *b);
/* Is fd one that the boot object named? */
bool kz_boot_owns_fd(const struct kz_boot *b, int fd);

#endif
