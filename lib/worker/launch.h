/*
 * From a child of the tenant's first process to the tenant's program: limits,
 * identity, capabilities, filter, descriptors, exec, in the order that leaves no
 * step to a weaker one [RT-1, EXEC-13, EXEC-14].
 */
#ifndef KZ_WORKER_LAUNCH_H
#define KZ_WORKER_LAUNCH_H

#include <stdint.h>

#include "worker/boot.h"
#include "worker/deny.h"

/* Argument and environment vectors as one block: two counts, then the strings, each with its 0. */
struct kz_vectors {
	uint32_t argc, envc;
	char strings[];
};

#define KZ_VECTORS_MAX (4 << 20)
#define KZ_VECTOR_ITEMS 4096

struct kz_launch {
	const struct kz_boot *boot;
	const struct kz_deny *deny;
	int64_t open_files, file_bytes;
	int in, out, err_fd; /* the program's 0, 1, 2 */
	int channel;         /* its 3; -1: it has none */
	int vectors;         /* file that holds struct kz_vectors */
	int report;          /* pipe for a failed start, close-on-exec */
};

/* What goes through the report pipe when the program did not start. */
struct kz_launch_failure {
	int32_t sys_errno;
	char step[28];
};

/* Become the program or write a kz_launch_failure and exit. Only in a child. */
_Noreturn void kz_launch(const struct kz_launch *l);

#endif
