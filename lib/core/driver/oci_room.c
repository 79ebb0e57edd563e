/* What a worker's file systems and groups are bounded by. */
#include <unistd.h>

#include "core/driver/oci_part.h"
#include "rule/tmpfs.h"

#define MIB ((int64_t)1 << 20)
/* process 1, 48 MiB of it for what passes to the proxy, 9 for shared files; docs/worker-boot.md */
#define WORKER_MEMORY (89 * MIB)
#define RUNTIME_MEMORY (64 * MIB) /* the runtime, while it starts or ends a worker */
#define KERNEL_MEMORY (256 * MIB) /* of a single-use worker beyond what its tenant may have */
#define KERNEL_TASKS 256
#define KERNEL_TASKS_EACH 4

int64_t kz_oci_packages_bytes(const struct kz_settings *s)
{
	return kz_tmpfs_bytes(s->kz_packages_max_bytes, s->kz_packages_inodes,
			      sysconf(_SC_PAGESIZE));
}

static int64_t packages_memory(const struct kz_settings *s)
{
	return kz_tmpfs_memory(kz_oci_packages_bytes(s), s->kz_packages_inodes);
}

int64_t kz_oci_worker_memory(const struct kz_settings *s)
{
	return WORKER_MEMORY + s->sandbox_max_output_bytes + s->kz_run_disk_bytes +
	       packages_memory(s);
}

/*
 * The tenant's bounds, with one process more than a run may have: its own process 1.
 * A worker that is used once has one group for all of it: the runtime's kernel with
 * its threads and heap, process 1, the files and the tenant, whose own bounds are held inside.
 */
struct kz_cg_limits kz_oci_limits(const struct kz_settings *s, bool single_use)
{
	if (!single_use)
		return (struct kz_cg_limits){
			.memory_bytes = s->kz_run_memory_bytes,
			.pids = s->kz_run_pids + 1,
			.cpu_thousandths = s->kz_run_cpus,
			/* process 1 may raise the tenant's bound by what packages take, and no further */
			.unit_bytes = s->kz_run_memory_bytes + packages_memory(s) +
				      kz_oci_worker_memory(s) + RUNTIME_MEMORY,
		};
	return (struct kz_cg_limits){
		.memory_bytes = s->kz_run_memory_bytes + s->kz_run_disk_bytes + packages_memory(s) +
				s->sandbox_max_output_bytes + KERNEL_MEMORY,
		.pids = KERNEL_TASKS + KERNEL_TASKS_EACH * s->kz_run_pids,
		.cpu_thousandths = s->kz_run_cpus,
	};
}
