/* What a process and its children use: processor time and memory, from /proc. */
#ifndef KZ_BENCH_TREE_H
#define KZ_BENCH_TREE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct tree_use {
	double cpu_us;        /* of all threads, and of children that ended and were waited for */
	uint64_t rss_kib;     /* summed, so what is shared counts more than once */
	uint64_t private_kib; /* what is not shared */
	int processes;
};

/* Sum over root and everything below it. in: memory: ask for memory too. out: false when root is gone */
bool tree_use(pid_t root, bool memory, struct tree_use *out);

#endif
